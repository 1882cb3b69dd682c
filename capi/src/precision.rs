// Converts the functions for double precision to those for single precision. Shared by the build script and the test of the
// header.

/// Files of functions, in the order of the header.
const PARTS: [&str; 19] = [
    "factor", "known", "modifying", "carried", "pending", "array", "rows", "solving", "extension", "batch", "batch_verbs",
    "batch_rows", "batch_on_device", "batch_outcome", "ldlt", "ldlt_known", "ldlt_modifying", "ldlt_rows", "ldlt_solving",
];

/// Replaces names, and the type of numbers in arrays. Reports have double precision in both.
fn in_single_precision(source: &str) -> String {
    // The text is included into a module that has its own module comment.
    let source: String =
        source.lines().filter(|line| !line.starts_with("//!")).flat_map(|line| [line, "\n"]).collect();
    source
        .replace("cholupdate_d", "cholupdate_s")
        .replace("f64", "f32")
        .replace("double precision", "single precision")
}
