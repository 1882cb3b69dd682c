// Converts the functions for double precision to those for single precision. Shared by the build script and the test of the
// header.

/// Files of functions, in the order of the header.
const PARTS: [&str; 22] = [
    "factor", "known", "modifying", "carried", "pending", "array", "gradient", "rows", "solving", "on_device", "extension", "batch", "batch_verbs",
    "batch_rows", "batch_on_device", "batch_outcome", "ldlt", "ldlt_known", "ldlt_modifying", "ldlt_rows", "ldlt_solving", "ldlt_extension",
];

/// Replaces names, and the type of numbers in arrays. Reports have double precision in both.
fn in_single_precision(source: &str) -> String {
    without_module_comment(source)
        .replace("cholupdate_d", "cholupdate_s")
        .replace("cholupdate_z", "cholupdate_c")
        .replace("f64", "f32")
        .replace("c64", "c32")
        .replace("double precision", "single precision")
}

/// The text for a module that has its own module comment.
fn without_module_comment(source: &str) -> String {
    source.lines().filter(|line| !line.starts_with("//!")).flat_map(|line| [line, "\n"]).collect()
}
