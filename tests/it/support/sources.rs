//! The sources of the project, for the tests that read them.

use std::path::{Path, PathBuf};

/// Their folder, if it exists: the binary may run on another machine than the one that built it. Without them the test prints
/// that, or fails under `CHOLUPDATE_REQUIRE_SOURCES=1`.
pub fn sources() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if root.join("src/lib.rs").is_file() {
        return Some(root.to_path_buf());
    }
    let why = format!("there are no sources in {}", root.display());
    let required = std::env::var_os("CHOLUPDATE_REQUIRE_SOURCES").is_some_and(|value| value == "1");
    assert!(!required, "CHOLUPDATE_REQUIRE_SOURCES is set, but {why}");
    eprintln!("SKIPPED: {why}");
    None
}
