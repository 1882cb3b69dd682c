//! Every call begins with an agreement: the processes compare what must be the same on all of them, and what each has found wrong
//! with its own arguments. So all return the same error, and none waits for a call that another does not make.

use super::network::{Network, bytes_mut};
use crate::error::Error;

/// The calls, for the agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Call {
    FromMatrix,
    FromFactor,
    ScatterMatrix,
    ScatterFactor,
    Gather,
    Modify,
    DryRun,
    Solve,
    Append,
    RemoveLast,
}

/// What must be the same on all processes, by the name of the argument.
pub(crate) type Fact = (&'static str, u64);

/// The largest number of facts of a call.
const MOST: usize = 6;

/// What the comparison with which a call begins has found, the same on all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// All make the same call with the same facts, and none has found an error.
    Same,
    /// The calls differ.
    OtherCall,
    /// The fact at this place is the first that differs.
    OtherFact(usize),
    /// This process is the first that has found an error.
    Refused(usize),
}

/// Compares the number of a call and at most six facts with those of the other processes. `refused` says whether this process has
/// found an error in its own arguments.
///
/// The reductions of all calls have the same length, with the call at the same place, so that processes that make different calls find
/// that they do. Numbers below 100 are for the calls of [`Factor`](super::Factor).
pub fn compare(
    net: &impl Network,
    call: u64,
    facts: impl ExactSizeIterator<Item = u64>,
    refused: bool,
) -> Compared {
    // The call and the facts, each with its complement; then the process that has found an error.
    let mut words = [u64::MAX; 2 * (MOST + 1) + 1];
    let (count, root) = (1 + facts.len(), 2 * (MOST + 1));
    for (at, fact) in core::iter::once(call).chain(facts).enumerate() {
        (words[2 * at], words[2 * at + 1]) = (fact, !fact);
    }
    if refused {
        words[root] = net.rank() as u64;
    }
    net.least(&mut words);
    match (0..count).find(|&at| words[2 * at] != !words[2 * at + 1]) {
        Some(0) => Compared::OtherCall,
        Some(at) => Compared::OtherFact(at - 1),
        None if words[root] == u64::MAX => Compared::Same,
        None => Compared::Refused(words[root] as usize),
    }
}

/// Checks that all processes make the same call with these facts, and that none of them has found an error.
///
/// # Errors
/// `Differs`, or the error of the first process that has one.
pub(crate) fn agree(
    net: &impl Network,
    call: Call,
    facts: &[Fact],
    mine: Result<(), Error>,
) -> Result<(), Error> {
    match compare(net, call as u64, facts.iter().map(|&(_, fact)| fact), mine.is_err()) {
        Compared::Same => Ok(()),
        Compared::OtherCall => Err(Error::Differs { argument: "the call" }),
        Compared::OtherFact(at) => Err(Error::Differs { argument: facts[at].0 }),
        Compared::Refused(root) => Err(share_error(net, root, mine.err())),
    }
}

/// Tells all processes the error of `root`.
fn share_error(net: &impl Network, root: usize, mine: Option<Error>) -> Error {
    let mut words = mine.as_ref().map_or([0; 5], encode);
    net.broadcast(root, bytes_mut(&mut words));
    // The process that has it returns it as it is.
    mine.filter(|_| net.rank() == root).unwrap_or_else(|| decode(&words))
}

/// The names that errors of these calls contain.
const NAMES: [&str; 14] = [
    "an argument",
    "v",
    "weights",
    "rhs",
    "l",
    "a",
    "columns",
    "count",
    "block",
    "rows",
    "entries",
    "cross",
    "corner",
    "root",
];

/// The rules of [`Error::OutOfRange`].
const RULES: [&str; 3] = ["valid on every process", BLOCK_RULE, COUNT_RULE];

pub(crate) const BLOCK_RULE: &str = "a positive multiple of 16";
pub(crate) const COUNT_RULE: &str = "at most the order";

fn index(of: &[&str], name: &str) -> u64 {
    let known = of.iter().position(|&known| known == name);
    debug_assert!(known.is_some(), "`{name}` is not in the table");
    known.unwrap_or(0) as u64
}

fn encode(error: &Error) -> [u64; 5] {
    match error {
        Error::Shape { argument, extent, expected, found } => {
            [1, index(&NAMES, argument), index(&NAMES, extent), *expected as u64, *found as u64]
        }
        Error::NonFinite { argument, row, column } => {
            [2, index(&NAMES, argument), *row as u64, *column as u64, 0]
        }
        Error::Overflow { argument } => [3, index(&NAMES, argument), 0, 0, 0],
        Error::NotPositiveDefinite { column } => [4, *column as u64, 0, 0, 0],
        Error::OutOfRange { argument, rule } => [5, index(&NAMES, argument), index(&RULES, rule), 0, 0],
        Error::Index { argument, entry, found, limit } => {
            [6, index(&NAMES, argument), *entry as u64, *found as u64, *limit as u64]
        }
        _ => [0, 0, 0, 0, 0],
    }
}

fn decode(&[kind, a, b, c, d]: &[u64; 5]) -> Error {
    let name = |word: u64| NAMES.get(word as usize).copied().unwrap_or(NAMES[0]);
    match kind {
        1 => Error::Shape { argument: name(a), extent: name(b), expected: c as usize, found: d as usize },
        2 => Error::NonFinite { argument: name(a), row: b as usize, column: c as usize },
        3 => Error::Overflow { argument: name(a) },
        4 => Error::NotPositiveDefinite { column: a as usize },
        5 => {
            Error::OutOfRange { argument: name(a), rule: RULES.get(b as usize).copied().unwrap_or(RULES[0]) }
        }
        6 => Error::Index { argument: name(a), entry: b as usize, found: c as usize, limit: d as usize },
        _ => Error::OutOfRange { argument: NAMES[0], rule: RULES[0] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributed::network::threads::Threads;

    #[test]
    fn errors_are_the_same_on_all_processes() {
        let errors = [
            Error::Shape { argument: "v", extent: "rows", expected: 3, found: 4 },
            Error::NonFinite { argument: "rhs", row: 5, column: 1 },
            Error::Overflow { argument: "a" },
            Error::NotPositiveDefinite { column: 17 },
            Error::OutOfRange { argument: "block", rule: BLOCK_RULE },
            Error::Index { argument: "root", entry: 0, found: 9, limit: 3 },
        ];
        for error in errors {
            assert_eq!(decode(&encode(&error)), error);
            let expected = error.clone();
            let all = Threads::run(3, move |net| {
                let mine = if net.rank() == 1 { Err(error.clone()) } else { Ok(()) };
                agree(&net, Call::Modify, &[("v", 5)], mine)
            });
            assert_eq!(all, vec![Err(expected); 3]);
        }
    }

    #[test]
    fn calls_and_arguments_that_differ_are_found() {
        let all = Threads::run(3, |net| {
            let last = net.rank() == 2;
            let call = agree(&net, if last { Call::Solve } else { Call::Modify }, &[], Ok(()));
            let rank = agree(&net, Call::Modify, &[("v", 5 + u64::from(last)), ("weights", 0)], Ok(()));
            (call, rank, agree(&net, Call::Modify, &[("v", 5), ("weights", u64::MAX)], Ok(())))
        });
        let differs = |argument| Err(Error::Differs { argument });
        assert_eq!(all, vec![(differs("the call"), differs("v"), Ok(())); 3]);
    }
}
