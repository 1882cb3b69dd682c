//! Forgetting, and carried least squares. The rows of a complex X (m × n) are observations with values y (m × c): A = Xᴴ W X and
//! b = Xᴴ W y, so that V has the conjugates of new rows as columns, and b changes by V diag(w) y.

use super::oracle::backward_error;
use super::problem::{factor as random_factor, rng, uniform};
use super::scalar::{Complex, bits, in_c64, narrow, parts};
use crate::support::contract::Observed;
use crate::support::engines::sized;
use crate::support::real::Real;
use cholupdate::faer::{Mat, Scale, c64};
use cholupdate::{Carried, Cholesky, Engine, Error};

on_every_cpu!(
    what_is_forgotten_counts_less,
    least_squares_go_along,
    least_squares_begin_with_nothing,
    what_would_be_negative_is_flagged,
    what_is_refused_changes_nothing,
);

/// δ A + V diag(w) Vᴴ is the modification of √δ L by V, except for the rounding of √δ L: one more unit.
fn what_is_forgotten_counts_less<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(8.0);
    for n in [0, 1, 2, 17, 64, 130] {
        for (plus, minus) in [(0, 0), (1, 0), (0, 1), (2, 0), (3, 0), (2, 1), (16, 5)] {
            let k = plus + minus;
            let l = narrow::<T>(&random_factor(n, &mut rng(n as u64)));
            let v = uniform(n, k, &mut rng(7));
            let v = narrow::<T>(&Mat::from_fn(n, k, |i, r| v[(i, r)] * if r < plus { 1.0 } else { 0.05 }));
            let weights: Vec<T::Re> = (0..k).map(|r| T::part(if r < plus { 1.0 } else { -1.0 })).collect();
            let mut kept = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
            // (3/4)²
            let report = kept.modify_scaled(T::part(0.5625), &v, &weights).unwrap();
            let scaled = narrow::<T>(&(in_c64(l.as_ref()) * Scale(c64::from(0.75))));
            let new = kept.to_factor().unwrap();
            let error = backward_error(new.as_ref(), scaled.as_ref(), v.as_ref(), &weights);
            observed.hold::<T::Re>(error, (n, k), (n, plus, minus));
            let logs = |l: &Mat<T>| (0..n).map(|j| 2.0 * l[(j, j)].c64().re.ln()).sum::<f64>();
            let off = (report.log_det_change() - (logs(&new) - logs(&l))).abs();
            assert!(off <= 64.0 * (n + 1) as f64 * T::ROUNDOFF, "log det is off by {off:.1e}");
        }
    }
}

/// Observations with weights, and their normal equations in double precision.
struct Observations {
    x: Mat<c64>,
    y: Mat<c64>,
    counts: Vec<f64>,
}

impl Observations {
    fn new<T: Complex>(rows: usize, n: usize, m: usize) -> Self {
        let x = in_c64(narrow::<T>(&uniform(rows, n, &mut rng(6))).as_ref());
        let fitted = &x * uniform(n, m, &mut rng(5)) + uniform(rows, m, &mut rng(8)) * Scale(c64::from(0.1));
        Self { x, y: in_c64(narrow::<T>(&fitted).as_ref()), counts: vec![0.0; rows] }
    }

    /// A and b.
    fn normal(&self) -> (Mat<c64>, Mat<c64>) {
        let weighted =
            Mat::from_fn(self.x.ncols(), self.x.nrows(), |i, r| self.x[(r, i)].conj() * self.counts[r]);
        (&weighted * &self.x, &weighted * &self.y)
    }

    /// The columns of V for these rows, and their values.
    fn columns<T: Complex>(&self, rows: &[usize]) -> (Mat<T>, Mat<T>) {
        let v = Mat::from_fn(self.x.ncols(), rows.len(), |i, r| self.x[(rows[r], i)].conj());
        (narrow(&v), narrow(&Mat::from_fn(rows.len(), self.y.ncols(), |r, c| self.y[(rows[r], c)])))
    }

    /// ‖y‖² of one right-hand side, with the weights.
    fn total(&self, c: usize) -> f64 {
        self.counts.iter().enumerate().map(|(r, count)| count * self.y[(r, c)].norm_sqr()).sum()
    }

    /// The carried values are those of the normal equations, after this many calls.
    #[track_caller]
    fn assert_carried<T: Complex, E: Engine<T>>(
        &self,
        kept: &Cholesky<T, E>,
        carried: &Carried<T>,
        calls: usize,
    ) {
        let (n, (a, b)) = (self.x.ncols(), self.normal());
        let l = a.llt(cholupdate::faer::Side::Lower).unwrap();
        let beta = cholupdate::faer::linalg::solvers::Solve::solve(&l, &b);
        let values = a.self_adjoint_eigenvalues(cholupdate::faer::Side::Lower).unwrap();
        let condition = values[n - 1] / values[0];
        let residual = &self.y - &self.x * &beta;
        let found = kept.solve_lt(&carried.z).unwrap();
        for c in 0..self.y.ncols() {
            let counts = self.counts.iter().enumerate();
            let squares: f64 = counts.map(|(r, count)| count * residual[(r, c)].norm_sqr()).sum();
            let off = (carried.squares[c].f64() - squares).abs() / self.total(c);
            let bound = 64.0 * (n + calls) as f64 * T::ROUNDOFF;
            assert!(off <= bound, "n = {n}: the sum of squares is off by {off:.1e}, not {bound:.1e}");
            for i in 0..n {
                let off = (found[(i, c)].c64() - beta[(i, c)]).norm();
                let bound = 16.0 * (n + calls) as f64 * T::ROUNDOFF * condition * beta.norm_max().max(1.0);
                assert!(off <= bound, "n = {n}: beta is off by {off:.1e}, not {bound:.1e}");
            }
        }
    }
}

/// The carried values, against the weighted normal equations of all rows.
fn least_squares_go_along<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let (m, steps) = (3, sized(60, 12));
    for n in [1, 5, 40] {
        let mut data = Observations::new::<T>(4 * n + 4 * steps, n, m);
        let begin = 2 * n + 3;
        data.counts[..begin].fill(1.0);
        let (a, b) = data.normal();
        let sums = parts::<T>(&(0..m).map(|c| data.total(c)).collect::<Vec<_>>());
        let mut kept = Cholesky::new_in(&narrow::<T>(&a), engine.clone()).unwrap();
        let mut carried = Carried::new(&kept, &narrow::<T>(&b), &sums).unwrap();
        let mut next = begin;
        for step in 0..steps {
            // Some rows are added, an earlier one is removed, and the others are forgotten.
            let come = [1, 3, 2][step % 3];
            let decay = if step % 2 == 0 { 0.9375 } else { 1.0 };
            let gone = (step % 4 == 3).then_some(next - 1);
            let chosen: Vec<usize> = (next..next + come).chain(gone).collect();
            data.counts.iter_mut().for_each(|count| *count *= decay);
            let weight = |&row: &usize| T::part(if Some(row) == gone { -data.counts[row] } else { 1.0 });
            let weights: Vec<T::Re> = chosen.iter().map(weight).collect();
            let (v, y) = data.columns::<T>(&chosen);
            kept.modify_carrying(T::part(decay), &v, &weights, &y, &mut carried).unwrap();
            chosen.iter().zip(&weights).for_each(|(&row, weight)| data.counts[row] += weight.f64());
            next += come;
        }
        data.assert_carried(&kept, &carried, steps);
    }
}

/// From the factor of zero and no observations, row by row.
fn least_squares_begin_with_nothing<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(1, 1), (4, 1), (4, 2), (12, 5)] {
        let mut data = Observations::new::<T>(6 * n, n, 2);
        let mut kept = Cholesky::zeros_in(n, engine.clone()).unwrap();
        let mut carried = Carried::zeros(n, 2);
        let rows: Vec<usize> = (0..6 * n).collect();
        for rows in rows.chunks(k) {
            let (v, y) = data.columns::<T>(rows);
            kept.modify_carrying(T::part(1.0), &v, &vec![T::part(1.0); rows.len()], &y, &mut carried)
                .unwrap();
            rows.iter().for_each(|&row| data.counts[row] = 1.0);
        }
        data.assert_carried(&kept, &carried, 6 * n);
    }
}

fn what_would_be_negative_is_flagged<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let n = 6;
    let l = narrow::<T>(&random_factor(n, &mut rng(1)));
    let mut kept = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
    let z = narrow::<T>(&uniform(n, 2, &mut rng(2)));
    let mut carried = Carried { z, squares: parts::<T>(&[1.0, 1e-3]) };
    let v = Mat::from_fn(n, 1, |i, _| T::from_c64(c64::new(0.006, 0.008) * (i + 1) as f64));
    // A row that the model does not explain is removed: the residual sum of the second right-hand side is too small for that.
    let y = Mat::from_fn(1, 2, |_, _| T::from_c64(c64::new(0.3, -0.4)));
    kept.modify_carrying(T::part(1.0), &v, &[T::part(-1.0)], &y, &mut carried).unwrap();
    assert!(carried.squares[0].f64() > 0.0 && carried.squares[1].f64() == -1.0);
    // It stays unknown.
    kept.modify_carrying(T::part(1.0), &v, &[T::part(1.0)], &y, &mut carried).unwrap();
    assert!(carried.squares[0].f64() > 0.0 && carried.squares[1].f64() == -1.0);
}

fn what_is_refused_changes_nothing<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let n = 20;
    let l = narrow::<T>(&random_factor(n, &mut rng(1)));
    let mut kept = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
    let matrix = |rows, cols, seed| narrow::<T>(&uniform(rows, cols, &mut rng(seed)));
    let along = Carried { z: matrix(n, 2, 2), squares: parts::<T>(&[1.0, 1.0]) };
    let (v, y, plus) = (matrix(n, 2, 3), matrix(2, 2, 4), [T::part(1.0); 2]);
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    let mut refuse = |decay: f64, weights: &[T::Re], y: &Mat<T>, carried: &mut Carried<T>| {
        let untouched = carried.clone();
        let error = kept.modify_carrying(T::part(decay), &v, weights, y, carried).unwrap_err();
        assert_eq!(bits(kept.to_factor().unwrap().as_ref()), bits(l.as_ref()));
        assert!(*carried == untouched);
        error
    };
    let mut carried = along.clone();
    let heavy = parts::<T>(&[1.0, -1e6]);
    assert!(matches!(refuse(1.0, &heavy, &y, &mut carried), Error::NotPositiveDefinite { .. }));
    for decay in [0.0, -1.0, 1.5] {
        assert_eq!(refuse(decay, &plus, &y, &mut carried).argument(), Some("decay"));
    }
    assert_eq!(refuse(1.0, &plus, &matrix(3, 2, 4), &mut carried), shape("y", "rows", 2, 3));
    assert_eq!(refuse(1.0, &plus, &matrix(2, 3, 4), &mut carried), shape("y", "columns", 2, 3));
    let mut other = Carried { z: matrix(n + 1, 2, 2), ..along.clone() };
    assert_eq!(refuse(1.0, &plus, &y, &mut other), shape("z", "rows", n, n + 1));
    let mut other = Carried { squares: parts::<T>(&[1.0]), ..along };
    assert_eq!(refuse(1.0, &plus, &y, &mut other), shape("squares", "entries", 2, 1));
}
