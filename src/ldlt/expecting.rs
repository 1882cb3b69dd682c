//! The calls that say what signs the pivots may have.

use super::Ldlt;
use super::expected::Expected;
use crate::check::extent;
use crate::error::Error;
use crate::scalar::Scalar;
use cholupdate_kernels::number::Number;

impl<T: Scalar> Ldlt<T> {
    /// From now on a call whose result would have other numbers of positive and negative eigenvalues is refused, as [`Error::Inertia`]. The
    /// current factor may have others, for instance before rows are appended. Replaces what was expected before.
    ///
    /// ```
    /// use cholupdate::{Error, Ldlt, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Ldlt::new(&mat![[2.0, 1.0], [1.0, -1.0]])?;
    /// factor.expect_inertia(1, 1);
    /// let refused = factor.modify(&[1.0, 0.0], &[-4.0]);
    /// assert_eq!(refused.unwrap_err(), Error::Inertia { expected: (1, 1), found: (0, 2) });
    /// assert_eq!(factor.inertia(), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn expect_inertia(&mut self, positive: usize, negative: usize) {
        self.state.expected = Expected::Inertia((positive, negative));
    }

    /// From now on a call after which a pivot would not have the sign of its row's entry is refused, as [`Error::Sign`]: for quasi-definite
    /// matrices, whose pivots keep their signs in every order of the rows. An entry of 0 expects nothing, nor does a new row. Replaces what
    /// was expected before.
    ///
    /// # Shapes
    /// `signs` (n).
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `signs`.
    pub fn expect_signs(&mut self, signs: &[T::Part]) -> Result<(), Error> {
        extent("signs", "entries", self.order(), signs.len())?;
        if let Some(row) = signs.iter().position(|sign| !sign.is_finite()) {
            return Err(Error::NonFinite { argument: "signs", row, column: 0 });
        }
        let expected = |&sign: &T::Part| (sign != T::Part::ZERO).then_some(sign < T::Part::ZERO);
        self.state.expected = Expected::Signs(signs.iter().map(expected).collect());
        Ok(())
    }

    /// From now on any inertia is accepted, as at the beginning.
    pub fn expect_any_inertia(&mut self) {
        self.state.expected = Expected::Anything;
    }

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
    pub fn expected_signs(&self) -> Option<Vec<T::Part>> {
        let Expected::Signs(signs) = &self.state.expected else { return None };
        let sign = |sign: &Option<bool>| match sign {
            None => T::Part::ZERO,
            Some(true) => -T::Part::ONE,
            Some(false) => T::Part::ONE,
        };
        Some(signs.iter().map(sign).collect())
    }
}
