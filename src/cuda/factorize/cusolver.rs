//! cuSOLVER's Cholesky factorization, where the library is found at run time.

use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::error::{other, unavailable};
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::scalar::Scalar;
use cudarc::cusolver::sys::{self, cudaDataType, cusolverDnHandle_t, cusolverDnParams_t, cusolverStatus_t};
use std::sync::OnceLock;

/// cuSOLVER on one device, and a stream for it.
pub(crate) struct Solver {
    handle: cusolverDnHandle_t,
    params: cusolverDnParams_t,
    stream: Stream,
    device: Device,
}

/// Whether the loader finds the library, with all functions that are called here.
pub(crate) fn is_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    const FUNCTIONS: [&[u8]; 7] = [
        b"cusolverDnCreate\0",
        b"cusolverDnDestroy\0",
        b"cusolverDnSetStream\0",
        b"cusolverDnCreateParams\0",
        b"cusolverDnDestroyParams\0",
        b"cusolverDnXpotrf_bufferSize\0",
        b"cusolverDnXpotrf\0",
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
        let stream = Stream::new(device)?;
        let mut solver = Self {
            handle: core::ptr::null_mut(),
            params: core::ptr::null_mut(),
            stream,
            device: device.clone(),
        };
        let queue = solver.stream.bound()?;
        // SAFETY: the functions are there; the handles are written before they are used, and the stream lives
        // as long as they do.
        unsafe {
            check(sys::cusolverDnCreate(&raw mut solver.handle), "starting cuSOLVER")?;
            check(sys::cusolverDnCreateParams(&raw mut solver.params), "starting cuSOLVER")?;
            check(sys::cusolverDnSetStream(solver.handle, queue.cast()), "giving cuSOLVER a stream")?;
        }
        Ok(solver)
    }

    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// A ← L, in the lower triangle; what is above is left alone. (n × n)
    ///
    /// # Errors
    /// `NotPositiveDefinite` at the first pivot² that is not positive, [`Error::Device`] where there is no
    /// memory for it or the device fails.
    pub fn factorize<T: Scalar>(&self, a: &Dense<T>) -> Result<(), Error> {
        let scalar = match T::TYPE_NAME {
            "f32" => cudaDataType::CUDA_R_32F,
            _ => cudaDataType::CUDA_R_64F,
        };
        if a.order() == 0 {
            return Ok(());
        }
        let (order, stride) = (a.order() as i64, a.stride() as i64);
        let lower = sys::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;
        let entries = a.slice().address() as *mut core::ffi::c_void;
        let (mut device_bytes, mut host_bytes) = (0, 0);
        self.stream.bound()?;
        // SAFETY: the matrix is that large; the library writes two numbers.
        let status = unsafe {
            sys::cusolverDnXpotrf_bufferSize(
                self.handle,
                self.params,
                lower,
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
        let info = (DeviceBuffer::<i32>::new(&self.device, 1)?, Pinned::<i32>::new(&self.device, 1)?);
        // SAFETY: everything is of the size that the library asked for and lives until the stream has been
        // waited for, below and also behind an error.
        let status = unsafe {
            sys::cusolverDnXpotrf(
                self.handle,
                self.params,
                lower,
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
        let asked = asked.and_then(|()| unsafe { self.stream.download(info.0.slice(0..1), &info.1, 0..1) });
        self.stream.synchronize().and(asked)?;
        match info.1.as_slice()[0] {
            0 => Ok(()),
            column if column > 0 => Err(Error::NotPositiveDefinite { column: column as usize - 1 }),
            argument => Err(other(format!("cuSOLVER refused its argument {}", -argument))),
        }
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        if self.device.bind().is_err() {
            return;
        }
        // SAFETY: made by `new`, destroyed only here; nothing is in flight, since `factorize` waits.
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

fn check(status: cusolverStatus_t, attempt: &str) -> Result<(), Error> {
    match status {
        cusolverStatus_t::CUSOLVER_STATUS_SUCCESS => Ok(()),
        status => Err(other(format!("{attempt}: {status:?}"))),
    }
}
