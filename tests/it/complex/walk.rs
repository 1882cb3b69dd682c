//! All verbs in random order on one factor, compared with a dense model of A: tests the state that verbs leave for each other.
//!
//! A step that would make the model nearly singular is skipped. Steps that must fail are interspersed; they leave every bit
//! unchanged.

use super::model::Model;
use super::problem::{factor as random_factor, rng};
use super::scalar::{Complex, bits, narrow, parts};
use crate::support::engines::sized;
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Engine, Error};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

on_every_cpu!(a_walk_through_all_verbs, a_walk_from_nothing);

/// The largest number of rows.
const ORDER: usize = 40;

/// A factor, and its model.
struct Walk<T: Complex, E: Engine<T>> {
    factor: Cholesky<T, E>,
    model: Model,
    random: StdRng,
}

impl<T: Complex, E: Engine<T> + Clone> Walk<T, E> {
    fn new(engine: &E, n: usize, seed: u64) -> Self {
        let mut random = rng(seed);
        let l = narrow::<T>(&random_factor(n, &mut random));
        let factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        Self { factor, model: Model::new(&l), random }
    }

    /// One verb, which returns the model that must result; `None` where that would be nearly singular and nothing is done.
    fn step(&mut self) -> Option<Model> {
        let Self { factor, model, random } = self;
        let n = model.order();
        let (k, r) = (random.random_range(1..=4), random.random_range(1..=3));
        let at = random.random_range(0..=n);
        let mut rows: Vec<usize> = (0..n).collect();
        match random.random_range(0..11) {
            0 => {
                let v = model.plus::<T>(k, random);
                let next = model.modified(1.0, &v, &vec![T::part(1.0); k])?;
                factor.update(&v).unwrap();
                Some(next)
            }
            1 => {
                let v = model.minus::<T>(0.7, k, random);
                let next = model.modified(1.0, &v, &vec![T::part(-1.0); k])?;
                assert!(factor.can_downdate(&v).unwrap());
                factor.downdate(&v).unwrap();
                Some(next)
            }
            2 | 3 => {
                let (plus, minus) = (model.plus::<T>(k, random), model.minus::<T>(0.6, 1, random));
                let v = Mat::from_fn(n, k + 1, |i, c| if c < k { plus[(i, c)] } else { minus[(i, 0)] });
                let weights: Vec<f64> = (0..=k).map(|c| if c < k { 0.3 * c as f64 } else { -0.9 }).collect();
                let weights = parts::<T>(&weights);
                if random.random_bool(0.5) {
                    let next = model.modified(0.9375, &v, &weights)?;
                    factor.modify_scaled(T::part(0.9375), &v, &weights).unwrap();
                    return Some(next);
                }
                let next = model.modified(1.0, &v, &weights)?;
                factor.submit(&v, &weights).and_then(|pending| pending.wait()).unwrap();
                Some(next)
            }
            4 | 5 if n + r <= ORDER => {
                let at = if random.random_bool(0.3) { n } else { at };
                let columns = model.entering::<T>(&(at..at), r, random);
                let next = model.entered(&(at..at), &columns)?;
                match at == n {
                    true => factor.append(columns.subrows(0, n), columns.subrows(n, r)).unwrap(),
                    false => factor.insert(at, &columns).unwrap(),
                };
                Some(next)
            }
            6 if at + r <= n => {
                let columns = model.entering::<T>(&(at..at + r), r, random);
                let next = model.entered(&(at..at + r), &columns)?;
                factor.replace(at, &columns).unwrap();
                Some(next)
            }
            7 if n > r => {
                rows.shuffle(random);
                let gone = rows.split_off(n - r);
                rows.sort_unstable();
                factor.remove(&gone).unwrap();
                Some(model.rows(&rows, r))
            }
            8 if n > 0 => {
                let (from, to) = (random.random_range(0..n), random.random_range(0..n));
                factor.shift(from, to).unwrap();
                let row = rows.remove(from);
                rows.insert(to, row);
                Some(model.rows(&rows, 1))
            }
            9 => {
                rows.shuffle(random);
                factor.permute(&rows).unwrap();
                Some(model.rows(&rows, n))
            }
            10 if n > 0 => {
                let before = bits(factor.to_factor().unwrap().as_ref());
                let v = model.minus::<T>(3.0 * (k as f64).sqrt(), k, random);
                let refused = factor.downdate(&v).unwrap_err();
                assert!(matches!(refused, Error::NotPositiveDefinite { .. }), "{refused}");
                assert_eq!(bits(factor.to_factor().unwrap().as_ref()), before);
                None
            }
            _ => None,
        }
    }

    fn walk(&mut self, steps: usize) {
        let mut taken = 0;
        for step in 0..steps {
            if let Some(next) = self.step() {
                self.model = next;
                taken += 1;
            }
            let (error, units) =
                (self.model.error(self.factor.to_factor().unwrap().as_ref()), self.model.units);
            assert!(error <= units, "step {step}, n = {}: {error:.1} u of {units:.1} u", self.model.order());
        }
        assert!(taken > steps / 3, "{taken} of {steps} steps");
    }
}

fn a_walk_through_all_verbs<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for seed in 0..2 {
        Walk::<T, E>::new(engine, 20, seed).walk(sized(300, 60));
    }
}

/// Rows are appended to a factor without any.
fn a_walk_from_nothing<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut walk = Walk::<T, E>::new(engine, 0, 7);
    for _ in 0..5 {
        let n = walk.model.order();
        let columns = walk.model.entering::<T>(&(n..n), 1, &mut walk.random);
        walk.model = walk.model.entered(&(n..n), &columns).expect("well conditioned");
        walk.factor.append(columns.subrows(0, n), columns.subrows(n, 1)).unwrap();
        assert!(walk.model.error(walk.factor.to_factor().unwrap().as_ref()) <= walk.model.units);
    }
    walk.walk(sized(100, 30));
}
