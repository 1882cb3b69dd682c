//! The competitors: this crate, its peers, and refactorizing.

use crate::eigen::Eigen;
use crate::linpack::{Work, dchdd, dchud};
use crate::problem::{Problem, Real, factorize, memory_to_factorize};
use cholupdate::faer::diag::Diag;
use cholupdate::faer::dyn_stack::MemBuffer;
use cholupdate::faer::linalg::cholesky::llt::update::rank_r_update_clobber;
use cholupdate::faer::linalg::matmul::triangular::{BlockStructure, matmul};
use cholupdate::faer::{Accum, Mat, MatRef, Par};
use cholupdate::{Cholesky, Cpu, Engine, Error, Modification};
use nalgebra::{DMatrix, Dyn};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Team {
    One,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Update,
    Downdate,
}

impl Verb {
    pub const BOTH: [Self; 2] = [Self::Update, Self::Downdate];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Downdate => "downdate",
        }
    }

    /// The verb that reverses it.
    #[must_use]
    pub fn undone(self) -> Self {
        match self {
            Self::Update => Self::Downdate,
            Self::Downdate => Self::Update,
        }
    }

    fn sign<T: Real>(self) -> T {
        T::narrow(if self == Self::Update { 1.0 } else { -1.0 })
    }
}

/// A method to compute the new factor. It starts with the factor of A; updates and downdates by the same V alternate.
pub trait Competitor<T> {
    /// Restores inputs that `run` overwrites. Not timed.
    fn prepare(&mut self, _verb: Verb) {}
    /// The modification. Timed.
    fn run(&mut self, verb: Verb);
    /// L, as the last `run` left it.
    fn factor(&self) -> MatRef<'_, T>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Ours(Team),
    Linpack,
    Faer,
    Nalgebra,
    Eigen,
    Refactor(Team),
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::Ours(Team::One),
        Self::Ours(Team::All),
        Self::Linpack,
        Self::Faer,
        Self::Nalgebra,
        Self::Eigen,
        Self::Refactor(Team::One),
        Self::Refactor(Team::All),
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours(_) => "this crate",
            Self::Linpack => "LINPACK",
            Self::Faer => "faer",
            Self::Nalgebra => "nalgebra",
            Self::Eigen => "Eigen",
            Self::Refactor(_) => "refactor",
        }
    }

    #[must_use]
    pub fn team(self) -> Team {
        match self {
            Self::Ours(team) | Self::Refactor(team) => team,
            Self::Linpack | Self::Faer | Self::Nalgebra | Self::Eigen => Team::One,
        }
    }

    /// The work, to which predicted times are proportional.
    #[must_use]
    pub fn work(self, n: usize, k: usize) -> f64 {
        let (n, k) = (n as f64, k as f64);
        match self {
            Self::Refactor(_) => n * n * (n / 3.0 + k),
            Self::Ours(_) | Self::Faer => n * n * (k + 3.0),
            Self::Linpack | Self::Nalgebra | Self::Eigen => n * n * k,
        }
    }

    /// `None` if it is not on this machine.
    pub fn build<'a, T: Real>(
        self,
        problem: &'a Problem<T>,
        v: MatRef<'a, T>,
    ) -> Option<Box<dyn Competitor<T> + 'a>> {
        let order = problem.order();
        Some(match self {
            Self::Ours(team) => Box::new(Ours { factor: ours(problem, v, team), v }),
            Self::Linpack => Box::new(Linpack { l: problem.l.clone(), v, work: Work::new(order) }),
            Self::Faer => {
                Box::new(Faer { l: problem.l.clone(), v, w: v.to_owned(), alpha: Diag::zeros(v.ncols()) })
            }
            Self::Nalgebra => {
                let copy = |m: MatRef<'_, T>| DMatrix::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)]);
                let factor = nalgebra::Cholesky::pack_dirty(copy(problem.l.as_ref()));
                Box::new(Nalgebra { factor, v: copy(v) })
            }
            Self::Eigen => {
                let (eigen, l) = (Eigen::load()?, problem.l.clone());
                let v = v.col_iter().flat_map(|x| x.iter().copied()).collect();
                Box::new(ByEigen { eigen, l, v })
            }
            Self::Refactor(team) => {
                let par = if team == Team::One { Par::Seq } else { Par::rayon(0) };
                let memory = memory_to_factorize::<T>(order);
                Box::new(Refactor { a: problem.a().as_ref(), v, new: problem.a().clone(), par, memory })
            }
        })
    }
}

/// This crate's factor of the problem, after a first update and downdate, which allocate memory for later calls.
pub fn ours<T: Real>(problem: &Problem<T>, v: MatRef<'_, T>, team: Team) -> Cholesky<T> {
    let engine = if team == Team::One { Cpu::sequential() } else { Cpu::default() };
    let mut factor = Cholesky::from_factor_in(&problem.l, engine).expect("the problem is well posed");
    for verb in Verb::BOTH {
        modify(&mut factor, v, verb).expect("the problem is well posed");
    }
    factor
}

struct Ours<'a, T: Real> {
    factor: Cholesky<T>,
    v: MatRef<'a, T>,
}

impl<T: Real> Competitor<T> for Ours<'_, T> {
    fn run(&mut self, verb: Verb) {
        modify(&mut self.factor, self.v, verb).expect("the problem is well posed");
    }
    fn factor(&self) -> MatRef<'_, T> {
        self.factor.l()
    }
}

/// The measured call of this crate.
///
/// # Errors
/// Those of the call.
#[inline]
pub fn modify<T: Real, E: Engine<T>>(
    factor: &mut Cholesky<T, E>,
    v: MatRef<'_, T>,
    verb: Verb,
) -> Result<Modification, Error> {
    match verb {
        Verb::Update => factor.update(&v),
        Verb::Downdate => factor.downdate(&v),
    }
}

struct Linpack<'a, T> {
    l: Mat<T>,
    v: MatRef<'a, T>,
    work: Work<T>,
}

impl<T: Real> Competitor<T> for Linpack<'_, T> {
    fn run(&mut self, verb: Verb) {
        for x in self.v.col_iter() {
            let x = x.try_as_col_major().expect("V is stored by columns").as_slice();
            match verb {
                Verb::Update => dchud(self.l.as_mut(), x, &mut self.work),
                Verb::Downdate => {
                    dchdd(self.l.as_mut(), x, &mut self.work).expect("the problem is well posed");
                }
            }
        }
    }
    fn factor(&self) -> MatRef<'_, T> {
        self.l.as_ref()
    }
}

struct Faer<'a, T: Real> {
    l: Mat<T>,
    v: MatRef<'a, T>,
    w: Mat<T>,
    alpha: Diag<T>,
}

impl<T: Real> Competitor<T> for Faer<'_, T> {
    fn prepare(&mut self, verb: Verb) {
        self.w.copy_from(self.v);
        self.alpha.column_vector_mut().fill(verb.sign());
    }
    fn run(&mut self, _: Verb) {
        rank_r_update_clobber(self.l.as_mut(), self.w.as_mut(), self.alpha.as_mut())
            .expect("the problem is well posed");
    }
    fn factor(&self) -> MatRef<'_, T> {
        self.l.as_ref()
    }
}

struct Nalgebra<T: Real> {
    factor: nalgebra::Cholesky<T, Dyn>,
    v: DMatrix<T>,
}

impl<T: Real> Competitor<T> for Nalgebra<T> {
    fn run(&mut self, verb: Verb) {
        for x in self.v.column_iter() {
            self.factor.rank_one_update(&x, verb.sign());
        }
    }
    fn factor(&self) -> MatRef<'_, T> {
        let l = self.factor.l_dirty();
        MatRef::from_column_major_slice(l.as_slice(), l.nrows(), l.ncols())
    }
}

struct ByEigen<T> {
    eigen: Eigen<T>,
    l: Mat<T>,
    /// By columns, without gaps. (n × k)
    v: Vec<T>,
}

impl<T: Real> Competitor<T> for ByEigen<T> {
    fn run(&mut self, verb: Verb) {
        let n = self.l.nrows();
        let v = MatRef::from_column_major_slice(&self.v, n, self.v.len() / n);
        self.eigen.modify(&mut self.l, v, verb.sign());
    }
    fn factor(&self) -> MatRef<'_, T> {
        self.l.as_ref()
    }
}

/// A ← A ± V Vᵀ and its factor, in place of a copy of A made beforehand.
struct Refactor<'a, T> {
    a: MatRef<'a, T>,
    v: MatRef<'a, T>,
    new: Mat<T>,
    par: Par,
    memory: MemBuffer,
}

impl<T: Real> Refactor<'_, T> {
    fn add_product(&mut self, sign: T) {
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        let (v, vt) = (self.v, self.v.transpose());
        matmul(self.new.as_mut(), lower, Accum::Add, v, full, vt, full, sign, self.par);
    }
}

impl<T: Real> Competitor<T> for Refactor<'_, T> {
    fn prepare(&mut self, verb: Verb) {
        for j in 0..self.a.ncols() {
            let rows = self.a.nrows() - j;
            self.new.col_mut(j).subrows_mut(j, rows).copy_from(self.a.col(j).subrows(j, rows));
        }
        if verb == Verb::Downdate {
            self.add_product(Verb::Update.sign());
        }
    }
    fn run(&mut self, verb: Verb) {
        self.add_product(verb.sign());
        factorize(self.new.as_mut(), self.par, &mut self.memory);
    }
    fn factor(&self) -> MatRef<'_, T> {
        self.new.as_ref()
    }
}
