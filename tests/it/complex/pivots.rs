//! The pivots of an update whose V outweighs the factor, compared with LINPACK's: the part that V does not reach must be accurate
//! relative to its own size. With e the largest relative error of a pivot in units of rounding,
//!
//! ```text
//! e(ours) ≤ 4 e(LINPACK's zchud, a column of V after the other) + 8 (n + k)
//! ```
//!
//! The 8 is a 4 for real scalars: a product of complex numbers has two roundings for one.

use super::exact::exact_update;
use super::linpack;
use super::oracle::assert_contract;
use super::problem::{factor, rng, uniform};
use super::scalar::{Complex, is_double, narrow};
use crate::support::engines::sized;
use cholupdate::faer::{Mat, Scale, c64};
use cholupdate::{Cholesky, Engine};
use std::fmt::Debug;

in_both_precisions!(
    v_outweighs_the_factor,
    v_is_graded,
    leading_rows_of_v_vanish,
    a_few_columns_of_v_are_heavy,
    a_weak_prior,
);

/// Relative errors of the pivots, the largest, in units of rounding.
fn error<T: Complex>(l: &Mat<T>, exact: &[f64]) -> f64 {
    let of = |j: usize| ((l[(j, j)].c64().re - exact[j]) / exact[j]).abs() / T::ROUNDOFF;
    (0..exact.len()).map(of).fold(0.0, f64::max)
}

fn allowed(theirs: f64, extents: usize) -> f64 {
    4.0 * theirs + 8.0 * extents as f64
}

#[track_caller]
fn check<T: Complex, E: Engine<T> + Clone>(engine: &E, l: &Mat<c64>, v: &Mat<c64>, what: impl Debug) {
    let (l, v) = (narrow::<T>(l), narrow::<T>(v));
    let (n, k) = v.shape();
    let ones = vec![T::part(1.0); k];
    let exact = exact_update(l.as_ref(), v.as_ref());
    let theirs = error(&linpack::modify(l.as_ref(), v.as_ref(), &ones).expect("an update"), &exact);
    let mut ours = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
    ours.update(&v).unwrap();
    let ours = ours.to_factor().unwrap();
    assert_contract(ours.as_ref(), l.as_ref(), v.as_ref(), &ones, &what);
    let (found, allowed) = (error(&ours, &exact), allowed(theirs, n + k));
    assert!(
        found <= allowed,
        "{what:?}, n = {n}, k = {k}: a pivot is off by {found:.1} u, LINPACK's by {theirs:.1} u"
    );
}

/// Sizes of L beside V of about 1.
fn sizes<T: Complex>() -> impl Iterator<Item = f64> {
    let least = if is_double::<T>() { 1e-12 } else { 1e-6 };
    [1.0, 0.2, 1e-1, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12].into_iter().filter(move |&s| s >= least)
}

const SHAPES: &[(usize, usize)] = sized(
    &[(2, 1), (3, 2), (10, 1), (10, 2), (10, 3), (10, 4), (9, 20), (40, 2), (40, 8), (70, 5), (100, 16)],
    &[(2, 1), (3, 2), (10, 2), (10, 4), (9, 20)],
);

fn scaled(a: Mat<c64>, by: f64) -> Mat<c64> {
    a * Scale(c64::from(by))
}

fn v_outweighs_the_factor<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for &(n, k) in SHAPES {
        for s in sizes::<T>() {
            for seed in 0..2 {
                let mut rng = rng(seed);
                let l = scaled(factor(n, &mut rng), s);
                check(engine, &l, &uniform(n, k, &mut rng), ("L is", s, seed));
            }
        }
    }
}

/// Columns or rows of V from large to small, and from small to large.
fn v_is_graded<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let decades = if is_double::<T>() { 9.0 } else { 4.0 };
    for &(n, k) in SHAPES.iter().filter(|shape| shape.1 > 1) {
        for (seed, grade) in [(1, decades), (2, -decades)] {
            let mut rng = rng(seed);
            let l = scaled(factor(n, &mut rng), 10f64.powf(-decades));
            let v = uniform(n, k, &mut rng);
            let power = |at: usize, of: usize| 10f64.powf(-grade * at as f64 / of.max(1) as f64);
            let large = if grade < 0.0 { 10f64.powf(grade) } else { 1.0 };
            let columns = Mat::from_fn(n, k, |i, r| v[(i, r)] * power(r, k - 1) * large);
            check(engine, &l, &columns, ("columns graded by", grade));
            let rows = Mat::from_fn(n, k, |i, r| v[(i, r)] * power(i, n - 1) * large);
            check(engine, &l, &rows, ("rows graded by", grade));
        }
    }
}

fn leading_rows_of_v_vanish<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for &(n, k) in SHAPES {
        for s in sizes::<T>() {
            let mut rng = rng(7);
            let l = scaled(factor(n, &mut rng), s);
            let v = uniform(n, k, &mut rng);
            let v = Mat::from_fn(n, k, |i, r| if i < n / 3 { c64::default() } else { v[(i, r)] });
            check(engine, &l, &v, ("V begins with zeros, L is", s));
        }
    }
}

fn a_few_columns_of_v_are_heavy<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for &(n, k) in SHAPES.iter().filter(|shape| shape.1 > 1) {
        for s in sizes::<T>() {
            let mut rng = rng(8);
            let l = scaled(factor(n, &mut rng), s);
            let v = uniform(n, k, &mut rng);
            let v = Mat::from_fn(n, k, |i, r| v[(i, r)] * if r % 3 == 1 { 1.0 } else { s });
            check(engine, &l, &v, ("one in three columns is heavy, L is", s));
        }
    }
}

/// δ I, and hundreds of observations of nearly one direction: LINPACK's errors are those of the same updates.
fn a_weak_prior<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let steps = sized(300, 50);
    for (n, k) in [(5, 1), (12, 1), (12, 4)] {
        for delta in sizes::<T>().filter(|&s| s < 0.1) {
            let mut rng = rng(n as u64);
            let l = narrow::<T>(&scaled(Mat::identity(n, n), delta));
            let direction = uniform(n, 1, &mut rng);
            let all = uniform(n, steps * k, &mut rng);
            let all = narrow::<T>(&Mat::from_fn(n, steps * k, |i, r| direction[(i, 0)] + all[(i, r)] * 1e-3));
            let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
            for step in 0..steps {
                factor.update(all.as_ref().subcols(step * k, k)).unwrap();
            }
            let exact = exact_update(l.as_ref(), all.as_ref());
            let ones = vec![T::part(1.0); all.ncols()];
            let theirs = error(&linpack::modify(l.as_ref(), all.as_ref(), &ones).expect("an update"), &exact);
            let found = error(&factor.to_factor().unwrap(), &exact);
            let allowed = allowed(theirs, n + k);
            assert!(found <= allowed, "δ = {delta}, n = {n}, k = {k}: {found:.1} u, LINPACK {theirs:.1} u");
        }
    }
}
