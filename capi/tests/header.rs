//! `include/cholupdate.h` is what cbindgen makes of the sources; CHOLUPDATE_WRITE_HEADER=1 writes it anew.

use std::path::Path;
use std::{env, fs};

include!("../src/precision.rs");

#[test]
fn header_is_that_of_the_sources() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let single = Path::new(env!("CARGO_TARGET_TMPDIR")).join("single.rs");
    let double = fs::read_to_string(here.join("src/double.rs")).unwrap();
    fs::write(&single, in_single_precision(&double)).unwrap();

    let sources = ["version", "status", "options", "report", "double"];
    let mut builder = cbindgen::Builder::new()
        .with_config(cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap());
    for source in sources {
        builder = builder.with_src(here.join(format!("src/{source}.rs")));
    }
    let mut made = Vec::new();
    builder.with_src(&single).generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();

    let header = here.join("include/cholupdate.h");
    if env::var_os("CHOLUPDATE_WRITE_HEADER").is_some() {
        fs::write(header, made).unwrap();
        return;
    }
    let there = fs::read_to_string(header).unwrap_or_default();
    assert!(made == there, "capi/include/cholupdate.h is another: run with CHOLUPDATE_WRITE_HEADER=1");
}
