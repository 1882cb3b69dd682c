//! The limits of the device: the link to the host with page-locked memory, in both directions at once, the device's own memory,
//! and its arithmetic.

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{CudaContext, result, sys};
use std::time::Instant;

const BYTES: usize = 256 << 20;
const COPIES: usize = 8;
/// The number of trials, of which the best counts.
const TRIALS: usize = 3;

/// Bytes a second in each direction, with both busy.
///
/// # Panics
/// Without a device, or where it fails.
#[must_use]
pub fn both_ways() -> f64 {
    let context = CudaContext::new(0).expect("a device");
    let streams = [context.new_stream().expect("a stream"), context.new_stream().expect("a stream")];
    let mut best = 0.0f64;
    // SAFETY: all memories have this many bytes and live until the streams have been waited for; the copies
    // of a stream follow each other, and no reference to their memory exists.
    unsafe {
        let host = [0; 2].map(|_| result::malloc_host(BYTES, 0).expect("page-locked memory"));
        let device = [0; 2].map(|_| result::malloc_sync(BYTES).expect("device memory"));
        for memory in host {
            memory.cast::<u8>().write_bytes(1, BYTES);
        }
        for _ in 0..TRIALS {
            let start = Instant::now();
            for _ in 0..COPIES {
                sys::cuMemcpyHtoDAsync_v2(device[0], host[0], BYTES, streams[0].cu_stream())
                    .result()
                    .expect("a copy");
                sys::cuMemcpyDtoHAsync_v2(host[1], device[1], BYTES, streams[1].cu_stream())
                    .result()
                    .expect("a copy");
            }
            for stream in &streams {
                stream.synchronize().expect("the copies");
            }
            best = best.max((COPIES * BYTES) as f64 / start.elapsed().as_secs_f64());
        }
        for (host, device) in host.into_iter().zip(device) {
            result::free_host(host).expect("its release");
            result::free_sync(device).expect("its release");
        }
    }
    best
}

/// Bytes a second of device memory, reads and writes together, by copies within it.
///
/// # Panics
/// Without a device, or where it fails.
#[must_use]
pub fn device_memory() -> f64 {
    let context = CudaContext::new(0).expect("a device");
    let stream = context.new_stream().expect("a stream");
    let mut best = 0.0f64;
    // SAFETY: both memories have this many bytes and live until the stream has been waited for.
    unsafe {
        let [from, to] = [0; 2].map(|_| result::malloc_sync(BYTES).expect("device memory"));
        for _ in 0..=TRIALS {
            let start = Instant::now();
            for _ in 0..COPIES {
                sys::cuMemcpyDtoDAsync_v2(to, from, BYTES, stream.cu_stream()).result().expect("a copy");
            }
            stream.synchronize().expect("the copies");
            best = best.max((2 * COPIES * BYTES) as f64 / start.elapsed().as_secs_f64());
        }
        for memory in [from, to] {
            result::free_sync(memory).expect("its release");
        }
    }
    best
}

/// Largest flops a second, of either type: what its units, those for matrix products among them, do in a cycle.
///
/// # Panics
/// Without a device.
#[must_use]
pub fn flops() -> f64 {
    let context = CudaContext::new(0).expect("a device");
    let number = |which| f64::from(context.attribute(which).unwrap_or(0));
    let hertz = 1e3 * number(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    let units = number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    // By NVIDIA's data sheets, a multiprocessor of A100 does 64 multiply-adds in a cycle, and one of H100 and later 128.
    let newer = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9.0;
    hertz * units * if newer { 256.0 } else { 128.0 }
}
