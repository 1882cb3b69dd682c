//! Checks of arguments. Each error names the argument and what is wrong with it.

use crate::error::Error;
use crate::float::Float;
use faer::{ColRef, MatRef, Par};
use rayon::prelude::*;

/// Checks that memory can be allocated for `count` items of this many scalars and this many bytes each, twice over: this is the
/// working memory of a call with an argument of that extent. The check comes before anything is read or allocated, because a
/// view with strides of 0 may claim any extent.
pub(crate) fn room<T: Float>(
    argument: &'static str,
    count: usize,
    (scalars, beside): (usize, usize),
) -> Result<(), Error> {
    /// This many bytes are assumed to be available on every system.
    const ALWAYS: usize = 1 << 26;
    let each = scalars.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(beside));
    let bytes = each.and_then(|bytes| bytes.checked_mul(count)?.checked_mul(2));
    let there_is = |bytes: usize| bytes <= ALWAYS || Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    match bytes {
        Some(bytes) if there_is(bytes) => Ok(()),
        _ => Err(Error::OutOfRange { argument, rule: "small enough for the memory that there is" }),
    }
}

/// Checks that there is memory for a copy of a matrix.
pub(crate) fn room_for_copy<T: Float>(
    argument: &'static str,
    (rows, columns): (usize, usize),
) -> Result<(), Error> {
    if rows == 0 { Ok(()) } else { room::<T>(argument, columns, (rows, 0)) }
}

/// Checks that `found` is `expected`.
pub(crate) fn extent(
    argument: &'static str,
    extent: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Shape { argument, extent, expected, found }) }
}

/// Checks that `found` is less than `limit`.
pub(crate) fn index(argument: &'static str, found: usize, limit: usize) -> Result<(), Error> {
    if found < limit { Ok(()) } else { Err(Error::Index { argument, entry: 0, found, limit }) }
}

/// Checks that every entry is finite. Returns the largest magnitude.
pub(crate) fn finite<T: Float>(argument: &'static str, a: MatRef<'_, T>) -> Result<T, Error> {
    columns(argument, a, |_| 0)
}

/// Checks that every entry of the lower triangle is finite. Returns the largest magnitude.
pub(crate) fn finite_lower<T: Float>(argument: &'static str, a: MatRef<'_, T>) -> Result<T, Error> {
    columns(argument, a, |j| j.min(a.nrows()))
}

fn columns<T: Float>(
    argument: &'static str,
    a: MatRef<'_, T>,
    first_row: impl Fn(usize) -> usize,
) -> Result<T, Error> {
    let mut largest = T::ZERO;
    // A matrix without rows may claim any number of columns.
    let columns = if a.nrows() == 0 { 0 } else { a.ncols() };
    for column in 0..columns {
        let first = first_row(column);
        match largest_entry(a.col(column).subrows(first, a.nrows() - first)) {
            Ok(entry) => largest = largest.max(entry),
            Err(row) => return Err(Error::NonFinite { argument, row: first + row, column }),
        }
    }
    Ok(largest)
}

/// Computes each column's largest magnitude, or its first row that is not finite, and passes it to `note` with the column's
/// entry of `to`. Large matrices are divided among the threads of `par`.
#[inline(always)]
pub(crate) fn largest_entries<T: Float, N: Send>(
    a: MatRef<'_, T>,
    par: Par,
    to: &mut [N],
    note: impl Fn(&mut N, Result<T, usize>) + Sync,
) {
    const WORTH_SHARING: usize = 1 << 17;
    debug_assert!(to.len() == a.ncols());
    if matches!(par, Par::Seq) || a.nrows() * a.ncols() < WORTH_SHARING {
        to.iter_mut().zip(a.col_iter()).for_each(|(to, column)| note(to, largest_entry(column)));
    } else {
        let together = a.ncols().div_ceil(par.degree().max(1));
        let to = to.par_iter_mut().enumerate().with_min_len(together);
        to.for_each(|(j, to)| note(to, largest_entry(a.col(j))));
    }
}

/// Returns the largest magnitude in `column`, or the first row that is not finite.
pub(crate) fn largest_entry<T: Float>(column: ColRef<'_, T>) -> Result<T, usize> {
    // x · 0 is 0 for every finite x and NaN for every other; the probe keeps the loops free of branches.
    fn scan<T: Float>(entries: impl Iterator<Item = T>, start: (T, T)) -> (T, T) {
        entries.fold(start, |(largest, probe), x| {
            let a = x.abs();
            (if a > largest { a } else { largest }, probe + x * T::ZERO)
        })
    }
    /// A shorter column is scanned in one chain: combining several would take longer.
    const FEW: usize = 16;
    let start = (T::ZERO, T::ZERO);
    let (largest, probe) = match column.try_as_col_major() {
        Some(contiguous) if contiguous.nrows() < FEW => scan(contiguous.as_slice().iter().copied(), start),
        Some(contiguous) => {
            // Eight independent chains, because in a single one each addition waits for the previous one.
            let (chunks, rest) = contiguous.as_slice().as_chunks::<8>();
            let mut lanes = [start; 8];
            for chunk in chunks {
                for (lane, &x) in lanes.iter_mut().zip(chunk) {
                    *lane = scan(core::iter::once(x), *lane);
                }
            }
            let (largest, probe) = scan(rest.iter().copied(), start);
            lanes.iter().fold((largest, probe), |(m, p), &(largest, probe)| (m.max(largest), p + probe))
        }
        None => scan(column.iter().copied(), start),
    };
    if probe == T::ZERO { Ok(largest) } else { Err(column.iter().position(|x| !x.is_finite()).unwrap_or(0)) }
}
