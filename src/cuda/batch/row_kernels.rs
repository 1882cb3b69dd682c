//! The kernels that append and remove rows, for one scalar type and order, and how they are launched.

use super::arguments::{Appending, GROUP, Removal};
use super::form::Form;
use super::kernels::functions;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::ptx;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use core::ffi::{c_int, c_void};

/// Threads of a block that has several matrices, and of one that decides what working precision does not.
const THREADS: usize = 128;
/// Threads of a block that has a matrix.
const BLOCK: usize = 256;
/// Blocks for each multiprocessor, where blocks go on with the next matrix.
const BLOCKS_EACH: usize = 4;

/// Loaded when the first row comes or goes.
pub(super) struct RowKernels {
    form: Form,
    n: usize,
    /// Scalars of a triangle.
    stride: usize,
    bytes: usize,
    multiprocessors: usize,
    append: Function,
    again: Function,
    remove: Function,
}

impl RowKernels {
    /// # Errors
    /// [`Error::Device`] if the driver refuses a kernel.
    pub fn load<T: Real>(device: &Device, n: usize, stride: usize) -> Result<Self, Error> {
        // A block's own variables take some.
        let shared = device.shared_bytes()?.saturating_sub(4096);
        let form = Form::of_rows::<T>(n, stride, shared);
        let name = T::TYPE_NAME;
        let suffix = match form {
            Form::Thread { order } => format!("thread_{order}_{name}"),
            Form::Lanes { lanes, rows } => format!("lanes_{lanes}_{rows}_{name}"),
            Form::Stream { .. } | Form::Block => format!("block_{name}"),
        };
        let sizes = [
            ("THREADS", THREADS),
            ("GROUP", GROUP),
            ("MOST_THREADS", BLOCK),
            ("APPENDING", size_of::<Appending>()),
        ];
        let of = (&ptx::BATCH_APPEND, "batch_append", &sizes[..]);
        let [append] = functions(device, of, [format!("batch_append_{suffix}")])?;
        let of = (&ptx::BATCH_APPEND_AGAIN, "batch_append_again", &[sizes[0], sizes[3]][..]);
        let [again] = functions(device, of, [format!("batch_append_again_{name}")])?;
        let removal = ("REMOVAL", size_of::<Removal>());
        let of = match form {
            Form::Thread { .. } => {
                (&ptx::BATCH_REMOVE_THREAD, "batch_remove_thread", &[sizes[0], sizes[1], removal][..])
            }
            Form::Lanes { .. } => {
                (&ptx::BATCH_REMOVE_LANES, "batch_remove_lanes", &[("MOST_THREADS", THREADS), removal][..])
            }
            Form::Stream { .. } | Form::Block => {
                (&ptx::BATCH_REMOVE_BLOCK, "batch_remove_block", &[sizes[2], removal][..])
            }
        };
        let [remove] = functions(device, of, [format!("batch_remove_{suffix}")])?;
        // The same for all orders, because batches of different ones share the kernels.
        let with_shared = |function: Function| match form {
            Form::Thread { .. } => Ok(function),
            _ => function.with_shared(shared),
        };
        Ok(Self {
            form,
            n,
            stride,
            bytes: size_of::<T>(),
            multiprocessors: device.multiprocessors(),
            append: with_shared(append)?,
            again: again.with_shared(shared)?,
            remove: with_shared(remove)?,
        })
    }

    /// Blocks that go on with the next matrix.
    fn some_blocks(&self, count: usize) -> usize {
        count.clamp(1, BLOCKS_EACH * self.multiprocessors)
    }

    /// The shape of a launch, and scalars from one triangle in shared memory to the next, where lanes have the matrices.
    fn shape<T: Real>(&self, count: usize) -> (Launch, Option<c_int>) {
        match self.form {
            Form::Thread { .. } => (Launch::new((count.div_ceil(THREADS), 1), THREADS), None),
            Form::Lanes { lanes, .. } => {
                let threads = if lanes == 32 { 32 } else { 64 };
                let (matrices, stride) = (threads / lanes, self.form.shared::<T>(self.stride, 0));
                let shared_bytes = matrices * stride * self.bytes;
                let stride = c_int::try_from(stride).unwrap_or(0);
                (Launch { blocks: (count.div_ceil(matrices), 1), threads, shared_bytes }, Some(stride))
            }
            Form::Stream { .. } | Form::Block => {
                let threads = self.n.next_multiple_of(32).min(BLOCK);
                let (blocks, shared_bytes) = ((self.some_blocks(count), 1), self.n * self.bytes);
                (Launch { blocks, threads, shared_bytes }, None)
            }
        }
    }

    /// # Safety
    /// `all` points to the kernel's first argument, and its contract holds for that.
    unsafe fn launch<T: Real>(
        &self,
        stream: &Stream,
        function: &Function,
        count: i64,
        all: *mut c_void,
    ) -> Result<(), Error> {
        let (shape, mut stride) = self.shape::<T>(usize::try_from(count).unwrap_or(0));
        let mut arguments = vec![all];
        arguments.extend(stride.as_mut().map(argument));
        // SAFETY: kernels in which lanes have the matrices take the stride as well; the caller guarantees the rest.
        unsafe { function.launch(stream, shape, &mut arguments) }
    }

    /// Enqueues that each matrix gets a row: what working precision decides, and the rest.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// All memory is that of the kernels' contract, and is not used otherwise until the launches are done.
    pub unsafe fn append<T: Real>(&self, stream: &Stream, mut all: Appending) -> Result<(), Error> {
        let count = all.factors.count;
        // SAFETY: the argument has the type of the kernel's; the caller guarantees the rest.
        unsafe { self.launch::<T>(stream, &self.append, count, argument(&mut all))? };
        let blocks = (self.some_blocks(usize::try_from(count).unwrap_or(0)), 1);
        let shape = Launch { blocks, threads: THREADS, shared_bytes: 2 * self.n * size_of::<f64>() };
        // SAFETY: as above.
        unsafe { self.again.launch(stream, shape, &mut [argument(&mut all)]) }
    }

    /// Enqueues that each matrix loses a row.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`append`](Self::append).
    pub unsafe fn remove<T: Real>(&self, stream: &Stream, mut all: Removal) -> Result<(), Error> {
        let count = all.factors.count;
        // SAFETY: the argument has the type of the kernel's; the caller guarantees the rest.
        unsafe { self.launch::<T>(stream, &self.remove, count, argument(&mut all)) }
    }
}
