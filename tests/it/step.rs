//! One step of a loop: a modification, and a solve with the resulting factor.

use crate::support::problem::{Kind, Problem, rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Engine, Error, Weights};

on_every_engine!(is_both_of_them, has_an_outcome_of_each, of_nothing_is_nothing);

const ORDER: usize = 64 * 3 + 17;

fn rhs<T: Real>(columns: usize, seed: u64) -> Mat<T> {
    let entries = uniform(ORDER, columns, &mut rng(seed));
    Mat::from_fn(ORDER, columns, |i, j| T::of(entries[(i, j)]))
}

fn is_both_of_them<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (k, kind, columns) in [(1, Kind::Up, 1), (5, Kind::Down, 3), (20, Kind::Mixed, 33)] {
        // Leading zero rows leave columns of L, and the data stored with them, unchanged.
        for zeros in [0, 100] {
            let mut problem = Problem::<T>::feasible(ORDER, k, kind, 0.3, 61);
            problem.v.as_mut().subrows_mut(0, zeros).fill(T::of(0.0));
            let [mut one, mut other] =
                [(); 2].map(|()| Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap());
            for seed in 62..65 {
                let mut found = rhs::<T>(columns, seed);
                let mut expected = found.clone();
                let weights: Vec<T> = problem.weights.iter().map(|&w| w * T::of(0.3)).collect();
                let pending = one.submit(&problem.v, &weights).unwrap();
                let (modified, solved) = pending.solve_in_place(&mut found);
                solved.unwrap();
                assert_eq!(modified.unwrap(), other.modify(&problem.v, &weights).unwrap());
                other.solve_in_place(&mut expected).unwrap();
                assert_eq!(bits(found.as_ref()), bits(expected.as_ref()), "k = {k}, {zeros} rows of zeros");
                let [one, other] = [&one, &other].map(|factor| bits(factor.to_factor().unwrap().as_ref()));
                assert_eq!(one, other);
            }
        }
    }
}

fn has_an_outcome_of_each<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let problem = Problem::<T>::feasible(ORDER, 4, Kind::Down, 0.3, 65);
    let far = Mat::from_fn(ORDER, 4, |i, j| T::of(1e6) * problem.v[(i, j)]);
    let mut factor = Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
    let old = bits(factor.to_factor().unwrap().as_ref());
    let good = rhs::<T>(2, 66);
    let mut bad = good.clone();
    (bad[(190, 0)], bad[(7, 1)]) = (T::of(f64::INFINITY), T::of(f64::NAN));
    let not_finite = Error::NonFinite { argument: "rhs", row: 190, column: 0 };

    // A breakdown: the old factor stays, and solves. (Engines that do the work in the first call return it there.)
    let refused = factor.downdate(&far).unwrap_err();
    assert!(matches!(refused, Error::NotPositiveDefinite { .. }), "{refused:?}");
    let expected = factor.solve(&good).unwrap();
    for (rhs, outcome, left) in
        [(&good, Ok(()), bits(expected.as_ref())), (&bad, Err(not_finite.clone()), bits(bad.as_ref()))]
    {
        let mut x = rhs.clone();
        match factor.submit(&far, Weights::Minus) {
            Ok(pending) => {
                let (modified, solved) = pending.solve_in_place(&mut x);
                assert_eq!((modified.unwrap_err(), solved), (refused.clone(), outcome));
                assert_eq!(bits(x.as_ref()), left);
            }
            Err(error) => assert_eq!(error, refused),
        }
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), old);
    }

    // Refused right-hand sides do not prevent the modification.
    let mut other = Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
    let expected = other.downdate(&problem.v).unwrap();
    let mut x = bad.clone();
    let (modified, solved) = factor.submit(&problem.v, Weights::Minus).unwrap().solve_in_place(&mut x);
    assert_eq!((modified.unwrap(), solved.unwrap_err()), (expected, not_finite));
    assert_eq!(bits(x.as_ref()), bits(bad.as_ref()));
    let mut short = Mat::<T>::zeros(ORDER - 1, 1);
    let expected = other.update(&problem.v).unwrap();
    let (modified, solved) = factor.submit(&problem.v, Weights::Plus).unwrap().solve_in_place(&mut short);
    assert_eq!(modified.unwrap(), expected);
    assert_eq!(
        solved.unwrap_err(),
        Error::Shape { argument: "rhs", extent: "rows", expected: ORDER, found: ORDER - 1 }
    );
    assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(other.to_factor().unwrap().as_ref()));
}

fn of_nothing_is_nothing<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (order, rank, columns) in [(0, 0, 0), (0, 2, 3), (5, 0, 1), (5, 2, 0)] {
        let mut factor = Cholesky::from_factor_in(&Mat::<T>::identity(order, order), engine.clone()).unwrap();
        let mut x = Mat::from_fn(order, columns, |i, _| T::of(i as f64));
        let pending = factor.submit(&Mat::zeros(order, rank), Weights::Plus).unwrap();
        let (modified, solved) = pending.solve_in_place(&mut x);
        modified.unwrap();
        solved.unwrap();
        assert_eq!(x, Mat::from_fn(order, columns, |i, _| T::of(i as f64)));
    }
}
