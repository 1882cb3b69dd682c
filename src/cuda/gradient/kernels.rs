//! The kernels of derivatives, and how they are launched.

use super::arguments::{Forward, Reverse, Step};
use super::shape::{BLOCKS, MORE_SUMS, MOST_COLUMNS, PANEL_COLS, ROWS_OF_STEP, Shape};
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::module::Module;
use crate::cuda::ptx::{self, Ptx};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use std::sync::Arc;

const THREADS: usize = 256;
const ADDED: usize = 32;

/// The kernels of one mode, type and shape, on a stream.
pub(super) struct Kernels {
    module: Arc<Module>,
    stream: Stream,
    shape: Shape,
    count: usize,
    n: usize,
    k: usize,
    scalar: &'static str,
}

impl Kernels {
    /// Those of `reverse.cu`.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn reverse<T: Real>(device: &Device, stream: Stream, extents: [usize; 3]) -> Result<Self, Error> {
        let of_step = if size_of::<T>() == 4 { "STEP_BYTES_F32" } else { "STEP_BYTES" };
        let of_arguments = if size_of::<T>() == 4 { "REVERSE_BYTES_F32" } else { "REVERSE_BYTES" };
        let sizes = [
            ("PANEL_COLS", PANEL_COLS),
            ("MOST_COLUMNS", MOST_COLUMNS),
            ("MORE_SUMS", MORE_SUMS),
            ("THREADS", THREADS),
            ("ADDED", ADDED),
            (of_arguments, size_of::<Reverse<T>>()),
            (of_step, size_of::<Step<T>>()),
        ];
        let ptx = if size_of::<T>() == 4 { &ptx::GRADIENT_REVERSE_F32 } else { &ptx::GRADIENT_REVERSE_F64 };
        Self::new::<T>(device, stream, extents, (ptx, "gradient_reverse", &sizes))
    }

    /// Those of `forward.cu`.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn forward<T: Real>(device: &Device, stream: Stream, extents: [usize; 3]) -> Result<Self, Error> {
        let of_step = if size_of::<T>() == 4 { "STEP_BYTES_F32" } else { "STEP_BYTES" };
        let of_arguments = if size_of::<T>() == 4 { "FORWARD_BYTES_F32" } else { "FORWARD_BYTES" };
        let sizes = [
            ("PANEL_COLS", PANEL_COLS),
            ("MOST_COLUMNS", MOST_COLUMNS),
            ("ROWS_OF_STEP", ROWS_OF_STEP),
            ("THREADS", THREADS),
            (of_arguments, size_of::<Forward<T>>()),
            (of_step, size_of::<Step<T>>()),
        ];
        let ptx = if size_of::<T>() == 4 { &ptx::GRADIENT_FORWARD_F32 } else { &ptx::GRADIENT_FORWARD_F64 };
        Self::new::<T>(device, stream, extents, (ptx, "gradient_forward", &sizes))
    }

    fn new<T: Real>(
        device: &Device,
        stream: Stream,
        [count, n, k]: [usize; 3],
        (ptx, layout, sizes): (&'static Ptx, &str, &[(&str, usize)]),
    ) -> Result<Self, Error> {
        let module = device.module(ptx)?;
        module.layout(layout)?.check(sizes)?;
        Ok(Self { module, stream, shape: Shape::of(k), count, n, k, scalar: T::TYPE_NAME })
    }

    fn plain(&self, name: &str) -> Result<Function, Error> {
        Function::load(&self.module, &format!("gradient_{name}_{}", self.scalar))
    }

    fn shaped(&self, name: &str) -> Result<Function, Error> {
        let Shape { columns, lanes } = self.shape;
        Function::load(&self.module, &format!("gradient_{name}_{columns}_{lanes}_{}", self.scalar))
    }

    /// The first columns of the panels.
    pub fn panels(&self) -> impl DoubleEndedIterator<Item = usize> {
        (0..self.n).step_by(PANEL_COLS)
    }

    /// Blocks of rows below the panel that begins with this column.
    pub fn parts(&self, start: usize) -> usize {
        self.n.saturating_sub(start + PANEL_COLS).div_ceil(PANEL_COLS)
    }

    /// A launch that works on rows, of a kernel of this name, for all rows of a matrix.
    pub fn for_rows(&self, name: &str) -> Result<Kernel<'_>, Error> {
        let blocks = self.n.div_ceil(THREADS).clamp(1, BLOCKS);
        Ok(Kernel { of: self, function: self.plain(name)?, blocks, threads: THREADS })
    }

    /// A launch with a block for each column of V.
    pub fn for_columns(&self, name: &str) -> Result<Kernel<'_>, Error> {
        Ok(Kernel { of: self, function: self.plain(name)?, blocks: self.k, threads: THREADS })
    }

    /// A launch with a block of threads for each block of 64 rows; `blocks` is given at the launch.
    pub fn for_blocks(&self, name: &str) -> Result<Kernel<'_>, Error> {
        let threads = self.shape.lanes * PANEL_COLS;
        Ok(Kernel { of: self, function: self.shaped(name)?, blocks: 1, threads })
    }

    /// A launch that adds up the sums of blocks.
    pub fn for_sums(&self, name: &str) -> Result<Kernel<'_>, Error> {
        let blocks = (PANEL_COLS * self.shape.sums()).div_ceil(ADDED);
        Ok(Kernel { of: self, function: self.shaped(name)?, blocks, threads: THREADS })
    }

    /// A launch for matrices of which one block of threads has all rows.
    pub fn for_all(&self, name: &str) -> Result<Kernel<'_>, Error> {
        let threads = self.shape.lanes * self.n.max(1).next_multiple_of(32);
        Ok(Kernel { of: self, function: self.shaped(name)?, blocks: 1, threads })
    }
}

/// A kernel, and the shape of its launches.
pub(super) struct Kernel<'a> {
    of: &'a Kernels,
    function: Function,
    blocks: usize,
    threads: usize,
}

impl Kernel<'_> {
    /// Enqueues a launch for all matrices, unless it has no blocks.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// `all` is the argument of the kernel, and holds to its contract until the launch is done.
    pub unsafe fn launch<A: Copy>(&self, all: &A) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        unsafe { self.launch_blocks(self.blocks, all) }
    }

    /// The same with so many blocks for each matrix.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`launch`](Self::launch).
    pub unsafe fn launch_blocks<A: Copy>(&self, blocks: usize, all: &A) -> Result<(), Error> {
        if blocks == 0 {
            return Ok(());
        }
        let mut all = *all;
        let launch = Launch::new((self.of.count, blocks), self.threads);
        // SAFETY: one argument of the type of the kernel's; the caller guarantees the rest.
        unsafe { self.function.launch(&self.of.stream, launch, &mut [argument(&mut all)]) }
    }
}
