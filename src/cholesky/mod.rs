//! The front type: a factor that is kept current.
//!
//! | file | holds |
//! |---|---|
//! | `solve` | solves, and their two halves |
//! | `products` | products with L, Lᵀ and A |
//! | `rows` | insertion, removal and reordering of rows and columns |
//! | `carried` | least squares with carried right-hand sides; a forgetting factor |
//! | `on_device` | L and A in the memory of a GPU |
//! | `pending` | a modification in flight |
//! | `extension` | A bordered, without a change of the factor |
//! | `condition` | the condition number, and when to factor again |
//! | `snapshot` | a factor as plain data (feature `serde`) |

mod carried;
mod condition;
mod extension;
#[cfg(feature = "cuda")]
mod on_device;
mod pending;
mod products;
mod rows;
#[cfg(feature = "serde")]
mod snapshot;
mod solve;

pub use self::condition::RefactorPolicy;
pub use self::extension::Extension;
pub use self::pending::Pending;
#[cfg(feature = "serde")]
pub use self::snapshot::Snapshot;

use crate::check::room;
use crate::cpu::Cpu;
use crate::engine::Engine;
use crate::error::Error;
use crate::factor::verbs::Verbs;
use crate::factor::{Factor, square};
use crate::operand::Operand;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::storage::Origin;
use crate::sweep::weights::Weights;
use faer::{Mat, MatRef, Par};

/// The Cholesky factor L of a symmetric positive definite matrix A = L Lᵀ, kept current while A changes.
///
/// For complex scalars A = L Lᴴ, and every transpose in the documentation of this type is a conjugate transpose; the imaginary part
/// of A's diagonal is not read. Weights are real, and so are log det A, the condition number and all reports.
///
/// L is lower triangular with a real positive diagonal; a factor that begins [singular](Cholesky::zeros) may have zeros there. Every
/// call that can fail leaves the factor bit for bit as it was, with two exceptions that poison it ([`Error::Poisoned`]): a
/// device that fails in the middle of a call, and a breakdown with [no safeguard](crate::Safeguard::None).
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
/// // A − v vᵀ would not be positive definite: the error names the column, and the factor is unchanged.
/// let refused = factor.downdate(&[9.0, 0.0, 0.0]);
/// assert_eq!(refused.unwrap_err(), Error::NotPositiveDefinite { column: 0 });
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Cholesky<T: Scalar, E: Engine<T> = Cpu> {
    engine: E,
    pub(crate) factor: Factor<T, E::Factor>,
}

impl<T: Scalar, E: Engine<T> + Clone> Clone for Cholesky<T, E>
where
    E::Factor: Clone,
{
    fn clone(&self) -> Self {
        Self { engine: self.engine.clone(), factor: self.factor.clone() }
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
    pub fn new<'a>(a: impl Into<Operand<'a, T>>) -> Result<Self, Error> {
        Self::new_in(a, Cpu::default())
    }

    /// Makes a factor of a known L, on the default [`Cpu`] engine.
    ///
    /// # Shapes
    /// L (n × n); only its lower triangle is read. Columns with a negative diagonal entry, as in a factor from a QR
    /// factorization, are negated, which leaves L Lᵀ as it is; complex ones are multiplied by the phase that makes the entry real
    /// and positive. With zeros on the diagonal A is singular, as that of
    /// [`zeros`](Self::zeros) is.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`.
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
    pub fn from_factor<'a>(l: impl Into<Operand<'a, T>>) -> Result<Self, Error> {
        Self::from_factor_in(l, Cpu::default())
    }

    /// The factor of A = 0, on the default [`Cpu`] engine: the start of least squares that are accumulated row by row, as with
    /// LINPACK's `dchud`.
    ///
    /// A is singular until updates have made every pivot positive. Until then [`update`](Self::update) and every modification
    /// with only positive weights work, and so do `modify_scaled` and the calls that read L. Calls that need a regular A return
    /// [`Error::Singular`] with the first column whose pivot is zero: solves, `log_det`, `condition`, negative weights, and the
    /// insertion, removal and reordering of rows and columns.
    ///
    /// # Errors
    /// `OutOfRange`, naming `order`, if there is not enough memory for L.
    ///
    /// # Cost
    /// n² zeros.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::<f64>::zeros(2)?;
    /// factor.update(&[2.0, 1.0])?;                            // A = (4 2; 2 1)
    /// assert_eq!(factor.log_det(), Err(Error::Singular { column: 1 }));
    /// factor.update(&[0.0, 2.0])?;                            // A = (4 2; 2 5)
    /// assert_eq!(factor.l(), mat![[2.0, 0.0], [1.0, 2.0]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn zeros(order: usize) -> Result<Self, Error> {
        Self::zeros_in(order, Cpu::default())
    }

    /// L, zero above the diagonal. (n × n)
    ///
    /// # Cost
    /// None.
    #[must_use]
    pub fn l(&self) -> MatRef<'_, T> {
        self.factor.guarded.factor().l().as_ref()
    }

    /// L, zero above the diagonal (n × n), and the engine.
    ///
    /// # Cost
    /// None.
    #[must_use]
    pub fn into_parts(self) -> (Mat<T>, Cpu) {
        (self.factor.guarded.into_factor().into_l(), self.engine)
    }
}

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// As [`Cholesky::new`], on `engine`, which may factor A by another method than faer's.
    ///
    /// # Shapes
    /// A (n × n); only its lower triangle is read.
    ///
    /// # Errors
    /// As [`Cholesky::new`], and [`Error::Device`] from an engine with a device.
    ///
    /// # Cost
    /// n³/3 flops. On `cuda::Resident` a matrix in the memory of its device stays there.
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
    pub fn new_in<'a>(a: impl Into<Operand<'a, T>>, engine: E) -> Result<Self, Error> {
        let a = a.into();
        square("a", &a)?;
        let factor = match engine.make(Origin::Matrix, &a)? {
            Some((storage, diagonal)) => E::Factor::of_matrix(storage, diagonal),
            None => {
                let (l, start) = E::Factor::factored(&a, engine.par())?;
                Factor::new(engine.adopt(l)?, start)
            }
        };
        Ok(Self { engine, factor })
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
    /// Two copies of L; one on `cuda::Resident` if L is in the memory of its device.
    pub fn from_factor_in<'a>(l: impl Into<Operand<'a, T>>, engine: E) -> Result<Self, Error> {
        let l = l.into();
        square("l", &l)?;
        let factor = match engine.make(Origin::Factor, &l)? {
            Some((storage, diagonal)) => E::Factor::of_factor(storage, diagonal)?,
            None => {
                let (l, start) = E::Factor::checked(&l, engine.par())?;
                Factor::new(engine.adopt(l)?, start)
            }
        };
        Ok(Self { engine, factor })
    }

    /// As [`Cholesky::zeros`], on `engine`.
    ///
    /// # Errors
    /// As [`Cholesky::zeros`], and [`Error::Device`] from an engine with a device.
    ///
    /// # Cost
    /// n² zeros.
    pub fn zeros_in(order: usize, engine: E) -> Result<Self, Error> {
        // Columns are stored slightly farther apart than they are long.
        room::<T>("order", order, (order.saturating_add(1 << 10), 0))?;
        Self::from_factor_in(&Mat::<T>::zeros(order, order), engine)
    }

    /// Copies the factor to another engine; this one is unchanged.
    ///
    /// # Errors
    /// [`Error::Poisoned`] from this engine, [`Error::Device`] from the other. None between engines on the CPU.
    ///
    /// # Cost
    /// Two copies of L.
    pub fn to_engine<F: Engine<T>>(&self, engine: F) -> Result<Cholesky<T, F>, Error> {
        let (l, start) = E::Factor::copied(&self.factor)?;
        let factor = Factor::new(engine.adopt(l)?, start);
        Ok(Cholesky { engine, factor })
    }

    /// Moves the factor to another engine, from host memory to a device or back.
    ///
    /// # Errors
    /// As [`to_engine`](Self::to_engine). After an error the factor is lost; with `to_engine` it is not.
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
        self.factor.order()
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
    /// V (n × k), any layout; a slice, array or vector for k = 1. V is not changed.
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
    /// let mut factor = Cholesky::new(&mat![[4.0_f64, 2.0], [2.0, 5.0]])?;
    /// let report = factor.update(&mat![[1.0, 0.0], [2.0, 1.0]])?; // A = (5 4; 4 10)
    /// assert!((factor.log_det()? - 34.0_f64.ln()).abs() < 1e-14);
    /// assert!((report.log_det_change() - (34.0_f64 / 16.0).ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update<'a>(&mut self, v: impl Into<Operand<'a, T>>) -> Result<Modification, Error> {
        E::Factor::modify(&mut self.factor, &v.into(), Weights::Plus)
    }

    /// A ← A − V Vᵀ.
    ///
    /// # Shapes
    /// V (n × k), any layout; a slice, array or vector for k = 1. V is not changed.
    ///
    /// # Errors
    /// As [`update`](Self::update), and `NotPositiveDefinite` with the first column whose pivot² would not be positive. A
    /// breakdown in working precision is decided in twice the precision, and if the downdate succeeds there, its result is
    /// used.
    ///
    /// # Cost
    /// The flops of an update; [`Safeguard`](crate::Safeguard) describes the cost of preserving the factor. A breakdown costs
    /// in addition k + 1 solves with L, which show for most downdates that they are impossible. If they cannot, the decision in
    /// twice the precision takes about thirty times as long as the downdate, on one thread of the host, with a copy of L there.
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
    pub fn downdate<'a>(&mut self, v: impl Into<Operand<'a, T>>) -> Result<Modification, Error> {
        E::Factor::modify(&mut self.factor, &v.into(), Weights::Minus)
    }

    /// A ← A + V diag(w) Vᵀ, with any mix of signs in one call. Whether it succeeds depends on the result alone and not on the
    /// order of the columns. In each panel of L the columns with a plus sign come first, so that rounding errors in what nearly
    /// cancels are relative to L Lᵀ + V₊ V₊ᵀ. (`cuda::Resident` makes one sweep over L for each 16 or 32 columns of one sign.)
    ///
    /// # Shapes
    /// V (n × k), any layout; w (k). Columns of weight zero are checked to be finite, and then skipped.
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
    /// let mut factor = Cholesky::new(&mat![[4.0_f64, 2.0], [2.0, 5.0]])?;
    /// let v = mat![[1.0, 1.0], [0.0, 1.0]];
    /// factor.modify(&v, &[2.0, -1.0])?; // A = (5 1; 1 4)
    /// assert!((factor.log_det()? - 19.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn modify<'a, 'w>(
        &mut self,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T::Part>>,
    ) -> Result<Modification, Error> {
        E::Factor::modify(&mut self.factor, &v.into(), weights.into())
    }

    /// As [`modify`](Self::modify), without waiting for the engine. When this returns, V has been checked and copied, and the
    /// rest of the work may still be in progress. Only `cuda::Resident` works on after the call; the other engines finish
    /// within it.
    ///
    /// # Shapes
    /// V (n × k), w (k), as for [`modify`](Self::modify).
    ///
    /// # Errors
    /// As [`modify`](Self::modify). [`Pending::wait`] returns the errors that are found later; a breakdown among these is not
    /// decided in twice the precision.
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
    pub fn submit<'a, 'w>(
        &mut self,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T::Part>>,
    ) -> Result<Pending<'_, T, E>, Error> {
        E::Factor::submit(&mut self.factor, &v.into(), weights.into())?;
        Ok(Pending::new(&mut self.factor))
    }

    /// The modification in flight, for callers that cannot keep the borrow in the result of [`submit`](Self::submit) and pass
    /// it to [`core::mem::forget`]. If none is in flight, its outcome is the report of a modification that changed nothing.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, Weights, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// core::mem::forget(factor.submit(&[1.0, 1.0], Weights::Minus)?);
    /// assert!(factor.pending().wait()?.min_pivot_ratio < 1.0);
    /// assert_eq!(factor.pending().wait()?.min_pivot_ratio, 1.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pending(&mut self) -> Pending<'_, T, E> {
        Pending::new(&mut self.factor)
    }

    /// Whether [`downdate`](Self::downdate) with the same V would succeed. A dry run does the same arithmetic and stores
    /// nothing, in twice the precision where it breaks down, so the answer is not an estimate. (`&mut` for the working memory
    /// alone.)
    ///
    /// # Shapes
    /// V (n × k), any layout; a slice, array or vector for k = 1.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`; `Singular`; `Poisoned`; `Device` on an engine with a device. The resident engine
    /// needs memory for a second matrix.
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
    pub fn can_downdate<'a>(&mut self, v: impl Into<Operand<'a, T>>) -> Result<bool, Error> {
        E::Factor::can_downdate(&mut self.factor, &v.into())
    }

    /// log det A, summed in double precision.
    ///
    /// # Errors
    /// `Singular`, `Poisoned`.
    ///
    /// # Cost
    /// n logarithms.
    pub fn log_det(&self) -> Result<T::Part, Error> {
        E::Factor::log_det(&self.factor)
    }

    /// A copy of L in host memory, zero above the diagonal. (n × n)
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Poisoned`] on an engine with a device; none on the CPU engine.
    pub fn to_factor(&self) -> Result<Mat<T>, Error> {
        E::Factor::to_l(&self.factor)
    }

    /// A = L Lᵀ, both triangles. (n × n)
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Poisoned`] on an engine with a device; none on the CPU engine.
    ///
    /// # Cost
    /// n³/3 flops.
    pub fn reconstruct(&self) -> Result<Mat<T>, Error> {
        E::Factor::reconstruct(&self.factor, self.par())
    }
}
