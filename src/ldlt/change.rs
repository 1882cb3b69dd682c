//! The calls that change rows and columns.

use super::{Ldlt, LdltModification};
use crate::error::Error;
use crate::operand::Operand;
use crate::scalar::Scalar;

impl<T: Scalar> Ldlt<T> {
    /// Borders A by r rows and columns: A ← (A B; Bᵀ C).
    ///
    /// # Shapes
    /// `cross`, B (n × r); `corner`, C (r × r), of which the lower triangle is read. Slices, arrays or vectors for r = 1.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming the argument; `Singular` with the row of the new A whose pivot is zero to working
    /// precision; `Unstable`; `Inertia`, if it is [expected](Self::expect_inertia).
    ///
    /// # Cost
    /// r n² flops, and a copy of L.
    ///
    /// ```
    /// use cholupdate::{Error, Ldlt, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Ldlt::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// let report = factor.append(&[2.0, 1.0], &[-3.0])?;         // (4 2 2; 2 5 1; 2 1 −3)
    /// assert_eq!(report.inertia, (2, 1));
    /// assert_eq!(factor.l().row(2), mat![[1.0, 0.0, 2.0]].row(0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn append<'a>(
        &mut self,
        cross: impl Into<Operand<'a, T>>,
        corner: impl Into<Operand<'a, T>>,
    ) -> Result<LdltModification, Error> {
        T::ldlt_append(&mut self.state, &cross.into(), &corner.into())
    }

    /// Inserts r rows and columns into A, which become rows `at..at + r`; the old rows from `at` on follow them.
    ///
    /// # Shapes
    /// `at` ≤ n. The new columns of A ((n + r) × r), in the numbering of the new A; of their rows `at..at + r` the lower triangle is read.
    ///
    /// # Errors
    /// As [`append`](Self::append), and `Index`; the arguments are `at` and `columns`.
    ///
    /// # Cost
    /// r at² + 2 r (n − at) at + 2 r (n − at)² flops, and a copy of L.
    pub fn insert<'a>(
        &mut self,
        at: usize,
        columns: impl Into<Operand<'a, T>>,
    ) -> Result<LdltModification, Error> {
        T::ldlt_insert(&mut self.state, at, &columns.into())
    }

    /// Replaces r neighbouring rows and columns of A, in one step: the matrix without them need not have a factor.
    ///
    /// # Shapes
    /// `at` + r ≤ n. The new columns of A (n × r); of their rows `at..at + r` the lower triangle is read.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    ///
    /// # Cost
    /// r at² + 2 r (n − at) at + 4 r (n − at)² flops, and a copy of L.
    pub fn replace<'a>(
        &mut self,
        at: usize,
        columns: impl Into<Operand<'a, T>>,
    ) -> Result<LdltModification, Error> {
        T::ldlt_replace(&mut self.state, at, &columns.into())
    }

    /// Removes rows and columns of A, in one sweep. Unlike that of a positive definite matrix the rest may have no factor.
    ///
    /// # Shapes
    /// Any number of distinct indices less than n, in any order.
    ///
    /// # Errors
    /// `Index` or `Duplicate`, naming `indices`; `Singular` or `Unstable` with a column of the new L; `Inertia` or `Sign`, if these are
    /// [expected](Self::expect_inertia).
    ///
    /// # Cost
    /// 2 r (n − f)² flops, where f is the first of the r indices, and a copy of L.
    pub fn remove(&mut self, indices: &[usize]) -> Result<LdltModification, Error> {
        T::ldlt_remove(&mut self.state, indices)
    }

    /// Moves row and column `from` of A to `to`; those between move by one.
    ///
    /// # Errors
    /// `Index`, naming `from` or `to`; those of [`remove`](Self::remove).
    ///
    /// # Cost
    /// At most 8 n² flops, and a copy of L.
    pub fn shift(&mut self, from: usize, to: usize) -> Result<LdltModification, Error> {
        T::ldlt_shift(&mut self.state, from, to)
    }

    /// Reorders rows and columns of A: row i of the new A is row `order[i]` of the old one.
    ///
    /// # Shapes
    /// `order` (n), a permutation.
    ///
    /// # Errors
    /// `Shape`, `Index` or `Duplicate`, naming `order`; those of [`remove`](Self::remove).
    ///
    /// # Cost
    /// That of a [`shift`](Self::shift) for every row outside a longest ascending subsequence, and a copy of the factor. If an order between
    /// the first and the last has no factor, or a growth far above theirs, that of [`reconstruct`](Self::reconstruct) and
    /// [`new`](Self::new).
    pub fn permute(&mut self, order: &[usize]) -> Result<LdltModification, Error> {
        T::ldlt_permute(&mut self.state, order)
    }
}
