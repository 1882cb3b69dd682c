//! The contract of qrupdate (J. Hajek, 2009): one row and column at a time, indices from 1, and info codes.

use crate::columns::{Rotations, gather, reduce, shift_left, shift_right, spread};
use crate::number::Number;
use crate::rank_one::{downdate, half_solve, update};
use crate::real::Real;
use crate::rotation::Lapack;
use crate::upper::{Upper, size};

/// R (n × n) becomes that of A + u uᴴ. u receives the sines and w (n) the cosines.
///
/// # Safety
/// R has n columns of n entries at a distance of `ldr`; u and w have n entries.
pub unsafe fn ch1up<T: Number>(n: i64, r: *mut T, ldr: i64, u: *mut T, w: *mut T::Real) {
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        for k in 0..size(n) {
            *u.add(k) = (*u.add(k)).conj();
        }
        update::<T, Lapack>(Upper::new(r, size(ldr), size(n)), u, w, u);
    }
}

/// R (n × n) becomes that of A − u uᴴ. u receives the sines and w (n) the cosines.
///
/// Returns 1 if that is not positive definite: R is unchanged, and u is R⁻ᴴu. Returns 2 if R is singular: nothing is changed.
/// Returns −j if argument j is invalid.
///
/// # Safety
/// As for [`ch1up`].
pub unsafe fn ch1dn<T: Number>(n: i64, r: *mut T, ldr: i64, u: *mut T, w: *mut T::Real) -> i64 {
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
        let one = T::Real::ONE;
        let rest = (one - norm) * (one + norm);
        if rest <= T::Real::ZERO {
            return 1;
        }
        downdate(r, rest.sqrt(), w, u);
    }
    0
}

/// R becomes that of A with one more row and column (n + 1 × n + 1), which becomes number j and is x (n + 1). x is overwritten.
///
/// Returns 1 if that is not positive definite, 2 if R is singular, 3 if the diagonal entry of x is not real: R is then unchanged.
/// Returns −j if argument j is invalid. At most n entries of w are used, because Octave provides no more.
///
/// # Safety
/// R has n + 1 columns of n + 1 entries at a distance of `ldr`; x has n + 1 entries, and w has n.
pub unsafe fn chinx<T: Number>(n: i64, r: *mut T, ldr: i64, j: i64, x: *mut T, w: *mut T::Real) -> i64 {
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
        if diagonal.im() != T::Real::ZERO {
            return 3;
        }
        let before = Upper::new(r, size(ldr), n);
        if is_singular(before) {
            return 2;
        }
        let norm = half_solve(before, x);
        let rest = diagonal.re() - norm * norm;
        if rest <= T::Real::ZERO {
            return 1;
        }
        let after = Upper::new(r, size(ldr), n + 1);
        let q = Rotations { c: w, s: x.add(at) };
        let left = gather::<T, Lapack>(x.add(at), n - at, T::from_real(rest.sqrt()), q);
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
pub unsafe fn chdex<T: Number>(n: i64, r: *mut T, ldr: i64, j: i64, w: *mut T::Real) -> i64 {
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
        let s = r.at((at + 1).min(n - 1), at);
        reduce::<T, Lapack>(r, at, n - 1, Rotations { c: w, s });
        r.fill(at + 1..n, at, T::ZERO);
        for k in at + 1..n - 1 {
            r.set(k + 1, k, T::ZERO);
        }
    }
    0
}

/// R becomes that of A with row and column i moved to j; those between move by one. w (n) and rw (n) are overwritten.
///
/// Returns −j if argument j is invalid; if n is 1 or 0, the other arguments are not checked.
///
/// # Safety
/// As for [`ch1up`]; w and rw have n entries each.
pub unsafe fn chshx<T: Number>(
    n: i64,
    r: *mut T,
    ldr: i64,
    i: i64,
    j: i64,
    (w, rw): (*mut T, *mut T::Real),
) -> i64 {
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
    // SAFETY: the caller guarantees the arrays. The saved entries and the sines fit into w together.
    unsafe {
        let r = Upper::new(r, size(ldr), n);
        if from < to {
            shift_right::<T, Lapack>(r, (from, to), w.add(to - from), Rotations { c: rw, s: w });
            for k in from..to {
                r.set(k + 1, k, T::ZERO);
            }
        } else if to < from {
            shift_left::<T, Lapack>(r, (from, to), w, Rotations { c: rw, s: w.add(to) });
            r.fill(to + 1..n, to, T::ZERO);
        }
    }
    0
}

/// # Safety
/// R has all its columns.
unsafe fn is_singular<T: Number>(r: Upper<T>) -> bool {
    // SAFETY: k is less than the order.
    (0..r.order).any(|k| unsafe { r.get(k, k) } == T::ZERO)
}
