//! A sweep over L S Lᵀ with S = diag(±1), on one thread or on several.

use super::serial;
use super::staged::{SweepMemory, plan};
use super::sweep::{run, run_asking};
use super::tuning;
use super::workers::Chunk;
use crate::element::Element;
use crate::error::Error;
use crate::host::interrupt::Asks;
use crate::host::threads::Threads;
use crate::report::Modification;
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::signature::{BlockChange, OneColumn, SignatureJob};
use core::ops::Range;
use faer::{Mat, MatMut, MatRef};

/// The staged V, and the working memory of a sweep, kept between calls.
pub(crate) struct SignatureMemory<T: Number> {
    pub(super) sweep: SweepMemory<T>,
    pub(super) blocks: Vec<BlockChange>,
    pub(super) columns: Vec<OneColumn<T>>,
    /// Those of a sweep over runs of columns of one sign.
    pub(super) panels: Vec<Panel>,
    pub(super) chunks: Vec<Chunk>,
    /// Reflectors for any signs, and rows of V, where a sweep over runs goes on with the steps for any signs.
    pub(super) reflectors: Buffer<T>,
    pub(super) saved: Buffer<T>,
}

impl<T: Number> Clone for SignatureMemory<T> {
    /// None of it outlives a modification, so the clone is empty.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T: Number> Default for SignatureMemory<T> {
    fn default() -> Self {
        Self {
            sweep: SweepMemory::default(),
            blocks: Vec::new(),
            columns: Vec::new(),
            panels: Vec::new(),
            chunks: Vec::new(),
            reflectors: Buffer::default(),
            saved: Buffer::default(),
        }
    }
}

impl<T: Element> SignatureMemory<T> {
    /// Stages V diag(√|w|) from its first row that is not zero on, for [`sweep`] or, with `by_runs`, for
    /// [`sweep_runs`](super::runs::sweep_runs). (n × k)
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`.
    pub fn stage(
        &mut self,
        v: MatRef<'_, T>,
        weights: Weights<'_, T::Part>,
        by_runs: bool,
        threads: Threads,
    ) -> Result<Outline, Error> {
        self.sweep.by_reflectors = !by_runs;
        self.sweep.stage_for(Isa::detect(), v, weights, threads)
    }

    /// What is left of the staged V after a sweep over fewer columns than rows, in these rows. (m × k)
    pub fn residual(&mut self, rows: Range<usize>, rank: usize) -> Mat<T> {
        self.sweep.residual(rows, rank)
    }
}

/// A factor L S Lᵀ. (n × n, n)
pub(crate) struct SignedFactor<'a, T> {
    pub l: MatMut<'a, T>,
    /// Whether the pivots are negative.
    pub negative: &'a mut [bool],
}

/// The share of a pivot that is zero to working precision, for this number of rows.
pub(super) fn tolerance<T: Number>(rows: usize, outline: &Outline) -> T::Part {
    T::Part::from_f64((rows + outline.rank()) as f64) * T::Part::UNIT
}

/// Sweeps over a range of columns of L, from `old` to `new`, with the staged V; without `old` in place. Returns the report, and the number
/// of columns of what is left of V that have a plus sign. They come first.
///
/// # Errors
/// The first column whose pivot is zero to working precision. `new` may have been written by then.
pub(crate) fn sweep<T: Element>(
    old: Option<(MatRef<'_, T>, &[bool])>,
    new: SignedFactor<'_, T>,
    columns: Range<usize>,
    outline: &Outline,
    memory: &mut SignatureMemory<T>,
    threads: Threads,
) -> Result<(Modification, usize), Stop> {
    let SignedFactor { l, negative } = new;
    let rows = l.nrows();
    let (dst, dst_stride, new_signs) = (l.as_ptr_mut(), l.col_stride(), negative.as_mut_ptr());
    let (src, src_stride, signs) = match old {
        Some((l, negative)) => (l.as_ptr(), l.col_stride(), negative.as_ptr()),
        None => (dst.cast_const(), dst_stride, new_signs.cast_const()),
    };
    let plan = plan(rows, columns, outline);
    let threads = tuning::threads(threads, &plan, outline.rank());
    let sets = if threads > 1 { plan.panels() } else { 1 };
    let SignatureMemory { sweep, blocks, columns, chunks, .. } = memory;
    let entries = Entries { src, src_stride, dst, dst_stride };
    let job = sweep.job(Isa::detect(), entries, &plan, outline, sets);
    // The diagonal step writes what later steps read.
    let count = plan.panels() * plan.panel_cols.div_ceil(job.block);
    blocks.resize(count.max(blocks.len()), BlockChange::default());
    columns.resize(plan.cols.max(columns.len()), OneColumn::default());
    let mut plus = outline.plus;
    let steps = SignatureJob {
        tolerance: tolerance::<T>(rows, outline),
        job,
        old: signs,
        new: new_signs,
        blocks: blocks.as_mut_ptr(),
        columns: columns.as_mut_ptr(),
        plus: &raw mut plus,
    };
    let shared = (threads, chunks);
    let health = match Asks::claim() {
        // SAFETY: L and the signs have these rows and columns, and are borrowed, exclusively where they are written; V and the reflectors
        // are borrowed from `sweep`, with a set of reflectors for each panel, or, on one thread, for the current one.
        Some(asks) => unsafe { run_asking(steps, asks, &plan, shared)? },
        // SAFETY: as above.
        None if threads > 1 => unsafe { run(&steps, &plan, shared)? },
        // SAFETY: as above.
        None => unsafe { serial::sweep(&steps, &plan)? },
    };
    Ok((Modification::of_sweep(&health, plan.start), plus))
}
