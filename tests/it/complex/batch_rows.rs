//! Rows and columns of the matrices of a complex batch, against the resulting matrices in thirty digits, and against single factors.

use super::batch::{batch_of, factors, stacked};
use super::exact::Hermitian;
use super::oracle::is_factor;
use super::problem::{factor as random_factor, phases, rng, uniform};
use super::rows::matrix;
use super::scalar::{Complex, bits, in_c64, is_double, narrow};
use crate::support::contract::Observed;
use cholupdate::faer::{Mat, c32, c64};
use cholupdate::{BatchRef, Cholesky, CholeskyBatch, Cpu, Engine, Error, Modification};
use rand::Rng;

/// A covariance of neighbours that are nearly the same, turned by phases: pivots that are small below larger entries.
fn correlated<T: Complex>(n: usize, seed: u64) -> Mat<T> {
    let mut random = rng(seed);
    let x: Vec<f64> = (0..n).map(|_| random.random_range(0.0..1.0)).collect();
    let (d, nugget) = (phases(n, &mut random), if is_double::<T>() { 1e-6 } else { 1e-3 });
    narrow(&Mat::from_fn(n, n, |i, j| {
        let distance = 3.0 * (x[i] - x[j]);
        let size = (-distance * distance).exp();
        if i == j { c64::new(size + nugget, 0.0) } else { d[i] * d[j].conj() * size }
    }))
}

/// Factors of orders up to `n`, all of this order or of any, and of both kinds of matrices.
fn some<T: Complex>(count: usize, n: usize, ragged: bool, seed: u64) -> Vec<Mat<T>>
where
    Cpu: Engine<T>,
{
    let mut random = rng(seed);
    let one = |b: usize| {
        let order = if ragged { random.random_range(0..=n) } else { n };
        let seed = seed + 31 * b as u64;
        let a = if b % 3 == 1 { correlated::<T>(order, seed) } else { matrix::<T>(order, seed) };
        Cholesky::new(&a).unwrap().to_factor().unwrap()
    };
    (0..count).map(one).collect()
}

/// New columns for factors: L s and ‖s‖² + δ, with δ small in some; the imaginary part of the last entry is not to be read.
fn columns_for<T: Complex>(l: &[Mat<T>], seed: u64) -> Vec<Mat<T>> {
    let mut random = rng(seed);
    let one = |(b, l): (usize, &Mat<T>)| {
        let m = l.nrows();
        let s = uniform(m, 1, &mut random) * cholupdate::faer::Scale(c64::new((m as f64).powf(-0.5), 0.0));
        let (a, part) =
            (in_c64(l.as_ref()) * &s, [1.0, 1e-2, if is_double::<T>() { 1e-9 } else { 1e-4 }][b % 3]);
        narrow(&Mat::from_fn(m + 1, 1, |i, _| match i < m {
            true => a[(i, 0)],
            false => c64::new(s.squared_norm_l2() + part, f64::NAN),
        }))
    };
    l.iter().enumerate().map(one).collect()
}

fn append<T: Complex>(batch: &mut CholeskyBatch<T>, columns: &[Mat<T>]) -> Vec<Result<Modification, Error>> {
    let (count, n) = (batch.count(), batch.order());
    let all = stacked(columns, n, 1);
    let outcome = batch.append(BatchRef::by_rows(&all, [count, n, 1]).unwrap()).unwrap();
    (0..count).map(|matrix| outcome.report(matrix)).collect()
}

fn remove<T: Complex>(batch: &mut CholeskyBatch<T>, indices: &[usize]) -> Vec<Result<Modification, Error>> {
    let outcome = batch.remove(indices).unwrap();
    indices.iter().enumerate().map(|(matrix, _)| outcome.report(matrix)).collect()
}

/// The report of a matrix against that of a single factor.
fn same_report<T: Complex>(found: Modification, single: Modification, order: usize) {
    let [of, other] = [found, single].map(|report| (report.min_pivot_ratio, report.log_det_change()));
    // δ is the difference of numbers of about 1.
    let doubt = 100.0 * (order + 2) as f64 * T::ROUNDOFF / single.min_pivot_ratio.min(1.0);
    assert!((of.0 / other.0 - 1.0).abs() <= doubt, "{found:?}, not {single:?}");
    assert!((of.1 - other.1).abs() <= doubt * other.1.abs().max(1.0), "{found:?}, not {single:?}");
}

/// max |(L' L'ᴴ − A')_ij| / (u √(a'_ii a'_jj)), where A' has these rows of L Lᴴ, and a last one from `new`.
fn error<T: Complex>(made: &Mat<T>, old: &Mat<T>, rows: &[Option<usize>], new: impl Fn(usize) -> c64) -> f64 {
    if !is_factor(made.as_ref()) || made.nrows() != rows.len() {
        return f64::INFINITY;
    }
    let last = rows.len().saturating_sub(1);
    let new = |i: usize, j: usize| match (i == last, i == j) {
        (true, true) => new(i).re.into(),
        (true, false) => new(j).conj(),
        _ => new(i),
    };
    let wanted = Hermitian::product(&in_c64(old.as_ref())).with_rows(rows, new);
    Hermitian::product(&in_c64(made.as_ref())).largest_difference(&wanted) / T::ROUNDOFF
}

const ORDERS: [usize; 15] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 27, 33, 60];

fn appended_rows_are_there<T: Complex>()
where
    Cpu: Engine<T>,
{
    let mut observed = Observed::recorded(2.5);
    for n in ORDERS {
        for ragged in [false, true] {
            let before = some::<T>(19, n, ragged, n as u64);
            let columns = columns_for(&before, 7);
            let mut batch = batch_of(&before, n + 1, Cpu::default());
            let reports = append(&mut batch, &columns);
            for (b, (old, column)) in before.iter().zip(&columns).enumerate() {
                let (m, new) = (old.nrows(), batch.factor(b).unwrap());
                assert_eq!(bits(new.submatrix(0, 0, m, m)), bits(old.as_ref()), "the old rows");
                let rows: Vec<Option<usize>> = (0..m).map(Some).chain([None]).collect();
                let found = error(&new, old, &rows, |i| column[(i, 0)].c64());
                observed.hold::<T::Re>(found, (m + 1, 1), (n, b));
                let mut single = Cholesky::from_factor_in(old, Cpu::sequential()).unwrap();
                let report = single.append(column.subrows(0, m), column.subrows(m, 1)).unwrap();
                same_report::<T>(reports[b].clone().unwrap(), report, m);
            }
        }
    }
}

#[test]
fn rows_are_appended_as_to_single_factors() {
    appended_rows_are_there::<c64>();
    appended_rows_are_there::<c32>();
}

/// Which row of each matrix goes.
fn indices<T: Complex>(l: &[Mat<T>], choice: usize, seed: u64) -> Vec<usize> {
    let mut random = rng(seed);
    let one = |l: &Mat<_>| match (l.nrows(), choice) {
        (0, _) | (_, 0) => 0,
        (m, 1) => m - 1,
        (m, 2) => m / 2,
        (m, _) => random.random_range(0..m),
    };
    l.iter().map(one).collect()
}

fn removed_rows_are_gone<T: Complex>()
where
    Cpu: Engine<T>,
{
    let mut observed = Observed::recorded(7.1);
    for n in ORDERS {
        for (ragged, choice) in
            [(false, 0), (false, 1), (false, 2), (false, 3), (true, 0), (true, 1), (true, 3)]
        {
            let before = some::<T>(19, n, ragged, n as u64 + 100);
            let indices = indices(&before, choice, 3);
            // With room that no matrix uses, and without.
            let mut batch = batch_of(&before, n + choice % 2, Cpu::default());
            let reports = remove(&mut batch, &indices);
            for (b, (old, report)) in before.iter().zip(reports).enumerate() {
                let (m, f, new) = (old.nrows(), indices[b], batch.factor(b).unwrap());
                if m == 0 {
                    let wanted = Error::Index { argument: "indices", entry: b, found: 0, limit: 0 };
                    assert_eq!((report, new.nrows()), (Err(wanted), 0));
                    continue;
                }
                let rows: Vec<Option<usize>> = (0..m).filter(|&i| i != f).map(Some).collect();
                let found = error(&new, old, &rows, |_| unreachable!("all rows are old"));
                observed.hold::<T::Re>(found, (m, 1), (n, b, f));
                let mut single = Cholesky::from_factor_in(old, Cpu::sequential()).unwrap();
                same_report::<T>(report.unwrap(), single.remove(&[f]).unwrap(), m);
                assert_eq!(bits(new.submatrix(0, 0, f, f)), bits(old.submatrix(0, 0, f, f)), "rows before");
            }
        }
    }
}

#[test]
fn rows_are_removed_as_of_single_factors() {
    removed_rows_are_gone::<c64>();
    removed_rows_are_gone::<c32>();
}

/// A column of L that outweighs the later ones by any factor, so that columns are interchanged.
fn removed_columns_outweigh_others<T: Complex>() {
    let mut observed = Observed::recorded(6.0);
    for n in [2, 3, 5, 9, 20, 33] {
        let exponents = if is_double::<T>() { 0..9 } else { 0..5 };
        let l: Vec<Mat<T>> = exponents
            .map(|exponent| {
                let mut l = random_factor(n, &mut rng(exponent));
                let scale = 10f64.powi(exponent as i32);
                (0..n).for_each(|i| l[(i, 0)] *= scale);
                narrow(&l)
            })
            .collect();
        let mut batch = batch_of(&l, n, Cpu::sequential());
        remove(&mut batch, &vec![0; l.len()]);
        for (b, old) in l.iter().enumerate() {
            let rows: Vec<Option<usize>> = (1..n).map(Some).collect();
            let found = error(&batch.factor(b).unwrap(), old, &rows, |_| unreachable!("all rows are old"));
            observed.hold::<T::Re>(found, (n, 1), (n, b));
        }
    }
}

#[test]
fn columns_that_outweigh_others_are_removed() {
    removed_columns_outweigh_others::<c64>();
    removed_columns_outweigh_others::<c32>();
}

type Steps = Vec<(Vec<Vec<[u64; 2]>>, Vec<Result<Modification, Error>>)>;

/// Appends, removes, and appends again; some matrices fail.
fn steps<T: Complex>(l: &[Mat<T>], (columns, going): (&[Mat<T>], &[usize]), n: usize, engine: Cpu) -> Steps {
    let mut batch = batch_of(l, n, engine);
    let mut steps = Vec::new();
    for step in 0..3 {
        let reports = if step == 1 { remove(&mut batch, going) } else { append(&mut batch, columns) };
        steps.push((factors(&batch).iter().map(|l| bits(l.as_ref())).collect(), reports));
    }
    steps
}

fn depend_on_nothing_else<T: Complex>()
where
    Cpu: Engine<T>,
{
    for (count, n) in [(40, 6), (60, 19), (30, 48)] {
        let mut l = some::<T>(count, n, true, 200);
        // Pivots that are left to a single factor.
        for l in l.iter_mut().skip(2).step_by(5).filter(|l| l.nrows() > 1) {
            l[(0, 0)] = T::from_real(if is_double::<T>() { 1e-140 } else { 1e-13 });
        }
        let (mut columns, mut going) = (columns_for(&l, 5), indices(&l, 3, 8));
        for b in (3..count).step_by(7) {
            let m = l[b].nrows();
            columns[b][(m, 0)] = T::from_real(if b % 2 == 0 { -1.0 } else { f64::NAN });
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
                assert_eq!(first.1[b].is_ok(), alone.1[0].is_ok(), "matrix {b}");
            }
        }
    }
}

#[test]
fn a_result_depends_on_no_other_matrix_no_place_and_no_thread() {
    depend_on_nothing_else::<c64>();
    depend_on_nothing_else::<c32>();
}

/// Up from nothing by appends, and down to nothing by removals.
fn grow_and_shrink<T: Complex>() {
    let (count, n) = (21, 20);
    let mut observed = Observed::recorded(2.3);
    let a: Vec<Mat<T>> = (0..count).map(|b| matrix::<T>(n, b as u64)).collect();
    let nothing: Vec<Mat<T>> = vec![Mat::zeros(0, 0); count];
    let mut batch = batch_of(&nothing, n, Cpu::default());
    let mut hold = |batch: &CholeskyBatch<T>, left: &[usize], calls: usize| {
        for (b, a) in a.iter().enumerate() {
            let of_a = |i: usize, j: usize| a[(left[i], left[j])].c64();
            let wanted =
                Hermitian::product(&Mat::zeros(left.len(), 0)).with_rows(&vec![None; left.len()], of_a);
            let l = batch.factor(b).unwrap();
            let error = Hermitian::product(&in_c64(l.as_ref())).largest_difference(&wanted) / T::ROUNDOFF;
            observed.hold::<T::Re>(error / calls as f64, (left.len(), 1), left.len());
        }
    };
    for m in 0..n {
        let columns: Vec<Mat<T>> = a.iter().map(|a| a.submatrix(0, m, m + 1, 1).to_owned()).collect();
        assert!(append(&mut batch, &columns).iter().all(Result::is_ok));
    }
    let mut left: Vec<usize> = (0..n).collect();
    hold(&batch, &left, 1);
    // From the front, the end and the middle, down to nothing.
    for m in (0..n).rev() {
        let index = [0, m, m / 2][m % 3];
        left.remove(index);
        assert!(remove(&mut batch, &vec![index; count]).iter().all(Result::is_ok));
        hold(&batch, &left, n - m + 1);
    }
    assert!((0..count).all(|b| batch.order_of(b) == Ok(0) && batch.log_det(b) == Ok(0.0)));
}

#[test]
fn matrices_grow_from_nothing_and_shrink_to_nothing() {
    grow_and_shrink::<c64>();
    grow_and_shrink::<c32>();
}
