//! The part of a panel that the CPU processes in the hybrid sweep: the diagonal block and the next diagonal rows, one rank
//! block of V after the other.
//!
//! The sweep over all columns of V consists of one rank block after another, panel by panel. It breaks down exactly if the
//! whole modification does: the plus columns come first and only add, the minus columns only subtract.
//!
//! Threads share the work in items that wait for each other. In the diagonal block each takes a rank block, some columns after
//! the previous rank block; of the next diagonal rows each takes some, after all rank blocks. The division does not change a
//! bit of the result.

use super::api::LockedMemory;
use super::blocking::Blocking;
use crate::host::pool::wait_until;
use crate::host::threads::Threads;
use crate::real::Real;
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::health::Health;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::Breakdown;
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::job::Job;
use cholupdate_kernels::sweep::packed::{Packed, Tiles};
use cholupdate_kernels::sweep::shape::{Shape, shape};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use faer::ColRef;

/// Columns by which a rank block lags the previous one: a multiple of every micro-kernel's block.
pub(super) const STEP: usize = 8;

/// Working memory of the CPU, kept between calls.
pub(super) struct HostPart<T> {
    pub(super) blocking: Blocking,
    pub(super) panel_cols: usize,
    isa: Isa,
    shape: Shape,
    pub(super) each: Vec<Block<T>>,
    /// The pivots of a panel before its diagonal step. (panel_cols)
    old: Vec<T>,
}

/// The state of a rank block.
pub(super) struct Block<T> {
    /// The rows of V in the diagonal block, and those in the next diagonal block, by the parity of the panel.
    v: [Packed<T>; 2],
    /// Their location, for the threads that share the work.
    tiles: [Tiles<T>; 2],
    reflectors: Buffer<T>,
    reflectors_at: *mut T,
    /// Number of finished columns of the panel.
    pub(super) done: AtomicUsize,
    /// Number of columns before a breakdown, from the panel's first on; later rank blocks process no more than these.
    pub(super) sound: AtomicUsize,
    /// The device's copy of the reflectors has been written, if there is one.
    pub(super) written: AtomicBool,
    /// The copy has interchanges of columns of L with columns of V.
    pub(super) interchanged: AtomicBool,
}

// SAFETY: the pointers are into its own buffers, and only unsafe calls use them.
unsafe impl<T: Send> Send for Block<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Block<T> {}

impl<T: Real> Default for Block<T> {
    fn default() -> Self {
        let mut v = [Packed::default(), Packed::default()];
        Self {
            tiles: v.each_mut().map(Packed::view),
            v,
            reflectors: Buffer::default(),
            reflectors_at: core::ptr::null_mut(),
            done: AtomicUsize::new(0),
            sound: AtomicUsize::new(0),
            written: AtomicBool::new(false),
            interchanged: AtomicBool::new(false),
        }
    }
}

impl<T: Real> HostPart<T> {
    pub fn new() -> Self {
        let isa = Isa::detect();
        Self {
            blocking: Blocking::NONE,
            panel_cols: 0,
            isa,
            shape: shape::<T>(isa, 0),
            each: Vec::new(),
            old: Vec::new(),
        }
    }

    /// Reserves room for a sweep.
    pub fn prepare(&mut self, blocking: Blocking, panel_cols: usize) {
        (self.blocking, self.panel_cols) = (blocking, panel_cols);
        let (width, count) = (self.width(), self.count());
        self.shape = shape::<T>(self.isa, width);
        debug_assert!(STEP.is_multiple_of(self.shape.block));
        if self.each.len() < count {
            self.each.resize_with(count, Block::default);
        }
        for block in &mut self.each[..count] {
            block.reflectors.reserve(Job::<T>::reflector_len(panel_cols, &self.shape, width, 0));
            block.reflectors_at = block.reflectors.as_mut_ptr();
        }
        self.old.resize(panel_cols, T::ZERO);
    }

    /// Columns of a rank block, and the number of rank blocks.
    fn width(&self) -> usize {
        self.blocking.blocks.width
    }
    fn count(&self) -> usize {
        self.blocking.blocks.count()
    }
    fn blocks(&self) -> &[Block<T>] {
        &self.each[..self.count()]
    }

    /// The number of threads that could have work besides the caller, one of which calls the driver.
    pub fn workers(&self) -> usize {
        // With fewer columns, the work is done before other threads have noticed it.
        const WORTH_SHARING: usize = 64;
        if self.blocking.blocks.columns() < WORTH_SHARING {
            return 0;
        }
        let items = self.count() + 1 + self.panel_cols.div_ceil(self.shape.tile);
        items.min(Threads::Pool.count() - 1)
    }

    /// Copies `rows` of V, which belong to the first diagonal block.
    ///
    /// # Safety
    /// No code writes to these rows of `v` during the call. (column stride `stride`)
    pub unsafe fn load(&mut self, v: &impl LockedMemory<T>, stride: usize, rows: Range<usize>) {
        self.make_room(&rows, 0);
        for tile in 0..self.chunks(&rows) {
            // SAFETY: there is room for these rows, and the caller guarantees `v`.
            unsafe { self.copy_tile(v, stride, &rows, tile, 0) };
        }
    }

    /// Reserves room for the rows of V in the diagonal block of the panel at position `index`.
    fn make_room(&mut self, rows: &Range<usize>, index: usize) {
        let (width, count, tile) = (self.width(), self.count(), self.shape.tile);
        for block in &mut self.each[..count] {
            let v = &mut block.v[index % 2];
            v.make_room(width, rows.len(), rows.start, tile);
            block.tiles[index % 2] = v.view();
        }
    }

    /// Copies one tile of these rows of V in all rank blocks.
    ///
    /// # Safety
    /// There is room for them, no other thread uses the tile, and no code writes to its rows of `v`.
    unsafe fn copy_tile(
        &self,
        v: &impl LockedMemory<T>,
        stride: usize,
        rows: &Range<usize>,
        tile: usize,
        index: usize,
    ) {
        let width = self.width();
        let rows = self.chunk(rows, tile);
        for (g, block) in self.blocks().iter().enumerate() {
            for r in 0..width {
                let at = (g * width + r) * stride + rows.start;
                debug_assert!(at + rows.len() <= v.len());
                // SAFETY: that column of V has `stride` rows, which nothing writes, and no other thread uses the tile: the
                // caller guarantees both.
                unsafe {
                    let column = ColRef::from_raw_parts(v.as_ptr().add(at), rows.len(), 1);
                    block.tiles[index % 2].pack_column(tile, r, column, T::ONE);
                }
            }
        }
    }

    /// The memory of the steps for one rank block, in panels of `panel_cols` columns: L as `host` describes it, and V in the
    /// diagonal block of the panel at position `index`.
    pub(super) fn job(&self, at: usize, host: Entries<T>, index: usize, panel_cols: usize) -> Job<T> {
        let Shape { block, lanes, .. } = self.shape;
        let width = self.width();
        let (plus, minus) = if self.blocking.blocks.is_minus(at) { (0, width) } else { (width, 0) };
        // Later rank blocks read what the first has written.
        let l = match at {
            0 => host,
            _ => Entries { src: host.dst.cast_const(), src_stride: host.dst_stride, ..host },
        };
        let Block { tiles, reflectors_at, .. } = &self.each[at];
        Job {
            isa: self.isa,
            l,
            v: tiles[index % 2],
            stream: false,
            large: false,
            reflectors: *reflectors_at,
            // The reflectors of narrower panels are stored one after the other, as those of one wide panel are.
            reflector_sets: self.panel_cols / panel_cols,
            panel_cols,
            block,
            lanes,
            by_column: false,
            together: false,
            // V may be one column and zeros, and in a loop that adds and removes it rounding errors would grow faster.
            at_once: false,
            plus,
            minus,
            scale: T::ONE,
            carried: None,
        }
    }

    /// Prepares the work on the host part of `panel`, whose items are `diagonal` and `next_rows`.
    ///
    /// # Safety
    /// `host` describes the host part, readable at `src`.
    pub unsafe fn begin(&mut self, panel: Panel, next: &Range<usize>, host: Entries<T>) {
        for j in panel.block() {
            // SAFETY: the diagonal entry of a column of the panel.
            self.old[j - panel.first] = unsafe { pivot(host.src, host.src_stride, j) };
        }
        for block in self.blocks() {
            block.done.store(0, Ordering::Relaxed);
            block.sound.store(panel.cols, Ordering::Relaxed);
            block.written.store(false, Ordering::Relaxed);
        }
        self.make_room(next, panel.index + 1);
    }

    /// Finishes the work on the host part of `panel`.
    ///
    /// # Errors
    /// The first column whose pivot² is not greater than zero. The result is then invalid.
    ///
    /// # Safety
    /// `host` describes the host part, readable at `dst`; all items of the diagonal step are done.
    pub unsafe fn outcome(
        &self,
        panel: Panel,
        host: Entries<T>,
        health: &mut Health<T>,
    ) -> Result<(), Breakdown> {
        let sound = self.each[self.count() - 1].sound.load(Ordering::Relaxed);
        if sound < panel.cols {
            return Err(Breakdown { column: panel.first + sound });
        }
        for j in panel.block() {
            // SAFETY: the diagonal entry of a column of the panel.
            let new = unsafe { pivot(host.dst, host.dst_stride, j) };
            health.record(&self.old[j - panel.first..][..1], &[new]);
        }
        Ok(())
    }

    /// Waits until the device's copy of the reflectors is complete. Returns false if there is none, after a breakdown.
    pub fn made(&self, panel: Panel) -> bool {
        wait_until(|| self.blocks().iter().all(|block| block.written.load(Ordering::Acquire)));
        self.blocks().iter().all(|block| block.sound.load(Ordering::Relaxed) == panel.cols)
    }

    /// Runs of rank blocks that all have interchanges, or all have none. All reflectors have been computed.
    pub fn runs(&self) -> impl Iterator<Item = (Range<usize>, bool)> + '_ {
        let interchanged = |block: &Block<T>| block.interchanged.load(Ordering::Relaxed);
        let mut first = 0;
        self.blocks().chunk_by(move |a, b| interchanged(a) == interchanged(b)).map(move |run| {
            let blocks = first..first + run.len();
            first = blocks.end;
            (blocks, interchanged(&run[0]))
        })
    }

    /// Number of work items of the next diagonal rows: whole tiles of V, from the first of these rows on.
    pub fn chunks(&self, next: &Range<usize>) -> usize {
        next.len().div_ceil(self.shape.tile)
    }

    fn chunk(&self, next: &Range<usize>, c: usize) -> Range<usize> {
        let first = next.start + c * self.shape.tile;
        first..next.end.min(first + self.shape.tile)
    }

    /// The trailing step of `panel` on some of the next diagonal rows, for all rank blocks, each after its diagonal step. First
    /// copies the rows of V.
    ///
    /// # Safety
    /// As `diagonal`; each chunk is done once after `begin`, all rank blocks have been started, and nothing writes to these
    /// rows of `v`. (column stride `stride`)
    pub unsafe fn next_rows(
        &self,
        c: usize,
        panel: Panel,
        rows: &Range<usize>,
        host: Entries<T>,
        (v, stride): (&impl LockedMemory<T>, usize),
    ) {
        // SAFETY: the caller guarantees the rows; `begin` has reserved room.
        unsafe { self.copy_tile(v, stride, rows, c, panel.index + 1) };
        let whole = Panel { index: 0, ..panel };
        for (at, own) in self.blocks().iter().enumerate() {
            wait_until(|| own.done.load(Ordering::Acquire) >= panel.cols);
            if own.sound.load(Ordering::Relaxed) < panel.cols {
                return;
            }
            let job = self.job(at, host, panel.index + 1, self.panel_cols);
            // SAFETY: the caller guarantees the rows; chunks are disjoint, and each is processed rank block by rank block.
            unsafe { job.trailing(whole, self.chunk(rows, c)) };
        }
    }
}

/// The diagonal entry of a column of L.
///
/// # Safety
/// It is readable.
unsafe fn pivot<T: Copy>(base: *const T, stride: isize, j: usize) -> T {
    // SAFETY: the caller guarantees that it is readable.
    unsafe { *base.wrapping_offset(j as isize * stride).wrapping_add(j) }
}

/// The destination of reflectors. Each rank block has its own part.
#[derive(Clone, Copy)]
pub(super) struct Out<T>(pub *mut T);

// SAFETY: an address; the contract of `HostPart::diagonal` says which thread writes which part.
unsafe impl<T: Sync> Sync for Out<T> {}
