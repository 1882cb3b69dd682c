//! Rows and columns of the matrices of a batch: against the resulting matrices, entry by entry, and against single factors.

mod calls;

use crate::structure::{Row, bordered, error, matrix};
use crate::support::contract::{Observed, allowed, assert_log_det};
use crate::support::problem::{rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::faer::Mat;
use cholupdate::{BatchOutcome, BatchRef, Cholesky, CholeskyBatch, Cpu, Error, Modification, Weights};
use rand::Rng;

/// Matrices of the orders of their own, with room for this one; no number where a matrix has no entry.
pub fn stacked<T: Real>(all: &[Mat<T>], rows: usize, columns: usize) -> Vec<T> {
    let entry = |a: &Mat<T>, i: usize, j: usize| {
        if i < a.nrows() && j < a.ncols() { a[(i, j)] } else { T::of(f64::NAN) }
    };
    let of = |a| (0..rows * columns).map(move |at| entry(a, at / columns, at % columns));
    all.iter().flat_map(of).collect()
}

/// A batch of these factors.
fn batch_of<T: Real>(l: &[Mat<T>], n: usize, engine: Cpu) -> CholeskyBatch<T> {
    let orders: Vec<usize> = l.iter().map(Mat::nrows).collect();
    let all = stacked(l, n, n);
    let all = BatchRef::by_rows(&all, [l.len(), n, n]).unwrap();
    CholeskyBatch::from_factors_with_orders(all, &orders, engine).unwrap()
}

fn factors<T: Real>(batch: &CholeskyBatch<T>) -> Vec<Mat<T>> {
    (0..batch.count()).map(|matrix| batch.factor(matrix).unwrap()).collect()
}

pub fn all_bits<T: Real>(l: &[Mat<T>]) -> Vec<Vec<u64>> {
    l.iter().map(|l| bits(l.as_ref())).collect()
}

/// What a call has done to each matrix.
fn outcomes<T: Real>(outcome: &BatchOutcome<'_, T>, count: usize) -> Vec<Result<Modification, Error>> {
    (0..count).map(|matrix| outcome.report(matrix)).collect()
}

/// A covariance of neighbours that are nearly the same: pivots as small as the root of the last part, below larger entries.
fn correlated<T: Real>(n: usize, seed: u64) -> Mat<T> {
    let mut random = rng(seed);
    let x: Vec<f64> = (0..n).map(|_| random.random_range(0.0..1.0)).collect();
    let nugget = if T::U < 1e-10 { 1e-6 } else { 1e-3 };
    Mat::from_fn(n, n, |i, j| {
        let distance = 3.0 * (x[i] - x[j]);
        T::of((-distance * distance).exp() + if i == j { nugget } else { 0.0 })
    })
}

/// Factors of orders up to `n`, all of this order or of any, and of both kinds of matrices.
pub fn some<T: Real>(count: usize, n: usize, ragged: bool, seed: u64) -> Vec<Mat<T>> {
    let mut random = rng(seed);
    let one = |b: usize| {
        let order = if ragged { random.random_range(0..=n) } else { n };
        let seed = seed + 31 * b as u64;
        let a = if b % 3 == 1 { correlated::<T>(order, seed) } else { matrix::<T>(order, seed) };
        Cholesky::new(&a).unwrap().l().to_owned()
    };
    (0..count).map(one).collect()
}

/// New columns for factors: L s and ‖s‖² + δ, with δ small in some.
pub fn columns_for<T: Real>(l: &[Mat<T>], seed: u64) -> Vec<Mat<T>> {
    let mut random = rng(seed);
    let one = |(b, l): (usize, &Mat<T>)| {
        let m = l.nrows();
        let s: Vec<f64> = (0..m).map(|_| random.random_range(-1.0..1.0) / (m as f64).sqrt()).collect();
        let part = [1.0, 1e-2, if T::U < 1e-10 { 1e-9 } else { 1e-4 }][b % 3];
        Mat::from_fn(m + 1, 1, |i, _| match i < m {
            true => T::of((0..=i).map(|j| l[(i, j)].f64() * s[j]).sum()),
            false => T::of(s.iter().map(|s| s * s).sum::<f64>() + part),
        })
    };
    l.iter().enumerate().map(one).collect()
}

fn append<'b, T: Real>(batch: &'b mut CholeskyBatch<T>, columns: &[Mat<T>]) -> BatchOutcome<'b, T> {
    let (count, n) = (batch.count(), batch.order());
    let all = stacked(columns, n, 1);
    batch.append(BatchRef::by_rows(&all, [count, n, 1]).unwrap()).unwrap()
}

/// The report of a matrix against that of a single factor.
pub fn same_report<T: Real>(found: Modification, single: Modification, order: usize) {
    let [of, other] = [found, single].map(|report| (report.min_pivot_ratio, report.log_det_change()));
    // δ is the difference of numbers of about 1.
    let doubt = 100.0 * (order + 2) as f64 * T::U / single.min_pivot_ratio.min(1.0);
    assert!((of.0 / other.0 - 1.0).abs() <= doubt, "{found:?}, not {single:?}");
    assert!((of.1 - other.1).abs() <= doubt * other.1.abs().max(1.0), "{found:?}, not {single:?}");
}

const ORDERS: [usize; 25] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 27, 33, 50, 70];

fn appended_rows_are_there<T: Real>() {
    let mut observed = Observed::recorded(2.2);
    for n in ORDERS {
        for ragged in [false, true] {
            let before = some::<T>(19, n, ragged, n as u64);
            let columns = columns_for(&before, 7);
            let mut batch = batch_of(&before, n + 1, Cpu::default());
            let reports = outcomes(&append(&mut batch, &columns), before.len());
            for (b, (old, column)) in before.iter().zip(&columns).enumerate() {
                let (m, new) = (old.nrows(), batch.factor(b).unwrap());
                assert_eq!((batch.order_of(b), new.nrows()), (Ok(m + 1), m + 1));
                assert_eq!(bits(new.submatrix(0, 0, m, m)), bits(old.as_ref()), "the old rows");
                let found = error(new.as_ref(), old.as_ref(), &bordered(m, m, 1), column.as_ref());
                observed.hold::<T>(found, (m + 1, 1), (n, b));
                let mut single = Cholesky::from_factor_in(old, Cpu::sequential()).unwrap();
                let report = single.append(column.subrows(0, m), column.subrows(m, 1)).unwrap();
                same_report::<T>(reports[b].clone().unwrap(), report, m);
                assert_log_det(T::of(batch.log_det(b).unwrap()), &new);
            }
        }
    }
}

#[test]
fn rows_are_appended_as_to_single_factors() {
    appended_rows_are_there::<f64>();
    appended_rows_are_there::<f32>();
}

/// Which row of each matrix goes.
pub fn indices(l: &[Mat<impl Real>], choice: usize, seed: u64) -> Vec<usize> {
    let mut random = rng(seed);
    let one = |l: &Mat<_>| match (l.nrows(), choice) {
        (0, _) => 0,
        (_, 0) => 0,
        (m, 1) => m - 1,
        (m, 2) => m / 2,
        (m, _) => random.random_range(0..m),
    };
    l.iter().map(one).collect()
}

fn removed_rows_are_gone<T: Real>() {
    let mut observed = Observed::recorded(3.7);
    for n in ORDERS {
        for (ragged, choice) in
            [(false, 0), (false, 1), (false, 2), (false, 3), (true, 0), (true, 1), (true, 3)]
        {
            let before = some::<T>(19, n, ragged, n as u64 + 100);
            let indices = indices(&before, choice, 3);
            // With room that no matrix uses, and without.
            let mut batch = batch_of(&before, n + choice % 2, Cpu::default());
            let reports = outcomes(&batch.remove(&indices).unwrap(), before.len());
            for (b, (old, report)) in before.iter().zip(reports).enumerate() {
                let (m, new) = (old.nrows(), batch.factor(b).unwrap());
                if m == 0 {
                    let wanted = Error::Index { argument: "indices", entry: b, found: 0, limit: 0 };
                    assert_eq!((report, new.nrows()), (Err(wanted), 0));
                    continue;
                }
                let rows: Vec<Row> = (0..m).filter(|&i| i != indices[b]).map(Row::Old).collect();
                let nothing = Mat::<T>::zeros(m - 1, 0);
                let found = error(new.as_ref(), old.as_ref(), &rows, nothing.as_ref());
                observed.hold::<T>(found, (m, 1), (n, b, indices[b]));
                let mut single = Cholesky::from_factor_in(old, Cpu::sequential()).unwrap();
                let expected = single.remove(&[indices[b]]).unwrap();
                same_report::<T>(report.unwrap(), expected, m);
                let f = indices[b];
                assert_eq!(bits(new.submatrix(0, 0, f, f)), bits(old.submatrix(0, 0, f, f)), "rows before");
                assert_log_det(T::of(batch.log_det(b).unwrap()), &new);
            }
        }
    }
}

#[test]
fn rows_are_removed_as_of_single_factors() {
    removed_rows_are_gone::<f64>();
    removed_rows_are_gone::<f32>();
}

/// The ratio of determinants overflows the type, but not its logarithm.
#[test]
fn a_determinant_may_grow_by_any_factor() {
    let l = Mat::from_fn(2, 2, |i, j| [[1.1e-12, 0.0], [3e15, 1.1e-12]][i][j] as f32);
    let mut batch = batch_of(&vec![l.clone(); 5], 2, Cpu::sequential());
    let found = batch.remove(&[0; 5]).unwrap().report(4).unwrap();
    let single = Cholesky::from_factor(&l).unwrap().remove(&[0]).unwrap();
    assert!(found.log_det_change() > 170.0, "{found:?}");
    same_report::<f32>(found, single, 2);
    assert_eq!(batch.factor(0).unwrap()[(0, 0)], 3e15);
}

/// Matrices of no rows fill registers of their own, beside others.
#[test]
fn matrices_without_rows_are_beside_others() {
    for first in [true, false] {
        let (count, n) = (80, 7);
        let mut l = some::<f64>(count, n, false, 350);
        let empty = if first { 0..count / 2 } else { count / 2..count };
        l[empty.clone()].iter_mut().for_each(|l| *l = Mat::zeros(0, 0));
        let mut batch = batch_of(&l, n + 1, Cpu::sequential());
        let outcome = batch.remove(&vec![1; count]).unwrap();
        assert_eq!(outcome.failed(), empty.clone().collect::<Vec<_>>());
        for b in (0..count).filter(|b| !empty.contains(b)) {
            let mut single = Cholesky::from_factor_in(&l[b], Cpu::sequential()).unwrap();
            single.remove(&[1]).unwrap();
            assert!((batch.factor(b).unwrap() - single.l()).norm_max() < 1e-9, "matrix {b}");
        }
        // They are still the identity beyond their orders.
        let columns = columns_for(&factors(&batch), 1);
        assert_eq!(append(&mut batch, &columns).all(), Ok(()));
        assert!(empty.clone().all(|b| batch.order_of(b) == Ok(1)));
    }
}

fn grow_and_shrink<T: Real>() {
    let (count, n) = (21, 20);
    let a: Vec<Mat<T>> = (0..count).map(|b| matrix::<T>(n, b as u64)).collect();
    let nothing: Vec<Mat<T>> = vec![Mat::zeros(0, 0); count];
    let mut batch = batch_of(&nothing, n, Cpu::default());
    for m in 0..n {
        let columns: Vec<Mat<T>> =
            a.iter().map(|a| Mat::from_fn(m + 1, 1, |i, _| a[(i.max(m), i.min(m))])).collect();
        assert_eq!(append(&mut batch, &columns).all(), Ok(()));
    }
    for (b, a) in a.iter().enumerate() {
        let (l, whole) = (batch.factor(b).unwrap(), Cholesky::new(a).unwrap().l().to_owned());
        let apart = (&l - &whole).norm_max().f64();
        assert!(apart <= 40.0 * n as f64 * T::U, "{apart:e}");
    }
    // From the front, the end and the middle, down to nothing.
    let mut left: Vec<usize> = (0..n).collect();
    for m in (0..n).rev() {
        let index = [0, m, m / 2][m % 3];
        left.remove(index);
        let outcome = batch.remove(&vec![index; count]).unwrap();
        let change = outcome.report(3).unwrap().log_det_change();
        assert_eq!(outcome.all(), Ok(()));
        if m == 0 {
            assert!(change.is_finite() && change != 0.0);
        }
        for (b, a) in a.iter().enumerate() {
            let a = Mat::from_fn(m, m, |i, j| a[(left[i], left[j])]);
            let (l, whole) = (batch.factor(b).unwrap(), Cholesky::new(&a).unwrap().l().to_owned());
            let apart = (&l - &whole).norm_max().f64();
            assert!(apart <= 100.0 * n as f64 * T::U, "{m} rows left: {apart:e}");
        }
    }
    assert!((0..count).all(|b| batch.order_of(b) == Ok(0) && batch.log_det(b) == Ok(0.0)));
    let outcome = batch.remove(&vec![0; count]).unwrap();
    assert_eq!(outcome.failed().len(), count);
}

#[test]
fn matrices_grow_from_nothing_and_shrink_to_nothing() {
    grow_and_shrink::<f64>();
    grow_and_shrink::<f32>();
}

/// Random calls on a batch and on single factors, against A.
fn come_and_go_for_long<T: Real>() {
    let (count, n) = (23, 12);
    let mut random = rng(9);
    // Where little is left, the single factor and that in the batch may differ on whether it is positive.
    let l: Vec<Mat<T>> = some(3 * count, n / 2, true, 500).into_iter().step_by(3).collect();
    let mut batch = batch_of(&l, n, Cpu::default());
    let mut single: Vec<_> =
        l.iter().map(|l| Cholesky::from_factor_in(l, Cpu::sequential()).unwrap()).collect();
    let product = |l: &Mat<T>| {
        let l = Mat::from_fn(l.nrows(), l.nrows(), |i, j| l[(i, j)].f64());
        &l * l.transpose()
    };
    let mut a: Vec<Mat<f64>> = l.iter().map(product).collect();
    // Sums of the diagonal entries that rows have had.
    let mut summed: Vec<Vec<f64>> = a.iter().map(|a| (0..a.nrows()).map(|i| a[(i, i)]).collect()).collect();
    let steps = 120;
    for step in 0..steps {
        let mask: Vec<bool> = (0..count).map(|_| random.random_bool(0.8)).collect();
        let now = factors(&batch);
        match random.random_range(0..4) {
            0 | 1 => {
                let mut columns = columns_for(&now, step);
                columns.iter_mut().zip(&now).for_each(|(a, l)| a[(l.nrows(), 0)] += T::ONE);
                let all = stacked(&columns, n, 1);
                let outcome =
                    batch.append_where(&mask, BatchRef::by_rows(&all, [count, n, 1]).unwrap()).unwrap();
                for b in (0..count).filter(|&b| mask[b]) {
                    let m = now[b].nrows();
                    assert_eq!(outcome.status(b).is_ok(), m < n);
                    if m < n {
                        single[b].append(columns[b].subrows(0, m), columns[b].subrows(m, 1)).unwrap();
                        let old = a[b].clone();
                        a[b] = Mat::from_fn(m + 1, m + 1, |i, j| {
                            if i.max(j) < m { old[(i, j)] } else { columns[b][(i.min(j), 0)].f64() }
                        });
                        for i in 0..m {
                            a[b][(i, m)] = columns[b][(i, 0)].f64();
                            a[b][(m, i)] = columns[b][(i, 0)].f64();
                        }
                        a[b][(m, m)] = columns[b][(m, 0)].f64();
                        summed[b].push(a[b][(m, m)]);
                    }
                }
            }
            2 => {
                let going = indices(&now, 3, step);
                let outcome = batch.remove_where(&mask, &going).unwrap();
                for b in (0..count).filter(|&b| mask[b]) {
                    let m = now[b].nrows();
                    assert_eq!(outcome.status(b).is_ok(), m > 0);
                    if m > 0 {
                        single[b].remove(&[going[b]]).unwrap();
                        let left: Vec<usize> = (0..m).filter(|&i| i != going[b]).collect();
                        a[b] = Mat::from_fn(m - 1, m - 1, |i, j| a[b][(left[i], left[j])]);
                        summed[b].remove(going[b]);
                    }
                }
            }
            _ => {
                let v: Vec<Mat<T>> = now
                    .iter()
                    .map(|l| {
                        let v = uniform(l.nrows(), 1, &mut random);
                        Mat::from_fn(l.nrows(), 1, |i, _| T::of(v[(i, 0)]))
                    })
                    .collect();
                let all = stacked(&v, n, 1);
                let all = BatchRef::by_rows(&all, [count, n, 1]).unwrap();
                assert!(batch.modify_where(&mask, all, Weights::Plus).unwrap().failed().is_empty());
                for b in (0..count).filter(|&b| mask[b]) {
                    single[b].update(&v[b]).unwrap();
                    for i in 0..v[b].nrows() {
                        for j in 0..v[b].nrows() {
                            a[b][(i, j)] += v[b][(i, 0)].f64() * v[b][(j, 0)].f64();
                        }
                    }
                }
            }
        }
        for (summed, a) in summed.iter_mut().zip(&a) {
            summed.iter_mut().enumerate().for_each(|(i, sum)| *sum += a[(i, i)]);
        }
    }
    let worst = |l: &Mat<T>, b: usize| {
        let made = product(l);
        assert_eq!(made.nrows(), a[b].nrows());
        let at = (0..made.nrows()).flat_map(|i| (0..made.nrows()).map(move |j| (i, j)));
        let scaled = |(i, j)| (made[(i, j)] - a[b][(i, j)]).abs() / (summed[b][i] * summed[b][j]).sqrt();
        at.map(scaled).fold(0.0, f64::max) / T::U
    };
    for b in 0..count {
        let (found, other) = (worst(&batch.factor(b).unwrap(), b), worst(&single[b].l().to_owned(), b));
        // A rounding for each sum, and what the model itself loses.
        let limit = allowed(n, 1);
        assert!(found <= limit && other <= limit, "matrix {b}: {found} u, a single factor {other} u");
    }
}

#[test]
fn rows_come_and_go_for_long() {
    come_and_go_for_long::<f64>();
    come_and_go_for_long::<f32>();
}
