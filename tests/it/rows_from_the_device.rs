//! Rows and columns from device memory: as accurate as those from the host, with the same errors.

use crate::support::cuda::{device, hybrid, resident};
use crate::support::model::Model;
use crate::support::problem::rng;
use crate::support::real::{Real, bits};
use cholupdate::cuda::{DeviceMatrix, Resident};
use cholupdate::faer::{Mat, mat};
use cholupdate::{Cholesky, Engine, Error};

fn there<T: Real>(a: &Mat<T>) -> DeviceMatrix<T> {
    DeviceMatrix::from_host(&device().unwrap(), a).unwrap()
}

/// Well-conditioned and symmetric; its leading rows and columns are those of a smaller one.
fn entry(i: usize, j: usize) -> f64 {
    if i == j { 3.0 + (i % 5) as f64 } else { ((i * 31 + j * 31) % 13) as f64 / 1e3 }
}

fn matrix<T: Real>(n: usize) -> Mat<T> {
    Mat::from_fn(n, n, |i, j| T::of(entry(i, j)))
}

/// Rows `at..at + r` of a matrix of order n + r are new; n is the order of the old factor.
fn new_columns<T: Real>(n: usize, at: usize, r: usize) -> Mat<T> {
    Mat::from_fn(n + r, r, |i, j| T::of(entry(i, at + j)))
}

/// max |(L Lᵀ − A)_ij| / √(a_ii a_jj), in units of rounding.
fn error<T: Real>(l: &Mat<T>, a: impl Fn(usize, usize) -> f64) -> f64 {
    let n = l.nrows();
    let mut worst = 0.0_f64;
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..=j).map(|p| l[(i, p)].f64() * l[(j, p)].f64()).sum();
            worst = worst.max((sum - a(i, j)).abs() / (a(i, i) * a(j, j)).sqrt());
        }
    }
    worst / T::U
}

fn rows<T: Real>(engine: &Resident) {
    for (n, r) in [(0, 1), (1, 1), (5, 2), (64, 1), (70, 3), (130, 20), (130, 70)] {
        for at in [0, 1, n / 2, n].into_iter().filter(|&at| at <= n) {
            // Of a matrix of order n + r without these rows.
            let old = |i: usize| if i < at { i } else { i + r };
            let a = Mat::from_fn(n, n, |i, j| T::of(entry(old(i), old(j))));
            let columns = new_columns::<T>(n, at, r);
            let mut here = Cholesky::new_in(&a, engine.clone()).unwrap();
            let mut found = Cholesky::new_in(&a, engine.clone()).unwrap();
            let reports = if at == n {
                let (cross, corner) = columns.split_at_row(n);
                let there = (there(&cross.to_owned()), there(&corner.to_owned()));
                [here.append(cross, corner), found.append(&there.0, &there.1)]
            } else {
                [here.insert(at, &columns), found.insert(at, &there(&columns))]
            };
            let what = format!("n = {n}, r = {r}, at {at}");
            let [expected, report] = reports.map(|report| report.unwrap());
            let close = |a: f64, b: f64| (a - b).abs() < 1e3 * T::U * (1.0 + b.abs());
            assert!(close(report.log_det_change(), expected.log_det_change()), "{what}");
            assert!(close(report.min_pivot_ratio, expected.min_pivot_ratio), "{what}");
            let [here, l] = [here, found].map(|factor| factor.to_factor().unwrap());
            let (worst, before) = (error(&l, entry), error(&here, entry));
            assert!(worst <= (1.5 * before).max(12.0), "{what}: {worst} u, by way of the host {before} u");
        }
    }
    // In place of others.
    for (n, r) in [(5, 2), (64, 64), (130, 20)] {
        for at in [0, (n - r) / 2, n - r] {
            let mut a = matrix::<T>(n);
            for i in (0..n).filter(|i| !(at..at + r).contains(i)) {
                for j in at..at + r {
                    (a[(i, j)], a[(j, i)]) = (T::of(0.01), T::of(0.01));
                }
            }
            let mut factor = Cholesky::new_in(&a, engine.clone()).unwrap();
            let columns = Mat::from_fn(n, r, |i, j| T::of(entry(i, at + j)));
            factor.replace(at, &there(&columns)).unwrap();
            let worst = error(&factor.to_factor().unwrap(), entry);
            assert!(worst <= 40.0, "n = {n}, r = {r}, at {at}: {worst} u");
        }
    }
}

#[test]
fn they_are_as_good_as_those_of_the_host() {
    let Some((_turn, engine)) = resident() else { return };
    rows::<f64>(&engine);
    rows::<f32>(&engine);
}

fn refused<E: Engine<f64> + Clone>(engine: &E) {
    let n = 70;
    let a = matrix::<f64>(n);
    let factor = || Cholesky::new_in(&a, engine.clone()).unwrap();
    let (good_cross, good_corner) = (Mat::from_fn(n, 3, |i, j| entry(i, n + j)), matrix::<f64>(3));
    let with = |m: &Mat<f64>, entries: &[(usize, usize, f64)]| {
        let mut m = m.clone();
        entries.iter().for_each(|&(i, j, x)| m[(i, j)] = x);
        m
    };
    let appended = |cross: &Mat<f64>, corner: &Mat<f64>| {
        let (mut here, mut found) = (factor(), factor());
        let outcome = found.append(&there(cross), &there(corner));
        assert_eq!(outcome.clone().map(|_| ()), here.append(cross, corner).map(|_| ()));
        assert!(bits(found.to_factor().unwrap().as_ref()) == bits(factor().to_factor().unwrap().as_ref()));
        // The factor can still be used.
        found.append(&there(&good_cross), &there(&good_corner)).unwrap();
        outcome.unwrap_err()
    };
    let bad = f64::NAN;
    let error =
        appended(&with(&good_cross, &[(60, 1, bad), (3, 2, bad)]), &with(&good_corner, &[(1, 0, bad)]));
    assert_eq!(error, Error::NonFinite { argument: "cross", row: 60, column: 1 });
    let error = appended(&good_cross, &with(&good_corner, &[(2, 0, bad), (1, 1, bad), (0, 2, bad)]));
    assert_eq!(error, Error::NonFinite { argument: "corner", row: 2, column: 0 });
    assert_eq!(
        appended(&good_cross, &with(&good_corner, &[(1, 1, 1.7e308)])),
        Error::Overflow { argument: "corner" }
    );
    let error = appended(&good_cross, &with(&good_corner, &[(1, 1, 1e-9)]));
    assert_eq!(error, Error::NotPositiveDefinite { column: n + 1 });
    let error = appended(&good_cross, &Mat::<f64>::zeros(2, 3));
    assert!(matches!(error, Error::Shape { argument: "corner", .. }), "{error:?}");
    let error = appended(&Mat::<f64>::zeros(n - 1, 3), &good_corner);
    assert!(matches!(error, Error::Shape { argument: "cross", .. }), "{error:?}");

    let good = new_columns::<f64>(n, 20, 3);
    let inserted = |columns: &Mat<f64>| {
        let (mut here, mut found) = (factor(), factor());
        let outcome = found.insert(20, &there(columns));
        assert_eq!(outcome.clone().map(|_| ()), here.insert(20, columns).map(|_| ()));
        assert!(bits(found.to_factor().unwrap().as_ref()) == bits(factor().to_factor().unwrap().as_ref()));
        outcome.unwrap_err()
    };
    let error = inserted(&with(&good, &[(60, 1, bad), (21, 1, bad), (22, 0, bad)]));
    assert_eq!(error, Error::NonFinite { argument: "columns", row: 22, column: 0 });
    let error = inserted(&with(&good, &[(60, 0, bad), (21, 1, bad)]));
    assert_eq!(error, Error::NonFinite { argument: "columns", row: 60, column: 0 });
    let error = inserted(&with(&good, &[(60, 0, bad), (5, 2, bad)]));
    assert_eq!(error, Error::NonFinite { argument: "columns", row: 5, column: 2 });
    // The third of the new rows, and one below them.
    assert_eq!(inserted(&with(&good, &[(22, 2, -1.0)])), Error::NotPositiveDefinite { column: 22 });
    assert_eq!(inserted(&with(&good, &[(40, 1, 1e3)])), Error::NotPositiveDefinite { column: 40 });
    assert_eq!(inserted(&with(&good, &[(50, 1, 1e200)])), Error::NotPositiveDefinite { column: 50 });
}

#[test]
fn what_is_wrong_with_them_is_found_there() {
    let Some((_turn, engine)) = resident() else { return };
    refused(&engine);
}

#[test]
fn the_hybrid_engine_takes_them_as_well() {
    let Some((_turn, engine)) = hybrid() else { return };
    refused(&engine);
}

/// A sliding window: rows from the device are appended, and rows at the beginning are removed.
#[test]
fn a_window_slides_on_the_device() {
    let Some((_turn, engine)) = resident() else { return };
    let mut model = Model::new::<f64>(40, &mut rng(91));
    let mut factor = Cholesky::new_in(&there(&model.a), engine).unwrap();
    for step in 0..12 {
        let n = model.order();
        let columns = model.entering(&(n..n), 2, 0.5, &mut rng(92 + step));
        let (cross, corner) = columns.split_at_row(n);
        factor.append(&there(&cross.to_owned()), &there(&corner.to_owned())).unwrap();
        model = model.entered(&(n..n), &columns).unwrap();
        factor.remove(&[0, 1]).unwrap();
        let kept: Vec<usize> = (2..n + 2).collect();
        model = model.rows(&kept, 0);
        let worst = model.error(factor.to_factor().unwrap().as_ref());
        assert!(worst < 200.0, "step {step}: {worst} u");
    }
}

/// In the middle of L rows of earlier columns move in place, over several blocks of rows, and later columns through the shadow buffer;
/// with scattered rows, and with others in the place of old ones.
#[test]
fn rows_in_the_middle_come_and_go() {
    let Some((_turn, engine)) = resident() else { return };
    let (n, r) = (1400, 3);
    let all: Vec<usize> = (0..n + r).collect();
    for at in [129, 200, 1290] {
        let mut order: Vec<usize> = all.iter().copied().filter(|i| !(at..at + r).contains(i)).collect();
        let a = Mat::from_fn(n, n, |i, j| entry(order[i], order[j]));
        let mut factor = Cholesky::new_in(&a, engine.clone()).unwrap();
        let columns = new_columns::<f64>(n, at, r);
        let check = |factor: &Cholesky<f64, Resident>, order: &[usize], what: &str| {
            let l = factor.to_factor().unwrap();
            let some: Vec<usize> = (0..order.len()).filter(|i| i % 97 < 2 || i.abs_diff(at) < 5).collect();
            for (&i, &j) in some.iter().flat_map(|i| some.iter().map(move |j| (i, j))).filter(|(i, j)| j <= i)
            {
                let sum: f64 = (0..=j).map(|p| l[(i, p)] * l[(j, p)]).sum();
                let off = (sum - entry(order[i], order[j])).abs() / f64::EPSILON;
                assert!(off < 200.0, "{what} at {at}: ({i}, {j}) is off by {off} u");
            }
            let b = Mat::from_fn(order.len(), 1, |i, _| (i % 7) as f64);
            let x = factor.solve(&b).unwrap();
            let product = factor.multiply(&x).unwrap();
            assert!((product - &b).norm_max() < 1e-10, "{what} at {at}");
        };
        factor.insert(at, &there(&columns)).unwrap();
        order.clone_from(&all);
        check(&factor, &order, "inserted");
        // The rows may still be moving on the device when these begin.
        let v = Mat::from_fn(n + r, 2, |i, j| ((i + j) % 5) as f64 / 16.0);
        factor.update(&there(&v)).unwrap();
        factor.downdate(&there(&v)).unwrap();
        factor.replace(at, &there(&columns)).unwrap();
        check(&factor, &order, "replaced");
        let removed = [at, at + 1, at + 60, n - 1];
        factor.remove(&removed).unwrap();
        order.retain(|row| !removed.contains(row));
        check(&factor, &order, "removed");
    }
}

/// A row whose downdate working precision does not decide: as the same downdate by itself.
#[test]
fn a_row_is_decided_in_twice_the_precision() {
    let Some((_turn, engine)) = resident() else { return };
    let l =
        mat![[1.0, 0.0, 0.0], [-145.11213347519777, 1.0, 0.0], [28.96018790147825, 62.4046605677754, 1.0]];
    let v = [0.2634638816175617, -38.135379766510546, 12.687569201709028];
    let factor = || Cholesky::from_factor_in(&l, engine.clone()).unwrap();
    let mut expected = factor();
    expected.downdate(&v).unwrap();
    let expected = expected.to_factor().unwrap();
    let columns = Mat::from_fn(4, 1, |i, _| if i == 0 { 1.0 } else { v[i - 1] });
    let (mut here, mut found) = (factor(), factor());
    here.insert(0, &columns).unwrap();
    found.insert(0, &there(&columns)).unwrap();
    for l in [here, found].map(|factor| factor.to_factor().unwrap()) {
        assert!(bits(l.submatrix(1, 1, 3, 3)) == bits(expected.as_ref()));
        assert_eq!(l.col(0), columns.col(0));
    }
}

/// New and removed columns of A that are zero in many rows: their V begins late, and the columns before it move all the same.
#[test]
fn sparse_rows_move_all_columns() {
    let Some((_turn, engine)) = resident() else { return };
    let n = 600;
    let at = |row: usize, column: usize, order: usize, coupled: &[(usize, usize)]| {
        assert!(row < order && column < order);
        let both = [(row, column), (column, row)];
        match row == column {
            true => 2.0 + (row % 3) as f64,
            false => {
                if both.iter().any(|pair| coupled.contains(pair)) {
                    0.5
                } else {
                    0.0
                }
            }
        }
    };
    let check = |factor: &Cholesky<f64, Resident>, a: &Mat<f64>, what: &str| {
        let l = factor.to_factor().unwrap();
        let off = (&l * l.transpose() - a).norm_max();
        assert!(off < 1e-14, "{what}: {off}");
    };
    for (place, coupled) in [(0, 500), (0, 1), (100, 599), (300, 400), (5, 200)] {
        let whole = Mat::from_fn(n, n, |i, j| at(i, j, n, &[(place, coupled)]));
        let kept: Vec<usize> = (0..n).filter(|&row| row != place).collect();
        let rest = Mat::from_fn(n - 1, n - 1, |i, j| whole[(kept[i], kept[j])]);
        let mut factor = Cholesky::new_in(&whole, engine.clone()).unwrap();
        factor.remove(&[place]).unwrap();
        check(&factor, &rest, "removed");
        let column = whole.subcols(place, 1).to_owned();
        factor.insert(place, &there(&column)).unwrap();
        check(&factor, &whole, "inserted");
        factor.replace(place, &column).unwrap();
        check(&factor, &whole, "replaced");
    }
}
