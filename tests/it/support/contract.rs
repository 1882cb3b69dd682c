//! The accuracy contract as an oracle, evaluated in twice the precision of f64.
//!
//! With R = L'L'ᵀ − (LLᵀ + V diag(w) Vᵀ) and M = LLᵀ + V |diag(w)| Vᵀ, for all i, j:
//!
//! ```text
//! |R_ij| ≤ max(n + k, 12) · u · √(M_ii · M_jj)
//! ```
//!
//! The 12 is the cost of a single column: a pivot, its root and two reciprocals, a product and a difference have this many
//! roundings, independent of n and k. LINPACK and refactorization also exceed n + k at the smallest orders.

use super::compensated::{product_of_rows, sum, sum_of_products, two_product};
use super::problem::Problem;
use super::real::Real;
use cholupdate::faer::{Mat, MatRef};
use std::fmt::Debug;
use std::panic::Location;

/// max over i, j of |R_ij| / (u · √(M_ii · M_jj)): the backward error in units of rounding, row by row.
///
/// Infinite where `new` is not a lower triangle of finite numbers with a positive diagonal.
pub fn backward_error<T: Real>(
    new: MatRef<'_, T>,
    old: MatRef<'_, T>,
    v: MatRef<'_, T>,
    weights: &[T],
) -> f64 {
    if !is_factor(new) {
        return f64::INFINITY;
    }
    let order = old.nrows();
    let mut pairs = Vec::new();
    for j in 0..order {
        let (new, old) = (lower_column(new, j), lower_column(old, j));
        pairs.push((new.clone(), new));
        pairs.push((old.iter().map(|x| -x).collect(), old));
    }
    for (r, weight) in weights.iter().enumerate() {
        let column: Vec<f64> = (0..order).map(|i| v[(i, r)].f64()).collect();
        // w · v takes up to twice the digits: two columns.
        let products = column.iter().map(|&x| two_product(-weight.f64(), x));
        let (weighted, lost): (Vec<f64>, Vec<f64>) = products.unzip();
        if lost.iter().any(|&x| x != 0.0) {
            pairs.push((lost, column.clone()));
        }
        pairs.push((weighted, column));
    }
    let residual = sum_of_products(order, &pairs);

    let scale: Vec<f64> = (0..order).map(|i| row_scale(old, v, weights, i)).collect();
    let mut worst = 0.0f64;
    for (j, column) in residual.iter().enumerate() {
        for (i, r) in column.iter().enumerate() {
            worst = worst.max(r.abs() / (T::U * scale[j + i] * scale[j]));
        }
    }
    worst
}

/// The same for only some rows of a large factor, each in O(n²).
pub fn backward_error_of_rows<T: Real>(
    new: MatRef<'_, T>,
    old: MatRef<'_, T>,
    v: MatRef<'_, T>,
    weights: &[T],
    rows: impl Iterator<Item = usize>,
) -> f64 {
    if !is_factor(new) {
        return f64::INFINITY;
    }
    let order = old.nrows();
    let by_rows = |m: MatRef<'_, T>| -> Vec<Vec<f64>> {
        (0..order).map(|i| (0..m.ncols()).map(|j| m[(i, j)].f64()).collect()).collect()
    };
    let [new, from, columns] = [new, old, v].map(by_rows);
    let scale: Vec<f64> = (0..order).map(|i| row_scale(old, v, weights, i)).collect();
    let mut worst = 0.0f64;
    for i in rows {
        // −w · v takes up to twice the digits.
        let products = columns[i].iter().zip(weights).map(|(&x, w)| two_product(-w.f64(), x));
        let (weighted, lost): (Vec<f64>, Vec<f64>) = products.unzip();
        let opposite: Vec<f64> = from[i].iter().map(|x| -x).collect();
        for j in 0..order {
            let (both, mine) = (i.min(j) + 1, &columns[j]);
            let parts = [
                (&new[i][..both], &new[j][..both]),
                (&opposite[..both], &from[j][..both]),
                (&weighted, mine),
                (&lost, mine),
            ];
            worst = worst.max(product_of_rows(&parts).abs() / (T::U * scale[i] * scale[j]));
        }
    }
    worst
}

/// max over these rows i and all j of |(L Lᵀ − A)_ij| / (u · √(a_ii a_jj)).
#[cfg(feature = "cuda")]
pub fn factor_error_of_rows<T: Real>(
    l: MatRef<'_, T>,
    a: MatRef<'_, T>,
    rows: impl Iterator<Item = usize>,
) -> f64 {
    if !is_factor(l) {
        return f64::INFINITY;
    }
    let by_rows: Vec<Vec<f64>> = (0..l.nrows()).map(|i| (0..=i).map(|j| l[(i, j)].f64()).collect()).collect();
    let mut worst = 0.0f64;
    for i in rows {
        for j in 0..l.nrows() {
            let both = i.min(j) + 1;
            let entry = a[(i.max(j), i.min(j))].f64();
            let parts = [(&by_rows[i][..both], &by_rows[j][..both]), (&[-entry][..], &[1.0][..])];
            let scale = (a[(i, i)].f64() * a[(j, j)].f64()).sqrt();
            worst = worst.max(product_of_rows(&parts).abs() / (T::U * scale));
        }
    }
    worst
}

/// About two dozen rows, including the last.
pub fn some_rows(order: usize) -> impl Iterator<Item = usize> {
    (0..order).rev().step_by(order.div_ceil(24).max(1))
}

/// Roundings that a single column may cost; errors below this are noise.
pub const NOISE: f64 = 12.0;

/// The bound of the contract, in units of rounding.
pub fn allowed(order: usize, rank: usize) -> f64 {
    ((order + rank) as f64).max(NOISE)
}

/// The contract.
#[track_caller]
pub fn assert_contract<T: Real>(
    new: MatRef<'_, T>,
    old: MatRef<'_, T>,
    v: MatRef<'_, T>,
    weights: &[T],
    what: impl Debug,
) {
    let (error, bound) = (backward_error(new, old, v, weights), allowed(old.nrows(), v.ncols()));
    assert!(
        error <= bound,
        "{what:?}, {}, n = {}, k = {}: backward error {error:.3} u, the contract allows {bound} u",
        std::any::type_name::<T>(),
        old.nrows(),
        v.ncols()
    );
}

/// The contract, and the recorded errors: the contract alone would accept a loss of a factor of 50 from n = 600 on.
///
/// [`recorded`](Self::recorded) takes the largest backward error of all problems of a test, in units of rounding, on the engine
/// and of the scalar type where it is largest. An error above `SLACK` times this fails, as does an error above the contract. To
/// record again, paste the largest of the numbers that
/// `CHOLUPDATE_OBSERVED=1 cargo test --release --all-features --test it -- --nocapture | grep -o 'tests/it/.*recorded.*' | sort -V`
/// prints for a line. While that variable is set, only the contract can fail.
pub struct Observed {
    recorded: f64,
    worst: f64,
    scalar: &'static str,
    at: &'static Location<'static>,
}

/// Instruction sets of CPUs, and a GPU instead of the fake one, change the largest error of a test by a factor of up to 2; the
/// rest allows for other seeds and other orders of the same additions. Where the error of an engine or a scalar type is at
/// least 8 / 50 of the recorded one, which is the largest of all, a loss of a factor of 50 fails on each; a test in which they
/// differ by more records one for each.
const SLACK: f64 = 8.0;

impl Observed {
    #[track_caller]
    pub fn recorded(units: f64) -> Self {
        Self { recorded: units, worst: 0.0, scalar: "", at: Location::caller() }
    }

    /// The factor after the problem's modification.
    #[track_caller]
    pub fn check<T: Real>(&mut self, new: MatRef<'_, T>, problem: &Problem<T>, what: impl Debug) {
        let Problem { l, v, weights } = problem;
        let error = backward_error(new, l.as_ref(), v.as_ref(), weights);
        self.hold::<T>(error, (l.nrows(), v.ncols()), what);
    }

    /// Some rows of a large one.
    #[track_caller]
    #[cfg(feature = "cuda")]
    pub fn check_some_rows<T: Real>(&mut self, new: MatRef<'_, T>, problem: &Problem<T>, what: impl Debug) {
        let Problem { l, v, weights } = problem;
        let rows = some_rows(l.nrows());
        let error = backward_error_of_rows(new, l.as_ref(), v.as_ref(), weights, rows);
        self.hold::<T>(error, (l.nrows(), v.ncols()), what);
    }

    /// An error in units of rounding, for this n and k.
    #[track_caller]
    pub fn hold<T: Real>(&mut self, error: f64, (order, rank): (usize, usize), what: impl Debug) {
        self.scalar = std::any::type_name::<T>();
        self.worst = self.worst.max(error);
        let (Self { recorded, scalar, .. }, bound) = (&self, allowed(order, rank));
        let known = if records_anew() { f64::INFINITY } else { SLACK * recorded };
        assert!(
            error <= bound.min(known),
            "{what:?}, {scalar}, n = {order}, k = {rank}: backward error {error:.3} u, the contract allows {bound} u, and \
             {recorded} u are what was seen so far"
        );
    }
}

fn records_anew() -> bool {
    std::env::var_os("CHOLUPDATE_OBSERVED").is_some_and(|value| value == "1")
}

impl Drop for Observed {
    fn drop(&mut self) {
        if records_anew() {
            let Self { worst, scalar, at, .. } = self;
            let thread = std::thread::current();
            let test = thread.name().unwrap_or_default();
            println!("\n{}:{}: Observed::recorded({worst:.1}), {scalar} in {test}", at.file(), at.line());
        }
    }
}

/// |B − A X| ≤ (3 n + 4) u |L| |Lᵀ| |X|, entry by entry (Higham, *Accuracy and Stability*, theorem 10.4), with |L| |Lᵀ|
/// bounded by √(a_ii a_jj), and the rounding errors of this evaluation.
#[track_caller]
pub fn assert_solved<T: Real>(a: &Mat<T>, x: &Mat<T>, b: &Mat<T>) {
    let n = a.nrows();
    for c in 0..b.ncols() {
        let scale: f64 = (0..n).map(|j| a[(j, j)].f64().sqrt() * x[(j, c)].f64().abs()).sum();
        for i in 0..n {
            let product: f64 = (0..n).map(|j| a[(i, j)].f64() * x[(j, c)].f64()).sum();
            let allowed = (3 * n + 4) as f64 * T::U * a[(i, i)].f64().sqrt() * scale;
            let residual = (product - b[(i, c)].f64()).abs();
            assert!(residual <= allowed, "n = {n}: residual {residual:.2e} at {i}, {c}, not {allowed:.2e}");
        }
    }
}

/// A logarithm of two roundings for each pivot, and a sum of n of them.
#[track_caller]
pub fn assert_log_det<T: Real>(log_det: T, l: &Mat<T>) {
    let logs = || (0..l.nrows()).map(|j| 2.0 * l[(j, j)].f64().ln());
    let (exact, magnitude) = (sum(logs()), logs().map(f64::abs).sum::<f64>());
    let off = (log_det.f64() - exact).abs();
    let allowed = (l.nrows() + 4) as f64 * T::U * magnitude;
    assert!(off <= allowed, "{log_det:?}, not {exact}: off by {off:.1e}, not {allowed:.1e}");
}

/// √M_ii.
pub fn row_scale<T: Real>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T], i: usize) -> f64 {
    let l_part: f64 = (0..=i).map(|j| l[(i, j)].f64().powi(2)).sum();
    let v_part: f64 = (0..v.ncols()).map(|r| v[(i, r)].f64().powi(2) * weights[r].f64().abs()).sum();
    (l_part + v_part).sqrt()
}

/// Lower triangular, finite, with a positive diagonal.
pub fn is_factor<T: Real>(l: MatRef<'_, T>) -> bool {
    let good = |i: usize, j: usize| {
        let x = l[(i, j)].f64();
        if i < j { x == 0.0 } else { x.is_finite() && (i > j || x > 0.0) }
    };
    (0..l.ncols()).all(|j| (0..l.nrows()).all(|i| good(i, j)))
}

fn lower_column<T: Real>(l: MatRef<'_, T>, j: usize) -> Vec<f64> {
    (0..l.nrows()).map(|i| if i < j { 0.0 } else { l[(i, j)].f64() }).collect()
}
