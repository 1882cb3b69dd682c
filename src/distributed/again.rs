//! Repeats a modification that broke down in twice the precision, as the other engines do: solves with the distributed L first refuse
//! what is certainly indefinite; what remains is repeated by process 0, from a copy of L.

use super::begin::all_pivots;
use super::factor::Factor;
use super::moves::{gather_l, scatter_l};
use super::network::{Network, bytes_mut};
use super::v::Rows;
use crate::error::Error;
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Side, Swept};
use crate::sweep::weights::Weights;
use crate::wide::{Given, Triangle, indefinite, modify_in_memory};
use faer::{Accum, MatMut, MatRef, Par};

/// L over all processes, and the bound on its rows. The right-hand sides are whole on every process.
struct Everywhere<'a, T: Real, N: Network>(&'a Factor<T, N>);

impl<T: Real, N: Network> Triangle<T> for Everywhere<'_, T, N> {
    fn solve(&self, side: Side, mut rhs: MatMut<'_, T>) -> Result<(), Error> {
        let cyclic = self.0.cyclic();
        let mut mine = Rows::All(rhs.as_ref()).mine(&cyclic);
        self.0.solve_side(side, mine.as_mut());
        self.0.gather_rows(mine.as_ref(), rhs.as_mut());
        Ok(())
    }

    fn multiply_transposed(&self, mut rhs: MatMut<'_, T>) -> Result<(), Error> {
        let (l, net) = (self.0.rows(), self.0.net());
        let cyclic = l.cyclic;
        let mine = Rows::All(rhs.as_ref()).mine(&cyclic);
        rhs.fill(T::ZERO);
        for block in 0..cyclic.blocks() {
            let (first, column) = l.column(block);
            let of_block = cyclic.rows_of(block);
            let to = rhs.as_mut().subrows_mut(of_block.start, of_block.len());
            let from = mine.subrows(first, column.nrows());
            T::matmul(to, Accum::Add, column.transpose(), from, T::ONE, Par::Seq);
        }
        // The parts of the processes are added in their order, so that all have the same sum.
        let part = rhs.to_owned();
        rhs.fill(T::ZERO);
        for root in 0..cyclic.ranks {
            let mut theirs = part.clone();
            for j in 0..theirs.ncols() {
                net.broadcast(root, bytes_mut(theirs.col_as_slice_mut(j)));
            }
            for j in 0..theirs.ncols() {
                for i in 0..theirs.nrows() {
                    rhs[(i, j)] += theirs[(i, j)];
                }
            }
        }
        Ok(())
    }

    fn row_norm(&self) -> f64 {
        self.0.row_norm()
    }
}

impl<T: Real, N: Network> Factor<T, N> {
    /// Repeats a modification that broke down at `column` and left L as it was. If `keep`, the new L becomes the factor.
    ///
    /// # Errors
    /// `NotPositiveDefinite`, the same on all processes; then L is as it was.
    #[cold]
    pub(super) fn again(
        &mut self,
        column: usize,
        (v, weights): (MatRef<'_, T>, Weights<'_, T>),
        keep: bool,
    ) -> Result<Modification, Error> {
        let (cyclic, rank) = (self.cyclic(), v.ncols());
        let mut all = faer::Mat::zeros(cyclic.order, rank);
        self.gather_rows(v, all.as_mut());
        let weights = (0..rank).map(|r| weights.of(r)).collect();
        let given = Given { v: all, weights, start: 0, scale: 1.0 };
        if indefinite(&Everywhere(self), &given)? {
            return Err(Error::NotPositiveDefinite { column });
        }
        let mut memory = Vec::new();
        // Whether it is done, and the column of a breakdown.
        let mut words = [0, column as u64];
        if cyclic.rank == 0 && memory.try_reserve_exact(cyclic.order.saturating_mul(cyclic.order)).is_ok() {
            words[0] = 1;
        }
        self.net().broadcast(0, bytes_mut(&mut words));
        if words[0] == 0 {
            return Err(Error::NotPositiveDefinite { column });
        }
        let mut l = MatMut::from_column_major_slice_mut(&mut [], 0, 0);
        if cyclic.rank == 0 {
            memory.resize(cyclic.order * cyclic.order, T::ZERO);
            l = MatMut::from_column_major_slice_mut(&mut memory, cyclic.order, cyclic.order);
        }
        gather_l(self.net(), self.rows(), 0, l.as_mut());
        let mut report = Modification::identity().words();
        if cyclic.rank == 0 {
            match modify_in_memory(l.as_mut(), &given) {
                Ok(made) => report = made.words(),
                Err(Error::NotPositiveDefinite { column }) => (words[0], words[1]) = (0, column as u64),
                Err(_) => words[0] = 0,
            }
        }
        self.net().broadcast(0, bytes_mut(&mut words));
        if words[0] == 0 {
            return Err(Error::NotPositiveDefinite { column: words[1] as usize });
        }
        self.net().broadcast(0, bytes_mut(&mut report));
        if keep {
            let new = scatter_l(self.net(), cyclic, 0, l.as_ref());
            let pivots = all_pivots(self.net(), &new);
            self.guarded().in_place(|storage| {
                storage.replace(new, pivots);
                Ok(())
            })?;
            let row_norm = self.guarded().factor().row_norm()?;
            self.guarded().note(row_norm);
        }
        Ok(Modification::of_words(report))
    }
}
