//! Batches in the memory of a device: the contract of the batch on the CPU, matrix by matrix.

mod calls;
mod copies;
mod row_calls;
mod rows;

use crate::batch::{Given, Outcomes, by_rows, columns, doubt, hard, same, some};
use crate::support::contract::{Observed, assert_solved, factor_error_of_rows, some_rows};
use crate::support::cuda::{device, share, turn};
use crate::support::problem::{Kind, Problem};
use crate::support::real::{Real, bits};
use cholupdate::cuda::{CholeskyBatch, Device};
use cholupdate::faer::Mat;
use cholupdate::{BatchMut, BatchRef, BatchWeights, Cpu, Error, Weights};

/// The largest orders of the forms in which a matrix is divided among threads: one thread, 4 to 32 lanes with four
/// or eight rows each, and blocks.
const FORMS: [usize; 9] = [3, 4, 8, 16, 27, 60, 100, 160, 260];

fn modified<T: Real>(device: &Device, given: &Given<T>, order: usize) -> Outcomes<T> {
    let wide = Given { problems: given.problems.clone(), order, rank: given.rank };
    let count = wide.problems.len();
    let l = wide.padded(order, |problem| problem.l.as_ref());
    let orders: Vec<usize> = wide.problems.iter().map(|problem| problem.l.nrows()).collect();
    let l = BatchRef::by_rows(&l, [count, order, order]).unwrap();
    let mut batch = CholeskyBatch::from_factors_with_orders(device, l, &orders).unwrap();
    let v = wide.padded(given.rank, |problem| problem.v.as_ref());
    let v = BatchRef::by_rows(&v, [count, order, given.rank]).unwrap();
    let outcome = batch.modify(v, BatchWeights::OfEach(&wide.weights())).unwrap();
    let reports: Vec<_> = (0..count).map(|matrix| outcome.report(matrix)).collect();
    let new = |(matrix, report): (usize, Result<_, Error>)| {
        report.map(|report: cholupdate::Modification| (batch.factor(matrix).unwrap(), report.min_pivot_ratio))
    };
    reports.into_iter().enumerate().map(new).collect()
}

/// The hard data of orders up to this one, of which the fake driver has a share with all ranks and signs, and more.
fn given<T: Real>(order: usize) -> Given<T> {
    let some = share(hard::<T>(), 11, order);
    let mut problems: Vec<Problem<T>> = some.filter(|problem| problem.l.nrows() <= order).collect();
    for kind in Kind::ALL {
        problems.push(Problem::feasible(order, 3, kind, 0.3, 5));
        problems.push(Problem::feasible(order, 1, kind, 1e-3, 6));
        // Nothing to do, beside others.
        let mut none = Problem::feasible(order, 2, kind, 0.3, 7);
        none.v = Mat::zeros(order, 2);
        problems.push(none);
    }
    Given::new(problems)
}

/// An update that changes no bit, after which factors of order 33 or more are in the other one of their places.
fn change_places<T: Real>(batch: &mut CholeskyBatch<T>) {
    let shape = [batch.count(), batch.order(), 1];
    // Their squares are zero.
    let tiny = vec![T::of(if size_of::<T>() == 8 { 1e-200 } else { 1e-30 }); shape[0] * shape[1]];
    batch.update(BatchRef::by_rows(&tiny, shape).unwrap()).unwrap();
}

fn hold_the_contract<T: Real>(device: &Device) {
    for order in FORMS {
        let given = given::<T>(order);
        let mut observed = Observed::recorded(5.0);
        for (outcome, problem) in modified(device, &given, order).into_iter().zip(&given.problems) {
            match (outcome, problem.modified(&Cpu::sequential())) {
                (Ok((new, ratio)), Ok((_, report))) => {
                    observed.check(new.as_ref(), problem, format!("in a batch of order {order}"));
                    let expected = report.min_pivot_ratio;
                    let near = (ratio - expected).abs() <= 10.0 * doubt(problem) * expected.max(1.0);
                    assert!(near, "the least ratio is {ratio}, of a single factor {expected}");
                }
                (Err(error), Err(single)) => assert_eq!(error, single),
                (outcome, single) => panic!("{outcome:?} in a batch of order {order}, {single:?} alone"),
            }
        }
    }
}

#[test]
fn all_hard_data_in_double_precision() {
    let _turn = turn();
    device().inspect(hold_the_contract::<f64>);
}

#[test]
fn all_hard_data_in_single_precision() {
    let _turn = turn();
    device().inspect(hold_the_contract::<f32>);
}

#[test]
fn a_result_depends_on_no_other_matrix_and_no_place() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for order in FORMS {
        let mut given = given::<f64>(order);
        let some = given.problems.len() / 40 + 1;
        let all = modified(&device, &given, order);
        for at in (0..given.problems.len()).step_by(some) {
            let alone = Given { problems: vec![given.problems[at].clone()], ..given };
            same(&modified(&device, &alone, order), &all[at..at + 1].to_vec());
        }
        given.problems.drain(..5);
        same(&modified(&device, &given, order), &all[5..].to_vec());
    }
}

#[test]
fn first_factors_and_solutions() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for (seed, n) in
        [1, 2, 4, 5, 8, 9, 16, 17, 31, 33, 64, 65, 100, 128, 130, 256, 260].into_iter().enumerate()
    {
        let count = if n < 40 { 40 } else { 3 };
        let (a, all) = some::<f64>(count, n, seed as u64);
        let mut batch = CholeskyBatch::new(&device, BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
        if n % 2 == 0 {
            change_places(&mut batch);
        }
        let mut observed = Observed::recorded(5.0);
        let log_dets = batch.log_dets().unwrap();
        for (matrix, a) in all.iter().enumerate() {
            let l = batch.factor(matrix).unwrap();
            let off = factor_error_of_rows(l.as_ref(), a.as_ref(), some_rows(n));
            observed.hold::<f64>(off, (n, 0), "a first factor");
            let log_det: f64 = (0..n).map(|j| 2.0 * l[(j, j)].ln()).sum();
            assert!((log_dets[matrix] - log_det).abs() < 1e-12 * n as f64);
        }
        for m in [1, 3] {
            let b = columns::<f64>(count, n, m, 77);
            let mut x = by_rows(&b);
            let status = batch.solve_in_place(BatchMut::by_rows(&mut x, [count, n, m]).unwrap()).unwrap();
            assert!(status.failed().unwrap().is_empty());
            for (matrix, a) in all.iter().enumerate() {
                let at = |i: usize, c: usize| x[(matrix * n + i) * m + c];
                assert_solved(a, &Mat::from_fn(n, m, at), &b[matrix]);
            }
            // Both halves, one after the other.
            let mut halves = by_rows(&b);
            let shape = [count, n, m];
            batch.solve_l_in_place(BatchMut::by_rows(&mut halves, shape).unwrap()).unwrap();
            batch.solve_lt_in_place(BatchMut::by_rows(&mut halves, shape).unwrap()).unwrap();
            assert_eq!(x, halves);
        }
    }
}

#[test]
fn what_is_wrong_with_a_matrix_stops_no_other() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [6, 12, 70, 270] {
        let count = 21;
        let (mut a, _) = some::<f64>(count, n, 6);
        let at = |matrix: usize, i: usize, j: usize| (matrix * n + i) * n + j;
        a[at(2, 3, 1)] = f64::NAN;
        a[at(5, 4, 4)] = -1.0;
        a[at(9, 0, 0)] = f64::MAX;
        let mut batch = CholeskyBatch::new(&device, BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
        assert_eq!(batch.missing().unwrap(), [2, 5, 9]);
        assert_eq!(batch.status_of(2), Err(Error::NonFinite { argument: "a", row: 3, column: 1 }));
        assert_eq!(batch.status_of(5), Err(Error::NotPositiveDefinite { column: 4 }));
        assert_eq!(batch.factor(9).unwrap_err(), Error::Overflow { argument: "a" });
        assert_eq!(batch.orders().unwrap()[1..3], [Some(n), None]);
        assert!(batch.log_dets().unwrap()[5].is_nan());
        let before: Vec<_> = (0..count).map(|matrix| batch.factor(matrix)).collect();

        let mut v = by_rows(&columns::<f64>(count, n, 2, 7));
        v[(3 * n + 1) * 2] = f64::INFINITY;
        v[(4 * n + 2) * 2 + 1] = f64::NAN;
        v[(6 * n) * 2] = 1e3;
        v[(7 * n) * 2] = 1e200;
        let v = BatchRef::by_rows(&v, [count, n, 2]).unwrap();
        let outcome = batch.modify(v, &[0.01, -1e-8]).unwrap();
        assert_eq!(outcome.failed().unwrap(), [2, 3, 4, 5, 7, 9]);
        assert_eq!(outcome.status(3), Err(Error::NonFinite { argument: "v", row: 1, column: 0 }));
        assert_eq!(outcome.status(4), Err(Error::NonFinite { argument: "v", row: 2, column: 1 }));
        assert_eq!(outcome.status(5), Err(Error::NotPositiveDefinite { column: 4 }));
        assert_eq!(outcome.status(7), Err(Error::Overflow { argument: "v" }));
        assert!(outcome.report(6).unwrap().min_pivot_ratio > 0.9);
        let no_such = Err(Error::Index { argument: "matrix", entry: 0, found: 21, limit: 21 });
        assert_eq!(outcome.status(count), no_such);
        for matrix in [3, 4, 7] {
            let now = batch.factor(matrix).unwrap();
            assert_eq!(bits(now.as_ref()), bits(before[matrix].as_ref().unwrap().as_ref()));
        }
        assert_ne!(batch.factor(8), before[8]);

        // A downdate that breaks down in all of them, twice: the list of what is to be decided is empty in between.
        let large = vec![1e3; count * n];
        let large = BatchRef::by_rows(&large, [count, n, 1]).unwrap();
        let before: Vec<_> = (0..count).map(|matrix| batch.factor(matrix)).collect();
        for _ in 0..2 {
            let outcome = batch.downdate(large).unwrap();
            assert_eq!(outcome.status(0), Err(Error::NotPositiveDefinite { column: 0 }));
            assert_eq!(outcome.failed().unwrap().len(), count);
        }
        for matrix in (0..count).filter(|&matrix| before[matrix].is_ok()) {
            let now = batch.factor(matrix).unwrap();
            assert_eq!(bits(now.as_ref()), bits(before[matrix].as_ref().unwrap().as_ref()));
        }

        // A solve names what it leaves out, and does not write there.
        let mut x = vec![1.0; count * n];
        x[10 * n + 2] = f64::NEG_INFINITY;
        let given = x.clone();
        let status = batch.solve_in_place(BatchMut::by_rows(&mut x, [count, n, 1]).unwrap()).unwrap();
        let failed = status.failed().unwrap();
        assert_eq!(failed, [2, 5, 9, 10]);
        assert_eq!(status.status(10), Err(Error::NonFinite { argument: "rhs", row: 2, column: 0 }));
        assert_eq!(status.status(9), Err(Error::Overflow { argument: "a" }));
        for matrix in failed {
            assert_eq!(x[matrix * n..][..n], given[matrix * n..][..n]);
        }
    }
}

#[test]
fn singular_factors_are_updated_and_not_solved_with() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [3, 10, 40, 300] {
        let l = vec![0.0; 2 * n * n];
        let mut batch =
            CholeskyBatch::from_factors(&device, BatchRef::by_rows(&l, [2, n, n]).unwrap()).unwrap();
        let mut x = vec![1.0; 2 * n];
        let status = batch.solve_in_place(BatchMut::by_rows(&mut x, [2, n, 1]).unwrap()).unwrap();
        assert_eq!(status.status(1), Err(Error::Singular { column: 0 }));
        assert_eq!(batch.log_dets().unwrap(), [f64::NEG_INFINITY; 2]);
        let entry = |at: usize| if (at % (n * n)).is_multiple_of(n + 1) { 2.0 } else { 0.0 };
        let unit: Vec<f64> = (0..2 * n * n).map(entry).collect();
        let outcome = batch.update(BatchRef::by_rows(&unit, [2, n, n]).unwrap()).unwrap();
        assert!(outcome.failed().unwrap().is_empty());
        assert_eq!(outcome.report(0).unwrap().log_det_change(), 0.0);
        assert_eq!(
            batch.factor(1).unwrap(),
            Mat::<f64>::from_fn(n, n, |i, j| if i == j { 2.0 } else { 0.0 })
        );
    }
}

#[test]
fn a_mask_and_weights_of_zero_leave_bits_as_they_are() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [5, 9, 70, 257] {
        let count = if n < 50 { 50 } else { 6 };
        let (a, _) = some::<f64>(count, n, 8);
        let a = BatchRef::by_rows(&a, [count, n, n]).unwrap();
        let v = by_rows(&columns::<f64>(count, n, 2, 9));
        let v = BatchRef::by_rows(&v, [count, n, 2]).unwrap();
        let new = || CholeskyBatch::new(&device, a).unwrap();
        let factors = |batch: &CholeskyBatch<f64>| -> Vec<_> {
            (0..count).map(|matrix| bits(batch.factor(matrix).unwrap().as_ref())).collect()
        };
        let (mut batch, mut all) = (new(), new());
        let before = factors(&batch);
        all.update(v).unwrap();
        let mask: Vec<bool> = (0..count).map(|matrix| matrix % 3 == 0).collect();
        let outcome = batch.modify_where(&mask, v, Weights::Plus).unwrap();
        assert_eq!(outcome.report(1).unwrap().log_det_change(), 0.0);
        assert_eq!(outcome.report(1).unwrap().min_pivot_ratio, 1.0);
        let (masked, all) = (factors(&batch), factors(&all));
        for matrix in 0..count {
            assert_eq!(masked[matrix], if mask[matrix] { &all } else { &before }[matrix], "matrix {matrix}");
        }
        // A weight of zero is no column, not even one that is not a number.
        let mut with_nan = vec![f64::NAN; count * n * 2];
        (0..count * n).for_each(|row| with_nan[2 * row] = v.get(row / n, row % n, 0));
        let with_nan = BatchRef::by_rows(&with_nan, [count, n, 2]).unwrap();
        let (mut batch, mut one) = (new(), new());
        one.modify(v, &[0.5, 0.0]).unwrap();
        assert!(batch.modify(with_nan, &[0.5, 0.0]).unwrap().failed().unwrap().is_empty());
        assert_eq!(factors(&batch), factors(&one));
        let weights: Vec<f64> = (0..2 * count).map(|at| if at == 8 { f64::NAN } else { 1.0 }).collect();
        let outcome = batch.modify(v, BatchWeights::OfEach(&weights)).unwrap();
        assert_eq!(outcome.failed().unwrap(), [4]);
        assert_eq!(outcome.status(4), Err(Error::NonFinite { argument: "weights", row: 0, column: 0 }));
    }
}
