//! Printed tables.

/// A table of these fields, of fixed width.
#[must_use]
pub fn lay_out(headings: &[&str], lines: &[Vec<String>]) -> String {
    let length = |text: &str| text.chars().count();
    let width =
        |i: usize| lines.iter().map(|line| length(&line[i])).max().unwrap_or(0).max(length(headings[i]));
    let widths: Vec<_> = (0..headings.len()).map(width).collect();
    let text = |line: &[&str]| {
        let padded: Vec<_> =
            line.iter().zip(&widths).map(|(field, &width)| format!("{field:>width$}")).collect();
        format!("{}\n", padded.join("  "))
    };
    let lines = lines.iter().map(|line| text(&line.iter().map(String::as_str).collect::<Vec<_>>()));
    text(headings) + &lines.collect::<String>()
}

/// Three digits and a unit.
#[must_use]
pub fn time(seconds: f64) -> String {
    let (scale, unit) = match seconds {
        s if s < 1e-6 => (1e9, "ns"),
        s if s < 1e-3 => (1e6, "µs"),
        s if s < 1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    let x = seconds * scale;
    let digits = if x < 10.0 {
        2
    } else if x < 100.0 {
        1
    } else {
        0
    };
    format!("{x:.digits$} {unit}")
}
