//! Converts arguments of C functions to those of the library.

use crate::status::Refused;
use cholupdate::cuda::{Device, DeviceView, DeviceViewMut};
use cholupdate::faer::{Mat, MatMut, MatRef};
use cholupdate::{Error, Operand, OperandMut, RealScalar, Scalar};
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

/// A matrix of which the lower triangle is read: the caller's, its transpose, or a copy. (n × n)
pub enum Triangle<'a, T> {
    There(MatRef<'a, T>),
    Copied(Mat<T>),
}

impl<'a, T: Scalar> From<&'a Triangle<'_, T>> for Operand<'a, T> {
    fn from(triangle: &'a Triangle<'_, T>) -> Self {
        match triangle {
            Triangle::There(view) => view.as_ref().into(),
            Triangle::Copied(copy) => copy.into(),
        }
    }
}

/// The lower triangle of a matrix, or that of its conjugate transpose if the upper triangle is used. (n × n)
///
/// # Safety
/// As for [`matrix`]; the other triangle may be uninitialized.
pub unsafe fn triangle<'a, T: Scalar>(
    argument: &'static str,
    start: *const T,
    order: usize,
    stride: i64,
    upper: bool,
) -> Result<Triangle<'a, T>, Refused> {
    // SAFETY: the caller guarantees the entries.
    let view = unsafe { matrix(argument, start, (order, order), stride)? };
    if !upper {
        return Ok(Triangle::There(view));
    }
    if const { T::IS_REAL } {
        return Ok(Triangle::There(view.transpose()));
    }
    // An operand is a view without conjugation.
    let rule = "small enough for the memory that there is";
    room::<T>(argument, stride, order.checked_mul(order))
        .map_err(|_| Error::OutOfRange { argument, rule })?;
    let mut copy = Mat::zeros(order, order);
    copy.copy_from_triangular_lower(view.adjoint());
    Ok(Triangle::Copied(copy))
}

/// L, or for an upper triangle its transpose, of which the lower triangle is read. (n × n)
pub fn turned<T: RealScalar>(l: MatRef<'_, T>, upper: bool) -> MatRef<'_, T> {
    if upper { l.transpose() } else { l }
}

/// The same for writing.
pub fn turned_mut<T: RealScalar>(l: MatMut<'_, T>, upper: bool) -> MatMut<'_, T> {
    if upper { l.transpose_mut() } else { l }
}

/// Copies the lower triangle of L to that of the caller's array, or its conjugate transpose to the upper triangle. (n × n)
pub fn copy_triangle<T: Scalar>(l: MatRef<'_, T>, mut to: MatMut<'_, T>, upper: bool) {
    if upper {
        to.transpose_mut().copy_from_triangular_lower(l.conjugate());
    } else {
        to.copy_from_triangular_lower(l);
    }
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
