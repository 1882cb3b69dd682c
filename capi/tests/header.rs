//! `include/cholupdate.h` is the output of cbindgen for the sources; CHOLUPDATE_WRITE_HEADER=1 writes it again.

use std::path::Path;
use std::{env, fs};

include!("../src/precision.rs");
include!("../src/complex.rs");

#[test]
fn header_is_that_of_the_sources() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut builder = cbindgen::Builder::new()
        .with_config(cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap());
    for source in ["version", "status", "options", "awake", "report"] {
        builder = builder.with_src(here.join(format!("src/{source}.rs")));
    }
    let written = |name: String, text: String| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name + ".rs");
        fs::write(&path, text).unwrap();
        path
    };
    for part in PARTS {
        let single = written(format!("single_{part}"), in_single_precision(&double(part)));
        builder = builder.with_src(here.join(format!("src/double/{part}.rs"))).with_src(single);
    }
    for part in COMPLEX_PARTS {
        let complex = in_complex_numbers(&double(part));
        let single = written(format!("complex_single_{part}"), in_single_precision(&complex));
        builder = builder.with_src(written(format!("complex_double_{part}"), complex)).with_src(single);
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();

    let header = here.join("include/cholupdate.h");
    if env::var_os("CHOLUPDATE_WRITE_HEADER").is_some() {
        fs::write(header, made).unwrap();
        return;
    }
    let there = fs::read_to_string(header).unwrap_or_default();
    assert!(made == there, "capi/include/cholupdate.h is another: run with CHOLUPDATE_WRITE_HEADER=1");
}

#[test]
fn words_for_complex_numbers_replace_others() {
    let lines: Vec<String> = COMPLEX_PARTS.iter().flat_map(|part| paragraphs(&double(part))).collect();
    for (word, _) in WORDS {
        assert!(
            lines.iter().any(|line| line.starts_with("/// ") && line.contains(word)),
            "nothing says {word:?}"
        );
    }
    for name in REAL {
        assert!(
            lines.iter().any(|line| is_real(line) && line.contains(name)),
            "no argument is called `{name}`"
        );
    }
}

/// The functions of a file.
fn double(part: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/double/{part}.rs"))).unwrap()
}
