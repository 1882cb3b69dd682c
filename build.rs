//! Compresses the PTX of the kernels, 32 MB of text that `src/cuda/ptx.rs` embeds, to 6 MB.

use miniz_oxide::deflate::compress_to_vec;
use std::path::Path;
use std::{env, fs};

/// Of DEFLATE: the usual one.
const LEVEL: u8 = 6;

fn main() {
    println!("cargo::rerun-if-changed=kernels/ptx");
    if env::var_os("CARGO_FEATURE_CUDA").is_none() {
        return;
    }
    let out = env::var_os("OUT_DIR").expect("Cargo sets it");
    for file in fs::read_dir("kernels/ptx").expect("the package has the PTX") {
        let file = file.expect("the folder can be read").path();
        let mut text = fs::read(&file).expect("the package has the PTX");
        // The driver takes text that ends in a zero.
        text.push(0);
        let name = file.file_name().expect("a file has a name");
        fs::write(Path::new(&out).join(name), compress_to_vec(&text, LEVEL))
            .expect("Cargo's folder can be written");
    }
}
