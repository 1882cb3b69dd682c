//! Converts arguments of C functions to those of the library.

use crate::status::Refused;
use cholupdate::cuda::{Device, DeviceView, DeviceViewMut};
use cholupdate::{Operand, OperandMut, RealScalar};
use cholupdate_ffi::arguments::distance;
pub use cholupdate_ffi::arguments::{
    array, array_mut, borrow, borrow_mut, columns, count, entries, matrix, matrix_mut, place, room, tell,
    weights_or_ones,
};
use core::ffi::c_void;

/// Row indices, each less than 2⁶³.
///
/// # Safety
/// As for [`array`].
pub unsafe fn rows(argument: &'static str, start: *const i64, len: usize) -> Result<Vec<usize>, Refused> {
    // SAFETY: the caller guarantees the entries.
    let numbers = unsafe { array(argument, start, len)? };
    let row = |(at, &number): (usize, &i64)| {
        usize::try_from(number)
            .map_err(|_| Refused::invalid(&format!("{argument}[{at}]"), number, "0 or more"))
    };
    numbers.iter().enumerate().map(row).collect()
}

/// The lower triangle of a matrix, or that of its transpose if the upper triangle is used. (n × n)
///
/// # Safety
/// As for [`matrix`]; the other triangle may be uninitialized.
pub unsafe fn triangle<'a, T: RealScalar>(
    argument: &'static str,
    start: *const T,
    order: usize,
    stride: i64,
    upper: bool,
) -> Result<Operand<'a, T>, Refused> {
    // SAFETY: the caller guarantees the entries.
    let view = unsafe { matrix(argument, start, (order, order), stride)? };
    Ok(if upper { view.transpose() } else { view }.into())
}

/// A matrix in the memory of a GPU for reading. (rows × cols)
///
/// # Safety
/// As for [`DeviceView::from_raw`] and [`DeviceView::on_stream`], during the lifetime.
pub unsafe fn device_matrix<'a, T: RealScalar>(
    argument: &'static str,
    address: u64,
    shape: (usize, usize),
    stride: i64,
    (ordinal, stream): (i64, *mut c_void),
) -> Result<Operand<'a, T>, Refused> {
    let (stride, ordinal) = (distance(argument, shape.0, stride)?, count("device", ordinal)?);
    device_address::<T>(argument, address, shape)?;
    let device = Device::kept(ordinal)?;
    // SAFETY: the caller guarantees the memory and the stream.
    let view = unsafe { DeviceView::from_raw(&device, address, shape, stride)?.on_stream(stream as u64) };
    Ok(view.into())
}

/// The same for writing.
///
/// # Safety
/// As for [`DeviceViewMut::from_raw`] and [`DeviceViewMut::on_stream`], during the lifetime.
pub unsafe fn device_matrix_mut<'a, T: RealScalar>(
    argument: &'static str,
    address: u64,
    shape: (usize, usize),
    stride: i64,
    (ordinal, stream): (i64, *mut c_void),
) -> Result<OperandMut<'a, T>, Refused> {
    let (stride, ordinal) = (distance(argument, shape.0, stride)?, count("device", ordinal)?);
    device_address::<T>(argument, address, shape)?;
    let device = Device::kept(ordinal)?;
    // SAFETY: the caller guarantees the memory and the stream.
    let view = unsafe { DeviceViewMut::from_raw(&device, address, shape, stride)?.on_stream(stream as u64) };
    Ok(view.into())
}

/// Checks an address in the memory of a GPU for such a matrix.
fn device_address<T>(
    argument: &'static str,
    address: u64,
    (rows, cols): (usize, usize),
) -> Result<(), Refused> {
    match address {
        _ if rows == 0 || cols == 0 => Ok(()),
        0 => Err(Refused::null(argument)),
        _ if !address.is_multiple_of(align_of::<T>() as u64) => {
            Err(Refused::invalid(argument, address, "aligned for its numbers"))
        }
        _ => Ok(()),
    }
}

/// Whether the upper triangle is used.
pub fn is_upper(argument: &'static str, uplo: core::ffi::c_char) -> Result<bool, Refused> {
    match uplo as u8 {
        b'L' | b'l' => Ok(false),
        b'U' | b'u' => Ok(true),
        other => Err(Refused::invalid(argument, format!("'{}'", other.escape_ascii()), "'L' or 'U'")),
    }
}
