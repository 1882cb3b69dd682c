//! The factor of A bordered by rows, without a change of the factor of A.

use crate::check::extent;
use crate::cholesky::Cholesky;
use crate::cpu::Cpu;
use crate::engine::Engine;
use crate::error::Error;
use crate::factor::verbs::Verbs;
use crate::operand::{OnHost, Operand};
use crate::scalar::Scalar;
use cholupdate_kernels::number::Float;
use faer::{Mat, MatRef};

/// The factor of A bordered by r rows and columns. The factor of A is not changed, so many extensions can share one base.
///
/// Made by [`Cholesky::extension`]. Uses O((n + r) r) host memory.
pub struct Extension<'a, T: Scalar, E: Engine<T> = Cpu> {
    base: &'a Cholesky<T, E>,
    /// S = L⁻¹ B. (n × r)
    s: OnHost<'a, T>,
    /// C with C Cᴴ = K − Sᴴ S. (r × r)
    corner: OnHost<'a, T>,
}

impl<T: Scalar, E: Engine<T>> core::fmt::Debug for Extension<'_, T, E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Extension").field("order", &self.order()).finish_non_exhaustive()
    }
}

impl<'a, T: Scalar, E: Engine<T>> Extension<'a, T, E> {
    pub(crate) fn new(base: &'a Cholesky<T, E>, s: Mat<T>, corner: Mat<T>) -> Self {
        Self { base, s: OnHost::Copied(s), corner: OnHost::Copied(corner) }
    }

    /// Makes an extension again from what [`into_parts`](Self::into_parts) returned, for callers that cannot keep a borrow of
    /// the base.
    ///
    /// # Shapes
    /// S (n × r), C (r × r). The parts must be of this factor, and it must not have changed since; otherwise the solutions
    /// belong to no particular A.
    ///
    /// # Errors
    /// `Shape`, naming `s` or `corner`.
    ///
    /// # Cost
    /// None.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, Extension, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::new(&mat![[4.0_f64, 2.0], [2.0, 5.0]])?;
    /// let (s, corner) = factor.extension(&[2.0, 1.0], &[6.0])?.into_parts();
    /// let more = Extension::from_parts(&factor, s, corner)?;
    /// assert!((more.log_det()? - 80.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_parts(base: &'a Cholesky<T, E>, s: Mat<T>, corner: Mat<T>) -> Result<Self, Error> {
        extent("s", "rows", base.order(), s.nrows())?;
        extent("corner", "rows", s.ncols(), corner.nrows())?;
        extent("corner", "columns", s.ncols(), corner.ncols())?;
        Ok(Self { base, s: OnHost::Copied(s), corner: OnHost::Copied(corner) })
    }

    /// As [`from_parts`](Self::from_parts), with borrowed parts.
    ///
    /// # Errors
    /// `Shape`, naming `s` or `corner`.
    ///
    /// # Cost
    /// None.
    pub fn from_borrowed_parts(
        base: &'a Cholesky<T, E>,
        s: MatRef<'a, T>,
        corner: MatRef<'a, T>,
    ) -> Result<Self, Error> {
        extent("s", "rows", base.order(), s.nrows())?;
        extent("corner", "rows", s.ncols(), corner.nrows())?;
        extent("corner", "columns", s.ncols(), corner.ncols())?;
        Ok(Self { base, s: OnHost::There(s), corner: OnHost::There(corner) })
    }

    /// S = L⁻¹ B (n × r), and C of [`corner`](Self::corner) (r × r).
    ///
    /// # Cost
    /// None.
    #[must_use]
    pub fn into_parts(self) -> (Mat<T>, Mat<T>) {
        (self.s.into_owned(), self.corner.into_owned())
    }

    /// n + r.
    #[must_use]
    pub fn order(&self) -> usize {
        let (base, rows) = self.s.as_ref().shape();
        base + rows
    }

    /// X with A X = B, for the bordered A.
    ///
    /// # Shapes
    /// B, X ((n + r) × m); a slice, array or vector for m = 1.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`; `Device` or `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// 2 m n² + 4 m n r flops.
    pub fn solve<'b>(&self, rhs: impl Into<Operand<'b, T>>) -> Result<Mat<T>, Error> {
        let (s, corner) = (self.s.as_ref(), self.corner.as_ref());
        E::Factor::solve_extended(&self.base.factor, s, corner, &rhs.into(), self.base.par())
    }

    /// C, lower triangular, with C Cᵀ = K − Bᵀ A⁻¹ B, the Schur complement of A. (r × r) If A and K are covariances, it is the
    /// factor of the conditional covariance, and C times independent standard normals draws samples.
    #[must_use]
    pub fn corner(&self) -> MatRef<'_, T> {
        self.corner.as_ref()
    }

    /// log det of the bordered A.
    ///
    /// # Errors
    /// [`Error::Poisoned`] on an engine with a device; none on the CPU engine.
    ///
    /// # Cost
    /// n + r logarithms.
    pub fn log_det(&self) -> Result<T::Part, Error> {
        let corner = self.corner.as_ref();
        let pivots = corner.diagonal().column_vector().iter();
        let corner = 2.0 * pivots.map(|c| c.real().to_f64().ln()).sum::<f64>();
        Ok(T::Part::from_f64(self.base.log_det()?.to_f64() + corner))
    }
}
