//! Kernels that are launched column after column.

use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::ptx::{CROUT, PIVOT_ROWS, TILED};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::host::crout::remaining_columns;
use crate::host::layout::lower;
use crate::real::Real;
use core::ffi::c_longlong;
use faer::{Mat, MatMut, MatRef};
use std::time::{Duration, Instant};

/// Kernels that factor a matrix column after column, one to three launches each.
///
/// Sources: J. P. T. Ruschel, *Parallel Implementations of the Cholesky Decomposition on CPUs and GPUs*,
/// UFRGS (2016), section 4.5 (the first three); Benatti, Carpi and Pasquali's PolyBench Cholesky in CUDA
/// (`Tiled`);
/// *Improving Parallel Cholesky Factorization* (November 2021), in SYCL (`PivotRows`).
///
/// Unlike the originals they use column-major storage, so that neighbouring threads read neighbouring entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColumnKernels {
    /// One launch for each column: every thread computes an entry, and the pivot for itself.
    Single,
    /// Two launches: one thread computes the pivot, then each other thread an entry.
    Two,
    /// The same, in the memory of A.
    TwoInPlace,
    /// Two launches, in place: one block reduces the pivot in shared memory, then blocks process the pivot row in tiles of
    /// shared memory, and multiply by the reciprocal of the pivot.
    Tiled,
    /// Three launches, in place: threads subtract squares from the pivot in any order (so the last bits may differ between
    /// runs), one computes the root, then each computes an entry of its row of Lᵀ.
    PivotRows,
}

impl ColumnKernels {
    /// All of them, those of the thesis first.
    pub const ALL: [Self; 5] = [Self::Single, Self::Two, Self::TwoInPlace, Self::Tiled, Self::PivotRows];
}

/// One kernel of a column, and its number of threads.
struct Step {
    function: Function,
    extent: Extent,
    /// It uses shared memory for one scalar for each thread.
    shared: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    One,
    OneBlock,
    /// For the rows above the diagonal, for the diagonal and the rows below, or for the rows below alone.
    Above,
    FromDiagonal,
    Below,
}

/// Computes L by these kernels, and the last `cutoff` columns on the host. Returns the time including transfers.
///
/// # Errors
/// `Tuning` for `threads_per_block`; `NotPositiveDefinite`; `Device`.
pub(crate) fn by_column<T: Real>(
    device: &Device,
    a: MatRef<'_, T>,
    kernels: ColumnKernels,
    threads_per_block: usize,
    cutoff: usize,
) -> Result<(Mat<T>, Duration), Error> {
    if !(1..=1024).contains(&threads_per_block) {
        let (field, rule) = ("threads_per_block", "1 to 1024");
        return Err(Error::Tuning { field, rule, found: threads_per_block });
    }
    let mut l = lower(a);
    let order = l.nrows();
    let mut run = Run::new(device, order, kernels)?;
    let cols = order.saturating_sub(cutoff);
    let start = Instant::now();
    run.columns(l.as_mut(), cols, threads_per_block)?;
    remaining_columns(l.as_mut(), cols)?;
    let elapsed = start.elapsed();
    Ok((l, elapsed))
}

/// The device memory and kernels of a factorization.
struct Run<T> {
    stream: Stream,
    a: Dense<T>,
    /// The destination of the factor, if it is not the memory of A.
    l: Option<Dense<T>>,
    reciprocals: Option<DeviceBuffer<T>>,
    info: (DeviceBuffer<i32>, Pinned<i32>),
    steps: Vec<Step>,
    signature: Signature,
}

/// The arguments of all kernels of one file.
#[derive(Clone, Copy)]
enum Signature {
    /// `crout.cu`: a, l, n, j, info.
    Crout,
    /// `tiled.cu`: l, reciprocals, n, j, info.
    Tiled,
    /// `pivot_rows.cu`: u, n, k, info.
    PivotRows,
}

impl<T: Real> Run<T> {
    fn new(device: &Device, order: usize, kernels: ColumnKernels) -> Result<Self, Error> {
        use Extent::{Above, Below, FromDiagonal, One, OneBlock};
        let (ptx, signature, steps): (_, _, &[(&str, Extent, bool)]) = match kernels {
            ColumnKernels::Single => (&CROUT, Signature::Crout, &[("crout_single", FromDiagonal, false)]),
            ColumnKernels::Two | ColumnKernels::TwoInPlace => {
                (&CROUT, Signature::Crout, &[("crout_diagonal", One, false), ("crout_below", Below, false)])
            }
            ColumnKernels::Tiled => (
                &TILED,
                Signature::Tiled,
                &[("tiled_diagonal", OneBlock, true), ("tiled_below", Below, true)],
            ),
            ColumnKernels::PivotRows => (
                &PIVOT_ROWS,
                Signature::PivotRows,
                &[("pivot_sum", Above, false), ("pivot_root", One, false), ("pivot_row", Below, false)],
            ),
        };
        let module = device.module(ptx)?;
        let step = |&(name, extent, shared): &(&str, _, _)| -> Result<_, Error> {
            let function = Function::load(&module, &format!("{name}_{}", T::TYPE_NAME))?;
            Ok(Step { function, extent, shared })
        };
        let apart = matches!(kernels, ColumnKernels::Single | ColumnKernels::Two);
        let tiled = kernels == ColumnKernels::Tiled;
        Ok(Self {
            stream: Stream::new(device)?,
            a: Dense::new(device, order)?,
            l: if apart { Some(Dense::new(device, order)?) } else { None },
            reciprocals: if tiled { Some(DeviceBuffer::new(device, order)?) } else { None },
            info: (DeviceBuffer::new(device, 1)?, Pinned::new(device, 1)?),
            steps: steps.iter().map(step).collect::<Result<_, _>>()?,
            signature,
        })
    }

    /// Copies A to the device, computes the first `cols` columns of L, and copies them back.
    fn columns(&mut self, mut l: MatMut<'_, T>, cols: usize, threads_per_block: usize) -> Result<(), Error> {
        self.a.upload(&self.stream, l.as_ref())?;
        let enqueued = self.enqueue(cols, threads_per_block);
        // Also after an error: nothing is in flight when this returns.
        self.stream.synchronize().and(enqueued)?;
        match self.info.1.as_slice()[0] {
            0 => self.l.as_mut().unwrap_or(&mut self.a).download(&self.stream, l.as_mut(), cols),
            column => Err(Error::NotPositiveDefinite { column: column as usize - 1 }),
        }
    }

    fn enqueue(&self, cols: usize, threads_per_block: usize) -> Result<(), Error> {
        let info = self.info.0.slice(0..1);
        // SAFETY: the stream alone uses the number, which exists until the stream has been waited for.
        unsafe { self.stream.clear(info)? };
        for column in 0..cols {
            for step in &self.steps {
                self.launch(step, column, threads_per_block, info)?;
            }
        }
        // SAFETY: as above.
        unsafe { self.stream.download(info, &self.info.1, 0..1) }
    }

    fn launch(
        &self,
        step: &Step,
        column: usize,
        threads_per_block: usize,
        info: DeviceSlice<'_, i32>,
    ) -> Result<(), Error> {
        let order = self.a.order();
        let threads = match step.extent {
            Extent::One => 1,
            Extent::OneBlock => threads_per_block,
            Extent::Above => column,
            Extent::FromDiagonal => order - column,
            Extent::Below => order - column - 1,
        };
        if threads == 0 {
            return Ok(());
        }
        let block = if step.shared { threads_per_block } else { threads_per_block.min(threads) };
        // Whole words: the compiler loads several scalars at once, including unused ones.
        let shared = if step.shared { (block * size_of::<T>()).next_multiple_of(16) } else { 0 };
        let blocks = (threads.div_ceil(block), 1);
        let shape = Launch { blocks, threads: block, shared_bytes: shared };
        let mut a = self.a.slice().address();
        let mut l = self.l.as_ref().map_or(a, |l| l.slice().address());
        let mut reciprocals = self.reciprocals.as_ref().map_or(0, |r| r.slice(0..r.len()).address());
        let (mut n, mut j) = (order as c_longlong, column as c_longlong);
        let mut info = info.address();
        let (n, j, info) = (argument(&mut n), argument(&mut j), argument(&mut info));
        let (a, l, reciprocals) = (argument(&mut a), argument(&mut l), argument(&mut reciprocals));
        let mut by_crout = [a, l, n, j, info];
        let mut tiled = [a, reciprocals, n, j, info];
        let mut pivot_rows = [a, n, j, info];
        let arguments: &mut [_] = match self.signature {
            Signature::Crout => &mut by_crout,
            Signature::Tiled => &mut tiled,
            Signature::PivotRows => &mut pivot_rows,
        };
        // SAFETY: the arguments are those of the kernel's file; the matrices are n × n, the reciprocals n, and the stream alone
        // uses them until it has been waited for.
        unsafe { step.function.launch(&self.stream, shape, arguments) }
    }
}
