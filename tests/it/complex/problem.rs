//! Factors and modifications with known properties, from a seed.

use super::exact;
use super::scalar::{Complex, narrow, parts};
pub use crate::support::problem::{Kind, rng};
use crate::support::problem::{Problem as RealProblem, uniform as real_uniform};
use cholupdate::faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use cholupdate::faer::{Mat, Par, c64};
use cholupdate::{Cholesky, Engine, Error, Modification};
use rand::Rng;
use rand::rngs::StdRng;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// A problem: L Lᴴ + V diag(w) Vᴴ.
#[derive(Clone)]
pub struct Problem<T: Complex> {
    pub l: Mat<T>,
    pub v: Mat<T>,
    pub weights: Vec<T::Re>,
}

/// Entries of magnitude less than 1. (rows × cols)
pub fn uniform(rows: usize, cols: usize, rng: &mut StdRng) -> Mat<c64> {
    let (re, im) = (real_uniform(rows, cols, rng), real_uniform(rows, cols, rng));
    Mat::from_fn(rows, cols, |i, j| c64::new(re[(i, j)], im[(i, j)]) * FRAC_1_SQRT_2)
}

/// Numbers of magnitude 1.
pub fn phases(n: usize, rng: &mut StdRng) -> Vec<c64> {
    (0..n).map(|_| c64::from_polar(1.0, rng.random_range(0.0..TAU))).collect()
}

/// A well-conditioned lower triangular factor: rows of norm about 1, and a real diagonal. (n × n)
pub fn factor(n: usize, rng: &mut StdRng) -> Mat<c64> {
    let below = uniform(n, n, rng);
    let scale = 0.7 / (n.max(1) as f64).sqrt();
    let diagonal: Vec<f64> = (0..n).map(|_| rng.random_range(0.5..1.5)).collect();
    Mat::from_fn(n, n, |i, j| match i {
        _ if i > j => below[(i, j)] * scale,
        _ if i == j => diagonal[i].into(),
        _ => c64::default(),
    })
}

/// P (n × k) with 1 − ‖P‖₂² = `gap`, its other singular values between 0.1 and 0.7.
pub fn contraction(n: usize, k: usize, gap: f64, rng: &mut StdRng) -> Mat<c64> {
    let rank = n.min(k);
    let orthonormal = |rows: usize, rng: &mut StdRng| {
        uniform(rows, rank, rng).qr().compute_thin_Q() // (rows, rank)
    };
    let (left, right) = (orthonormal(n, rng), orthonormal(k, rng));
    let sigma: Vec<f64> =
        (0..rank).map(|r| if r == 0 { (1.0 - gap).sqrt() } else { rng.random_range(0.1..0.7) }).collect();
    Mat::from_fn(n, rank, |i, r| left[(i, r)] * sigma[r]) * right.adjoint()
}

/// P = L⁻¹ V.
fn against(l: &Mat<c64>, v: &Mat<c64>) -> Mat<c64> {
    let mut p = v.clone();
    solve_lower_triangular_in_place(l.as_ref(), p.as_mut(), Par::Seq);
    p
}

/// L and V of a feasible problem, in double precision.
fn feasible(n: usize, k: usize, kind: Kind, gap: f64, rng: &mut StdRng) -> (Mat<c64>, Mat<c64>) {
    let l = factor(n, rng);
    let weights = kind.weights::<f64>(k);
    let minus: Vec<usize> = (0..k).filter(|&r| weights[r] < 0.0).collect();
    let mut p = uniform(n, k, rng);
    let contraction = contraction(n, minus.len(), gap, rng);
    for (c, &r) in minus.iter().enumerate() {
        p.col_mut(r).copy_from(contraction.col(c));
    }
    let v = &l * p;
    (l, v)
}

impl<T: Complex> Problem<T> {
    pub fn new(l: &Mat<c64>, v: &Mat<c64>, weights: &[f64]) -> Self {
        Self { l: narrow(l), v: narrow(v), weights: parts::<T>(weights) }
    }

    /// A modification of the given signs that cannot break down: its minus columns are a downdate with
    /// 1 − ‖P‖² = `gap` on their own.
    pub fn feasible(n: usize, k: usize, kind: Kind, gap: f64, seed: u64) -> Self {
        let (l, v) = feasible(n, k, kind, gap, &mut rng(seed));
        Self::new(&l, &v, &kind.weights::<f64>(k))
    }

    /// A problem of real numbers turned by phases: A → D A Dᴴ and V → D V U with random unit diagonals D and U.
    pub fn turned(real: &RealProblem<f64>, seed: u64) -> Self {
        let (n, k) = real.v.shape();
        let rng = &mut rng(seed);
        let (d, u) = (phases(n, rng), phases(k, rng));
        let l = Mat::from_fn(n, n, |i, j| match i == j {
            true => real.l[(i, j)].into(),
            false => d[i] * d[j].conj() * real.l[(i, j)],
        });
        let v = Mat::from_fn(n, k, |i, r| d[i] * u[r] * real.v[(i, r)]);
        Self::new(&l, &v, &real.weights)
    }

    /// Minus columns that nearly cancel plus columns, as for real scalars; each minus column is turned by a phase of its own.
    /// (k = 2 pairs)
    pub fn cancelling(n: usize, pairs: usize, pivot: f64, seed: u64) -> Self {
        let mut rng = rng(seed);
        let mut l = factor(n, &mut rng);
        for j in 0..n {
            if rng.random_bool(0.5) {
                l.col_mut(j).iter_mut().for_each(|x| *x *= pivot);
            }
        }
        let plus = uniform(n, pairs, &mut rng);
        let p = against(&l, &plus);
        let mut q = uniform(n, pairs, &mut rng);
        for c in 0..pairs {
            let length = 0.2 / (pairs as f64 * p.col(c).norm_l2().max(1.0) * q.col(c).norm_l2());
            q.col_mut(c).iter_mut().for_each(|x| *x *= length);
        }
        let (minus, turn) = (&plus + &l * q, phases(pairs, &mut rng));
        let v = Mat::from_fn(n, 2 * pairs, |i, r| match r % 2 {
            0 => plus[(i, r / 2)],
            _ => minus[(i, r / 2)] * turn[r / 2],
        });
        Self::new(&l, &v, &Kind::Mixed.weights::<f64>(2 * pairs))
    }

    /// A downdate of rank one that leaves `left` of its direction: v = L p with ‖p‖² = 1 − `left`. p is nearly along column
    /// `main`, if there is one.
    pub fn exhausting(n: usize, left: f64, main: Option<usize>, seed: u64) -> Self {
        let mut rng = rng(seed);
        let l = factor(n, &mut rng);
        let mut p = uniform(n, 1, &mut rng);
        if let Some(main) = main {
            let aside = 0.5 * left.sqrt() / p.norm_l2();
            p.col_mut(0).iter_mut().for_each(|x| *x *= aside);
            p[(main, 0)] = phases(1, &mut rng)[0];
        }
        let length = (1.0 - left).sqrt() / p.norm_l2();
        p.col_mut(0).iter_mut().for_each(|x| *x *= length);
        Self::new(&l, &(&l * p), &[-1.0])
    }

    /// V that outgrows some column of L, by up to ten to the sixth.
    pub fn outgrowing(n: usize, k: usize, kind: Kind, seed: u64) -> Self {
        let rng = &mut rng(seed);
        let ((mut l, mut v), weights) = (feasible(n, k, kind, 0.5, rng), kind.weights::<f64>(k));
        let (column, shrunk) = (rng.random_range(0..n), 10f64.powf(rng.random_range(-6.0..0.0)));
        let p = against(&l, &v);
        l.col_mut(column).iter_mut().for_each(|x| *x *= shrunk);
        // The minus columns shrink with L, so that the downdate stays possible.
        let small = &l * p;
        for r in (0..k).filter(|&r| weights[r] < 0.0) {
            v.col_mut(r).copy_from(small.col(r));
        }
        Self::new(&l, &v, &weights)
    }

    /// A modification that breaks down at `column` and not before: above it the rows of P are small, and in it p S pᴴ = −4.
    pub fn breaking(n: usize, k: usize, column: usize, kind: Kind, seed: u64) -> Self {
        let mut rng = rng(seed);
        let l = factor(n, &mut rng);
        let weights = kind.weights::<f64>(k);
        let mut p = uniform(n, k, &mut rng);
        let above: f64 = (0..column).map(|i| p.row(i).squared_norm_l2()).sum();
        for i in 0..column {
            p.row_mut(i).iter_mut().for_each(|x| *x *= 0.5 / above.sqrt());
        }
        let square = |sign: f64, p: &Mat<c64>| {
            (0..k).filter(|&r| weights[r] * sign > 0.0).map(|r| p[(column, r)].norm_sqr()).sum::<f64>()
        };
        let (plus, minus) = (square(1.0, &p), square(-1.0, &p));
        for r in (0..k).filter(|&r| weights[r] < 0.0) {
            p[(column, r)] *= ((plus + 4.0) / minus).sqrt();
        }
        Self::new(&l, &(&l * p), &weights)
    }

    /// What the minus columns leave of a direction of L Lᴴ + V₊ V₊ᴴ, to some thirty digits; `None` if it is nothing.
    pub fn margin(&self) -> Option<f64> {
        exact::margin(self.l.as_ref(), self.v.as_ref(), &self.weights)
    }

    /// The factor before.
    pub fn factor<E: Engine<T> + Clone>(&self, engine: &E) -> Cholesky<T, E> {
        Cholesky::from_factor_in(&self.l, engine.clone()).unwrap()
    }

    /// The factor after, and the report.
    pub fn modified<E: Engine<T> + Clone>(&self, engine: &E) -> Result<(Mat<T>, Modification), Error> {
        let mut factor = self.factor(engine);
        let report = factor.modify(&self.v, &self.weights)?;
        Ok((factor.to_factor().unwrap(), report))
    }

    /// Rows of L and V scaled by `grade(i)`: the same problem for D A D.
    pub fn graded(mut self, grade: impl Fn(usize) -> f64) -> Self {
        for i in 0..self.l.nrows() {
            let scaled = |x: T| T::from_c64(x.c64() * grade(i));
            self.l.row_mut(i).iter_mut().for_each(|x| *x = scaled(*x));
            self.v.row_mut(i).iter_mut().for_each(|x| *x = scaled(*x));
        }
        self
    }

    /// V scaled as a whole.
    pub fn dominated(mut self, scale: f64) -> Self {
        let scaled = |x: T| T::from_c64(x.c64() * scale);
        self.v.col_iter_mut().for_each(|column| column.iter_mut().for_each(|x| *x = scaled(*x)));
        self
    }
}
