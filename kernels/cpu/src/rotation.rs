//! A plane rotation of two columns, unitary if they are complex.

use crate::compiled;
use crate::isa::Isa;
use crate::number::{Float, Number};
use core::marker::PhantomData;
use pulp::{Simd, WithSimd};

/// c and s with c² + |s|² = 1, and x = c − 1, which has all its digits even if c is close to 1.
#[derive(Clone, Copy, Debug)]
pub struct Rotation<T: Number> {
    pub c: T::Part,
    pub x: T::Part,
    pub s: T,
}

impl<T: RotationKernel> Rotation<T> {
    /// Returns the rotation that maps (z, norm) to (0, √(|z|² + norm²)), and this root. `norm` is positive.
    pub fn eliminating(z: T, norm: T::Part) -> (Self, T::Part) {
        let (norm, mut parts) = (norm.to_f64(), [0.0; 2]);
        parts.iter_mut().zip(T::parts(&[z])).for_each(|(to, part)| *to = part.to_f64());
        let size = parts[0].hypot(parts[1]);
        let root = size.hypot(norm);
        let x = -(size / root) * (size / (root + norm));
        let rotation = Self {
            c: T::Part::from_f64(norm / root),
            x: T::Part::from_f64(x),
            s: T::of_parts(parts.map(|part| T::Part::from_f64(part / root))),
        };
        (rotation, T::Part::from_f64(root))
    }

    /// The new value of a pivot whose other entry is zero. It is positive, however small the sum of the entry and its change
    /// is.
    pub fn pivot(self, old: T) -> T {
        T::of_real((self.c * old.real()).max(T::Part::TINY))
    }
}

impl<T: RotationKernel> Rotation<T> {
    /// a ← c a − s b, b ← s̄ a + c b. Both have the same length.
    pub fn apply(self, a: &mut [T], b: &mut [T]) {
        let (len, new) = (a.len().min(b.len()), a.as_mut_ptr());
        let old = new.cast_const();
        T::rotate(
            Isa::detect(),
            Apply { rotation: self, old, new, b: b.as_mut_ptr(), len, slices: PhantomData },
        );
    }

    /// new ← c old − s b, b ← s̄ old + c b. All have the same length.
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
    RotationKernel of numbers {
        rotate: Apply<'_, Self> => (),
    }
}

/// `len` entries at each pointer, those of `new` and `b` borrowed exclusively; `old` may be `new`.
pub struct Apply<'a, T: Number> {
    rotation: Rotation<T>,
    old: *const T,
    new: *mut T,
    b: *mut T,
    len: usize,
    slices: PhantomData<&'a mut [T]>,
}

impl<T: Number> WithSimd for Apply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rotation: Rotation { x, s, .. }, old: from, new, b, len, .. } = self;
        let lanes = T::lanes::<S>();
        let (x, s, conj) = (<T::Part as Number>::splat(simd, x), T::splat(simd, s), T::splat(simd, s.conj()));
        for i in (0..len).step_by(lanes) {
            let mask = T::mask(simd, 0, lanes.min(len - i));
            // SAFETY: the masks restrict the accesses to the slices.
            unsafe {
                let (old, p) =
                    (T::load_masked(simd, mask, from.add(i)), T::load_masked(simd, mask, b.add(i)));
                let change = T::neg_mul_add(simd, s, p, T::vtimes(simd, x, old));
                T::store_masked(simd, mask, new.add(i), T::vadd(simd, old, change));
                let change = T::mul_add(simd, conj, old, T::vtimes(simd, x, p));
                T::store_masked(simd, mask, b.add(i), T::vadd(simd, p, change));
            }
        }
    }
}
