//! The calls that modify A by V diag(w) Vᵀ.

use super::{Ldlt, LdltModification};
use crate::error::Error;
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::Number;

impl<T: Scalar> Ldlt<T> {
    /// A ← A + V Vᵀ.
    ///
    /// # Shapes, errors, cost
    /// As [`modify`](Self::modify).
    pub fn update<'a>(&mut self, v: impl Into<Operand<'a, T>>) -> Result<LdltModification, Error> {
        T::ldlt_modify(&mut self.state, T::Part::ONE, &v.into(), Weights::Plus, false)
    }

    /// A ← A − V Vᵀ.
    ///
    /// # Shapes, errors, cost
    /// As [`modify`](Self::modify).
    pub fn downdate<'a>(&mut self, v: impl Into<Operand<'a, T>>) -> Result<LdltModification, Error> {
        T::ldlt_modify(&mut self.state, T::Part::ONE, &v.into(), Weights::Minus, false)
    }

    /// A ← A + V diag(w) Vᵀ, with any mix of signs in one call. Whether it succeeds depends on the leading minors of the result alone, not
    /// on the order of the columns.
    ///
    /// # Shapes
    /// V (n × k), any layout, a slice, array or vector for k = 1; w (k). Columns of weight zero are checked to be finite, and then skipped.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `v` or `weights`; `Singular` with the first column whose pivot would be zero to working
    /// precision: less than (n + k) u of the terms of which it is the sum; `Unstable`; `Inertia` or `Sign`, if these are
    /// [expected](Self::expect_inertia).
    ///
    /// # Cost
    /// 2 k (n − r)² flops, where r is the number of leading zero rows of V, and a pass over L for the growth.
    ///
    /// # Source
    /// C. M. Rader, A. O. Steinhardt, *Hyperbolic Householder transformations*, IEEE Trans. ASSP 34 (1986), with a change of places of a
    /// column of L and one of V where a pivot changes its sign (`docs/accuracy.md`).
    pub fn modify<'a, 'w>(
        &mut self,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T::Part>>,
    ) -> Result<LdltModification, Error> {
        T::ldlt_modify(&mut self.state, T::Part::ONE, &v.into(), weights.into(), false)
    }

    /// A ← δ A + V diag(w) Vᵀ.
    ///
    /// # Shapes
    /// 0 < δ ≤ 1, `decay`; V (n × k), w (k), as for [`modify`](Self::modify).
    ///
    /// # Errors
    /// As [`modify`](Self::modify), and `OutOfRange` naming `decay`.
    ///
    /// # Cost
    /// As [`modify`](Self::modify), and one more pass over L.
    pub fn modify_scaled<'a, 'w>(
        &mut self,
        decay: T::Part,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T::Part>>,
    ) -> Result<LdltModification, Error> {
        T::ldlt_modify(&mut self.state, decay, &v.into(), weights.into(), false)
    }

    /// Whether [`downdate`](Self::downdate) would accept V, without the downdate.
    ///
    /// # Shapes
    /// V (n × k).
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `v`.
    ///
    /// # Cost
    /// That of a downdate.
    pub fn can_downdate<'a>(&mut self, v: impl Into<Operand<'a, T>>) -> Result<bool, Error> {
        match T::ldlt_modify(&mut self.state, T::Part::ONE, &v.into(), Weights::Minus, true) {
            Ok(_) => Ok(true),
            Err(
                Error::Singular { .. } | Error::Unstable { .. } | Error::Inertia { .. } | Error::Sign { .. },
            ) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
