//! The competitors: this crate, qrupdate, nalgebra, and refactorizing.

use super::{Case, Verb};
use crate::competitors::Team;
use crate::measure::{Effort, Timing, is_right, medians, sample};
use crate::problem::{Real, factorize, memory_to_factorize};
use crate::qrupdate::{Qrupdate, Upper};
use cholupdate::faer::dyn_stack::MemBuffer;
use cholupdate::faer::{Mat, MatRef, Par};
use cholupdate::{Cholesky, Cpu};
use nalgebra::{DMatrix, DVector, Dyn};
use std::time::{Duration, Instant};

/// A method to compute the new factor. It starts with the factor of A; both verbs of the case alternate.
trait Competitor<T> {
    /// Restores inputs that `run` overwrites. Not timed.
    fn prepare(&mut self, _turn: usize) {}
    /// The first or the second verb. Timed.
    fn run(&mut self, turn: usize);
    /// L, as the last `run` left it.
    fn factor(&self) -> Mat<T>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Ours(Team),
    Qrupdate,
    Nalgebra,
    Refactor(Team),
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::Ours(Team::One),
        Self::Ours(Team::All),
        Self::Qrupdate,
        Self::Nalgebra,
        Self::Refactor(Team::One),
        Self::Refactor(Team::All),
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours(_) => "this crate",
            Self::Qrupdate => "qrupdate",
            Self::Nalgebra => "nalgebra",
            Self::Refactor(_) => "refactor",
        }
    }

    #[must_use]
    pub fn team(self) -> Team {
        match self {
            Self::Ours(team) | Self::Refactor(team) => team,
            Self::Qrupdate | Self::Nalgebra => Team::One,
        }
    }

    /// The work, to which predicted times are proportional.
    #[must_use]
    pub fn work<T: Real>(self, case: &Case<'_, T>) -> f64 {
        let order = case.problem.order() as f64;
        let each = |verb: Verb| {
            let (flops, moved) = case.cost(verb);
            match self {
                Self::Ours(_) => flops + moved,
                Self::Qrupdate => flops + case.rank as f64 * moved,
                // It copies the whole factor for each row.
                Self::Nalgebra => flops + case.rank as f64 * order * order,
                Self::Refactor(_) => order.powi(3) / 3.0,
            }
        };
        case.verbs.map(each).iter().sum()
    }

    fn build<'a, T: Real>(
        self,
        case: &'a Case<'a, T>,
        library: Option<&'a Qrupdate<T>>,
    ) -> Option<Box<dyn Competitor<T> + 'a>> {
        let l = case.problem.l.as_ref();
        Some(match self {
            Self::Ours(team) => {
                let engine = if team == Team::One { Cpu::sequential() } else { Cpu::default() };
                let factor = Cholesky::from_factor_in(&l, engine).expect("a factor");
                let mut ours = Ours { factor, case, indices: (case.at..case.at + case.rank).collect() };
                // Allocates memory for later calls.
                (0..2).for_each(|turn| ours.run(turn));
                Box::new(ours)
            }
            Self::Qrupdate => {
                let (given, library) = (case.one_at_a_time(), library?);
                Box::new(ByQrupdate { library, factor: Upper::new(l), case, columns: given.clone(), given })
            }
            Self::Nalgebra if case.verbs[0] == Verb::Remove => {
                let copy = DMatrix::from_fn(l.nrows(), l.ncols(), |i, j| l[(i, j)]);
                let given = case.one_at_a_time().into_iter().map(DVector::from_vec).collect();
                let factor = nalgebra::Cholesky::pack_dirty(copy);
                Box::new(ByNalgebra { factor, case, given, columns: Vec::new() })
            }
            // It has no shift.
            Self::Nalgebra => return None,
            Self::Refactor(team) => {
                let par = if team == Team::One { Par::Seq } else { Par::rayon(0) };
                let memory = memory_to_factorize::<T>(l.nrows());
                Box::new(Refactor { case, new: Mat::zeros(l.nrows(), l.nrows()), order: 0, par, memory })
            }
        })
    }

    /// Times both verbs alternately: the second restores the input of the first. `None`: it has no such verb, or is not
    /// installed.
    #[must_use]
    pub fn measure<T: Real>(
        self,
        case: &Case<'_, T>,
        library: Option<&Qrupdate<T>>,
        effort: Effort,
        timer: Duration,
    ) -> Option<[Timing; 2]> {
        let mut competitor = self.build(case, library)?;
        let timed = |competitor: &mut dyn Competitor<T>, turn| {
            competitor.prepare(turn);
            let start = Instant::now();
            competitor.run(turn);
            start.elapsed().saturating_sub(timer).as_secs_f64()
        };
        let (mut first, mut residuals) = ([0.0; 2], [0.0; 2]);
        for turn in 0..2 {
            first[turn] = timed(&mut *competitor, turn);
            residuals[turn] = case.residual(competitor.factor().as_ref(), turn);
        }
        let samples = sample(effort, first, |turn| timed(&mut *competitor, turn));
        let last = case.residual(competitor.factor().as_ref(), 1);
        let medians = medians(&samples);
        Some(core::array::from_fn(|turn| Timing {
            seconds: medians[turn],
            samples: samples.len(),
            residual: residuals[turn],
            right: is_right::<T>(residuals, last, samples.len()),
        }))
    }
}

struct Ours<'a, T: Real> {
    factor: Cholesky<T>,
    case: &'a Case<'a, T>,
    indices: Vec<usize>,
}

impl<T: Real> Competitor<T> for Ours<'_, T> {
    fn run(&mut self, turn: usize) {
        let Case { columns, at, to, rank, .. } = self.case;
        let report = match self.case.verbs[turn] {
            Verb::Remove => self.factor.remove(&self.indices),
            Verb::Insert => self.factor.insert(*at, columns),
            Verb::Append => self.factor.append(&columns.subrows(0, *at), &columns.subrows(*at, *rank)),
            Verb::Forwards => self.factor.shift(*at, *to),
            Verb::Backwards => self.factor.shift(*to, *at),
        };
        report.expect("the problem is well posed");
    }
    fn factor(&self) -> Mat<T> {
        self.factor.l().to_owned()
    }
}

struct ByQrupdate<'a, T: Real> {
    library: &'a Qrupdate<T>,
    factor: Upper<T>,
    case: &'a Case<'a, T>,
    given: Vec<Vec<T>>,
    /// Copies, which the routine overwrites.
    columns: Vec<Vec<T>>,
}

impl<T: Real> Competitor<T> for ByQrupdate<'_, T> {
    fn prepare(&mut self, _: usize) {
        self.columns.clone_from(&self.given);
    }
    fn run(&mut self, turn: usize) {
        let Case { at, to, rank, .. } = *self.case;
        match self.case.verbs[turn] {
            Verb::Remove => (0..rank).rev().for_each(|j| self.factor.remove(self.library, at + j)),
            Verb::Insert | Verb::Append => {
                for (j, x) in self.columns.iter_mut().enumerate() {
                    self.factor.insert(self.library, at + j, x);
                }
            }
            Verb::Forwards => self.factor.shift(self.library, at, to),
            Verb::Backwards => self.factor.shift(self.library, to, at),
        }
    }
    fn factor(&self) -> Mat<T> {
        self.factor.l()
    }
}

struct ByNalgebra<'a, T: Real> {
    factor: nalgebra::Cholesky<T, Dyn>,
    case: &'a Case<'a, T>,
    given: Vec<DVector<T>>,
    /// Copies, which the call consumes.
    columns: Vec<DVector<T>>,
}

impl<T: Real> Competitor<T> for ByNalgebra<'_, T> {
    fn prepare(&mut self, _: usize) {
        self.columns.clone_from(&self.given);
    }
    fn run(&mut self, turn: usize) {
        let Case { at, rank, .. } = *self.case;
        match self.case.verbs[turn] {
            Verb::Remove => (0..rank).rev().for_each(|j| self.factor = self.factor.remove_column(at + j)),
            _ => {
                for (j, x) in self.columns.drain(..).enumerate() {
                    self.factor = self.factor.insert_column(at + j, x);
                }
            }
        }
    }
    fn factor(&self) -> Mat<T> {
        let l = self.factor.l_dirty();
        MatRef::from_column_major_slice(l.as_slice(), l.nrows(), l.ncols()).to_owned()
    }
}

/// The factor of A', in place of an A' stored beforehand.
struct Refactor<'a, T: Real> {
    case: &'a Case<'a, T>,
    new: Mat<T>,
    order: usize,
    par: Par,
    memory: MemBuffer,
}

impl<T: Real> Competitor<T> for Refactor<'_, T> {
    fn prepare(&mut self, turn: usize) {
        let a = self.case.problem.a();
        let all: Vec<usize>;
        let rows = if turn == 0 {
            &self.case.rows
        } else {
            all = (0..a.nrows()).collect();
            &all
        };
        self.order = rows.len();
        for (j, &column) in rows.iter().enumerate() {
            let new = self.new.col_mut(j).subrows_mut(j, rows.len() - j);
            for (x, &row) in new.iter_mut().zip(&rows[j..]) {
                *x = a[(row.max(column), row.min(column))];
            }
        }
    }
    fn run(&mut self, _: usize) {
        let new = self.new.as_mut().submatrix_mut(0, 0, self.order, self.order);
        factorize(new, self.par, &mut self.memory);
    }
    fn factor(&self) -> Mat<T> {
        self.new.submatrix(0, 0, self.order, self.order).to_owned()
    }
}
