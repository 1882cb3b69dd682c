//! One word a concept: these are the words not used, here and anywhere in the project.

use std::fs;
use std::path::{Path, PathBuf};

/// Each is misuse wherever it appears; in two parts, so that this file does not find itself.
const BANNED: [(&str, &str, &str); 14] = [
    ("multi", "plier", "weight"),
    ("pivot", " block", "diagonal block"),
    ("add", "_row", "insert"),
    ("delete", "_row", "remove"),
    ("add", "_column", "insert"),
    ("delete", "_column", "remove"),
    ("Cholesky", " decomposition", "Cholesky factorization, or factor"),
    ("up", "dation", "update"),
    ("down", "-date", "downdate"),
    ("up", "-date", "update"),
    ("panel", "_width", "panel_cols"),
    ("matrix", " dimension", "order"),
    ("TO", "DO", "nothing: finish it"),
    ("FIX", "ME", "nothing: finish it"),
];

fn files(at: &Path, found: &mut Vec<PathBuf>) {
    if at.is_dir() {
        for entry in fs::read_dir(at).unwrap() {
            files(&entry.unwrap().path(), found);
        }
    } else if at
        .extension()
        .is_some_and(|extension| ["rs", "md", "cu", "cuh"].iter().any(|e| extension == *e))
    {
        found.push(at.to_path_buf());
    }
}

#[test]
fn banned_words_are_not_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for part in ["src", "tests", "benches", "examples", "docs", "kernels", "README.md", "CHANGELOG.md"] {
        files(&root.join(part), &mut found);
    }
    assert!(found.iter().any(|path| path.ends_with("src/lib.rs")), "looked in the wrong place");
    let mut misuses = Vec::new();
    for path in found {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            for (first, second, instead) in BANNED {
                let word = format!("{first}{second}");
                if line.contains(&word) {
                    misuses.push(format!("{}:{}: `{word}`; say {instead}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(misuses.is_empty(), "\n{}", misuses.join("\n"));
}
