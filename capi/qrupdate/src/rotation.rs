//! Plane rotations: c f + s g = r, c g − s f = 0.

use crate::real::Real;

/// A rotation that maps (f, g) to (r, 0).
#[derive(Clone, Copy)]
pub struct Rotation<T> {
    pub c: T,
    pub s: T,
    pub r: T,
}

/// A convention for the signs.
pub trait Signs {
    fn rotation<T: Real>(f: T, g: T) -> Rotation<T>;
}

/// LAPACK's `dlartg` from version 3.10 on, which qrupdate calls: r has the sign of f, and no cosine is negative.
pub struct Lapack;

/// BLAS's `drotg`, which LINPACK calls: r has the sign of the larger of the two.
pub struct Blas;

impl Signs for Lapack {
    #[inline(always)]
    fn rotation<T: Real>(f: T, g: T) -> Rotation<T> {
        if g == T::ZERO {
            return Rotation { c: T::ONE, s: T::ZERO, r: f };
        }
        if f == T::ZERO {
            return Rotation { c: T::ZERO, s: T::ONE.copysign(g), r: g.abs() };
        }
        let (r, inverse) = length_and_inverse(f, g);
        let sign = T::ONE.copysign(f);
        Rotation { c: f.abs() * inverse, s: (g * sign) * inverse, r: r * sign }
    }
}

impl Signs for Blas {
    #[inline(always)]
    fn rotation<T: Real>(f: T, g: T) -> Rotation<T> {
        let (r, inverse) = length_and_inverse(f, g);
        if r == T::ZERO {
            return Rotation { c: T::ONE, s: T::ZERO, r: T::ZERO };
        }
        let sign = T::ONE.copysign(if f.abs() > g.abs() { f } else { g });
        Rotation { c: (f * sign) * inverse, s: (g * sign) * inverse, r: r * sign }
    }
}

/// √(f² + g²) and its inverse. Both are on the critical path, so the division runs concurrently with the square root.
#[inline(always)]
fn length_and_inverse<T: Real>(f: T, g: T) -> (T, T) {
    let (a, b) = (f.abs(), g.abs());
    let large = if a > b { a } else { b };
    // NaN takes this branch as well, and is returned.
    if !(large < T::SMALL || large > T::LARGE) {
        let square = f * f + g * g;
        let length = square.sqrt();
        return (length, length * (T::ONE / square));
    }
    let length = length(f, g);
    (length, T::ONE / length)
}

/// √(f² + g²).
#[inline(always)]
pub fn length<T: Real>(f: T, g: T) -> T {
    let (a, b) = (f.abs(), g.abs());
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    // NaN takes this branch as well, and is returned.
    if !(large < T::SMALL || large > T::LARGE) {
        return (f * f + g * g).sqrt();
    }
    scaled_length(large, small)
}

#[cold]
fn scaled_length<T: Real>(large: T, small: T) -> T {
    if large == T::ZERO {
        return T::ZERO;
    }
    let ratio = small / large;
    large * (T::ONE + ratio * ratio).sqrt()
}
