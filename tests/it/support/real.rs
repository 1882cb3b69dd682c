//! The scalars under test. Both convert to f64 without loss; tests compute in f64.

use cholupdate::RealScalar;
use cholupdate::faer::{Mat, MatRef};
use nalgebra::{DMatrix, DVector};

/// A scalar of the library, and the conversions that tests need.
pub trait Real: RealScalar {
    /// Unit roundoff.
    const U: f64;
    /// The largest finite number.
    const MOST: f64;

    /// x rounded to this type.
    fn of(x: f64) -> Self;
    /// The same number.
    fn f64(self) -> f64;
    fn bits(self) -> u64;
    /// L Lᵀ ← L Lᵀ + σ x xᵀ by nalgebra. (n × n, n)
    fn nalgebra_rank_one_update(l: &mut Mat<Self>, x: &[Self], sigma: Self);
}

/// nalgebra's own scalar trait has methods of the same names as the library's, hence a function for each type.
macro_rules! by_nalgebra {
    ($t:ty) => {
        fn nalgebra_rank_one_update(l: &mut Mat<$t>, x: &[$t], sigma: $t) {
            let entries = DMatrix::from_fn(l.nrows(), l.ncols(), |i, j| l[(i, j)]);
            let mut factor = nalgebra::Cholesky::pack_dirty(entries);
            factor.rank_one_update(&DVector::from_column_slice(x), sigma);
            let new = factor.l();
            *l = Mat::from_fn(l.nrows(), l.ncols(), |i, j| new[(i, j)]);
        }
    };
}

impl Real for f64 {
    const U: f64 = f64::EPSILON / 2.0;
    const MOST: f64 = f64::MAX;

    fn of(x: f64) -> Self {
        x
    }
    fn f64(self) -> f64 {
        self
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
    by_nalgebra!(f64);
}

impl Real for f32 {
    const U: f64 = f32::EPSILON as f64 / 2.0;
    const MOST: f64 = f32::MAX as f64;

    fn of(x: f64) -> Self {
        x as f32
    }
    fn f64(self) -> f64 {
        f64::from(self)
    }
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
    by_nalgebra!(f32);
}

/// Every bit of every entry, column by column.
pub fn bits<T: Real>(a: MatRef<'_, T>) -> Vec<u64> {
    (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| a[(i, j)].bits())).collect()
}
