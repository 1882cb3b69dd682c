//! Recursive least squares: a forgetting factor, and right-hand sides that are carried through the sweep.

use crate::carried::{Carried, unknown};
use crate::check::{extent, finite};
use crate::cholesky::Cholesky;
use crate::cpu::Cpu;
use crate::engine::Engine;
use crate::error::Error;
use crate::operand::{Operand, OperandMut};
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::storage::{Op, Side, Storage, Swept};
use crate::sweep::weights::Weights;
use faer::MatRef;

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
        sums: &[T],
    ) -> Result<Self, Error> {
        let b = b.into();
        extent("b", "rows", factor.order(), b.shape().0)?;
        extent("sums", "entries", b.shape().1, sums.len())?;
        b.has_room_on_host("b")?;
        let mut z = b.on_host()?.as_ref().to_owned();
        finite("b", z.as_ref())?;
        finite("sums", MatRef::from_column_major_slice(sums, sums.len(), 1))?;
        factor.guarded.regular()?.apply(Op::Solve(&[Side::L]), OperandMut::Host(z.as_mut()))?;
        let order = factor.order() as f64;
        let largest = finite("b", z.as_ref()).map_err(|_| Error::Overflow { argument: "b" })?.to_f64();
        if largest * largest * order > T::LARGE_SQUARE.to_f64() {
            return Err(Error::Overflow { argument: "b" });
        }
        let squares = sums.iter().zip(z.col_iter()).map(|(&sum, z)| {
            let explained = z.iter().map(|z| z.to_f64() * z.to_f64()).sum::<f64>();
            let (rest, rounding) =
                (sum.to_f64() - explained, 4.0 * (order + 1.0) * T::UNIT.to_f64() * explained);
            if rest < -rounding { unknown() } else { T::from_f64(rest.max(0.0)) }
        });
        Ok(Self { squares: squares.collect(), z })
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
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// factor.modify_scaled(0.5, &[1.0, 0.0], &[1.0])?; // A = (3 1; 1 2.5)
    /// assert!((factor.log_det()? - 6.5_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn modify_scaled<'a, 'w>(
        &mut self,
        decay: T,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T>>,
    ) -> Result<Modification, Error>
    where
        T: 'w,
    {
        self.guarded.modify_scaled(decay, &v.into(), weights.into(), None)
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
        decay: T,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T>>,
        y: impl Into<Operand<'a, T>>,
        carried: &mut Carried<T>,
    ) -> Result<Modification, Error>
    where
        T: 'w,
    {
        let (v, weights, y) = (v.into(), weights.into(), y.into().on_host()?);
        let from_nothing = decay > T::ZERO && decay <= T::ONE && !self.guarded.factor().traits().carries && {
            self.guarded.finish()?;
            self.guarded.regular().is_err()
        };
        if !from_nothing {
            return self.guarded.modify_scaled(decay, &v, weights, Some((y.as_ref(), carried)));
        }
        // A factor that cannot be solved with yet, and sweeps that take no right-hand sides along: they go through one on the host.
        weights.check(self.order(), v.shape())?;
        carried.check(self.order(), v.shape().1, y.as_ref())?;
        let mut here = self.to_engine(Cpu::default())?;
        let mut along = carried.clone();
        here.guarded.modify_scaled(decay, &v, weights, Some((y.as_ref(), &mut along)))?;
        let report = self.guarded.modify_scaled(decay, &v, weights, None)?;
        *carried = along;
        Ok(report)
    }
}
