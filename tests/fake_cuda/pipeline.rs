//! A pipeline over three streams with two device buffers, as the streaming engine has it, with its waits
//! removable.
//!
//! Chunk c of x and y is copied up to buffer c mod 2, rotated there, and copied down again. Host memory is page-locked,
//! so that copies are asynchronous; events alone order the streams.

use std::mem::MaybeUninit;
use std::ptr;

use cudarc::driver::sys::{self, CUmemorytype};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaSlice, DevicePtr, DriverError, LaunchConfig, PinnedHostSlice, PushKernelArg,
};
use cudarc::nvrtc::Ptx;

/// The mistake to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Missing {
    Nothing,
    /// The kernel does not wait for the copy up.
    WaitBeforeCompute,
    /// The copy up does not wait for the copy down of the buffer.
    WaitBeforeReuse,
    /// The result is read before the copies down are known to be done.
    FinalWait,
}

const LEN: usize = 1000;
const CHUNK: usize = 130;
const CS: [f64; 2] = [0.6, 0.8];

/// A descriptor of a 2-D copy with nothing in it. (`mem::zeroed` would make a memory type that does not
/// exist.)
pub fn copy_2d() -> sys::CUDA_MEMCPY2D {
    let mut copy = MaybeUninit::<sys::CUDA_MEMCPY2D>::zeroed();
    // SAFETY: every field but the two memory types may be zero, and these are written here.
    unsafe {
        ptr::addr_of_mut!((*copy.as_mut_ptr()).srcMemoryType).write(CUmemorytype::CU_MEMORYTYPE_HOST);
        ptr::addr_of_mut!((*copy.as_mut_ptr()).dstMemoryType).write(CUmemorytype::CU_MEMORYTYPE_HOST);
        copy.assume_init()
    }
}

fn x(i: usize) -> f64 {
    i as f64 + 1.0
}

fn y(i: usize) -> f64 {
    (i % 97) as f64 - 48.0
}

/// Whether every pair is rotated, once.
pub fn is_right(missing: Missing) -> bool {
    let rotated = run(missing).expect("no error of the driver");
    (0..LEN).all(|i| {
        let expected = (CS[0] * x(i) + CS[1] * y(i), CS[0] * y(i) - CS[1] * x(i));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + b.abs());
        near(rotated[i].0, expected.0) && near(rotated[i].1, expected.1)
    })
}

fn run(missing: Missing) -> Result<Vec<(f64, f64)>, DriverError> {
    let context = CudaContext::new(0)?;
    // SAFETY: before any allocation; all order is by the events below.
    unsafe { context.disable_event_tracking() };
    let (up, compute, down) = (context.new_stream()?, context.new_stream()?, context.new_stream()?);
    let rotate = context.load_module(Ptx::from_src("// any"))?.load_function("rotate_f64")?;

    // x in memory that the driver allocated, y in Rust's memory that is registered. SAFETY: written before it is read.
    let mut host_x = unsafe { context.alloc_pinned_with_flags::<f64>(LEN, 0)? };
    host_x.as_mut_slice()?.iter_mut().enumerate().for_each(|(i, value)| *value = x(i));
    let mut host_y: Vec<f64> = (0..LEN).map(y).collect();
    // SAFETY: the memory of `host_y`, which is neither moved nor freed before it is unregistered below.
    unsafe { sys::cuMemHostRegister_v2(host_y.as_mut_ptr().cast(), LEN * 8, 0).result()? };

    let cs = up.clone_htod(&CS)?;
    let mut buffers = Vec::new();
    for _ in 0..2 {
        // SAFETY: a chunk is copied up before its kernel reads it.
        buffers.push(unsafe { (up.alloc::<f64>(CHUNK)?, up.alloc::<f64>(CHUNK)?) });
    }
    up.synchronize()?;
    let mut came_down: [Option<CudaEvent>; 2] = [None, None];
    for (chunk, first) in (0..LEN).step_by(CHUNK).enumerate() {
        let rows = CHUNK.min(LEN - first);
        let (on_device_x, on_device_y) = &mut buffers[chunk % 2];
        if let Some(event) = came_down[chunk % 2].as_ref().filter(|_| missing != Missing::WaitBeforeReuse) {
            up.wait(event)?;
        }
        copy(true, &mut host_x, first, on_device_x, rows, up.cu_stream())?;
        up.memcpy_htod(&host_y[first..first + rows], &mut on_device_y.slice_mut(..rows))?;
        let loaded = up.record_event(None)?;
        if missing != Missing::WaitBeforeCompute {
            compute.wait(&loaded)?;
        }
        let config = LaunchConfig { grid_dim: (3, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 };
        let len = rows as i32;
        let mut launch = compute.launch_builder(&rotate);
        // SAFETY: the arguments are those of `rotate`: x, y (len ≤ CHUNK), cs (2).
        unsafe { launch.arg(&mut *on_device_x).arg(&mut *on_device_y).arg(&cs).arg(&len).launch(config)? };
        down.wait(&compute.record_event(None)?)?;
        copy(false, &mut host_x, first, on_device_x, rows, down.cu_stream())?;
        down.memcpy_dtoh(&on_device_y.slice(..rows), &mut host_y[first..first + rows])?;
        came_down[chunk % 2] = Some(down.record_event(None)?);
    }
    if missing != Missing::FinalWait {
        down.synchronize()?;
    }
    // `as_slice` waits only for the event of the pinned memory, which was not recorded.
    let result = host_x.as_slice()?.iter().copied().zip(host_y.iter().copied()).collect();
    // SAFETY: what was registered above; the driver waits for the device first.
    unsafe { sys::cuMemHostUnregister(host_y.as_mut_ptr().cast()).result()? };
    Ok(result)
}

/// A chunk of x, up or down, as a 2-D copy of rows of 10 entries and the rest.
fn copy(
    goes_up: bool,
    host: &mut PinnedHostSlice<f64>,
    first: usize,
    device: &CudaSlice<f64>,
    rows: usize,
    stream: sys::CUstream,
) -> Result<(), DriverError> {
    let (context, at) = (device.context().clone(), device.device_ptr(device.stream()).0);
    context.bind_to_thread()?;
    // SAFETY: an entry of the pinned memory, as first + rows ≤ LEN.
    let host = unsafe { host.as_mut_ptr()?.add(first) };
    let mut copy = copy_2d();
    let both = (CUmemorytype::CU_MEMORYTYPE_HOST, CUmemorytype::CU_MEMORYTYPE_DEVICE);
    (copy.srcMemoryType, copy.dstMemoryType) = if goes_up { both } else { (both.1, both.0) };
    (copy.srcHost, copy.dstHost) = (host.cast(), host.cast());
    (copy.srcDevice, copy.dstDevice) = (at, at);
    (copy.srcPitch, copy.dstPitch) = (80, 80);
    (copy.WidthInBytes, copy.Height) = (80, rows / 10);
    // SAFETY: 10 · (rows / 10) entries from `host` and from `at`, which have `rows`.
    unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream).result() }
}
