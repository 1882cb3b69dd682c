//! Converts arguments of C functions to those of the library.

use super::status::Refused;
use cholupdate::RealScalar;
use cholupdate::distributed::{Cyclic, Rows};
pub use cholupdate_ffi::arguments::{
    array, array_mut, borrow, borrow_mut, columns, count, matrix, matrix_mut, place, room, tell,
    weights_or_ones,
};

/// A matrix with a row for each row of L, by the rows of this process or whole. `size` is the name and the value of its number of
/// columns.
///
/// # Safety
/// As for [`matrix`].
pub unsafe fn rows<'a, T: RealScalar>(
    argument: &'static str,
    start: *const T,
    (cyclic, size): (&Cyclic, (&'static str, i64)),
    (stride, which): (i64, i32),
) -> Result<Rows<'a, T>, Refused> {
    let given = match which {
        0 => cyclic.rows(),
        1 => cyclic.order,
        other => {
            return Err(Refused::invalid("rows", other, "0 or 1 (those of this process, all)"));
        }
    };
    // A process without rows has a copy of none; the limit on the columns must be the same on all of them.
    let columns = columns::<T>(size.0, size.1, given.max(1))?;
    // SAFETY: the caller guarantees the entries.
    let view = unsafe { matrix(argument, start, (given, columns), stride)? };
    Ok(if which == 0 { Rows::Mine(view) } else { Rows::All(view) })
}
