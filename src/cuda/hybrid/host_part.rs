//! What the CPU does of the hybrid sweep: the top of each panel, pass after pass.
//!
//! A pass takes the columns of V that the threads which share a row of the device keep in registers, all of one sign,
//! plus signs first. The sweep over all columns of V is that of one pass after another, panel by panel, and breaks
//! down where the whole modification does: what the first passes add, the others only take away.
//!
//! Threads share the work in pieces that wait for each other. In the diagonal block each takes a pass, and
//! follows the one before it a block of columns behind; of the head each takes rows, and follows the passes.
//! Neither changes a bit of the result.

use super::reflectors::Group;
use crate::cpu::kernels::job::{Chain, Columns, Job};
use crate::cpu::kernels::packed::{Packed, Tiles};
use crate::cuda::hybrid::kernels::{Form, GROUP};
use crate::cuda::hybrid::passes::Passes;
use crate::cuda::memory::Pinned;
use crate::host::buffer::Buffer;
use crate::host::isa::{Isa, Shape};
use crate::host::pool::wait_until;
use crate::report::Health;
use crate::scalar::Scalar;
use crate::sweep::plan::Panel;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use faer::ColRef;

/// Columns by which a pass follows the one before it: a multiple of every micro-kernel's block.
const STEP: usize = 8;

/// Working memory of the CPU, kept between calls.
pub(super) struct Tops<T> {
    passes: Passes,
    panel_cols: usize,
    isa: Isa,
    shape: Shape,
    each: Vec<Pass<T>>,
    /// The pivots of a panel before its diagonal step. (panel_cols)
    old: Vec<T>,
}

struct Pass<T> {
    /// The rows of V that meet the diagonal block, and those of its head, by the parity of the panel.
    v: [Packed<T>; 2],
    /// Where those are, for the threads that share the work.
    tiles: [Tiles<T>; 2],
    reflectors: Buffer<T>,
    reflectors_at: *mut T,
    /// Columns of the panel that are done.
    done: AtomicUsize,
    /// Columns that did not break down, counted from the panel's first; later passes go no further.
    sound: AtomicUsize,
    /// The device's copy of the reflectors has been written, if there is to be one.
    written: AtomicBool,
}

// SAFETY: the pointers are into its own buffers, and used by unsafe calls alone.
unsafe impl<T: Send> Send for Pass<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Pass<T> {}

impl<T: Scalar> Default for Pass<T> {
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
        }
    }
}

impl<T: Scalar> Tops<T> {
    pub fn new() -> Self {
        let isa = Isa::detect();
        Self {
            passes: Passes::NONE,
            panel_cols: 0,
            isa,
            shape: isa.shape::<T>(1),
            each: Vec::new(),
            old: Vec::new(),
        }
    }

    /// Makes room for a sweep.
    pub fn prepare(&mut self, passes: Passes, panel_cols: usize) {
        (self.passes, self.panel_cols) = (passes, panel_cols);
        self.shape = self.isa.shape::<T>(passes.width());
        let Shape { block, lanes, .. } = self.shape;
        debug_assert!(STEP.is_multiple_of(block));
        if self.each.len() < passes.count() {
            self.each.resize_with(passes.count(), Pass::default);
        }
        for pass in &mut self.each[..passes.count()] {
            pass.reflectors.reserve(Job::<T>::reflector_len(panel_cols, block, lanes, passes.width(), 0));
            pass.reflectors_at = pass.reflectors.as_mut_ptr();
        }
        self.old.resize(panel_cols, T::ZERO);
    }

    /// Threads that could find something to do beside the one that leads, of which one sees to the device.
    pub fn helpers(&self) -> usize {
        // Below, what there is to share is done before the others have noticed.
        const WORTH_SHARING: usize = 64;
        if self.passes.columns() < WORTH_SHARING {
            return 0;
        }
        let pieces = self.passes.count() + 1 + self.panel_cols.div_ceil(self.shape.tile);
        pieces.min(rayon::current_num_threads() - 1)
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
        let (width, tile) = (self.passes.width(), self.shape.tile);
        for pass in &mut self.each[..self.passes.count()] {
            let v = &mut pass.v[index % 2];
            v.make_room(width, rows.len(), rows.start, tile);
            pass.tiles[index % 2] = v.view();
        }
    }

    /// Takes one tile of these rows of V in all passes.
    ///
    /// # Safety
    /// There is room for them, nobody else uses the tile, and nothing writes to its rows of `v`.
    unsafe fn take(&self, v: &Pinned<T>, stride: usize, rows: &Range<usize>, tile: usize, index: usize) {
        let width = self.passes.width();
        let rows = self.chunk(rows, tile);
        for (g, pass) in self.each[..self.passes.count()].iter().enumerate() {
            for r in 0..width {
                let at = (g * width + r) * stride + rows.start;
                debug_assert!(at + rows.len() <= v.len());
                // SAFETY: that column of V has `stride` rows there, at rest as the caller says, who vouches
                // for the tile as well.
                unsafe {
                    let column = ColRef::from_raw_parts(v.as_ptr().add(at), rows.len(), 1);
                    pass.tiles[index % 2].take(tile, r, column, T::ONE);
                }
            }
        }
    }

    /// What the steps work on in one pass, in panels of `panel_cols` columns: L as `top` says, V as it meets
    /// the diagonal block of the panel at position `index`.
    fn job(&self, pass: usize, top: Columns<T>, index: usize, panel_cols: usize) -> Job<T> {
        let Shape { block, lanes, .. } = self.shape;
        let width = self.passes.width();
        let (plus, minus) = if self.passes.is_minus(pass) { (0, width) } else { (width, 0) };
        // Later passes go on with what the first has written.
        let l = match pass {
            0 => top,
            _ => Columns { src: top.dst.cast_const(), src_stride: top.dst_stride, ..top },
        };
        let Pass { tiles, reflectors_at, .. } = &self.each[pass];
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
            plus,
            minus,
        }
    }

    /// The work on the top of `panel` is about to begin: its pieces are `diagonal` and `head`.
    ///
    /// # Safety
    /// `top` describes the panel's top, readable at `src`.
    pub unsafe fn begin(&mut self, panel: Panel, head: &Range<usize>, top: Columns<T>) {
        for j in panel.block() {
            // SAFETY: the diagonal entry of a column of the panel.
            self.old[j - panel.first] = unsafe { pivot(top.src, top.src_stride, j) };
        }
        for pass in &self.each[..self.passes.count()] {
            pass.done.store(0, Ordering::Relaxed);
            pass.sound.store(panel.cols, Ordering::Relaxed);
            pass.written.store(false, Ordering::Relaxed);
        }
        self.make_room(head, panel.index + 1);
    }

    /// The work on the top of `panel` is done.
    ///
    /// # Errors
    /// The first column whose pivot² is not greater than zero. The new top is of no use then.
    ///
    /// # Safety
    /// `top` describes the panel's top, readable at `dst`; all pieces of the diagonal step are done.
    pub unsafe fn outcome(&self, panel: Panel, top: Columns<T>, health: &mut Health<T>) -> Result<(), usize> {
        let sound = self.each[self.passes.count() - 1].sound.load(Ordering::Relaxed);
        if sound < panel.cols {
            return Err(panel.first + sound);
        }
        for j in panel.block() {
            // SAFETY: the diagonal entry of a column of the panel.
            health.record(self.old[j - panel.first], unsafe { pivot(top.dst, top.dst_stride, j) });
        }
        Ok(())
    }

    /// Waits until the device's copy of the reflectors is complete; false if there is none, after a
    /// breakdown.
    pub fn made(&self, panel: Panel) -> bool {
        let passes = &self.each[..self.passes.count()];
        wait_until(|| passes.iter().all(|pass| pass.written.load(Ordering::Acquire)));
        passes.iter().all(|pass| pass.sound.load(Ordering::Relaxed) == panel.cols)
    }

    /// The diagonal step in one pass, behind the one before it. `out` takes the reflectors as the device
    /// does; a null pointer takes none.
    ///
    /// # Safety
    /// `top` describes the panel's top, readable at `src`, writable at `dst`, and with `out` nobody else's.
    /// Each pass is done once after `begin`, and the ones before it have begun.
    pub unsafe fn diagonal(&self, pass: usize, panel: Panel, top: Columns<T>, out: Out<T>) {
        let own = &self.each[pass];
        let job = self.job(pass, top, panel.index, STEP);
        let mut sound = panel.cols;
        for (index, first) in panel.block().step_by(STEP).enumerate() {
            let done = first - panel.first;
            if let Some(before) = pass.checked_sub(1).map(|before| &self.each[before]) {
                wait_until(|| before.done.load(Ordering::Acquire) >= panel.cols.min(done + STEP));
                // After a breakdown only an earlier one matters, which this pass may find.
                sound = sound.min(before.sound.load(Ordering::Relaxed));
            }
            let cols = STEP.min(sound.saturating_sub(done));
            if cols > 0 {
                let step = Panel { index, first, cols };
                // SAFETY: the caller's promise. Earlier passes have been applied to all rows of these
                // columns, this one's earlier steps to these rows of V.
                let outcome = unsafe { job.diagonal(step, &mut Chain::default()) };
                if let Err(column) = outcome {
                    sound = column - panel.first;
                } else if cols == STEP {
                    // SAFETY: as above.
                    unsafe { job.trailing(step, step.end()..panel.end()) };
                }
            }
            own.sound.store(sound, Ordering::Relaxed);
            own.done.store(panel.cols.min(done + STEP), Ordering::Release);
        }
        if sound == panel.cols && !out.0.is_null() {
            // SAFETY: the reflectors are made; `out` is the caller's, and this part of it this pass's.
            unsafe { self.reflectors(pass, panel, out) };
        }
        own.written.store(true, Ordering::Release);
    }

    /// Pieces of the head: whole tiles of V, from where its first one begins.
    pub fn chunks(&self, head: &Range<usize>) -> usize {
        head.len().div_ceil(self.shape.tile)
    }

    fn chunk(&self, head: &Range<usize>, c: usize) -> Range<usize> {
        let first = head.start + c * self.shape.tile;
        first..head.end.min(first + self.shape.tile)
    }

    /// The trailing step of `panel` on one piece of its head, the rows that meet the next diagonal block, in
    /// all passes, behind each one's diagonal step. Takes its rows of V first.
    ///
    /// # Safety
    /// As `diagonal`; each piece is done once after `begin`, all passes have begun, and nothing writes to
    /// these rows of `v`. (column stride `stride`)
    pub unsafe fn head(
        &self,
        c: usize,
        panel: Panel,
        rows: &Range<usize>,
        top: Columns<T>,
        (v, stride): (&Pinned<T>, usize),
    ) {
        // SAFETY: forwarded to the caller; `begin` has made room.
        unsafe { self.take(v, stride, rows, c, panel.index + 1) };
        let whole = Panel { index: 0, ..panel };
        for (pass, own) in self.each[..self.passes.count()].iter().enumerate() {
            wait_until(|| own.done.load(Ordering::Acquire) >= panel.cols);
            if own.sound.load(Ordering::Relaxed) < panel.cols {
                return;
            }
            let job = self.job(pass, top, panel.index + 1, self.panel_cols);
            // SAFETY: forwarded to the caller; the pieces are apart, and each is gone through pass by pass.
            unsafe { job.trailing(whole, self.chunk(rows, c)) };
        }
    }

    /// Writes the reflectors of a pass of `panel`, a full one, as the device takes them.
    ///
    /// # Safety
    /// As `diagonal`, for the part of `out` that is the pass's; they have been made.
    unsafe fn reflectors(&self, pass: usize, panel: Panel, out: Out<T>) {
        let Passes { elements, form, .. } = self.passes;
        let nowhere =
            Columns::<T> { src: core::ptr::null(), src_stride: 0, dst: core::ptr::null_mut(), dst_stride: 0 };
        let job = self.job(pass, nowhere, panel.index, self.panel_cols);
        let scalars = form.group_scalars::<T>(elements);
        let groups = self.panel_cols / GROUP;
        for group in 0..panel.cols / GROUP {
            // SAFETY: this part of `out` is this pass's, and as long as the group is.
            unsafe {
                let out =
                    core::slice::from_raw_parts_mut(out.0.add((pass * groups + group) * scalars), scalars);
                let source = Group { job: &job, panel: Panel { index: 0, ..panel }, first: group * GROUP };
                match form {
                    Form::Columns { lanes } => source.by_column(out, lanes, elements),
                    Form::Tensor => source.for_tensor_cores(out),
                }
            }
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

/// Where reflectors go, each pass to a part of its own.
#[derive(Clone, Copy)]
pub(super) struct Out<T>(pub *mut T);

// SAFETY: an address; who writes where is the contract of `Tops::diagonal`.
unsafe impl<T: Sync> Sync for Out<T> {}
