//! Insertion and removal of rows and columns: against the resulting matrix, entry by entry, in twice the precision.

use crate::support::compensated::product_of_rows;
use crate::support::contract::{Observed, assert_solved, is_factor};
use crate::support::engines::{sized, steps};
use crate::support::problem::{factor as random_factor, rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Cholesky, Cpu, Engine, Error, Extension};
use rand::Rng;

const ORDERS: &[usize] = sized(&[0, 1, 2, 9, 33, 64, 150], &[0, 1, 9, 33]);
const RANKS: &[usize] = sized(&[1, 2, 5, 17, 40], &[1, 5]);

/// A symmetric positive definite matrix of numbers of type T. (n × n)
pub fn matrix<T: Real>(n: usize, seed: u64) -> Mat<T> {
    let l = random_factor(n, &mut rng(seed));
    let a = &l * l.transpose();
    Mat::from_fn(n, n, |i, j| T::of(a[(i.max(j), i.min(j))]))
}

/// A without some rows and columns. `removed` says which.
fn without<T: Real>(a: MatRef<'_, T>, removed: impl Fn(usize) -> bool) -> Mat<T> {
    let left: Vec<usize> = (0..a.nrows()).filter(|&i| !removed(i)).collect();
    Mat::from_fn(left.len(), left.len(), |i, j| a[(left[i], left[j])])
}

/// The source of a row of the new matrix: an old row, or a given column.
#[derive(Clone, Copy)]
pub enum Row {
    Old(usize),
    New(usize),
}

/// max |(L' L'ᵀ − A')_ij| / (u √(a'_ii a'_jj)), where A' is L Lᵀ except for the given columns, numbered as in A'.
pub fn error<T: Real>(new: MatRef<'_, T>, old: MatRef<'_, T>, rows: &[Row], columns: MatRef<'_, T>) -> f64 {
    if !is_factor(new) || new.nrows() != rows.len() {
        return f64::INFINITY;
    }
    let by_rows = |l: MatRef<'_, T>| -> Vec<Vec<f64>> {
        (0..l.nrows()).map(|i| (0..=i).map(|j| l[(i, j)].f64()).collect()).collect()
    };
    let (new, old) = (by_rows(new), by_rows(old));
    let scale = |i: usize| match rows[i] {
        Row::Old(row) => old[row].iter().map(|x| x * x).sum::<f64>().sqrt(),
        Row::New(column) => columns[(i, column)].f64().sqrt(),
    };
    let mut worst = 0.0_f64;
    for i in 0..rows.len() {
        for j in 0..=i {
            let made = (&new[i][..=j], &new[j][..=j]);
            let residual = match (rows[i], rows[j]) {
                (Row::Old(a), Row::Old(b)) => {
                    let both = a.min(b) + 1;
                    let opposite: Vec<f64> = old[a][..both].iter().map(|x| -x).collect();
                    product_of_rows(&[made, (&opposite, &old[b][..both])])
                }
                (_, Row::New(column)) => product_of_rows(&[made, (&[-columns[(i, column)].f64()], &[1.0])]),
                (Row::New(column), _) => product_of_rows(&[made, (&[-columns[(j, column)].f64()], &[1.0])]),
            };
            worst = worst.max(residual.abs() / (T::U * scale(i) * scale(j)));
        }
    }
    worst
}

/// The rows of a matrix of order n where r rows are new from `at` on.
pub fn bordered(n: usize, at: usize, r: usize) -> Vec<Row> {
    (0..at).map(Row::Old).chain((0..r).map(Row::New)).chain((at..n).map(Row::Old)).collect()
}

fn places(n: usize) -> Vec<usize> {
    let mut places = vec![0, n / 3, n.saturating_sub(1), n];
    places.dedup();
    places
}

/// Each shape; a few of them on the fake driver.
fn each<E>(mut body: impl FnMut(usize, usize, usize)) {
    let few = steps::<E>(1000) < 1000;
    for &n in ORDERS.iter().filter(|n| !few || [0, 1, 33, 150].contains(*n)) {
        for &r in RANKS.iter().filter(|r| !few || [1, 17].contains(*r)) {
            places(n).into_iter().for_each(|at| body(n, r, at));
        }
    }
}

fn l<T: Real, E: Engine<T>>(factor: &Cholesky<T, E>) -> Mat<T> {
    factor.to_factor().unwrap()
}

on_every_engine!(
    inserted_rows_are_there,
    removed_rows_are_gone,
    replaced_rows_are_others,
    shifted_rows_are_elsewhere,
    permuted_rows_are_in_that_order,
    what_would_not_be_positive_definite_is_refused,
    rows_come_and_go_for_long,
    an_extension_solves_for_the_bordered_matrix,
    nearly_singular_rows_move_up,
);

fn inserted_rows_are_there<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(9.7);
    each::<E>(|n, r, at| {
        let a = matrix::<T>(n + r, (n + 3 * r + at) as u64);
        let old = without(a.as_ref(), |i| (at..at + r).contains(&i));
        let mut factor = Cholesky::new_in(&old, engine.clone()).unwrap();
        let before = factor.to_factor().unwrap();
        let columns = a.subcols(at, r);
        let report = match at == n {
            true => factor.append(columns.subrows(0, n), columns.subrows(n, r)).unwrap(),
            false => factor.insert(at, columns).unwrap(),
        };
        let error = error(l(&factor).as_ref(), before.as_ref(), &bordered(n, at, r), columns);
        observed.hold::<T>(error, (n + r, r), (n, r, at));
        let logs = |l: MatRef<'_, T>| (0..l.nrows()).map(|j| 2.0 * l[(j, j)].f64().ln()).sum::<f64>();
        let change = logs(l(&factor).as_ref()) - logs(before.as_ref());
        let off = (report.log_det_change() - change).abs();
        assert!(off <= 64.0 * (n + r) as f64 * T::U, "log det is off by {off:.1e}");
        assert!(report.min_pivot_ratio > 0.0 && report.min_pivot_ratio <= 1.0);
    });
}

fn removed_rows_are_gone<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(3.7);
    each::<E>(|n, r, at| {
        let a = matrix::<T>(n + r, (n + 5 * r + at) as u64);
        let mut factor = Cholesky::new_in(&a, engine.clone()).unwrap();
        let before = factor.to_factor().unwrap();
        // Neighbours, and scattered rows; not in ascending order.
        let together: Vec<usize> = (at..at + r).rev().collect();
        let apart: Vec<usize> = (0..r).map(|i| i * (n + r) / r).rev().collect();
        for indices in [together, apart] {
            let mut factor = Cholesky::from_factor_in(&before, engine.clone()).unwrap();
            let left: Vec<Row> = (0..n + r).filter(|i| !indices.contains(i)).map(Row::Old).collect();
            factor.remove(&indices).unwrap();
            let nothing = Mat::<T>::zeros(n, 0);
            let error = error(l(&factor).as_ref(), before.as_ref(), &left, nothing.as_ref());
            observed.hold::<T>(error, (n + r, r), (n, &indices));
        }
        let nothing = factor.remove(&[]).unwrap();
        assert_eq!((nothing.min_pivot_ratio, nothing.log_det_change()), (1.0, 0.0));
        assert_eq!(bits(l(&factor).as_ref()), bits(before.as_ref()));
        factor.remove(&(0..n + r).collect::<Vec<_>>()).unwrap();
        assert_eq!((factor.order(), factor.log_det().unwrap()), (0, T::ZERO));
    });
}

fn replaced_rows_are_others<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(9.1);
    each::<E>(|n, r, at| {
        let a = matrix::<T>(n + r, (n + 7 * r + at) as u64);
        let other = matrix::<T>(r, 77);
        // Other columns, small off the diagonal block, whose Schur complement is far from singular.
        let columns = Mat::from_fn(n + r, r, |i, j| match i.checked_sub(at) {
            Some(row) if row < r => a[(i, at + j)] + other[(row, j)],
            _ => T::of(0.5) * a[(i, at + j)],
        });
        let mut factor = Cholesky::new_in(&a, engine.clone()).unwrap();
        let before = factor.to_factor().unwrap();
        factor.replace(at, &columns).unwrap();
        let rows: Vec<Row> = (0..n + r)
            .map(|i| if (at..at + r).contains(&i) { Row::New(i - at) } else { Row::Old(i) })
            .collect();
        let error = error(l(&factor).as_ref(), before.as_ref(), &rows, columns.as_ref());
        observed.hold::<T>(error, (n + r, 2 * r), (n, r, at));
    });
}

fn shifted_rows_are_elsewhere<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(19.7);
    each::<E>(|n, r, at| {
        let n = n + r;
        let a = matrix::<T>(n, (n + 11 * r + at) as u64);
        let mut factor = Cholesky::new_in(&a, engine.clone()).unwrap();
        let before = l(&factor);
        for (from, to) in [(at.min(n - 1), n - 1), (n - 1, at.min(n - 1)), (at / 2, at.min(n - 1))] {
            let mut factor = Cholesky::from_factor_in(&before, engine.clone()).unwrap();
            let report = factor.shift(from, to).unwrap();
            let mut rows: Vec<usize> = (0..n).collect();
            let row = rows.remove(from);
            rows.insert(to, row);
            let (rows, nothing) = (rows.into_iter().map(Row::Old).collect::<Vec<_>>(), Mat::zeros(n, 0));
            let error = error(l(&factor).as_ref(), before.as_ref(), &rows, nothing.as_ref());
            observed.hold::<T>(error, (n, 1), (n, from, to));
            assert!(report.min_pivot_ratio > 0.0 && report.min_pivot_ratio <= 1.0);
            assert_eq!(report.log_det_change(), 0.0);
        }
        factor.shift(at / 2, at / 2).unwrap();
        assert_eq!(bits(l(&factor).as_ref()), bits(before.as_ref()));
    });
}

/// The last pivot of the new L is the square of the old one, far below a rounding of its terms.
fn nearly_singular_rows_move_up<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let tiny = T::of(1e-3 * T::U);
    let l = Mat::from_fn(2, 2, |i, j| if i == j { tiny } else { T::of(if i > j { 1.0 } else { 0.0 }) });
    for permute in [false, true] {
        let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        let log_det = factor.log_det().unwrap().f64();
        if permute { factor.permute(&[1, 0]) } else { factor.shift(1, 0) }.unwrap();
        let made = factor.to_factor().unwrap();
        let wanted = tiny.f64() * tiny.f64();
        assert!((made[(1, 1)].f64() - wanted).abs() <= 8.0 * T::U * wanted, "{:e}", made[(1, 1)].f64());
        assert!((factor.log_det().unwrap().f64() - log_det).abs() <= 8.0 * T::U * log_det.abs());
    }
}

fn permuted_rows_are_in_that_order<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(15.9);
    for n in [0, 1, 2, 7, 40] {
        let mut order: Vec<usize> = (0..n).collect();
        let mut random = rng(71);
        (1..n).for_each(|i| order.swap(i, random.random_range(0..=i)));
        let mut factor = Cholesky::new_in(&matrix::<T>(n, 72), engine.clone()).unwrap();
        let before = l(&factor);
        factor.permute(&order).unwrap();
        let (rows, nothing) = (order.into_iter().map(Row::Old).collect::<Vec<_>>(), Mat::zeros(n, 0));
        let error = error(l(&factor).as_ref(), before.as_ref(), &rows, nothing.as_ref());
        // One shift after the other.
        observed.hold::<T>(error, (n, n), n);
    }
}

fn what_would_not_be_positive_definite_is_refused<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let (n, r) = (40, 3);
    let a = matrix::<T>(n + r, 11);
    let at = 17;
    let columns = a.subcols(at, r);
    let mut factor =
        Cholesky::new_in(&without(a.as_ref(), |i| (at..at + r).contains(&i)), engine.clone()).unwrap();
    let mut large = Cholesky::new_in(&a, engine.clone()).unwrap();
    let (before, large_before) = (bits(l(&factor).as_ref()), bits(l(&large).as_ref()));
    let mut refuse = |columns: &Mat<T>, row: usize| {
        let wanted = Error::NotPositiveDefinite { column: row };
        assert_eq!(factor.insert(at, columns).unwrap_err(), wanted);
        assert_eq!((factor.order(), bits(l(&factor).as_ref())), (n, before.clone()));
        assert_eq!(large.replace(at, columns).unwrap_err(), wanted);
        assert_eq!((large.order(), bits(l(&large).as_ref())), (n + r, large_before.clone()));
    };
    // In a new row, by its diagonal entry or by those above it.
    for (row, column, entry) in
        [(at + 1, 1, 1e-3), (3, 2, 1e3), (3, 2, if T::U > 1e-10 { 3e38 } else { 1e308 })]
    {
        let mut wrong = columns.to_owned();
        wrong[(row, column)] = T::of(entry);
        refuse(&wrong, at + column);
    }
    // In a later row, which the first of the new rows outweighs.
    for entry in [1e3, 1e18] {
        let mut wrong = columns.to_owned();
        wrong[(30, 0)] = T::of(entry);
        refuse(&wrong, 30);
    }
    let end = n;
    let mut corner = Mat::<T>::identity(2, 2);
    corner[(1, 1)] = T::ZERO;
    let refused = factor.append(&Mat::<T>::zeros(n, 2), &corner).unwrap_err();
    assert_eq!(refused, Error::NotPositiveDefinite { column: end + 1 });
    assert_eq!(bits(l(&factor).as_ref()), before);
    let refused = factor.extension(&Mat::<T>::zeros(n, 2), &corner).unwrap_err();
    assert_eq!(refused, Error::NotPositiveDefinite { column: end + 1 });
}

fn an_extension_solves_for_the_bordered_matrix<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, r) in [(0, 3), (5, 0), (1, 1), (30, 7), (100, 1)] {
        let a = matrix::<T>(n + r, 21);
        let base = Cholesky::new_in(&without(a.as_ref(), |i| i >= n), engine.clone()).unwrap();
        let before = bits(base.to_factor().unwrap().as_ref());
        let extension = base.extension(a.submatrix(0, n, n, r), a.submatrix(n, n, r, r)).unwrap();
        assert_eq!(extension.order(), n + r);
        let b = uniform(n + r, 2, &mut rng(5));
        let b = Mat::from_fn(n + r, 2, |i, j| T::of(b[(i, j)]));
        assert_solved(&a, &extension.solve(&b).unwrap(), &b);
        let whole = Cholesky::new(&a).unwrap();
        let off = (extension.log_det().unwrap() - whole.log_det().unwrap()).f64().abs();
        assert!(off <= 64.0 * (n + r) as f64 * T::U, "log det is off by {off:.1e}");
        let x = extension.solve(&b).unwrap();
        let (s, corner) = extension.into_parts();
        let refused = Extension::from_parts(&base, Mat::zeros(n + 1, r), corner.clone()).err();
        assert_eq!(refused, Some(Error::Shape { argument: "s", extent: "rows", expected: n, found: n + 1 }));
        let refused = Extension::from_parts(&base, s.clone(), Mat::zeros(r, r + 1)).err();
        let wanted = Error::Shape { argument: "corner", extent: "columns", expected: r, found: r + 1 };
        assert_eq!(refused, Some(wanted));
        let extension = Extension::from_parts(&base, s, corner).unwrap();
        assert_eq!(extension.solve(&b).unwrap(), x);
        let short = extension.solve(&Mat::<T>::zeros(n, 1)).err();
        let wanted = Error::Shape { argument: "rhs", extent: "rows", expected: n + r, found: n };
        assert_eq!(short, (r > 0).then_some(wanted));
        assert_eq!(bits(base.to_factor().unwrap().as_ref()), before);
    }
}

/// Hundreds of verbs in any order: the factor is that of the resulting matrix, with no more than their errors.
fn rows_come_and_go_for_long<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut random = rng(31);
    let pool = matrix::<T>(60, 32);
    // The rows of the pool that are in the factor, in order.
    let mut rows: Vec<usize> = Vec::new();
    let mut factor = Cholesky::new_in(&Mat::<T>::zeros(0, 0), engine.clone()).unwrap();
    for step in 0..steps::<E>(sized(400, 60)) {
        let absent: Vec<usize> = (0..60).filter(|row| !rows.contains(row)).collect();
        let r = random.random_range(0..5);
        let at = random.random_range(0..=rows.len());
        let column = |rows: &[usize], c: usize| rows.iter().map(|&i| pool[(i, c)]).collect::<Vec<T>>();
        match random.random_range(0..3) {
            0 if r <= absent.len() => {
                rows.splice(at..at, absent[..r].iter().copied());
                let columns: Vec<_> = absent[..r].iter().map(|&c| column(&rows, c)).collect();
                factor.insert(at, &Mat::from_fn(rows.len(), r, |i, j| columns[j][i])).unwrap();
            }
            1 if at + r <= rows.len() && r <= absent.len() => {
                rows.splice(at..at + r, absent[..r].iter().copied());
                let columns: Vec<_> = absent[..r].iter().map(|&c| column(&rows, c)).collect();
                factor.replace(at, &Mat::from_fn(rows.len(), r, |i, j| columns[j][i])).unwrap();
            }
            _ => {
                let mut indices: Vec<usize> = (0..r).map(|i| (at + 7 * i) % rows.len().max(1)).collect();
                indices.sort_unstable();
                indices.dedup();
                indices.retain(|&i| i < rows.len());
                factor.remove(&indices).unwrap();
                indices.iter().rev().for_each(|&i| {
                    rows.remove(i);
                });
            }
        }
        let all: Vec<Row> = (0..rows.len()).map(Row::New).collect();
        let a = Mat::from_fn(rows.len(), rows.len(), |i, j| pool[(rows[i], rows[j])]);
        let error = error(l(&factor).as_ref(), Mat::zeros(0, 0).as_ref(), &all, a.as_ref());
        let allowed = 60.0 + 2.0 * step as f64;
        assert!(error <= allowed, "step {step}: {error:.1} u, not {allowed} u");
    }
}

#[test]
fn many_threads_make_the_same_bits() {
    same_bits::<f64>();
    same_bits::<f32>();
}

fn same_bits<T: Real>() {
    let (n, r, at) = sized((1500, 20, 200), (90, 3, 20));
    let a = matrix::<T>(n + r, 41);
    let columns = a.subcols(at, r);
    let made = [Cpu::sequential(), Cpu::threads(2), Cpu::threads(8)].map(|engine| {
        let mut factor = Cholesky::new(&a).unwrap().into_engine(engine).unwrap();
        factor.remove(&(at..at + r).collect::<Vec<_>>()).unwrap();
        let removed = bits(l(&factor).as_ref());
        factor.insert(at, columns).unwrap();
        (removed, bits(l(&factor).as_ref()))
    });
    assert!(made[0] == made[1] && made[0] == made[2]);
}

/// A removed column that begins with many zeros below the diagonal: the update of the rest may start further down.
#[test]
fn leading_zeros_do_not_make_the_bits_depend_on_threads() {
    let (n, zeros) = sized((1500, 40), (150, 40));
    let l = Mat::<f64>::from_fn(n, n, |i, j| match i {
        _ if i == j => 1.0 + (i % 7) as f64 / 9.0,
        _ if i > j && (i >= zeros || j >= zeros) => ((i * 31 + j * 17) % 13) as f64 / 400.0 - 0.015,
        _ => 0.0,
    });
    let made = [Cpu::sequential(), Cpu::threads(2), Cpu::threads(8)].map(|engine| {
        let mut factor = Cholesky::from_factor_in(&l, engine).unwrap();
        factor.remove(&[5]).unwrap();
        factor.shift(3, n - 20).unwrap();
        factor.remove(&[2, 7]).unwrap();
        bits(factor.to_factor().unwrap().as_ref())
    });
    assert!(made[0] == made[1] && made[0] == made[2]);
}

#[test]
fn what_is_wrong_with_an_argument_is_named() {
    let a = matrix::<f64>(5, 51);
    let mut factor = Cholesky::new(&a).unwrap();
    let before = bits(l(&factor).as_ref());
    let columns = Mat::<f64>::identity(7, 2);
    let mut with_nan = columns.clone();
    with_nan[(4, 1)] = f64::NAN;
    let mut with_large = columns.clone();
    with_large[(1, 0)] = 1.7e308;
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    let index = |argument, entry, found, limit| Error::Index { argument, entry, found, limit };
    let not_finite = |argument, row, column| Error::NonFinite { argument, row, column };
    for (refused, wanted) in [
        (factor.insert(6, &columns), index("at", 0, 6, 6)),
        (factor.insert(0, &Mat::<f64>::zeros(6, 2)), shape("columns", "rows", 7, 6)),
        (factor.insert(0, &with_nan), not_finite("columns", 4, 1)),
        (factor.insert(1, &with_large), Error::Overflow { argument: "columns" }),
        (factor.replace(4, &Mat::<f64>::zeros(5, 2)), index("at", 0, 4, 4)),
        (factor.replace(0, &Mat::<f64>::zeros(5, 6)), shape("columns", "columns", 5, 6)),
        (factor.replace(0, &Mat::<f64>::zeros(7, 2)), shape("columns", "rows", 5, 7)),
        (factor.remove(&[1, 5]), index("indices", 1, 5, 5)),
        (factor.remove(&[1, 3, 1]), Error::Duplicate { argument: "indices", entry: 2, found: 1 }),
        (factor.append(&[0.0; 4], &[1.0]), shape("cross", "rows", 5, 4)),
        (factor.append(&[0.0; 5], &[1.0, 2.0]), shape("corner", "rows", 1, 2)),
        (factor.append(&[0.0, f64::INFINITY, 0.0, 0.0, 0.0], &[1.0]), not_finite("cross", 1, 0)),
        (factor.append(&[0.0; 5], &[f64::NAN]), not_finite("corner", 0, 0)),
        (factor.append(&[0.0; 5], &[1.7e308]), Error::Overflow { argument: "corner" }),
        (factor.shift(5, 0), index("from", 0, 5, 5)),
        (factor.shift(0, 5), index("to", 0, 5, 5)),
        (factor.permute(&[0, 1, 2, 3]), shape("order", "entries", 5, 4)),
        (factor.permute(&[0, 1, 2, 3, 5]), index("order", 4, 5, 5)),
        (factor.permute(&[0, 1, 2, 3, 1]), Error::Duplicate { argument: "order", entry: 4, found: 1 }),
    ] {
        assert_eq!(refused.unwrap_err(), wanted);
    }
    assert_eq!(bits(l(&factor).as_ref()), before);
    assert_eq!(factor.extension(&[0.0; 4], &[1.0]).unwrap_err(), shape("cross", "rows", 5, 4));
}

/// Only the lower triangle of K is read.
#[test]
fn what_is_above_the_diagonal_of_the_corner_does_not_count() {
    let mut factor = Cholesky::new(&matrix::<f64>(3, 51)).unwrap();
    let mut columns = Mat::<f64>::zeros(5, 2);
    (columns[(1, 0)], columns[(1, 1)], columns[(2, 1)]) = (1.0, f64::NAN, 1.0);
    factor.append(&Mat::<f64>::zeros(3, 2), columns.subrows(1, 2)).unwrap();
    factor.remove(&[3, 4]).unwrap();
    factor.insert(1, &columns).unwrap();
    assert_eq!(factor.order(), 5);
}

/// Nothing is left of V on the diagonal: the pivot comes from the determinant.
#[test]
fn a_shift_of_a_nearly_singular_factor_does_not_break_down() {
    fn in_type<T: Real>(tiny: f64) {
        let l = Mat::from_fn(3, 3, |i, j| match (i, j) {
            (1, 1) => T::of(tiny),
            _ if j <= i => T::ONE,
            _ => T::ZERO,
        });
        let mut factor = Cholesky::from_factor(&l).unwrap();
        factor.shift(0, 1).unwrap();
        let (made, u) = (factor.l(), T::U);
        for (i, j, wanted) in [(0, 0, 1.0), (1, 0, 1.0), (1, 1, tiny), (2, 0, 1.0)] {
            let off = (made[(i, j)].f64() - wanted).abs();
            assert!(off <= 4.0 * u * wanted.max(tiny), "{i}, {j}: {:e}", made[(i, j)].f64());
        }
        factor.permute(&[1, 2, 0]).unwrap();
        assert!(factor.l().diagonal().column_vector().iter().all(|&pivot| pivot > T::ZERO));
    }
    in_type::<f64>(1e-17);
    in_type::<f32>(1e-9);
}

#[test]
fn room_that_nobody_has_is_refused() {
    let mut factor = Cholesky::new(&matrix::<f64>(3, 51)).unwrap();
    for additional in [usize::MAX, 1 << 48, 1 << 31] {
        let refused = factor.reserve(additional).unwrap_err();
        let rule = "few enough for an address space";
        assert_eq!(refused, Error::OutOfRange { argument: "additional", rule });
    }
    factor.update(&[1.0, 2.0, 3.0]).unwrap();
}

#[test]
fn up_to_the_capacity_l_stays_where_it_is() {
    let a = matrix::<f64>(90, 61);
    let mut factor = Cholesky::new(&without(a.as_ref(), |i| i >= 10)).unwrap();
    factor.reserve(80).unwrap();
    assert_eq!(factor.capacity(), 90);
    let place = factor.l().as_ptr();
    for n in 10..90 {
        factor.append(a.submatrix(0, n, n, 1), a.submatrix(n, n, 1, 1)).unwrap();
    }
    assert_eq!((factor.l().as_ptr(), factor.order(), factor.capacity()), (place, 90, 90));
    // Beyond it, L is reallocated, with room for more rows.
    factor.append(&Mat::<f64>::zeros(90, 1), &[1.0]).unwrap();
    assert!(factor.order() == 91 && factor.capacity() > 91);
    // Shrinking keeps the capacity.
    factor.remove(&(0..91).collect::<Vec<_>>()).unwrap();
    assert!(factor.order() == 0 && factor.capacity() > 91);
    factor.reserve(0).unwrap();
    factor.update(&Mat::<f64>::zeros(0, 3)).unwrap();
}
