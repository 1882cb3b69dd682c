//! Gives the shared library its name.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // What is called is qrupdate's interface, whatever version this package has.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcholupdate_qrupdate.so.1");
    }
}
