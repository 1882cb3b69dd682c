//! Copies by a kernel between device memory and page-locked host memory, for which a copy engine takes longer to start, and behind whose
//! other copies they would wait.

use super::device::Device;
use super::launch::{Function, Launch, argument};
use super::memory::DeviceSlice;
use super::ptx::{COPY_F32, COPY_F64};
use super::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use core::ffi::c_longlong;
use core::marker::PhantomData;

/// `hybrid/copy.cu` for one scalar type.
pub(super) struct CopyKernel<T> {
    copy: Function,
    scalar: PhantomData<T>,
}

impl<T: Real> CopyKernel<T> {
    /// # Errors
    /// [`Error::Device`] if the driver refuses the kernel.
    pub fn load(device: &Device) -> Result<Self, Error> {
        let ptx = if T::TYPE_NAME == "f64" { &COPY_F64 } else { &COPY_F32 };
        let copy = Function::load(&device.module(ptx)?, &format!("copy_{}", T::TYPE_NAME))?;
        Ok(Self { copy, scalar: PhantomData })
    }

    /// Enqueues a copy of columns (rows × cols) with these column strides. Each memory is of the device, or of the host and
    /// [mapped](super::memory::Pinned::mapped).
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses the launch or an earlier one has failed.
    ///
    /// # Safety
    /// As [`Stream::upload`], for these columns.
    pub unsafe fn copy(
        &self,
        stream: &Stream,
        (from, from_stride): (DeviceSlice<'_, T>, usize),
        (rows, cols): (usize, usize),
        (to, to_stride): (DeviceSlice<'_, T>, usize),
    ) -> Result<(), Error> {
        const THREADS: usize = 256;
        const BLOCKS: usize = 64;
        if rows == 0 || cols == 0 {
            return Ok(());
        }
        let extent = |stride: usize| (cols - 1) * stride + rows;
        debug_assert!(extent(from_stride) <= from.len() && extent(to_stride) <= to.len());
        let (mut to, mut from) = (to.address(), from.address());
        let (mut to_stride, mut from_stride) = (to_stride as c_longlong, from_stride as c_longlong);
        let (mut row_count, mut col_count) = (rows as c_longlong, cols as c_longlong);
        let mut arguments = [
            argument(&mut to),
            argument(&mut to_stride),
            argument(&mut from),
            argument(&mut from_stride),
            argument(&mut row_count),
            argument(&mut col_count),
        ];
        let blocks = (rows.div_ceil(THREADS).min(BLOCKS), cols.min(BLOCKS));
        // SAFETY: six pointers to values of the types of the kernel's six parameters; the caller guarantees the memory.
        unsafe { self.copy.launch(stream, Launch::new(blocks, THREADS), &mut arguments) }
    }
}
