//! What the CPU does of a panel in the hybrid sweep: its host part, the diagonal block and the next diagonal rows, one rank
//! block of V after the other.
//!
//! The sweep over all columns of V is that of one rank block after another, panel by panel, and breaks
//! down where the whole modification does: what the first ones add, the others only take away.
//!
//! Threads share the work in items that wait for each other. In the diagonal block each takes a rank block, and
//! follows the one before it some columns behind; of the next diagonal rows each takes some, and follows the rank blocks.
//! Neither changes a bit of the result.

use super::blocking::Blocking;
use crate::cpu::kernels::entries::Entries;
use crate::cpu::kernels::job::Job;
use crate::cpu::kernels::packed::{Packed, Tiles};
use crate::cpu::kernels::shape::{Shape, shape};
use crate::cuda::memory::Pinned;
use crate::host::buffer::Buffer;
use crate::host::isa::Isa;
use crate::host::pool::wait_until;
use crate::host::threads::Threads;
use crate::report::Health;
use crate::scalar::Scalar;
use crate::sweep::Breakdown;
use crate::sweep::plan::Panel;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use faer::ColRef;

/// Columns by which a rank block follows the one before it: a multiple of every micro-kernel's block.
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

/// What there is of a rank block.
pub(super) struct Block<T> {
    /// The rows of V that meet the diagonal block, and those that meet the next one, by the parity of the panel.
    v: [Packed<T>; 2],
    /// Where those are, for the threads that share the work.
    tiles: [Tiles<T>; 2],
    reflectors: Buffer<T>,
    reflectors_at: *mut T,
    /// Columns of the panel that are done.
    pub(super) done: AtomicUsize,
    /// Columns that did not break down, counted from the panel's first; later rank blocks go no further.
    pub(super) sound: AtomicUsize,
    /// The device's copy of the reflectors has been written, if there is to be one.
    pub(super) written: AtomicBool,
    /// It is of columns that change places with columns of V.
    pub(super) interchanged: AtomicBool,
}

// SAFETY: the pointers are into its own buffers, and used by unsafe calls alone.
unsafe impl<T: Send> Send for Block<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Block<T> {}

impl<T: Scalar> Default for Block<T> {
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

impl<T: Scalar> HostPart<T> {
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

    /// Makes room for a sweep.
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

    /// Columns of a rank block, and how many there are.
    fn width(&self) -> usize {
        self.blocking.blocks.width
    }
    fn count(&self) -> usize {
        self.blocking.blocks.count()
    }
    fn blocks(&self) -> &[Block<T>] {
        &self.each[..self.count()]
    }

    /// Threads that could find something to do beside the caller, of which one sees to the device.
    pub fn workers(&self) -> usize {
        // Below, what there is to share is done before the others have noticed.
        const WORTH_SHARING: usize = 64;
        if self.blocking.blocks.columns() < WORTH_SHARING {
            return 0;
        }
        let items = self.count() + 1 + self.panel_cols.div_ceil(self.shape.tile);
        items.min(Threads::Pool.count() - 1)
    }

    /// Takes `rows` of V, which meet the first diagonal block.
    ///
    /// # Safety
    /// Nothing writes to these rows of `v` meanwhile. (column stride `stride`)
    pub unsafe fn load(&mut self, v: &Pinned<T>, stride: usize, rows: Range<usize>) {
        self.make_room(&rows, 0);
        for tile in 0..self.chunks(&rows) {
            // SAFETY: there is room for these rows, and the caller vouches for `v`.
            unsafe { self.take(v, stride, &rows, tile, 0) };
        }
    }

    /// Makes room for the rows of V that meet the diagonal block of the panel at position `index`.
    fn make_room(&mut self, rows: &Range<usize>, index: usize) {
        let (width, count, tile) = (self.width(), self.count(), self.shape.tile);
        for block in &mut self.each[..count] {
            let v = &mut block.v[index % 2];
            v.make_room(width, rows.len(), rows.start, tile);
            block.tiles[index % 2] = v.view();
        }
    }

    /// Takes one tile of these rows of V in all rank blocks.
    ///
    /// # Safety
    /// There is room for them, nobody else uses the tile, and nothing writes to its rows of `v`.
    unsafe fn take(&self, v: &Pinned<T>, stride: usize, rows: &Range<usize>, tile: usize, index: usize) {
        let width = self.width();
        let rows = self.chunk(rows, tile);
        for (g, block) in self.blocks().iter().enumerate() {
            for r in 0..width {
                let at = (g * width + r) * stride + rows.start;
                debug_assert!(at + rows.len() <= v.len());
                // SAFETY: that column of V has `stride` rows there, at rest as the caller says, who vouches
                // for the tile as well.
                unsafe {
                    let column = ColRef::from_raw_parts(v.as_ptr().add(at), rows.len(), 1);
                    block.tiles[index % 2].take(tile, r, column, T::ONE);
                }
            }
        }
    }

    /// What the steps work on for one rank block, in panels of `panel_cols` columns: L as `host` says, V as it meets
    /// the diagonal block of the panel at position `index`.
    pub(super) fn job(&self, at: usize, host: Entries<T>, index: usize, panel_cols: usize) -> Job<T> {
        let Shape { block, lanes, .. } = self.shape;
        let width = self.width();
        let (plus, minus) = if self.blocking.blocks.is_minus(at) { (0, width) } else { (width, 0) };
        // Later ones go on with what the first has written.
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
            // The reflectors of narrower panels follow each other as those of one wide one do.
            reflector_sets: self.panel_cols / panel_cols,
            panel_cols,
            block,
            lanes,
            by_column: false,
            // V may be one column and zeros, and one that is added and taken away again would drift further.
            at_once: false,
            plus,
            minus,
            scale: T::ONE,
            carried: None,
        }
    }

    /// The work on the host part of `panel` is about to begin: its items are `diagonal` and `next_rows`.
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

    /// The work on the host part of `panel` is done.
    ///
    /// # Errors
    /// The first column whose pivot² is not greater than zero. What has been written is of no use then.
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

    /// Waits until the device's copy of the reflectors is complete; false if there is none, after a
    /// breakdown.
    pub fn made(&self, panel: Panel) -> bool {
        wait_until(|| self.blocks().iter().all(|block| block.written.load(Ordering::Acquire)));
        self.blocks().iter().all(|block| block.sound.load(Ordering::Relaxed) == panel.cols)
    }

    /// Runs of rank blocks in all of which columns of L and V change places, or in none. All reflectors are made.
    pub fn runs(&self) -> impl Iterator<Item = (Range<usize>, bool)> + '_ {
        let interchanged = |block: &Block<T>| block.interchanged.load(Ordering::Relaxed);
        let mut first = 0;
        self.blocks().chunk_by(move |a, b| interchanged(a) == interchanged(b)).map(move |run| {
            let blocks = first..first + run.len();
            first = blocks.end;
            (blocks, interchanged(&run[0]))
        })
    }

    /// Work items of the next diagonal rows: whole tiles of V, from where the first one begins.
    pub fn chunks(&self, next: &Range<usize>) -> usize {
        next.len().div_ceil(self.shape.tile)
    }

    fn chunk(&self, next: &Range<usize>, c: usize) -> Range<usize> {
        let first = next.start + c * self.shape.tile;
        first..next.end.min(first + self.shape.tile)
    }

    /// The trailing step of `panel` on some of the next diagonal rows, for all rank blocks, behind each one's diagonal step.
    /// Takes its rows of V first.
    ///
    /// # Safety
    /// As `diagonal`; each chunk is done once after `begin`, all rank blocks have begun, and nothing writes to
    /// these rows of `v`. (column stride `stride`)
    pub unsafe fn next_rows(
        &self,
        c: usize,
        panel: Panel,
        rows: &Range<usize>,
        host: Entries<T>,
        (v, stride): (&Pinned<T>, usize),
    ) {
        // SAFETY: forwarded to the caller; `begin` has made room.
        unsafe { self.take(v, stride, rows, c, panel.index + 1) };
        let whole = Panel { index: 0, ..panel };
        for (at, own) in self.blocks().iter().enumerate() {
            wait_until(|| own.done.load(Ordering::Acquire) >= panel.cols);
            if own.sound.load(Ordering::Relaxed) < panel.cols {
                return;
            }
            let job = self.job(at, host, panel.index + 1, self.panel_cols);
            // SAFETY: forwarded to the caller; the chunks are apart, and each is gone through rank block by rank block.
            unsafe { job.trailing(whole, self.chunk(rows, c)) };
        }
    }
}

/// The diagonal entry of a column of L.
///
/// # Safety
/// It can be read there.
unsafe fn pivot<T: Copy>(base: *const T, stride: isize, j: usize) -> T {
    // SAFETY: forwarded to the caller.
    unsafe { *base.wrapping_offset(j as isize * stride).wrapping_add(j) }
}

/// Where reflectors go, each rank block to a part of its own.
#[derive(Clone, Copy)]
pub(super) struct Out<T>(pub *mut T);

// SAFETY: an address; who writes where is the contract of `HostPart::diagonal`.
unsafe impl<T: Sync> Sync for Out<T> {}
