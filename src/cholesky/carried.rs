//! Recursive least squares: a forgetting factor, and right-hand sides that are carried through the sweep.

use crate::carried::Carried;
use crate::cholesky::Cholesky;
use crate::engine::Engine;
use crate::error::Error;
use crate::factor::verbs::Verbs;
use crate::operand::Operand;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::weights::Weights;

impl<T: Scalar> Carried<T> {
    /// Computes z and the residual sums of squares from the right-hand sides Xᵀ y and the sums of squares of y.
    ///
    /// # Shapes
    /// Xᵀ y (n × m), sums (m).
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `b` or `sums`; `Overflow`, naming `b`, where squares of z could overflow; `Singular`;
    /// `Device` or `Poisoned` on an engine with a device. A sum smaller than ‖z‖² by more than roundings
    /// is stored as −1 (unknown).
    ///
    /// # Cost
    /// A solve with L: m n² flops.
    pub fn new<'a, E: Engine<T>>(
        factor: &Cholesky<T, E>,
        b: impl Into<Operand<'a, T>>,
        sums: &[T::Part],
    ) -> Result<Self, Error> {
        E::Factor::carry(&factor.factor, &b.into(), sums)
    }
}

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// A ← δ A + V diag(w) Vᵀ: earlier observations count less with each call.
    ///
    /// # Shapes
    /// 0 < δ ≤ 1, `decay`; V (n × k), w (k), as for [`modify`](Self::modify).
    ///
    /// # Errors
    /// As [`modify`](Self::modify), and `OutOfRange` naming `decay`, also if √δ scales a pivot of L so far down that digits are
    /// lost to underflow (below 8e-292 in double precision, 8e-31 in single): a direction that is not excited any more vanishes
    /// in the end. Zero pivots of a singular factor remain zero.
    ///
    /// # Report
    /// Relative to the old A: the ratio and the change of log det A include δ.
    ///
    /// # Cost
    /// That of [`modify`](Self::modify) on the CPU engine; on the others one more pass over L.
    ///
    /// # Source
    /// S. Haykin, *Adaptive Filter Theory*, 4th ed., Prentice Hall (2002), chapter 9: exponentially weighted least squares.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0_f64, 2.0], [2.0, 5.0]])?;
    /// factor.modify_scaled(0.5, &[1.0, 0.0], &[1.0])?; // A = (3 1; 1 2.5)
    /// assert!((factor.log_det()? - 6.5_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn modify_scaled<'a, 'w>(
        &mut self,
        decay: T::Part,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T::Part>>,
    ) -> Result<Modification, Error>
    where
        T: 'w,
    {
        E::Factor::modify_scaled(&mut self.factor, decay, &v.into(), weights.into())
    }

    /// A ← δ A + V diag(w) Vᵀ, and the right-hand sides of the least squares with these observations: a row vᵀ with the values
    /// y is added, or removed if its weight is negative.
    ///
    /// A sum of squares that would become negative is −1 from then on, as RHO in LINPACK's `dchdd`; the factor and z remain
    /// valid.
    ///
    /// # Shapes
    /// As for [`modify_scaled`](Self::modify_scaled); y (k × m), of m right-hand sides; z (n × m) and squares (m) in `carried`.
    ///
    /// # Errors
    /// As [`modify_scaled`](Self::modify_scaled), and `Shape`, `NonFinite` or `Overflow` naming `y`, `z` or `squares`. After an
    /// error the factor and `carried` are as they were.
    ///
    /// # Cost
    /// That of [`modify_scaled`](Self::modify_scaled) for n + m rows on the CPU engine. On the others two products with L and
    /// three triangular solves in addition or, from a singular A, a copy of L to the host and the modification there as well.
    ///
    /// # Source
    /// J. J. Dongarra, J. R. Bunch, C. B. Moler, G. W. Stewart, *LINPACK Users' Guide*, SIAM (1979), chapter 10: `dchud`, `dchdd`.
    ///
    /// ```
    /// use cholupdate::{Carried, Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// // A line through (0, 1), (1, 3) and (2, 5).
    /// let mut factor = Cholesky::new(&mat![[2.0, 1.0], [1.0, 1.0]])?; // of the rows (1, 0), (1, 1)
    /// let mut line = Carried::new(&factor, &[4.0, 3.0], &[10.0])?;
    /// factor.modify_carrying(1.0, &[1.0, 2.0], &[1.0], &[5.0], &mut line)?;
    /// assert!((factor.solve_lt(&line.z)? - mat![[1.0], [2.0]]).norm_max() < 1e-14);
    /// assert!(line.squares[0] < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn modify_carrying<'a, 'w>(
        &mut self,
        decay: T::Part,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T::Part>>,
        y: impl Into<Operand<'a, T>>,
        carried: &mut Carried<T>,
    ) -> Result<Modification, Error>
    where
        T: 'w,
    {
        let factor = &mut self.factor;
        E::Factor::modify_carrying(factor, decay, &v.into(), weights.into(), &y.into(), carried)
    }
}
