//! The calls of a device's API that the hybrid engine makes.

use super::blocking::Blocking;
use super::form::{COLUMN_GROUP, Form, Forms};
use super::tuning::Tuning;
use crate::error::Error;
use crate::real::Real;
use core::fmt;
use core::ops::Range;

/// A device, through the API that drives it. Cheap to clone.
///
/// Copies and kernels are *enqueued*: they start without a further call, and go on after the call. Those of one queue are done
/// in order, and those of several at the same time, as far as events do not order them. Every call may come from any thread, and
/// calls from several threads at the same time.
///
/// The memory of a copy or a kernel is in use until a wait of the host is over: for its queue ([`drain`](Self::drain)), or for an
/// event recorded after it ([`synchronize`](Self::synchronize)). If a wait fails, the work may still be running: the API then
/// neither frees memory nor gives it out to be written ([`LockedMemory::as_mut_slice`]) before the device is known to be idle.
///
/// # Safety
/// Memory has the length that was asked for. A wait that succeeds is over after the work that it is for; a copy or a kernel
/// accesses no memory but what its caller describes.
pub(crate) unsafe trait Api: Clone + fmt::Debug + Send + Sync + 'static {
    /// The forms in which its kernels process rank blocks.
    const FORMS: Forms;

    /// Work that is done in order. Dropping it does not wait.
    type Queue: Send + Sync;
    /// A point in a queue. It can be recorded again and again.
    type Event: Send + Sync;
    /// Memory of the device, not initialized.
    type Memory<T: Real>: Send + Sync;
    /// Host memory that the device can access, and that is copied at the link's rate.
    type Locked<T: Real>: LockedMemory<T>;
    /// The kernels, compiled for a scalar type.
    type Kernels<T: Real>: Send + Sync;

    fn queue(&self) -> Result<Self::Queue, Error>;

    /// A queue for work on other rows of the memory that `work` uses at the same time: where the device can, one whose work
    /// starts before waiting work of others; where queues must not share memory, `work` itself.
    fn queue_ahead_of(&self, work: &Self::Queue) -> Result<Self::Queue, Error>;

    /// An event that has not been recorded.
    fn event(&self) -> Result<Self::Event, Error>;

    /// Device memory for `len` scalars, which may be none.
    ///
    /// # Errors
    /// [`Error::Device`] if the device does not have that much memory left.
    fn memory<T: Real>(&self, len: usize) -> Result<Self::Memory<T>, Error>;

    /// Page-locked host memory for `len` scalars, which may be none, initially zero.
    ///
    /// # Errors
    /// [`Error::Device`] if the host does not have that much memory that can be locked.
    fn locked<T: Real>(&self, len: usize) -> Result<Self::Locked<T>, Error>;

    /// The kernels for the device. The first call for a scalar type may take long, because it compiles them.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses them.
    fn kernels<T: Real>(&self) -> Result<Self::Kernels<T>, Error>;

    /// The number of scalars of this memory.
    fn len<T: Real>(memory: &Self::Memory<T>) -> usize;

    /// Orders later work on `queue` after the work before the last record of `event`; does nothing if there is none. The host
    /// does not wait.
    fn wait(queue: &Self::Queue, event: &Self::Event) -> Result<(), Error>;

    /// Records the event after all work enqueued on `queue` so far. Waits enqueued earlier refer to the previous record.
    fn record(event: &Self::Event, queue: &Self::Queue) -> Result<(), Error>;

    /// Waits on the host until the last record of `event` is reached; does not wait if there is none.
    fn synchronize(event: &Self::Event) -> Result<(), Error>;

    /// Waits on the host for all work enqueued on `queue` so far.
    fn drain(queue: &Self::Queue) -> Result<(), Error>;

    /// Enqueues a copy of columns (rows × cols) from the start of host memory to the start of device memory, with the given
    /// column strides.
    ///
    /// # Safety
    /// Until the copy is done, both memories exist and have these columns, nothing writes these rows of `from`, and only this
    /// queue uses those of `to`.
    unsafe fn upload<T: Real>(
        queue: &Self::Queue,
        from: (&Self::Locked<T>, usize),
        shape: (usize, usize),
        to: (&Self::Memory<T>, usize),
    ) -> Result<(), Error>;

    /// Enqueues a copy in the other direction.
    ///
    /// # Safety
    /// Until the copy is done, both memories exist and have these columns, nothing reads or writes these rows of `to` or has a
    /// reference to them, and only this queue writes those of `from`.
    unsafe fn download<T: Real>(
        queue: &Self::Queue,
        from: (&Self::Memory<T>, usize),
        shape: (usize, usize),
        to: (&Self::Locked<T>, usize),
    ) -> Result<(), Error>;

    /// Enqueues a copy of a few scalars (rows × cols) from host memory to the device. Where the device can, it is not queued
    /// behind the large copies of other queues.
    ///
    /// # Safety
    /// As [`upload`](Self::upload), for these places.
    unsafe fn upload_at_once<T: Real>(
        queue: &Self::Queue,
        kernels: &Self::Kernels<T>,
        from: Place<'_, Self::Locked<T>>,
        shape: (usize, usize),
        to: Place<'_, Self::Memory<T>>,
    ) -> Result<(), Error>;

    /// Enqueues such a copy in the other direction.
    ///
    /// # Safety
    /// As [`download`](Self::download), for these places.
    unsafe fn download_at_once<T: Real>(
        queue: &Self::Queue,
        kernels: &Self::Kernels<T>,
        from: Place<'_, Self::Memory<T>>,
        shape: (usize, usize),
        to: Place<'_, Self::Locked<T>>,
    ) -> Result<(), Error>;

    /// Enqueues the trailing step. Allocates nothing.
    ///
    /// # Safety
    /// The memory has the shapes that `step` describes, and `tuning` is valid for at least this number of elements. Until the
    /// step is done the memory exists, and only this queue uses those rows of the panel and of V, or writes the reflectors.
    unsafe fn trailing<T: Real>(
        queue: &Self::Queue,
        kernels: &Self::Kernels<T>,
        step: &Trailing<'_, T, Self>,
        tuning: &Tuning,
    ) -> Result<(), Error>;
}

/// Page-locked host memory. The host reads and writes it at full speed.
///
/// # Safety
/// [`as_ptr`](Self::as_ptr) is the same for as long as the memory exists, and points to [`len`](Self::len) scalars, initialized,
/// that may be read and written.
pub(crate) unsafe trait LockedMemory<T>: Send + Sync {
    fn len(&self) -> usize;

    /// For use while copies from or to other parts are in flight.
    fn as_ptr(&self) -> *mut T;

    /// Not for memory of a copy that has not been waited for.
    ///
    /// # Errors
    /// [`Error::Device`] if a wait has failed and the device is not known to have been idle since.
    fn as_mut_slice(&mut self) -> Result<&mut [T], Error>;
}

/// The location of columns in memory of either kind, in scalars from its start.
pub(crate) struct Place<'a, M> {
    pub memory: &'a M,
    pub offset: usize,
    /// From one column to the next.
    pub stride: usize,
}

/// The trailing step: applies all columns of a panel to a range of rows, one rank block of V after the other. The sign of a
/// rank block is part of its reflectors.
///
/// Shapes, column-major: entry (i, j) of the panel at `panel[i + j · panel_stride]`, entry (i, r) of V at `v[v_first + i + r ·
/// v_stride]`; `reflectors`, of all rank blocks, are in the layout of the form's kernel, or of `interchanged.cu`.
pub(crate) struct Trailing<'a, T: Real, A: Api> {
    pub panel: &'a A::Memory<T>,
    pub panel_stride: usize,
    pub v: &'a A::Memory<T>,
    /// The row of V that belongs to row 0 of the panel.
    pub v_first: usize,
    pub v_stride: usize,
    pub reflectors: &'a A::Memory<T>,
    /// Columns of the panel, a multiple of 8.
    pub cols: usize,
    /// The rank blocks of V, and the form in which they are processed.
    pub blocking: Blocking,
    /// The rank blocks of the step. All of them have interchanges, or none has.
    pub rank_blocks: Range<usize>,
    pub interchanged: bool,
    /// The rows of the panel and of V of the step.
    pub rows: Range<usize>,
}

impl<T: Real, A: Api> Trailing<'_, T, A> {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.cols == 0 || self.rank_blocks.is_empty() || self.rows.is_empty()
    }

    /// Scalars from the reflectors of one rank block to those of the next.
    pub fn block_stride(&self) -> usize {
        self.cols / COLUMN_GROUP * self.blocking.form.group_scalars::<T>(self.blocking.elements())
    }

    /// The start of the reflectors and of the columns of V of the step's rank blocks, in scalars.
    pub fn first_block(&self) -> (usize, usize) {
        let first = self.rank_blocks.start;
        let v = self.v_first + first * self.blocking.blocks.width * self.v_stride;
        (first * self.block_stride(), v)
    }

    /// Asserts the contracts of all kernels, as far as they can be checked here.
    pub fn check(&self) {
        let Self { panel_stride, v_first, v_stride, cols, blocking, rank_blocks, rows, .. } = self;
        let [panel, v, reflectors] = [self.panel, self.v, self.reflectors].map(A::len);
        let Blocking { blocks, form, .. } = blocking;
        debug_assert!(rank_blocks.end <= blocks.count(), "no such rank block");
        debug_assert!(blocks.width.is_multiple_of(4), "sums of dot products");
        let columns = blocks.columns();
        debug_assert!(matches!(form.lanes(), 1 | 2 | 4), "lanes share a warp");
        debug_assert!(blocks.width == form.lanes() * blocking.elements());
        debug_assert!(*form != Form::Tensor || size_of::<T>() == 8, "tensor cores are for double precision");
        debug_assert!(cols.is_multiple_of(COLUMN_GROUP), "columns come in groups");
        debug_assert!(rows.end <= *panel_stride || *cols == 1, "a column of the panel runs into the next");
        debug_assert!((cols - 1) * panel_stride + rows.end <= panel, "the panel is too short");
        debug_assert!(v_first + rows.end <= *v_stride, "a column of V runs into the next");
        debug_assert!(v_first + (columns - 1) * v_stride + rows.end <= v, "V is too short");
        debug_assert!(blocking.reflector_scalars::<T>(*cols) <= reflectors, "too few reflectors");
    }
}
