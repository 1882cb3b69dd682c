//! `include/cholupdate_mpi.h` is the output of cbindgen for the sources; CHOLUPDATE_WRITE_HEADER=1 writes it again.

use std::path::Path;
use std::{env, fs};

include!("../src/capi/precision.rs");

#[test]
fn header_is_that_of_the_sources() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut builder = cbindgen::Builder::new()
        .with_config(cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap());
    for source in ["version", "status", "options", "report", "layout", "beginning"] {
        builder = builder.with_src(here.join(format!("src/capi/{source}.rs")));
    }
    for part in PARTS {
        let double = here.join(format!("src/capi/double/{part}.rs"));
        let single = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("single_{part}.rs"));
        fs::write(&single, in_single_precision(&fs::read_to_string(&double).unwrap())).unwrap();
        builder = builder.with_src(double).with_src(single);
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();

    let header = here.join("include/cholupdate_mpi.h");
    if env::var_os("CHOLUPDATE_WRITE_HEADER").is_some() {
        fs::write(header, made).unwrap();
        return;
    }
    let there = fs::read_to_string(header).unwrap_or_default();
    assert!(made == there, "mpi/include/cholupdate_mpi.h is another: run with CHOLUPDATE_WRITE_HEADER=1");
}
