//! The kernels of a batch of this order, and how they are launched.

use super::arguments::{Factors, GROUP, Modification, Source, Systems, Target};
use super::form::Form;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::ptx;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use core::ffi::c_int;

/// Threads of a block, in kernels that do not choose.
const THREADS: usize = 128;
const BEGIN_THREADS: usize = 64;
/// Threads of a block that has a matrix.
const BLOCK: usize = 256;
/// Blocks for each multiprocessor, where blocks go on with the next matrix.
const BLOCKS_EACH: usize = 4;
/// Bytes that all blocks of such a launch have together, unless one takes more.
const OF_ALL_BLOCKS: usize = 1 << 28;
/// Columns in shared memory, where they pass through it.
const WINDOW: usize = 8;

/// The kernels for one scalar type and order.
pub(super) struct Kernels {
    modifications: Form,
    solutions: Form,
    n: usize,
    /// Scalars of a triangle.
    stride: usize,
    bytes: usize,
    multiprocessors: usize,
    /// Bytes of shared memory of a block.
    shared: usize,
    /// For one column of V at a time, and for several.
    modify: [Function; 2],
    again: Function,
    begin: Function,
    copy: Function,
    log_det: Function,
    solve: Function,
}

impl Kernels {
    /// # Errors
    /// [`Error::Device`] if the driver refuses a kernel.
    pub fn load<T: Real>(device: &Device, n: usize, stride: usize) -> Result<Self, Error> {
        // A block's own variables take some.
        let shared = device.shared_bytes()?.saturating_sub(4096);
        let (modifications, solutions) = (Form::of_modifications(n), Form::of_solutions(n));
        let bytes = size_of::<T>();
        let of = |module: &'static ptx::Ptx, layout: (&str, &[(&str, usize)]), names: &[String]| {
            let module = device.module(module)?;
            module.layout(layout.0)?.check(layout.1)?;
            names.iter().map(|name| Function::load(&module, name)).collect::<Result<Vec<_>, _>>()
        };
        let name = T::TYPE_NAME;
        let sizes: &[_] =
            &[("THREADS", THREADS), ("MODIFICATION", size_of::<Modification>()), ("GROUP", GROUP)];
        let modify = match modifications {
            Form::Thread { order } => {
                let names = [1, 4].map(|columns| format!("batch_modify_thread_{order}_{columns}_{name}"));
                of(&ptx::BATCH_MODIFY_THREAD, ("batch_modify_thread", sizes), &names)?
            }
            Form::Lanes { lanes, rows } => {
                let names =
                    [1, 4].map(|columns| format!("batch_modify_lanes_{lanes}_{rows}_{columns}_{name}"));
                let module =
                    if bytes == 4 { &ptx::BATCH_MODIFY_LANES_F32 } else { &ptx::BATCH_MODIFY_LANES_F64 };
                of(module, ("batch_modify_lanes", &[("MOST_THREADS", THREADS)]), &names)?
            }
            Form::Stream { lanes, rows } => {
                let names =
                    [1, 4].map(|columns| format!("batch_modify_stream_{lanes}_{rows}_{columns}_{name}"));
                let module =
                    if bytes == 4 { &ptx::BATCH_MODIFY_STREAM_F32 } else { &ptx::BATCH_MODIFY_STREAM_F64 };
                let sizes: &[_] = &[("MOST_THREADS", THREADS), ("WINDOW", WINDOW)];
                of(module, ("batch_modify_stream", sizes), &names)?
            }
            Form::Block => {
                let rows = if n > BLOCK { "rows" } else { "block" };
                let names = [1, 4].map(|columns| format!("batch_modify_{rows}_{columns}_{name}"));
                of(&ptx::BATCH_MODIFY_BLOCK, ("batch_modify_block", &[("MOST_THREADS", BLOCK)]), &names)?
            }
        };
        let solve = match solutions {
            Form::Thread { order } => format!("batch_solve_thread_{order}_{name}"),
            Form::Lanes { lanes, rows } => format!("batch_solve_lanes_{lanes}_{rows}_{name}"),
            Form::Stream { rows, .. } => format!("batch_solve_stream_{rows}_{name}"),
            Form::Block => format!("batch_solve_block_{name}"),
        };
        let again = of(&ptx::BATCH_AGAIN, ("batch_again", &sizes[..2]), &[format!("batch_again_{name}")])?;
        let sizes: &[_] = &[("THREADS", THREADS), ("MOST_THREADS", BLOCK), ("SYSTEMS", size_of::<Systems>())];
        let streamed: &[_] = &[("MOST_THREADS", THREADS), ("WINDOW", WINDOW)];
        let (module, layout) = match solutions {
            Form::Stream { .. } => (&ptx::BATCH_SOLVE_STREAM, ("batch_solve_stream", streamed)),
            _ => (&ptx::BATCH_SOLVE, ("batch_solve", sizes)),
        };
        let solve = of(module, layout, &[solve])?.remove(0);
        let sizes: &[_] = &[("THREADS", BEGIN_THREADS), ("SOURCE", size_of::<Source>())];
        let begin = of(&ptx::BATCH_BEGIN, ("batch_begin", sizes), &[format!("batch_begin_{name}")])?;
        let names = [format!("batch_copy_{name}"), format!("batch_log_det_{name}")];
        let sizes: &[_] = &[("THREADS", THREADS), ("TARGET", size_of::<Target>())];
        let mut read = of(&ptx::BATCH_READ, ("batch_read", sizes), &names)?.into_iter();
        let [Some(copy), Some(log_det)] = [read.next(), read.next()] else { unreachable!("two names") };
        // The same for all orders, because batches of different ones share the kernels.
        let with_shared = |function: Function| match modifications {
            Form::Thread { .. } => Ok(function),
            _ => function.with_shared(shared),
        };
        let one =
            |functions: Vec<Function>| functions.into_iter().next().unwrap_or_else(|| unreachable!("a name"));
        let [single, several] = modify.try_into().unwrap_or_else(|_| unreachable!("two names"));
        Ok(Self {
            modifications,
            solutions,
            n,
            stride,
            bytes,
            multiprocessors: device.multiprocessors(),
            shared,
            modify: [with_shared(single)?, with_shared(several)?],
            again: one(again),
            begin: one(begin),
            copy,
            log_det,
            solve: with_shared(solve)?,
        })
    }

    /// Blocks that go on with the next matrix, if each has this much memory.
    fn some_blocks(&self, count: usize, bytes: usize) -> usize {
        count.min(BLOCKS_EACH * self.multiprocessors).min(OF_ALL_BLOCKS / bytes.max(1)).max(1)
    }

    /// Numbers of memory that the blocks have that decide what working precision does not: V in twice the precision.
    pub fn wide_room(&self, count: usize, rank: usize) -> usize {
        self.deciding_blocks(count, rank) * 2 * self.n * rank
    }

    fn deciding_blocks(&self, count: usize, rank: usize) -> usize {
        self.some_blocks(count, 2 * self.n * rank * size_of::<f64>())
    }

    /// A launch with some lanes for each matrix, which has so many scalars of shared memory.
    fn of_lanes(&self, (count, lanes): (usize, usize), threads: usize, scalars: usize) -> Launch {
        let matrices = threads / lanes;
        let shared_bytes = matrices * scalars * self.bytes;
        Launch { blocks: (count.div_ceil(matrices), 1), threads, shared_bytes }
    }

    fn modify_shape<T>(&self, count: usize, kind: usize) -> Launch {
        match self.modifications {
            Form::Thread { .. } => Launch::new((count.div_ceil(THREADS), 1), THREADS),
            Form::Lanes { lanes, .. } | Form::Stream { lanes, .. } => {
                self.of_lanes((count, lanes), 64, self.modifications.shared::<T>(self.stride, WINDOW))
            }
            Form::Block => {
                let columns = if kind == 0 { 1 } else { 4 };
                let shared_bytes = if self.n > BLOCK { columns * self.n * self.bytes } else { 0 };
                let threads = self.n.next_multiple_of(32).min(BLOCK);
                Launch { blocks: (self.some_blocks(count, 0), 1), threads, shared_bytes }
            }
        }
    }

    fn solve_shape<T>(&self, count: usize) -> Launch {
        match self.solutions {
            Form::Thread { .. } => Launch::new((count.div_ceil(THREADS), 1), THREADS),
            Form::Lanes { lanes, .. } | Form::Stream { lanes, .. } => {
                // Of large matrices as many as possible.
                let threads = if self.n <= 64 { 64 } else { 32 };
                self.of_lanes((count, lanes), threads, self.solutions.shared::<T>(self.stride, WINDOW))
            }
            Form::Block => {
                let threads = self.n.next_multiple_of(32).min(BLOCK);
                let shared_bytes = self.n * self.bytes;
                Launch { blocks: (self.some_blocks(count, 0), 1), threads, shared_bytes }
            }
        }
    }

    /// Enqueues a modification: that in working precision, and what it leaves undecided.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// All memory is that of the kernels' contract, and is not used otherwise until the launches are done. `wide` is as large as
    /// [`wide_room`](Self::wide_room) says.
    pub unsafe fn modify<T: Real>(
        &self,
        stream: &Stream,
        mut all: Modification,
        mut wide: u64,
    ) -> Result<(), Error> {
        let count = usize::try_from(all.factors.count).unwrap_or(0);
        let several = all.given.rank > 1 && self.modify_shape::<T>(count, 1).shared_bytes <= self.shared;
        let kind = usize::from(several);
        let shape = self.modify_shape::<T>(count, kind);
        let mut arguments = vec![argument(&mut all)];
        let mut stride = c_int::try_from(self.modifications.shared::<T>(self.stride, WINDOW)).unwrap_or(0);
        if matches!(self.modifications, Form::Lanes { .. }) {
            arguments.push(argument(&mut stride));
        }
        // SAFETY: arguments of the types of the kernel's; the caller guarantees the rest.
        unsafe { self.modify[kind].launch(stream, shape, &mut arguments)? };
        let rank = usize::try_from(all.given.rank).unwrap_or(0);
        let shape = Launch::new((self.deciding_blocks(count, rank), 1), THREADS);
        // SAFETY: as above.
        unsafe { self.again.launch(stream, shape, &mut [argument(&mut all), argument(&mut wide)]) }
    }

    /// Enqueues the computation of the first factors.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`modify`](Self::modify).
    pub unsafe fn begin(&self, stream: &Stream, mut to: Factors, mut from: Source) -> Result<(), Error> {
        let count = usize::try_from(to.count).unwrap_or(0);
        let blocks = count.clamp(1, 64 * self.multiprocessors);
        let arguments = &mut [argument(&mut to), argument(&mut from)];
        // SAFETY: two arguments of the types of the kernel's; the caller guarantees the rest.
        unsafe { self.begin.launch(stream, Launch::new((blocks, 1), BEGIN_THREADS), arguments) }
    }

    /// Enqueues a copy of factors.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`modify`](Self::modify).
    pub unsafe fn copy(&self, stream: &Stream, mut from: Factors, mut to: Target) -> Result<(), Error> {
        let blocks = usize::try_from(from.count).unwrap_or(0).clamp(1, 64 * self.multiprocessors);
        let arguments = &mut [argument(&mut from), argument(&mut to)];
        // SAFETY: two arguments of the types of the kernel's; the caller guarantees the rest.
        unsafe { self.copy.launch(stream, Launch::new((blocks, 1), THREADS), arguments) }
    }

    /// Enqueues the computation of all log det A.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`modify`](Self::modify).
    pub unsafe fn log_det(&self, stream: &Stream, mut from: Factors, mut to: u64) -> Result<(), Error> {
        let blocks = usize::try_from(from.count).unwrap_or(0).div_ceil(THREADS);
        let arguments = &mut [argument(&mut from), argument(&mut to)];
        // SAFETY: two arguments of the types of the kernel's; the caller guarantees the rest.
        unsafe { self.log_det.launch(stream, Launch::new((blocks, 1), THREADS), arguments) }
    }

    /// Enqueues solves.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`modify`](Self::modify).
    pub unsafe fn solve<T: Real>(
        &self,
        stream: &Stream,
        mut factors: Factors,
        mut systems: Systems,
    ) -> Result<(), Error> {
        let shape = self.solve_shape::<T>(usize::try_from(factors.count).unwrap_or(0));
        systems.shared_stride = i32::try_from(self.solutions.shared::<T>(self.stride, WINDOW)).unwrap_or(0);
        let arguments = &mut [argument(&mut factors), argument(&mut systems)];
        // SAFETY: two arguments of the types of the kernel's; the caller guarantees the rest.
        unsafe { self.solve.launch(stream, shape, arguments) }
    }
}
