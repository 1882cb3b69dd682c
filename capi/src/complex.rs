// Converts the functions for real numbers to those for complex ones. Shared by the build script and the test of the header.

/// Files of functions for complex numbers, in the order of the header.
const COMPLEX_PARTS: [&str; 17] = [
    "factor", "known", "modifying", "carried", "pending", "rows", "solving", "extension", "ldlt", "ldlt_known", "ldlt_modifying",
    "ldlt_rows", "ldlt_solving", "ldlt_extension", "batch", "batch_verbs", "batch_rows",
];

/// Arguments that are real for complex numbers as well.
const REAL: [&str; 9] =
    ["weights", "decay", "sums", "squares", "log_det", "condition", "d", "signs", "log_abs_det"];

/// Words of the documentation, and those for complex numbers.
const WORDS: [(&str, &str); 16] = [
    ("^T", "^H"),
    ("of a symmetric, possibly", "of a Hermitian, possibly"),
    ("with any diagonal that is not zero, and", "with any diagonal that is not zero, and real"),
    ("dch", "zch"),
    ("double precision", "complex double precision"),
    (
        "Columns of L with a negative diagonal entry are negated, which leaves",
        "Each column of L is multiplied by the number of magnitude 1 that makes its diagonal entry real and positive, which leaves",
    ),
    (
        "columns with a negative diagonal entry are negated, and zeros",
        "each column of L is multiplied by the number of magnitude 1 that makes its diagonal entry real and positive, and zeros",
    ),
    (" or, for factors in the memory of a GPU, CHOLUPDATE_CUDA, with n of at most 4096", ""),
    ("; the statuses of devices for a GPU, as all functions on such a batch", ""),
    (", or the statuses of devices. Returns", ". Returns"),
    ("for example to another engine", "for example the number of threads"),
    (
        "Only CHOLUPDATE_CUDA works on after the call; the other engines finish within it.",
        "The CPU engine finishes it within the call.",
    ),
    (" On CHOLUPDATE_CUDA the host waits once for both.", ""),
    ("; UNAVAILABLE and the other statuses of devices for an engine with a GPU", ""),
    ("; the statuses of devices for an engine with a GPU", ""),
    ("or its transpose for", "or its conjugate transpose for"),
];

/// Replaces names, words of the documentation, and the type of numbers that are not real.
fn in_complex_numbers(source: &str) -> String {
    let code = |line: &str| {
        if is_real(line) { line.to_string() } else { line.replace("f64", "cholupdate::faer::c64") }
    };
    let text: String = paragraphs(source)
        .iter()
        .map(|line| match line.strip_prefix("/// ") {
            Some(said) => {
                filled(&WORDS.iter().fold(said.to_string(), |said, (word, other)| said.replace(word, other)))
            }
            None => code(line) + "\n",
        })
        .collect();
    text.replace("cholupdate_d", "cholupdate_z")
}

/// Whether the line declares an argument that is real.
fn is_real(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| REAL.contains(&name.trim()))
}

/// The lines of a source, where each paragraph of the documentation of an item is one line.
fn paragraphs(source: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in source.lines() {
        match (lines.last_mut(), line.strip_prefix("/// ")) {
            (Some(last), Some(more)) if last.starts_with("/// ") => *last = format!("{last} {more}"),
            _ => lines.push(line.to_string()),
        }
    }
    lines
}

/// A paragraph of documentation in lines of the width of the sources.
fn filled(said: &str) -> String {
    let (mut text, mut column) = (String::from("///"), 3);
    for word in said.split(' ') {
        if column + 1 + word.len() > 125 {
            text += "\n///";
            column = 3;
        }
        text += " ";
        text += word;
        column += 1 + word.len();
    }
    text + "\n"
}
