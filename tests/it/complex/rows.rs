//! Insertion, removal and moves of rows and columns, against the resulting matrix in thirty digits.

use super::exact::Hermitian;
use super::oracle::is_factor;
use super::problem::{factor as random_factor, rng};
use super::scalar::{Complex, bits, in_c64, narrow};
use crate::support::contract::Observed;
use crate::support::engines::sized;
use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef, c32, c64};
use cholupdate::{Cholesky, Cpu, Engine};
use rand::Rng;

on_every_cpu!(
    inserted_rows_are_there,
    removed_rows_are_gone,
    replaced_rows_are_others,
    shifted_rows_are_elsewhere,
    permuted_rows_are_in_that_order,
);

const ORDERS: &[usize] = sized(&[0, 1, 2, 9, 33, 65], &[0, 1, 9, 33]);
const RANKS: &[usize] = sized(&[1, 2, 5, 17], &[1, 5]);

/// A Hermitian positive definite matrix of numbers of type T, both triangles, its diagonal real. (n × n)
pub fn matrix<T: Complex>(n: usize, seed: u64) -> Mat<T> {
    narrow(&Hermitian::product(&random_factor(n, &mut rng(seed))).rounded())
}

/// A without some rows and columns. `removed` says which.
pub fn without<T: Complex>(a: MatRef<'_, T>, removed: impl Fn(usize) -> bool) -> Mat<T> {
    let left: Vec<usize> = (0..a.nrows()).filter(|&i| !removed(i)).collect();
    Mat::from_fn(left.len(), left.len(), |i, j| a[(left[i], left[j])])
}

/// The rows of a matrix of order n where r rows are new from `at` on.
fn bordered(n: usize, at: usize, r: usize) -> Vec<Option<usize>> {
    (0..at).map(Some).chain((0..r).map(|_| None)).chain((at..n).map(Some)).collect()
}

/// max |(L' L'ᴴ − A')_ij| / (u √(a'_ii a'_jj)), where A' has these rows of L Lᴴ, and new ones with entries from `new`.
fn error<T: Complex>(
    made: &Mat<T>,
    old: &Mat<T>,
    rows: &[Option<usize>],
    new: impl Fn(usize, usize) -> c64,
) -> f64 {
    if !is_factor(made.as_ref()) || made.nrows() != rows.len() {
        return f64::INFINITY;
    }
    let wanted = Hermitian::product(&in_c64(old.as_ref())).with_rows(rows, new);
    Hermitian::product(&in_c64(made.as_ref())).largest_difference(&wanted) / T::ROUNDOFF
}

fn nothing_new(_: usize, _: usize) -> c64 {
    unreachable!("all rows are old")
}

fn places(n: usize) -> Vec<usize> {
    let mut places = vec![0, n / 3, n.saturating_sub(1), n];
    places.dedup();
    places
}

fn each(mut body: impl FnMut(usize, usize, usize)) {
    for &n in ORDERS {
        for &r in RANKS {
            places(n).into_iter().for_each(|at| body(n, r, at));
        }
    }
}

fn l<T: Complex, E: Engine<T>>(factor: &Cholesky<T, E>) -> Mat<T> {
    factor.to_factor().unwrap()
}

fn logs<T: Complex>(l: &Mat<T>) -> f64 {
    (0..l.nrows()).map(|j| 2.0 * l[(j, j)].c64().re.ln()).sum()
}

fn inserted_rows_are_there<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(15.0);
    each(|n, r, at| {
        let a = matrix::<T>(n + r, (n + 3 * r + at) as u64);
        let old = without(a.as_ref(), |i| (at..at + r).contains(&i));
        let mut factor = Cholesky::new_in(&old, engine.clone()).unwrap();
        let before = l(&factor);
        let columns = a.subcols(at, r);
        let report = match at == n {
            true => factor.append(columns.subrows(0, n), columns.subrows(n, r)).unwrap(),
            false => factor.insert(at, columns).unwrap(),
        };
        let made = l(&factor);
        let error = error(&made, &before, &bordered(n, at, r), |i, j| a[(i, j)].c64());
        observed.hold::<T::Re>(error, (n + r, r), (n, r, at));
        let off = (report.log_det_change() - (logs(&made) - logs(&before))).abs();
        assert!(off <= 64.0 * (n + r) as f64 * T::ROUNDOFF, "log det is off by {off:.1e}");
        assert!(report.min_pivot_ratio > 0.0 && report.min_pivot_ratio <= 1.0);
    });
}

fn removed_rows_are_gone<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(8.0);
    each(|n, r, at| {
        let a = matrix::<T>(n + r, (n + 5 * r + at) as u64);
        let before = l(&Cholesky::new_in(&a, engine.clone()).unwrap());
        // Neighbours, and scattered rows; not in ascending order.
        let together: Vec<usize> = (at..at + r).rev().collect();
        let apart: Vec<usize> = (0..r).map(|i| i * (n + r) / r).rev().collect();
        for indices in [together, apart] {
            let mut factor = Cholesky::from_factor_in(&before, engine.clone()).unwrap();
            let left: Vec<Option<usize>> = (0..n + r).filter(|i| !indices.contains(i)).map(Some).collect();
            factor.remove(&indices).unwrap();
            let error = error(&l(&factor), &before, &left, nothing_new);
            observed.hold::<T::Re>(error, (n + r, r), (n, &indices));
        }
        let mut factor = Cholesky::from_factor_in(&before, engine.clone()).unwrap();
        factor.remove(&[]).unwrap();
        assert_eq!(bits(l(&factor).as_ref()), bits(before.as_ref()));
        factor.remove(&(0..n + r).collect::<Vec<_>>()).unwrap();
        assert_eq!((factor.order(), factor.log_det().unwrap()), (0, T::part(0.0)));
    });
}

fn replaced_rows_are_others<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(15.0);
    each(|n, r, at| {
        let a = matrix::<T>(n + r, (n + 7 * r + at) as u64);
        let other = matrix::<T>(r, 77);
        // Other columns, turned and small off the diagonal block, whose Schur complement is far from singular.
        let turn = c64::new(0.3, -0.4);
        let entry = |i: usize, j: usize| match i.checked_sub(at) {
            Some(row) if row < r => a[(i, at + j)].c64() + other[(row, j)].c64(),
            _ => a[(i, at + j)].c64() * turn,
        };
        let columns = narrow::<T>(&Mat::from_fn(n + r, r, entry));
        let mut factor = Cholesky::new_in(&a, engine.clone()).unwrap();
        let before = l(&factor);
        factor.replace(at, &columns).unwrap();
        let is_new = |i: usize| (at..at + r).contains(&i);
        let rows: Vec<Option<usize>> = (0..n + r).map(|i| (!is_new(i)).then_some(i)).collect();
        let error = error(&l(&factor), &before, &rows, |i, j| match is_new(j) {
            true => columns[(i, j - at)].c64(),
            false => columns[(j, i - at)].c64().conj(),
        });
        observed.hold::<T::Re>(error, (n + r, 2 * r), (n, r, at));
    });
}

fn shifted_rows_are_elsewhere<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(25.0);
    each(|n, r, at| {
        let n = n + r;
        let before = l(&Cholesky::new_in(&matrix::<T>(n, (n + 11 * r + at) as u64), engine.clone()).unwrap());
        for (from, to) in [(at.min(n - 1), n - 1), (n - 1, at.min(n - 1)), (at / 2, at.min(n - 1))] {
            let mut factor = Cholesky::from_factor_in(&before, engine.clone()).unwrap();
            let report = factor.shift(from, to).unwrap();
            let mut rows: Vec<Option<usize>> = (0..n).map(Some).collect();
            let row = rows.remove(from);
            rows.insert(to, row);
            let error = error(&l(&factor), &before, &rows, nothing_new);
            observed.hold::<T::Re>(error, (n, 1), (n, from, to));
            assert!(report.min_pivot_ratio > 0.0 && report.min_pivot_ratio <= 1.0);
            assert_eq!(report.log_det_change(), 0.0);
        }
        let mut factor = Cholesky::from_factor_in(&before, engine.clone()).unwrap();
        factor.shift(at / 2, at / 2).unwrap();
        assert_eq!(bits(l(&factor).as_ref()), bits(before.as_ref()));
    });
}

fn permuted_rows_are_in_that_order<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(25.0);
    for n in [0, 1, 2, 7, 40] {
        let mut order: Vec<usize> = (0..n).collect();
        let mut random = rng(71);
        (1..n).for_each(|i| order.swap(i, random.random_range(0..=i)));
        let mut factor = Cholesky::new_in(&matrix::<T>(n, 72), engine.clone()).unwrap();
        let before = l(&factor);
        factor.permute(&order).unwrap();
        let rows: Vec<Option<usize>> = order.into_iter().map(Some).collect();
        // One shift after the other.
        observed.hold::<T::Re>(error(&l(&factor), &before, &rows, nothing_new), (n, n), n);
    }
}

/// The last pivot of the new L is the square of the old one, far below a rounding of its terms.
#[test]
fn nearly_singular_rows_move_up() {
    fn check<T: Complex>()
    where
        Cpu: Engine<T>,
    {
        let tiny = T::part(1e-3 * T::ROUNDOFF).f64();
        for below in [c64::new(0.0, 1.0), c64::new(-0.6, 0.8)] {
            let l = Mat::from_fn(2, 2, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Less => T::ZERO,
                std::cmp::Ordering::Equal => T::from_real(tiny),
                std::cmp::Ordering::Greater => T::from_c64(below),
            });
            for permute in [false, true] {
                let mut factor = Cholesky::from_factor(&l).unwrap();
                if permute { factor.permute(&[1, 0]) } else { factor.shift(1, 0) }.unwrap();
                let made = factor.to_factor().unwrap();
                let (pivot, wanted) = (made[(1, 1)].c64(), tiny * tiny / T::from_c64(below).c64().norm());
                assert!((pivot - wanted).norm() <= 8.0 * T::ROUNDOFF * wanted, "{pivot:e}");
                // Its row is the conjugate of the other's.
                let off = made[(1, 0)].c64() - below.conj() * tiny;
                assert!(off.norm() <= 8.0 * T::ROUNDOFF * tiny, "{off:e}");
                assert!(is_factor(made.as_ref()));
            }
        }
    }
    check::<c64>();
    check::<c32>();
}

#[test]
fn many_threads_make_the_same_bits() {
    fn check<T: Complex>()
    where
        Cpu: Engine<T>,
    {
        let (n, r, at) = sized((600, 20, 100), (90, 3, 20));
        let a = matrix::<T>(n + r, 41);
        let made = [Cpu::sequential(), Cpu::threads(2), Cpu::threads(8)].map(|engine| {
            let mut factor = Cholesky::new(&a).unwrap().into_engine(engine).unwrap();
            factor.remove(&(at..at + r).collect::<Vec<_>>()).unwrap();
            let removed = bits(l(&factor).as_ref());
            factor.insert(at, a.subcols(at, r)).unwrap();
            factor.shift(3, n - 5).unwrap();
            factor.shift(n - 1, 2).unwrap();
            (removed, bits(l(&factor).as_ref()))
        });
        assert!(made[0] == made[1] && made[0] == made[2]);
    }
    check::<c64>();
    check::<c32>();
}
