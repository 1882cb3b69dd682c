//! cuSOLVER's Cholesky factorization and solve. The library is loaded at run time if it is found.

use super::dense::Dense;
use super::device::Device;
use super::handles::{Handles, check};
use super::memory::{DeviceBuffer, DeviceSlice, Pinned};
use super::stream::Stream;
use crate::error::{Error, other};
use crate::real::Real;
use core::ffi::c_void;
use cudarc::cusolver::sys::{self, cudaDataType, cusolverDnHandle_t, cusolverDnParams_t};

/// cuSOLVER on one device.
pub(super) struct Solver {
    /// `None` once they have been returned.
    handles: Option<Handles>,
    info: (DeviceBuffer<i32>, Pinned<i32>),
    device: Device,
}

impl Solver {
    /// # Errors
    /// [`Error::Device`] if the library is not found or does not start.
    pub fn new(device: &Device) -> Result<Self, Error> {
        let info = (DeviceBuffer::new(device, 1)?, Pinned::new(device, 1)?);
        let handles = device.idle_handles().map_or_else(|| Handles::new(device.context()), Ok)?;
        Ok(Self { handles: Some(handles), info, device: device.clone() })
    }

    /// Returns the handle and the parameters, with all later calls enqueued on this stream.
    fn on(&self, stream: &Stream) -> Result<(cusolverDnHandle_t, cusolverDnParams_t), Error> {
        let queue = stream.bound()?;
        let Some(Handles { handle, params, .. }) = self.handles else {
            return Err(other("cuSOLVER has been given back"));
        };
        // SAFETY: the handle has been made, and the stream exists while it is used.
        check(unsafe { sys::cusolverDnSetStream(handle, queue.cast()) }, "giving cuSOLVER a stream")?;
        Ok((handle, params))
    }

    /// Enqueues B ← A⁻¹ B with the factor L of A, which has this column stride. (n × n, n × m, packed)
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until the stream has been waited for, both exist, and no other code uses B or writes L; all earlier calls of this solver
    /// were on the same stream.
    pub unsafe fn solve<T: Real>(
        &self,
        stream: &Stream,
        (l, l_stride): (DeviceSlice<'_, T>, usize),
        (order, columns): (usize, usize),
        rhs: DeviceSlice<'_, T>,
    ) -> Result<(), Error> {
        debug_assert!((order - 1) * l_stride + order <= l.len() && order * columns <= rhs.len());
        let (handle, params) = self.on(stream)?;
        // SAFETY: the matrices have these sizes; the caller guarantees the rest until the work is done.
        let status = unsafe {
            sys::cusolverDnXpotrs(
                handle,
                params,
                LOWER,
                order as i64,
                columns as i64,
                scalar::<T>(),
                l.address() as *const c_void,
                l_stride as i64,
                scalar::<T>(),
                rhs.address() as *mut c_void,
                order as i64,
                self.info.0.slice(0..1).address() as *mut _,
            )
        };
        check(status, "solving with cuSOLVER")
    }

    /// A ← L, in the lower triangle; entries above are not changed. (n × n)
    ///
    /// # Errors
    /// `NotPositiveDefinite` at the first pivot² that is not positive; [`Error::Device`] if there is no memory for it or the
    /// device fails.
    pub fn factorize<T: Real>(&self, stream: &Stream, a: &Dense<T>) -> Result<(), Error> {
        let (scalar, info) = (scalar::<T>(), &self.info);
        if a.order() == 0 {
            return Ok(());
        }
        let (order, stride) = (a.order() as i64, a.stride() as i64);
        let entries = a.slice().address() as *mut c_void;
        let (mut device_bytes, mut host_bytes) = (0, 0);
        let (handle, params) = self.on(stream)?;
        // SAFETY: the matrix has this size; the library writes two numbers.
        let status = unsafe {
            sys::cusolverDnXpotrf_bufferSize(
                handle,
                params,
                LOWER,
                order,
                scalar,
                entries,
                stride,
                scalar,
                &raw mut device_bytes,
                &raw mut host_bytes,
            )
        };
        check(status, "asking cuSOLVER for its working memory")?;
        let on_device = DeviceBuffer::<u8>::new(&self.device, device_bytes)?;
        let mut on_host = vec![0_u8; host_bytes];
        // SAFETY: all memory has the size that the library asked for, and exists until the stream has been waited for, below,
        // also after an error.
        let status = unsafe {
            sys::cusolverDnXpotrf(
                handle,
                params,
                LOWER,
                order,
                scalar,
                entries,
                stride,
                scalar,
                on_device.slice(0..device_bytes).address() as *mut _,
                device_bytes,
                on_host.as_mut_ptr().cast(),
                host_bytes,
                info.0.slice(0..1).address() as *mut _,
            )
        };
        let asked = check(status, "factoring with cuSOLVER");
        // SAFETY: as above.
        let asked = asked.and_then(|()| unsafe { stream.download(info.0.slice(0..1), &info.1, 0..1) });
        let waited = stream.synchronize();
        if waited.is_err() {
            // The library may still use this memory, so it is leaked.
            core::mem::forget(on_host);
        }
        waited.and(asked)?;
        match info.1.as_slice()[0] {
            0 => Ok(()),
            column if column > 0 => Err(Error::NotPositiveDefinite { column: column as usize - 1 }),
            argument => Err(other(format!("cuSOLVER refused its argument {}", -argument))),
        }
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        // The callers have waited for all work that they enqueued.
        if let Some(handles) = self.handles.take().filter(|_| self.device.doubtless().is_ok()) {
            self.device.keep_idle(handles);
        }
    }
}

const LOWER: sys::cublasFillMode_t = sys::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;

fn scalar<T: Real>() -> cudaDataType {
    match T::TYPE_NAME {
        "f32" => cudaDataType::CUDA_R_32F,
        _ => cudaDataType::CUDA_R_64F,
    }
}
