//! One word a concept: these are the words not used, here and anywhere in the project.

use crate::support::sources::sources;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a word means what is banned. Elsewhere it may be English.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum In {
    /// Code, comments, documents, names of files.
    Everything,
    /// What is not a comment, in any language.
    Code,
    /// Code and comments of `src/` and `kernels/`.
    Engines,
    /// What is not a comment in `src/` and `kernels/`.
    EngineCode,
}

/// The word, where it is banned, and what to say instead. Words begin and end with a word, `_` and capitals within a name
/// dividing it; one that ends in `*` goes on as it likes. Of any case, where they are written in small letters.
const BANNED: [(&str, In, &str); 14] = [
    ("multiplier*", In::Everything, "weight"),
    ("pivot block*", In::Everything, "diagonal block"),
    ("add_row*", In::Everything, "insert"),
    ("delete_row*", In::Everything, "remove"),
    ("add_column*", In::Everything, "insert"),
    ("delete_column*", In::Everything, "remove"),
    ("Cholesky decomposition*", In::Everything, "Cholesky factorization, or factor"),
    ("updation*", In::Everything, "update"),
    ("down-date*", In::Everything, "downdate"),
    ("up-date*", In::Everything, "update"),
    ("panel_width*", In::Everything, "panel_cols"),
    ("matrix dimension*", In::Everything, "order"),
    ("TODO", In::Everything, "nothing: finish it"),
    ("FIXME", In::Everything, "nothing: finish it"),
];

/// Words of this project's own, each now said in those of the field.
const GONE: [(&str, In, &str); 40] = [
    // Numerics.
    ("weigh", In::Engines, "Bennett coefficients; of V, scale"),
    ("weigh_all", In::Everything, "Bennett coefficients"),
    ("frame*", In::Engines, "basis"),
    ("renew*", In::Engines, "rebase"),
    ("careful*", In::Everything, "Householder fallback"),
    ("substitute", In::EngineCode, "trsm"),
    ("meet(", In::EngineCode, "gemm"),
    ("leave(", In::EngineCode, "gemm"),
    ("dragged", In::Everything, "carried right-hand sides"),
    // Parts of L and V.
    ("strips", In::Everything, "panels"),
    ("top_rows", In::Everything, "host part"),
    ("tops", In::Code, "host parts"),
    ("head_rows", In::Everything, "next diagonal rows"),
    ("heads", In::Everything, "next diagonal rows"),
    ("tails", In::Everything, "trailing rows"),
    ("tail_*", In::EngineCode, "trailing rows"),
    ("passes", In::Code, "rank blocks"),
    ("Cut", In::EngineCode, "rank blocks"),
    ("stretch*", In::Everything, "panel range"),
    ("reach", In::EngineCode, "lookahead depth"),
    ("BEHIND", In::Code, "lookahead depth"),
    // Where a sweep writes.
    ("Sink", In::Code, "Target"),
    ("To::", In::Code, "Target"),
    ("Write::", In::EngineCode, "Target"),
    ("Nowhere", In::Code, "Target::Discard"),
    ("spare", In::Code, "shadow buffer"),
    ("second buffer", In::Everything, "shadow buffer"),
    ("SecondBuffer", In::Everything, "ShadowBuffer"),
    ("settle*", In::Everything, "commit"),
    ("rehears*", In::Everything, "dry run"),
    // Work in flight.
    ("under_way", In::Everything, "in flight"),
    ("begin_update*", In::Everything, "submit"),
    ("begin_downdate*", In::Everything, "submit"),
    ("begin_modify*", In::Everything, "submit"),
    ("marks", In::Engines, "flags"),
    ("told", In::EngineCode, "published"),
    ("listen*", In::Engines, "poll"),
    // Who works.
    ("crew*", In::Everything, "workers"),
    ("team*", In::Engines, "workers"),
    ("leader*", In::Engines, "caller; critical-path task"),
];

/// Whether `line` has the word.
fn has(line: &str, word: &str) -> bool {
    let (stem, goes_on) = word.strip_suffix('*').map_or((word, false), |stem| (stem, true));
    let any_case = stem.to_ascii_lowercase() == stem;
    let text = if any_case { line.to_ascii_lowercase() } else { line.to_string() };
    // Whether a name goes on from one character to the next; case is that of the line.
    let joined = |at: usize| {
        let two =
            at.checked_sub(1).and_then(|before| Some((line.as_bytes()[before], *line.as_bytes().get(at)?)));
        two.is_some_and(|(x, y)| {
            x.is_ascii_alphanumeric()
                && y.is_ascii_alphanumeric()
                && !(x.is_ascii_lowercase() && y.is_ascii_uppercase())
        })
    };
    text.match_indices(stem).any(|(at, _)| !joined(at) && (goes_on || !joined(at + stem.len())))
}

/// A line without its comment.
fn code(line: &str) -> &str {
    let comment = line.match_indices("//").find(|&(at, _)| !line[..at].ends_with(':'));
    comment.map_or(line, |(at, _)| &line[..at])
}

fn files(at: &Path, found: &mut Vec<PathBuf>) {
    if at.is_dir() {
        for entry in fs::read_dir(at).unwrap() {
            files(&entry.unwrap().path(), found);
        }
    } else if at.extension().is_some_and(|extension| {
        ["rs", "md", "cu", "cuh", "c", "cpp", "h", "f90"].iter().any(|e| extension == *e)
    }) {
        found.push(at.to_path_buf());
    }
}

/// What is misused in a file that is called `path`, from the root of the project.
fn misuses(path: &str, text: &str) -> Vec<String> {
    let is_engine = path.starts_with("src/") || path.starts_with("kernels/");
    let is_code = !path.ends_with(".md");
    let mut misuses = Vec::new();
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    for (number, line) in [(0, path)].into_iter().chain(lines) {
        // The changelog tells what things were called.
        let gone = if path == "CHANGELOG.md" { &[][..] } else { &GONE };
        for &(word, place, instead) in BANNED.iter().chain(gone) {
            let text = match place {
                In::Everything => line,
                In::Engines if is_engine => line,
                In::EngineCode if is_engine && is_code => code(line),
                In::Code if is_code => code(line),
                _ => continue,
            };
            if has(text, word) {
                misuses.push(format!("{path}:{number}: `{}`; say {instead}", word.trim_end_matches('*')));
            }
        }
    }
    misuses
}

#[test]
fn banned_words_are_not_used() {
    let Some(root) = sources() else { return };
    let mut found = Vec::new();
    for part in [
        "src",
        "tests",
        "benches",
        "examples",
        "capi",
        "python/src",
        "docs",
        "kernels",
        "README.md",
        "CHANGELOG.md",
    ] {
        files(&root.join(part), &mut found);
    }
    assert!(found.iter().any(|path| path.ends_with("src/lib.rs")), "looked in the wrong place");
    let mut all = Vec::new();
    // All but this file.
    for path in found.iter().filter(|path| !path.ends_with("tests/it/words.rs")) {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        all.extend(misuses(&name, &text));
    }
    assert!(all.is_empty(), "\n{}", all.join("\n"));
}

#[test]
fn words_are_found_as_words() {
    for (line, word, expected) in [
        ("a TODO", "TODO", true),
        ("a todo", "TODO", false),
        ("the multipliers", "multiplier*", true),
        ("the Multipliers", "multiplier", false),
        ("let row_multiplier = 1;", "multiplier", true),
        ("struct RowMultiplier;", "multiplier", true),
        ("MultiplierOf", "multiplier", true),
        ("demultiplier", "multiplier*", false),
        ("Row::new()", "Row::", true),
        ("ARow::new()", "Row::", false),
        ("√multiplier×", "multiplier", true),
    ] {
        assert_eq!(has(line, word), expected, "{word} in {line}");
    }
    assert_eq!(code("let x = 1; // y"), "let x = 1; ");
    assert_eq!(code("\"https://x\" // y"), "\"https://x\" ");
}
