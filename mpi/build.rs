//! Makes the C functions for single precision from those for double, and gives the shared library its name.

use std::path::Path;
use std::{env, fs};

include!("src/capi/precision.rs");

fn main() {
    println!("cargo::rerun-if-changed=src/capi/double");
    println!("cargo::rerun-if-changed=src/capi/precision.rs");
    let single = Path::new(&env::var("OUT_DIR").expect("Cargo sets it")).join("single");
    fs::create_dir_all(&single).expect("Cargo's directory can be written");
    for part in PARTS {
        let double = fs::read_to_string(format!("src/capi/double/{part}.rs")).expect("the sources have it");
        let path = single.join(part).with_extension("rs");
        fs::write(path, in_single_precision(&double)).expect("Cargo's directory can be written");
    }
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Until version 1 every minor version may change what is there: it is part of the name, as with libcholupdate.
        let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcholupdate_mpi.so.{major}.{minor}");
    }
}
