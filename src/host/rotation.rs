//! A plane rotation of two columns.

use super::isa::Isa;
use crate::compiled::compiled;
use crate::float::Float;
use core::marker::PhantomData;
use pulp::{Simd, WithSimd};

/// c and s with c² + s² = 1, and x = c − 1, which has all its digits even if c is close to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotation<T> {
    pub c: T,
    pub x: T,
    pub s: T,
}

impl<T: RotationKernel> Rotation<T> {
    /// Returns the rotation that maps (z, norm) to (0, √(z² + norm²)), and this root. `norm` is positive.
    pub fn eliminating(z: T, norm: T) -> (Self, T) {
        let (z, norm) = (z.to_f64(), norm.to_f64());
        let root = z.hypot(norm);
        let s = z / root;
        let x = -s * (z / (root + norm));
        let rotation = Self { c: T::from_f64(norm / root), x: T::from_f64(x), s: T::from_f64(s) };
        (rotation, T::from_f64(root))
    }

    /// The new value of a pivot whose other entry is zero. It is positive, however small the sum of the entry and its change
    /// is.
    pub fn pivot(self, old: T) -> T {
        (self.c * old).max(T::TINY)
    }

    /// a ← c a − s b, b ← s a + c b. Both have the same length.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    pub fn apply(self, a: &mut [T], b: &mut [T]) {
        let (len, new) = (a.len().min(b.len()), a.as_mut_ptr());
        let old = new.cast_const();
        T::rotate(
            Isa::detect(),
            Apply { rotation: self, old, new, b: b.as_mut_ptr(), len, slices: PhantomData },
        );
    }

    /// new ← c old − s b, b ← s old + c b. All have the same length.
    pub fn apply_to(self, old: &[T], new: &mut [T], b: &mut [T]) {
        let (from, len) = (old.as_ptr(), old.len().min(new.len()).min(b.len()));
        T::rotate(
            Isa::detect(),
            Apply {
                rotation: self,
                old: from,
                new: new.as_mut_ptr(),
                b: b.as_mut_ptr(),
                len,
                slices: PhantomData,
            },
        );
    }
}

compiled! {
    /// [`Rotation::apply_to`].
    RotationKernel {
        rotate: Apply<'_, Self> => (),
    }
}

/// `len` entries at each pointer, those of `new` and `b` borrowed exclusively; `old` may be `new`.
pub(crate) struct Apply<'a, T> {
    rotation: Rotation<T>,
    old: *const T,
    new: *mut T,
    b: *mut T,
    len: usize,
    slices: PhantomData<&'a mut [T]>,
}

impl<T: Float> WithSimd for Apply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rotation: Rotation { x, s, .. }, old: from, new, b, len, .. } = self;
        let lanes = T::lanes::<S>();
        let (x, s) = (T::splat(simd, x), T::splat(simd, s));
        for i in (0..len).step_by(lanes) {
            let mask = T::mask(simd, 0, lanes.min(len - i));
            // SAFETY: the masks restrict the accesses to the slices.
            unsafe {
                let (old, p) =
                    (T::load_masked(simd, mask, from.add(i)), T::load_masked(simd, mask, b.add(i)));
                let change = T::neg_mul_add(simd, s, p, T::vmul(simd, x, old));
                T::store_masked(simd, mask, new.add(i), T::vadd(simd, old, change));
                let change = T::mul_add(simd, s, old, T::vmul(simd, x, p));
                T::store_masked(simd, mask, b.add(i), T::vadd(simd, p, change));
            }
        }
    }
}
