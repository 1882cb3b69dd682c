//! `docs/benchmarks.md`: how to read it, then a section for each machine.

use crate::compare::{bounds, factors, losses, table};
use crate::figures::names;
use crate::machine::Machine;

/// What does not depend on results.
const PROSE: &str = include_str!("page.md");

pub fn page(machines: &[Machine]) -> String {
    machines.iter().fold(PROSE.to_owned(), |page, machine| page + &section(machine))
}

fn section(machine: &Machine) -> String {
    let mut versions: Vec<&str> = Vec::new();
    for version in machine.about("versions").iter().flat_map(|text| text.split("; ")) {
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    let wrong = match &machine.wrong[..] {
        [] => String::new(),
        methods => format!(" Wrong results of {} are left out.", methods.join(", ")),
    };
    let plots =
        names(machine).into_iter().map(|name| format!("<img src=\"benchmarks/{name}\" width=\"49%\">"));
    let title = match machine.threads() {
        threads if threads > 1 && !machine.has_device() => format!("{}, {threads} threads", machine.title()),
        _ => machine.title(),
    };
    let mut parts = vec![
        format!("\n## {title}"),
        format!(
            "{}. {}. Measured {}; CSV: [{stem}](benchmarks/{stem}.csv). Limits, measured by each command: {}.",
            machine.hardware(),
            versions.join(", "),
            machine.about("date").join(", "),
            machine.about("limits").join("; "),
            stem = machine.stem,
        ),
        format!("```sh\n{}\n```", machine.about("command").join("\n")),
        plots.collect::<Vec<_>>().join(" "),
        table(machine).trim_end().to_owned(),
        format!("{} {}{}{wrong}", losses(machine), bounds(machine), factors(machine)),
    ];
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}
