//! What calls on a batch in the memory of a device take, and what they refuse.

use crate::batch::{by_rows, columns, some};
use crate::support::cuda::{device, on_the_fake_driver, turn};
use crate::support::real::bits;
use cholupdate::cuda::{CholeskyBatch, DeviceBatch, DeviceBatchView};
use cholupdate::{BatchMut, BatchRef, BatchWeights, Error, Weights};

#[test]
fn operands_on_the_device_give_the_same_bits() {
    let _turn = turn();
    let Some(device) = device() else { return };
    let (count, n, k) = (37, 12, 3);
    let (a, _) = some::<f32>(count, n, 20);
    let v = by_rows(&columns::<f32>(count, n, k, 21));
    let a = BatchRef::by_rows(&a, [count, n, n]).unwrap();
    let v = BatchRef::by_rows(&v, [count, n, k]).unwrap();
    let mut here = CholeskyBatch::new(&device, a).unwrap();
    here.update(v).unwrap();
    let (a, v) = (DeviceBatch::from_host(&device, a).unwrap(), DeviceBatch::from_host(&device, v).unwrap());
    let mut there = CholeskyBatch::new(&device, &a).unwrap();
    there.update(&v).unwrap();
    let mut l =
        DeviceBatch::from_host(&device, BatchRef::by_rows(&vec![0.0; count * n * n], [count, n, n]).unwrap())
            .unwrap();
    there.copy_factors(&mut l).unwrap();
    let mut copied = vec![7.0; count * n * n];
    l.copy_to(BatchMut::by_rows(&mut copied, [count, n, n]).unwrap()).unwrap();
    let mut into_host = vec![0.0; count * n * n];
    here.copy_factors(BatchMut::by_rows(&mut into_host, [count, n, n]).unwrap()).unwrap();
    assert_eq!(copied, into_host);
    for matrix in 0..count {
        let l = here.factor(matrix).unwrap();
        assert_eq!(bits(l.as_ref()), bits(there.factor(matrix).unwrap().as_ref()));
        assert_eq!(l[(n - 1, 2)], copied[(matrix * n + n - 1) * n + 2]);
    }
}

#[test]
fn shapes_are_checked_and_nothing_is_no_work() {
    let _turn = turn();
    let Some(device) = device() else { return };
    let batch = |count: usize, n: usize| {
        let l: Vec<f64> =
            (0..count * n * n).map(|at| f64::from(u8::from((at % (n * n)).is_multiple_of(n + 1)))).collect();
        CholeskyBatch::from_factors(&device, BatchRef::by_rows(&l, [count, n, n]).unwrap()).unwrap()
    };
    let zeros = vec![0.0; 1000];
    let of = |shape: [usize; 3]| BatchRef::new(&zeros, shape, [0, 1, 1]).unwrap();
    for (count, n, k) in [(0, 5, 2), (3, 0, 2), (3, 5, 0), (0, 0, 0), (3, 40, 0)] {
        let mut batch = batch(count, n);
        let outcome = batch.update(of([count, n, k])).unwrap();
        assert!(outcome.failed().unwrap().is_empty());
        if count > 0 {
            assert_eq!(outcome.report(0).unwrap().min_pivot_ratio, 1.0);
        }
        let mut x = vec![0.0; count * n * k];
        let status = batch.solve_in_place(BatchMut::by_rows(&mut x, [count, n, k]).unwrap()).unwrap();
        assert!(status.failed().unwrap().is_empty());
    }
    let mut batch = batch(3, 5);
    let wrong = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    assert_eq!(batch.update(of([2, 5, 1])).unwrap_err(), wrong("v", "matrices", 3, 2));
    assert_eq!(batch.update(of([3, 4, 1])).unwrap_err(), wrong("v", "rows", 5, 4));
    assert_eq!(batch.modify(of([3, 5, 2]), &[1.0]).unwrap_err(), wrong("weights", "entries", 2, 1));
    let each = BatchWeights::OfEach(&[1.0, 1.0]);
    assert_eq!(batch.modify(of([3, 5, 2]), each).unwrap_err(), wrong("weights", "entries", 6, 2));
    let not_finite = Error::NonFinite { argument: "weights", row: 1, column: 0 };
    assert_eq!(batch.modify(of([3, 5, 2]), &[1.0, f64::NAN]).unwrap_err(), not_finite);
    let outcome = batch.modify_where(&[true], of([3, 5, 1]), Weights::Plus);
    assert_eq!(outcome.unwrap_err(), wrong("mask", "entries", 3, 1));
    let rectangular = CholeskyBatch::<f64>::new(&device, of([3, 5, 4]));
    assert_eq!(rectangular.unwrap_err(), wrong("a", "columns", 5, 4));
    let orders = CholeskyBatch::<f64>::with_orders(&device, of([2, 5, 5]), &[5, 6]);
    assert_eq!(orders.unwrap_err(), Error::Index { argument: "orders", entry: 1, found: 6, limit: 6 });
    let large = BatchRef::new(&zeros, [1, 5000, 5000], [0, 0, 0]).unwrap();
    let large = CholeskyBatch::<f64>::new(&device, large).unwrap_err();
    assert_eq!(large, Error::OutOfRange { argument: "a", rule: "of an order of at most 4096" });
}

#[test]
fn what_needs_a_regular_factor_names_the_pivot() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [4, 12, 40, 300] {
        // The second matrix is singular in its last column, and beside a regular one.
        let entry =
            |at: usize| f64::from(u8::from((at % (n * n)).is_multiple_of(n + 1) && at + 1 < 2 * n * n));
        let l: Vec<f64> = (0..2 * n * n).map(entry).collect();
        let mut batch =
            CholeskyBatch::from_factors(&device, BatchRef::by_rows(&l, [2, n, n]).unwrap()).unwrap();
        let mut v = vec![0.0; 2 * n];
        (v[0], v[n]) = (0.5, 0.5);
        let v = BatchRef::by_rows(&v, [2, n, 1]).unwrap();
        let outcome = batch.downdate(v).unwrap();
        assert_eq!(outcome.status(0), Ok(()));
        assert_eq!(outcome.status(1), Err(Error::Singular { column: n - 1 }));
        assert_eq!(batch.update(v).unwrap().failed().unwrap(), [0; 0]);
    }
}

#[test]
fn what_has_no_factor_is_named_after_its_argument_and_not_copied() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [2, 20] {
        let entry = |at: usize| match at % (n * n) {
            0 if at > 0 => f64::NAN,
            at => f64::from(u8::from(at.is_multiple_of(n + 1))),
        };
        let l: Vec<f64> = (0..2 * n * n).map(entry).collect();
        let mut batch =
            CholeskyBatch::from_factors(&device, BatchRef::by_rows(&l, [2, n, n]).unwrap()).unwrap();
        let missing = Err(Error::NonFinite { argument: "l", row: 0, column: 0 });
        assert_eq!(batch.status_of(1), missing);
        let mut copied = vec![7.0; 2 * n * n];
        batch.copy_factors(BatchMut::by_rows(&mut copied, [2, n, n]).unwrap()).unwrap();
        assert_eq!((copied[0], copied[1]), (1.0, 7.0));
        assert!(copied[n * n..].iter().all(|&entry| entry == 7.0));
        let none = vec![0.0; 2 * n];
        let outcome = batch.update(BatchRef::by_rows(&none, [2, n, 1]).unwrap()).unwrap();
        assert_eq!(outcome.status(1), missing);
        let left_out = batch.modify_where(
            &[true, false],
            BatchRef::new(&none, [2, n, 0], [0, 0, 0]).unwrap(),
            Weights::Plus,
        );
        assert!(left_out.unwrap().failed().unwrap().is_empty());
    }
}

#[test]
fn what_has_failed_is_kept_until_the_next_call_of_its_kind() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [2, 20] {
        // The second of three unit matrices has an entry that is not finite.
        let entry = |at: usize| match at % (n * n) {
            0 if at == n * n => f64::NAN,
            at => f64::from(u8::from(at.is_multiple_of(n + 1))),
        };
        let l: Vec<f64> = (0..3 * n * n).map(entry).collect();
        let mut batch =
            CholeskyBatch::from_factors(&device, BatchRef::by_rows(&l, [3, n, n]).unwrap()).unwrap();
        let missing = (1, Error::NonFinite { argument: "l", row: 0, column: 0 });
        assert_eq!(batch.why_missing().unwrap(), std::slice::from_ref(&missing));
        assert!(batch.outcome().is_none() && batch.solve_status().is_none());

        let mut v = vec![0.0; 3 * n];
        (v[0], v[2 * n + 1]) = (0.5, 1.5);
        let v = BatchRef::by_rows(&v, [3, n, 1]).unwrap();
        let addresses = batch.downdate(v).unwrap().addresses();
        assert!(batch.update(BatchRef::new(&[0.0], [3, n + 1, 1], [0; 3]).unwrap()).is_err());
        let expected = [missing.clone(), (2, Error::NotPositiveDefinite { column: 1 })];
        let outcome = batch.outcome().unwrap();
        assert_eq!((outcome.failures().unwrap(), outcome.addresses()), (expected.to_vec(), addresses));
        assert!((outcome.report(0).unwrap().min_pivot_ratio - 0.75).abs() < 1e-15);

        let mut b = vec![1.0; 3 * n];
        b[n - 1] = f64::INFINITY;
        batch.solve_in_place(BatchMut::by_rows(&mut b, [3, n, 1]).unwrap()).unwrap();
        let expected = [(0, Error::NonFinite { argument: "rhs", row: n - 1, column: 0 }), missing];
        assert_eq!(batch.solve_status().unwrap().failures().unwrap(), expected);
        assert_eq!(batch.outcome().unwrap().failed().unwrap(), [1, 2]);
        assert_eq!(batch.update(v).unwrap().failures().unwrap().len(), 1);
    }
}

#[test]
fn squares_that_overflow_are_refused() {
    let _turn = turn();
    let Some(device) = device() else { return };
    let l = [1.2e154];
    let mut batch = CholeskyBatch::from_factors(&device, BatchRef::by_rows(&l, [1, 1, 1]).unwrap()).unwrap();
    let outcome = batch.update(BatchRef::by_rows(&l, [1, 1, 1]).unwrap()).unwrap();
    assert_eq!(outcome.status(0), Err(Error::Overflow { argument: "v" }));
    assert_eq!(batch.factor(0).unwrap()[(0, 0)], 1.2e154);
}

/// Calls on the default stream wait for nothing, and give the same bits.
#[test]
fn views_on_a_stream() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [7, 31, 60, 200, 270] {
        let (count, k) = (9, 5);
        let (a, _) = some::<f64>(count, n, 30);
        let a = BatchRef::by_rows(&a, [count, n, n]).unwrap();
        let v = by_rows(&columns::<f64>(count, n, k, 31));
        let v = DeviceBatch::from_host(&device, BatchRef::by_rows(&v, [count, n, k]).unwrap()).unwrap();
        let (mut expected, mut batch) =
            (CholeskyBatch::new(&device, a).unwrap(), CholeskyBatch::new(&device, a).unwrap());
        let ones = vec![1.0; count * n];
        let shape = [count, n, 1];
        let mut x = DeviceBatch::from_host(&device, BatchRef::by_rows(&ones, shape).unwrap()).unwrap();
        let mut solved = ones.clone();
        expected.update(&v).unwrap();
        expected.solve_in_place(BatchMut::by_rows(&mut solved, shape).unwrap()).unwrap();
        // SAFETY: the default stream exists, and what has been enqueued is waited for below, before anything else is done.
        let (v, on_stream) = unsafe { (v.view().on_stream(0), x.view_mut().on_stream(0)) };
        assert!(batch.update(v).unwrap().failed().unwrap().is_empty());
        assert!(batch.solve_in_place(on_stream).unwrap().failed().unwrap().is_empty());
        let mut there = vec![0.0; count * n];
        x.copy_to(BatchMut::by_rows(&mut there, shape).unwrap()).unwrap();
        assert_eq!(there, solved);
        assert_eq!(bits(batch.factor(3).unwrap().as_ref()), bits(expected.factor(3).unwrap().as_ref()));
    }
}

/// Weights on the device, of each matrix or the same for all, give the bits of those in host memory.
#[test]
fn weights_on_the_device() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [6, 20, 50, 258] {
        let (count, k) = (7, 5);
        let (a, _) = some::<f64>(count, n, 40);
        let a = BatchRef::by_rows(&a, [count, n, n]).unwrap();
        let v = by_rows(&columns::<f64>(count, n, k, 41));
        let v = DeviceBatch::from_host(&device, BatchRef::by_rows(&v, [count, n, k]).unwrap()).unwrap();
        let weights: Vec<f64> = (0..count * k).map(|at| [0.5, -1e-3, 0.0, 2.0][at % 4]).collect();
        let new = || CholeskyBatch::new(&device, a).unwrap();
        let there = BatchRef::by_rows(&weights, [count, k, 1]).unwrap();
        let there = DeviceBatch::from_host(&device, there).unwrap();
        let (mut expected, mut batch) = (new(), new());
        expected.modify(&v, BatchWeights::OfEach(&weights)).unwrap();
        batch.modify(&v, there.view()).unwrap();
        // On the default stream, each of them, both or none.
        let mut on_streams = [new(), new(), new()];
        for (batch, [of_v, of_weights]) in
            on_streams.iter_mut().zip([[true, true], [true, false], [false, true]])
        {
            // SAFETY: the default stream exists, and what has been enqueued is waited for before anything else is done.
            let (v, weights) = unsafe {
                let v = if of_v { v.view().on_stream(0) } else { v.view() };
                (v, if of_weights { there.view().on_stream(0) } else { there.view() })
            };
            assert!(batch.modify(v, weights).unwrap().failed().unwrap().is_empty());
        }
        let same = |batch: &CholeskyBatch<f64>, expected: &CholeskyBatch<f64>| {
            for matrix in 0..count {
                let l = batch.factor(matrix).unwrap();
                assert_eq!(bits(l.as_ref()), bits(expected.factor(matrix).unwrap().as_ref()));
            }
        };
        same(&batch, &expected);
        on_streams.iter().for_each(|batch| same(batch, &expected));
        // SAFETY: the first k of them, for as long as the batch of weights.
        let shared = unsafe {
            DeviceBatchView::from_raw(&device, there.view().address(), [count, k, 1], [0, 1, 1]).unwrap()
        };
        expected.modify(&v, &weights[..k]).unwrap();
        batch.modify(&v, shared).unwrap();
        same(&batch, &expected);
        let error = batch.modify(&v, v.view()).unwrap_err();
        assert_eq!(error, Error::Shape { argument: "weights", extent: "entries", expected: k, found: n });
    }
}

/// Pivots whose reciprocals overflow are divided by, and a solution that overflows is infinite.
#[test]
fn tiny_pivots() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [3, 8, 20, 50, 100, 200, 300] {
        let tiny = 2.0_f64.powi(-1060);
        let entry = |at: usize| match (at / n % n, at % n) {
            (i, j) if i == j => {
                if i == n / 2 {
                    tiny
                } else {
                    1.0
                }
            }
            (i, j) if i == j + 1 && i != n / 2 => 0.5,
            _ => 0.0,
        };
        let l: Vec<f64> = (0..2 * n * n).map(entry).collect();
        let mut batch =
            CholeskyBatch::from_factors(&device, BatchRef::by_rows(&l, [2, n, n]).unwrap()).unwrap();
        let mut x = vec![0.0; 2 * n];
        x[n / 2] = tiny * 3.0;
        x[n + n / 2] = 1.0;
        let status = batch.solve_l_in_place(BatchMut::by_rows(&mut x, [2, n, 1]).unwrap()).unwrap();
        assert!(status.failed().unwrap().is_empty());
        assert_eq!(x[n / 2], 3.0);
        assert!(x[..n].iter().all(|x| x.is_finite()));
        assert_eq!(x[n + n / 2], f64::INFINITY);
    }
}

/// More matrices than a grid has blocks along y, and than several launches of other libraries take.
#[test]
fn many_matrices() {
    let _turn = turn();
    let Some(device) = device() else { return };
    let count = if on_the_fake_driver() { 70_000 } else { 600_000 };
    let four = [4.0];
    for n in [1, 9] {
        let four = vec![four[0]; n * n];
        let l = BatchRef::new(&four, [count, n, n], [0, n, 1]).unwrap();
        let mut batch = CholeskyBatch::from_factors(&device, l).unwrap();
        let mut v = vec![0.0; count * n];
        v[(count - 1) * n] = 3.0;
        let outcome = batch.update(BatchRef::by_rows(&v, [count, n, 1]).unwrap()).unwrap();
        assert!(outcome.failed().unwrap().is_empty());
        assert_eq!(batch.factor(count - 1).unwrap()[(0, 0)], 5.0);
        assert_eq!(batch.factor(count - 2).unwrap()[(0, 0)], 4.0);
        if on_the_fake_driver() {
            return;
        }
    }
}

#[test]
fn outcomes_are_read_as_a_whole_and_again() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [6, 20, 270] {
        let count = 9;
        let (mut a, _) = some::<f64>(count, n, 40);
        a[2 * n * n] = -1.0;
        let mut batch = CholeskyBatch::new(&device, BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
        assert!(batch.outcome().is_none() && batch.solve_status().is_none());
        let mut v = by_rows(&columns::<f64>(count, n, 1, 41));
        (v[4 * n + 1], v[7 * n]) = (f64::NAN, 1e6);
        let v = BatchRef::by_rows(&v, [count, n, 1]).unwrap();
        let outcome = batch.modify(v, &[-1e-8]).unwrap();
        let one = |matrix: usize| outcome.status(matrix).err().map(|error| (matrix, error));
        let failures: Vec<_> = (0..count).filter_map(one).collect();
        assert_eq!(failures.iter().map(|(matrix, _)| *matrix).collect::<Vec<_>>(), [2, 4, 7]);
        assert_eq!(outcome.failures().unwrap(), failures);
        let reports: Vec<_> = (0..count).map(|matrix| outcome.report(matrix).ok()).collect();
        assert_eq!(outcome.reports().unwrap(), reports);
        assert_eq!(outcome.on_device().addresses(), outcome.addresses());
        assert_eq!(batch.outcome().unwrap().failures().unwrap(), failures);
        let mut x = vec![1.0; count * n];
        x[3 * n] = f64::NAN;
        let status = batch.solve_in_place(BatchMut::by_rows(&mut x, [count, n, 1]).unwrap()).unwrap();
        let unsolved = status.failures().unwrap();
        let expected = (3, Error::NonFinite { argument: "rhs", row: 0, column: 0 });
        assert_eq!(unsolved, [(2, batch.status_of(2).unwrap_err()), expected]);
        assert_eq!(batch.solve_status().unwrap().failures().unwrap(), unsolved);
        // A refused call leaves the numbers of the last one.
        assert!(batch.update(BatchRef::by_rows(&[0.0], [1, 1, 1]).unwrap()).is_err());
        assert_eq!(batch.outcome().unwrap().reports().unwrap(), reports);
        batch.wait().unwrap();
    }
}

#[test]
fn batches_that_are_made_on_the_device() {
    let _turn = turn();
    let Some(device) = device() else { return };
    let on_host = |batch: &DeviceBatch<f32>| {
        let shape = batch.shape();
        let mut entries = vec![7.0; shape.iter().product()];
        batch.copy_to(BatchMut::by_rows(&mut entries, shape).unwrap()).unwrap();
        entries
    };
    let mut zeros = DeviceBatch::<f32>::zeros(&device, [4, 2, 3]).unwrap();
    assert_eq!(on_host(&zeros), [0.0; 24]);
    let no_such = Error::Index { argument: "matrices", entry: 0, found: 4, limit: 4 };
    assert_eq!(zeros.fill_with_nan(&[0, 4]).unwrap_err(), no_such);
    zeros.fill_with_nan(&[2, 3, 0]).unwrap();
    let is_nan: Vec<bool> = on_host(&zeros).chunks(6).map(|of| of.iter().all(|x| x.is_nan())).collect();
    assert_eq!((is_nan, on_host(&zeros)[6..12].to_vec()), (vec![true, false, true, true], vec![0.0; 6]));

    let entries: Vec<f32> = (0..24_u8).map(f32::from).collect();
    let all = DeviceBatch::from_host(&device, BatchRef::by_rows(&entries, [4, 3, 2]).unwrap()).unwrap();
    assert_eq!(on_host(&all.view().to_batch().unwrap()), entries);
    // Every other matrix, without its last column.
    let address = all.view().address();
    // SAFETY: the memory of `all` has these entries.
    let of = |shape, strides| unsafe { DeviceBatchView::<f32>::from_raw(&device, address, shape, strides) };
    let some = of([2, 3, 1], [12, 1, 3]).unwrap().to_batch().unwrap();
    assert_eq!(on_host(&some), [0.0, 2.0, 4.0, 12.0, 14.0, 16.0]);
    let refused = Error::OutOfRange { argument: "strides", rule: "those of matrices packed by columns" };
    for strides in [[0, 1, 3], [6, 2, 1], [6, 1, 4], [5, 1, 3]] {
        assert_eq!(of([2, 3, 2], strides).unwrap().to_batch().unwrap_err(), refused);
    }
    assert_eq!(all.view().transposed().shape(), [4, 2, 3]);
    assert_eq!(all.view().transposed().to_batch().unwrap_err(), refused);
    assert_eq!(of([2, 2, 3], [6, 3, 1]).unwrap().transposed().to_batch().unwrap().shape(), [2, 3, 2]);
    assert_eq!(
        DeviceBatch::<f32>::zeros(&device, [0, 2, 3]).unwrap().view().to_batch().unwrap().shape(),
        [0, 2, 3]
    );
}
