//! The matrices of the benchmarks, and the check of a result.

use crate::scalar::Real;
use cholupdate::faer::dyn_stack::{MemBuffer, MemStack};
use cholupdate::faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use cholupdate::faer::{Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// A, its factor L, and matching changes V.
pub struct Problem<T> {
    /// Lower triangle of A, where the problem was made from it.
    a: Option<Mat<T>>,
    /// Its factor. (n × n)
    pub l: Mat<T>,
    sampled: Sampled,
}

impl<T: Real> Problem<T> {
    /// From A: 4 √n on the diagonal and noise in ±1 below, which has a condition number of about 2 for every n. Takes
    /// n³/3 flops.
    #[must_use]
    pub fn new(order: usize) -> Self {
        let entry =
            |i: usize, j: usize| T::narrow(if i == j { 4.0 * (order as f64).sqrt() } else { noise(1, i, j) });
        let a = Mat::from_fn(order, order, |i, j| if i >= j { entry(i, j) } else { T::ZERO });
        let mut l = a.clone();
        factorize(l.as_mut(), Par::rayon(0), &mut memory_to_factorize::<T>(order));
        let sampled = Sampled::new(order, |i, j| a[(i.max(j), i.min(j))].wide());
        Self { a: Some(a), l, sampled }
    }

    /// From the factor: 1 on the diagonal and noise in ±0.5/√n below, which is also well-conditioned. For orders at which a
    /// factorization would take too long.
    #[must_use]
    pub fn from_factor(order: usize) -> Self {
        let scale = 0.5 / (order as f64).sqrt();
        let mut l = Mat::<T>::zeros(order, order);
        l.as_mut().par_col_iter_mut().enumerate().for_each(|(j, column)| {
            for (i, x) in column.iter_mut().enumerate().skip(j) {
                *x = T::narrow(if i == j { 1.0 } else { scale * noise(1, i, j) });
            }
        });
        let sampled = Sampled::of_factor(l.as_ref());
        Self { a: None, l, sampled }
    }

    #[must_use]
    pub fn order(&self) -> usize {
        self.l.nrows()
    }

    /// A. (n × n)
    ///
    /// # Panics
    /// Where the problem was made from the factor.
    #[must_use]
    pub fn a(&self) -> &Mat<T> {
        self.a.as_ref().expect("a problem made from A")
    }

    /// V, noise in ±1, or in ±0.5/∜n beside a factor with a diagonal of 1, which is as large beside it. (n × k) Downdating by V
    /// after updating by V is well-conditioned: it returns to A.
    #[must_use]
    pub fn v(&self, rank: usize) -> Mat<T> {
        let scale = if self.a.is_some() { 1.0 } else { 0.5 / (self.order() as f64).powf(0.25) };
        Mat::from_fn(self.order(), rank, |i, r| T::narrow(scale * noise(2, i, r)))
    }

    /// Sampled rows of A.
    #[must_use]
    pub fn sampled(&self) -> &Sampled {
        &self.sampled
    }
}

/// Some rows of a symmetric matrix in double precision, the reference for a new factor.
#[derive(Clone)]
pub struct Sampled {
    rows: Vec<usize>,
    entries: Vec<Vec<f64>>,
}

impl Sampled {
    /// Of a symmetric matrix, by its entries.
    #[must_use]
    pub fn new(order: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let rows = sampled(order);
        let entries = rows.iter().map(|&i| (0..order).map(|j| entry(i, j)).collect()).collect();
        Self { rows, entries }
    }

    /// Of L Lᵀ.
    #[must_use]
    pub fn of_factor<T: Real>(l: MatRef<'_, T>) -> Self {
        let rows = sampled(l.nrows());
        let entries = products(l, &rows);
        Self { rows, entries }
    }

    /// The same rows of the matrix plus V Vᵀ.
    #[must_use]
    pub fn plus<T: Real>(&self, v: MatRef<'_, T>) -> Self {
        let product = |i, j| (0..v.ncols()).map(|r| v[(i, r)].wide() * v[(j, r)].wide()).sum::<f64>();
        let row = |(&i, row): (&usize, &Vec<f64>)| {
            row.iter().enumerate().map(|(j, entry)| entry + product(i, j)).collect()
        };
        let entries = self.rows.iter().zip(&self.entries).map(row).collect();
        Self { rows: self.rows.clone(), entries }
    }

    /// max |L'L'ᵀ − A'| / max |A'|, where these are rows of A'. A NaN is kept.
    #[must_use]
    pub fn residual<T: Real>(&self, l: MatRef<'_, T>) -> f64 {
        self.difference(&products(l, &self.rows))
    }

    /// The same by a product X ↦ L'L'ᵀ X that is known otherwise, in its precision.
    pub fn residual_by<T: Real>(&self, product: impl FnOnce(&Mat<T>) -> Mat<T>) -> f64 {
        let order = self.entries.first().map_or(0, Vec::len);
        let units = Mat::from_fn(order, self.rows.len(), |i, r| T::narrow(f64::from(i == self.rows[r])));
        let rows = product(&units);
        let row = |column: usize| rows.col(column).iter().map(|x| x.wide()).collect();
        self.difference(&(0..self.rows.len()).map(row).collect::<Vec<_>>())
    }

    fn difference(&self, rows: &[Vec<f64>]) -> f64 {
        let (mut error, mut largest) = (0.0, 0.0);
        for (expected, new) in self.entries.iter().flatten().zip(rows.iter().flatten()) {
            let difference = (new - expected).abs();
            // The maximum must keep a NaN.
            error = if difference <= error { error } else { difference };
            largest = f64::max(largest, expected.abs());
        }
        error / largest
    }
}

/// The sampled rows: all of a small matrix.
fn sampled(order: usize) -> Vec<usize> {
    let samples = if order <= 256 { order } else { 8 };
    (1..=samples).map(|s| s * order / samples - 1).collect()
}

/// These rows of L Lᵀ, in double precision.
fn products<T: Real>(l: MatRef<'_, T>, rows: &[usize]) -> Vec<Vec<f64>> {
    /// Columns whose products are summed before they are added to the total, which keeps the rounding error of the check small.
    const RUN: usize = 64;
    let order = l.nrows();
    let zero = || vec![vec![0.0; order]; rows.len()];
    let add = |mut sums: Vec<Vec<f64>>, start: usize| {
        let mut run = vec![0.0; order - start];
        for (&i, sum) in rows.iter().zip(&mut sums).filter(|(i, _)| **i >= start) {
            run.fill(0.0);
            for c in start..(i + 1).min(start + RUN) {
                let column = l.col(c).try_as_col_major().expect("factors are stored by columns").as_slice();
                let scale = column[i].wide();
                run[c - start..].iter_mut().zip(&column[c..]).for_each(|(s, x)| *s += scale * x.wide());
            }
            sum[start..].iter_mut().zip(&run).for_each(|(sum, x)| *sum += x);
        }
        sums
    };
    let both = |mut a: Vec<Vec<f64>>, b: Vec<Vec<f64>>| {
        a.iter_mut().flatten().zip(b.iter().flatten()).for_each(|(a, b)| *a += b);
        a
    };
    let starts: Vec<_> = (0..order).step_by(RUN).collect();
    starts.into_par_iter().fold(zero, add).reduce(zero, both)
}

/// L L' = A in place, by faer.
pub fn factorize<T: Real>(a: MatMut<'_, T>, par: Par, memory: &mut MemBuffer) {
    cholesky_in_place(a, Default::default(), par, MemStack::new(memory), Default::default())
        .expect("the matrix is positive definite");
}

/// The working memory of [`factorize`].
#[must_use]
pub fn memory_to_factorize<T: Real>(order: usize) -> MemBuffer {
    MemBuffer::new(cholesky_in_place_scratch::<T>(order, Par::Seq, Default::default()))
}

/// A number in ±1 that depends only on the arguments (splitmix64).
fn noise(stream: u64, i: usize, j: usize) -> f64 {
    let mut z = (stream << 60 ^ (i as u64) << 30 ^ j as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) as f64 / (1u64 << 63) as f64 - 1.0
}
