//! Updates and downdates of rank one: RᴴR + x xᴴ and RᴴR − x xᴴ.

use crate::chain::{APART, BLOCK, Columns, DOWN, UP, apply, step};
use crate::number::Number;
use crate::rotation::{Lapack, Rotation, Signs};
use crate::solve::{norm, solve};
use crate::upper::Upper;

/// RᴴR ← RᴴR + x xᴴ, where `row` is xᴴ. Rotation k eliminates entry k of the rest of the row; its cosine and sine are stored in c
/// and s, and s may be the row.
///
/// # Safety
/// R has all its columns, and the row, c and s have n entries; no other code uses them.
pub unsafe fn update<T: Number, S: Signs>(r: Upper<T>, row: *const T, c: *mut T::Real, s: *mut T) {
    let mut t = [T::ZERO; BLOCK];
    for first in (0..r.order).step_by(BLOCK) {
        let end = r.order.min(first + BLOCK);
        let t = &mut t[..end - first];
        // SAFETY: columns and rows are less than the order, as are indices of rotations; rotations are written before they are
        // applied.
        unsafe {
            for (at, t) in t.iter_mut().enumerate() {
                *t = *row.add(first + at);
            }
            let (from, to) = (r.at(0, first), r.at(0, first));
            apply::<T, DOWN, APART>(Columns { from, to, stride: r.stride(), c, s }, 0..first, t);
            for k in first..end {
                let rotation = S::rotation(r.get(k, k), t[k - first]);
                r.set(k, k, rotation.r);
                (*c.add(k), *s.add(k)) = (rotation.c, rotation.s);
                for column in k + 1..end {
                    let t = &mut t[column - first];
                    let (new, next) = step::<T, DOWN, APART>(rotation.c, rotation.s, r.get(k, column), *t);
                    *t = next;
                    r.set(k, column, new);
                }
            }
        }
    }
}

/// RᴴR ← RᴴR − x xᴴ, where s contains p = R⁻ᴴ x and alpha² is 1 − ‖p‖². Cosines and sines of the rotations are stored in c and
/// s.
///
/// # Safety
/// R has all its columns, and c and s have n entries; no other code uses them.
pub unsafe fn downdate<T: Number>(r: Upper<T>, alpha: T::Real, c: *mut T::Real, s: *mut T) {
    let mut alpha = alpha;
    for k in (0..r.order).rev() {
        // SAFETY: k is less than the order.
        unsafe {
            let Rotation { c: cosine, s: sine, r: length } = Lapack::rotation(T::from_real(alpha), *s.add(k));
            (*c.add(k), *s.add(k)) = (cosine, sine);
            alpha = length.re();
        }
    }
    // The last columns first: the solve has just read them.
    for first in (0..r.order).step_by(BLOCK).rev() {
        let end = r.order.min(first + BLOCK);
        let mut t = [T::ZERO; BLOCK];
        let t = &mut t[..end - first];
        // SAFETY: columns and rows are less than the order, as are indices of rotations.
        unsafe {
            for k in (first..end).rev() {
                for column in k..end {
                    let t = &mut t[column - first];
                    let (new, next) = step::<T, UP, APART>(*c.add(k), *s.add(k), r.get(k, column), *t);
                    *t = next;
                    r.set(k, column, new);
                }
            }
            let (from, to) = (r.at(0, first), r.at(0, first));
            apply::<T, UP, APART>(Columns { from, to, stride: r.stride(), c, s }, 0..first, t);
        }
    }
}

/// p ← R⁻ᴴ p; returns ‖p‖.
///
/// # Safety
/// R has all its columns, and p has n entries; no other code uses them.
pub unsafe fn half_solve<T: Number>(r: Upper<T>, p: *mut T) -> T::Real {
    // SAFETY: the caller guarantees R and p.
    unsafe {
        solve(r, p);
        norm::<T::Real>(p.cast(), if T::COMPLEX { 2 * r.order } else { r.order })
    }
}
