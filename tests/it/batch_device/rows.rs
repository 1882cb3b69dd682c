//! Rows and columns that come to a batch in the memory of a device and go: against the resulting matrices, entry by entry, and
//! against single factors.

use super::change_places;
use crate::batch::hard;
use crate::batch_structure::{all_bits, columns_for, indices, same_report, some, stacked};
use crate::structure::{Row, bordered, error, matrix};
use crate::support::contract::Observed;
use crate::support::cuda::{device, share, turn};
use crate::support::real::{Real, bits};
use cholupdate::cuda::{CholeskyBatch, Device, DeviceOutcome};
use cholupdate::faer::Mat;
use cholupdate::{BatchRef, Cholesky, Cpu, Error, Modification};

/// Orders of all forms in which a matrix is divided among threads, and at their edges.
pub const ORDERS: [usize; 17] = [0, 1, 2, 3, 4, 6, 7, 8, 9, 15, 27, 33, 60, 100, 140, 270, 299];

/// A batch of these factors, with room for order n.
pub fn batch_of<T: Real>(device: &Device, l: &[Mat<T>], n: usize) -> CholeskyBatch<T> {
    let orders: Vec<usize> = l.iter().map(Mat::nrows).collect();
    let all = stacked(l, n, n);
    let all = BatchRef::by_rows(&all, [l.len(), n, n]).unwrap();
    let mut batch = CholeskyBatch::from_factors_with_orders(device, all, &orders).unwrap();
    if n % 2 == 1 {
        change_places(&mut batch);
    }
    batch
}

pub fn factors<T: Real>(batch: &CholeskyBatch<T>) -> Vec<Mat<T>> {
    (0..batch.count()).map(|matrix| batch.factor(matrix).unwrap()).collect()
}

pub fn append<'b, T: Real>(batch: &'b mut CholeskyBatch<T>, columns: &[Mat<T>]) -> DeviceOutcome<'b, T> {
    let (count, n) = (batch.count(), batch.order());
    let all = stacked(columns, n, 1);
    batch.append(BatchRef::by_rows(&all, [count, n, 1]).unwrap()).unwrap()
}

/// What a call has done to each matrix.
pub fn outcomes<T: Real>(outcome: &DeviceOutcome<'_, T>, count: usize) -> Vec<Result<Modification, Error>> {
    (0..count).map(|matrix| outcome.report(matrix)).collect()
}

/// Few matrices where each takes long.
fn count(n: usize) -> usize {
    if n < 20 { 40 } else { 7 }
}

fn appended_rows_are_there<T: Real>(device: &Device) {
    let mut observed = Observed::recorded(2.2);
    for n in ORDERS {
        for ragged in [false, true] {
            let before = some::<T>(count(n), n, ragged, n as u64);
            let columns = columns_for(&before, 7);
            let mut batch = batch_of(device, &before, n + 1);
            let reports = outcomes(&append(&mut batch, &columns), before.len());
            let orders = batch.orders().unwrap();
            for (b, (old, column)) in before.iter().zip(&columns).enumerate() {
                let (m, new) = (old.nrows(), batch.factor(b).unwrap());
                assert_eq!((orders[b], new.nrows()), (Some(m + 1), m + 1));
                assert_eq!(bits(new.submatrix(0, 0, m, m)), bits(old.as_ref()), "the old rows");
                let found = error(new.as_ref(), old.as_ref(), &bordered(m, m, 1), column.as_ref());
                observed.hold::<T>(found, (m + 1, 1), (n, b));
                let mut single = Cholesky::from_factor_in(old, Cpu::sequential()).unwrap();
                let report = single.append(column.subrows(0, m), column.subrows(m, 1)).unwrap();
                same_report::<T>(reports[b].clone().unwrap(), report, m);
            }
        }
    }
}

#[test]
fn rows_are_appended_as_to_single_factors() {
    let _turn = turn();
    let Some(device) = device() else { return };
    appended_rows_are_there::<f64>(&device);
    appended_rows_are_there::<f32>(&device);
}

/// Removes a row of each, and compares with what is left.
fn remove_and_compare<T: Real>(
    device: &Device,
    before: &[Mat<T>],
    (n, going): (usize, &[usize]),
    observed: &mut Observed,
) {
    let mut batch = batch_of(device, before, n);
    let reports = outcomes(&batch.remove(going).unwrap(), before.len());
    let log_dets = batch.log_dets().unwrap();
    for (b, (old, report)) in before.iter().zip(reports).enumerate() {
        let (m, f, new) = (old.nrows(), going[b], batch.factor(b).unwrap());
        if m == 0 {
            let wanted = Error::Index { argument: "indices", entry: b, found: f, limit: 0 };
            assert_eq!((report, new.nrows()), (Err(wanted), 0));
            continue;
        }
        let rows: Vec<Row> = (0..m).filter(|&i| i != f).map(Row::Old).collect();
        let found = error(new.as_ref(), old.as_ref(), &rows, Mat::<T>::zeros(m - 1, 0).as_ref());
        observed.hold::<T>(found, (m, 1), (n, b, f));
        let mut single = Cholesky::from_factor_in(old, Cpu::sequential()).unwrap();
        same_report::<T>(report.unwrap(), single.remove(&[f]).unwrap(), m);
        assert_eq!(bits(new.submatrix(0, 0, f, f)), bits(old.submatrix(0, 0, f, f)), "rows before");
        let log_det: f64 = (0..m - 1).map(|j| 2.0 * new[(j, j)].f64().ln()).sum();
        assert!((log_dets[b] - log_det).abs() <= 1e-13 * (m as f64) * (1.0 + log_det.abs()));
    }
}

fn removed_rows_are_gone<T: Real>(device: &Device) {
    let mut observed = Observed::recorded(3.8);
    for n in ORDERS {
        for (ragged, choice) in [(false, 0), (false, 1), (false, 3), (true, 0), (true, 3)] {
            let before = some::<T>(count(n), n, ragged, n as u64 + 100);
            let going = indices(&before, choice, 3);
            // With room that no matrix uses, and without.
            remove_and_compare(device, &before, (n + choice % 2, &going), &mut observed);
        }
    }
}

#[test]
fn rows_are_removed_as_of_single_factors() {
    let _turn = turn();
    let Some(device) = device() else { return };
    removed_rows_are_gone::<f64>(&device);
    removed_rows_are_gone::<f32>(&device);
}

fn hard_data_come_and_go<T: Real>(device: &Device) {
    let problems = hard::<T>().into_iter().filter(|problem| problem.v.ncols() == 2);
    let l: Vec<Mat<T>> = share(problems, 5, 0).map(|problem| problem.l).collect();
    let mut observed = Observed::recorded(2.6);
    // Room for each form.
    for n in [60, 90, 150, 280] {
        for choice in [0, 3] {
            remove_and_compare(device, &l, (n, &indices(&l, choice, 13)), &mut observed);
        }
    }
    let small: Vec<Mat<T>> = l.iter().filter(|l| l.nrows() <= 8).cloned().collect();
    remove_and_compare(device, &small, (8, &indices(&small, 3, 14)), &mut observed);
    let mut columns = columns_for(&l, 15);
    // The squared pivots of the new rows are then at least about 1.
    columns.iter_mut().zip(&l).for_each(|(column, l)| column[(l.nrows(), 0)] += T::ONE);
    for n in [61, 90, 150, 280] {
        let mut batch = batch_of(device, &l, n);
        assert!(append(&mut batch, &columns).failed().unwrap().is_empty());
        for (b, old) in l.iter().enumerate() {
            let (m, new) = (old.nrows(), batch.factor(b).unwrap());
            let found = error(new.as_ref(), old.as_ref(), &bordered(m, m, 1), columns[b].as_ref());
            observed.hold::<T>(found, (m + 1, 1), (n, b));
        }
    }
}

#[test]
fn rows_of_all_hard_data() {
    let _turn = turn();
    let Some(device) = device() else { return };
    hard_data_come_and_go::<f64>(&device);
    hard_data_come_and_go::<f32>(&device);
}

fn grow_and_shrink<T: Real>(device: &Device, n: usize) {
    let count = 5;
    let a: Vec<Mat<T>> = (0..count).map(|b| matrix::<T>(n, b as u64)).collect();
    let mut batch = batch_of(device, &vec![Mat::<T>::zeros(0, 0); count], n);
    for m in 0..n {
        let columns: Vec<Mat<T>> =
            a.iter().map(|a| Mat::from_fn(m + 1, 1, |i, _| a[(i.max(m), i.min(m))])).collect();
        assert!(append(&mut batch, &columns).failed().unwrap().is_empty());
    }
    let apart = |batch: &CholeskyBatch<T>, left: &[usize]| {
        for (b, a) in a.iter().enumerate() {
            let a = Mat::from_fn(left.len(), left.len(), |i, j| a[(left[i], left[j])]);
            let (l, whole) = (batch.factor(b).unwrap(), Cholesky::new(&a).unwrap().l().to_owned());
            let apart = (&l - &whole).norm_max().f64();
            assert!(apart <= 100.0 * n as f64 * T::U, "{} rows: {apart:e}", left.len());
        }
    };
    let mut left: Vec<usize> = (0..n).collect();
    apart(&batch, &left);
    // From the front, the end and the middle, down to nothing.
    for m in (0..n).rev() {
        let index = [0, m, m / 2][m % 3];
        left.remove(index);
        let outcome = batch.remove(&vec![index; count]).unwrap();
        assert!(outcome.failed().unwrap().is_empty());
        assert!(outcome.report(3).unwrap().log_det_change().is_finite());
        apart(&batch, &left);
    }
    assert_eq!(batch.orders().unwrap(), vec![Some(0); count]);
    assert_eq!(batch.log_dets().unwrap(), vec![0.0; count]);
    // They are the identity again: an update of nothing but the room changes nothing.
    let ones = vec![T::ONE; count * n];
    assert!(
        batch.update(BatchRef::by_rows(&ones, [count, n, 1]).unwrap()).unwrap().failed().unwrap().is_empty()
    );
    assert_eq!(all_bits(&factors(&batch)), vec![Vec::<u64>::new(); count]);
    batch.reserve(n + 40).unwrap();
    let one = vec![Mat::from_fn(1, 1, |_, _| T::of(4.0)); count];
    assert!(append(&mut batch, &one).failed().unwrap().is_empty());
    assert_eq!(batch.factor(4).unwrap()[(0, 0)], T::of(2.0));
}

#[test]
fn matrices_grow_from_nothing_and_shrink_to_nothing() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [4, 7, 12, 20, 40] {
        grow_and_shrink::<f64>(&device, n);
        grow_and_shrink::<f32>(&device, n);
    }
}

/// What of the diagonal entry is left in the squared pivot only in twice the precision.
#[test]
fn a_row_is_appended_if_it_is_positive_in_twice_the_precision() {
    let _turn = turn();
    let Some(device) = device() else { return };
    for n in [2, 6, 20, 70, 280] {
        let unit = Mat::from_fn(n - 1, n - 1, |i, j| if i == j { 1.0 } else { 0.0 });
        let ulp = f64::EPSILON;
        // c = 1 + 5 · 2⁻²⁸, whose square is 1 + 5 · 2⁻²⁷ + 25 · 2⁻⁵⁶, between 1 and 2 ulp above 1 + 5 · 2⁻²⁷.
        let (c, square) = (1.0 + 5.0 * 2f64.powi(-28), 1.0 + 5.0 * 2f64.powi(-27));
        let column = |d: f64| {
            Mat::from_fn(n, 1, |i, _| {
                if i == n - 1 {
                    d
                } else if i == 0 {
                    c
                } else {
                    0.0
                }
            })
        };
        let columns = [column(square + ulp), column(square + 2.0 * ulp), column(square + 3.0 * ulp)];
        let mut batch = batch_of(&device, &vec![unit; 3], n);
        let outcome = append(&mut batch, &columns);
        assert_eq!(outcome.status(0), Err(Error::NotPositiveDefinite { column: n - 1 }));
        let ratio = outcome.report(1).unwrap().min_pivot_ratio;
        let left = [2.0, 3.0].map(|ulps: f64| ulps * ulp - 25.0 * 2f64.powi(-56));
        assert!((ratio / (left[0] / (square + 2.0 * ulp)) - 1.0).abs() < 1e-15);
        assert_eq!(batch.orders().unwrap(), [Some(n - 1), Some(n), Some(n)]);
        for (b, left) in left.into_iter().enumerate() {
            assert_eq!(batch.factor(b + 1).unwrap()[(n - 1, n - 1)], left.sqrt());
        }
    }
}

/// Pivots whose squares underflow or overflow, or nearly do.
fn pivots_of_any_size<T: Real>(device: &Device, scales: &[f64]) {
    let mut observed = Observed::recorded(2.0);
    for n in [2, 5, 8, 12, 40, 100, 270] {
        let l: Vec<Mat<T>> = scales
            .iter()
            .map(|scale| {
                let l = Cholesky::new(&matrix::<T>(n, 3)).unwrap().l().to_owned();
                // The rows behind the first have small pivots, below V of any size.
                Mat::from_fn(n, n, |i, j| T::of(l[(i, j)].f64() * if i == j && i > 0 { *scale } else { 1.0 }))
            })
            .collect();
        for index in [0, n / 2] {
            let mut batch = batch_of(device, &l, n);
            assert!(batch.remove(&vec![index; l.len()]).unwrap().failed().unwrap().is_empty());
            for (b, old) in l.iter().enumerate() {
                let rows: Vec<Row> = (0..n).filter(|&i| i != index).map(Row::Old).collect();
                let new = batch.factor(b).unwrap();
                let found = error(new.as_ref(), old.as_ref(), &rows, Mat::<T>::zeros(n - 1, 0).as_ref());
                observed.hold::<T>(found, (n, 1), (n, scales[b]));
            }
        }
    }
}

#[test]
fn pivots_may_be_tiny_where_a_row_goes() {
    let _turn = turn();
    let Some(device) = device() else { return };
    pivots_of_any_size::<f64>(&device, &[1e-3, 1e-12, 1e-150, 1e-250, 1e-305]);
    pivots_of_any_size::<f32>(&device, &[1e-3, 1e-12, 1e-25, 1e-36, 1e-40]);
    // The ratio of determinants overflows the type, but not its logarithm.
    let l = Mat::from_fn(2, 2, |i, j| [[1.1e-12, 0.0], [3e15, 1.1e-12]][i][j] as f32);
    let mut batch = batch_of(&device, &vec![l.clone(); 5], 2);
    let found = batch.remove(&[0; 5]).unwrap().report(4).unwrap();
    let single = Cholesky::from_factor(&l).unwrap().remove(&[0]).unwrap();
    assert!(found.log_det_change() > 170.0, "{found:?}");
    same_report::<f32>(found, single, 2);
    assert_eq!(batch.factor(0).unwrap()[(0, 0)], 3e15);
}
