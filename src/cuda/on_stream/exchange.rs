//! The kernels between matrices of the caller's and a batch: `batch/exchange.cu`.

use crate::cuda::batch::arguments::{Factors, GROUP, SIDE_BY_SIDE};
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::ptx::BATCH_EXCHANGE;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;

const THREADS: usize = 128;
const WARP: usize = 32;
/// Blocks for each multiprocessor, at most.
const BLOCKS_EACH: usize = 64;

/// `Exchange`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Exchange {
    pub factors: Factors,
    pub l: u64,
    pub l_matrix: i64,
    pub to: u64,
    pub status: u64,
    pub ok: u64,
    pub l_by_rows: i32,
    pub to_by_rows: i32,
    pub nan: i32,
}

/// The kernels for one scalar type and order.
pub(super) struct Exchanges {
    take: Function,
    give: Function,
    /// Warps that a matrix takes, if it does not lie beside others.
    tiles: usize,
    side_by_side: bool,
    most_blocks: usize,
}

impl Exchanges {
    /// # Errors
    /// [`Error::Device`] if the driver refuses a kernel.
    pub fn load<T: Real>(device: &Device, n: usize) -> Result<Self, Error> {
        let module = device.module(&BATCH_EXCHANGE)?;
        module.layout("batch_exchange")?.check(&[
            ("THREADS", THREADS),
            ("GROUP", GROUP),
            ("EXCHANGE_BYTES", size_of::<Exchange>()),
        ])?;
        let (kind, lanes) = match n {
            0..=4 => ("groups", 4),
            5..=SIDE_BY_SIDE => ("groups", 8),
            9..=16 => ("tiles", 16),
            _ => ("tiles", 32),
        };
        let load = |what| Function::load(&module, &format!("batch_{what}_{kind}_{lanes}_{}", T::TYPE_NAME));
        Ok(Self {
            take: load("take")?,
            give: load("give")?,
            tiles: n.div_ceil(lanes).pow(2),
            side_by_side: n <= SIDE_BY_SIDE,
            most_blocks: BLOCKS_EACH * device.multiprocessors(),
        })
    }

    fn shape(&self, all: &Exchange) -> Launch {
        let count = usize::try_from(all.factors.count).unwrap_or(0);
        let warps = if self.side_by_side { count.div_ceil(GROUP) } else { count.saturating_mul(self.tiles) };
        Launch::new((warps.div_ceil(THREADS / WARP).clamp(1, self.most_blocks), 1), THREADS)
    }

    /// Enqueues what comes before the kernels of a batch.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// The memory is as the kernel describes it, and nothing else uses what is written until it is done.
    pub unsafe fn take(&self, stream: &Stream, mut all: Exchange) -> Result<(), Error> {
        let shape = self.shape(&all);
        // SAFETY: one argument of the type of the kernel's; the caller guarantees the rest.
        unsafe { self.take.launch(stream, shape, &mut [argument(&mut all)]) }
    }

    /// Enqueues what comes after them.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`take`](Self::take).
    pub unsafe fn give(&self, stream: &Stream, mut all: Exchange) -> Result<(), Error> {
        let shape = self.shape(&all);
        // SAFETY: one argument of the type of the kernel's; the caller guarantees the rest.
        unsafe { self.give.launch(stream, shape, &mut [argument(&mut all)]) }
    }
}
