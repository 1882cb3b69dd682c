//! The scalars under test. Both convert to f64 without loss, which is where tests reason about them.

use cholupdate::Scalar;
use cholupdate::faer::MatRef;

/// A scalar of the library, and the conversions that tests need.
pub trait Real: Scalar {
    /// Unit roundoff.
    const U: f64;

    /// x rounded to this type.
    fn of(x: f64) -> Self;
    /// The same number.
    fn f64(self) -> f64;
    fn bits(self) -> u64;
}

impl Real for f64 {
    const U: f64 = f64::EPSILON / 2.0;

    fn of(x: f64) -> Self {
        x
    }
    fn f64(self) -> f64 {
        self
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Real for f32 {
    const U: f64 = f32::EPSILON as f64 / 2.0;

    fn of(x: f64) -> Self {
        x as f32
    }
    fn f64(self) -> f64 {
        f64::from(self)
    }
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

/// Every bit of every entry, column by column.
pub fn bits<T: Real>(a: MatRef<'_, T>) -> Vec<u64> {
    (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| a[(i, j)].bits())).collect()
}
