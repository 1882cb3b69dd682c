//! The pivots of an update whose V outweighs the factor. The row-wise bound is relative to M_ii, which a heavy V makes large.
//! The part that V does not reach stays as small as L was; here it must be accurate relative to its own size.
//!
//! With e(l') the largest relative error of a pivot in units of rounding, an update holds
//!
//! ```text
//! e(ours) ≤ 4 e(LINPACK's dchud, a column of V after the other) + 4 (n + k)
//! ```

use crate::support::contract::assert_contract;
use crate::support::engines::{self, sized};
use crate::support::exact::exact_update;
use crate::support::peers::linpack;
use crate::support::problem::{factor, rng, uniform};
use crate::support::real::Real;
use cholupdate::faer::{Mat, Scale, mat};
use cholupdate::{Cholesky, Engine};
use std::fmt::Debug;

on_every_arithmetic!(
    v_outweighs_the_factor,
    v_is_graded,
    leading_rows_of_v_vanish,
    a_few_columns_of_v_are_heavy,
    stiff_constraints,
    a_weak_prior,
    stiff_rows_come_and_go,
    heavy_columns_of_both_signs,
);

/// Relative errors of the pivots, the largest, in units of rounding.
fn error<T: Real>(l: &Mat<T>, exact: &[f64]) -> f64 {
    let of = |j: usize| ((l[(j, j)].f64() - exact[j]) / exact[j]).abs() / T::U;
    (0..exact.len()).map(of).fold(0.0, f64::max)
}

#[track_caller]
fn check<T: Real, E: Engine<T> + Clone>(engine: &E, l: &Mat<T>, v: &Mat<T>, what: impl Debug) {
    let (n, k) = (l.nrows(), v.ncols());
    let ones = vec![T::ONE; k];
    let exact = exact_update(l.as_ref(), v.as_ref());
    let theirs = error(&linpack(l.as_ref(), v.as_ref(), &ones).expect("an update"), &exact);
    let mut ours = Cholesky::from_factor_in(l, engine.clone()).unwrap();
    ours.update(v).unwrap();
    let ours = ours.to_factor().unwrap();
    assert_contract(ours.as_ref(), l.as_ref(), v.as_ref(), &ones, &what);
    let (found, allowed) = (error(&ours, &exact), 4.0 * theirs + 4.0 * (n + k) as f64);
    let scalar = std::any::type_name::<T>();
    if std::env::var_os("CHOLUPDATE_OBSERVED").is_some() {
        println!("{scalar} {what:?} n = {n}, k = {k}: {found:.1} u, LINPACK {theirs:.1} u");
    }
    assert!(
        found <= allowed,
        "{what:?}, {scalar}, n = {n}, k = {k}: a pivot is off by {found:.1} u, LINPACK's by {theirs:.1} u"
    );
}

fn narrow<T: Real>(a: &Mat<f64>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::of(a[(i, j)]))
}

/// Sizes of L beside V of about 1.
fn sizes<T: Real>() -> impl Iterator<Item = f64> {
    let least = if T::U < 1e-10 { 1e-12 } else { 1e-6 };
    [1.0, 0.2, 1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12].into_iter().filter(move |&s| s >= least)
}

/// Orders and ranks: all micro-kernels, blocks of several widths, and V wider than L.
fn shapes<E>() -> impl Iterator<Item = (usize, usize)> {
    let all = [
        (2, 1),
        (3, 2),
        (10, 1),
        (10, 3),
        (10, 4),
        (9, 20),
        (40, 2),
        (40, 8),
        (70, 5),
        (100, 16),
        (100, 64),
        (200, 1),
    ];
    let small = engines::steps::<E>(100) < 100;
    all.into_iter()
        .chain((!small).then_some((sized(200, 130), 33)))
        .filter(move |&(n, k)| !small || n * k <= 1600)
}

fn v_outweighs_the_factor<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in shapes::<E>() {
        for s in sizes::<T>() {
            for seed in 0..3 {
                let mut rng = rng(seed);
                let l = narrow::<T>(&(factor(n, &mut rng) * Scale(s)));
                check(engine, &l, &narrow(&uniform(n, k, &mut rng)), ("L is", s, seed));
            }
        }
    }
}

/// Columns or rows of V from large to small, and from small to large.
fn v_is_graded<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let decades = if T::U < 1e-10 { 9.0 } else { 4.0 };
    for (n, k) in shapes::<E>().filter(|&(_, k)| k > 1) {
        for (seed, grade) in [(1, decades), (2, -decades)] {
            let mut rng = rng(seed);
            let l = narrow::<T>(&(factor(n, &mut rng) * Scale(10f64.powf(-decades))));
            let v = uniform(n, k, &mut rng);
            let power = |at: usize, of: usize| 10f64.powf(-grade * at as f64 / of.max(1) as f64);
            let large = if grade < 0.0 { 10f64.powf(grade) } else { 1.0 };
            let columns = Mat::from_fn(n, k, |i, r| v[(i, r)] * power(r, k - 1) * large);
            check(engine, &l, &narrow(&columns), ("columns graded by", grade));
            let rows = Mat::from_fn(n, k, |i, r| v[(i, r)] * power(i, n - 1) * large);
            check(engine, &l, &narrow(&rows), ("rows graded by", grade));
        }
    }
}

fn leading_rows_of_v_vanish<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in shapes::<E>() {
        for s in sizes::<T>() {
            let mut rng = rng(7);
            let l = narrow::<T>(&(factor(n, &mut rng) * Scale(s)));
            let v = uniform(n, k, &mut rng);
            let v = Mat::from_fn(n, k, |i, r| if i < n / 3 { 0.0 } else { v[(i, r)] });
            check(engine, &l, &narrow(&v), ("V begins with zeros, L is", s));
        }
    }
}

fn a_few_columns_of_v_are_heavy<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in shapes::<E>().filter(|&(_, k)| k > 1) {
        for s in sizes::<T>() {
            let mut rng = rng(8);
            let l = narrow::<T>(&(factor(n, &mut rng) * Scale(s)));
            let v = uniform(n, k, &mut rng);
            let v = Mat::from_fn(n, k, |i, r| if r % 3 == 1 { v[(i, r)] } else { s * v[(i, r)] });
            check(engine, &l, &narrow(&v), ("one in three columns is heavy, L is", s));
        }
    }
}

/// Constraints of a physics engine: a stiffness far above the masses, coupled to several bodies at once.
fn stiff_constraints<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let stiff = if T::U < 1e-10 { 1e9 } else { 1e4 };
    for n in [2, 3, 12, 50] {
        let l = Mat::from_fn(n, n, |i, j| T::of(if i == j { 3e-4f64.sqrt() } else { 0.0 }));
        check(engine, &l, &Mat::from_fn(n, 1, |_, _| T::of(stiff)), "one that joins all");
        let pairs = Mat::from_fn(n, n - 1, |i, r| {
            T::of(if i == r {
                stiff
            } else if i == r + 1 {
                -stiff
            } else {
                0.0
            })
        });
        check(engine, &l, &pairs, "a chain");
    }
    // As reported.
    let l = mat![[T::of(3e-4f64.sqrt()), T::ZERO], [T::ZERO, T::of(3e-4f64.sqrt())]];
    let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
    factor.update(&[T::of(1e4), T::of(1e4)]).unwrap();
    let pivot = factor.to_factor().unwrap()[(1, 1)].f64();
    assert!((pivot / 6e-4f64.sqrt() - 1.0).abs() < 8.0 * T::U.max(1e-13), "{pivot}, not {}", 6e-4f64.sqrt());
}

/// δ I, and a thousand observations of nearly one direction: LINPACK's errors are those of the same thousand updates.
fn a_weak_prior<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let steps = engines::steps::<E>(sized(1000, 100));
    for (n, k) in [(5, 1), (12, 1), (12, 4)] {
        for delta in sizes::<T>().filter(|&s| s < 0.1) {
            let mut rng = rng(n as u64);
            let l = Mat::from_fn(n, n, |i, j| T::of(if i == j { delta } else { 0.0 }));
            let direction = uniform(n, 1, &mut rng);
            let all = uniform(n, steps * k, &mut rng);
            let all = narrow::<T>(&Mat::from_fn(n, steps * k, |i, r| direction[(i, 0)] + 1e-3 * all[(i, r)]));
            let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
            for step in 0..steps {
                factor.update(all.as_ref().subcols(step * k, k)).unwrap();
            }
            let exact = exact_update(l.as_ref(), all.as_ref());
            let ones = vec![T::ONE; all.ncols()];
            let theirs = error(&linpack(l.as_ref(), all.as_ref(), &ones).expect("an update"), &exact);
            let found = error(&factor.to_factor().unwrap(), &exact);
            let allowed = 4.0 * theirs + 4.0 * (n + k) as f64;
            assert!(found <= allowed, "δ = {delta}, n = {n}, k = {k}: {found:.1} u, LINPACK {theirs:.1} u");
        }
    }
}

/// Each heavy update is accurate by itself, for any earlier updates and downdates.
fn stiff_rows_come_and_go<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(6, 1), (12, 2), (30, 5)] {
        // The remainder after the downdate has lost the square of this.
        for stiff in [10.0, 1e2] {
            let mut rng = rng(3);
            let mut l = narrow::<T>(&factor(n, &mut rng));
            for turn in 0..10 {
                let v = narrow::<T>(&(uniform(n, k, &mut rng) * Scale(stiff)));
                check(engine, &l, &v, ("stiff", stiff, turn));
                let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
                factor.update(&v).unwrap();
                factor.downdate(&v).unwrap();
                l = factor.to_factor().unwrap();
            }
        }
    }
}

/// The plus columns go first, with interchanges; the contract is that of all signs.
fn heavy_columns_of_both_signs<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in shapes::<E>().filter(|&(_, k)| k > 1) {
        for heavy in [10.0, 1e3, 1e5] {
            let mut rng = rng(5);
            let l = factor(n, &mut rng);
            let v = uniform(n, k, &mut rng);
            // The minus columns remove a part of the plus columns.
            let v = Mat::from_fn(n, 2 * k, |i, r| v[(i, r / 2)] * heavy * if r % 2 == 0 { 1.0 } else { 0.5 });
            let (l, v) = (narrow::<T>(&l), narrow::<T>(&v));
            let weights: Vec<T> = (0..2 * k).map(|r| if r % 2 == 0 { T::ONE } else { -T::ONE }).collect();
            let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
            factor.modify(&v, &weights).unwrap();
            let new = factor.to_factor().unwrap();
            assert_contract(new.as_ref(), l.as_ref(), v.as_ref(), &weights, ("both signs", heavy));
        }
    }
}
