//! The matrices of the benchmark, and the check that a result is right.

use crate::limits::Kernels;
use cholupdate::faer::dyn_stack::{MemBuffer, MemStack};
use cholupdate::faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use cholupdate::faer::{Mat, MatMut, MatRef, Par};

/// A scalar that every competitor can work with.
pub trait Real: cholupdate::Scalar + nalgebra::RealField + Kernels {
    const NAME: &'static str;
    /// A result with a larger residual is wrong, whatever its rounding errors.
    const LARGEST_RESIDUAL: f64;
    fn narrow(x: f64) -> Self;
    fn wide(self) -> f64;
}

macro_rules! real {
    ($t:ident, $largest:expr) => {
        impl Real for $t {
            const NAME: &'static str = stringify!($t);
            const LARGEST_RESIDUAL: f64 = $largest;
            fn narrow(x: f64) -> Self {
                x as $t
            }
            fn wide(self) -> f64 {
                self as f64
            }
        }
    };
}
real!(f32, 1e-3);
real!(f64, 1e-10);

/// A and its factor.
pub struct Problem<T> {
    /// Lower triangle of A: 4 √n on the diagonal and noise in ±1 below, which has a condition number of about 2 for every n.
    pub a: Mat<T>,
    /// Its factor. (n × n)
    pub l: Mat<T>,
    /// Rows of A' that the residual is formed in.
    sampled: Vec<usize>,
}

impl<T: Real> Problem<T> {
    pub fn new(order: usize) -> Self {
        let entry =
            |i: usize, j: usize| T::narrow(if i == j { 4.0 * (order as f64).sqrt() } else { noise(1, i, j) });
        let a = Mat::from_fn(order, order, |i, j| if i >= j { entry(i, j) } else { T::ZERO });
        let mut l = a.clone();
        factorize(l.as_mut(), Par::rayon(0), &mut memory_to_factorize::<T>(order));
        let samples = if order <= 256 { order } else { 8 };
        let sampled = (1..=samples).map(|s| s * order / samples - 1).collect();
        Self { a, l, sampled }
    }

    pub fn order(&self) -> usize {
        self.a.nrows()
    }

    /// V, noise in ±1. (n × k) Downdating what V has updated is well conditioned: it leads back to A.
    pub fn v(&self, rank: usize) -> Mat<T> {
        Mat::from_fn(self.order(), rank, |i, r| T::narrow(noise(2, i, r)))
    }

    /// max |L'L'ᵀ − A'| / max |A'| over the sampled rows, formed in double precision, with A' = A + `sign` V Vᵀ.
    pub fn residual(&self, l: MatRef<'_, T>, v: MatRef<'_, T>, sign: f64) -> f64 {
        /// Columns whose products are added up before they join the sum: keeps the rounding error of the check itself small.
        const RUN: usize = 64;
        let n = self.order();
        let mut largest = (0.0, 0.0);
        let mut rows = vec![(vec![0.0; n], vec![0.0; n]); self.sampled.len()];
        for start in (0..n).step_by(RUN) {
            for c in start..n.min(start + RUN) {
                let column = l.col(c).try_as_col_major().expect("factors are stored by columns").as_slice();
                for (&i, (_, run)) in self.sampled.iter().zip(&mut rows).filter(|(i, _)| **i >= c) {
                    let scale = column[i].wide();
                    run[c..].iter_mut().zip(&column[c..]).for_each(|(s, x)| *s += scale * x.wide());
                }
            }
            for (sum, run) in &mut rows {
                sum.iter_mut().zip(run).for_each(|(sum, run)| *sum += core::mem::take(run));
            }
        }
        for (&i, (product, _)) in self.sampled.iter().zip(&rows) {
            for j in 0..n {
                let vv: f64 = (0..v.ncols()).map(|r| v[(i, r)].wide() * v[(j, r)].wide()).sum();
                let target = self.a[(i.max(j), i.min(j))].wide() + sign * vv;
                let error = (product[j] - target).abs();
                // A NaN must not get lost in a maximum.
                largest.0 = if error <= largest.0 { largest.0 } else { error };
                largest.1 = f64::max(largest.1, target.abs());
            }
        }
        largest.0 / largest.1
    }
}

/// L L' = A in place, by faer.
pub fn factorize<T: Real>(a: MatMut<'_, T>, par: Par, memory: &mut MemBuffer) {
    cholesky_in_place(a, Default::default(), par, MemStack::new(memory), Default::default())
        .expect("the matrix is positive definite");
}

/// What [`factorize`] works in.
pub fn memory_to_factorize<T: Real>(order: usize) -> MemBuffer {
    MemBuffer::new(cholesky_in_place_scratch::<T>(order, Par::Seq, Default::default()))
}

/// A number in ±1 that depends on the arguments alone (splitmix64).
fn noise(stream: u64, i: usize, j: usize) -> f64 {
    let mut z = (stream << 60 ^ (i as u64) << 30 ^ j as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) as f64 / (1u64 << 63) as f64 - 1.0
}
