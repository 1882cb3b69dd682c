//! The contract of qrupdate (J. Hajek, 2009): one row and column at a time, indices from 1, and info codes.

use crate::columns::{Rotations, gather, reduce, shift_left, shift_right, spread};
use crate::rank_one::{downdate, half_solve, update};
use crate::real::Real;
use crate::rotation::Lapack;
use crate::upper::Upper;

/// R (n × n) for A + u uᵀ. u becomes the sines and w (n) the cosines.
///
/// # Safety
/// R has n columns of n entries that are `ldr` apart; u and w have n.
pub unsafe fn ch1up<T: Real>(n: i64, r: *mut T, ldr: i64, u: *mut T, w: *mut T) {
    // SAFETY: forwarded to the caller.
    unsafe { update::<T, Lapack>(Upper::new(r, size(ldr), size(n)), u, w, u) }
}

/// R (n × n) for A − u uᵀ. u becomes the sines and w (n) the cosines.
///
/// 1 where that is not positive definite: R is as it was, and u is R⁻ᵀu. 2 where R is singular: all is as it was. −j for argument j.
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
    // SAFETY: forwarded to the caller.
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

/// R (n + 1 × n + 1) for A with one more row and column, which becomes number j and is x (n + 1). x is lost.
///
/// 1 where that is not positive definite, 2 where R is singular: R is as it was. −j for argument j. No more than n entries of w are
/// used: Octave has no more.
///
/// # Safety
/// R has n + 1 columns of n + 1 entries that are `ldr` apart; x has n + 1, and w n.
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
    // SAFETY: forwarded to the caller.
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

/// R (n − 1 × n − 1) for A without row and column j.
///
/// −j for argument j; where n is 1 nothing is looked at.
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
    // SAFETY: forwarded to the caller. What is below the diagonal of the column that goes has room for the sines.
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

/// R for A with row and column i at place j, those between moved by one. w (2 n) is lost.
///
/// −j for argument j; where n is 1 or 0 nothing is looked at.
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
    // SAFETY: forwarded to the caller. At the right of `from` there are fewer rotations than fit beside what is saved.
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

/// A number of rows that is known not to be negative, or is none.
fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}

/// # Safety
/// R has all its columns.
unsafe fn is_singular<T: Real>(r: Upper<T>) -> bool {
    // SAFETY: k is less than the order.
    (0..r.order).any(|k| unsafe { r.get(k, k) } == T::ZERO)
}
