//! Derivatives in device memory, on a stream of the caller's.

use super::Along;
use super::accuracy::{self, Modes, difference, largest, ratio};
use super::on_device::{Case, Memory, Order, There};
use crate::support::cuda::{on_the_fake_driver, turn};
use crate::support::problem::{Kind, Problem};
use crate::support::real::{Real, bits};
use cholupdate::Error;
use cholupdate::cuda::gradient::{
    MOST_COLUMNS, RawCotangents, RawMatrices, RawModification, RawWeights, modify_vjp,
};
use cholupdate::faer::Mat;
use cholupdate::gradient::Cotangents;

/// Weights that are 1 all or −1 all are said to be, in every other case.
impl<T: Real> Modes<T> for There {
    fn both(
        &self,
        problem: &Problem<T>,
        new: &Mat<T>,
        bar: &Mat<T>,
        along: &Along<T>,
    ) -> (Cotangents<T>, Mat<T>) {
        self.cases.set(self.cases.get() + 1);
        let case = Case {
            problem: Problem { l: problem.l.clone(), v: problem.v.clone(), weights: problem.weights.clone() },
            new: new.clone(),
            bar: bar.clone(),
            along: Along { l: along.l.clone(), v: along.v.clone(), weights: along.weights.clone() },
        };
        let are = |x: T| self.cases.get().is_multiple_of(2) && problem.weights.iter().all(|&w| w == x);
        let weights = match () {
            () if are(T::ONE) => Some(RawWeights::Plus),
            () if are(-T::ONE) => Some(RawWeights::Minus),
            () => None,
        };
        self.batch(&[&case], Order::Columns, weights, None).remove(0)
    }

    fn takes(&self, case: usize) -> bool {
        !on_the_fake_driver() || case % 7 == 3
    }
}

fn hold_the_contract<T: Real>() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    let more = [(48, 64), (64, 16), (64, 40), (65, 1), (66, 2), (129, 5), (140, 17)];
    accuracy::all::<T>(&there, &[&accuracy::SHAPES[..], &more].concat());
}

#[test]
fn contract_f64() {
    hold_the_contract::<f64>();
}

#[test]
fn contract_f32() {
    hold_the_contract::<f32>();
}

fn all_bits<T: Real>((pulled, pushed): &(Cotangents<T>, Mat<T>)) -> Vec<u64> {
    let matrices = [&pulled.l, &pulled.v, pushed].into_iter().flat_map(|a| bits(a.as_ref()));
    matrices.chain(pulled.weights.iter().map(|w| w.bits())).collect()
}

#[test]
fn each_matrix_of_a_batch_is_as_if_it_were_alone() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    for (n, k) in [(1, 1), (7, 3), (33, 1), (64, 20), (70, 2), (200, 6)] {
        let cases: Vec<_> = (Kind::ALL.into_iter().zip(1..))
            .map(|(kind, seed)| Case::new(Problem::<f64>::feasible(n, k, kind, 0.3, seed), seed))
            .collect();
        let all: Vec<_> = cases.iter().collect();
        for order in [Order::Columns, Order::Rows] {
            let together = there.batch(&all, order, None, None);
            for (case, found) in cases.iter().zip(&together) {
                let alone = there.batch(&[case], Order::Columns, None, None).remove(0);
                assert!(all_bits(found) == all_bits(&alone), "{n} × {k}, {order:?}");
                // Zeros above the diagonal, and nothing there was read: it is NaN.
                for a in [&found.0.l, &found.1] {
                    assert!((0..n).all(|j| (0..j).all(|i| a[(i, j)].to_bits() == 0)), "{n} × {k}");
                    assert!((0..n).all(|j| (j..n).all(|i| a[(i, j)].is_finite())), "{n} × {k}");
                }
            }
        }
    }
}

#[test]
fn a_matrix_that_broke_down_has_zeros_and_leaves_others_alone() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    for (n, k) in [(5, 2), (80, 3)] {
        let case = |seed| Case::new(Problem::<f32>::feasible(n, k, Kind::Mixed, 0.3, seed), seed);
        let (good, mut broken) = (case(1), case(2));
        broken.new = Mat::from_fn(n, n, |_, _| f32::NAN);
        broken.problem.v[(n - 1, 0)] = f32::INFINITY;
        broken.problem.weights[0] = f32::NAN;
        let found = there.batch(&[&broken, &good, &broken], Order::Columns, None, Some(&[0, 1, 0]));
        let alone = there.batch(&[&good], Order::Columns, None, None).remove(0);
        assert!(all_bits(&found[1]) == all_bits(&alone));
        for broken in [&found[0], &found[2]] {
            assert!(all_bits(broken).into_iter().all(|bits| bits == 0), "{n} × {k}");
        }
    }
}

/// A column of L with the other sign is the same L Lᵀ, and has derivatives with the other sign.
#[test]
fn pivots_may_be_negative() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    for (n, k) in [(9, 2), (70, 5)] {
        let case = |flips: bool| {
            let mut case = Case::new(Problem::<f64>::feasible(n, k, Kind::Mixed, 0.3, 1), 1);
            for j in (0..n).step_by(3).filter(|_| flips) {
                (j..n).for_each(|i| case.problem.l[(i, j)] = -case.problem.l[(i, j)]);
                (j..n).for_each(|i| case.along.l[(i, j)] = -case.along.l[(i, j)]);
            }
            case
        };
        let all = |flips| there.batch(&[&case(flips)], Order::Columns, None, None).remove(0);
        let (mut found, expected) = (all(true), all(false));
        for j in (0..n).step_by(3) {
            (j..n).for_each(|i| found.0.l[(i, j)] = -found.0.l[(i, j)]);
        }
        assert!(all_bits(&found) == all_bits(&expected), "{n} × {k}");
    }
}

#[test]
fn without_tangents_of_weights_they_are_zero() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    for (n, k) in [(6, 2), (70, 3)] {
        let mut case = Case::new(Problem::<f64>::feasible(n, k, Kind::Mixed, 0.3, 5), 6);
        let pushed = || there.batch(&[&case], Order::Columns, None, None).remove(0).1;
        let with_weights = pushed();
        there.fixed_weights.set(true);
        let found = pushed();
        there.fixed_weights.set(false);
        case.along.weights.fill(0.0);
        let expected = there.batch(&[&case], Order::Columns, None, None).remove(0).1;
        assert_eq!(bits(found.as_ref()), bits(expected.as_ref()), "{n} × {k}");
        assert_ne!(bits(found.as_ref()), bits(with_weights.as_ref()), "{n} × {k}");
    }
}

/// max |Δ_ij| over max |x_ij|.
fn distance(found: &Mat<f64>, exact: &Mat<f64>) -> f64 {
    ratio(difference(found, exact, |_| 1.0), largest(exact, |_| 1.0))
}

/// Many blocks of rows, whose sums are added up by another kernel.
#[test]
fn large_matrices_agree_with_the_cpu() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    for (n, k, kind) in [(400, 1, Kind::Up), (330, 6, Kind::Down), (260, 33, Kind::Mixed)] {
        let case = Case::new(Problem::<f64>::feasible(n, k, kind, 0.3, 3), 4);
        let Problem { l, v, weights } = &case.problem;
        let (pulled, pushed) = there.batch(&[&case], Order::Columns, None, None).remove(0);
        let expected = cholupdate::gradient::modify_vjp(l, &case.new, v, weights, &case.bar).unwrap();
        let tangent =
            cholupdate::gradient::modify_jvp(l, &case.new, v, weights, &case.along.tangents()).unwrap();
        let errors =
            [distance(&pulled.l, &expected.l), distance(&pulled.v, &expected.v), distance(&pushed, &tangent)];
        let limit = (n + k) as f64 * f64::EPSILON;
        assert!(errors.iter().all(|&error| error <= limit), "{n} × {k}, {kind:?}: {errors:?}");
        let weights = Mat::from_fn(k, 1, |i, _| pulled.weights[i]);
        let expected = Mat::from_fn(k, 1, |i, _| expected.weights[i]);
        assert!(distance(&weights, &expected) <= limit, "{n} × {k}, {kind:?}");
    }
}

#[test]
fn what_is_empty_and_what_is_refused() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    let none = RawMatrices { address: 0, matrix: 0, row: 1, column: 1 };
    let to = RawCotangents { l: none, v: none, weights: 0 };
    let scratch = Memory::new(1);
    let mut of = RawModification {
        count: 0,
        n: 3,
        k: 1,
        l: none,
        l_new: none,
        v: none,
        weights: RawWeights::Plus,
        ok: None,
    };
    // SAFETY: no matrix.
    unsafe { modify_vjp::<f64>(there.on(&scratch), &of, none, &to) }.unwrap();
    of.count = 1;
    of.k = MOST_COLUMNS + 1;
    // SAFETY: nothing is enqueued.
    let refused = unsafe { modify_vjp::<f64>(there.on(&scratch), &of, none, &to) }.unwrap_err();
    assert_eq!(refused, Error::OutOfRange { argument: "v", rule: "of at most 64 columns" });
    // Without columns of V, L' is L, and its derivatives are those of L.
    for n in [4, 70] {
        let problem = Problem::<f64>::feasible(n, 0, Kind::Up, 0.3, 1);
        let case = Case::new(problem, 1);
        let (pulled, pushed) = there.batch(&[&case], Order::Columns, None, None).remove(0);
        for j in 0..n {
            for i in j..n {
                assert!((pulled.l[(i, j)] - case.bar[(i, j)]).abs() <= 4.0 * f64::EPSILON);
                assert!((pushed[(i, j)] - case.along.l[(i, j)]).abs() <= 4.0 * f64::EPSILON);
            }
        }
    }
}
