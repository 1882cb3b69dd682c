// How a function for double precision becomes one for single. The build script and the test of the header share it.

/// Other names, and other numbers in arrays. Reports have double precision in both.
fn in_single_precision(source: &str) -> String {
    // It is included into a module, which has a comment of its own.
    let source: String = source.lines().filter(|line| !line.starts_with("//!")).flat_map(|line| [line, "\n"]).collect();
    source.replace("cholupdate_d", "cholupdate_s").replace("f64", "f32").replace("double precision", "single precision")
}
