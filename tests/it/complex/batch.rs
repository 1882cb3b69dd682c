//! Batches of complex factors: modifications against the contract, entry by entry, and against single factors.

use super::oracle::{backward_error, row_scale};
use super::problem::{Kind, Problem};
use super::scalar::{Complex, bits, is_double};
use crate::support::contract::{Observed, allowed};
use crate::support::problem::Problem as RealProblem;
use cholupdate::faer::{Mat, c32, c64};
use cholupdate::{BatchRef, BatchWeights, CholeskyBatch, Cpu, Error};

/// Matrices of any orders one after the other, by rows; no numbers where a matrix has no entry.
pub fn stacked<T: Complex>(all: &[Mat<T>], rows: usize, columns: usize) -> Vec<T> {
    let nothing = T::from_c64(c64::new(f64::NAN, f64::NAN));
    let entry = |a: &Mat<T>, i: usize, j: usize| {
        if i < a.nrows() && j < a.ncols() { a[(i, j)] } else { nothing }
    };
    let of = |a| (0..rows * columns).map(move |at| entry(a, at / columns, at % columns));
    all.iter().flat_map(of).collect()
}

/// A batch of these factors, with room for matrices of order n.
pub fn batch_of<T: Complex>(l: &[Mat<T>], n: usize, engine: Cpu) -> CholeskyBatch<T> {
    let orders: Vec<usize> = l.iter().map(Mat::nrows).collect();
    let all = stacked(l, n, n);
    let all = BatchRef::by_rows(&all, [l.len(), n, n]).unwrap();
    CholeskyBatch::from_factors_with_orders(all, &orders, engine).unwrap()
}

pub fn factors<T: Complex>(batch: &CholeskyBatch<T>) -> Vec<Mat<T>> {
    (0..batch.count()).map(|matrix| batch.factor(matrix).unwrap()).collect()
}

/// The outcome of each: the new factor, the least ratio and the change of log det A.
type Outcomes<T> = Vec<Result<(Mat<T>, f64, f64), Error>>;

/// Problems of different shapes in one call: other columns of V have the weight 0.
fn modified<T: Complex>(problems: &[Problem<T>], engine: Cpu) -> Outcomes<T> {
    let most = |of: fn(&Problem<T>) -> usize| problems.iter().map(of).max().unwrap_or(0);
    let (n, k) = (most(|problem| problem.l.nrows()), most(|problem| problem.v.ncols()));
    let l: Vec<Mat<T>> = problems.iter().map(|problem| problem.l.clone()).collect();
    let v: Vec<Mat<T>> = problems.iter().map(|problem| problem.v.clone()).collect();
    let weight = |problem: &Problem<T>, r: usize| problem.weights.get(r).copied().unwrap_or(T::part(0.0));
    let weights: Vec<T::Re> =
        problems.iter().flat_map(|problem| (0..k).map(move |r| weight(problem, r))).collect();
    let mut batch = batch_of(&l, n, engine);
    let v = stacked(&v, n, k);
    let v = BatchRef::by_rows(&v, [problems.len(), n, k]).unwrap();
    let outcome = batch.modify(v, BatchWeights::OfEach(&weights)).unwrap();
    let reports: Vec<_> = (0..problems.len()).map(|matrix| outcome.report(matrix)).collect();
    let new = |(matrix, report): (usize, Result<cholupdate::Modification, Error>)| {
        let l = batch.factor(matrix).unwrap();
        if report.is_err() {
            assert_eq!(bits(l.as_ref()), bits(problems[matrix].l.as_ref()), "matrix {matrix} is as it was");
        }
        report.map(|report| (l, report.min_pivot_ratio, report.log_det_change()))
    };
    reports.into_iter().enumerate().map(new).collect()
}

/// Every generator of data that are hard for a modification.
fn hard<T: Complex>() -> Vec<Problem<T>> {
    let mut all = Vec::new();
    let left = if is_double::<T>() { 1e-6 } else { 1e-2 };
    for (seed, n) in [0, 1, 2, 3, 4, 7, 8, 9, 16, 27, 33, 50].into_iter().enumerate() {
        let seed = seed as u64;
        for k in [0, 1, 2, 3, 4, 5, 9] {
            for kind in Kind::ALL {
                all.push(Problem::feasible(n, k, kind, 0.3, seed));
                all.push(Problem::feasible(n, k, kind, 1e-3, seed));
                if n > 0 && k > 0 {
                    all.push(Problem::outgrowing(n, k, kind, seed));
                    let grade = |i: usize| 10f64.powi(-(i as i32 % 5));
                    all.push(Problem::feasible(n, k, kind, 0.3, seed).graded(grade));
                    let real = RealProblem::<f64>::feasible(n, k, kind, 0.3, seed);
                    all.push(Problem::turned(&real, seed));
                }
            }
            if k > 0 {
                for scale in [1e2, 1e4] {
                    all.push(Problem::feasible(n, k, Kind::Up, 0.5, seed).dominated(scale));
                }
            }
        }
        if n > 1 {
            all.extend([1, 2].map(|pairs| Problem::cancelling(n, pairs, 1e-2, seed)));
            all.extend([None, Some(0), Some(n - 1)].map(|main| Problem::exhausting(n, left, main, seed)));
            all.extend([0, n / 2, n - 1].map(|column| Problem::breaking(n, 2, column, Kind::Down, seed)));
            all.extend([0, n / 2].map(|column| Problem::breaking(n, 5, column, Kind::Mixed, seed)));
        }
    }
    all
}

/// What the contract allows a squared pivot to be off, relative to that of the old L, if it is off in that row alone.
fn doubt<T: Complex>(Problem { l, v, weights }: &Problem<T>) -> f64 {
    let row = |j: usize| row_scale(l.as_ref(), v.as_ref(), weights, j) / l[(j, j)].c64().re;
    let largest = (0..l.nrows()).map(row).fold(1.0, f64::max);
    allowed(l.nrows(), v.ncols()) * T::ROUNDOFF * largest.powi(2)
}

fn hold_the_contract_in_one_batch<T: Complex>()
where
    Cpu: cholupdate::Engine<T>,
{
    let problems = hard::<T>();
    let mut observed = Observed::recorded(5.9);
    let mut refused = 0;
    for (outcome, problem) in modified(&problems, Cpu::default()).into_iter().zip(&problems) {
        match (outcome, problem.modified(&Cpu::sequential())) {
            (Ok((new, ratio, _)), Ok((_, report))) => {
                let Problem { l, v, weights } = problem;
                let error = backward_error(new.as_ref(), l.as_ref(), v.as_ref(), weights);
                observed.hold::<T::Re>(error, v.shape(), "in a batch");
                let expected = report.min_pivot_ratio;
                let near = (ratio - expected).abs() <= 10.0 * doubt(problem) * expected.max(1.0);
                assert!(near, "the least ratio is {ratio}, of a single factor {expected}");
            }
            (Err(error), Err(single)) => {
                assert_eq!(error, single);
                refused += 1;
            }
            (outcome, single) => panic!("{outcome:?} in a batch, {single:?} alone"),
        }
    }
    assert!(refused > 30, "{refused} matrices would not be positive definite");
}

#[test]
fn all_hard_data_in_one_batch() {
    hold_the_contract_in_one_batch::<c64>();
    hold_the_contract_in_one_batch::<c32>();
}

/// V that outweighs L by little, by which a lane is still good, to V that does not.
fn at_the_edge_of_lanes<T: Complex>() {
    let mut observed = Observed::recorded(4.3);
    for (n, k) in [(1, 1), (2, 1), (5, 2), (8, 3), (17, 1), (17, 4), (33, 7)] {
        let scales = (0..40).map(|step| 0.2 * 1.09f64.powi(step));
        let problems: Vec<Problem<T>> = scales
            .enumerate()
            .map(|(seed, scale)| Problem::feasible(n, k, Kind::Up, 0.5, seed as u64).dominated(scale))
            .collect();
        for (outcome, Problem { l, v, weights }) in
            modified(&problems, Cpu::sequential()).into_iter().zip(&problems)
        {
            let error = backward_error(outcome.unwrap().0.as_ref(), l.as_ref(), v.as_ref(), weights);
            observed.hold::<T::Re>(error, (n, k), "V outweighs L");
        }
    }
}

#[test]
fn v_outweighs_columns_of_l_by_any_factor() {
    at_the_edge_of_lanes::<c64>();
    at_the_edge_of_lanes::<c32>();
}

fn same<T: Complex>(a: &Outcomes<T>, b: &Outcomes<T>) {
    assert_eq!(a.len(), b.len());
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        match (a, b) {
            (Ok((a, ratio, log)), Ok((b, of, other))) => {
                assert_eq!(bits(a.as_ref()), bits(b.as_ref()), "matrix {at}");
                assert_eq!((ratio, log), (of, other), "matrix {at}");
            }
            (a, b) => assert_eq!(a.as_ref().err(), b.as_ref().err(), "matrix {at}"),
        }
    }
}

fn depend_on_nothing_else<T: Complex>() {
    let mut problems = hard::<T>();
    let first = modified(&problems, Cpu::sequential());
    let alone = |problem: &Problem<T>| modified(core::slice::from_ref(problem), Cpu::sequential()).remove(0);
    same(&first, &problems.iter().map(alone).collect());
    for threads in [2, 3, 8] {
        same(&first, &modified(&problems, Cpu::threads(threads)));
    }
    // In the opposite order, and at other places.
    problems.reverse();
    problems.drain(..5);
    let mut other = modified(&problems, Cpu::default());
    other.reverse();
    same(&first[..other.len()].to_vec(), &other);
}

#[test]
fn a_result_depends_on_no_other_matrix_no_place_and_no_thread() {
    depend_on_nothing_else::<c64>();
    depend_on_nothing_else::<c32>();
}

/// Reports against those of single factors, for orders whose product of ratios is taken in parts.
fn reports_are_those_of_single_factors<T: Complex>()
where
    Cpu: cholupdate::Engine<T>,
{
    for n in [1, 2, 47, 48, 49, 120] {
        for kind in Kind::ALL {
            let all: Vec<Problem<T>> = (0..10).map(|seed| Problem::feasible(n, 3, kind, 0.5, seed)).collect();
            for (found, problem) in modified(&all, Cpu::sequential()).into_iter().zip(&all) {
                let (_, ratio, log) = found.unwrap();
                let (_, single) = problem.modified(&Cpu::sequential()).unwrap();
                let (expected, doubt) = (single.log_det_change(), 1e3 * n as f64 * T::ROUNDOFF);
                assert!((log - expected).abs() <= doubt, "n = {n}: {log}, not {expected}");
                assert!((ratio / single.min_pivot_ratio - 1.0).abs() <= doubt, "n = {n}, {kind:?}");
            }
        }
    }
}

#[test]
fn reports_of_complex_factors() {
    reports_are_those_of_single_factors::<c64>();
    reports_are_those_of_single_factors::<c32>();
}

/// The parts of real problems are real, and imaginary parts stay exactly zero.
fn real_matrices_stay_real<T: Complex>() {
    for n in [1, 2, 5, 9, 33] {
        for k in [1, 2, 4, 6] {
            let real = RealProblem::<f64>::feasible(n, k, Kind::Mixed, 0.3, n as u64);
            let of = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| c64::new(a[(i, j)], 0.0));
            let problem = Problem::<T>::new(&of(&real.l), &of(&real.v), &real.weights);
            let (new, ..) = modified(&[problem], Cpu::sequential()).remove(0).unwrap();
            assert!((0..n).all(|j| (0..n).all(|i| new[(i, j)].c64().im == 0.0)), "n = {n}, k = {k}");
        }
    }
}

#[test]
fn imaginary_parts_of_real_matrices_stay_zero() {
    real_matrices_stay_real::<c64>();
    real_matrices_stay_real::<c32>();
}
