//! Converts arguments of C functions to those of the library.

use crate::status::Refused;
use cholupdate::faer::{MatMut, MatRef};
use cholupdate::{RealScalar, Scalar, Weights};
use core::slice;

/// A number of rows, columns or entries.
#[inline]
pub fn count(argument: &'static str, found: i64) -> Result<usize, Refused> {
    usize::try_from(found).map_err(|_| Refused::invalid(argument, found, "0 or more"))
}

/// A number of columns with this many entries each, for which there is memory to copy them.
pub fn columns<T>(argument: &'static str, found: i64, entries: usize) -> Result<usize, Refused> {
    let columns = count(argument, found)?;
    room::<T>(argument, found, columns.checked_mul(entries))?;
    Ok(columns)
}

/// Checks that there is memory for this many entries, for `argument`.
pub fn room<T>(argument: &'static str, found: i64, entries: Option<usize>) -> Result<(), Refused> {
    if entries.is_some_and(|entries| Vec::<T>::new().try_reserve_exact(entries).is_ok()) {
        return Ok(());
    }
    Err(Refused::invalid(argument, found, "small enough for the memory that there is"))
}

/// A reference to the value of a pointer.
///
/// # Safety
/// It is NULL, or points to a value that nothing changes during the lifetime.
pub unsafe fn borrow<'a, T>(argument: &'static str, pointer: *const T) -> Result<&'a T, Refused> {
    // SAFETY: the caller guarantees the pointer.
    unsafe { pointer.as_ref() }.ok_or_else(|| Refused::null(argument))
}

/// A mutable reference to the value of a pointer.
///
/// # Safety
/// It is NULL, or points to a value that nothing else uses during the lifetime.
pub unsafe fn borrow_mut<'a, T>(argument: &'static str, pointer: *mut T) -> Result<&'a mut T, Refused> {
    // SAFETY: the caller guarantees the pointer.
    unsafe { pointer.as_mut() }.ok_or_else(|| Refused::null(argument))
}

/// The destination of a result. It is written only if there is a result, and may be uninitialized.
pub fn place<T>(argument: &'static str, pointer: *mut T) -> Result<*mut T, Refused> {
    if pointer.is_null() { Err(Refused::null(argument)) } else { Ok(pointer) }
}

/// An array for reading.
///
/// # Safety
/// It is NULL, or has this many entries, which nothing changes during the lifetime.
pub unsafe fn array<'a, T>(argument: &'static str, start: *const T, len: usize) -> Result<&'a [T], Refused> {
    entries(argument, start, Some(len))?;
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller guarantees the entries; the pointer is aligned, not NULL, and the size is within the limit for an
    // object.
    Ok(unsafe { slice::from_raw_parts(start, len) })
}

/// An array for writing.
///
/// # Safety
/// As for [`array`], and no other code reads or writes the entries during the lifetime.
pub unsafe fn array_mut<'a, T>(
    argument: &'static str,
    start: *mut T,
    len: usize,
) -> Result<&'a mut [T], Refused> {
    entries(argument, start, Some(len))?;
    if len == 0 {
        return Ok(&mut []);
    }
    // SAFETY: the caller guarantees the entries; the pointer is aligned, not NULL, and the size is within the limit for an
    // object.
    Ok(unsafe { slice::from_raw_parts_mut(start, len) })
}

/// Weights of the columns of V. NULL stands for those of an update, which are all 1.
///
/// # Safety
/// As for [`array`].
pub unsafe fn weights_or_ones<'a, T: RealScalar>(
    start: *const T,
    rank: usize,
) -> Result<Weights<'a, T>, Refused> {
    if start.is_null() {
        return Ok(Weights::Plus);
    }
    // SAFETY: the caller guarantees the entries.
    Ok(Weights::Each(unsafe { array("weights", start, rank)? }))
}

/// A column-major matrix for reading. (rows × cols)
///
/// # Safety
/// It is NULL, or has this many rows and columns with this stride, which nothing changes during the lifetime.
pub unsafe fn matrix<'a, T: Scalar>(
    argument: &'static str,
    start: *const T,
    (rows, cols): (usize, usize),
    stride: i64,
) -> Result<MatRef<'a, T>, Refused> {
    let stride = leading(argument, start, (rows, cols), stride)?;
    let start = if rows == 0 || cols == 0 { core::ptr::dangling() } else { start };
    // SAFETY: the caller guarantees the entries; the pointer is aligned, not NULL, and the size is within the limit for an
    // object.
    Ok(unsafe { MatRef::from_raw_parts(start, rows, cols, 1, stride) })
}

/// A column-major matrix for writing. (rows × cols)
///
/// # Safety
/// As for [`matrix`], and no other code uses the entries during the lifetime.
pub unsafe fn matrix_mut<'a, T: Scalar>(
    argument: &'static str,
    start: *mut T,
    (rows, cols): (usize, usize),
    stride: i64,
) -> Result<MatMut<'a, T>, Refused> {
    let stride = leading(argument, start, (rows, cols), stride)?;
    let start = if rows == 0 || cols == 0 { core::ptr::dangling_mut() } else { start };
    // SAFETY: the caller guarantees the entries; the pointer is aligned, not NULL, and the size is within the limit for an
    // object.
    Ok(unsafe { MatMut::from_raw_parts_mut(start, rows, cols, 1, stride) })
}

/// Writes the report of a modification.
///
/// # Safety
/// `report` is NULL, or points to a report of the caller's.
pub unsafe fn tell<M, R: From<M>>(report: *mut R, modification: M) {
    if !report.is_null() {
        // SAFETY: the caller guarantees the pointer.
        unsafe { report.write(modification.into()) };
    }
}

/// The distance between columns, which is at least the number of rows.
pub fn distance(argument: &'static str, rows: usize, stride: i64) -> Result<usize, Refused> {
    match usize::try_from(stride) {
        Ok(distance) if distance >= rows => Ok(distance),
        _ => Err(Refused::invalid(&format!("ld{argument}"), stride, format!("{rows} or more"))),
    }
}

/// The same for a matrix in host memory, whose extent and pointer are checked.
fn leading<T>(
    argument: &'static str,
    start: *const T,
    (rows, cols): (usize, usize),
    stride: i64,
) -> Result<isize, Refused> {
    let stride = distance(argument, rows, stride)?;
    let len = match cols.checked_sub(1) {
        Some(before) if rows > 0 => before.checked_mul(stride).and_then(|len| len.checked_add(rows)),
        _ => Some(0),
    };
    entries(argument, start, len)?;
    // Less than 2⁶³, because the argument was.
    Ok(stride as isize)
}

/// Checks the size and the pointer of an array.
pub fn entries<T>(argument: &'static str, start: *const T, len: Option<usize>) -> Result<(), Refused> {
    let bytes = len.and_then(|len| len.checked_mul(size_of::<T>()));
    let Some(bytes) = bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) else {
        return Err(Refused::invalid(argument, "larger than memory can be", "what an array can hold"));
    };
    if bytes > 0 && start.is_null() {
        return Err(Refused::null(argument));
    }
    if bytes > 0 && !start.is_aligned() {
        return Err(Refused::invalid(argument, format!("{start:p}"), "the address of a number"));
    }
    Ok(())
}
