//! What signs the pivots may have.

use super::Ldlt;
use super::state::inertia;
use crate::error::Error;
use crate::scalar::Scalar;

/// What the caller expects of the result of every call.
#[derive(Clone, Debug, Default)]
pub(super) enum Expected {
    #[default]
    Anything,
    /// These numbers of positive and negative pivots.
    Inertia((usize, usize)),
    /// Which pivots are negative, by rows; `None` if either is right.
    Signs(Vec<Option<bool>>),
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

impl<T: Scalar> Ldlt<T> {
    /// The inertia that is [expected](Self::expect_inertia) of every result, if one is.
    #[must_use]
    pub fn expected_inertia(&self) -> Option<(usize, usize)> {
        match self.state.expected {
            Expected::Inertia(expected) => Some(expected),
            _ => None,
        }
    }

    /// The signs that are [expected](Self::expect_signs) of the pivots, if some are: 1 or −1, or 0 where either is right. They follow their
    /// rows. (n)
    ///
    /// ```
    /// use cholupdate::{Error, Ldlt, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Ldlt::new(&mat![[2.0, 1.0], [1.0, -1.0]])?;
    /// factor.expect_signs(&[1.0, -1.0])?;
    /// factor.insert(1, &[0.0, 1.0, 0.0])?;
    /// assert_eq!(factor.expected_signs(), Some(vec![1.0, 0.0, -1.0]));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn expected_signs(&self) -> Option<Vec<T>> {
        let Expected::Signs(signs) = &self.state.expected else { return None };
        let sign = |sign: &Option<bool>| match sign {
            None => T::ZERO,
            Some(true) => -T::ONE,
            Some(false) => T::ONE,
        };
        Some(signs.iter().map(sign).collect())
    }
}
