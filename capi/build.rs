//! Makes the functions for single precision and for complex numbers from those for double precision, and gives the shared library its
//! name.

use std::path::Path;
use std::{env, fs};

include!("src/precision.rs");
include!("src/complex.rs");

fn main() {
    println!("cargo::rerun-if-changed=src/double");
    println!("cargo::rerun-if-changed=src/precision.rs");
    println!("cargo::rerun-if-changed=src/complex.rs");
    for part in PARTS {
        write("single", part, &in_single_precision(&double(part)));
    }
    for part in COMPLEX_PARTS {
        let complex = in_complex_numbers(&double(part));
        write("complex_double", part, &without_module_comment(&complex));
        write("complex_single", part, &in_single_precision(&complex));
    }
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Until version 1 every minor version may change what is there: it is part of the name, as with cargo-c.
        let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcholupdate.so.{major}.{minor}");
    }
}

/// The functions of a file.
fn double(part: &str) -> String {
    fs::read_to_string(format!("src/double/{part}.rs")).expect("the sources have it")
}

/// Writes functions of such numbers to Cargo's directory.
fn write(numbers: &str, part: &str, functions: &str) {
    let folder = Path::new(&env::var("OUT_DIR").expect("Cargo sets it")).join(numbers);
    fs::create_dir_all(&folder).expect("Cargo's directory can be written");
    fs::write(folder.join(part).with_extension("rs"), functions).expect("Cargo's directory can be written");
}
