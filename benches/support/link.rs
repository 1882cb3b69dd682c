//! What the link between host and device can do: page-locked memory, both ways at once.

use cudarc::driver::{CudaContext, result};
use std::time::Instant;

const BYTES: usize = 256 << 20;
const COPIES: usize = 8;

/// Bytes a second in each direction, with both busy; the best of three.
pub fn both_ways() -> f64 {
    let context = CudaContext::new(0).expect("a device");
    let streams = [context.new_stream().expect("a stream"), context.new_stream().expect("a stream")];
    let mut best = 0.0f64;
    // SAFETY: each copy is between memories of its own, of this many bytes, which live until the streams have been
    // waited for.
    unsafe {
        let host = [0; 2].map(|_| result::malloc_host(BYTES, 0).expect("page-locked memory"));
        let device = [0; 2].map(|_| result::malloc_sync(BYTES).expect("device memory"));
        for memory in host {
            memory.cast::<u8>().write_bytes(1, BYTES);
        }
        for _ in 0..3 {
            let start = Instant::now();
            for _ in 0..COPIES {
                let up = core::slice::from_raw_parts(host[0].cast::<u8>(), BYTES);
                let down = core::slice::from_raw_parts_mut(host[1].cast::<u8>(), BYTES);
                result::memcpy_htod_async(device[0], up, streams[0].cu_stream()).expect("a copy");
                result::memcpy_dtoh_async(down, device[1], streams[1].cu_stream()).expect("a copy");
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
