//! Times over those of the best peer.

use crate::machine::{Machine, is_on_device, is_ours};
use cholupdate_bench::csv::Line;

/// A ratio that is rounded to more than 1.00.
const SLOWER: f64 = 1.005;

/// One of this library's engines with a number of threads and a type.
#[derive(Clone, PartialEq, Eq)]
pub struct Engine<'a> {
    method: &'a str,
    threads: usize,
    scalar: &'a str,
}

/// This library's time over the best peer's, and the peer's name.
type Ratio = (f64, String);

impl<'a> Engine<'a> {
    /// Those of a machine, in the order of its file. With a device, the CPU engine is a peer, and operands are where the factor
    /// is.
    pub fn all(machine: &'a Machine) -> Vec<Self> {
        let mut engines = Vec::new();
        for line in machine.lines.iter().filter(|line| is_ours(line)) {
            let peer = machine.has_device() && line.method == "cholupdate" || line.method.contains(';');
            let engine = Self { method: &line.method, threads: line.threads, scalar: &line.scalar };
            if !peer && !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        engines.sort_by_key(|engine| {
            (engine.scalar == "f32", engine.threads > 1 && engine.method == "cholupdate")
        });
        engines
    }

    pub fn name(&self) -> String {
        let name = match (self.method.strip_prefix("cholupdate "), self.threads) {
            (Some(engine), _) => engine.to_owned(),
            (None, 1) => "1 thread".into(),
            (None, threads) => format!("{threads} threads"),
        };
        if self.scalar == "f64" { name } else { format!("{name}, {}", self.scalar) }
    }

    fn has(&self, line: &Line) -> bool {
        line.method == self.method && line.threads == self.threads && line.scalar == self.scalar
    }

    pub fn lines(&self, machine: &'a Machine) -> impl Iterator<Item = &'a Line> {
        let engine = self.clone();
        machine.lines.iter().filter(move |line| engine.has(line))
    }

    /// Against the methods that do the same from the same place: a factor in host memory has no peer whose factor is in device
    /// memory.
    fn ratio(&self, machine: &Machine, ours: &Line) -> Option<Ratio> {
        let same = |line: &&Line| {
            (&line.scalar, line.order, line.rank, &line.verb)
                == (&ours.scalar, ours.order, ours.rank, &ours.verb)
        };
        let may = |line: &&Line| {
            let other = if is_ours(line) {
                line.method == "cholupdate" || line.method == "cholupdate hybrid"
            } else {
                true
            };
            let fits = match self.method {
                "cholupdate" => !is_ours(line) && line.threads <= self.threads,
                _ => line.method != self.method,
            };
            other && fits && (is_on_device(self.method) || !is_on_device(&line.method))
        };
        let peers = machine.lines.iter().filter(same).filter(may);
        let best = peers.min_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
        Some((ours.seconds / best.seconds, short(&best.method).to_owned()))
    }

    fn ratio_at(&self, machine: &Machine, order: usize, rank: usize, verb: &str) -> Option<Ratio> {
        let ours = machine
            .lines
            .iter()
            .find(|line| self.has(line) && (line.order, line.rank, &*line.verb) == (order, rank, verb))?;
        self.ratio(machine, ours)
    }

    /// Where it is slower: for each verb the ranks, with the orders of each, and the largest ratio.
    fn losses(&self, machine: &Machine, verbs: &[&str]) -> Vec<String> {
        let of_verb = |verb: &&str| {
            let own = self.lines(machine).filter(|line| line.verb == **verb);
            let slower = own.filter_map(|line| {
                let (ratio, peer) = self.ratio(machine, line)?;
                (ratio >= SLOWER).then_some((line.rank, line.order, ratio, peer))
            });
            let slower: Vec<_> = slower.collect();
            let at = distinct(slower.iter().map(|one| one.0)).into_iter().map(|rank| {
                let orders = distinct(slower.iter().filter(|one| one.0 == rank).map(|one| one.1));
                format!("k = {rank} (n = {})", join(orders))
            });
            let at: Vec<String> = at.collect();
            let (_, _, ratio, peer) = slower.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
            Some(format!("{verb} at {}, at most {} times ({peer})", at.join(", "), number(*ratio)))
        };
        verbs.iter().filter_map(of_verb).collect()
    }
}

/// Two verbs that share a cell of a table, and what they are called there.
const VERBS: [(&[&str], &str); 3] =
    [(&["update", "downdate"], ""), (&["remove middle", "insert middle"], ", rows"), (&["solve"], ", solve")];

/// For each engine and rank a line, for each order a column.
pub fn table(machine: &Machine) -> String {
    let shown = |line: &Line| VERBS.iter().any(|(verbs, _)| verbs.contains(&&*line.verb));
    let engines = Engine::all(machine);
    let lines = || engines.iter().flat_map(|engine| engine.lines(machine)).filter(|line| shown(line));
    let orders = distinct(lines().map(|line| line.order));
    let headings: String = orders.iter().map(|order| format!(" n = {order} |")).collect();
    let mut text = format!("| engine | k |{headings}\n|---|---|{}\n", "---|".repeat(orders.len()));
    for (engine, (verbs, what)) in engines.iter().flat_map(|engine| VERBS.map(|verbs| (engine, verbs))) {
        let own = engine.lines(machine).filter(|line| verbs.contains(&&*line.verb));
        for rank in distinct(own.map(|line| line.rank)) {
            let cells = orders.iter().map(|&order| {
                let ratios = verbs.iter().map(|verb| engine.ratio_at(machine, order, rank, verb));
                format!(" {} |", cell(&ratios.collect::<Vec<_>>()))
            });
            text += &format!("| {}{what} | {rank} |{}\n", engine.name(), cells.collect::<String>());
        }
    }
    text
}

/// The ratios of one or two verbs; the peer's name once if it is the same.
fn cell(ratios: &[Option<Ratio>]) -> String {
    let one = |(ratio, _): &Ratio| {
        if *ratio >= SLOWER { format!("**{}**", number(*ratio)) } else { number(*ratio) }
    };
    match ratios {
        [Some(a), Some(b)] if a.1 == b.1 => format!("{} / {} {}", one(a), one(b), a.1),
        ratios => {
            let known = ratios.iter().flatten();
            known.map(|ratio| format!("{} {}", one(ratio), ratio.1)).collect::<Vec<_>>().join(" / ")
        }
    }
}

/// Where each engine is slower than the best peer, in one line.
pub fn losses(machine: &Machine) -> String {
    let of = |engine: &Engine<'_>| {
        let mut verbs: Vec<&str> = Vec::new();
        for line in engine.lines(machine) {
            if !verbs.contains(&&*line.verb) {
                verbs.push(&line.verb);
            }
        }
        let losses = engine.losses(machine, &verbs);
        (!losses.is_empty()).then(|| format!("{}: {}", engine.name(), losses.join("; ")))
    };
    slower(&Engine::all(machine).iter().filter_map(of).collect::<Vec<_>>().join(". "))
}

/// The same of the updates and downdates of the first engine.
pub fn losses_in_short(machine: &Machine) -> String {
    let engines = Engine::all(machine);
    let losses = engines.first().map_or(Vec::new(), |engine| engine.losses(machine, VERBS[0].0));
    slower(&losses.join("; "))
}

fn slower(losses: &str) -> String {
    let text = if losses.is_empty() { "nowhere here" } else { losses };
    format!("Slower than the best peer: {text}.")
}

/// The least and the most of times over bounds of updates, by engine; and the largest residual.
pub fn bounds(machine: &Machine) -> String {
    let of = |engine: &Engine<'_>| {
        let ratios = engine.lines(machine).filter(|line| line.verb == "update" && line.bound > 0.0);
        let extremes = ratios.map(|line| line.seconds / line.bound);
        let (low, high) = extremes.fold((f64::MAX, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        (high > 0.0).then(|| format!("{} to {} ({})", number(low), number(high), engine.name()))
    };
    let times: Vec<String> = Engine::all(machine).iter().filter_map(of).collect();
    let ours = machine.lines.iter().filter(|line| is_ours(line) && line.scalar == "f64");
    let residual = ours.fold(0.0, |largest: f64, line| largest.max(line.residual));
    format!("Updates take {} times the bound. Largest residual in f64: {residual:.0e}.", times.join(", "))
}

/// The factor of a matrix in device memory, over cuSOLVER's.
pub fn factors(machine: &Machine) -> String {
    let ours = machine.lines.iter().filter(|line| line.verb == "new" && line.method == "cholupdate resident");
    let at = ours.filter_map(|ours| {
        let peer =
            machine.lines.iter().find(|line| line.method == "cuSOLVER potrf" && line.order == ours.order)?;
        Some(format!("{} at n = {}", number(ours.seconds / peer.seconds), ours.order))
    });
    let at: Vec<String> = at.collect();
    match &at[..] {
        [] => String::new(),
        at => format!(" `Cholesky::new_in` over `potrf`: {}.", at.join(", ")),
    }
}

fn short(method: &str) -> &str {
    match method {
        "cholupdate" => "CPU",
        "cholupdate hybrid" => "hybrid",
        "refactor on the device" | "refactor over the link" => "refactor",
        method => method,
    }
}

/// Two or three digits.
fn number(x: f64) -> String {
    match x {
        x if x < 0.0995 => format!("{x:.3}"),
        x if x < 9.995 => format!("{x:.2}"),
        x => format!("{x:.1}"),
    }
}

fn join(numbers: Vec<usize>) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

pub fn distinct(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut numbers: Vec<usize> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
