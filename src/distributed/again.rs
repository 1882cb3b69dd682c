//! Repeats a modification that broke down in twice the precision, as the other engines do: solves with the distributed L first refuse
//! what is certainly indefinite; what remains is repeated by process 0, from a copy of L.
//!
//! Process 0 alone decides: products of other processors may be rounded in another order. The others do what it asks for.

use super::checks::all_pivots;
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
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};

/// What process 0 asks the others for, with right-hand sides that it has.
#[derive(Clone, Copy)]
enum Request {
    Solve(Side),
    MultiplyTransposed,
}

impl Request {
    const ALL: [Self; 3] = [Self::Solve(Side::L), Self::Solve(Side::Transpose), Self::MultiplyTransposed];
    /// The word that ends the requests.
    const NO_MORE: u64 = 3;

    fn word(self) -> u64 {
        match self {
            Self::Solve(Side::L) => 0,
            Self::Solve(Side::Transpose) => 1,
            Self::MultiplyTransposed => 2,
        }
    }
}

/// L over all processes, for process 0.
struct Everywhere<'a, T: Real, N: Network>(&'a Factor<T, N>);

impl<T: Real, N: Network> Everywhere<'_, T, N> {
    fn ask(&self, request: Request, mut rhs: MatMut<'_, T>) {
        let mut words = [request.word(), rhs.ncols() as u64];
        self.0.net().broadcast(0, bytes_mut(&mut words));
        let mut whole = rhs.to_owned();
        self.0.answer(request, &mut whole);
        rhs.copy_from(&whole);
    }
}

impl<T: Real, N: Network> Triangle<T> for Everywhere<'_, T, N> {
    fn solve(&self, side: Side, rhs: MatMut<'_, T>) -> Result<(), Error> {
        self.ask(Request::Solve(side), rhs);
        Ok(())
    }

    fn multiply_transposed(&self, rhs: MatMut<'_, T>) -> Result<(), Error> {
        self.ask(Request::MultiplyTransposed, rhs);
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
        let mut all = Mat::zeros(cyclic.order, rank);
        self.gather_rows(v, all.as_mut());
        let weights = (0..rank).map(|r| weights.of(r)).collect();
        let given = Given { v: all, weights, start: 0, scale: 1.0 };
        let mut memory = Vec::new();
        // Whether it is repeated, and the column of a breakdown.
        let mut words = [0, column as u64];
        if cyclic.rank == 0 {
            let certain = indefinite(&Everywhere(self), &given);
            self.net().broadcast(0, bytes_mut(&mut [Request::NO_MORE, 0]));
            let entries = cyclic.order.saturating_mul(cyclic.order);
            let possible = matches!(certain, Ok(false)) && memory.try_reserve_exact(entries).is_ok();
            words[0] = u64::from(possible);
        } else {
            self.answer_all();
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
                Err(Error::NotPositiveDefinite { column }) => words = [0, column as u64],
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
            self.guarded.in_place(|storage| {
                storage.replace(new, pivots);
                Ok(())
            })?;
            let row_norm = self.guarded.factor().row_norm()?;
            self.guarded.note(row_norm);
        }
        Ok(Modification::of_words(report))
    }

    /// Does what process 0 asks for, until it asks for no more.
    fn answer_all(&self) {
        loop {
            let mut words = [0, 0];
            self.net().broadcast(0, bytes_mut(&mut words));
            let Some(&request) = Request::ALL.get(words[0] as usize) else { return };
            self.answer(request, &mut Mat::zeros(self.cyclic().order, words[1] as usize));
        }
    }

    /// Applies L to right-hand sides of process 0. All processes have the result. (n × m)
    fn answer(&self, request: Request, rhs: &mut Mat<T>) {
        for j in 0..rhs.ncols() {
            self.net().broadcast(0, bytes_mut(rhs.col_as_slice_mut(j)));
        }
        let mut mine = Rows::All(rhs.as_ref()).mine(&self.cyclic());
        match request {
            Request::Solve(side) => {
                self.solve_side(side, mine.as_mut());
                self.gather_rows(mine.as_ref(), rhs.as_mut());
            }
            Request::MultiplyTransposed => self.multiply_transposed(mine.as_ref(), rhs.as_mut()),
        }
    }

    /// `to` ← Lᵀ B. (local rows × m, n × m)
    fn multiply_transposed(&self, mine: MatRef<'_, T>, mut to: MatMut<'_, T>) {
        let (l, net) = (self.rows(), self.net());
        let cyclic = l.cyclic;
        to.fill(T::ZERO);
        for block in 0..cyclic.blocks() {
            let ((first, column), of_block) = (l.column(block), cyclic.rows_of(block));
            let to = to.as_mut().subrows_mut(of_block.start, of_block.len());
            let from = mine.subrows(first, column.nrows());
            T::matmul(to, Accum::Add, (column.transpose(), Conj::No), from, T::ONE, Par::Seq);
        }
        // The parts of the processes are added in their order, so that all have the same sum.
        let part = to.to_owned();
        to.fill(T::ZERO);
        for root in 0..cyclic.ranks {
            let mut theirs = part.clone();
            for j in 0..theirs.ncols() {
                net.broadcast(root, bytes_mut(theirs.col_as_slice_mut(j)));
            }
            to += &theirs;
        }
    }
}
