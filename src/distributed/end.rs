//! Rows and columns of A at the end: new ones, and the removal of the last.

use super::agree::{COUNT_RULE, Call, agree};
use super::checks::{finite_rows, fits};
use super::factor::Factor;
use super::network::{Network, bytes_mut};
use super::v::{Rows, fingerprint_of};
use crate::check::{extent, finite_lower};
use crate::error::Error;
use crate::host::blocked::Memory;
use crate::real::Real;
use crate::report::Modification;
use crate::storage::Side;
use crate::structure::{least_ratio_and_log_det, schur};
use faer::{Mat, MatRef, Par};

impl<T: Real, N: Network> Factor<T, N> {
    /// A ← (A B; Bᵀ K): r further rows and columns at the end. (n × r, r × r) B by rows of the processes, or whole; K is the same on all
    /// of them, and its lower triangle is read.
    ///
    /// # Errors
    /// `Differs`, `Shape`, `NonFinite` or `Overflow`, naming `cross` or `corner`; `NotPositiveDefinite` with the row of the new A;
    /// `Singular`; `Poisoned`. After an error the factor is as it was.
    pub fn append(&mut self, cross: Rows<'_, T>, corner: MatRef<'_, T>) -> Result<Modification, Error> {
        let (cyclic, rank) = (self.cyclic(), corner.nrows());
        let checked = cross.check("cross", &cyclic).and_then(|()| {
            extent("corner", "columns", rank, corner.ncols())?;
            extent("cross", "columns", rank, cross.ncols())?;
            finite_lower("corner", corner)?;
            match cross {
                Rows::Mine(rows) => finite_rows("cross", &cyclic, rows),
                Rows::All(rows) => crate::check::finite("cross", rows).map(|_| ()),
            }
        });
        let order = ("the order", cyclic.order as u64);
        let facts = [order, ("corner", rank as u64), ("the entries of corner", fingerprint_of(corner))];
        agree(self.net(), Call::Append, &facts, checked)?;
        self.guarded.regular()?;
        let largest = (0..rank).map(|j| corner[(j, j)].to_f64()).fold(0.0, f64::max);
        let most = fits(self.net(), largest, "corner", T::LARGE_SQUARE.to_f64())?;
        let mut mine = cross.mine(&cyclic);
        self.solve_side(Side::L, mine.as_mut());
        let mut s = Mat::zeros(cyclic.order, rank);
        self.gather_rows(mine.as_ref(), s.as_mut());
        let mut c = Mat::zeros(rank, rank);
        // One process computes the corner, because products of others may be rounded in another order. The column of a breakdown plus one.
        let mut broken = [0];
        if cyclic.rank == 0 {
            let made = schur(s.as_ref(), corner, c.as_mut(), &mut Memory::default(), Par::Seq);
            broken[0] = made.map_or_else(|column| column as u64 + 1, |()| 0);
        }
        self.net().broadcast(0, bytes_mut(&mut broken));
        if let Some(column) = broken[0].checked_sub(1) {
            return Err(Error::NotPositiveDefinite { column: cyclic.order + column as usize });
        }
        for j in 0..rank {
            self.net().broadcast(0, bytes_mut(c.col_as_slice_mut(j)));
        }
        let (least, log_det) = least_ratio_and_log_det(c.as_ref(), corner);
        let row_norm = self.row_norm().max(most.sqrt());
        self.guarded.in_place(|storage| {
            storage.resize(cyclic.order + rank);
            storage.pivots.extend(c.diagonal().column_vector().iter());
            storage.l.write_last(s.as_ref(), c.as_ref());
            Ok(())
        })?;
        self.guarded.bound_rows(row_norm);
        Ok(Modification::identity().and(least.to_f64(), log_det))
    }

    /// Removes the last rows and columns of A.
    ///
    /// # Errors
    /// `Differs` or `OutOfRange`, naming `count`; `Singular`; `Poisoned`.
    pub fn remove_last(&mut self, count: usize) -> Result<Modification, Error> {
        let order = self.cyclic().order;
        let too_many = Error::OutOfRange { argument: "count", rule: COUNT_RULE };
        let checked = if count <= order { Ok(()) } else { Err(too_many) };
        agree(
            self.net(),
            Call::RemoveLast,
            &[("the order", order as u64), ("count", count as u64)],
            checked,
        )?;
        let removed = &self.guarded.regular()?.pivots[order - count..];
        let log_det = 2.0 * removed.iter().map(|pivot| pivot.to_f64().ln()).sum::<f64>();
        self.guarded.in_place(|storage| {
            storage.resize(order - count);
            storage.pivots.truncate(order - count);
            Ok(())
        })?;
        Ok(Modification::identity().and(1.0, -log_det))
    }
}
