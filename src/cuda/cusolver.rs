//! cuSOLVER's Cholesky factorization and its solve, where the library is found at run time.

use super::dense::Dense;
use super::device::Device;
use super::error::{other, unavailable};
use super::memory::{DeviceBuffer, DeviceSlice, Pinned};
use super::stream::Stream;
use crate::error::Error;
use crate::scalar::Scalar;
use core::ffi::c_void;
use cudarc::cusolver::sys::{self, cudaDataType, cusolverDnHandle_t, cusolverDnParams_t, cusolverStatus_t};
use std::sync::OnceLock;

/// cuSOLVER on one device.
pub(super) struct Solver {
    handle: cusolverDnHandle_t,
    params: cusolverDnParams_t,
    info: (DeviceBuffer<i32>, Pinned<i32>),
    device: Device,
}

// SAFETY: the library takes a handle from any thread, one at a time: calls borrow the solver, which is not `Sync`.
unsafe impl Send for Solver {}

/// Whether the loader finds the library, with all functions that are called here.
pub(super) fn is_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    const FUNCTIONS: [&[u8]; 8] = [
        b"cusolverDnCreate\0",
        b"cusolverDnDestroy\0",
        b"cusolverDnSetStream\0",
        b"cusolverDnCreateParams\0",
        b"cusolverDnDestroyParams\0",
        b"cusolverDnXpotrf_bufferSize\0",
        b"cusolverDnXpotrf\0",
        b"cusolverDnXpotrs\0",
    ];
    *PRESENT.get_or_init(|| {
        // SAFETY: opens the library by its names; its initializers ask for nothing. A function is only looked
        // up.
        unsafe {
            sys::is_culib_present()
                && FUNCTIONS.iter().all(|name| sys::culib().get::<*const ()>(*name).is_ok())
        }
    })
}

impl Solver {
    /// # Errors
    /// [`Error::Device`] where the library is not found or does not start.
    pub fn new(device: &Device) -> Result<Self, Error> {
        if !is_present() {
            return Err(unavailable("cuSOLVER was not found (libcusolver, of CUDA 11.1 or later)"));
        }
        let mut solver = Self {
            handle: core::ptr::null_mut(),
            params: core::ptr::null_mut(),
            info: (DeviceBuffer::new(device, 1)?, Pinned::new(device, 1)?),
            device: device.clone(),
        };
        device.bind()?;
        // SAFETY: the functions are there; the handles are written before they are used.
        unsafe {
            check(sys::cusolverDnCreate(&raw mut solver.handle), "starting cuSOLVER")?;
            check(sys::cusolverDnCreateParams(&raw mut solver.params), "starting cuSOLVER")?;
        }
        Ok(solver)
    }

    /// Has what is asked for from now on come on this stream.
    fn turn_to(&self, stream: &Stream) -> Result<(), Error> {
        let queue = stream.bound()?;
        // SAFETY: the handle has been made, and the stream lives while it is used.
        check(unsafe { sys::cusolverDnSetStream(self.handle, queue.cast()) }, "giving cuSOLVER a stream")
    }

    /// Enqueues B ← A⁻¹ B with the factor L of A, its columns so far apart. (n × n, n × m, packed)
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until the stream has been waited for, both live, and nobody else uses B or writes L; nothing that has been asked for here is
    /// on another stream.
    pub unsafe fn solve<T: Scalar>(
        &self,
        stream: &Stream,
        (l, l_stride): (DeviceSlice<'_, T>, usize),
        (order, columns): (usize, usize),
        rhs: DeviceSlice<'_, T>,
    ) -> Result<(), Error> {
        debug_assert!((order - 1) * l_stride + order <= l.len() && order * columns <= rhs.len());
        self.turn_to(stream)?;
        // SAFETY: the matrices are that large; the caller vouches for the time until it is done.
        let status = unsafe {
            sys::cusolverDnXpotrs(
                self.handle,
                self.params,
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

    /// A ← L, in the lower triangle; what is above is left alone. (n × n)
    ///
    /// # Errors
    /// `NotPositiveDefinite` at the first pivot² that is not positive, [`Error::Device`] where there is no
    /// memory for it or the device fails.
    pub fn factorize<T: Scalar>(&self, stream: &Stream, a: &Dense<T>) -> Result<(), Error> {
        let (scalar, info) = (scalar::<T>(), &self.info);
        if a.order() == 0 {
            return Ok(());
        }
        let (order, stride) = (a.order() as i64, a.stride() as i64);
        let entries = a.slice().address() as *mut c_void;
        let (mut device_bytes, mut host_bytes) = (0, 0);
        self.turn_to(stream)?;
        // SAFETY: the matrix is that large; the library writes two numbers.
        let status = unsafe {
            sys::cusolverDnXpotrf_bufferSize(
                self.handle,
                self.params,
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
        // SAFETY: everything is of the size that the library asked for and lives until the stream has been
        // waited for, below and also behind an error.
        let status = unsafe {
            sys::cusolverDnXpotrf(
                self.handle,
                self.params,
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
            // The library may still work with it: then it is nobody's.
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
        if !self.device.can_free() {
            return;
        }
        // SAFETY: made by `new`, destroyed only here; what is in flight, the library keeps track of.
        unsafe {
            if !self.params.is_null() {
                sys::cusolverDnDestroyParams(self.params);
            }
            if !self.handle.is_null() {
                sys::cusolverDnDestroy(self.handle);
            }
        }
    }
}

const LOWER: sys::cublasFillMode_t = sys::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;

fn scalar<T: Scalar>() -> cudaDataType {
    match T::TYPE_NAME {
        "f32" => cudaDataType::CUDA_R_32F,
        _ => cudaDataType::CUDA_R_64F,
    }
}

fn check(status: cusolverStatus_t, attempt: &str) -> Result<(), Error> {
    match status {
        cusolverStatus_t::CUSOLVER_STATUS_SUCCESS => Ok(()),
        status => Err(other(format!("{attempt}: {status:?}"))),
    }
}
