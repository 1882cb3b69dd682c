//! What the link between host and device can do: page-locked memory, both ways at once.

use cudarc::driver::{CudaContext, result, sys};
use std::time::Instant;

const BYTES: usize = 256 << 20;
const COPIES: usize = 8;

/// Bytes a second in each direction, with both busy; the best of three.
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
        for _ in 0..3 {
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
