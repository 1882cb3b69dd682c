//! What signs the pivots may have.

use super::report::inertia;
use crate::error::Error;

/// What the caller expects of the result of every call.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(PartialEq, serde::Serialize, serde::Deserialize))]
pub(super) enum Expected {
    #[default]
    Anything,
    /// These numbers of positive and negative pivots.
    Inertia((usize, usize)),
    /// Which pivots are negative, by rows; `None` if either is right.
    Signs(#[cfg_attr(feature = "serde", serde(with = "super::snapshot::signs"))] Vec<Option<bool>>),
}

impl Expected {
    /// # Errors
    /// `Inertia` or `Sign`.
    pub fn check(&self, negative: &[bool]) -> Result<(), Error> {
        match self {
            Self::Anything => Ok(()),
            &Self::Inertia(expected) => {
                let found = inertia(negative);
                if found == expected { Ok(()) } else { Err(Error::Inertia { expected, found }) }
            }
            Self::Signs(expected) => {
                let other =
                    |(expected, found): (&Option<bool>, &bool)| expected.is_some_and(|sign| sign != *found);
                match expected.iter().zip(negative).position(other) {
                    Some(column) => Err(Error::Sign { column }),
                    None => Ok(()),
                }
            }
        }
    }

    /// The same after a change of rows: for each new row the old one, if there was one. Anything is right for the others.
    pub fn rearranged(&self, rows: impl Iterator<Item = Option<usize>>) -> Self {
        match self {
            Self::Signs(expected) => Self::Signs(rows.map(|row| row.and_then(|row| expected[row])).collect()),
            other => other.clone(),
        }
    }
}
