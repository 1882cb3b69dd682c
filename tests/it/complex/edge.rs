//! Downdates close to the limit of positive definiteness, of badly conditioned factors: whether A' is positive definite is known
//! to some thirty digits. If it is, the downdate succeeds. If it is not, it is refused, or the result is within the contract.

use super::oracle::assert_contract;
use super::problem::{Problem, contraction, rng, uniform};
use super::scalar::{Complex, bits, in_c64, narrow};
use crate::support::engines::sized;
use cholupdate::faer::{Mat, c64};
use cholupdate::{Engine, Error, Weights};
use rand::Rng;
use rand::rngs::StdRng;

in_both_precisions!(
    what_is_definite_is_completed_and_what_is_not_is_refused,
    mixed_signs_at_the_edge_are_decided_as_well,
    all_ways_to_ask_for_a_downdate_agree,
);

/// Families of badly conditioned L.
#[derive(Clone, Copy, Debug)]
enum Family {
    /// A unit diagonal, and large entries below it.
    Unit,
    /// Rows of all sizes, with large entries below the diagonal.
    Rows,
    /// Columns that shrink by up to 10⁻⁷.
    Graded,
    /// Nearly dependent rows.
    Dependent,
}

const FAMILIES: [Family; 4] = [Family::Unit, Family::Rows, Family::Graded, Family::Dependent];

impl Family {
    fn factor(self, n: usize, rng: &mut StdRng) -> Mat<c64> {
        let small = n <= 5;
        let grade = rng.random_range(0.0..7.0);
        let rows: Vec<f64> = (0..n).map(|_| 10f64.powf(rng.random_range(-2.0..2.0))).collect();
        let below = uniform(n, n, rng);
        let decades = if small { 2.5 } else { 0.5 };
        Mat::from_fn(n, n, |i, j| {
            let size = 1.7 * 10f64.powf(rng.random_range(0.0..decades));
            let (below, diagonal) = (below[(i, j)], rng.random_range(0.5..1.5));
            let least = if small { -6.0 } else { -2.0 };
            match self {
                _ if i < j => c64::default(),
                Self::Unit if i == j => c64::from(1.0),
                Self::Unit => below * size,
                Self::Rows if i == j => c64::from(rows[i] * diagonal),
                Self::Rows => below * (rows[i] * size),
                Self::Graded => {
                    let scale = 10f64.powf(-grade * j as f64 / n as f64);
                    if i == j { c64::from(scale * diagonal) } else { below * scale }
                }
                Self::Dependent if i == j => c64::from(10f64.powf(rng.random_range(least..0.0))),
                Self::Dependent => below,
            }
        })
    }
}

/// A downdate that leaves about `left` of a direction, before V is rounded; `left` may be negative.
fn downdate<T: Complex>(family: Family, n: usize, k: usize, left: f64, seed: u64) -> Problem<T> {
    let mut rng = rng(seed);
    let l = in_c64(narrow::<T>(&family.factor(n, &mut rng)).as_ref());
    let v = &l * contraction(n, k, left, &mut rng);
    Problem::new(&l, &v, &vec![-1.0; k])
}

/// 10¹ u to 10⁸ u, if that is less than 1; for every fifth seed as much below zero.
fn left<T: Complex>(seed: u64) -> f64 {
    let left = (10f64.powf(1.0 + 7.0 * (seed % 29) as f64 / 28.0) * T::ROUNDOFF).min(0.5);
    if seed % 5 == 4 { -left } else { left }
}

/// The outcome of a problem is correct, and so is the resulting factor. Returns whether it was completed.
fn checked<T: Complex, E: Engine<T> + Clone>(
    engine: &E,
    problem: &Problem<T>,
    what: impl std::fmt::Debug,
) -> bool {
    let Problem { l, v, weights } = problem;
    let mut factor = problem.factor(engine);
    let outcome = factor.modify(v, weights);
    let new = factor.to_factor().unwrap();
    match outcome {
        Ok(_) => {
            assert_contract(new.as_ref(), l.as_ref(), v.as_ref(), weights, &what);
            true
        }
        Err(error) => {
            assert!(matches!(error, Error::NotPositiveDefinite { .. }), "{error}");
            let margin = problem.margin();
            assert!(margin.is_none(), "{what:?}: refused with {margin:?} left");
            assert_eq!(bits(new.as_ref()), bits(l.as_ref()), "{what:?}: the factor has changed");
            false
        }
    }
}

fn what_is_definite_is_completed_and_what_is_not_is_refused<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut outcomes = [0, 0];
    for family in FAMILIES {
        for n in [2, 3, 5, 12, 40] {
            for k in [1, 2, 3, 8] {
                for seed in 0..sized(60, 15) / if n > 20 { 4 } else { 1 } {
                    let problem = downdate::<T>(family, n, k, left::<T>(seed), seed + 1000 * k as u64);
                    outcomes[usize::from(checked(engine, &problem, (family, n, k, seed)))] += 1;
                }
            }
        }
    }
    assert!(outcomes[0] > 50 && outcomes[1] > 50, "a one-sided experiment: {outcomes:?}");
}

/// A downdate at the edge, and columns of up to a thousand times the size of L that are added and removed.
fn mixed_signs_at_the_edge_are_decided_as_well<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut outcomes = [0, 0];
    for family in FAMILIES {
        for n in [2, 3, 5, 12] {
            for seed in 0..sized(60, 15) {
                let Problem { l, v, .. } = downdate::<T>(family, n, 1, left::<T>(seed), seed);
                let size = 10f64.powf(3.0 * (seed % 7) as f64 / 6.0);
                let plus = in_c64(l.as_ref()) * uniform(n, 1, &mut rng(seed));
                let all = Mat::from_fn(n, 3, |i, r| match r {
                    0 => v[(i, 0)].c64(),
                    _ => plus[(i, 0)] * size,
                });
                let problem = Problem { l, ..Problem::new(&Mat::zeros(0, 0), &all, &[-1.0, 1.0, -1.0]) };
                outcomes[usize::from(checked(engine, &problem, (family, n, seed)))] += 1;
            }
        }
    }
    assert!(outcomes[0] > 30 && outcomes[1] > 30, "a one-sided experiment: {outcomes:?}");
}

fn all_ways_to_ask_for_a_downdate_agree<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut outcomes = [0, 0];
    for seed in 0..sized(200, 40) {
        let family = FAMILIES[seed as usize % 4];
        let problem = downdate::<T>(family, 5, 1 + seed as usize % 3, 10.0 * T::ROUNDOFF, seed);
        let expected = problem.modified(engine);
        outcomes[usize::from(expected.is_ok())] += 1;
        let mut factor = problem.factor(engine);
        assert_eq!(factor.can_downdate(&problem.v).unwrap(), expected.is_ok());
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(problem.l.as_ref()));
        let submitted = factor.submit(&problem.v, Weights::Minus).and_then(|pending| pending.wait());
        let after = bits(factor.to_factor().unwrap().as_ref());
        match &expected {
            Ok((new, report)) => {
                assert_eq!(submitted.as_ref(), Ok(report));
                assert_eq!(after, bits(new.as_ref()));
            }
            Err(error) => {
                assert_eq!(submitted.as_ref(), Err(error));
                assert_eq!(after, bits(problem.l.as_ref()));
            }
        }
        // Times 1/4, which is exact.
        let halved =
            |a: &Mat<T>| narrow::<T>(&(in_c64(a.as_ref()) * cholupdate::faer::Scale(c64::from(0.5))));
        let mut factor = problem.factor(engine);
        let scaled = factor.modify_scaled(T::part(0.25), &halved(&problem.v), Weights::Minus);
        assert_eq!(scaled.is_ok(), expected.is_ok());
        if let Ok((new, _)) = &expected {
            assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(halved(new).as_ref()));
        }
    }
    assert!(outcomes[0] > 5 && outcomes[1] > 5, "a one-sided experiment: {outcomes:?}");
}
