//! Copies parts of the lower triangle of the old L to where the sweep works, and checks that they are finite.
//!
//! x · 0 is 0 for every finite x and NaN for every other x. Sums of these products keep the loops free of branches.

use crate::compiled;
use crate::isa::Isa;
use crate::number::Float;
use core::ops::Range;
use faer::MatRef;
use pulp::{Simd, WithSimd};

/// Rows that are copied at a time.
const TOGETHER: usize = 8;

/// Copies the entries in these rows and columns to a column-major matrix. With `negative`, columns with a negative diagonal
/// entry are negated. Returns whether the entries are finite. (n × n, the lower triangles)
///
/// # Safety
/// The entries of the other matrix, whose first entry and column stride are given, must be writable, and no other thread may
/// use them.
#[inline]
pub unsafe fn copy<T: CopyKernel>(
    isa: Isa,
    l: MatRef<'_, T>,
    negative: bool,
    (columns, rows): (Range<usize>, Range<usize>),
    to: (*mut T, isize),
) -> bool {
    assert!(columns.end <= l.ncols() && rows.end <= l.nrows(), "L has these rows and columns");
    match negative {
        true => T::copy_negated(isa, Copy { l, columns, rows, to }),
        false => T::copy(isa, Copy { l, columns, rows, to }),
    }
}

compiled! {
    /// [`copy`].
    CopyKernel {
        copy: Copy<'_, Self, false> => bool,
        copy_negated: Copy<'_, Self, true> => bool,
    }
}

pub struct Copy<'a, T, const NEGATIVE: bool> {
    l: MatRef<'a, T>,
    columns: Range<usize>,
    rows: Range<usize>,
    to: (*mut T, isize),
}

impl<T: Float, const NEGATIVE: bool> WithSimd for Copy<'_, T, NEGATIVE> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let Self { l, columns, rows, to: (to, stride) } = self;
        let mut chains = [T::ZERO; TOGETHER];
        // Down to the last column's diagonal entry, columns begin in different rows.
        let square = rows.start..rows.end.min(columns.end).max(rows.start);
        for column in columns.clone() {
            let sign = sign_of::<T, NEGATIVE>(l, column);
            for row in square.start.max(column)..square.end {
                // SAFETY: `copy` has checked that L has these entries; the caller guarantees the other matrix.
                unsafe {
                    let x = *l.get_unchecked(row, column);
                    chains[0] += x * T::ZERO;
                    *to.wrapping_offset(column as isize * stride).add(row) = x * sign;
                }
            }
        }
        let mut row = square.end;
        while row + TOGETHER <= rows.end {
            for column in columns.clone() {
                let sign = sign_of::<T, NEGATIVE>(l, column);
                let mut some = [T::ZERO; TOGETHER];
                // SAFETY: as above.
                unsafe {
                    for (i, x) in some.iter_mut().enumerate() {
                        *x = *l.get_unchecked(row + i, column);
                    }
                    for (x, chain) in some.iter_mut().zip(&mut chains) {
                        *chain += *x * T::ZERO;
                        *x *= sign;
                    }
                    to.wrapping_offset(column as isize * stride).add(row).cast::<[T; TOGETHER]>().write(some);
                }
            }
            row += TOGETHER;
        }
        for column in columns {
            let sign = sign_of::<T, NEGATIVE>(l, column);
            for row in row..rows.end {
                // SAFETY: as above.
                unsafe {
                    let x = *l.get_unchecked(row, column);
                    chains[0] += x * T::ZERO;
                    *to.wrapping_offset(column as isize * stride).add(row) = x * sign;
                }
            }
        }
        chains.iter().all(|&chain| chain == T::ZERO)
    }
}

/// The factor ±1 that makes the diagonal entry of this column positive.
#[inline(always)]
fn sign_of<T: Float, const NEGATIVE: bool>(l: MatRef<'_, T>, column: usize) -> T {
    if NEGATIVE && l[(column, column)] < T::ZERO { -T::ONE } else { T::ONE }
}
