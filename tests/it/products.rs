//! Products with L, Lᵀ and A: exact for small integers, in any order of the sums.

use crate::support::problem::rng;
use crate::support::real::Real;
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Engine, Error};
use rand::Rng;

on_every_engine!(products_are_exact_in_integers, what_is_wrong_with_x_is_named, a_singular_factor_multiplies,);

/// Entries in −3 ..= 3, below and on the diagonal, which is 1 ..= 3.
fn integers<T: Real>(n: usize, m: usize, lower: bool, seed: u64) -> Mat<T> {
    let mut rng = rng(seed);
    Mat::from_fn(n, m, |i, j| match lower {
        true if i < j => T::ZERO,
        true if i == j => T::of(f64::from(rng.random_range(1..=3))),
        _ => T::of(f64::from(rng.random_range(-3..=3))),
    })
}

fn products_are_exact_in_integers<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [0, 1, 2, 7, 33, 64, 70, 129] {
        let l = integers::<T>(n, n, true, 1);
        let factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        for m in [0, 1, 3, 17] {
            let x = integers::<T>(n, m, false, 2);
            let expected = [&l * (l.transpose() * &x), &l * &x, l.transpose() * &x];
            let found = [factor.multiply(&x), factor.multiply_l(&x), factor.multiply_lt(&x)];
            let mut in_place = [x.clone(), x.clone(), x.clone()];
            factor.multiply_in_place(&mut in_place[0]).unwrap();
            factor.multiply_l_in_place(&mut in_place[1]).unwrap();
            factor.multiply_lt_in_place(&mut in_place[2]).unwrap();
            for ((expected, found), in_place) in expected.into_iter().zip(found).zip(in_place) {
                assert_eq!(found.unwrap(), expected, "{n} × {m}");
                assert_eq!(in_place, expected, "{n} × {m}, in place");
            }
        }
    }
}

fn what_is_wrong_with_x_is_named<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let factor = Cholesky::from_factor_in(&integers::<T>(5, 5, true, 3), engine.clone()).unwrap();
    let short = Error::Shape { argument: "x", extent: "rows", expected: 5, found: 4 };
    assert_eq!(factor.multiply(&integers(4, 2, false, 4)).unwrap_err(), short);
    let mut x = integers::<T>(5, 2, false, 4);
    x[(3, 1)] = T::of(f64::NAN);
    let not_finite = Error::NonFinite { argument: "x", row: 3, column: 1 };
    assert_eq!(factor.multiply_l(&x).unwrap_err(), not_finite);
    assert_eq!(factor.multiply_lt_in_place(&mut x), Err(not_finite));
    assert_eq!(x[(0, 0)], integers::<T>(5, 2, false, 4)[(0, 0)]);
}

fn a_singular_factor_multiplies<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut factor = Cholesky::zeros_in(3, engine.clone()).unwrap();
    factor.update(&[T::ZERO, T::of(3.0), T::of(4.0)]).unwrap();
    let x = [T::ONE, T::ONE, T::ONE];
    let expected = [T::ZERO, T::of(21.0), T::of(28.0)];
    let found = factor.multiply(&x).unwrap();
    assert!((0..3).all(|i| (found[(i, 0)] - expected[i]).abs() <= T::of(1e2 * T::U)), "{found:?}");
}
