//! Updates and downdates of rank one: RᵀR + x xᵀ and RᵀR − x xᵀ.

use crate::chain::{APART, BLOCK, Columns, DOWN, UP, apply, step};
use crate::real::Real;
use crate::rotation::{Lapack, Rotation, Signs};
use crate::solve::{norm, solve};
use crate::upper::Upper;

/// RᵀR ← RᵀR + x xᵀ. Rotation k eliminates entry k of the rest of x; its cosine and sine are stored in c and s, and s may be x.
///
/// # Safety
/// R has all its columns, and x, c and s have n entries; no other code uses them.
pub unsafe fn update<T: Real, S: Signs>(r: Upper<T>, x: *const T, c: *mut T, s: *mut T) {
    let mut t = [T::ZERO; BLOCK];
    for first in (0..r.order).step_by(BLOCK) {
        let end = r.order.min(first + BLOCK);
        let t = &mut t[..end - first];
        // SAFETY: columns and rows are less than the order, as are indices of rotations; rotations are written before they are
        // applied.
        unsafe {
            for (at, t) in t.iter_mut().enumerate() {
                *t = *x.add(first + at);
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

/// RᵀR ← RᵀR − x xᵀ, where s contains p = R⁻ᵀ x and alpha² is 1 − ‖p‖². Cosines and sines of the rotations are stored in c and
/// s.
///
/// # Safety
/// R has all its columns, and c and s have n entries; no other code uses them.
pub unsafe fn downdate<T: Real>(r: Upper<T>, alpha: T, c: *mut T, s: *mut T) {
    let mut alpha = alpha;
    for k in (0..r.order).rev() {
        // SAFETY: k is less than the order.
        unsafe {
            let Rotation { c: cosine, s: sine, r: length } = Lapack::rotation(alpha, *s.add(k));
            (*c.add(k), *s.add(k)) = (cosine, sine);
            alpha = length;
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

/// p ← R⁻ᵀ p; returns ‖p‖.
///
/// # Safety
/// R has all its columns, and p has n entries; no other code uses them.
pub unsafe fn half_solve<T: Real>(r: Upper<T>, p: *mut T) -> T {
    // SAFETY: the caller guarantees R and p.
    unsafe {
        solve(r, p);
        norm(p, r.order)
    }
}
