//! The contract of qrupdate (J. Hajek, 2009): one row and column at a time, indices from 1, and info codes.

use crate::columns::{Rotations, gather, reduce, shift_left, shift_right, spread};
use crate::rank_one::{downdate, half_solve, update};
use crate::real::Real;
use crate::rotation::Lapack;
use crate::upper::Upper;

/// R (n × n) becomes that of A + u uᵀ. u receives the sines and w (n) the cosines.
///
/// # Safety
/// R has n columns of n entries at a distance of `ldr`; u and w have n entries.
pub unsafe fn ch1up<T: Real>(n: i64, r: *mut T, ldr: i64, u: *mut T, w: *mut T) {
    // SAFETY: the caller guarantees the arrays.
    unsafe { update::<T, Lapack>(Upper::new(r, size(ldr), size(n)), u, w, u) }
}

/// R (n × n) becomes that of A − u uᵀ. u receives the sines and w (n) the cosines.
///
/// Returns 1 if that is not positive definite: R is unchanged, and u is R⁻ᵀu. Returns 2 if R is singular: nothing is changed.
/// Returns −j if argument j is invalid.
///
/// # Safety
/// As for [`ch1up`].
pub unsafe fn ch1dn<T: Real>(n: i64, r: *mut T, ldr: i64, u: *mut T, w: *mut T) -> i64 {
    if n < 0 {
        return -1;
    }
    if ldr < n {
        return -3;
    }
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        let r = Upper::new(r, size(ldr), size(n));
        if is_singular(r) {
            return 2;
        }
        let norm = half_solve(r, u);
        let rest = (T::ONE - norm) * (T::ONE + norm);
        if rest <= T::ZERO {
            return 1;
        }
        downdate(r, rest.sqrt(), w, u);
    }
    0
}

/// R becomes that of A with one more row and column (n + 1 × n + 1), which becomes number j and is x (n + 1). x is overwritten.
///
/// Returns 1 if that is not positive definite, 2 if R is singular: R is then unchanged. Returns −j if argument j is invalid. At
/// most n entries of w are used, because Octave provides no more.
///
/// # Safety
/// R has n + 1 columns of n + 1 entries at a distance of `ldr`; x has n + 1 entries, and w has n.
pub unsafe fn chinx<T: Real>(n: i64, r: *mut T, ldr: i64, j: i64, x: *mut T, w: *mut T) -> i64 {
    if n < 0 {
        return -1;
    }
    if ldr <= n {
        return -3;
    }
    if j < 1 || j > n + 1 {
        return -4;
    }
    let (n, at) = (size(n), size(j - 1));
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        let diagonal = *x.add(at);
        core::ptr::copy(x.add(at + 1), x.add(at), n - at);
        let before = Upper::new(r, size(ldr), n);
        if is_singular(before) {
            return 2;
        }
        let norm = half_solve(before, x);
        let rest = diagonal - norm * norm;
        if rest <= T::ZERO {
            return 1;
        }
        let after = Upper::new(r, size(ldr), n + 1);
        let q = Rotations { c: w, s: x.add(at) };
        let left = gather::<T, Lapack>(x.add(at), n - at, rest.sqrt(), q);
        spread(after, at, n, q);
        core::ptr::copy_nonoverlapping(x, after.at(0, at), at);
        after.set(at, at, left);
        after.fill(at + 1..n + 1, at, T::ZERO);
    }
    0
}

/// R (n − 1 × n − 1) becomes that of A without row and column j.
///
/// Returns −j if argument j is invalid; if n is 1, the other arguments are not checked.
///
/// # Safety
/// As for [`ch1up`].
pub unsafe fn chdex<T: Real>(n: i64, r: *mut T, ldr: i64, j: i64, w: *mut T) -> i64 {
    if n < 0 {
        return -1;
    }
    if n == 1 {
        return 0;
    }
    if ldr < n {
        return -3;
    }
    if j < 1 || j > n {
        return -4;
    }
    let (n, at) = (size(n), size(j - 1));
    // SAFETY: the caller guarantees the arrays. The sines fit below the diagonal of the removed column.
    unsafe {
        let r = Upper::new(r, size(ldr), n);
        let s = if at + 1 < n { r.at(at + 1, at) } else { w };
        reduce::<T, Lapack>(r, at, n - 1, Rotations { c: w, s });
        r.fill(at + 1..n, at, T::ZERO);
        for k in at + 1..n - 1 {
            r.set(k + 1, k, T::ZERO);
        }
    }
    0
}

/// R becomes that of A with row and column i moved to j; those between move by one. w (2 n) is overwritten.
///
/// Returns −j if argument j is invalid; if n is 1 or 0, the other arguments are not checked.
///
/// # Safety
/// As for [`ch1up`], with 2 n entries of w.
pub unsafe fn chshx<T: Real>(n: i64, r: *mut T, ldr: i64, i: i64, j: i64, w: *mut T) -> i64 {
    if n < 0 {
        return -1;
    }
    if n <= 1 {
        return 0;
    }
    if i < 1 || i > n {
        return -4;
    }
    if j < 1 || j > n {
        return -5;
    }
    if ldr < n {
        return -3;
    }
    let (n, from, to) = (size(n), size(i - 1), size(j - 1));
    // SAFETY: the caller guarantees the arrays. The saved entries and the rotations fit into w together.
    unsafe {
        let r = Upper::new(r, size(ldr), n);
        if from < to {
            shift_right::<T, Lapack>(r, (from, to), w.add(to - from), Rotations { c: w, s: w.add(n) });
            for k in from..to {
                r.set(k + 1, k, T::ZERO);
            }
        } else if to < from {
            shift_left::<T, Lapack>(r, (from, to), w, Rotations { c: w.add(n), s: w.add(to) });
            r.fill(to + 1..n, to, T::ZERO);
        }
    }
    0
}

/// A number of rows, which has been checked not to be negative; 0 otherwise.
fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}

/// # Safety
/// R has all its columns.
unsafe fn is_singular<T: Real>(r: Upper<T>) -> bool {
    // SAFETY: k is less than the order.
    (0..r.order).any(|k| unsafe { r.get(k, k) } == T::ZERO)
}
