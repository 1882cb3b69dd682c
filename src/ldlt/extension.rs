//! The factor of A bordered by rows, without a change of the factor of A: the public type.

use super::Ldlt;
use super::report::{inertia, sign};
use crate::check::extent;
use crate::error::Error;
use crate::operand::{OnHost, Operand};
use crate::scalar::Scalar;
use cholupdate_kernels::number::{Float, Number};
use faer::{Mat, MatRef};

/// The factor of A bordered by r rows and columns. The factor of A is not changed, so many extensions can share one base.
///
/// Made by [`Ldlt::extension`]. Uses O((n + r) r) memory.
pub struct LdltExtension<'a, T: Scalar> {
    base: &'a Ldlt<T>,
    /// Y = L⁻¹ B. (n × r)
    y: OnHost<'a, T>,
    /// C with C S' Cᴴ = K − Bᴴ A⁻¹ B. (r × r)
    corner: OnHost<'a, T>,
    /// Which entries of S' are −1. (r)
    negative: Vec<bool>,
}

impl<T: Scalar> core::fmt::Debug for LdltExtension<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let known = (self.order(), self.inertia());
        f.debug_struct("LdltExtension")
            .field("order", &known.0)
            .field("inertia", &known.1)
            .finish_non_exhaustive()
    }
}

impl<T: Scalar> Ldlt<T> {
    /// The factor of A bordered by r rows and columns, (A B; Bᵀ K), without a change of this one. What is
    /// [expected](Self::expect_inertia) of changes is not asked of it: see its [inertia](LdltExtension::inertia).
    ///
    /// # Shapes
    /// `cross`, B (n × r); `corner`, K (r × r), of which the lower triangle is read. Slices, arrays or vectors for r = 1.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming the argument; `Singular` with the row of the bordered A whose pivot is zero to working
    /// precision; `Unstable`.
    ///
    /// # Cost
    /// r n² flops.
    ///
    /// ```
    /// use cholupdate::{Error, Ldlt, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// // minimize x₁² + x₂², and the same subject to x₁ + x₂ = 2.
    /// let factor = Ldlt::new(&mat![[2.0_f64, 0.0], [0.0, 2.0]])?;
    /// let constrained = factor.extension(&[1.0, 1.0], &[0.0])?;
    /// assert_eq!(constrained.inertia(), (2, 1));
    /// let x = constrained.solve(&[0.0, 0.0, 2.0])?;
    /// assert!((x - mat![[1.0], [1.0], [-2.0]]).norm_max() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn extension<'a>(
        &self,
        cross: impl Into<Operand<'a, T>>,
        corner: impl Into<Operand<'a, T>>,
    ) -> Result<LdltExtension<'_, T>, Error> {
        let (y, corner, negative) = T::ldlt_extension(&self.state, &cross.into(), &corner.into())?;
        Ok(LdltExtension { base: self, y: OnHost::Copied(y), corner: OnHost::Copied(corner), negative })
    }
}

impl<'a, T: Scalar> LdltExtension<'a, T> {
    /// Makes an extension again from what [`into_parts`](Self::into_parts) returned, for callers that cannot keep a borrow of the base.
    ///
    /// # Shapes
    /// Y (n × r), C (r × r), `signs` (r), of which the negative ones count. The parts must be of this factor, and it must not have changed
    /// since; otherwise the solutions belong to no particular A.
    ///
    /// # Errors
    /// `Shape`, naming `y`, `corner` or `signs`.
    ///
    /// # Cost
    /// None.
    pub fn from_parts(
        base: &'a Ldlt<T>,
        y: Mat<T>,
        corner: Mat<T>,
        signs: &[T::Part],
    ) -> Result<Self, Error> {
        Self::of(base, OnHost::Copied(y), OnHost::Copied(corner), signs)
    }

    /// As [`from_parts`](Self::from_parts), with borrowed matrices.
    ///
    /// # Errors
    /// `Shape`, naming `y`, `corner` or `signs`.
    ///
    /// # Cost
    /// None.
    pub fn from_borrowed_parts(
        base: &'a Ldlt<T>,
        y: MatRef<'a, T>,
        corner: MatRef<'a, T>,
        signs: &[T::Part],
    ) -> Result<Self, Error> {
        Self::of(base, OnHost::There(y), OnHost::There(corner), signs)
    }

    fn of(
        base: &'a Ldlt<T>,
        y: OnHost<'a, T>,
        corner: OnHost<'a, T>,
        signs: &[T::Part],
    ) -> Result<Self, Error> {
        let (rows, new) = y.as_ref().shape();
        extent("y", "rows", base.order(), rows)?;
        extent("corner", "rows", new, corner.as_ref().nrows())?;
        extent("corner", "columns", new, corner.as_ref().ncols())?;
        extent("signs", "entries", new, signs.len())?;
        Ok(Self { base, y, corner, negative: signs.iter().map(|&sign| sign < T::Part::ZERO).collect() })
    }

    /// Y = L⁻¹ B (n × r), C of [`corner`](Self::corner) (r × r), and its [`signs`](Self::signs) (r).
    ///
    /// # Cost
    /// None.
    #[must_use]
    pub fn into_parts(self) -> (Mat<T>, Mat<T>, Vec<T::Part>) {
        let signs = self.signs();
        (self.y.into_owned(), self.corner.into_owned(), signs)
    }

    /// n + r.
    #[must_use]
    pub fn order(&self) -> usize {
        let (base, rows) = self.y.as_ref().shape();
        base + rows
    }

    /// X with A X = B, for the bordered A.
    ///
    /// # Shapes
    /// B, X ((n + r) × m); a slice, array or vector for m = 1.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `rhs`.
    ///
    /// # Cost
    /// 2 m n² + 4 m n r flops.
    pub fn solve<'b>(&self, rhs: impl Into<Operand<'b, T>>) -> Result<Mat<T>, Error> {
        let parts = (self.y.as_ref(), self.corner.as_ref(), &self.negative[..]);
        T::ldlt_solve_extended(&self.base.state, parts, &rhs.into())
    }

    /// C, lower triangular with a positive diagonal, with C S' Cᵀ = K − Bᵀ A⁻¹ B, the Schur complement of A. (r × r)
    #[must_use]
    pub fn corner(&self) -> MatRef<'_, T> {
        self.corner.as_ref()
    }

    /// The diagonal of S': 1 or −1. (r)
    #[must_use]
    pub fn signs(&self) -> Vec<T::Part> {
        self.negative.iter().map(|&negative| sign(negative)).collect()
    }

    /// The numbers of positive and of negative eigenvalues of the bordered A.
    ///
    /// # Cost
    /// n + r comparisons.
    #[must_use]
    pub fn inertia(&self) -> (usize, usize) {
        let (base, new) = (self.base.inertia(), inertia(&self.negative));
        (base.0 + new.0, base.1 + new.1)
    }

    /// log |det| of the bordered A.
    ///
    /// # Cost
    /// n + r logarithms.
    #[must_use]
    pub fn log_abs_det(&self) -> T::Part {
        let corner = self.corner.as_ref();
        let pivots = corner.diagonal().column_vector().iter();
        let corner = 2.0 * pivots.map(|c| c.real().to_f64().ln()).sum::<f64>();
        T::Part::from_f64(self.base.log_abs_det().to_f64() + corner)
    }
}
