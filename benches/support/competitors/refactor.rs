//! Refactorizing: forming A' and its factor, by faer.

use crate::case::{Case, Verb};
use crate::measure::Competitor;
use crate::problem::{factorize, memory_to_factorize};
use crate::scalar::Real;
use cholupdate::faer::dyn_stack::MemBuffer;
use cholupdate::faer::linalg::matmul::triangular::{BlockStructure, matmul};
use cholupdate::faer::{Accum, Mat, Par};

/// A ← A ± V Vᵀ and its factor, in place of a copy of A made beforehand; or the factor of an A' whose rows and columns are in
/// place.
pub struct Refactor<'a, T: Real> {
    case: &'a Case<'a, T>,
    new: Mat<T>,
    order: usize,
    par: Par,
    memory: MemBuffer,
}

impl<'a, T: Real> Refactor<'a, T> {
    #[must_use]
    pub fn new(case: &'a Case<'a, T>, par: Par) -> Self {
        let order = case.problem.order();
        Self { case, new: Mat::zeros(order, order), order, par, memory: memory_to_factorize::<T>(order) }
    }

    fn add_product(&mut self, sign: T) {
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        let (v, vt) = (&self.case.columns, self.case.columns.transpose());
        matmul(self.new.as_mut(), lower, Accum::Add, v, full, vt, full, sign, self.par);
    }
}

impl<T: Real> Competitor for Refactor<'_, T> {
    fn prepare(&mut self, turn: usize) {
        let (a, rows) = (self.case.problem.a(), self.case.rows_after(turn));
        self.order = rows.len();
        for (j, &column) in rows.iter().enumerate() {
            let new = self.new.col_mut(j).subrows_mut(j, rows.len() - j);
            for (x, &row) in new.iter_mut().zip(&rows[j..]) {
                *x = a[(row.max(column), row.min(column))];
            }
        }
        if self.case.verbs[turn] == Verb::Downdate {
            self.add_product(T::ONE);
        }
    }
    fn run(&mut self, turn: usize) {
        if self.case.modifies() {
            self.add_product(self.case.verbs[turn].sign());
        }
        let new = self.new.as_mut().submatrix_mut(0, 0, self.order, self.order);
        factorize(new, self.par, &mut self.memory);
    }
    fn residual(&self, turn: usize) -> f64 {
        self.case.residual(self.new.submatrix(0, 0, self.order, self.order), turn)
    }
}
