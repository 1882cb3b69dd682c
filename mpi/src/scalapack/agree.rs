//! The agreement with which every call begins, as in the core: the processes compare what must be the same on all of them, and what
//! each has found wrong with its own arguments.

use super::ScalapackError;
use super::descriptor::RULES;
use crate::network::Processes;
use cholupdate::Error;
use cholupdate::distributed::{Compared, Network, compare};

/// The calls. The core has numbers below 100 for its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Call {
    FromMatrix = 100,
    FromFactor,
    ToScalapack,
    Grid,
    Factorize,
}

/// A call on numbers of each scalar type has a number of its own: this times the bytes of the type, and that of the call.
const OF_BYTE: u64 = 100;

/// What must be the same on all processes, and the error if it is not.
pub(super) type Fact = (ScalapackError, u64);

pub(super) fn argument(name: &'static str, value: usize) -> Fact {
    (Error::Differs { argument: name }.into(), value as u64)
}

/// Checks that all processes make the same call on numbers of `bytes` bytes (0 if there are none) with these facts, and that none of
/// them has found an error.
///
/// # Errors
/// `Differs`; that of a fact; the error of the first process that has one.
pub(super) fn agree(
    net: &Processes,
    (call, bytes): (Call, usize),
    facts: &[Fact],
    mine: Result<(), ScalapackError>,
) -> Result<(), ScalapackError> {
    let call = call as u64 + OF_BYTE * bytes as u64;
    match compare(net, call, facts.iter().map(|&(_, fact)| fact), mine.is_err()) {
        Compared::Same => Ok(()),
        Compared::OtherCall => Err(Error::Differs { argument: "the call" }.into()),
        Compared::OtherFact(at) => Err(facts[at].0.clone()),
        Compared::Refused(root) => Err(share_error(net, root, mine.err())),
    }
}

/// Tells all processes the error of `root`.
fn share_error(net: &Processes, root: usize, mine: Option<ScalapackError>) -> ScalapackError {
    let mut bytes = mine.map_or([0; 3], |error| encode(&error)).map(u64::to_ne_bytes);
    net.broadcast(root, bytes.as_flattened_mut());
    decode(bytes.map(u64::from_ne_bytes))
}

/// The errors that a process finds in its own arguments.
fn encode(error: &ScalapackError) -> [u64; 3] {
    match error {
        ScalapackError::Descriptor(rule) => {
            let known = RULES.iter().position(|known| known == rule);
            debug_assert!(known.is_some(), "`{rule}` is not in the table");
            [1, known.unwrap_or(0) as u64, 0]
        }
        ScalapackError::Factor(Error::Shape { expected, found, .. }) => [2, *expected as u64, *found as u64],
        _ => [0; 3],
    }
}

fn decode([kind, a, b]: [u64; 3]) -> ScalapackError {
    match kind {
        1 => ScalapackError::Descriptor(RULES.get(a as usize).copied().unwrap_or(RULES[0])),
        2 => entries(a as usize, b as usize),
        _ => ScalapackError::Missing,
    }
}

/// The error of an array with another number of entries.
pub(super) fn entries(expected: usize, found: usize) -> ScalapackError {
    Error::Shape { argument: "a", extent: "entries", expected, found }.into()
}
