//! The kernels of a batch of this order, and how they are launched.

use super::arguments::{Factors, GROUP, Modification, Source, Systems, Target};
use super::form::Form;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::ptx::{self, Ptx};
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
/// The layout of kernels through whose shared memory columns pass.
const STREAMED: &[(&str, usize)] = &[("MOST_THREADS", THREADS), ("WINDOW", WINDOW)];

/// Kernels of a module, whose layout of this name has these sizes.
///
/// # Errors
/// [`Error::Device`] if the driver refuses a kernel.
pub(super) fn functions<const N: usize>(
    device: &Device,
    (module, layout, sizes): (&'static Ptx, &str, &[(&str, usize)]),
    names: [String; N],
) -> Result<[Function; N], Error> {
    let module = device.module(module)?;
    module.layout(layout)?.check(sizes)?;
    let found = names.iter().map(|name| Function::load(&module, name)).collect::<Result<Vec<_>, _>>()?;
    Ok(found.try_into().unwrap_or_else(|_| unreachable!("a kernel for each name")))
}

/// The kernels that modify matrices of order n: for one column of V at a time, and for several.
fn modifying<T: Real>(device: &Device, form: Form, n: usize) -> Result<[Function; 2], Error> {
    let is_f32 = size_of::<T>() == 4;
    let thread: &[_] = &[("THREADS", THREADS), ("MODIFICATION", size_of::<Modification>()), ("GROUP", GROUP)];
    let (kind, of): (_, (_, _, &[_])) = match form {
        Form::Thread { order } => {
            (format!("thread_{order}"), (&ptx::BATCH_MODIFY_THREAD, "batch_modify_thread", thread))
        }
        Form::Lanes { lanes, rows } => {
            let module = if is_f32 { &ptx::BATCH_MODIFY_LANES_F32 } else { &ptx::BATCH_MODIFY_LANES_F64 };
            (format!("lanes_{lanes}_{rows}"), (module, "batch_modify_lanes", &[("MOST_THREADS", THREADS)]))
        }
        Form::Stream { lanes, rows } => {
            let module = if is_f32 { &ptx::BATCH_MODIFY_STREAM_F32 } else { &ptx::BATCH_MODIFY_STREAM_F64 };
            (format!("stream_{lanes}_{rows}"), (module, "batch_modify_stream", STREAMED))
        }
        Form::Block => {
            let kind = if n > BLOCK { "rows" } else { "block" };
            let sizes: &[_] = &[("MOST_THREADS", BLOCK)];
            (kind.to_owned(), (&ptx::BATCH_MODIFY_BLOCK, "batch_modify_block", sizes))
        }
    };
    functions(device, of, [1, 4].map(|columns| format!("batch_modify_{kind}_{columns}_{}", T::TYPE_NAME)))
}

/// The kernel that solves with factors of this form.
fn solving<T: Real>(device: &Device, form: Form) -> Result<Function, Error> {
    let kind = match form {
        Form::Thread { order } => format!("thread_{order}"),
        Form::Lanes { lanes, rows } => format!("lanes_{lanes}_{rows}"),
        Form::Stream { rows, .. } => format!("stream_{rows}"),
        Form::Block => "block".to_owned(),
    };
    let sizes: &[_] = &[("THREADS", THREADS), ("MOST_THREADS", BLOCK), ("SYSTEMS", size_of::<Systems>())];
    let of = match form {
        Form::Stream { .. } => (&ptx::BATCH_SOLVE_STREAM, "batch_solve_stream", STREAMED),
        _ => (&ptx::BATCH_SOLVE, "batch_solve", sizes),
    };
    let [solve] = functions(device, of, [format!("batch_solve_{kind}_{}", T::TYPE_NAME)])?;
    Ok(solve)
}

/// The kernels for one scalar type and order.
pub(in crate::cuda) struct Kernels {
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
        let name = T::TYPE_NAME;
        let sizes: &[_] = &[("THREADS", THREADS), ("MODIFICATION", size_of::<Modification>())];
        let of = (&ptx::BATCH_AGAIN, "batch_again", sizes);
        let [again] = functions(device, of, [format!("batch_again_{name}")])?;
        let sizes: &[_] = &[("THREADS", BEGIN_THREADS), ("SOURCE", size_of::<Source>())];
        let of = (&ptx::BATCH_BEGIN, "batch_begin", sizes);
        let [begin] = functions(device, of, [format!("batch_begin_{name}")])?;
        let sizes: &[_] = &[("THREADS", THREADS), ("TARGET", size_of::<Target>())];
        let of = (&ptx::BATCH_READ, "batch_read", sizes);
        let names = [format!("batch_copy_{name}"), format!("batch_log_det_{name}")];
        let [copy, log_det] = functions(device, of, names)?;
        let [one, several] = modifying::<T>(device, modifications, n)?;
        let solve = solving::<T>(device, solutions)?;
        // The same for all orders, because batches of different ones share the kernels.
        let with_shared = |function: Function| match modifications {
            Form::Thread { .. } => Ok(function),
            _ => function.with_shared(shared),
        };
        Ok(Self {
            modifications,
            solutions,
            n,
            stride,
            bytes: size_of::<T>(),
            multiprocessors: device.multiprocessors(),
            shared,
            modify: [with_shared(one)?, with_shared(several)?],
            again,
            begin,
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
