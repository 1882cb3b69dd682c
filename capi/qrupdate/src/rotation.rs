//! Plane rotations with real cosines: c f + s g = r, c g − s̄ f = 0.

use crate::number::{Number, length_and_inverse};

/// A rotation that maps (f, g) to (r, 0).
#[derive(Clone, Copy)]
pub struct Rotation<T: Number> {
    pub c: T::Real,
    pub s: T,
    pub r: T,
}

/// A convention for the signs.
pub trait Signs {
    fn rotation<T: Number>(f: T, g: T) -> Rotation<T>;
}

/// LAPACK's `dlartg` and `zlartg` from version 3.10 on, which qrupdate calls: r has the sign of f, or the argument of the complex
/// number f, and no cosine is negative.
pub struct Lapack;

/// BLAS's `drotg` and `zrotg`, which LINPACK calls. Of real numbers, r has the sign of the larger of the two. Of complex ones, r
/// has the argument of f, and is g if f is zero; from version 3.10 on `zrotg` returns |g| for this, and other sines.
pub struct Blas;

impl Signs for Lapack {
    #[inline(always)]
    fn rotation<T: Number>(f: T, g: T) -> Rotation<T> {
        if g == T::ZERO {
            return Rotation { c: T::Real::ONE, s: T::ZERO, r: f };
        }
        if f == T::ZERO {
            let (r, sign) = g.polar();
            return Rotation { c: T::Real::ZERO, s: sign.conj(), r: T::from_real(r) };
        }
        let (r, inverse) = length_and_inverse(f, g);
        let (abs, sign) = f.polar();
        Rotation { c: abs * inverse, s: (g.conj() * sign).scale(inverse), r: sign.scale(r) }
    }
}

impl Signs for Blas {
    #[inline(always)]
    fn rotation<T: Number>(f: T, g: T) -> Rotation<T> {
        if T::COMPLEX && f == T::ZERO {
            return Rotation { c: T::Real::ZERO, s: T::ONE, r: g };
        }
        let (r, inverse) = length_and_inverse(f, g);
        if r == T::Real::ZERO {
            return Rotation { c: T::Real::ONE, s: T::ZERO, r: T::ZERO };
        }
        let (abs, sign) = if T::COMPLEX || f.largest() > g.largest() { f } else { g }.polar();
        Rotation {
            c: (if T::COMPLEX { abs } else { (f * sign).re() }) * inverse,
            s: (g.conj() * sign).scale(inverse),
            r: sign.scale(r),
        }
    }
}
