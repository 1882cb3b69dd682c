//! Real and complex numbers in twice the precision, and vectors of them.

use super::double::Double;
use core::iter::zip;
use core::ops::{Add, Mul, Sub};

/// A number in twice the precision of f64.
pub(super) trait Wide: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    const ZERO: Self;
    type Vector: Vector<Self>;

    /// From the parts of a number in double precision; a real number has only the first.
    fn new(parts: [f64; 2]) -> Self;
    fn of_real(x: Double) -> Self;
    fn real(self) -> Double;
    fn conj(self) -> Self;
    fn times(self, by: Double) -> Self;
    fn over(self, by: Double) -> Self;
    /// |x|².
    fn square(self) -> Double;
    /// Its parts, rounded to double precision.
    fn rounded(self) -> [f64; 2];
}

/// A vector of wide numbers.
pub(super) trait Vector<W> {
    fn zeros(len: usize) -> Self;
    fn len(&self) -> usize;
    fn get(&self, at: usize) -> W;
    fn set(&mut self, at: usize, x: W);
    /// Changes a range of entries, each with the corresponding one of `others`.
    fn each(&mut self, first: usize, others: &mut [W], change: impl Fn(W, &mut W) -> W);
}

impl Wide for Double {
    const ZERO: Self = Self::ZERO;
    type Vector = Halves;

    #[inline(always)]
    fn new([x, _]: [f64; 2]) -> Self {
        Self::new(x)
    }
    #[inline(always)]
    fn of_real(x: Double) -> Self {
        x
    }
    #[inline(always)]
    fn real(self) -> Double {
        self
    }
    #[inline(always)]
    fn conj(self) -> Self {
        self
    }
    #[inline(always)]
    fn times(self, by: Double) -> Self {
        by * self
    }
    #[inline(always)]
    fn over(self, by: Double) -> Self {
        self / by
    }
    #[inline(always)]
    fn square(self) -> Double {
        self * self
    }
    #[inline(always)]
    fn rounded(self) -> [f64; 2] {
        [self.hi, 0.0]
    }
}

/// Real numbers: their high parts and their low parts.
pub(super) struct Halves {
    hi: Vec<f64>,
    lo: Vec<f64>,
}

impl Vector<Double> for Halves {
    fn zeros(len: usize) -> Self {
        Self { hi: vec![0.0; len], lo: vec![0.0; len] }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.hi.len()
    }

    #[inline(always)]
    fn get(&self, at: usize) -> Double {
        Double { hi: self.hi[at], lo: self.lo[at] }
    }

    #[inline(always)]
    fn set(&mut self, at: usize, x: Double) {
        (self.hi[at], self.lo[at]) = (x.hi, x.lo);
    }

    #[inline(always)]
    fn each(&mut self, first: usize, others: &mut [Double], change: impl Fn(Double, &mut Double) -> Double) {
        let (hi, lo) = (&mut self.hi[first..][..others.len()], &mut self.lo[first..][..others.len()]);
        for ((hi, lo), other) in hi.iter_mut().zip(lo).zip(others) {
            let new = change(Double { hi: *hi, lo: *lo }, other);
            (*hi, *lo) = (new.hi, new.lo);
        }
    }
}

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Complex {
    re: Double,
    im: Double,
}

impl Add for Complex {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Complex {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let re = self.re * other.re - self.im * other.im;
        Self { re, im: self.re * other.im + self.im * other.re }
    }
}

impl Wide for Complex {
    const ZERO: Self = Self { re: Double::ZERO, im: Double::ZERO };
    type Vector = [Halves; 2];

    #[inline(always)]
    fn new(parts: [f64; 2]) -> Self {
        let [re, im] = parts.map(Double::new);
        Self { re, im }
    }
    #[inline(always)]
    fn of_real(re: Double) -> Self {
        Self { re, im: Double::ZERO }
    }
    #[inline(always)]
    fn real(self) -> Double {
        self.re
    }
    #[inline(always)]
    fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }
    #[inline(always)]
    fn times(self, by: Double) -> Self {
        Self { re: by * self.re, im: by * self.im }
    }
    #[inline(always)]
    fn over(self, by: Double) -> Self {
        Self { re: self.re / by, im: self.im / by }
    }
    #[inline(always)]
    fn square(self) -> Double {
        self.re * self.re + self.im * self.im
    }
    #[inline(always)]
    fn rounded(self) -> [f64; 2] {
        [self.re.hi, self.im.hi]
    }
}

/// Complex numbers: their real and their imaginary parts.
impl Vector<Complex> for [Halves; 2] {
    fn zeros(len: usize) -> Self {
        [Halves::zeros(len), Halves::zeros(len)]
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self[0].len()
    }

    #[inline(always)]
    fn get(&self, at: usize) -> Complex {
        Complex { re: self[0].get(at), im: self[1].get(at) }
    }

    #[inline(always)]
    fn set(&mut self, at: usize, x: Complex) {
        self[0].set(at, x.re);
        self[1].set(at, x.im);
    }

    #[inline(always)]
    fn each(
        &mut self,
        first: usize,
        others: &mut [Complex],
        change: impl Fn(Complex, &mut Complex) -> Complex,
    ) {
        let last = first + others.len();
        let [re, im] = self.each_mut().map(|part| zip(&mut part.hi[first..last], &mut part.lo[first..last]));
        for ((re, im), other) in re.zip(im).zip(others) {
            let old = Complex { re: Double { hi: *re.0, lo: *re.1 }, im: Double { hi: *im.0, lo: *im.1 } };
            let new = change(old, other);
            (*re.0, *re.1, *im.0, *im.1) = (new.re.hi, new.re.lo, new.im.hi, new.im.lo);
        }
    }
}
