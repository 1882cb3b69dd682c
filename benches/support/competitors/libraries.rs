//! The peers that are called in this process, with the restrictions of each.

use crate::case::{Case, Verb};
use crate::linpack::{Work, dchdd, dchud};
use crate::measure::Competitor;
use crate::peers::eigen::Eigen;
use crate::peers::qrupdate::{Qrupdate, Upper};
use crate::scalar::Real;
use cholupdate::faer::diag::Diag;
use cholupdate::faer::linalg::cholesky::llt::update::rank_r_update_clobber;
use cholupdate::faer::{Mat, MatRef};
use nalgebra::{DMatrix, DVector, Dyn};

/// `dchud` and `dchdd`, a call for each column of V.
pub struct Linpack<'a, T> {
    case: &'a Case<'a, T>,
    l: Mat<T>,
    work: Work<T>,
}

impl<'a, T: Real> Linpack<'a, T> {
    #[must_use]
    pub fn new(case: &'a Case<'a, T>) -> Self {
        Self { case, l: case.problem.l.clone(), work: Work::new(case.problem.order()) }
    }
}

impl<T: Real> Competitor for Linpack<'_, T> {
    fn run(&mut self, turn: usize) {
        for x in self.case.columns.col_iter() {
            let x = x.try_as_col_major().expect("V is stored by columns").as_slice();
            match self.case.verbs[turn] {
                Verb::Downdate => {
                    dchdd(self.l.as_mut(), x, &mut self.work).expect("the problem is well posed");
                }
                _ => dchud(self.l.as_mut(), x, &mut self.work),
            }
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        self.case.residual(self.l.as_ref(), turn)
    }
}

/// `rank_r_update_clobber`, which overwrites V.
pub struct Faer<'a, T: Real> {
    case: &'a Case<'a, T>,
    l: Mat<T>,
    w: Mat<T>,
    alpha: Diag<T>,
}

impl<'a, T: Real> Faer<'a, T> {
    #[must_use]
    pub fn new(case: &'a Case<'a, T>) -> Self {
        Self { case, l: case.problem.l.clone(), w: case.columns.clone(), alpha: Diag::zeros(case.rank) }
    }
}

impl<T: Real> Competitor for Faer<'_, T> {
    fn prepare(&mut self, turn: usize) {
        self.w.copy_from(&self.case.columns);
        self.alpha.column_vector_mut().fill(self.case.verbs[turn].sign());
    }
    fn run(&mut self, _: usize) {
        rank_r_update_clobber(self.l.as_mut(), self.w.as_mut(), self.alpha.as_mut())
            .expect("the problem is well posed");
    }
    fn residual(&self, turn: usize) -> f64 {
        self.case.residual(self.l.as_ref(), turn)
    }
}

/// `rank_one_update` for each column of V; `remove_column` and `insert_column` for each row.
pub struct Nalgebra<'a, T: Real> {
    case: &'a Case<'a, T>,
    factor: nalgebra::Cholesky<T, Dyn>,
    given: Vec<DVector<T>>,
    /// Copies, which an insertion consumes.
    columns: Vec<DVector<T>>,
}

impl<'a, T: Real> Nalgebra<'a, T> {
    /// `None` for a shift, which it does not have.
    #[must_use]
    pub fn new(case: &'a Case<'a, T>) -> Option<Self> {
        if case.verbs[0] == Verb::Forwards {
            return None;
        }
        let l = &case.problem.l;
        let factor = nalgebra::Cholesky::pack_dirty(DMatrix::from_fn(l.nrows(), l.ncols(), |i, j| l[(i, j)]));
        let given = case.one_at_a_time().into_iter().map(DVector::from_vec).collect();
        Some(Self { case, factor, given, columns: Vec::new() })
    }
}

impl<T: Real> Competitor for Nalgebra<'_, T> {
    fn prepare(&mut self, _: usize) {
        if !self.case.modifies() {
            self.columns.clone_from(&self.given);
        }
    }
    fn run(&mut self, turn: usize) {
        let Case { at, rank, verbs, .. } = *self.case;
        match verbs[turn] {
            Verb::Update | Verb::Downdate => {
                self.given.iter().for_each(|x| self.factor.rank_one_update(x, verbs[turn].sign()));
            }
            Verb::Remove => (0..rank).rev().for_each(|j| self.factor = self.factor.remove_column(at + j)),
            _ => {
                for (j, x) in self.columns.drain(..).enumerate() {
                    self.factor = self.factor.insert_column(at + j, x);
                }
            }
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        let l = self.factor.l_dirty();
        self.case.residual(MatRef::from_column_major_slice(l.as_slice(), l.nrows(), l.ncols()), turn)
    }
}

/// The update behind `LLT::rankUpdate`, a call for each column of V.
pub struct ByEigen<'a, T> {
    case: &'a Case<'a, T>,
    eigen: Eigen<T>,
    l: Mat<T>,
    /// By columns, without gaps. (n × k)
    v: Vec<T>,
}

impl<'a, T: Real> ByEigen<'a, T> {
    /// `None` if it is not on this machine.
    #[must_use]
    pub fn new(case: &'a Case<'a, T>) -> Option<Self> {
        Some(Self {
            case,
            eigen: Eigen::load()?,
            l: case.problem.l.clone(),
            v: case.one_at_a_time().concat(),
        })
    }
}

impl<T: Real> Competitor for ByEigen<'_, T> {
    fn run(&mut self, turn: usize) {
        let n = self.l.nrows();
        let v = MatRef::from_column_major_slice(&self.v, n, self.v.len() / n);
        self.eigen.modify(&mut self.l, v, self.case.verbs[turn].sign());
    }
    fn residual(&self, turn: usize) -> f64 {
        self.case.residual(self.l.as_ref(), turn)
    }
}

/// A call for each row.
pub struct ByQrupdate<'a, T> {
    case: &'a Case<'a, T>,
    library: Qrupdate<T>,
    factor: Upper<T>,
    given: Vec<Vec<T>>,
    /// Copies, which the routine overwrites.
    columns: Vec<Vec<T>>,
}

impl<'a, T: Real> ByQrupdate<'a, T> {
    /// `None` if it is not on this machine.
    #[must_use]
    pub fn new(case: &'a Case<'a, T>) -> Option<Self> {
        let (given, library) = (case.one_at_a_time(), Qrupdate::load().ok()?);
        let factor = Upper::new(case.problem.l.as_ref());
        Some(Self { case, library, factor, columns: given.clone(), given })
    }
}

impl<T: Real> Competitor for ByQrupdate<'_, T> {
    fn prepare(&mut self, _: usize) {
        self.columns.clone_from(&self.given);
    }
    fn run(&mut self, turn: usize) {
        let Case { at, to, rank, verbs, .. } = *self.case;
        match verbs[turn] {
            Verb::Remove => (0..rank).rev().for_each(|j| self.factor.remove(&self.library, at + j)),
            Verb::Forwards => self.factor.shift(&self.library, at, to),
            Verb::Backwards => self.factor.shift(&self.library, to, at),
            _ => {
                for (j, x) in self.columns.iter_mut().enumerate() {
                    self.factor.insert(&self.library, at + j, x);
                }
            }
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        self.case.residual(self.factor.l().as_ref(), turn)
    }
}
