//! The scalars under test. Both convert to c64 without loss; tests compute in c64.

use crate::support::real::Real;
use cholupdate::Scalar;
use cholupdate::faer::{Mat, MatRef, c32, c64, cx128, fx128};

/// A complex scalar of the library, and the conversions that tests need.
pub trait Complex: Scalar<Part = <Self as Complex>::Re> {
    /// The type of weights, pivots and determinants.
    type Re: Real;
    /// Unit roundoff of the real and of the imaginary part.
    const ROUNDOFF: f64;

    /// x rounded to this type.
    fn from_c64(x: c64) -> Self;
    /// The same number.
    fn c64(self) -> c64;
    /// A real number rounded to the type of weights.
    fn part(x: f64) -> Self::Re;

    fn from_real(x: f64) -> Self {
        Self::from_c64(x.into())
    }
}

impl Complex for c64 {
    type Re = f64;
    const ROUNDOFF: f64 = <f64 as Real>::U;

    fn from_c64(x: c64) -> Self {
        x
    }
    fn c64(self) -> c64 {
        self
    }
    fn part(x: f64) -> f64 {
        x
    }
}

impl Complex for c32 {
    type Re = f32;
    const ROUNDOFF: f64 = <f32 as Real>::U;

    fn from_c64(x: c64) -> Self {
        Self::new(x.re as f32, x.im as f32)
    }
    fn c64(self) -> c64 {
        c64::new(self.re.into(), self.im.into())
    }
    fn part(x: f64) -> f32 {
        x as f32
    }
}

/// The same number with some thirty digits.
pub fn wide(x: c64) -> cx128 {
    cx128::new(fx128::from(x.re), fx128::from(x.im))
}

/// |x|
pub fn size(x: cx128) -> f64 {
    x.re.0.hypot(x.im.0)
}

pub fn narrow<T: Complex>(a: &Mat<c64>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::from_c64(a[(i, j)]))
}

/// The same numbers. (rows × cols)
pub fn in_c64<T: Complex>(a: MatRef<'_, T>) -> Mat<c64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)].c64())
}

/// Every bit of every entry, column by column.
pub fn bits<T: Complex>(a: MatRef<'_, T>) -> Vec<[u64; 2]> {
    let entry = |i: usize, j: usize| a[(i, j)].c64();
    (0..a.ncols())
        .flat_map(|j| (0..a.nrows()).map(move |i| [entry(i, j).re.to_bits(), entry(i, j).im.to_bits()]))
        .collect()
}

/// Weights, or other real numbers.
pub fn parts<T: Complex>(of: &[f64]) -> Vec<T::Re> {
    of.iter().map(|&x| T::part(x)).collect()
}

/// Whether the parts are f64.
pub fn is_double<T: Complex>() -> bool {
    T::ROUNDOFF < 1e-10
}
