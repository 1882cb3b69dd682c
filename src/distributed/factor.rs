//! A process's part of a factor that is distributed over processes.

use super::agree::{Call, agree};
use super::checks::finite_rows;
use super::moves;
use super::network::Network;
use super::rows::LocalRows;
use super::solve::{solve_lower, solve_upper};
use super::storage::LocalStorage;
use super::v::{Rows, fingerprint};
use crate::check::{extent, index};
use crate::error::Error;
use crate::guarded::{Guarded, Source};
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Side, pivots};
use crate::sweep::cyclic::Cyclic;
use crate::sweep::weights::Weights;
use core::fmt;
use faer::{Mat, MatMut, MatRef};

/// A process's part of L, whose rows are distributed over processes in blocks ([`Cyclic`]).
///
/// Every call is made by all processes together, and returns the same outcome on all of them. The arguments of which each process has
/// its own part are checked by it; what must be the same on all is compared.
pub struct Factor<T: Real, N: Network> {
    pub(super) guarded: Guarded<T, LocalStorage<T, N>>,
}

impl<T: Real, N: Network> Factor<T, N> {
    /// Which rows this process has.
    #[must_use]
    pub fn cyclic(&self) -> Cyclic {
        self.guarded.factor().cyclic()
    }

    /// A ← A + V diag(w) Vᵀ. (n × k, k)
    ///
    /// # Errors
    /// `Differs`, naming `v` for its number of columns, or `weights`; `Shape`, `NonFinite` or `Overflow`, naming `v` or `weights`;
    /// `Singular`; `NotPositiveDefinite`, after which L is as it was, unless there is no safeguard; `Poisoned`.
    pub fn modify(&mut self, v: Rows<'_, T>, weights: Weights<'_, T>) -> Result<Modification, Error> {
        self.check(Call::Modify, v, weights)?;
        let mut memory = Mat::new();
        let mine = v.mine_in(&self.cyclic(), &mut memory);
        let stage = |storage: &mut LocalStorage<T, N>| storage.stage_rows(mine, weights);
        match self.guarded.modify_by(Source::L, stage) {
            Err(Error::NotPositiveDefinite { column }) if self.guarded.healthy().is_ok() => {
                self.again(column, (mine, weights), true)
            }
            outcome => outcome,
        }
    }

    /// The outcome that [`modify`](Self::modify) would have. The factor is not changed.
    ///
    /// # Errors
    /// As [`modify`](Self::modify).
    pub fn dry_run(&mut self, v: Rows<'_, T>, weights: Weights<'_, T>) -> Result<Modification, Error> {
        self.check(Call::DryRun, v, weights)?;
        let mut memory = Mat::new();
        let mine = v.mine_in(&self.cyclic(), &mut memory);
        match self.guarded.dry_run_by(|storage| storage.stage_rows(mine, weights)) {
            Err(Error::NotPositiveDefinite { column }) => self.again(column, (mine, weights), false),
            outcome => outcome,
        }
    }

    /// Checks V and w, and that they are the same on all processes.
    fn check(&self, call: Call, v: Rows<'_, T>, weights: Weights<'_, T>) -> Result<(), Error> {
        let cyclic = self.cyclic();
        let checked = v.check("v", &cyclic).and_then(|()| weights.check(0, (0, v.ncols())));
        let order = ("the order", cyclic.order as u64);
        let facts = [order, ("v", v.ncols() as u64), ("weights", fingerprint(weights))];
        agree(self.net(), call, &facts, checked)?;
        self.guarded.healthy().map(|_| ())
    }

    /// Solves A X = B, or one of the systems L Y = B and Lᵀ X = Y, in place. (local rows × m)
    ///
    /// # Errors
    /// `Differs`, `Shape` or `NonFinite`, naming `rhs`; then no process has written to it. `Singular`; `Poisoned`.
    pub fn solve(&self, sides: &[Side], mut rhs: MatMut<'_, T>) -> Result<(), Error> {
        let cyclic = self.cyclic();
        let checked = extent("rhs", "rows", cyclic.rows(), rhs.nrows())
            .and_then(|()| finite_rows("rhs", &cyclic, rhs.as_ref()));
        let of_sides = sides.iter().fold(1, |word, &side| 2 * word + u64::from(side == Side::Transpose));
        let order = ("the order", cyclic.order as u64);
        let facts = [order, ("rhs", rhs.ncols() as u64), ("the system", of_sides)];
        agree(self.net(), Call::Solve, &facts, checked)?;
        self.guarded.regular()?;
        sides.iter().for_each(|&side| self.solve_side(side, rhs.as_mut()));
        Ok(())
    }

    pub(super) fn solve_side(&self, side: Side, rhs: MatMut<'_, T>) {
        let storage = self.guarded.factor();
        match side {
            Side::L => solve_lower(&storage.net, &storage.l, rhs, storage.threads),
            Side::Transpose => solve_upper(&storage.net, &storage.l, rhs, storage.threads),
        }
    }

    /// log det A. Needs no other process.
    ///
    /// # Errors
    /// `Poisoned`, `Singular`.
    pub fn log_det(&self) -> Result<T, Error> {
        let logs = pivots(self.guarded.regular()?).map(|l| l.to_f64().ln());
        Ok(T::from_f64(2.0 * logs.sum::<f64>()))
    }

    /// The diagonal of L. Needs no other process. (n)
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn pivots(&self) -> Result<&[T], Error> {
        Ok(&self.guarded.healthy()?.pivots)
    }

    /// L at process `root`, zero above the diagonal; `None` at the others. (n × n)
    ///
    /// # Errors
    /// `Differs` or `Index`, naming `root`; `Poisoned`.
    pub fn gather(&self, root: usize) -> Result<Option<Mat<T>>, Error> {
        let cyclic = self.cyclic();
        let checked = index("root", root, cyclic.ranks);
        agree(self.net(), Call::Gather, &[("root", root as u64)], checked)?;
        self.guarded.healthy()?;
        let order = if cyclic.rank == root { cyclic.order } else { 0 };
        let mut all = Mat::zeros(order, order);
        moves::gather_l(self.net(), self.rows(), root, all.as_mut());
        Ok((cyclic.rank == root).then_some(all))
    }

    /// The rows of L of this process, zero above the diagonal. (local rows × n)
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn to_rows(&self) -> Result<Mat<T>, Error> {
        let l = &self.guarded.healthy()?.l;
        let cyclic = l.cyclic;
        let mut rows = Mat::zeros(cyclic.rows(), cyclic.order);
        for block in 0..cyclic.blocks() {
            let (columns, (first, column)) = (cyclic.rows_of(block), l.column(block));
            rows.submatrix_mut(first, columns.start, column.nrows(), columns.len()).copy_from(column);
        }
        Ok(rows)
    }

    /// The processes.
    #[must_use]
    pub fn net(&self) -> &N {
        &self.guarded.factor().net
    }

    pub(super) fn rows(&self) -> &LocalRows<T> {
        &self.guarded.factor().l
    }

    pub(super) fn row_norm(&self) -> f64 {
        self.guarded.row_norm()
    }

    pub(super) fn gather_rows(&self, mine: MatRef<'_, T>, to: MatMut<'_, T>) {
        moves::gather_rows(self.net(), &self.cyclic(), mine, to);
    }
}

impl<T: Real, N: Network> fmt::Debug for Factor<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factor").field("cyclic", &self.cyclic()).finish_non_exhaustive()
    }
}
