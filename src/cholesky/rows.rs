//! The calls of the front type that change rows and columns of A.

use super::Extension;
use crate::cholesky::Cholesky;
use crate::engine::Engine;
use crate::error::Error;
use crate::factor::verbs::Verbs;
use crate::operand::Operand;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::storage::Storage;

/// Insertion, removal and reordering of rows and columns.
impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// The largest order to which this factor can grow without another allocation for L. A clone, or a copy on another engine,
    /// has room for its current order only.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.factor.guarded.factor().capacity()
    }

    /// Reserves room for `additional` further rows and columns, in L and in the shadow buffer of its
    /// [`Safeguard`](crate::Safeguard). Growth beyond the capacity reserves room by itself, for slightly more rows than needed.
    ///
    /// # Errors
    /// `OutOfRange`, naming `additional`; `Device` or `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// A copy of L, unless there is room already.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// factor.reserve(10)?;
    /// assert!(factor.order() == 2 && factor.capacity() >= 12);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reserve(&mut self, additional: usize) -> Result<(), Error> {
        E::Factor::reserve_more(&mut self.factor, additional)
    }

    /// A ← (A B; Bᵀ K): r further rows and columns at the end.
    ///
    /// # Shapes
    /// B (n × r), the cross terms; K (r × r), of which the lower triangle is read.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `cross` or `corner`; `NotPositiveDefinite` with the row of the new A. After
    /// an error the factor is as it was.
    ///
    /// # Cost
    /// r n² + r² n flops, those of the triangular solve. Up to the [`capacity`](Self::capacity) no entry of L is moved.
    ///
    /// # Source
    /// G. H. Golub, C. F. Van Loan, *Matrix Computations*, 4th ed., Johns Hopkins (2013), section 4.2.9: a block of the
    /// factorization.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// factor.append(&[2.0, 1.0], &[6.0])?; // A = (4 2 2; 2 5 1; 2 1 6)
    /// assert_eq!(factor.l().row(2), mat![[1.0, 0.0, 5.0_f64.sqrt()]].row(0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn append<'a>(
        &mut self,
        cross: impl Into<Operand<'a, T>>,
        corner: impl Into<Operand<'a, T>>,
    ) -> Result<Modification, Error> {
        let par = self.par();
        E::Factor::append(&mut self.factor, &cross.into(), &corner.into(), par)
    }

    /// Inserts r rows and columns into A, which become rows `at..at + r`; the old rows from `at` on follow them.
    ///
    /// # Shapes
    /// `at` ≤ n. The new columns of A ((n + r) × r), in the numbering of the new A; of their rows `at..at + r` the lower
    /// triangle is read. For r = 1 a slice, array or vector: Octave's `cholinsert`.
    ///
    /// # Errors
    /// `Index`, `Shape`, `NonFinite` or `Overflow`, naming `at` or `columns`; `NotPositiveDefinite` with the row of the new A.
    /// After an error the factor is as it was.
    ///
    /// # Cost
    /// r at² + 2 r (n − at) at + 2 r (n − at)² flops, and a move of the rows and columns from `at` on.
    ///
    /// # Source
    /// P. E. Gill, G. H. Golub, W. Murray, M. A. Saunders, *Methods for modifying matrix factorizations*, Math. Comp. 28
    /// (1974), section 5, by blocks.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0_f64, 2.0], [2.0, 6.0]])?;
    /// factor.insert(1, &[2.0, 5.0, 1.0])?; // A = (4 2 2; 2 5 1; 2 1 6)
    /// assert!((factor.log_det()? - 80.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert<'a>(
        &mut self,
        at: usize,
        columns: impl Into<Operand<'a, T>>,
    ) -> Result<Modification, Error> {
        let par = self.par();
        E::Factor::insert(&mut self.factor, at, &columns.into(), par)
    }

    /// Removes rows and columns of A, in one sweep. It cannot break down.
    ///
    /// # Shapes
    /// Any number of distinct indices less than n, in any order.
    ///
    /// # Errors
    /// `Index` or `Duplicate`, naming `indices`; `Overflow`, naming it, if squares of rows of L are close to overflow; `Device`
    /// or `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// 2 r (n − f)² flops, where f is the first of the r indices, and a move of the rows and columns after f.
    ///
    /// # Source
    /// Gill, Golub, Murray and Saunders (1974), as for [`insert`](Self::insert).
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0_f64, 2.0, 2.0], [2.0, 5.0, 1.0], [2.0, 1.0, 6.0]])?;
    /// factor.remove(&[1])?; // A = (4 2; 2 6)
    /// assert!((factor.log_det()? - 20.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn remove(&mut self, indices: &[usize]) -> Result<Modification, Error> {
        E::Factor::remove(&mut self.factor, indices)
    }

    /// Replaces r neighbouring rows and columns of A, as [`remove`](Self::remove) and [`insert`](Self::insert) would, in one
    /// sweep and without a move.
    ///
    /// # Shapes
    /// `at` + r ≤ n. The new columns of A (n × r); of their rows `at..at + r` the lower triangle is read.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    ///
    /// # Cost
    /// r at² + 2 r (n − at) at + 4 r (n − at)² flops.
    ///
    /// # Source
    /// As [`insert`](Self::insert).
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0_f64, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 6.0]])?;
    /// factor.replace(1, &[2.0, 5.0, 1.0])?; // A = (4 2 2; 2 5 1; 2 1 6)
    /// assert!((factor.log_det()? - 80.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn replace<'a>(
        &mut self,
        at: usize,
        columns: impl Into<Operand<'a, T>>,
    ) -> Result<Modification, Error> {
        let par = self.par();
        E::Factor::replace(&mut self.factor, at, &columns.into(), par)
    }

    /// Moves row and column `from` of A to row and column `to`; those between move up or down by one. Octave's `cholshift`. It
    /// cannot break down, except that a factor on a device that is singular to working precision is lost.
    ///
    /// # Shapes
    /// `from`, `to` < n.
    ///
    /// # Report
    /// The smallest ratio of a row's new pivot² to its old one; det A does not change.
    ///
    /// # Errors
    /// `Index`, naming `from` or `to`; `Device` or `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// O(|to − from| (n − min(from, to))) flops, and a move of the rows and columns from min(from, to) on. On an engine with a
    /// device a shift to a later row costs the flops of an update of the rows after `from`.
    ///
    /// # Source
    /// J. J. Dongarra, J. R. Bunch, C. B. Moler, G. W. Stewart, *LINPACK Users' Guide*, SIAM (1979), chapter 10: `dchex`.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[5.0_f64, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 6.0]])?;
    /// factor.shift(0, 2)?; // A = (4 2 2; 2 6 1; 2 1 5)
    /// assert!((factor.l()[(2, 1)]).abs() < 1e-15);
    /// # Ok(())
    /// # }
    /// ```
    pub fn shift(&mut self, from: usize, to: usize) -> Result<Modification, Error> {
        E::Factor::shift(&mut self.factor, from, to)
    }

    /// Reorders rows and columns of A by the smallest number of shifts. It cannot break down, with the exception that
    /// [`shift`](Self::shift) has.
    ///
    /// # Shapes
    /// The n old rows in their new order: row `order[i]` becomes row i.
    ///
    /// # Report
    /// The smallest ratio of all these shifts.
    ///
    /// # Errors
    /// `Shape`, `Index` or `Duplicate`, naming `order`; `Device` or `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// That of a [`shift`](Self::shift) for each row outside a longest ascending subsequence of `order`.
    ///
    /// # Source
    /// As [`shift`](Self::shift).
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[5.0_f64, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 6.0]])?;
    /// factor.permute(&[1, 2, 0])?; // A = (4 2 2; 2 6 1; 2 1 5)
    /// assert!((factor.l()[(2, 1)]).abs() < 1e-15);
    /// # Ok(())
    /// # }
    /// ```
    pub fn permute(&mut self, order: &[usize]) -> Result<Modification, Error> {
        E::Factor::permute(&mut self.factor, order)
    }
}

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// The factor of A bordered by r rows and columns, without a change of this factor: many extensions can share one base.
    ///
    /// # Shapes
    /// B (n × r), the cross terms; K (r × r), of which the lower triangle is read.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `cross` or `corner`; `NotPositiveDefinite` with the row of the bordered A; `Device` or
    /// `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// r n² + r² n flops and O((n + r) r) memory.
    ///
    /// # Source
    /// As [`append`](Self::append).
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::new(&mat![[4.0_f64, 2.0], [2.0, 5.0]])?;
    /// let more = factor.extension(&[2.0, 1.0], &[6.0])?; // of (4 2 2; 2 5 1; 2 1 6)
    /// let x = more.solve(&[8.0, 8.0, 9.0])?;
    /// assert!((x - mat![[1.0], [1.0], [1.0]]).norm_max() < 1e-14);
    /// assert!((more.log_det()? - 80.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn extension<'a>(
        &self,
        cross: impl Into<Operand<'a, T>>,
        corner: impl Into<Operand<'a, T>>,
    ) -> Result<Extension<'_, T, E>, Error> {
        let (cross, corner) = (cross.into(), corner.into());
        let (s, corner) = E::Factor::extension(&self.factor, &cross, &corner, self.par())?;
        Ok(Extension::new(self, s, corner))
    }
}
