//! What calls that append and remove rows of a batch on a device do beside the matrices that they change: failures, masks,
//! streams, and the bits of the others.

use super::rows::{append, batch_of, factors, outcomes};
use crate::batch_structure::{all_bits, columns_for, indices, some, stacked};
use crate::support::cuda::{device, turn};
use crate::support::real::{Real, bits};
use cholupdate::cuda::{CholeskyBatch, Device, DeviceBatch};
use cholupdate::faer::Mat;
use cholupdate::{BatchRef, Cholesky, Cpu, Error, Modification};

/// Factors, after each of three calls.
type Steps = Vec<(Vec<Vec<u64>>, Vec<Result<Modification, Error>>)>;

/// Appends, removes, and appends again; some matrices fail.
fn steps<T: Real>(device: &Device, l: &[Mat<T>], columns: &[Mat<T>], going: &[usize], n: usize) -> Steps {
    let mut batch = batch_of(device, l, n);
    let mut steps = Vec::new();
    for step in 0..3 {
        let reports = match step {
            1 => outcomes(&batch.remove(going).unwrap(), l.len()),
            _ => outcomes(&append(&mut batch, columns), l.len()),
        };
        steps.push((all_bits(&factors(&batch)), reports));
    }
    steps
}

fn depend_on_nothing_else<T: Real>(device: &Device) {
    for n in [3, 7, 12, 30, 60, 110, 265] {
        let count = if n < 20 { 45 } else { 13 };
        let mut l = some::<T>(count, n, true, 200);
        // Pivots near underflow.
        for l in l.iter_mut().skip(2).step_by(5).filter(|l| l.nrows() > 1) {
            l[(0, 0)] = T::of(if T::U < 1e-10 { 1e-140 } else { 1e-13 });
        }
        let mut columns = columns_for(&l, 5);
        let mut going = indices(&l, 3, 8);
        for b in (3..count).step_by(7) {
            let m = l[b].nrows();
            columns[b][(m, 0)] = T::of(if b % 2 == 0 { -1.0 } else { f64::NAN });
            going[b] += n;
        }
        let first = steps(device, &l, &columns, &going, n);
        let failed = |step: usize| first[step].1.iter().filter(|report| report.is_err()).count();
        assert!(failed(0) > 1 && failed(1) > 1, "{} and {} have failed", failed(0), failed(1));
        let numbered = |report: &Result<Modification, Error>| match report {
            Err(Error::Index { argument, found, limit, .. }) => {
                Err(Error::Index { argument, entry: 0, found: *found, limit: *limit })
            }
            report => report.clone(),
        };
        let same = |others: &[usize]| {
            let [l, columns] =
                [&l, &columns].map(|all| others.iter().map(|&b| all[b].clone()).collect::<Vec<_>>());
            let going: Vec<usize> = others.iter().map(|&b| going[b]).collect();
            for (first, now) in first.iter().zip(steps(device, &l, &columns, &going, n)) {
                for (at, &b) in others.iter().enumerate() {
                    assert_eq!(first.0[b], now.0[at], "matrix {b} of order {n}");
                    assert_eq!(numbered(&first.1[b]), numbered(&now.1[at]), "matrix {b} of order {n}");
                }
            }
        };
        (0..count).step_by(3).for_each(|b| same(&[b]));
        same(&(0..count - 1).rev().collect::<Vec<_>>());
    }
}

#[test]
fn a_result_depends_on_no_other_matrix_and_no_place() {
    let _turn = turn();
    let Some(device) = device() else { return };
    depend_on_nothing_else::<f64>(&device);
    depend_on_nothing_else::<f32>(&device);
}

fn fail_as_single_factors<T: Real>(device: &Device, n: usize) {
    let count = 37;
    let mut l = some::<T>(count, n - 1, true, 300);
    l.iter_mut().skip(1).step_by(5).for_each(|l| *l = some::<T>(1, n, false, 1).remove(0));
    // A pivot of zero, and a row that is nearly too large.
    l[2] = Mat::from_fn(3, 3, |i, j| T::of(if i == j && i != 1 { 1.0 } else { 0.0 }));
    l[4] = Mat::from_fn(2, 2, |i, j| T::of(if i < j { 0.0 } else { 0.5 * T::MOST.sqrt() }));
    let mut columns = columns_for(&l, 4);
    for b in (0..count).filter(|b| b % 4 != 2 && *b != 4) {
        let m = l[b].nrows();
        match b % 6 {
            0 => columns[b][(m, 0)] = T::of(f64::NAN),
            1 => columns[b][(m, 0)] = T::of(0.0),
            2 if m > 0 => columns[b][(m / 2, 0)] = T::of(f64::INFINITY),
            3 if m > 0 => columns[b][(0, 0)] = T::of(1e3),
            3 => columns[b][(m, 0)] = T::of(-1.0),
            4 => columns[b][(m, 0)] = T::of(0.95 * T::MOST),
            _ => {}
        }
    }
    let mut batch = batch_of(device, &l, n);
    let found = outcomes(&append(&mut batch, &columns), count);
    let mut failed = 0;
    for b in 0..count {
        let (m, now) = (l[b].nrows(), batch.factor(b).unwrap());
        let mut single = Cholesky::from_factor_in(&l[b], Cpu::sequential()).unwrap();
        let expected = single.append(columns[b].subrows(0, m), columns[b].subrows(m, 1));
        let expected = expected.map_err(|error| match error {
            Error::NonFinite { argument: "corner", .. } => {
                Error::NonFinite { argument: "a", row: m, column: 0 }
            }
            error => error.with_argument("a"),
        });
        let full = Error::Shape { argument: "a", extent: "rows", expected: n + 1, found: n };
        let expected = if m == n { Err(full) } else { expected };
        match (&found[b], expected) {
            (Err(error), expected) => {
                assert_eq!(Some(error), expected.err().as_ref(), "matrix {b}");
                assert_eq!(bits(now.as_ref()), bits(l[b].as_ref()));
                failed += 1;
            }
            (Ok(_), expected) => {
                assert!(expected.is_ok() && now.nrows() == m + 1, "matrix {b}: {expected:?}")
            }
        }
    }
    assert!(failed > count / 3, "{failed} have failed");
    assert_eq!(found[2], Err(Error::Singular { column: 1 }));

    let mut batch = batch_of(device, &l, n);
    let mut going = indices(&l, 2, 0);
    going.iter_mut().skip(3).step_by(3).for_each(|index| *index = usize::MAX);
    going[9] = l[9].nrows();
    let found = outcomes(&batch.remove(&going).unwrap(), count);
    for b in 0..count {
        let now = batch.factor(b).unwrap();
        let mut single = Cholesky::from_factor_in(&l[b], Cpu::sequential()).unwrap();
        let expected = single.remove(&[going[b]]).map_err(|error| match error {
            Error::Index { argument, found, limit, .. } => Error::Index { argument, entry: b, found, limit },
            error => error,
        });
        assert_eq!(found[b].as_ref().err(), expected.as_ref().err(), "matrix {b}");
        if expected.is_err() {
            assert_eq!(bits(now.as_ref()), bits(l[b].as_ref()));
        }
    }
    assert_eq!(found[2], Err(Error::Singular { column: 1 }));
}

#[test]
fn what_fails_stays_and_is_named_as_of_single_factors() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [4, 9, 40, 270] {
        fail_as_single_factors::<f64>(&device, n);
        fail_as_single_factors::<f32>(&device, n);
    }
}

#[test]
fn a_matrix_without_a_factor_gets_and_loses_no_row() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [3, 12, 50, 260] {
        let a = [1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, 4.0, 0.0, 0.0, 4.0];
        let mut batch = CholeskyBatch::new(&device, BatchRef::by_rows(&a, [3, 2, 2]).unwrap()).unwrap();
        batch.reserve(n).unwrap();
        let missing = Err(Error::NotPositiveDefinite { column: 0 });
        let mut column = vec![0.0; n];
        column[2] = 9.0;
        let column = BatchRef::new(&column, [3, n, 1], [0, 1, n]).unwrap();
        let outcome = batch.append(column).unwrap();
        assert_eq!((outcome.failed().unwrap(), outcome.status(1)), (vec![1], missing.clone()));
        assert_eq!(batch.factor(0).unwrap()[(2, 2)], 3.0);
        let outcome = batch.remove(&[0, 0, 0]).unwrap();
        assert_eq!((outcome.failed().unwrap(), outcome.status(1)), (vec![1], missing));
        assert_eq!(batch.factor(2).unwrap()[(1, 1)], 3.0);
        // Left out by a mask, it does not fail.
        let outcome = batch.remove_where(&[true, false, true], &[0, 9, 0]).unwrap();
        assert!(outcome.failed().unwrap().is_empty());
        batch.replace(1, &Mat::<f64>::identity(2, 2)).unwrap();
        let outcome = batch.append_where(&[false, true, false], column).unwrap();
        assert!(outcome.failed().unwrap().is_empty());
        assert_eq!(batch.orders().unwrap(), [Some(1), Some(3), Some(1)]);
    }
}

fn leave_out_by_a_mask<T: Real>(device: &Device) {
    for n in [5, 11, 66, 262] {
        let count = if n < 20 { 50 } else { 12 };
        let mut l = some::<T>(count, n, true, 400);
        // A singular one, among those that are left out.
        l[8] = Mat::zeros(4, 4);
        let mask: Vec<bool> = (0..count).map(|b| b % 3 == 0).collect();
        let mut columns = columns_for(&l, 6);
        let mut going = indices(&l, 3, 7);
        let whole = batch_of(device, &l, n + 1);
        let [mut appended, mut removed] = [(); 2].map(|()| whole.try_clone().unwrap());
        let _ = append(&mut appended, &columns);
        let _ = removed.remove(&going).unwrap();
        for b in (0..count).filter(|b| !mask[*b]) {
            columns[b] = Mat::from_fn(n + 1, 1, |_, _| T::of(f64::NAN));
            going[b] = usize::MAX;
        }
        let all = stacked(&columns, n + 1, 1);
        let all = BatchRef::by_rows(&all, [count, n + 1, 1]).unwrap();
        for (append, other) in [(true, &appended), (false, &removed)] {
            let mut batch = whole.try_clone().unwrap();
            let outcome = match append {
                true => batch.append_where(&mask, all).unwrap(),
                false => batch.remove_where(&mask, &going).unwrap(),
            };
            assert!(outcome.failed().unwrap().iter().all(|b| mask[*b]));
            for b in (0..count).filter(|b| !mask[*b]) {
                let report = outcome.report(b).unwrap();
                assert_eq!((report.min_pivot_ratio, report.log_det_change()), (1.0, 0.0));
            }
            for b in 0..count {
                let expected = if mask[b] { other.factor(b).unwrap() } else { l[b].clone() };
                assert_eq!(bits(batch.factor(b).unwrap().as_ref()), bits(expected.as_ref()), "matrix {b}");
            }
        }
    }
}

#[test]
fn a_mask_leaves_bits_as_they_are() {
    let _turn = turn();
    let Some(device) = device() else { return };
    leave_out_by_a_mask::<f64>(&device);
    leave_out_by_a_mask::<f32>(&device);
}

/// Columns on the default stream, on the device, and in host memory give the same bits.
#[test]
fn columns_may_be_anywhere() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [6, 21, 130, 265] {
        let count = 9;
        let l = some::<f64>(count, n, true, 500);
        let mut columns = columns_for(&l, 3);
        // One that is decided in twice the precision, and one that fails.
        columns[1][(l[1].nrows(), 0)] = f64::NAN;
        columns[2][(l[2].nrows(), 0)] -= 1e-9 * (1.0 - 1e-5);
        let mut here = batch_of(&device, &l, n + 1);
        let expected = outcomes(&append(&mut here, &columns), count);
        assert!(expected[1].is_err() && expected[2].is_ok());
        let all = stacked(&columns, n + 1, 1);
        let all = BatchRef::by_rows(&all, [count, n + 1, 1]).unwrap();
        let there = DeviceBatch::from_host(&device, all).unwrap();
        for on_stream in [false, true] {
            let mut batch = batch_of(&device, &l, n + 1);
            // SAFETY: the default stream exists, and what has been enqueued is waited for below.
            let view = if on_stream { unsafe { there.view().on_stream(0) } } else { there.view() };
            let found = outcomes(&batch.append(view).unwrap(), count);
            assert_eq!(found, expected);
            assert_eq!(all_bits(&factors(&batch)), all_bits(&factors(&here)));
        }
    }
}

#[test]
fn arguments_of_other_shapes_are_refused() {
    let _turn = turn();
    let Some(device) = device() else { return };
    let l = some::<f64>(3, 4, false, 700);
    let mut batch = batch_of(&device, &l, 5);
    let data = vec![1.0; 100];
    let of = |shape: [usize; 3]| BatchRef::by_rows(&data[..shape.iter().product()], shape).unwrap();
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    assert_eq!(batch.append(of([2, 5, 1])).unwrap_err(), shape("a", "matrices", 3, 2));
    assert_eq!(batch.append(of([3, 4, 1])).unwrap_err(), shape("a", "rows", 5, 4));
    assert_eq!(batch.append(of([3, 5, 2])).unwrap_err(), shape("a", "columns", 1, 2));
    assert_eq!(batch.append_where(&[true], of([3, 5, 1])).unwrap_err(), shape("mask", "entries", 3, 1));
    assert_eq!(batch.remove(&[0, 0]).unwrap_err(), shape("indices", "entries", 3, 2));
    assert_eq!(batch.remove_where(&[true; 4], &[0; 3]).unwrap_err(), shape("mask", "entries", 3, 4));
    assert_eq!(all_bits(&factors(&batch)), all_bits(&l));
    // Without a matrix, and without a row.
    let none = |count| BatchRef::by_rows(&[], [count, 0, 0]).unwrap();
    let mut batch = CholeskyBatch::<f64>::new(&device, none(0)).unwrap();
    let no_column = BatchRef::by_rows(&[], [0, 0, 1]).unwrap();
    assert!(batch.append(no_column).unwrap().failed().unwrap().is_empty());
    assert!(batch.remove(&[]).unwrap().failed().unwrap().is_empty());
    batch.reserve(7).unwrap();
    let mut batch = CholeskyBatch::<f64>::new(&device, none(2)).unwrap();
    let outcome = batch.append(BatchRef::by_rows(&[], [2, 0, 1]).unwrap()).unwrap();
    assert_eq!(outcome.status(1), Err(shape("a", "rows", 1, 0)));
    assert_eq!(batch.remove(&[0, 0]).unwrap().failed().unwrap(), [0, 1]);
    batch.reserve(1).unwrap();
    assert!(batch.append(of([2, 1, 1])).unwrap().failed().unwrap().is_empty());
    assert_eq!(batch.log_dets().unwrap(), [0.0; 2]);
}
