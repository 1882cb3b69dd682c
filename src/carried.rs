//! What a loop of least squares needs beside updates and downdates: forgetting, and right-hand sides that go through the sweep.

use crate::check::{extent, finite, room, room_on_host};
use crate::cholesky::Cholesky;
use crate::engine::{Engine, Factor, Side};
use crate::error::Error;
use crate::input::{AsMatrix, Operand, OperandMut};
use crate::modify::{Guarded, Source, Stop, with_v};
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::structure::Resizable;
use crate::sweep::outline::Outline;
use crate::sweep::weights::Weights;
use crate::wide::Given;
use core::cell::Cell;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// Right-hand sides of least squares that are kept current with the factor.
///
/// With A = Xᵀ X for observations X (rows) and y for what was observed, b = Xᵀ y are right-hand sides of A β = b. What is kept is
/// z = L⁻¹ b and ‖y − X β‖², from which [`Cholesky::solve_lt`] has β: LINPACK's Z and RHO² of `dchud`.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried<T> {
    /// L⁻¹ b. (n × m)
    pub z: Mat<T>,
    /// The residual sums of squares. (m) −1 for one that would have become negative: it is not known any more, and stays −1.
    pub squares: Vec<T>,
}

/// What a sum of squares is that is not known any more.
fn unknown<T: Scalar>() -> T {
    -T::ONE
}

impl<T: Scalar> Carried<T> {
    /// Of no observations yet, for m right-hand sides of a factor of this order: what goes with [`Cholesky::zeros`].
    ///
    /// # Shapes
    /// z (n × m), squares (m).
    #[must_use]
    pub fn zeros(order: usize, columns: usize) -> Self {
        Self { z: Mat::zeros(order, columns), squares: vec![T::ZERO; columns] }
    }

    /// Of the right-hand sides Xᵀ y and the sums of squares of y.
    ///
    /// # Shapes
    /// Xᵀ y (n × m), the sums (m).
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `b` or `sums`; `Overflow`, naming `b`, where squares of z could overflow; `Singular`;
    /// `Device` or `Poisoned` on an engine with a device. A sum smaller than ‖z‖² by more than roundings
    /// is stored as −1 (unknown).
    ///
    /// # Cost
    /// A solve with L: m n² flops.
    pub fn new<E: Engine<T>>(
        factor: &Cholesky<T, E>,
        b: &(impl AsMatrix<T> + ?Sized),
        sums: &[T],
    ) -> Result<Self, Error> {
        let b = b.as_matrix();
        extent("b", "rows", factor.order(), b.shape().0)?;
        extent("sums", "entries", b.shape().1, sums.len())?;
        room_on_host("b", &b)?;
        let mut z = b.on_host()?.as_ref().to_owned();
        finite("b", z.as_ref())?;
        finite("sums", MatRef::from_column_major_slice(sums, sums.len(), 1))?;
        factor.guarded.regular()?.solve(&[Side::L], OperandMut::Host(z.as_mut()))?;
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

    /// Whether it goes with a factor of that order and with rows y (k × m).
    fn check(&self, order: usize, rank: usize, y: MatRef<'_, T>) -> Result<(), Error> {
        extent("z", "rows", order, self.z.nrows())?;
        extent("squares", "entries", self.z.ncols(), self.squares.len())?;
        extent("y", "rows", rank, y.nrows())?;
        extent("y", "columns", self.z.ncols(), y.ncols())?;
        finite("squares", MatRef::from_column_major_slice(&self.squares, self.squares.len(), 1))?;
        for (argument, all) in [("z", self.z.as_ref()), ("y", y)] {
            let largest = finite(argument, all)?.to_f64();
            if largest * largest * (order + rank) as f64 > T::LARGE_SQUARE.to_f64() {
                return Err(Error::Overflow { argument });
            }
        }
        Ok(())
    }

    /// Takes these changes of the sums of squares, and forgets.
    fn add(&mut self, decay: f64, changes: impl Iterator<Item = f64>) {
        for (square, change) in self.squares.iter_mut().zip(changes) {
            let new = decay * (square.to_f64() + change);
            let known = *square >= T::ZERO && new >= 0.0;
            *square = if known { T::from_f64(new) } else { unknown() };
        }
    }
}

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// A ← δ A + V diag(w) Vᵀ: what was seen before counts less and less.
    ///
    /// # Shapes
    /// 0 < δ ≤ 1, `decay`; V (n × k), w (k), as for [`modify`](Self::modify).
    ///
    /// # Errors
    /// As [`modify`](Self::modify), and `OutOfRange` naming `decay`, also where √δ takes a pivot of L to where digits are lost to
    /// underflow (below 8e-292 in double precision, 8e-31 in single): what is not excited any more vanishes in the end. Pivots of a
    /// singular factor that are zero stay zero.
    ///
    /// # Report
    /// Against the old A: δ counts in both.
    ///
    /// # Cost
    /// That of [`modify`](Self::modify) on the CPU engine; on the others another pass over L.
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
    pub fn modify_scaled<'w>(
        &mut self,
        decay: T,
        v: &(impl AsMatrix<T> + ?Sized),
        weights: impl Into<Weights<'w, T>>,
    ) -> Result<Modification<T>, Error>
    where
        T: 'w,
    {
        self.guarded.modify_scaled(decay, &v.as_matrix(), weights.into(), None)
    }

    /// A ← δ A + V diag(w) Vᵀ, and with it least squares whose observations these are: rows vᵀ with the values y come, or go where
    /// their weight is negative.
    ///
    /// A sum of squares that would become negative is −1 from then on, as RHO in LINPACK's `dchdd`; the factor and z are good.
    ///
    /// # Shapes
    /// As for [`modify_scaled`](Self::modify_scaled); y (k × m), of m right-hand sides; z (n × m) and squares (m) in `carried`.
    ///
    /// # Errors
    /// As [`modify_scaled`](Self::modify_scaled), and `Shape`, `NonFinite` or `Overflow` naming `y`, `z` or `squares`. The factor
    /// and what is carried are as they were then.
    ///
    /// # Cost
    /// That of [`modify_scaled`](Self::modify_scaled) for n + m rows on the CPU engine; on the others two products with L and
    /// three triangular solves besides, so that a singular A is [`Error::Singular`] there.
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
    pub fn modify_carrying<'w>(
        &mut self,
        decay: T,
        v: &(impl AsMatrix<T> + ?Sized),
        weights: impl Into<Weights<'w, T>>,
        y: &(impl AsMatrix<T> + ?Sized),
        carried: &mut Carried<T>,
    ) -> Result<Modification<T>, Error>
    where
        T: 'w,
    {
        let y = y.as_matrix().on_host()?;
        self.guarded.modify_scaled(decay, &v.as_matrix(), weights.into(), Some((y.as_ref(), carried)))
    }
}

/// What is carried, and the rows y that come or go.
type Carrying<'a, T> = (MatRef<'a, T>, &'a mut Carried<T>);

impl<T: Scalar, F: Resizable<T>> Guarded<T, F> {
    /// L Lᵀ ← δ L Lᵀ + V diag(w) Vᵀ = δ (L Lᵀ + V diag(w / δ) Vᵀ).
    fn modify_scaled(
        &mut self,
        decay: T,
        v: &Operand<'_, T>,
        weights: Weights<'_, T>,
        carrying: Option<Carrying<'_, T>>,
    ) -> Result<Modification<T>, Error> {
        if !(decay > T::ZERO && decay <= T::ONE) {
            return Err(Error::OutOfRange { argument: "decay", rule: "positive and at most 1" });
        }
        self.ready_for(v, weights)?;
        let (order, columns) = v.shape();
        if let Some((y, carried)) = &carrying {
            carried.check(order, columns, *y)?;
        }
        if order == 0 && carrying.is_none() {
            return Ok(Modification::identity());
        }
        room::<T>("v", columns, (1, 0))?;
        let carrying = match carrying {
            Some(carrying) if !F::CARRIES && self.regular().is_err() => {
                return self.scaled_from_nothing(decay, v, weights, carrying);
            }
            carrying => carrying,
        };
        let each: Vec<T> = (0..columns).map(|r| weights.of(r) / decay).collect();
        if each.iter().any(|w| !w.is_finite()) {
            let rule = "large enough that weights divided by it are finite";
            return Err(Error::OutOfRange { argument: "decay", rule });
        }
        if let Some((y, _)) = &carrying {
            let largest = |all: MatRef<'_, T>| all.norm_max().to_f64();
            let of_weights = largest(MatRef::from_column_major_slice(&each, columns, 1));
            if largest(*y).powi(2) * of_weights * columns as f64 > T::LARGE_SQUARE.to_f64() {
                return Err(Error::Overflow { argument: "y" });
            }
        }
        let weights = Weights::Each(&each[..]);
        let Some((y, carried)) = carrying else {
            let (report, _) = self.scaled_or_again(decay, v, weights)?;
            return Ok(report);
        };
        let v = v.clone().on_host()?;
        let v = v.as_ref();
        let operand = &Operand::Host(v);
        let swept = F::CARRIES.then(|| {
            let stage = |factor: &mut F| factor.stage_carrying((v, weights), (carried.z.as_ref(), y));
            self.scaled(decay, (operand, weights), stage, |_, _, swept| swept)
        });
        // What breaks down and can be done again is done again without them.
        let swept = swept.filter(|swept| {
            !(matches!(swept, Err(Error::NotPositiveDefinite { .. })) && self.healthy().is_ok())
        });
        if let Some(swept) = swept {
            let (report, start) = swept?;
            let root = decay.sqrt();
            carried
                .z
                .subrows_mut(0, start)
                .col_iter_mut()
                .for_each(|z| z.iter_mut().for_each(|z| *z *= root));
            let changes =
                self.in_place(|factor| Ok(factor.carried((y, &each), start, carried.z.as_mut())))?;
            carried.add(decay.to_f64(), changes.into_iter());
            return Ok(report);
        }
        let mut apart = Apart::before(self.regular()?, (v, &each), y, carried)?;
        let (report, _) = self.scaled_or_again(decay, operand, weights)?;
        // The factor is another now, and what goes with it must be.
        let changes = self.in_place(|factor| {
            let changes = apart.after(factor, (v, &each), decay);
            changes.map_err(|error| Stop::before(error).behind_a_change())
        })?;
        carried.z = apart.z;
        carried.add(decay.to_f64(), changes.into_iter());
        Ok(report)
    }

    /// The same where a factor cannot be solved with yet, on an engine whose sweeps take no right-hand sides along: they go through a
    /// sweep on the host.
    fn scaled_from_nothing(
        &mut self,
        decay: T,
        v: &Operand<'_, T>,
        weights: Weights<'_, T>,
        (y, carried): Carrying<'_, T>,
    ) -> Result<Modification<T>, Error> {
        let mut l = Mat::zeros(self.order(), self.order());
        self.healthy()?.read(l.as_mut())?;
        let mut here = Cholesky::from_factor(&l)?;
        let mut along = carried.clone();
        here.guarded.modify_scaled(decay, v, weights, Some((y, &mut along)))?;
        let report = self.modify_scaled(decay, v, weights, None)?;
        *carried = along;
        Ok(report)
    }

    /// A modification times δ, which is done again where it breaks down; and the column of L that the sweep began with.
    fn scaled_or_again(
        &mut self,
        decay: T,
        v: &Operand<'_, T>,
        weights: Weights<'_, T>,
    ) -> Result<(Modification<T>, usize), Error> {
        let scale = if F::SCALES { decay.sqrt().to_f64() } else { 1.0 };
        let again = |guarded: &mut Self, start, swept| {
            guarded.or_again(swept, |_| Ok(Given { start, scale, ..Given::new(v, weights)? }))
        };
        with_v::<T, F, _>(v, |v| self.scaled(decay, (v, weights), |factor| factor.stage(v, weights), again))
    }

    /// A modification by what is staged, times δ, and by what `behind` makes of a sweep that began with that column; and the column,
    /// the order if none.
    fn scaled(
        &mut self,
        decay: T,
        (v, weights): (&Operand<'_, T>, Weights<'_, T>),
        stage: impl Fn(&mut F) -> Result<Outline, Error>,
        behind: impl FnOnce(&mut Self, usize, Result<Modification<T>, Error>) -> Result<Modification<T>, Error>,
    ) -> Result<(Modification<T>, usize), Error> {
        let (order, root) = (self.order(), decay.sqrt());
        // Zeros of a singular factor stay what they are.
        let lost = |pivot: T| pivot != T::ZERO && !(pivot * root >= T::LEAST_PIVOT);
        if decay != T::ONE && self.healthy()?.diagonal().any(lost) {
            let rule = "large enough that no pivot of the factor is lost";
            return Err(Error::OutOfRange { argument: "decay", rule });
        }
        let start = Cell::new(order);
        let swept = self.modify_by(Source::V(v, weights), |factor| {
            let mut outline = stage(factor)?;
            start.set(outline.first_column::<T>(order).unwrap_or(order));
            if F::SCALES {
                outline.scale = root.to_f64();
            }
            Ok(outline)
        });
        let start = start.get();
        let report = behind(self, start, swept)?;
        if decay != T::ONE {
            let rest = if F::SCALES { start } else { order };
            self.in_place(|factor| factor.scale(rest, root).map_err(Stop::behind_a_change))?;
            self.bound_rows(self.row_norm() * root.to_f64());
            self.history_mut().scaled(decay.to_f64());
        }
        let ratio = decay * report.min_pivot_ratio;
        let log_det = report.log_det_change.to_f64() + order as f64 * decay.to_f64().ln();
        Ok((Modification { min_pivot_ratio: ratio, log_det_change: T::from_f64(log_det) }, start))
    }
}

/// Right-hand sides beside the sweep, where the engine takes none through it.
///
/// With x = A⁻¹ b before and x' after, and e = y − Vᵀ x, e' = y − Vᵀ x', the sums of squares change by Σ_r w_r e_r e'_r, in which
/// nothing cancels.
struct Apart<T> {
    /// b' / δ, and then z.
    z: Mat<T>,
    /// e.
    residual: Mat<T>,
    y: Mat<T>,
}

impl<T: Scalar> Apart<T> {
    fn before<F: Factor<T>>(
        factor: &F,
        (v, weights): (MatRef<'_, T>, &[T]),
        y: MatRef<'_, T>,
        carried: &Carried<T>,
    ) -> Result<Self, Error> {
        let mut x = carried.z.clone();
        factor.solve(&[Side::Transpose], OperandMut::Host(x.as_mut()))?;
        let mut b = carried.z.clone();
        factor.multiply(Side::L, b.as_mut())?;
        let weighted = Mat::from_fn(y.nrows(), y.ncols(), |r, c| weights[r] * y[(r, c)]);
        matmul(b.as_mut(), Accum::Add, v, weighted.as_ref(), T::ONE, Par::Seq);
        if !b.as_ref().is_all_finite() {
            return Err(Error::Overflow { argument: "y" });
        }
        Ok(Self { z: b, residual: residual(v, x.as_ref(), y), y: y.to_owned() })
    }

    /// The changes of the sums of squares; `z` is that of the new factor.
    fn after<F: Factor<T>>(
        &mut self,
        factor: &F,
        (v, weights): (MatRef<'_, T>, &[T]),
        decay: T,
    ) -> Result<Vec<f64>, Error> {
        // Of δ (A + V diag(w / δ) Vᵀ).
        self.z.col_iter_mut().for_each(|b| b.iter_mut().for_each(|b| *b *= decay));
        factor.solve(&[Side::L], OperandMut::Host(self.z.as_mut()))?;
        if !self.z.as_ref().is_all_finite() {
            return Ok(vec![f64::NAN; self.y.ncols()]);
        }
        let mut x = self.z.clone();
        factor.solve(&[Side::Transpose], OperandMut::Host(x.as_mut()))?;
        let after = residual(v, x.as_ref(), self.y.as_ref());
        let change = |c: usize| {
            let rows = weights.iter().enumerate();
            rows.map(|(r, w)| w.to_f64() * self.residual[(r, c)].to_f64() * after[(r, c)].to_f64()).sum()
        };
        Ok((0..self.y.ncols()).map(change).collect())
    }
}

/// y − Vᵀ x.
fn residual<T: Scalar>(v: MatRef<'_, T>, x: MatRef<'_, T>, y: MatRef<'_, T>) -> Mat<T> {
    let mut rest = y.to_owned();
    matmul(rest.as_mut(), Accum::Add, v.transpose(), x, -T::ONE, Par::Seq);
    rest
}
