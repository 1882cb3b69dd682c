// How functions for double precision become those for single. The build script and the test of the header share it.

/// Files of functions, in the order of the header.
const PARTS: [&str; 9] =
    ["factor", "known", "modifying", "carried", "pending", "array", "rows", "solving", "extension"];

/// Other names, and other numbers in arrays. Reports have double precision in both.
fn in_single_precision(source: &str) -> String {
    // It is included into a module, which has a comment of its own.
    let source: String =
        source.lines().filter(|line| !line.starts_with("//!")).flat_map(|line| [line, "\n"]).collect();
    source
        .replace("cholupdate_d", "cholupdate_s")
        .replace("f64", "f32")
        .replace("double precision", "single precision")
}
