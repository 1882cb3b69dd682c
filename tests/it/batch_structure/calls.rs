//! What a call does beside the matrices that it changes: failures, masks, room, and the bits of the others.

use super::{all_bits, append, batch_of, columns_for, factors, indices, outcomes, some, stacked};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{BatchMut, BatchRef, Cholesky, CholeskyBatch, Cpu, Error, Modification};

/// Factors, after each of three calls.
type Steps = Vec<(Vec<Vec<u64>>, Vec<Result<Modification, Error>>)>;

/// Appends, removes, and appends again; some matrices fail.
fn steps<T: Real>(l: &[Mat<T>], (columns, going): (&[Mat<T>], &[usize]), n: usize, engine: Cpu) -> Steps {
    let mut batch = batch_of(l, n, engine);
    let mut steps = Vec::new();
    for step in 0..3 {
        let outcome = match step {
            1 => batch.remove(going).unwrap(),
            _ => append(&mut batch, columns),
        };
        let reports = outcomes(&outcome, l.len());
        steps.push((all_bits(&factors(&batch)), reports));
    }
    steps
}

fn depend_on_nothing_else<T: Real>() {
    for (count, n, last) in [(40, 6, false), (60, 19, false), (60, 19, true), (30, 48, false)] {
        let mut l = some::<T>(count, n, true, 200);
        // Pivots that are left to a single factor.
        for l in l.iter_mut().skip(2).step_by(5).filter(|l| l.nrows() > 1) {
            l[(0, 0)] = T::of(if T::U < 1e-10 { 1e-140 } else { 1e-13 });
        }
        let mut columns = columns_for(&l, 5);
        let mut going = indices(&l, 3, 8);
        // The new last row of most.
        (0..count).filter(|b| last && b % 20 < 18).for_each(|b| going[b] = l[b].nrows());
        for b in (3..count).step_by(7) {
            let m = l[b].nrows();
            columns[b][(m, 0)] = T::of(if b % 2 == 0 { -1.0 } else { f64::NAN });
            going[b] += n;
        }
        let first = steps(&l, (&columns, &going), n, Cpu::sequential());
        for threads in [2, 8] {
            assert!(first == steps(&l, (&columns, &going), n, Cpu::threads(threads)), "{threads} threads");
        }
        for b in 0..count {
            // The room is that of this matrix alone, if it has any.
            let room = (l[b].nrows() + 1).min(n);
            let alone = steps(&l[b..=b], (&columns[b..=b], &going[b..=b]), room, Cpu::sequential());
            for (first, alone) in first.iter().zip(&alone) {
                assert_eq!(first.0[b], alone.0[0], "matrix {b}");
                let numbered = |report: &Result<Modification, Error>| match report {
                    Err(Error::Index { argument, found, limit, .. }) => {
                        Err(Error::Index { argument, entry: 0, found: *found, limit: *limit })
                    }
                    report => report.clone(),
                };
                assert_eq!(numbered(&first.1[b]), numbered(&alone.1[0]), "matrix {b}");
            }
        }
    }
}

#[test]
fn a_result_depends_on_no_other_matrix_no_place_and_no_thread() {
    depend_on_nothing_else::<f64>();
    depend_on_nothing_else::<f32>();
}

fn fail_as_single_factors<T: Real>() {
    let (count, n) = (37, 9);
    let mut l = some::<T>(count, n - 2, true, 300);
    l.iter_mut().skip(1).step_by(5).for_each(|l| *l = some::<T>(1, n, false, 1).remove(0));
    let large = T::of(0.95 * T::MOST);
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
            4 => columns[b][(m, 0)] = large,
            _ => {}
        }
    }
    let mut batch = batch_of(&l, n, Cpu::default());
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

    let mut batch = batch_of(&l, n, Cpu::default());
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
    fail_as_single_factors::<f64>();
    fail_as_single_factors::<f32>();
}

#[test]
fn a_matrix_without_a_factor_gets_and_loses_no_row() {
    let a = [1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, 4.0, 0.0, 0.0, 4.0];
    let a = BatchRef::by_rows(&a, [3, 2, 2]).unwrap();
    let mut batch = CholeskyBatch::new(a).unwrap();
    batch.reserve(3).unwrap();
    let missing = Error::NotPositiveDefinite { column: 0 };
    assert_eq!((batch.missing(), batch.order_of(1)), (vec![1], Err(missing.clone())));
    let column = [0.0, 0.0, 9.0];
    let repeated = MatRef::from_column_major_slice(&column, 3, 1);
    let outcome = batch.append(BatchRef::repeated(repeated, 3).unwrap()).unwrap();
    assert_eq!((outcome.failed(), outcome.status(1)), (vec![1], Err(missing.clone())));
    assert_eq!(batch.factor(0).unwrap()[(2, 2)], 3.0);
    let outcome = batch.remove(&[0, 0, 0]).unwrap();
    assert_eq!((outcome.failed(), outcome.status(1)), (vec![1], Err(missing)));
    assert_eq!(batch.factor(2).unwrap()[(1, 1)], 3.0);
    // Left out by a mask, it does not fail.
    let outcome = batch.remove_where(&[true, false, true], &[0, 9, 0]).unwrap();
    assert!(outcome.failed().is_empty());
    batch.replace(1, &Mat::<f64>::identity(2, 2)).unwrap();
    assert_eq!(batch.order_of(1), Ok(2));
    let outcome =
        batch.append_where(&[false, true, false], BatchRef::repeated(repeated, 3).unwrap()).unwrap();
    assert!(outcome.failed().is_empty());
    assert_eq!((0..3).map(|b| batch.order_of(b).unwrap()).collect::<Vec<_>>(), [1, 3, 1]);
}

fn leave_out_by_a_mask<T: Real>() {
    let (count, n) = (50, 11);
    for ragged in [false, true] {
        let mut l = some::<T>(count, n, ragged, 400);
        // A singular one, among those that are left out.
        l[20] = Mat::zeros(4, 4);
        let mask: Vec<bool> = (0..count).map(|b| b % 3 == 0).collect();
        let mut columns = columns_for(&l, 6);
        let mut going = indices(&l, 3, 7);
        let whole = batch_of(&l, n + 1, Cpu::default());
        let [mut appended, mut removed] = [whole.clone(), whole.clone()];
        let _ = append(&mut appended, &columns);
        let _ = removed.remove(&going).unwrap();
        for b in (0..count).filter(|b| !mask[*b]) {
            columns[b] = Mat::from_fn(n + 1, 1, |_, _| T::of(f64::NAN));
            going[b] = usize::MAX;
        }
        let all = stacked(&columns, n + 1, 1);
        let all = BatchRef::by_rows(&all, [count, n + 1, 1]).unwrap();
        for (append, other) in [(true, &appended), (false, &removed)] {
            let mut batch = whole.clone();
            let outcome = match append {
                true => batch.append_where(&mask, all).unwrap(),
                false => batch.remove_where(&mask, &going).unwrap(),
            };
            assert!(outcome.failed().iter().all(|b| mask[*b]));
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
    leave_out_by_a_mask::<f64>();
    leave_out_by_a_mask::<f32>();
}

fn make_room<T: Real>() {
    let (count, n) = (45, 5);
    let l = some::<T>(count, n, true, 600);
    let columns = columns_for(&l, 1);
    for room in [6, 7, 16, 40, 100] {
        let mut batch = batch_of(&l, n, Cpu::default());
        batch.reserve(room).unwrap();
        assert_eq!((batch.order(), all_bits(&factors(&batch))), (room, all_bits(&l)));
        let mut other = batch_of(&l, room, Cpu::default());
        let reports = outcomes(&append(&mut batch, &columns), count);
        assert_eq!(reports, outcomes(&append(&mut other, &columns), count));
        assert!(reports.iter().all(Result::is_ok));
        assert_eq!(all_bits(&factors(&batch)), all_bits(&factors(&other)));
        batch.reserve(n).unwrap();
        batch.reserve(room).unwrap();
        assert_eq!(batch.order(), room);
        let v = vec![T::ONE; count * room];
        let v = BatchRef::by_rows(&v, [count, room, 1]).unwrap();
        assert_eq!(batch.update(v).unwrap().all(), Ok(()));
        let mut x = vec![T::ONE; count * room];
        assert_eq!(batch.solve_in_place(BatchMut::by_rows(&mut x, [count, room, 1]).unwrap()), Ok(vec![]));
    }
    let mut batch = batch_of(&l, n, Cpu::default());
    for order in [1 << 33, 1 << 30, usize::MAX] {
        let refused = batch.reserve(order);
        assert!(matches!(refused, Err(Error::OutOfRange { argument: "order", .. })), "{refused:?}");
    }
    assert_eq!((batch.order(), all_bits(&factors(&batch))), (n, all_bits(&l)));
}

#[test]
fn there_can_be_more_room() {
    make_room::<f64>();
    make_room::<f32>();
}

#[test]
fn arguments_of_other_shapes_are_refused() {
    let l = some::<f64>(3, 4, false, 700);
    let mut batch = batch_of(&l, 5, Cpu::default());
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
    let mut none = CholeskyBatch::<f64>::new(BatchRef::by_rows(&[], [0, 2, 2]).unwrap()).unwrap();
    assert!(none.append(BatchRef::by_rows(&[], [0, 2, 1]).unwrap()).unwrap().failed().is_empty());
    assert!(none.remove(&[]).unwrap().failed().is_empty());
    none.reserve(7).unwrap();
    let mut empty = CholeskyBatch::<f64>::new(BatchRef::by_rows(&[], [2, 0, 0]).unwrap()).unwrap();
    let outcome = empty.append(BatchRef::by_rows(&[], [2, 0, 1]).unwrap()).unwrap();
    assert_eq!(outcome.status(1), Err(shape("a", "rows", 1, 0)));
    assert_eq!(empty.remove(&[0, 0]).unwrap().failed(), [0, 1]);
    empty.reserve(1).unwrap();
    assert_eq!(empty.append(of([2, 1, 1])).unwrap().all(), Ok(()));
    assert_eq!(empty.log_det(1), Ok(0.0));
}
