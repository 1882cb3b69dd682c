//! This crate, on any of its engines.

use crate::case::{Case, Verb};
use crate::limits::Team;
use crate::measure::Competitor;
use crate::problem::Problem;
use crate::scalar::Real;
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Cholesky, Cpu, Engine, Error, Modification};
use std::cell::RefCell;
use std::rc::Rc;

/// The largest order at which L is copied for the check of a result. Of larger ones the engine itself does the products, which
/// takes seconds less.
const COPIED: usize = 10_000;

/// A factor, which several competitors may modify in turns, and how a verb is called.
pub struct Ours<'a, T: Real, E: Engine<T>, F> {
    factor: Rc<RefCell<Cholesky<T, E>>>,
    case: &'a Case<'a, T>,
    call: F,
}

impl<'a, T, E, F> Ours<'a, T, E, F>
where
    T: Real,
    E: Engine<T>,
    F: FnMut(&mut Cholesky<T, E>, usize),
{
    /// After a first cycle, which allocates memory for later calls. `call`: the first or the second verb of the case.
    pub fn new(factor: &Rc<RefCell<Cholesky<T, E>>>, case: &'a Case<'a, T>, mut call: F) -> Self {
        (0..2).for_each(|turn| call(&mut factor.borrow_mut(), turn));
        Self { factor: Rc::clone(factor), case, call }
    }
}

impl<T, E, F> Competitor for Ours<'_, T, E, F>
where
    T: Real,
    E: Engine<T>,
    F: FnMut(&mut Cholesky<T, E>, usize),
{
    fn run(&mut self, turn: usize) {
        (self.call)(&mut self.factor.borrow_mut(), turn);
    }
    fn residual(&self, turn: usize) -> f64 {
        let factor = self.factor.borrow();
        if factor.order() > COPIED {
            let product = |x: &Mat<T>| factor.multiply(x).expect("a product");
            return self.case.residual_by(product, turn);
        }
        self.case.residual(factor.to_factor().expect("L").as_ref(), turn)
    }
}

/// The factor of a problem on an engine.
///
/// # Panics
/// When the engine refuses it.
pub fn factor<T: Real, E: Engine<T>>(problem: &Problem<T>, engine: E) -> Rc<RefCell<Cholesky<T, E>>> {
    let factor = Cholesky::from_factor_in(&problem.l, engine).expect("the problem is well posed");
    Rc::new(RefCell::new(factor))
}

/// The CPU engine.
#[must_use]
pub fn cpu(team: Team) -> Cpu {
    if team == Team::One { Cpu::sequential() } else { Cpu::default() }
}

/// This crate with the operands of a case in host memory.
pub fn from_host<'a, T: Real, E: Engine<T>>(
    factor: &Rc<RefCell<Cholesky<T, E>>>,
    case: &'a Case<'a, T>,
) -> Ours<'a, T, E, impl FnMut(&mut Cholesky<T, E>, usize) + 'a> {
    let indices: Vec<usize> = (case.at..case.at + case.rank).collect();
    let call = move |factor: &mut Cholesky<T, E>, turn: usize| {
        let Case { columns, at, to, rank, .. } = case;
        let report = match case.verbs[turn] {
            Verb::Update | Verb::Downdate => modify(factor, columns.as_ref(), case.verbs[turn]),
            Verb::Remove => factor.remove(&indices),
            Verb::Insert => factor.insert(*at, columns),
            Verb::Append => factor.append(columns.subrows(0, *at), columns.subrows(*at, *rank)),
            Verb::Forwards => factor.shift(*at, *to),
            Verb::Backwards => factor.shift(*to, *at),
        };
        report.expect("the problem is well posed");
    };
    Ours::new(factor, case, call)
}

/// The measured call of a modification.
///
/// # Errors
/// Those of the call.
#[inline]
pub fn modify<T: Real, E: Engine<T>>(
    factor: &mut Cholesky<T, E>,
    v: MatRef<'_, T>,
    verb: Verb,
) -> Result<Modification, Error> {
    if verb == Verb::Downdate { factor.downdate(v) } else { factor.update(v) }
}
