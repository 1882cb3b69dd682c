//! Copies of a batch in the memory of a device: of some matrices, with more room, and of a single matrix.

use super::change_places;
use crate::batch::{by_rows, columns, some};
use crate::support::cuda::{device, turn};
use crate::support::real::bits;
use cholupdate::cuda::{CholeskyBatch, Device};
use cholupdate::faer::Mat;
use cholupdate::{BatchMut, BatchRef, Cholesky, Error};

/// The bits of all factors; the reasons of those that are missing.
fn contents(batch: &CholeskyBatch<f64>) -> Vec<Result<Vec<u64>, Error>> {
    (0..batch.count()).map(|matrix| batch.factor(matrix).map(|l| bits(l.as_ref()))).collect()
}

/// Matrices of order n and less, of which number 3 is indefinite and number 6 not finite.
fn ragged(device: &Device, count: usize, n: usize) -> CholeskyBatch<f64> {
    let (mut a, _) = some::<f64>(count, n, 40 + n as u64);
    let orders: Vec<usize> = (0..count).map(|b| n - b % 3 % n).collect();
    a[3 * n * n] = -1.0;
    a[(6 * n + n - 1) * n] = f64::NAN;
    let a = BatchRef::by_rows(&a, [count, n, n]).unwrap();
    let mut batch = CholeskyBatch::with_orders(device, a, &orders).unwrap();
    change_places(&mut batch);
    batch
}

/// Updates and solves with both batches, whose orders may differ, and compares the bits.
fn go_on_alike(one: &mut CholeskyBatch<f64>, other: &mut CholeskyBatch<f64>) {
    let results = [&mut *one, other].map(|batch| {
        let (count, n) = (batch.count(), batch.order());
        let entry = |at: usize| 1.0 / (1 + at / n + at % n) as f64;
        let mut x: Vec<f64> = (0..count * n).map(entry).collect();
        let outcome = batch.update(BatchRef::by_rows(&x, [count, n, 1]).unwrap()).unwrap();
        let reports: Vec<_> = (0..count).map(|b| outcome.report(b)).collect();
        let status = batch.solve_in_place(BatchMut::by_rows(&mut x, [count, n, 1]).unwrap()).unwrap();
        (reports, status.failed().unwrap(), contents(batch), x)
    });
    assert_eq!(results[0].1, results[1].1);
    if one.order() == other.order() {
        assert_eq!(results[0].0, results[1].0);
        assert_eq!(results[0].2, results[1].2);
        assert_eq!(results[0].3, results[1].3);
    }
}

#[test]
fn some_matrices_are_copied_in_any_order() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [1, 5, 8, 9, 40, 270] {
        let count = if n < 50 { 70 } else { 9 };
        let mut batch = ragged(&device, count, n);
        let before = contents(&batch);
        assert_eq!(batch.missing().unwrap(), [3, 6]);
        let chosen = [7, 3, 3, count - 1, 0, 6, 7];
        let mut copy = batch.select(&chosen).unwrap();
        assert_eq!((copy.count(), copy.order()), (7, n));
        assert_eq!(contents(&copy), chosen.map(|b| before[b].clone()));
        assert!(batch.select(&[]).unwrap().orders().unwrap().is_empty());
        let refused = Error::Index { argument: "matrices", entry: 1, found: count, limit: count };
        assert_eq!(batch.select(&[0, count]).unwrap_err(), refused);
        // A copy is a batch of its own, and the same.
        let mut all = batch.try_clone().unwrap();
        let mut again = copy.try_clone().unwrap();
        go_on_alike(&mut batch, &mut all);
        go_on_alike(&mut copy, &mut again);
        let changed = contents(&batch);
        assert_ne!(changed, before);
        assert_eq!(contents(&batch.select(&[0]).unwrap())[0], changed[0]);
    }
}

#[test]
fn there_can_be_more_room() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for (n, rooms) in [(1, [2, 9]), (5, [8, 300]), (8, [9, 33]), (40, [41, 64]), (260, [261, 400])] {
        let count = if n < 50 { 40 } else { 8 };
        for room in rooms {
            let (mut batch, mut other) = (ragged(&device, count, n), ragged(&device, count, n));
            let before = contents(&batch);
            batch.reserve(room).unwrap();
            batch.reserve(n).unwrap();
            assert_eq!(batch.order(), room);
            assert_eq!(batch.orders().unwrap(), other.orders().unwrap());
            assert_eq!(contents(&batch), before, "room for {room} from {n}");
            go_on_alike(&mut batch, &mut other);
        }
    }
    let mut batch = ragged(&device, 7, 3);
    let before = contents(&batch);
    let refused = Error::OutOfRange { argument: "order", rule: "at most 4096" };
    assert_eq!(batch.reserve(4097).unwrap_err(), refused);
    assert_eq!((batch.order(), contents(&batch)), (3, before));
}

#[test]
fn a_matrix_is_replaced_or_stays() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [3, 8, 20, 260] {
        let count = if n < 50 { 40 } else { 8 };
        let mut batch = ragged(&device, count, n);
        let mut expected = contents(&batch);
        let (_, all) = some::<f64>(1, n, 50);
        for (matrix, order) in [(0, n), (3, n - 1), (count - 1, 1), (5, 0)] {
            // Above the diagonal there may be anything.
            let a = Mat::from_fn(order, order, |i, j| if i < j { f64::NAN } else { all[0][(i, j)] });
            batch.replace(matrix, &a).unwrap();
            let l = batch.factor(matrix).unwrap();
            let single = Cholesky::new(&a).unwrap();
            assert!((&l - single.l()).norm_max() <= 1e-12 * n as f64);
            expected[matrix] = Ok(bits(l.as_ref()));
        }
        assert_eq!(batch.missing().unwrap(), [6]);
        let mut refused = |matrix, a: &Mat<f64>, error| {
            assert_eq!(batch.replace(matrix, a), Err(error));
        };
        let mut a = all[0].clone();
        a[(1, 1)] = -1.0;
        refused(1, &a, Error::NotPositiveDefinite { column: 1 });
        a[(1, 1)] = f64::MAX;
        refused(1, &a, Error::Overflow { argument: "a" });
        a[(2, 1)] = f64::INFINITY;
        refused(6, &a, Error::NonFinite { argument: "a", row: 2, column: 1 });
        refused(count, &a, Error::Index { argument: "matrix", entry: 0, found: count, limit: count });
        let large = Mat::identity(n + 1, n + 1);
        refused(0, &large, Error::Index { argument: "a", entry: 0, found: n + 1, limit: n + 1 });
        let wide = Mat::zeros(2, 3);
        refused(0, &wide, Error::Shape { argument: "a", extent: "columns", expected: 2, found: 3 });
        assert_eq!(contents(&batch), expected);
        // All of them are still modified side by side.
        let v = by_rows(&columns::<f64>(count, n, 1, 51));
        let outcome = batch.update(BatchRef::by_rows(&v, [count, n, 1]).unwrap()).unwrap();
        assert_eq!(outcome.failed().unwrap(), [6]);
    }
}
