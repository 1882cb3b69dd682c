//! Forgetting, carried least squares, the condition number, and when to factor again.

use crate::support::contract::{Observed, backward_error};
use crate::support::engines::{sized, steps};
use crate::support::problem::{factor as random_factor, rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, MatRef, mat};
use cholupdate::{Carried, Cholesky, Engine, Error, RefactorPolicy};

on_every_engine!(
    what_is_forgotten_counts_less,
    least_squares_go_along,
    what_would_be_negative_is_flagged,
    what_is_refused_changes_nothing,
    the_condition_number_is_estimated,
    a_scale_that_would_lose_a_pivot_is_refused,
);

fn matrix<T: Real>(rows: usize, cols: usize, seed: u64) -> Mat<T> {
    let entries = uniform(rows, cols, &mut rng(seed));
    Mat::from_fn(rows, cols, |i, j| T::of(entries[(i, j)]))
}

fn factor<T: Real>(n: usize, seed: u64) -> Mat<T> {
    let l = random_factor(n, &mut rng(seed));
    Mat::from_fn(n, n, |i, j| T::of(l[(i, j)]))
}

fn signs<T: Real>(plus: usize, minus: usize) -> Vec<T> {
    (0..plus + minus).map(|r| if r < plus { T::ONE } else { T::of(-1.0) }).collect()
}

/// δ A + V diag(w) Vᵀ is the modification of √δ L by V, except for the rounding of √δ L: one more unit.
fn what_is_forgotten_counts_less<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(5.2);
    for n in [0, 1, 2, 17, 64, 130] {
        for (plus, minus) in [(0, 0), (1, 0), (0, 1), (3, 0), (2, 1), (16, 5)] {
            let l = factor::<T>(n, n as u64);
            let v = matrix::<T>(n, plus + minus, 7);
            let v = Mat::from_fn(
                n,
                plus + minus,
                |i, r| {
                    if r < plus { v[(i, r)] } else { T::of(0.05) * v[(i, r)] }
                },
            );
            let weights = signs::<T>(plus, minus);
            let mut kept = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
            let decay = 0.5625; // (3/4)²
            let report = kept.modify_scaled(T::of(decay), &v, &weights).unwrap();
            let scaled = Mat::from_fn(n, n, |i, j| T::of(0.75) * l[(i, j)]);
            let new = kept.to_factor().unwrap();
            let error = backward_error(new.as_ref(), scaled.as_ref(), v.as_ref(), &weights);
            observed.hold::<T>(error, (n, plus + minus), (n, plus, minus));
            let logs = |l: MatRef<'_, T>| (0..n).map(|j| 2.0 * l[(j, j)].f64().ln()).sum::<f64>();
            let off = (report.log_det_change() - (logs(new.as_ref()) - logs(l.as_ref()))).abs();
            assert!(off <= 64.0 * (n + 1) as f64 * T::U, "log det is off by {off:.1e}");
        }
    }
}

/// The carried values, against the weighted normal equations of all rows.
fn least_squares_go_along<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let (m, steps) = (3, steps::<E>(sized(60, 12)).max(4));
    for n in [1, 5, 40] {
        let truth = uniform(n, m, &mut rng(5));
        let rows: Mat<T> = matrix(4 * n + 4 * steps, n, 6);
        let noise = uniform(rows.nrows(), m, &mut rng(8));
        let y = Mat::from_fn(rows.nrows(), m, |i, c| {
            let fitted: f64 = (0..n).map(|j| rows[(i, j)].f64() * truth[(j, c)]).sum();
            T::of(fitted + 0.1 * noise[(i, c)])
        });
        let begin = 2 * n + 3;
        let mut counts = vec![0.0; rows.nrows()];
        counts[..begin].fill(1.0);
        let normal = |counts: &[f64]| {
            let a = Mat::from_fn(n, n, |i, j| {
                (0..rows.nrows()).map(|r| counts[r] * rows[(r, i)].f64() * rows[(r, j)].f64()).sum::<f64>()
            });
            let b = Mat::from_fn(n, m, |i, c| {
                (0..rows.nrows()).map(|r| counts[r] * rows[(r, i)].f64() * y[(r, c)].f64()).sum::<f64>()
            });
            (a, b)
        };
        let (a, b) = normal(&counts);
        let of = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::of(a[(i, j)]));
        let sums: Vec<T> = (0..m).map(|c| T::of((0..begin).map(|r| y[(r, c)].f64().powi(2)).sum())).collect();
        let mut kept = Cholesky::new_in(&of(&a), engine.clone()).unwrap();
        let mut carried = Carried::new(&kept, &of(&b), &sums).unwrap();
        let mut next = begin;
        for step in 0..steps {
            // Some rows are added, an earlier one is removed, and the others are forgotten.
            let come = [1, 3, 2][step % 3];
            let decay = if step % 2 == 0 { 0.9375 } else { 1.0 };
            let gone = (step % 4 == 3).then_some(next - 1);
            let chosen: Vec<usize> = (next..next + come).chain(gone).collect();
            let v = Mat::from_fn(n, chosen.len(), |i, r| rows[(chosen[r], i)]);
            let values = Mat::from_fn(chosen.len(), m, |r, c| y[(chosen[r], c)]);
            counts.iter_mut().for_each(|count| *count *= decay);
            let weights: Vec<T> = chosen
                .iter()
                .map(|&row| if Some(row) == gone { T::of(-counts[row]) } else { T::ONE })
                .collect();
            chosen.iter().zip(&weights).for_each(|(&row, weight)| counts[row] += weight.f64());
            kept.modify_carrying(T::of(decay), &v, &weights, &values, &mut carried).unwrap();
            next += come;
        }
        let (a, b) = normal(&counts);
        let exact = Cholesky::new(&a).unwrap();
        let beta = exact.solve(&b).unwrap();
        let found = kept.solve_lt(&carried.z).unwrap();
        let condition = exact.condition().unwrap();
        for c in 0..m {
            let squares: f64 = (0..rows.nrows())
                .map(|r| {
                    let fitted: f64 = (0..n).map(|j| rows[(r, j)].f64() * beta[(j, c)]).sum();
                    counts[r] * (y[(r, c)].f64() - fitted).powi(2)
                })
                .sum();
            let total: f64 = (0..rows.nrows()).map(|r| counts[r] * y[(r, c)].f64().powi(2)).sum();
            let off = (carried.squares[c].f64() - squares).abs() / total;
            let bound = 64.0 * (n + steps) as f64 * T::U;
            assert!(off <= bound, "n = {n}: the sum of squares is off by {off:.1e}, not {bound:.1e}");
            for i in 0..n {
                let off = (found[(i, c)].f64() - beta[(i, c)]).abs();
                let bound = 16.0 * (n + steps) as f64 * T::U * condition;
                assert!(off <= bound, "n = {n}: beta is off by {off:.1e}, not {bound:.1e}");
            }
        }
    }
}

fn what_would_be_negative_is_flagged<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let n = 6;
    let mut kept = Cholesky::from_factor_in(&factor::<T>(n, 1), engine.clone()).unwrap();
    let mut carried = Carried { z: matrix::<T>(n, 2, 2), squares: vec![T::ONE, T::of(1e-3)] };
    let v = Mat::from_fn(n, 1, |i, _| T::of(0.01 * (i + 1) as f64));
    // A row that the model does not explain is removed: the residual sum of the second right-hand side is too small for that.
    let y = Mat::from_fn(1, 2, |_, _| T::of(0.5));
    let mut plain = Cholesky::from_factor_in(&factor::<T>(n, 1), engine.clone()).unwrap();
    plain.modify(&v, &[T::of(-1.0)]).unwrap();
    kept.modify_carrying(T::ONE, &v, &[T::of(-1.0)], &y, &mut carried).unwrap();
    assert!(carried.squares[0] > T::ZERO && carried.squares[1] == T::of(-1.0));
    let (of, with) = (plain.to_factor().unwrap(), kept.to_factor().unwrap());
    let off = (&of - &with).norm_max().f64();
    assert!(off <= 16.0 * T::U * of.norm_max().f64(), "the factor is another: {off:.1e}");
    // It stays unknown.
    kept.modify_carrying(T::ONE, &v, &[T::ONE], &y, &mut carried).unwrap();
    assert!(carried.squares[0] > T::ZERO && carried.squares[1] == T::of(-1.0));
}

fn what_is_refused_changes_nothing<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let n = 20;
    let mut kept = Cholesky::from_factor_in(&factor::<T>(n, 1), engine.clone()).unwrap();
    let mut carried = Carried { z: matrix::<T>(n, 2, 2), squares: vec![T::ONE; 2] };
    let (before, along) = (bits(kept.to_factor().unwrap().as_ref()), carried.clone());
    let (v, y) = (matrix::<T>(n, 2, 3), matrix::<T>(2, 2, 4));
    let weights = [T::ONE, T::of(-1e6)];
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    let range = Error::OutOfRange { argument: "decay", rule: "positive and at most 1" };
    let nan = T::of(f64::NAN);
    let mut refuse = |decay: f64, v: &Mat<T>, weights: &[T], y: &Mat<T>, carried: &mut Carried<T>| {
        let error = kept.modify_carrying(T::of(decay), v, weights, y, carried).unwrap_err();
        assert_eq!(bits(kept.to_factor().unwrap().as_ref()), before);
        error
    };
    let plus = [T::ONE; 2];
    assert!(matches!(refuse(1.0, &v, &weights, &y, &mut carried), Error::NotPositiveDefinite { .. }));
    assert_eq!(carried, along);
    for decay in [0.0, -1.0, 1.5, f64::NAN] {
        assert_eq!(refuse(decay, &v, &plus, &y, &mut carried), range);
    }
    assert_eq!(refuse(1.0, &v, &plus, &matrix(3, 2, 4), &mut carried), shape("y", "rows", 2, 3));
    assert_eq!(refuse(1.0, &v, &plus, &matrix(2, 3, 4), &mut carried), shape("y", "columns", 2, 3));
    let mut other = Carried { z: matrix(n + 1, 2, 2), ..along.clone() };
    assert_eq!(refuse(1.0, &v, &plus, &y, &mut other), shape("z", "rows", n, n + 1));
    let mut other = Carried { squares: vec![T::ONE], ..along.clone() };
    assert_eq!(refuse(1.0, &v, &plus, &y, &mut other), shape("squares", "entries", 2, 1));
    let mut wrong = y.clone();
    wrong[(1, 0)] = nan;
    let not_finite = Error::NonFinite { argument: "y", row: 1, column: 0 };
    assert_eq!(refuse(1.0, &v, &plus, &wrong, &mut carried), not_finite);
    // The weights count.
    let (weight, size) = if T::U < 1e-10 { (1e10, 1e150) } else { (1e10, 1e15) };
    let (heavy, wrong) = ([T::of(weight); 2], Mat::from_fn(2, 2, |_, _| T::of(size)));
    let overflow = Error::Overflow { argument: "y" };
    assert_eq!(refuse(1.0, &v, &heavy, &wrong, &mut carried), overflow);
    assert_eq!(carried, along);
}

/// Parameters without excitation vanish, but not silently: the call that would take a pivot out of range leaves the factor as
/// it was.
fn a_scale_that_would_lose_a_pivot_is_refused<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let n = 20;
    let l = factor::<T>(n, 5);
    let v = Mat::from_fn(n, 1, |i, _| if i == 3 { T::ONE } else { T::ZERO });
    let (decay, most) = (T::of(1e-3), if T::U < 1e-10 { 216 } else { 31 });
    let rule = "large enough that no pivot of the factor is lost";
    for weights in [vec![], vec![T::ONE], vec![T::ONE, T::of(-0.5)]] {
        let v = Mat::from_fn(n, weights.len(), |i, _| v[(i, 0)]);
        let mut kept = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        let mut steps = 0;
        let refused = loop {
            let before = bits(kept.to_factor().unwrap().as_ref());
            match kept.modify_scaled(decay, &v, &weights) {
                Ok(report) => assert!(report.log_det_change().is_finite()),
                Err(error) => {
                    assert_eq!(bits(kept.to_factor().unwrap().as_ref()), before);
                    break error;
                }
            }
            steps += 1;
            assert!(steps < most, "a pivot has gone");
        };
        assert_eq!(refused, Error::OutOfRange { argument: "decay", rule });
        assert!(steps > most / 2, "{steps} steps");
        assert!(kept.log_det().unwrap().f64().is_finite());
        let zeros = Carried { z: Mat::zeros(n, 1), squares: vec![T::ONE] };
        let mut carried = zeros.clone();
        let y = Mat::zeros(weights.len(), 1);
        assert_eq!(kept.modify_carrying(decay, &v, &weights, &y, &mut carried).unwrap_err(), refused);
        assert_eq!(carried, zeros);
        // The pivot of the unexcited row is correct.
        let (found, shrunk) = (kept.to_factor().unwrap(), 1e-3f64.powf(0.5 * f64::from(steps)));
        let off = (found[(0, 0)].f64() / (l[(0, 0)].f64() * shrunk) - 1.0).abs();
        assert!(off <= f64::from(4 * steps) * T::U, "{off:e}");
        kept.update(&Mat::<T>::identity(n, n)).unwrap();
        let x = kept.solve(&Mat::<T>::identity(n, n)).unwrap();
        assert!((0..n).all(|i| {
            (x[(i, i)].f64() - if i == 3 && !weights.is_empty() { x[(i, i)].f64() } else { 1.0 }).abs() < 1e-3
        }));
    }
}

/// A lower bound, rarely less than a third: compared with the inverse itself.
fn the_condition_number_is_estimated<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [0, 1, 2, 9, 60, 130] {
        let l = factor::<T>(n, 3 + n as u64);
        let kept = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        let estimate = kept.condition().unwrap().f64();
        let a = kept.reconstruct().unwrap();
        let inverse = kept.solve(&Mat::<T>::identity(n, n)).unwrap();
        let norm = |a: &Mat<T>| {
            (0..n).map(|j| (0..n).map(|i| a[(i, j)].f64().abs()).sum::<f64>()).fold(0.0, f64::max)
        };
        let exact = if n == 0 { 1.0 } else { norm(&a) * norm(&inverse) };
        assert!(estimate <= 1.01 * exact && estimate >= exact / 3.0, "n = {n}: {estimate}, not {exact}");
    }
}

/// A loop that repeatedly reduces a pivot to almost nothing: the estimate shows this before the factor is useless, and is no
/// smaller than the error.
#[test]
fn a_loop_that_loses_digits_is_told() {
    let n = 30;
    let mut kept = Cholesky::new(&Mat::<f64>::identity(n, n)).unwrap();
    assert!(!kept.needs_refactor(&RefactorPolicy::default()));
    assert_eq!(kept.error_estimate(), 0.0);
    let v = Mat::from_fn(n, 1, |i, _| (1.0 + i as f64).recip());
    let large = Mat::from_fn(n, 1, |i, _| 3000.0 * v[(i, 0)]);
    let mut rounds = 0;
    while !kept.needs_refactor(&RefactorPolicy::default()) {
        kept.update(&large).unwrap();
        kept.downdate(&large).unwrap();
        rounds += 1;
        assert!(rounds < 20, "never told");
    }
    let off = (kept.reconstruct().unwrap() - Mat::<f64>::identity(n, n)).norm_max();
    assert!(off <= kept.error_estimate() && off < 1e-6, "{off:.1e}, {:.1e}", kept.error_estimate());
    let steps = RefactorPolicy { max_modifications: 3, ..RefactorPolicy::default() };
    let mut kept = Cholesky::new(&Mat::<f64>::identity(2, 2)).unwrap();
    (0..3).for_each(|_| {
        kept.update(&[0.1, 0.1]).unwrap();
    });
    assert!(!kept.needs_refactor(&steps));
    kept.update(&[0.1, 0.1]).unwrap();
    assert!(kept.needs_refactor(&steps));
}

/// Only what was added before is removed: errors add up, and are not amplified.
#[test]
fn a_window_that_slides_is_no_reason_to_begin_afresh() {
    let (n, window, steps) = (20, 60, 5000);
    let rows = matrix::<f64>(n, window + steps, 31);
    let of = |first: usize| rows.subcols(first, window) * rows.subcols(first, window).transpose();
    for together in [true, false] {
        let mut kept = Cholesky::new(&of(0)).unwrap();
        for step in 0..steps {
            let (new, old) = (rows.subcols(window + step, 1), rows.subcols(step, 1));
            if together {
                kept.modify(&Mat::from_fn(n, 2, |i, j| [new, old][j][(i, 0)]), &[1.0, -1.0]).unwrap();
            } else {
                kept.update(new).unwrap();
                kept.downdate(old).unwrap();
            }
        }
        let a = of(steps);
        let off = (kept.reconstruct().unwrap() - &a).norm_max() / a.norm_max();
        assert!(off <= kept.error_estimate() && kept.error_estimate() < 1e-11, "{:e}", kept.error_estimate());
        assert!(!kept.needs_refactor(&RefactorPolicy::default()));
    }
}

#[test]
fn carried_sums_that_are_none_are_not_hidden() {
    let factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]]).unwrap();
    // ‖L⁻¹ b‖² is 4.
    let of = |sum: f64| Carried::new(&factor, &[4.0, 2.0], &[sum]).unwrap().squares[0];
    assert_eq!((of(5.0), of(4.0), of(3.9), of(-1.0)), (1.0, 0.0, -1.0, -1.0));
    let small = Cholesky::new(&mat![[1e-20]]).unwrap();
    assert_eq!(Carried::new(&small, &[1e308], &[1.0]), Err(Error::Overflow { argument: "b" }));
    let mut factor = Cholesky::new(&mat![[4.0]]).unwrap();
    let refused = factor.modify_scaled(1e-310, &[1.0], &[1.0]).unwrap_err();
    assert_eq!(refused.to_string(), "`decay` must be large enough that weights divided by it are finite");
}

/// Insertion and removal of rows do not change the other diagonal entries of A, nor the relative size of errors, however small
/// the pivots become.
#[test]
fn rows_that_come_and_go_are_no_reason_to_begin_afresh() {
    let n = 40;
    let l = factor::<f64>(n, 12);
    let mut a = &l * l.transpose();
    // Two rows that are nearly equal.
    for i in 0..n {
        let x = a[(20, i)];
        (a[(21, i)], a[(i, 21)]) = (x, x);
    }
    a[(21, 21)] = a[(20, 20)] * (1.0 + 1e-9);
    a[(20, 21)] = a[(20, 20)];
    a[(21, 20)] = a[(20, 20)];
    let mut kept = Cholesky::new(&a).unwrap();
    for _ in 0..100 {
        kept.remove(&[20]).unwrap();
        let report = kept.insert(20, a.subcols(20, 1)).unwrap();
        assert!(report.min_pivot_ratio < 1e-6);
    }
    let off = (kept.reconstruct().unwrap() - &a).norm_max() / a.norm_max();
    assert!(off <= kept.error_estimate() && kept.error_estimate() < 1e-13, "{off:.1e}");
    assert!(!kept.needs_refactor(&RefactorPolicy::default()));
}
