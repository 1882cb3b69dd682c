//! This library's kernels that factor a matrix in place, 64 columns at a time.

use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::ptx::FACTOR;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use core::ffi::c_longlong;
use core::marker::PhantomData;
use core::mem::offset_of;
use core::ops::Range;

/// Columns of a panel.
const PANEL_COLS: usize = 64;
/// Columns whose products are subtracted from the rest of the matrix together.
const DEPTH: usize = 4 * PANEL_COLS;
/// Rows of a tile of the trailing matrix.
const TILE_ROWS: usize = 2 * PANEL_COLS;
/// Threads of a block.
const THREADS: usize = 256;

/// Constants on which host and kernels agree, except the sizes of shared memory, which the host reads from the kernels.
const LAYOUT: [(&str, usize); 11] = [
    ("PANEL_COLS", PANEL_COLS),
    ("PANELS_TOGETHER", DEPTH / PANEL_COLS),
    ("TILE_ROWS", TILE_ROWS),
    ("THREADS", THREADS),
    ("FACTORING_BYTES", size_of::<Arguments>()),
    ("AT_L", offset_of!(Arguments, l)),
    ("AT_STRIDE", offset_of!(Arguments, stride)),
    ("AT_INVERSE", offset_of!(Arguments, inverse)),
    ("AT_REFINE", offset_of!(Arguments, refine)),
    ("AT_STATUS", offset_of!(Arguments, status)),
    ("AT_N", offset_of!(Arguments, n)),
];

/// `factor.cu` for one scalar type, and a stream for it.
pub(in crate::cuda) struct Blocked<T> {
    /// Each with its bytes of shared memory.
    diagonal: (Function, usize),
    panel: (Function, usize),
    next_panel: (Function, usize),
    trailing: (Function, usize),
    stream: Stream,
    /// The inverse of the current diagonal block, and whether it loses digits.
    inverse: DeviceBuffer<f64>,
    refine: DeviceBuffer<i32>,
    /// 1 + the first column whose pivot² is not positive, or 0.
    status: (DeviceBuffer<i32>, Pinned<i32>),
    scalar: PhantomData<T>,
}

/// `Factoring` of `factor.cu`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Arguments {
    l: u64,
    stride: c_longlong,
    inverse: u64,
    refine: u64,
    status: u64,
    n: c_longlong,
}

impl<T: Real> Blocked<T> {
    /// # Errors
    /// [`Error::Device`] if the driver refuses the kernels, or there is no memory for a diagonal block.
    pub fn new(device: &Device) -> Result<Self, Error> {
        let module = device.module(FACTOR.on(device.compute_capability()))?;
        let layout = module.layout("factor")?;
        layout.check(&LAYOUT)?;
        let scalar = T::TYPE_NAME.to_uppercase();
        let bytes = |kernel: &str| layout.size(&format!("{kernel}_BYTES_{scalar}"));
        let function = |name: &str| Function::load(&module, &format!("factor_{name}_{}", T::TYPE_NAME));
        let shared = |name: &str, bytes: usize| -> Result<_, Error> {
            Ok((function(name)?.with_shared(bytes)?, bytes))
        };
        Ok(Self {
            diagonal: (function("diagonal")?, 0),
            panel: shared("panel", layout.size("PANEL_BYTES")?)?,
            next_panel: shared("next_panel", bytes("NEXT_PANEL")?)?,
            trailing: shared("trailing", bytes("TRAILING")?)?,
            stream: Stream::new(device)?,
            inverse: DeviceBuffer::new(device, PANEL_COLS.pow(2))?,
            refine: DeviceBuffer::new(device, 1)?,
            status: (DeviceBuffer::new(device, 1)?, Pinned::new(device, 1)?),
            scalar: PhantomData,
        })
    }

    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// A ← L, in the lower triangle; entries above are unspecified, before and after. (n × n, with aligned columns)
    ///
    /// # Errors
    /// `NotPositiveDefinite` at the first pivot² that is not positive; [`Error::Device`] if the device fails.
    pub fn factorize(&self, a: &Dense<T>) -> Result<(), Error> {
        // SAFETY: only this stream uses `a` and the rest until it has been waited for, below, also after an error.
        let enqueued = unsafe { self.enqueue(&self.stream, a) };
        self.stream.synchronize().and(enqueued)?;
        self.outcome()
    }

    /// The outcome of the work that was enqueued last, which has been waited for.
    ///
    /// # Errors
    /// `NotPositiveDefinite` at the first pivot² that is not positive.
    pub fn outcome(&self) -> Result<(), Error> {
        match self.status.1.as_slice()[0] {
            0 => Ok(()),
            column => Err(Error::NotPositiveDefinite { column: column as usize - 1 }),
        }
    }

    /// Enqueues [`factorize`](Self::factorize).
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// Until the enqueued work is done, only this stream uses A and the memory of `self`.
    pub unsafe fn enqueue(&self, stream: &Stream, a: &Dense<T>) -> Result<(), Error> {
        let (n, status) = (a.order(), self.status.0.slice(0..1));
        debug_assert!((a.stride() * size_of::<T>()).is_multiple_of(16), "columns of A begin anywhere");
        let work = Arguments {
            l: a.slice().address(),
            stride: a.stride() as c_longlong,
            inverse: self.inverse.slice(0..self.inverse.len()).address(),
            refine: self.refine.slice(0..1).address(),
            status: status.address(),
            n: n as c_longlong,
        };
        // SAFETY: only this stream uses the memory, as the caller guarantees. The kernels are launched in the order that
        // `factor.cu` requires, each with the number of blocks that it requires; columns are multiples of 64 and less than n.
        unsafe {
            stream.clear(status)?;
            for begin in (0..n).step_by(DEPTH) {
                let end = n.min(begin + DEPTH);
                for first in (begin..end).step_by(PANEL_COLS) {
                    let panels = (n - first).div_ceil(PANEL_COLS);
                    if first > begin {
                        self.launch(stream, &self.next_panel, work, begin..first, panels)?;
                    }
                    self.launch(stream, &self.diagonal, work, begin..first, 1)?;
                    if panels > 1 {
                        self.launch(stream, &self.panel, work, begin..first, panels - 1)?;
                    }
                }
                if end < n {
                    let tiles = (n - end).div_ceil(TILE_ROWS);
                    self.launch(stream, &self.trailing, work, begin..end, tiles * (tiles + 1))?;
                }
            }
            stream.download(status, &self.status.1, 0..1)
        }
    }

    /// Enqueues a kernel for the panel, or the trailing matrix, that begins after the columns of L to subtract.
    ///
    /// # Safety
    /// As `factor.cu` requires; the memory is as [`enqueue`](Self::enqueue) requires.
    unsafe fn launch(
        &self,
        stream: &Stream,
        (function, shared_bytes): &(Function, usize),
        mut work: Arguments,
        subtract: Range<usize>,
        blocks: usize,
    ) -> Result<(), Error> {
        let (mut from, mut first) = (subtract.start as c_longlong, subtract.end as c_longlong);
        let mut arguments = [argument(&mut work), argument(&mut from), argument(&mut first)];
        let shape = Launch { blocks: (blocks, 1), threads: THREADS, shared_bytes: *shared_bytes };
        // SAFETY: three arguments of the types that all these kernels have; the caller guarantees the memory to which they
        // point.
        unsafe { function.launch(stream, shape, &mut arguments) }
    }
}
