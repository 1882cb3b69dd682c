//! Insertion, removal and reordering of columns of R. Rotations of neighbouring rows make R triangular again.

use crate::chain::{BLOCK, Columns, DOWN, NEIGHBOURS, UP, apply, step};
use crate::number::Number;
use crate::rotation::Signs;
use crate::upper::Upper;
use core::ops::Range;

/// Cosines and sines of rotations, from the first on.
#[derive(Clone, Copy)]
pub struct Rotations<T: Number> {
    pub c: *mut T::Real,
    pub s: *mut T,
}

/// Overwrites columns `first..limit` by the next column each. Rotations of rows k and k + 1 for k in `first..limit` eliminate
/// the entries that are then below the diagonal.
///
/// # Safety
/// `limit` is less than the order. R has all its columns, and there is memory for this number of rotations; no other code uses
/// them. Sines may be stored below the diagonal of column `first`.
pub unsafe fn reduce<T: Number, S: Signs>(r: Upper<T>, first: usize, limit: usize, q: Rotations<T>) {
    let Rotations { c, s } = q;
    let mut t = [T::ZERO; BLOCK];
    for start in (first..limit).step_by(BLOCK) {
        let end = limit.min(start + BLOCK);
        let t = &mut t[..end - start];
        // SAFETY: columns up to `end` and rows up to `end` are less than the order; rotations before `start` have been written.
        unsafe {
            for column in start..end {
                r.copy_rows(first, column + 1, column);
                t[column - start] = r.get(first, column + 1);
            }
            let (from, to) = (r.at(first + 1, start + 1), r.at(first, start));
            let columns = Columns { from: from.cast_const(), to, stride: r.stride(), c, s };
            apply::<T, DOWN, NEIGHBOURS>(columns, 0..start - first, t);
            for k in start..end {
                let rotation = S::rotation(t[k - start], r.get(k + 1, k + 1));
                r.set(k, k, rotation.r);
                (*c.add(k - first), *s.add(k - first)) = (rotation.c, rotation.s);
                for column in k + 1..end {
                    let t = &mut t[column - start];
                    let x = r.get(k + 1, column + 1);
                    let (new, next) = step::<T, DOWN, NEIGHBOURS>(rotation.c, rotation.s, x, *t);
                    *t = next;
                    r.set(k, column, new);
                }
            }
        }
    }
}

/// Applies the rotations of [`reduce`] to columns that do not move. (rows `first` to `limit`)
///
/// # Safety
/// As for [`reduce`]; `columns` are less than the order.
pub unsafe fn rotate_down<T: Number>(
    r: Upper<T>,
    columns: Range<usize>,
    (first, limit): (usize, usize),
    q: Rotations<T>,
) {
    let mut t = [T::ZERO; BLOCK];
    for start in columns.clone().step_by(BLOCK) {
        let end = columns.end.min(start + BLOCK);
        let t = &mut t[..end - start];
        // SAFETY: the caller guarantees the columns and rotations.
        unsafe {
            for (at, t) in t.iter_mut().enumerate() {
                *t = r.get(first, start + at);
            }
            let from = r.at(first, start).cast_const().add(1);
            let columns = Columns { from, to: r.at(first, start), stride: r.stride(), c: q.c, s: q.s };
            apply::<T, DOWN, NEIGHBOURS>(columns, 0..limit - first, t);
            for (at, t) in t.iter().enumerate() {
                r.set(limit, start + at, *t);
            }
        }
    }
}

/// Computes rotations of neighbouring entries of v with `bottom` below them, the last two first, that eliminate all but the
/// first. Returns its value. Sines may overwrite v.
///
/// # Safety
/// v has `len` entries, and there is memory for as many rotations; no other code uses them.
pub unsafe fn gather<T: Number, S: Signs>(v: *const T, len: usize, bottom: T, q: Rotations<T>) -> T {
    (0..len).rev().fold(bottom, |below, k| {
        // SAFETY: k is less than `len`.
        unsafe {
            let rotation = S::rotation(*v.add(k), below);
            (*q.c.add(k), *q.s.add(k)) = (rotation.c, rotation.s);
            rotation.r
        }
    })
}

/// Moves columns `first..last` one to the right, and applies the rotations of rows k and k + 1 for k in `first..last`, the last
/// one first, which [`gather`] computed. Column `first` is then unused.
///
/// # Safety
/// `last` is less than the order. R has all its columns, and there are this many rotations; no other code uses them.
pub unsafe fn spread<T: Number>(r: Upper<T>, first: usize, last: usize, Rotations { c, s }: Rotations<T>) {
    let mut end = last;
    while end > first {
        let start = end.saturating_sub(BLOCK).max(first);
        let mut t = [T::ZERO; BLOCK];
        let t = &mut t[..end - start];
        // SAFETY: columns and rows up to `end` are less than the order.
        unsafe {
            for k in (start..end).rev() {
                for column in (k..end).rev() {
                    let t = &mut t[column - start];
                    let (c, s) = (*c.add(k - first), *s.add(k - first));
                    let (new, next) = step::<T, UP, NEIGHBOURS>(c, s, r.get(k, column), *t);
                    *t = next;
                    r.set(k + 1, column + 1, new);
                }
            }
            let (from, to) = (r.at(first, start).cast_const(), r.at(first + 1, start + 1));
            apply::<T, UP, NEIGHBOURS>(Columns { from, to, stride: r.stride(), c, s }, 0..start - first, t);
            for column in (start..end).rev() {
                r.set(first, column + 1, t[column - start]);
                r.copy_rows(first, column, column + 1);
            }
        }
        end = start;
    }
}

/// Applies the rotations of [`spread`] to columns that do not move. (rows `first` to `last`)
///
/// # Safety
/// As for [`spread`]; `columns` are less than the order.
pub unsafe fn rotate_up<T: Number>(
    r: Upper<T>,
    columns: Range<usize>,
    (first, last): (usize, usize),
    Rotations { c, s }: Rotations<T>,
) {
    let mut t = [T::ZERO; BLOCK];
    for start in columns.clone().step_by(BLOCK) {
        let end = columns.end.min(start + BLOCK);
        let t = &mut t[..end - start];
        // SAFETY: the caller guarantees the columns and rotations.
        unsafe {
            for (at, t) in t.iter_mut().enumerate() {
                *t = r.get(last, start + at);
            }
            let (from, to) = (r.at(first, start).cast_const(), r.at(first, start).add(1));
            apply::<T, UP, NEIGHBOURS>(Columns { from, to, stride: r.stride(), c, s }, 0..last - first, t);
            for (at, t) in t.iter().enumerate() {
                r.set(first, start + at, *t);
            }
        }
    }
}

/// Moves column `from` right to column `to`. `saved` has space for `from` + 1 entries.
///
/// # Safety
/// `from` < `to`, which is less than the order. R has all its columns, and there is memory for `to` − `from` rotations; no
/// other code uses them.
pub unsafe fn shift_right<T: Number, S: Signs>(
    r: Upper<T>,
    (from, to): (usize, usize),
    saved: *mut T,
    q: Rotations<T>,
) {
    // SAFETY: rows and columns are less than the order.
    unsafe {
        core::ptr::copy_nonoverlapping(r.at(0, from), saved, from + 1);
        reduce::<T, S>(r, from, to, q);
        core::ptr::copy_nonoverlapping(saved, r.at(0, to), from + 1);
        r.fill(from + 1..to + 1, to, T::ZERO);
        rotate_down(r, to..r.order, (from, to), q);
    }
}

/// Moves column `from` left to column `to`. `saved` has space for `from` + 1 entries; sines may be stored in it from entry `to`
/// on.
///
/// # Safety
/// `to` < `from`, which is less than the order. R has all its columns, and there is memory for `from` − `to` rotations; no
/// other code uses them.
pub unsafe fn shift_left<T: Number, S: Signs>(
    r: Upper<T>,
    (from, to): (usize, usize),
    saved: *mut T,
    q: Rotations<T>,
) {
    // SAFETY: rows and columns are less than the order.
    unsafe {
        core::ptr::copy_nonoverlapping(r.at(0, from), saved, from + 1);
        let left = gather::<T, S>(saved.add(to), from - to, *saved.add(from), q);
        rotate_up(r, from + 1..r.order, (to, from), q);
        spread(r, to, from, q);
        core::ptr::copy_nonoverlapping(saved, r.at(0, to), to);
        r.set(to, to, left);
    }
}
