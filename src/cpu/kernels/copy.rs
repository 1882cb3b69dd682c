//! Parts of the lower triangle of old L copied to where they are worked on, and whether they are finite.
//!
//! x · 0 is 0 for every finite x and NaN for every other; sums of it keep the loops free of branches.

use crate::host::isa::Isa;
use crate::scalar::Scalar;
use core::ops::Range;
use faer::MatRef;
use pulp::{Simd, WithSimd};

/// Rows that are copied together.
const TOGETHER: usize = 8;

/// Copies the entries in these rows and columns to a column-major matrix, columns with a negative diagonal entry negated, if there may be
/// any; whether they are finite. (n × n, the lower triangles)
///
/// # Safety
/// The entries of the other matrix, whose first is at the pointer and whose columns are so far apart, must be writable, and used by this
/// call alone.
#[inline]
pub unsafe fn copy<T: Scalar>(
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

pub(crate) struct Copy<'a, T, const NEGATIVE: bool> {
    l: MatRef<'a, T>,
    columns: Range<usize>,
    rows: Range<usize>,
    to: (*mut T, isize),
}

impl<T: Scalar, const NEGATIVE: bool> WithSimd for Copy<'_, T, NEGATIVE> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let Self { l, columns, rows, to: (to, stride) } = self;
        let mut chains = [T::ZERO; TOGETHER];
        // Above the last column's diagonal entry columns begin in different rows.
        let square = rows.start..rows.end.min(columns.end).max(rows.start);
        for column in columns.clone() {
            let sign = sign_of::<T, NEGATIVE>(l, column);
            for row in square.start.max(column)..square.end {
                // SAFETY: `copy` has seen to it that L has them; the other matrix is the caller's promise.
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

/// What makes the diagonal entry of this column positive.
#[inline(always)]
fn sign_of<T: Scalar, const NEGATIVE: bool>(l: MatRef<'_, T>, column: usize) -> T {
    if NEGATIVE && l[(column, column)] < T::ZERO { -T::ONE } else { T::ONE }
}
