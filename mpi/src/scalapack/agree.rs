//! The agreement with which every call begins, as in the core: the processes compare what must be the same on all of them, and what
//! each has found wrong with its own arguments.

use super::ScalapackError;
use super::descriptor::RULES;
use crate::network::Processes;
use cholupdate::Error;
use cholupdate::distributed::Network;

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

/// The largest number of facts of a call, as in the core: the first reductions of all calls have the same length, and the call and its
/// complement at the same places, so that a process that makes a call of the core finds that another makes one of these.
const MOST: usize = 6;

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
    let mut words = [u64::MAX; 2 * (MOST + 1) + 1];
    let call = call as u64 + OF_BYTE * bytes as u64;
    for (at, fact) in core::iter::once(call).chain(facts.iter().map(|&(_, fact)| fact)).enumerate() {
        (words[2 * at], words[2 * at + 1]) = (fact, !fact);
    }
    words[2 * (MOST + 1)] = if mine.is_err() { net.rank() as u64 } else { u64::MAX };
    net.least(&mut words);
    let differs = |at: usize| words[2 * at] != !words[2 * at + 1];
    if differs(0) {
        return Err(Error::Differs { argument: "the call" }.into());
    }
    if let Some((_, (error, _))) = facts.iter().enumerate().find(|&(at, _)| differs(at + 1)) {
        return Err(error.clone());
    }
    let root = words[2 * (MOST + 1)];
    if root == u64::MAX {
        return Ok(());
    }
    let mut bytes = [0; 3].map(u64::to_ne_bytes);
    if let Err(error) = mine {
        bytes = encode(&error).map(u64::to_ne_bytes);
    }
    net.broadcast(root as usize, bytes.as_flattened_mut());
    Err(decode(bytes.map(u64::from_ne_bytes)))
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
