//! Checks of arguments. Each error names the argument and what is wrong with it.

use crate::error::Error;
use cholupdate_kernels::number::{Float, Number};
use faer::{ColRef, MatRef, Par};
use rayon::prelude::*;

/// Checks that memory can be allocated for `count` items of this many scalars and this many bytes each, twice over: this is the
/// working memory of a call with an argument of that extent. The check comes before anything is read or allocated, because a
/// view with strides of 0 may claim any extent.
pub(crate) fn room<T>(
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
pub(crate) fn room_for_copy<T>(argument: &'static str, (rows, columns): (usize, usize)) -> Result<(), Error> {
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

/// Checks that every entry is finite. Returns a bound on the magnitudes, as [`largest_entry`] does.
pub(crate) fn finite<T: Number>(argument: &'static str, a: MatRef<'_, T>) -> Result<T::Part, Error> {
    columns(argument, a, |_| 0)
}

/// Checks that every entry of the lower triangle is finite. Returns a bound on the magnitudes, as [`largest_entry`] does.
pub(crate) fn finite_lower<T: Number>(argument: &'static str, a: MatRef<'_, T>) -> Result<T::Part, Error> {
    columns(argument, a, |j| j.min(a.nrows()))
}

/// Checks that the lower triangle of a matrix that is equal to its conjugate transpose is finite. The imaginary part of its
/// diagonal is not read.
pub(crate) fn finite_hermitian<T: Number>(argument: &'static str, a: MatRef<'_, T>) -> Result<(), Error> {
    if T::PARTS == 1 {
        return finite_lower(argument, a).map(|_| ());
    }
    for column in 0..a.ncols().min(a.nrows()) {
        if !a[(column, column)].real().is_finite() {
            return Err(Error::NonFinite { argument, row: column, column });
        }
        let first = column + 1;
        largest_entry(a.col(column).subrows(first, a.nrows() - first)).map_err(|row| Error::NonFinite {
            argument,
            row: first + row,
            column,
        })?;
    }
    Ok(())
}

fn columns<T: Number>(
    argument: &'static str,
    a: MatRef<'_, T>,
    first_row: impl Fn(usize) -> usize,
) -> Result<T::Part, Error> {
    let mut largest = T::Part::ZERO;
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

/// Computes each column's [`largest_entry`], or its first row that is not finite, and passes it to `note` with the column's entry
/// of `to`. Large matrices are divided among the threads of `par`.
#[inline(always)]
pub(crate) fn largest_entries<T: Number, N: Send>(
    a: MatRef<'_, T>,
    par: Par,
    to: &mut [N],
    note: impl Fn(&mut N, Result<T::Part, usize>) + Sync,
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

/// Returns the largest magnitude in `column`, or the first row that is not finite. For complex numbers the result is a bound on
/// the magnitudes, less than 1.5 times the largest one, and zero only if all are.
pub(crate) fn largest_entry<T: Number>(column: ColRef<'_, T>) -> Result<T::Part, usize> {
    // x · 0 is 0 for every finite x and NaN for every other; the probe keeps the loops free of branches.
    #[inline(always)]
    fn scan<R: Float>(parts: &[R], start: (R, R)) -> (R, R) {
        parts.iter().fold(start, |(largest, probe), &x| {
            let a = x.abs();
            (if a > largest { a } else { largest }, probe + x * R::ZERO)
        })
    }
    /// A shorter column is scanned in one chain: combining several would take longer.
    const FEW: usize = 16;
    let start = (T::Part::ZERO, T::Part::ZERO);
    let (largest, probe) = match column.try_as_col_major().map(|column| T::parts(column.as_slice())) {
        Some(parts) if parts.len() < FEW => scan(parts, start),
        Some(parts) => {
            // Eight independent chains, because in a single one each addition waits for the previous one.
            let (chunks, rest) = parts.as_chunks::<8>();
            let mut lanes = [start; 8];
            for chunk in chunks {
                for (lane, x) in lanes.iter_mut().zip(chunk) {
                    *lane = scan(core::slice::from_ref(x), *lane);
                }
            }
            let (largest, probe) = scan(rest, start);
            lanes.iter().fold((largest, probe), |(m, p), &(largest, probe)| (m.max(largest), p + probe))
        }
        None => column.iter().fold(start, |so_far, x| scan(T::parts(core::slice::from_ref(x)), so_far)),
    };
    if !(probe == T::Part::ZERO) {
        return Err(column.iter().position(|x| !x.is_finite()).unwrap_or(0));
    }
    // A magnitude is at most √2 times the larger part.
    Ok(if T::PARTS == 1 { largest } else { largest * T::Part::from_f64(1.5) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::{Mat, c64};

    #[test]
    fn complex_entries_are_bounded_and_those_that_are_not_finite_are_found() {
        for rows in [1, 7, 8, 40] {
            let mut a = Mat::from_fn(rows, 2, |i, j| c64::new(i as f64 / 9.0, -((i + j) as f64)));
            let most = a.col(1).iter().map(|x| x.abs()).fold(0.0, f64::max);
            for column in [a.col(1), a.row(rows - 1).transpose()] {
                let most = if column.nrows() == rows { most } else { a[(rows - 1, 1)].abs() };
                let found = largest_entry(column).unwrap();
                assert!(most <= found && found < 1.5 * most * (1.0 + 1e-15), "{rows} rows");
            }
            a[(rows / 2, 1)].im = f64::NAN;
            assert_eq!(largest_entry(a.col(1)), Err(rows / 2));
        }
        assert_eq!(largest_entry(Mat::<c64>::zeros(20, 1).col(0)), Ok(0.0));
    }

    #[test]
    fn imaginary_parts_of_the_diagonal_of_a_are_not_read() {
        let mut a = Mat::from_fn(3, 3, |i, j| match i.cmp(&j) {
            core::cmp::Ordering::Less => c64::new(f64::NAN, f64::NAN),
            core::cmp::Ordering::Equal => c64::new(2.0, f64::NAN),
            core::cmp::Ordering::Greater => c64::new(0.5, -0.5),
        });
        assert_eq!(finite_hermitian("a", a.as_ref()), Ok(()));
        assert!(finite_lower("a", a.as_ref()).is_err());
        a[(2, 1)].im = f64::INFINITY;
        let refused = Err(Error::NonFinite { argument: "a", row: 2, column: 1 });
        assert_eq!(finite_hermitian("a", a.as_ref()), refused);
        a[(1, 1)].re = f64::NAN;
        let refused = Err(Error::NonFinite { argument: "a", row: 1, column: 1 });
        assert_eq!(finite_hermitian("a", a.as_ref()), refused);
    }
}
