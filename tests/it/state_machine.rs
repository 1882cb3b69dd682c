//! All verbs in any order, one after the other on one factor, compared with a dense model of A: tests the state that verbs
//! leave for each other.
//!
//! A step that would make the model nearly singular is skipped. Steps that must fail are interspersed; they leave every bit
//! unchanged.

use crate::support::contract::Observed;
use crate::support::engines::{sized, steps};
use crate::support::model::{Model, narrow, rounded};
use crate::support::problem::rng;
use crate::support::real::{Real, bits};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Engine, Error, Modification};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// The largest number of rows: more than a panel of every engine.
const ORDER: usize = 80;
/// The largest number of columns of a modification, and of rows inserted or removed at once.
const RANK: usize = 6;
/// The largest number of steps in a sequence.
const LENGTH: usize = 40;

#[derive(Clone, Copy, Debug)]
enum Verb {
    Update,
    Downdate,
    Modify,
    Append,
    Insert,
    Remove,
    Replace,
    Shift,
    Permute,
    Reserve,
    /// Must fail: a downdate, and inserted rows, whose result is not positive definite.
    TakeTooMuch,
    InsertTooLittle,
    /// Must fail: an argument of a wrong shape or place.
    Misfit,
}

const VERBS: [Verb; 13] = [
    Verb::Update,
    Verb::Downdate,
    Verb::Modify,
    Verb::Append,
    Verb::Insert,
    Verb::Remove,
    Verb::Replace,
    Verb::Shift,
    Verb::Permute,
    Verb::Reserve,
    Verb::TakeTooMuch,
    Verb::InsertTooLittle,
    Verb::Misfit,
];

#[derive(Clone, Debug)]
struct Step {
    verb: Verb,
    rank: usize,
    /// The place, among those that exist then.
    at: Index,
    to: Index,
    seed: u64,
}

fn step() -> impl Strategy<Value = Step> {
    let verb = prop::sample::select(&VERBS[..]);
    (verb, 0..=RANK, any::<Index>(), any::<Index>(), any::<u64>())
        .prop_map(|(verb, rank, at, to, seed)| Step { verb, rank, at, to, seed })
}

on_every_engine!(any_sequence_of_verbs_makes_the_same_as_the_model);

fn any_sequence_of_verbs_makes_the_same_as_the_model<T: Real, E: Engine<T> + Clone>(engine: &E) {
    // A few begin near a panel of 64 columns, which the others do not reach.
    let orders = prop_oneof![4 => 0..=24usize, 1 => 52..=72usize];
    let sequences = (orders, any::<u64>(), prop::collection::vec(step(), 0..=LENGTH));
    let config = ProptestConfig {
        cases: steps::<E>(sized(500, 20)).max(1) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let observed = RefCell::new(Observed::recorded(60.0));
    let (done, left_out) = (Cell::new(0), Cell::new(0));
    let outcome = TestRunner::new(config).run(&sequences, |(n, seed, steps)| {
        let mut model = Model::new::<T>(n, &mut rng(seed));
        let mut factor = Cholesky::new_in(&narrow::<T>(&model.a), engine.clone()).unwrap();
        for step in &steps {
            let counter = if take(&mut factor, &mut model, step) { &done } else { &left_out };
            counter.set(counter.get() + 1);
            // The contract alone would accept a loss of many digits after many steps.
            let error = model.error(l(&factor).as_ref());
            observed.borrow_mut().hold::<T>(error, (model.units as usize, 0), step);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{}: {error}", std::any::type_name::<T>()));
    assert!(done.get() > left_out.get(), "{} steps, and {} left out", done.get(), left_out.get());
}

fn l<T: Real, E: Engine<T>>(factor: &Cholesky<T, E>) -> Mat<T> {
    factor.to_factor().unwrap()
}

/// Applies a step to both. False: it was skipped.
fn take<T: Real, E: Engine<T>>(factor: &mut Cholesky<T, E>, model: &mut Model, step: &Step) -> bool {
    let before = bits(l(factor).as_ref());
    let unchanged = |factor: &Cholesky<T, E>| bits(l(factor).as_ref()) == before;
    let mut random = rng(step.seed);
    let next = match step.verb {
        Verb::Update | Verb::Downdate | Verb::Modify => modify(factor, model, step, &mut random),
        Verb::Append | Verb::Insert | Verb::Replace => enter(factor, model, step, &mut random),
        Verb::Remove | Verb::Shift | Verb::Permute => Some(rearrange(factor, model, step, &mut random)),
        Verb::Reserve => {
            let additional = step.at.index(3 * ORDER);
            factor.reserve(additional).unwrap();
            assert!(factor.capacity() >= factor.order() + additional);
            assert!(unchanged(factor), "room is made, and L is another");
            return true;
        }
        Verb::TakeTooMuch | Verb::InsertTooLittle | Verb::Misfit => {
            let refused = refuse(factor, model, step, &mut random);
            assert_eq!(factor.order(), model.order());
            assert!(unchanged(factor), "{step:?} is refused, and L is another");
            return refused;
        }
    };
    let Some((next, report)) = next else { return false };
    assert!(report.min_pivot_ratio > 0.0, "{report:?}");
    *model = next;
    true
}

fn modify<T: Real, E: Engine<T>>(
    factor: &mut Cholesky<T, E>,
    model: &Model,
    step: &Step,
    random: &mut StdRng,
) -> Option<(Model, Modification)> {
    let v = match step.verb {
        Verb::Update => model.plus(step.rank, random),
        _ => model.minus(0.6, step.rank, random),
    };
    let v = rounded::<T>(&v);
    let weights: Vec<f64> = match step.verb {
        Verb::Update => vec![1.0; step.rank],
        Verb::Downdate => vec![-1.0; step.rank],
        _ => (0..step.rank).map(|_| T::of(random.random_range(-1.0..1.0)).f64()).collect(),
    };
    let next = model.modified(&v, &weights)?;
    let v = narrow::<T>(&v);
    let report = match step.verb {
        Verb::Update => factor.update(&v),
        Verb::Downdate => factor.downdate(&v),
        _ => factor.modify(&v, &weights.into_iter().map(T::of).collect::<Vec<_>>()),
    };
    Some((next, report.unwrap()))
}

/// Where rows are inserted, and which rows they replace.
fn replaced(model: &Model, step: &Step) -> Range<usize> {
    let n = model.order();
    let (at, count) = match step.verb {
        Verb::Append => (n, 0),
        Verb::Replace => (step.at.index(n - step.rank.min(n) + 1), step.rank.min(n)),
        _ => (step.at.index(n + 1), 0),
    };
    at..at + count
}

fn enter<T: Real, E: Engine<T>>(
    factor: &mut Cholesky<T, E>,
    model: &Model,
    step: &Step,
    random: &mut StdRng,
) -> Option<(Model, Modification)> {
    let (n, places) = (model.order(), replaced(model, step));
    let rank = if matches!(step.verb, Verb::Replace) { places.len() } else { step.rank };
    if n + rank - places.len() > ORDER {
        return None;
    }
    let columns = rounded::<T>(&model.entering(&places, rank, 0.5, random));
    let next = model.entered(&places, &columns)?;
    let (at, columns) = (places.start, narrow::<T>(&columns));
    let report = match step.verb {
        Verb::Append => factor.append(columns.subrows(0, n), columns.subrows(n, rank)),
        Verb::Insert => factor.insert(at, &columns),
        _ => factor.replace(at, &columns),
    };
    Some((next, report.unwrap()))
}

/// Steps that cannot break down.
fn rearrange<T: Real, E: Engine<T>>(
    factor: &mut Cholesky<T, E>,
    model: &Model,
    step: &Step,
    random: &mut StdRng,
) -> (Model, Modification) {
    let n = model.order();
    let mut rows: Vec<usize> = (0..n).collect();
    let (rank, report) = match step.verb {
        Verb::Shift if n > 0 => {
            let (from, to) = (step.at.index(n), step.to.index(n));
            let row = rows.remove(from);
            rows.insert(to, row);
            (1, factor.shift(from, to))
        }
        Verb::Permute => {
            rows.shuffle(random);
            (n, factor.permute(&rows))
        }
        _ => {
            rows.shuffle(random);
            let removed = rows.split_off(n - step.rank.min(n));
            rows.sort_unstable();
            (removed.len(), factor.remove(&removed))
        }
    };
    (model.rows(&rows, rank), report.unwrap())
}

/// A verb that must fail. False: it does not apply to this factor.
fn refuse<T: Real, E: Engine<T>>(
    factor: &mut Cholesky<T, E>,
    model: &Model,
    step: &Step,
    random: &mut StdRng,
) -> bool {
    let (n, rank) = (model.order(), step.rank.max(1));
    match step.verb {
        Verb::TakeTooMuch if n > 0 => {
            let v = narrow::<T>(&model.minus(1.5 * (rank as f64).sqrt(), rank, random));
            assert!(!factor.can_downdate(&v).unwrap());
            let refused = factor.downdate(&v);
            assert!(
                matches!(refused, Err(Error::NotPositiveDefinite { column }) if column < n),
                "{refused:?}"
            );
        }
        Verb::InsertTooLittle => {
            let left = if step.seed.is_multiple_of(2) { 0.0 } else { -0.5 };
            let at = step.at.index(n + 1);
            let columns = narrow::<T>(&model.entering(&(at..at), rank, left, random));
            let wanted = Error::NotPositiveDefinite { column: at + rank - 1 };
            assert_eq!(factor.insert(at, &columns).unwrap_err(), wanted);
            let at = step.at.index(n - rank.min(n) + 1);
            if rank <= n {
                let columns = narrow::<T>(&model.entering(&(at..at + rank), rank, left, random));
                let wanted = Error::NotPositiveDefinite { column: at + rank - 1 };
                assert_eq!(factor.replace(at, &columns).unwrap_err(), wanted);
            }
            let columns = narrow::<T>(&model.entering(&(n..n), rank, left, random));
            let refused = factor.append(columns.subrows(0, n), columns.subrows(n, rank)).unwrap_err();
            assert_eq!(refused, Error::NotPositiveDefinite { column: n + rank - 1 });
        }
        Verb::Misfit => misfit(factor, n, rank, step.seed),
        _ => return false,
    }
    true
}

/// Arguments that do not fit a factor of order n, one verb a step.
fn misfit<T: Real, E: Engine<T>>(factor: &mut Cholesky<T, E>, n: usize, rank: usize, seed: u64) {
    let zeros = |rows: usize, columns: usize| Mat::<T>::zeros(rows, columns);
    let mut with_nan = Mat::<T>::identity(n + rank, rank);
    with_nan[(n + rank - 1, 0)] = T::of(f64::NAN);
    let all: Vec<usize> = (0..n).collect();
    type Fits = fn(&Error) -> bool;
    let shape: Fits = |error| matches!(error, Error::Shape { .. });
    let index: Fits = |error| matches!(error, Error::Index { .. });
    let not_finite: Fits = |error| matches!(error, Error::NonFinite { .. });
    let (outcome, fits) = match seed % 12 {
        0 => (factor.update(&zeros(n + 1, rank)), shape),
        1 => (factor.modify(&zeros(n, rank), &vec![T::ONE; rank + 1]), shape),
        2 => (factor.downdate(with_nan.subrows(rank, n)), if n > 0 { not_finite } else { return }),
        3 => (factor.insert(n + 1, &zeros(n + rank, rank)), index),
        4 => (factor.insert(0, &zeros(n, rank)), shape),
        5 => (factor.insert(n, &with_nan), not_finite),
        6 => (factor.append(&zeros(n + 1, rank), &zeros(rank, rank)), shape),
        7 => (factor.append(&zeros(n, rank), &zeros(rank, rank + 1)), shape),
        8 => (factor.replace(n, &zeros(n, rank)), if rank <= n { index } else { shape }),
        9 => (factor.remove(&[all.clone(), vec![n]].concat()), index),
        10 => (factor.shift(0, n), index),
        _ => (factor.permute(&[all, vec![0]].concat()), shape),
    };
    let error = outcome.unwrap_err();
    assert!(fits(&error), "{error:?}");
}
