//! The accuracy contract, evaluated in twice the precision of f64, on the real and on the imaginary parts.

use super::exact::Hermitian;
use super::problem::{Kind, Problem};
use super::scalar::{Complex, in_c64};
use crate::support::compensated::{sum_of_products, two_product};
use crate::support::contract::{Observed, allowed};
use crate::support::real::Real;
use cholupdate::Engine;
use cholupdate::faer::{Mat, MatRef, c64};
use std::fmt::Debug;

/// Sums of x yᴴ for pairs of columns, real and imaginary parts apart.
#[derive(Default)]
pub struct Products {
    re: Vec<(Vec<f64>, Vec<f64>)>,
    im: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Products {
    /// (a + b i)(c − d i) = (a c + b d) + (b c − a d) i
    fn add(&mut self, x: [Vec<f64>; 2], y: [Vec<f64>; 2]) {
        let ([a, b], [c, d]) = (x, y);
        let minus = a.iter().map(|a| -a).collect();
        self.im.extend([(b.clone(), c.clone()), (minus, d.clone())]);
        self.re.extend([(a, c), (b, d)]);
    }

    /// w x xᴴ, where w x takes up to twice the digits.
    pub fn add_weighted(&mut self, x: &[c64], weight: f64) {
        let [re, im] = apart(x);
        let product =
            |part: &[f64]| -> (Vec<f64>, Vec<f64>) { part.iter().map(|&x| two_product(weight, x)).unzip() };
        let [(a, a_lost), (b, b_lost)] = [product(&re), product(&im)];
        if a_lost.iter().chain(&b_lost).any(|&x| x != 0.0) {
            self.add([a_lost, b_lost], [re.clone(), im.clone()]);
        }
        self.add([a, b], [re, im]);
    }

    /// The lower triangle by columns: entry (i, j) at [j][i − j].
    pub fn sum(&self, order: usize) -> Vec<Vec<c64>> {
        let [re, im] = [&self.re, &self.im].map(|pairs| sum_of_products(order, pairs));
        let columns = re.into_iter().zip(im);
        columns.map(|(re, im)| re.into_iter().zip(im).map(|(re, im)| c64::new(re, im)).collect()).collect()
    }
}

fn apart(x: &[c64]) -> [Vec<f64>; 2] {
    [x.iter().map(|x| x.re).collect(), x.iter().map(|x| x.im).collect()]
}

/// max over i, j of |R_ij| / (u · √(M_ii · M_jj)): the backward error in units of rounding, row by row.
///
/// Infinite where `new` is no factor.
pub fn backward_error<T: Complex>(
    new: MatRef<'_, T>,
    old: MatRef<'_, T>,
    v: MatRef<'_, T>,
    weights: &[T::Re],
) -> f64 {
    if !is_factor(new) || new.nrows() != old.nrows() {
        return f64::INFINITY;
    }
    let order = old.nrows();
    let mut products = Products::default();
    for j in 0..order {
        for (l, sign) in [(new, 1.0), (old, -1.0)] {
            let column: Vec<c64> =
                (0..order).map(|i| if i < j { c64::default() } else { l[(i, j)].c64() }).collect();
            products.add_weighted(&column, sign);
        }
    }
    for (column, weight) in v.col_iter().zip(weights) {
        products.add_weighted(&column.iter().map(|x| x.c64()).collect::<Vec<_>>(), -weight.f64());
    }
    let scale: Vec<f64> = (0..order).map(|i| row_scale(old, v, weights, i)).collect();
    let mut worst = 0.0_f64;
    for (j, column) in products.sum(order).iter().enumerate() {
        for (below, r) in column.iter().enumerate() {
            worst = worst.max(r.norm() / (T::ROUNDOFF * scale[j + below] * scale[j]));
        }
    }
    worst
}

/// √M_ii.
pub fn row_scale<T: Complex>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T::Re], i: usize) -> f64 {
    let of_l: f64 = (0..=i).map(|j| l[(i, j)].c64().norm_sqr()).sum();
    let of_v: f64 = (0..v.ncols()).map(|r| v[(i, r)].c64().norm_sqr() * weights[r].f64().abs()).sum();
    (of_l + of_v).sqrt()
}

/// Lower triangular, finite, with a diagonal that is positive and has imaginary parts of exactly zero.
pub fn is_factor<T: Complex>(l: MatRef<'_, T>) -> bool {
    let good = |i: usize, j: usize| {
        let x = l[(i, j)].c64();
        match i.cmp(&j) {
            std::cmp::Ordering::Less => x == c64::default(),
            std::cmp::Ordering::Equal => x.re > 0.0 && x.re.is_finite() && x.im == 0.0,
            std::cmp::Ordering::Greater => x.re.is_finite() && x.im.is_finite(),
        }
    };
    l.nrows() == l.ncols() && (0..l.ncols()).all(|j| (0..l.nrows()).all(|i| good(i, j)))
}

#[track_caller]
pub fn assert_contract<T: Complex>(
    new: MatRef<'_, T>,
    old: MatRef<'_, T>,
    v: MatRef<'_, T>,
    weights: &[T::Re],
    what: impl Debug,
) {
    let (error, bound) = (backward_error(new, old, v, weights), allowed(old.nrows(), v.ncols()));
    let (n, k, scalar) = (old.nrows(), v.ncols(), std::any::type_name::<T>());
    assert!(error <= bound, "{what:?}, {scalar}, n = {n}, k = {k}: {error:.3} u of {bound} u");
}

/// Problems for an engine, and their recorded errors.
pub struct Checks<'a, E>(pub &'a E, pub Observed);

impl<E> Checks<'_, E> {
    #[track_caller]
    pub fn check<T: Complex>(&mut self, problem: &Problem<T>, what: impl Debug)
    where
        E: Engine<T> + Clone,
    {
        let Self(engine, observed) = self;
        let Problem { l, v, weights } = problem;
        let (n, k) = v.shape();
        let (new, _) =
            problem.modified(*engine).unwrap_or_else(|error| panic!("{what:?}, n = {n}, k = {k}: {error}"));
        let error = backward_error(new.as_ref(), l.as_ref(), v.as_ref(), weights);
        observed.hold::<T::Re>(error, (n, k), what);
    }
}

/// The errors of a factor computed in c64 are found to be small, and an error in any part of one entry is found.
#[test]
fn the_oracle_finds_errors() {
    let wrong = |problem: &Problem<c64>, new: &Mat<c64>| {
        backward_error(new.as_ref(), problem.l.as_ref(), problem.v.as_ref(), &problem.weights)
    };
    for (n, k, kind) in [(1, 1, Kind::Up), (7, 3, Kind::Mixed), (30, 40, Kind::Down), (65, 8, Kind::Mixed)] {
        let mut problem = Problem::<c64>::feasible(n, k, kind, 0.5, n as u64);
        problem.weights.iter_mut().for_each(|w| *w *= 0.7);
        let mut a = Hermitian::product(&in_c64(problem.l.as_ref()));
        a.add(&in_c64(problem.v.as_ref()), &problem.weights);
        // Rounded entries of the exact factor: about one rounding for each entry.
        let exact = a.factor().expect("feasible");
        let new = Mat::from_fn(n, n, |i, j| {
            if j <= i { c64::new(exact[i][j].re.0, exact[i][j].im.0) } else { c64::default() }
        });
        let error = wrong(&problem, &new);
        assert!(error > 0.0 && error < 8.0, "n = {n}: {error} u");
        // Both oracles agree.
        let other = Hermitian::product(&new).largest_difference(&a) / c64::ROUNDOFF;
        assert!(other >= error && other < 100.0, "n = {n}: {other} u, not {error} u");
        for (i, j) in [(n - 1, 0), (n - 1, n - 1), (n / 2, n / 3)] {
            for part in [c64::new(1e-12, 0.0), c64::new(0.0, 1e-12)] {
                let mut new = new.clone();
                new[(i, j)] += part;
                assert!(wrong(&problem, &new) > 500.0, "{part} at {i}, {j}");
            }
        }
        let mut above = new.clone();
        above[(0, n - 1)] += c64::new(0.0, if n > 1 { 1e-300 } else { -1.0 });
        assert!(wrong(&problem, &above).is_infinite());
    }
}
