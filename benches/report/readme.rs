//! The README's part with results, which is between two marks.

use crate::compare::losses_in_short;
use crate::figures::names;
use crate::machine::Machine;
use cholupdate_bench::csv::Line;
use cholupdate_bench::table::time;
use std::error::Error;

const BEGIN: &str = "<!-- The benchmark `report` writes what follows. -->\n";
const END: &str = "<!-- End of what it writes. -->\n";

const METHODS: [&str; 6] = ["cholupdate", "hyhound", "Eigen", "faer", "LINPACK", "refactor"];
const ORDERS: [usize; 3] = [256, 1024, 4000];
const RANKS: [usize; 2] = [1, 16];
/// Of the sentence about a device.
const RANK: usize = 16;

/// The README with the results of the first machine without a device, and of the first with one.
///
/// # Errors
/// Without the marks.
pub fn with_results(readme: &str, machines: &[Machine]) -> Result<String, Box<dyn Error>> {
    let parts = readme.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or("the README has no marks for the results")?;
    let cpu = machines.iter().find(|machine| !machine.has_device()).map(on_a_cpu);
    let gpu = machines.iter().find(|machine| machine.has_device()).and_then(on_a_device);
    let text = [cpu, gpu].into_iter().flatten().collect::<Vec<_>>().join("\n");
    Ok(format!("{head}{BEGIN}{text}{END}{tail}"))
}

fn on_a_cpu(machine: &Machine) -> String {
    let updates = || {
        machine.lines.iter().filter(|line| line.scalar == "f64" && line.verb == "update" && line.threads == 1)
    };
    let methods: Vec<&str> =
        METHODS.into_iter().filter(|method| updates().any(|line| line.method == *method)).collect();
    let headings = methods.join(" | ").replace("refactor", "factoring again");
    let mut text = format!(
        "Times of an update in double precision on one thread ({}):\n\n| n | k | {headings} |\n|---|---|{}\n",
        machine.title(),
        "---|".repeat(methods.len())
    );
    for (order, rank) in ORDERS.into_iter().flat_map(|order| RANKS.map(|rank| (order, rank))) {
        let found = |method: &&str| {
            updates().find(|line| (&*line.method, line.order, line.rank) == (*method, order, rank))
        };
        if found(&"cholupdate").is_some() {
            let cells =
                methods.iter().map(|method| found(method).map_or("–".into(), |line| time(line.seconds)));
            text += &format!("| {order} | {rank} | {} |\n", cells.collect::<Vec<String>>().join(" | "));
        }
    }
    let plot = names(machine).into_iter().find(|name| name.ends_with(&format!("_k{RANK}.svg")));
    if let Some(plot) = plot {
        text += &format!(
            "\n![Rates of updates of rank {RANK} by order, below the bound of the machine](docs/benchmarks/{plot})\n"
        );
    }
    text + &format!("\n{}\n", losses_in_short(machine))
}

/// The update of one rank at the smallest and the largest order of which factoring again is known.
fn on_a_device(machine: &Machine) -> Option<String> {
    let of = |method: &str| {
        let fits = |line: &&Line| {
            line.method == method && line.rank == RANK && line.verb == "update" && line.scalar == "f64"
        };
        machine.lines.iter().filter(fits).collect::<Vec<_>>()
    };
    let again = of("refactor on the device");
    let ours = of("cholupdate resident");
    let mut pairs: Vec<(&Line, f64)> = ours
        .into_iter()
        .filter_map(|line| {
            let again = again.iter().find(|other| other.order == line.order)?;
            Some((line, again.seconds / line.seconds))
        })
        .collect();
    pairs.sort_by_key(|(line, _)| line.order);
    let ((first, slow), (last, fast)) = (pairs.first()?, pairs.last()?);
    Some(format!(
        "With factor and V on an {}, an update of rank {RANK} takes {} at n = {} and {} at n = {}, which is {slow:.1} and {fast:.0} \
         times as fast as factoring again there.\n",
        machine.name(),
        time(first.seconds),
        first.order,
        time(last.seconds),
        last.order,
    ))
}
