//! The front type: a factor that stays current.

use crate::check::{extent, finite_lower, room_for_copy};
use crate::cpu::Cpu;
use crate::engine::{Engine, Factor};
use crate::error::Error;
use crate::factorize::{self, blocked};
use crate::history::{History, diagonal_of_product};
use crate::host::layout::lower;
use crate::input::AsMatrix;
use crate::modify::Guarded;
use crate::pending::Pending;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::structure::Scratch;
use crate::sweep::weights::Weights;
use faer::{Mat, MatRef, Par};

/// The Cholesky factor L of a symmetric positive definite matrix A = L Lᵀ, kept current while A changes.
///
/// L is lower triangular with a positive diagonal. Every call that can fail leaves the factor bit for bit
/// as it was when it does, except that a device that fails in the middle of one poisons it
/// ([`Error::Poisoned`]), and a breakdown where there is [no safeguard](crate::Safeguard::None).
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
#[derive(Debug)]
pub struct Cholesky<T: Scalar, E: Engine<T> = Cpu> {
    engine: E,
    pub(crate) guarded: Guarded<T, E::Factor>,
    /// For rows and columns that come and go.
    pub(crate) scratch: Scratch<T>,
}

impl<T: Scalar, E: Engine<T> + Clone> Clone for Cholesky<T, E>
where
    E::Factor: Clone,
{
    fn clone(&self) -> Self {
        Self { engine: self.engine.clone(), guarded: self.guarded.clone(), scratch: Scratch::default() }
    }
}

impl<T: Scalar> Cholesky<T> {
    /// The factor of A, by faer's blocked LLᵀ, on the default [`Cpu`] engine.
    ///
    /// # Shapes
    /// A (n × n); only its lower triangle is read.
    ///
    /// # Errors
    /// `Shape`, `NonFinite`, `Overflow` or `NotPositiveDefinite`.
    ///
    /// # Cost
    /// n³/3 flops.
    pub fn new(a: &(impl AsMatrix<T> + ?Sized)) -> Result<Self, Error> {
        Self::new_in(a, Cpu::default())
    }

    /// Takes a factor that is already known, on the default [`Cpu`] engine.
    ///
    /// # Shapes
    /// L (n × n); only its lower triangle is read. Columns with a negative diagonal entry (a factor
    /// from a QR decomposition has some) are negated, which leaves L Lᵀ as it is.
    ///
    /// # Errors
    /// `Shape`, `NonFinite`, `Overflow`, or `NotPositiveDefinite` at the first zero on the diagonal.
    ///
    /// # Cost
    /// One copy.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::from_factor(&mat![[2.0, 0.0], [1.0, -3.0]])?;
    /// assert_eq!(factor.l(), mat![[2.0, 0.0], [1.0, 3.0]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_factor(l: &(impl AsMatrix<T> + ?Sized)) -> Result<Self, Error> {
        Self::from_factor_in(l, Cpu::default())
    }

    /// L, zero above the diagonal. (n × n)
    ///
    /// # Cost
    /// None.
    #[must_use]
    pub fn l(&self) -> MatRef<'_, T> {
        self.guarded.factor().l().as_ref()
    }

    /// L, zero above the diagonal (n × n), and the engine.
    ///
    /// # Cost
    /// None.
    #[must_use]
    pub fn into_parts(self) -> (Mat<T>, Cpu) {
        (self.guarded.into_factor().into_l(), self.engine)
    }
}

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// As [`Cholesky::new`], on `engine`, which may factor A by other means than faer.
    ///
    /// # Shapes
    /// A (n × n); only its lower triangle is read.
    ///
    /// # Errors
    /// As [`Cholesky::new`], and [`Error::Device`] from an engine with a device.
    ///
    /// # Cost
    /// n³/3 flops.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Cpu, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::new_in(&mat![[4.0, 2.0], [2.0, 5.0]], Cpu::sequential())?;
    /// assert_eq!(factor.l(), mat![[2.0, 0.0], [1.0, 2.0]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new_in(a: &(impl AsMatrix<T> + ?Sized), engine: E) -> Result<Self, Error> {
        let a = a.as_matrix().on_host()?;
        let largest = factorize::check(a.as_ref())?;
        let factor = engine.factorize(lower(a.as_ref()))?;
        let diagonal = a.as_ref().diagonal().column_vector().iter().map(|a| a.to_f64()).collect();
        let guarded = Guarded::new(factor, largest.sqrt(), History::of_matrix(diagonal));
        Ok(Self { guarded, engine, scratch: Scratch::default() })
    }

    /// As [`Cholesky::from_factor`], on `engine`.
    ///
    /// # Shapes
    /// L (n × n); only its lower triangle is read.
    ///
    /// # Errors
    /// As [`Cholesky::from_factor`], and [`Error::Device`] from an engine with a device.
    ///
    /// # Cost
    /// Two copies of L.
    pub fn from_factor_in(l: &(impl AsMatrix<T> + ?Sized), engine: E) -> Result<Self, Error> {
        let l = l.as_matrix().on_host()?;
        let l = l.as_ref();
        extent("l", "columns", l.nrows(), l.ncols())?;
        room_for_copy::<T>("l", l.shape())?;
        finite_lower("l", l)?;
        let diagonal = diagonal_of_product(l);
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        if largest > T::LARGE_SQUARE.to_f64() {
            return Err(Error::Overflow { argument: "l" });
        }
        let row_norm = largest.sqrt();
        let mut l = lower(l);
        for j in 0..l.ncols() {
            if l[(j, j)] == T::ZERO {
                return Err(Error::NotPositiveDefinite { column: j });
            }
            if l[(j, j)] < T::ZERO {
                l.col_mut(j).iter_mut().for_each(|x| *x = -*x);
            }
        }
        let history = History::of_factor(diagonal);
        let guarded = Guarded::new(engine.adopt(l)?, row_norm, history);
        Ok(Self { guarded, engine, scratch: Scratch::default() })
    }

    /// The same factor on another engine; this one stays.
    ///
    /// # Errors
    /// Those of the engines: [`Error::Poisoned`] from the one, [`Error::Device`] from the other. None between
    /// engines on the CPU.
    ///
    /// # Cost
    /// Two copies of L.
    pub fn to_engine<F: Engine<T>>(&self, engine: F) -> Result<Cholesky<T, F>, Error> {
        let l = self.to_factor()?;
        let mut history = self.guarded.history().clone();
        if history.misses_diagonal() {
            history.take_diagonal(diagonal_of_product(l.as_ref()));
        }
        let guarded = self.guarded.with(engine.adopt(l)?, history);
        Ok(Cholesky { guarded, engine, scratch: Scratch::default() })
    }

    /// The factor moved to another engine, from host memory to a device or back.
    ///
    /// # Errors
    /// As [`to_engine`](Self::to_engine), which keeps the factor where an error would lose it.
    ///
    /// # Cost
    /// Two copies of L.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Cpu, Error, Safeguard, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// let mut frugal = factor.into_engine(Cpu::default().with_safeguard(Safeguard::DryRun))?;
    /// frugal.downdate(&[1.0, 1.0])?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_engine<F: Engine<T>>(self, engine: F) -> Result<Cholesky<T, F>, Error> {
        self.to_engine(engine)
    }

    /// n, the number of rows of A.
    #[must_use]
    pub fn order(&self) -> usize {
        self.guarded.order()
    }

    /// Threads that faer's routines may use on the host.
    pub(crate) fn par(&self) -> Par {
        self.engine.par()
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// A ← A + V Vᵀ.
    ///
    /// # Shapes
    /// V (n × k), any layout; a slice, array or vector for k = 1. V is left alone.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`; `Device` on an engine with a device, `Poisoned`. An update never
    /// breaks down.
    ///
    /// # Cost
    /// 2 k (n − r)² flops, where r is the number of leading zero rows of V.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// let report = factor.update(&mat![[1.0, 0.0], [2.0, 1.0]])?; // A = (5 4; 4 10)
    /// assert!((factor.log_det()? - 34.0_f64.ln()).abs() < 1e-14);
    /// assert!((report.log_det_change - (34.0_f64 / 16.0).ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(&mut self, v: &(impl AsMatrix<T> + ?Sized)) -> Result<Modification<T>, Error> {
        self.guarded.modify(&v.as_matrix(), Weights::Plus)
    }

    /// A ← A − V Vᵀ.
    ///
    /// # Shapes
    /// V (n × k), any layout; a slice, array or vector for k = 1. V is left alone.
    ///
    /// # Errors
    /// As [`update`](Self::update), and `NotPositiveDefinite` with the first column whose pivot² would not
    /// be positive.
    ///
    /// # Cost
    /// The flops of an update; see [`Safeguard`](crate::Safeguard) for what it takes to leave the factor as it was.
    ///
    /// # Source
    /// C. M. Rader, A. O. Steinhardt, *Hyperbolic Householder transformations*, IEEE Trans. ASSP 34 (1986), in mixed form:
    /// A. W. Bojanczyk, R. P. Brent, P. Van Dooren, F. R. de Hoog, *A note on downdating the Cholesky factorization*, SIAM
    /// J. Sci. Stat. Comput. 8 (1987).
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// factor.downdate(&[1.0, 1.0])?; // A = (3 1; 1 4)
    /// let before = factor.l().to_owned();
    /// let refused = factor.downdate(&[0.0, 3.0]);
    /// assert_eq!(refused, Err(Error::NotPositiveDefinite { column: 1 }));
    /// assert_eq!(factor.l(), before);
    /// # Ok(())
    /// # }
    /// ```
    pub fn downdate(&mut self, v: &(impl AsMatrix<T> + ?Sized)) -> Result<Modification<T>, Error> {
        self.guarded.modify(&v.as_matrix(), Weights::Minus)
    }

    /// A ← A + V diag(w) Vᵀ, any mix of signs in one call: whether it succeeds depends on the result alone
    /// and not on the order of the columns. Columns with a plus sign are worked on first, a panel of L at a time, so that
    /// what nearly cancels does so in the scale of L Lᵀ + V₊ V₊ᵀ. (`cuda::Resident` makes a sweep over L of each 16
    /// or 32 columns of one sign.)
    ///
    /// # Shapes
    /// V (n × k), any layout; w (k). Columns of weight zero are skipped, once they are known to be finite.
    ///
    /// # Errors
    /// As [`downdate`](Self::downdate), for `v` and `weights`.
    ///
    /// # Cost
    /// That of an update with as many columns.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// let v = mat![[1.0, 1.0], [0.0, 1.0]];
    /// factor.modify(&v, &[2.0, -1.0])?; // A = (5 1; 1 4)
    /// assert!((factor.log_det()? - 19.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn modify<'w>(
        &mut self,
        v: &(impl AsMatrix<T> + ?Sized),
        weights: impl Into<Weights<'w, T>>,
    ) -> Result<Modification<T>, Error> {
        self.guarded.modify(&v.as_matrix(), weights.into())
    }

    /// As [`modify`](Self::modify), without waiting for the engine: V has been checked and taken over when this returns,
    /// and the rest may go on. `cuda::Resident` alone has anything go on; the others do the work in the call.
    ///
    /// # Shapes
    /// V (n × k), w (k), as [`modify`](Self::modify) takes them.
    ///
    /// # Errors
    /// As [`modify`](Self::modify); what is found out later comes with [`Pending::wait`].
    ///
    /// # Cost
    /// As [`modify`](Self::modify).
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, Weights, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// let pending = factor.submit(&[1.0, 1.0], Weights::Minus)?;
    /// let report = pending.wait()?; // what `downdate` would have returned
    /// assert!(report.min_pivot_ratio < 1.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn submit<'w>(
        &mut self,
        v: &(impl AsMatrix<T> + ?Sized),
        weights: impl Into<Weights<'w, T>>,
    ) -> Result<Pending<'_, T, E>, Error> {
        self.guarded.submit(&v.as_matrix(), weights.into())?;
        Ok(Pending::new(&mut self.guarded))
    }

    /// Whether [`downdate`](Self::downdate) with the same V would succeed, by a dry run that stores
    /// nothing: the very same arithmetic, so the answer is not an estimate. (`&mut` for the working memory
    /// alone.)
    ///
    /// # Shapes
    /// V (n × k), any layout; a slice, array or vector for k = 1.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`; `Poisoned`; `Device` on an engine with a device, of which the resident one
    /// needs room for a second matrix.
    ///
    /// # Cost
    /// That of the downdate.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// assert!(factor.can_downdate(&[1.0, 2.0])? && !factor.can_downdate(&[2.0, 2.0])?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn can_downdate(&mut self, v: &(impl AsMatrix<T> + ?Sized)) -> Result<bool, Error> {
        match self.guarded.dry_run(&v.as_matrix(), Weights::Minus) {
            Ok(_) => Ok(true),
            Err(Error::NotPositiveDefinite { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// log det A, formed in double precision.
    ///
    /// # Errors
    /// [`Error::Poisoned`] on an engine with a device; none on the CPU engine.
    ///
    /// # Cost
    /// n logarithms.
    pub fn log_det(&self) -> Result<T, Error> {
        let logs = self.guarded.healthy()?.diagonal().map(|l| l.to_f64().ln());
        // The empty sum is −0.
        Ok(T::from_f64(0.0 + 2.0 * logs.sum::<f64>()))
    }

    /// A copy of L in host memory, zero above the diagonal. (n × n)
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Poisoned`] on an engine with a device; none on the CPU engine.
    pub fn to_factor(&self) -> Result<Mat<T>, Error> {
        let factor = self.guarded.healthy()?;
        let mut l = Mat::zeros(self.order(), self.order());
        factor.read(l.as_mut())?;
        Ok(l)
    }

    /// A = L Lᵀ, both triangles. (n × n)
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Poisoned`] on an engine with a device; none on the CPU engine.
    ///
    /// # Cost
    /// n³/3 flops.
    pub fn reconstruct(&self) -> Result<Mat<T>, Error> {
        Ok(blocked::reconstruct(self.to_factor()?.as_ref(), self.par()))
    }
}
