//! The front type: a factor that stays current.

use crate::check::{extent, finite, finite_lower};
use crate::cpu::Cpu;
use crate::engine::Engine;
use crate::error::Error;
use crate::factorize::{self, blocked};
use crate::host::layout::lower;
use crate::input::{AsMatrix, AsMatrixMut};
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::signed::{Change, Outline, Weights};
use faer::{Mat, MatRef};

/// The Cholesky factor L of a symmetric positive definite matrix A = L Lᵀ, kept current while A changes.
///
/// L is lower triangular with a positive diagonal. Every call that can fail leaves the factor bit for bit
/// as it was when it does, except that a device that fails in the middle of one poisons it
/// ([`Error::Poisoned`]).
///
/// ```
/// use cholupdate::{Cholesky, Error, faer::mat};
///
/// # fn main() -> Result<(), Error> {
/// let a = mat![[4.0, 2.0, 0.0], [2.0, 5.0, 1.0], [0.0, 1.0, 3.0]];
/// let mut factor = Cholesky::new(&a)?;
///
/// factor.update(&[1.0, 0.0, 2.0])?;            // A + v vᵀ
/// factor.downdate(&[1.0, 0.0, 2.0])?;          // A again
/// let x = factor.solve(&[1.0, 2.0, 3.0])?;     // A x = b
/// assert!((&a * &x - mat![[1.0], [2.0], [3.0]]).norm_max() < 1e-14);
///
/// // A − v vᵀ would not be positive definite: the error says where, the factor stays.
/// let refused = factor.downdate(&[9.0, 0.0, 0.0]);
/// assert_eq!(refused.unwrap_err(), Error::NotPositiveDefinite { column: 0 });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Cholesky<T: Scalar, E: Engine<T> = Cpu> {
    engine: E,
    factor: E::Factor,
    /// An upper bound of the 2-norm of any row of L: what the overflow check of a modification starts from.
    row_norm: f64,
}

impl<T: Scalar> Cholesky<T> {
    /// The factor of A, by faer's blocked LLᵀ, on the default [`Cpu`] engine.
    ///
    /// Shapes: A (n × n); only its lower triangle is read.
    ///
    /// # Errors
    /// `Shape`, `NonFinite`, `Overflow` or `NotPositiveDefinite`. Cost: n³/3 flops.
    pub fn new(a: &(impl AsMatrix<T> + ?Sized)) -> Result<Self, Error> {
        Self::new_in(a, Cpu::default())
    }

    /// Takes a factor that is already known, on the default [`Cpu`] engine.
    ///
    /// Shapes: L (n × n); only its lower triangle is read. Columns with a negative diagonal entry (a factor
    /// from a QR decomposition has some) are negated, which leaves L Lᵀ as it is.
    ///
    /// # Errors
    /// `Shape`, `NonFinite`, `Overflow`, or `NotPositiveDefinite` at the first zero on the diagonal. Cost:
    /// one copy.
    pub fn from_factor(l: &(impl AsMatrix<T> + ?Sized)) -> Result<Self, Error> {
        Self::from_factor_in(l, Cpu::default())
    }

    /// L, zero above the diagonal. (n × n) Free of cost.
    #[must_use]
    pub fn l(&self) -> MatRef<'_, T> {
        self.factor.l().as_ref()
    }

    /// L, zero above the diagonal (n × n), and the engine. Free of cost.
    #[must_use]
    pub fn into_parts(self) -> (Mat<T>, Cpu) {
        (self.factor.into_l(), self.engine)
    }
}

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// As [`Cholesky::new`], on `engine`, which may factor A by other means than faer.
    ///
    /// # Errors
    /// As [`Cholesky::new`], and [`Error::Device`] from an engine with a device.
    pub fn new_in(a: &(impl AsMatrix<T> + ?Sized), engine: E) -> Result<Self, Error> {
        let a = a.as_matrix();
        let largest = factorize::check(a)?;
        Ok(Self { factor: engine.factorize(lower(a))?, engine, row_norm: largest.sqrt() })
    }

    /// As [`Cholesky::from_factor`], on `engine`.
    ///
    /// # Errors
    /// As [`Cholesky::from_factor`], and [`Error::Device`] from an engine with a device.
    pub fn from_factor_in(l: &(impl AsMatrix<T> + ?Sized), engine: E) -> Result<Self, Error> {
        let l = l.as_matrix();
        extent("l", "columns", l.nrows(), l.ncols())?;
        let largest = finite_lower("l", l)?.to_f64();
        let row_norm = largest * (l.nrows() as f64).sqrt();
        if row_norm * row_norm > T::LARGE_SQUARE.to_f64() {
            return Err(Error::Overflow { argument: "l" });
        }
        let mut l = lower(l);
        for j in 0..l.ncols() {
            if l[(j, j)] == T::ZERO {
                return Err(Error::NotPositiveDefinite { column: j });
            }
            if l[(j, j)] < T::ZERO {
                l.col_mut(j).iter_mut().for_each(|x| *x = -*x);
            }
        }
        Ok(Self { factor: engine.adopt(l)?, engine, row_norm })
    }

    /// The same factor on another engine; this one stays.
    ///
    /// # Errors
    /// Those of the engines: [`Error::Poisoned`] from the one, [`Error::Device`] from the other. None between
    /// engines on the CPU. Cost: two copies of L.
    pub fn to_engine<F: Engine<T>>(&self, engine: F) -> Result<Cholesky<T, F>, Error> {
        let factor = engine.adopt(self.to_factor()?)?;
        Ok(Cholesky { factor, engine, row_norm: self.row_norm })
    }

    /// The factor moved to another engine, from host memory to a device or back.
    ///
    /// # Errors
    /// As [`to_engine`](Self::to_engine), which keeps the factor where an error would lose it.
    pub fn into_engine<F: Engine<T>>(self, engine: F) -> Result<Cholesky<T, F>, Error> {
        self.to_engine(engine)
    }

    /// n, the number of rows of A.
    #[must_use]
    pub fn order(&self) -> usize {
        self.engine.order(&self.factor)
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// A ← A + V Vᵀ.
    ///
    /// Shapes: V (n × k), any layout; a slice, array or vector for k = 1. V is left alone.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`; `Device` or `Poisoned` on an engine with a device. An update never
    /// breaks down. Cost: 2 k (n − r)² flops, where r
    /// is the number of leading zero rows of V.
    pub fn update(&mut self, v: &(impl AsMatrix<T> + ?Sized)) -> Result<Modification<T>, Error> {
        self.apply(v.as_matrix(), Weights::Plus)
    }

    /// A ← A − V Vᵀ.
    ///
    /// Shapes: V (n × k), any layout; a slice, array or vector for k = 1. V is left alone.
    ///
    /// # Errors
    /// As [`update`](Self::update), and `NotPositiveDefinite` with the first column whose pivot² would not
    /// be positive. Cost: the flops of an update; see [`Safeguard`](crate::Safeguard) for what it takes to
    /// leave the factor as it was.
    pub fn downdate(&mut self, v: &(impl AsMatrix<T> + ?Sized)) -> Result<Modification<T>, Error> {
        self.apply(v.as_matrix(), Weights::Minus)
    }

    /// A ← A + V diag(w) Vᵀ, any mix of signs in one call: whether it succeeds depends on the result alone
    /// and not on the order of the columns. Columns with a plus sign are worked on first, a panel of L at a time, so that
    /// what nearly cancels does so in the scale of L Lᵀ + V₊ V₊ᵀ.
    ///
    /// Shapes: V (n × k), any layout; w (k). Columns of weight zero are skipped, once they are known to be finite.
    ///
    /// # Errors
    /// As [`downdate`](Self::downdate), for `v` and `weights`. Cost: that of an update with as many
    /// columns.
    pub fn modify(
        &mut self,
        v: &(impl AsMatrix<T> + ?Sized),
        weights: &[T],
    ) -> Result<Modification<T>, Error> {
        self.apply(v.as_matrix(), Weights::Each(weights))
    }

    /// Whether [`downdate`](Self::downdate) with the same V would succeed, by a rehearsal that stores
    /// nothing: the very same arithmetic, so the answer is not an estimate. (`&mut` for the working memory
    /// alone.)
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`; `Device` or `Poisoned` on an engine with a device, of which the resident one
    /// needs room for a second matrix. Cost: that of the downdate.
    pub fn can_downdate(&mut self, v: &(impl AsMatrix<T> + ?Sized)) -> Result<bool, Error> {
        let (change, _) = self.check(v.as_matrix(), Weights::Minus)?;
        match self.engine.rehearse(&mut self.factor, &change) {
            Ok(_) => Ok(true),
            Err(Error::NotPositiveDefinite { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// X with A X = B.
    ///
    /// Shapes: B, X (n × m); a slice, array or vector for m = 1.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`; `Device` or `Poisoned` on an engine with a device. Cost: 2 m n² flops.
    pub fn solve(&self, rhs: &(impl AsMatrix<T> + ?Sized)) -> Result<Mat<T>, Error> {
        let mut x = rhs.as_matrix().to_owned();
        self.solve_in_place(&mut x)?;
        Ok(x)
    }

    /// B ← A⁻¹ B.
    ///
    /// Shapes: B (n × m), any layout; a slice, array or vector for m = 1.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, `Device` or `Poisoned` on an engine with a device: B is untouched. Cost: 2 m n² flops.
    pub fn solve_in_place(&self, rhs: &mut (impl AsMatrixMut<T> + ?Sized)) -> Result<(), Error> {
        let rhs = rhs.as_matrix_mut();
        extent("rhs", "rows", self.order(), rhs.nrows())?;
        finite("rhs", rhs.as_ref())?;
        self.engine.solve_in_place(&self.factor, rhs)
    }

    /// log det A, formed in double precision. Cost: n logarithms.
    ///
    /// # Errors
    /// [`Error::Poisoned`] on an engine with a device; none on the CPU engine.
    pub fn log_det(&self) -> Result<T, Error> {
        self.engine.log_det(&self.factor)
    }

    /// A copy of L in host memory, zero above the diagonal. (n × n)
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Poisoned`] on an engine with a device; none on the CPU engine.
    pub fn to_factor(&self) -> Result<Mat<T>, Error> {
        self.engine.to_factor(&self.factor)
    }

    /// A = L Lᵀ, both triangles. (n × n) Cost: n³/3 flops.
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Poisoned`] on an engine with a device; none on the CPU engine.
    pub fn reconstruct(&self) -> Result<Mat<T>, Error> {
        Ok(blocked::reconstruct(self.to_factor()?.as_ref(), self.engine.par()))
    }

    fn apply(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T>) -> Result<Modification<T>, Error> {
        let (change, row_norm) = self.check(v, weights)?;
        let report = self.engine.modify(&mut self.factor, &change)?;
        self.row_norm = row_norm;
        Ok(report)
    }

    /// For what one engine alone offers: the engine, its factor, and the bound on the rows of L.
    #[cfg(feature = "cuda")]
    pub(crate) fn parts_mut(&mut self) -> (&E, &mut E::Factor, &mut f64) {
        (&self.engine, &mut self.factor, &mut self.row_norm)
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn inner(&self) -> &E::Factor {
        &self.factor
    }

    /// The checked change, and the bound on the rows of L that holds after it.
    pub(crate) fn check<'a>(
        &mut self,
        v: MatRef<'a, T>,
        weights: Weights<'a, T>,
    ) -> Result<(Change<'a, T>, f64), Error> {
        let change = self.engine.check(&mut self.factor, v, weights)?;
        let row_norm = self.row_norm_after(&change.outline)?;
        Ok((change, row_norm))
    }

    /// The bound on the rows of L that holds after a change.
    pub(crate) fn row_norm_after(&self, outline: &Outline) -> Result<f64, Error> {
        let overflows = |row_norm: f64| row_norm * row_norm > T::LARGE_SQUARE.to_f64();
        let mut row_norm = self.row_norm.hypot(outline.row_norm);
        if overflows(row_norm) {
            // The bound never shrinks with a downdate: look at L itself before refusing.
            row_norm = self.engine.row_norm(&self.factor)?.hypot(outline.row_norm);
        }
        if overflows(row_norm) { Err(Error::Overflow { argument: "v" }) } else { Ok(row_norm) }
    }
}
