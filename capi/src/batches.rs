//! Arguments and results of functions on batches.

use crate::arguments::{array, count, entries};
use crate::status::{Refused, info_of};
use cholupdate::cuda::{Device, DeviceBatchView, DeviceBatchViewMut};
use cholupdate::{BatchMut, BatchRef, Error, Modification, RealScalar, Scalar};
use core::ffi::c_void;
use core::ptr;

/// Matrices for reading, with strides for matrices, rows and columns; packed and column-major for NULL. (count × rows × columns)
///
/// # Safety
/// `start` is NULL or leads to these entries, which nothing changes during the lifetime; `strides` is NULL or has three entries.
pub unsafe fn matrices<'a, T: Scalar>(
    argument: &'static str,
    start: *const T,
    shape: [usize; 3],
    strides: *const i64,
) -> Result<BatchRef<'a, T>, Refused> {
    // SAFETY: the caller guarantees the strides.
    let strides = unsafe { layout(argument, start, shape, strides)? };
    // SAFETY: the caller guarantees the entries; the pointer is aligned, not NULL unless there are none, and the size is within the
    // limit for an object.
    Ok(unsafe { BatchRef::from_raw_parts(start, shape, strides) })
}

/// The same for writing.
///
/// # Safety
/// As for [`matrices`], and no other code uses the entries during the lifetime.
pub unsafe fn matrices_mut<'a, T: Scalar>(
    argument: &'static str,
    start: *mut T,
    shape: [usize; 3],
    strides: *const i64,
) -> Result<BatchMut<'a, T>, Refused> {
    // SAFETY: the caller guarantees the strides.
    let strides = unsafe { layout(argument, start, shape, strides)? };
    // SAFETY: the caller guarantees the entries; the pointer is aligned, not NULL unless there are none, and the size is within the
    // limit for an object.
    unsafe { BatchMut::from_raw_parts(start, shape, strides) }.map_err(|_| shared(argument, strides))
}

/// Two entries are at the same place.
fn shared(argument: &'static str, strides: [usize; 3]) -> Refused {
    let found = format!("{strides:?}");
    Refused::invalid(&format!("{argument}_strides"), found, "such that no two entries share memory")
}

/// Matrices in the memory of a GPU for reading, with strides as in [`matrices`].
///
/// # Safety
/// As for [`DeviceBatchView::from_raw`] and [`DeviceBatchView::on_stream`], during the lifetime; `strides` is NULL or has three
/// entries.
pub unsafe fn device_matrices<'a, T: RealScalar>(
    argument: &'static str,
    address: u64,
    shape: [usize; 3],
    strides: *const i64,
    (device, stream): (i64, *mut c_void),
) -> Result<DeviceBatchView<'a, T>, Refused> {
    // SAFETY: the caller guarantees the strides.
    let (device, strides) = unsafe { device_layout::<T>(argument, address, shape, strides, device)? };
    // SAFETY: the caller guarantees the memory and the stream.
    Ok(unsafe { DeviceBatchView::from_raw(&device, address, shape, strides)?.on_stream(stream as u64) })
}

/// The same for writing.
///
/// # Safety
/// As for [`DeviceBatchViewMut::from_raw`] and [`DeviceBatchViewMut::on_stream`], during the lifetime; `strides` is NULL or has three
/// entries.
pub unsafe fn device_matrices_mut<'a, T: RealScalar>(
    argument: &'static str,
    address: u64,
    shape: [usize; 3],
    strides: *const i64,
    (device, stream): (i64, *mut c_void),
) -> Result<DeviceBatchViewMut<'a, T>, Refused> {
    // SAFETY: the caller guarantees the strides.
    let (device, strides) = unsafe { device_layout::<T>(argument, address, shape, strides, device)? };
    // SAFETY: the caller guarantees the memory.
    let view = unsafe { DeviceBatchViewMut::from_raw(&device, address, shape, strides) };
    let view = view.map_err(|_| shared(argument, strides))?;
    // SAFETY: the caller guarantees the stream.
    Ok(unsafe { view.on_stream(stream as u64) })
}

/// The device of matrices in the memory of a GPU, and strides, of which none are used if there are no entries.
unsafe fn device_layout<T>(
    argument: &'static str,
    address: u64,
    shape: [usize; 3],
    strides: *const i64,
    ordinal: i64,
) -> Result<(Device, [usize; 3]), Refused> {
    let ordinal = count("device", ordinal)?;
    // The rules for addresses are those for arrays in host memory. It is not read.
    let start = ptr::without_provenance::<T>(address as usize);
    // SAFETY: the caller guarantees the strides.
    let strides = unsafe { layout(argument, start, shape, strides)? };
    Ok((Device::kept(ordinal)?, if shape.contains(&0) { [0; 3] } else { strides }))
}

/// Strides in entries, whose extent is that of an array.
unsafe fn layout<T>(
    argument: &'static str,
    start: *const T,
    shape: [usize; 3],
    strides: *const i64,
) -> Result<[usize; 3], Refused> {
    let [_, rows, columns] = shape;
    let strides = if strides.is_null() {
        [rows.saturating_mul(columns), 1, rows]
    } else {
        // SAFETY: the caller guarantees three entries.
        let given = unsafe { strides.cast::<[i64; 3]>().read_unaligned() };
        let mut strides = [0; 3];
        for (axis, (stride, found)) in strides.iter_mut().zip(given).enumerate() {
            *stride = usize::try_from(found)
                .map_err(|_| Refused::invalid(&format!("{argument}_strides[{axis}]"), found, "0 or more"))?;
        }
        strides
    };
    let last = shape.into_iter().zip(strides).try_fold(0_usize, |last, (extent, stride)| {
        last.checked_add(extent.saturating_sub(1).checked_mul(stride)?)
    });
    let len = if shape.contains(&0) { Some(0) } else { last.and_then(|last| last.checked_add(1)) };
    entries(argument, start, len)?;
    Ok(strides)
}

/// Arrays of the caller's with an entry for each matrix. Each may be NULL. They are written if the call is not refused.
pub struct Results {
    count: usize,
    info: *mut i64,
    min_pivot_ratio: *mut f64,
    log_det_change: *mut f64,
}

impl Results {
    /// For a modification of `count` matrices.
    pub fn new(
        count: usize,
        info: *mut i64,
        (min_pivot_ratio, log_det_change): (*mut f64, *mut f64),
    ) -> Result<Self, Refused> {
        each_or_null("info", info, count)?;
        each_or_null("min_pivot_ratio", min_pivot_ratio, count)?;
        each_or_null("log_det_change", log_det_change, count)?;
        Ok(Self { count, info, min_pivot_ratio, log_det_change })
    }

    /// For a call that reports failures alone.
    pub fn of_info(count: usize, info: *mut i64) -> Result<Self, Refused> {
        Self::new(count, info, (ptr::null_mut(), ptr::null_mut()))
    }

    /// The number of matrices.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether the caller asks for reports.
    pub fn asks_for_reports(&self) -> bool {
        !self.min_pivot_ratio.is_null() || !self.log_det_change.is_null()
    }

    /// Writes the outcome of a modification: failures, which are in order, and reports of the other matrices.
    ///
    /// # Errors
    /// That of the first matrix that has failed.
    ///
    /// # Safety
    /// Arrays are NULL or have an entry for each matrix, which no other code uses.
    pub unsafe fn tell<'e>(
        &self,
        failures: impl Iterator<Item = (usize, &'e Error)>,
        report: impl Fn(usize) -> Option<Modification>,
    ) -> Result<(), Refused> {
        for matrix in 0..if self.asks_for_reports() { self.count } else { 0 } {
            let numbers = report(matrix)
                .map_or([f64::NAN; 2], |report| [report.min_pivot_ratio, report.log_det_change()]);
            for (array, number) in [self.min_pivot_ratio, self.log_det_change].into_iter().zip(numbers) {
                if !array.is_null() {
                    // SAFETY: the caller guarantees the array.
                    unsafe { array.add(matrix).write(number) };
                }
            }
        }
        // SAFETY: the caller guarantees the array.
        unsafe { self.tell_failures(failures) }
    }

    /// Writes failures, which are in order.
    ///
    /// # Errors
    /// That of the first one.
    ///
    /// # Safety
    /// `info` is NULL or has an entry for each matrix, which no other code uses.
    pub unsafe fn tell_failures<'e>(
        &self,
        failures: impl Iterator<Item = (usize, &'e Error)>,
    ) -> Result<(), Refused> {
        if !self.info.is_null() {
            for matrix in 0..self.count {
                // SAFETY: the caller guarantees the array.
                unsafe { self.info.add(matrix).write(0) };
            }
        }
        let mut first = None;
        for (matrix, error) in failures {
            if !self.info.is_null() {
                // SAFETY: as above, and it is one of the matrices.
                unsafe { self.info.add(matrix).write(info_of(error)) };
            }
            first = first.or_else(|| Some(Refused::of_matrix(matrix, error.clone())));
        }
        first.map_or(Ok(()), Err)
    }
}

/// Which of `count` matrices a call is for; NULL is for all.
///
/// # Safety
/// `mask` is NULL or has so many entries.
pub unsafe fn masked(mask: *const u8, count: usize) -> Result<Option<Vec<bool>>, Refused> {
    if mask.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller guarantees the entries.
    let mask = unsafe { array("mask", mask, count)? };
    Ok(Some(mask.iter().map(|&chosen| chosen != 0).collect()))
}

/// Checks the address of an array with an entry for each matrix, unless it is NULL.
pub fn each_or_null<T>(argument: &'static str, start: *const T, count: usize) -> Result<(), Refused> {
    if start.is_null() { Ok(()) } else { entries(argument, start, Some(count)) }
}

/// The number of a matrix of `count`.
pub fn number(matrix: i64, count: usize) -> Result<usize, Refused> {
    let found = usize::try_from(matrix).ok().filter(|&found| found < count);
    found.ok_or_else(|| Refused::invalid("matrix", matrix, format!("0 or more and less than {count}")))
}
