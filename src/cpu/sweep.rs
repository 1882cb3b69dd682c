//! A sweep on the CPU: V staged in tiles, then the schedule of one thread or of several.

use super::kernels::entries::Entries;
use super::kernels::job::{CarriedRows, Job};
use super::kernels::packed::Packed;
use super::kernels::shape::{MAX_LANES, by_column, shape};
use super::serial;
use super::tuning;
use super::workers::{Chunk, Steps, Workers, alone, cut};
use crate::error::Error;
use crate::host::buffer::Buffer;
use crate::host::interrupt::Asks;
use crate::host::isa::Isa;
use crate::host::threads::Threads;
use crate::input::Operand;
use crate::report::{Health, Modification};
use crate::scalar::Scalar;
use crate::storage::Stop;
use crate::sweep::Breakdown;
use crate::sweep::outline::Outline;
use crate::sweep::plan::{Panel, Plan};
use crate::sweep::signed::Signed;
use crate::sweep::weights::Weights;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};
use faer::MatRef;

/// V as staged, and the working memory of a sweep, kept between calls.
pub(super) struct Sweep<T> {
    signed: Signed<T>,
    v: Packed<T>,
    /// V is in one tile, and each of its columns goes through L by itself.
    by_column: bool,
    /// Columns of V that are staged, of each sign.
    signs: [usize; 2],
    reflectors: Buffer<T>,
    chunks: Vec<Chunk>,
    /// Of the sweep that ended last, until it is taken.
    report: Option<Modification<T>>,
}

impl<T> Default for Sweep<T> {
    fn default() -> Self {
        Self {
            signed: Signed::default(),
            v: Packed::default(),
            by_column: false,
            signs: [0, 0],
            reflectors: Buffer::default(),
            chunks: Vec::new(),
            report: None,
        }
    }
}

impl<T> Clone for Sweep<T> {
    /// Nothing in it outlives a modification: the clone starts empty.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T: Scalar> Sweep<T> {
    /// V diag(√|w|) in tiles, from the first column of L on that it changes.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`; `Device` where V is on one that fails.
    #[inline(always)]
    pub fn stage(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T>,
        threads: Threads,
    ) -> Result<Outline, Error> {
        let v = v.clone().on_host()?;
        self.stage_for(Isa::detect(), v.as_ref(), weights, threads)
    }

    /// The same of a sum V Vᵀ, from row `start` on; rows before are zero.
    ///
    /// # Errors
    /// As [`stage`](Self::stage).
    pub fn stage_from(&mut self, start: usize, v: MatRef<'_, T>, threads: Threads) -> Result<Outline, Error> {
        let outline = self.look(v, Weights::Plus, threads)?;
        if outline.first_column::<T>(v.nrows()).is_some() {
            self.pack(Isa::detect(), v, &outline, start);
        }
        Ok(outline)
    }

    /// The same in tiles for this instruction set.
    #[inline(always)]
    pub(super) fn stage_for(
        &mut self,
        isa: Isa,
        v: MatRef<'_, T>,
        weights: Weights<'_, T>,
        threads: Threads,
    ) -> Result<Outline, Error> {
        if let Some(outline) = self.stage_few(isa, v, weights) {
            return Ok(outline);
        }
        let outline = self.look(v, weights, threads)?;
        if let Some(start) = outline.first_column::<T>(v.nrows()) {
            self.pack(isa, v, &outline, start);
        }
        Ok(outline)
    }

    /// Looks at V, and takes the order of its columns that are not zero.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`.
    #[inline(always)]
    fn look(
        &mut self,
        v: MatRef<'_, T>,
        weights: Weights<'_, T>,
        threads: Threads,
    ) -> Result<Outline, Error> {
        let mut outline = self.signed.look(v, weights, threads.par())?;
        self.signed.order(weights, v.ncols());
        self.signed.leave_out_zeros(&mut outline);
        self.signs = [outline.plus, outline.minus];
        Ok(outline)
    }

    /// The same for V of few entries, by columns and all of one sign, in one pass; unless there is something about it that takes a
    /// closer look.
    #[inline(always)]
    fn stage_few(&mut self, isa: Isa, v: MatRef<'_, T>, weights: Weights<'_, T>) -> Option<Outline> {
        const FEW: usize = 1 << 12;
        let minus = match weights {
            Weights::Plus => false,
            Weights::Minus => true,
            Weights::Each(_) => return None,
        };
        let (rows, rank) = v.shape();
        if rows == 0 || rank > FEW / rows || v.row_stride() != 1 {
            return None;
        }
        // Rows or columns may be zero.
        if (0..rank).any(|r| v[(0, r)] == T::ZERO) {
            return None;
        }
        // For another V of this shape that takes the closer look.
        self.signed.reserve(rank);
        let tile = self.tile(isa, rank, rows, rows);
        // The sum of all squares bounds those of a row. Where that is no small part of what L may have, it is too rough.
        let squares = self.v.pack_one_sign(isa, v, minus, tile).to_f64();
        let [plus, minus] = if minus { [0, rank] } else { [rank, 0] };
        self.signs = [plus, minus];
        (squares <= (T::LARGE_SQUARE * T::UNIT).to_f64()).then(|| Outline {
            plus,
            minus,
            first_row: 0,
            row_norm: if plus > 0 { squares.sqrt() } else { 0.0 },
            scale: 1.0,
        })
    }

    #[inline(always)]
    fn pack(&mut self, isa: Isa, v: MatRef<'_, T>, outline: &Outline, start: usize) {
        let rows = v.subrows(start, v.nrows() - start);
        let tile = self.tile(isa, outline.rank(), v.nrows(), rows.nrows());
        self.v.pack(self.signed.columns(rows), outline.rank(), rows.nrows(), start, tile);
    }

    /// Rows in a tile for V with `rank` columns, of which so many rows are staged; takes note of the steps that it is for.
    #[inline(always)]
    fn tile(&mut self, isa: Isa, rank: usize, rows: usize, staged: usize) -> usize {
        self.by_column = by_column(rank, rows);
        match self.by_column {
            true => staged.next_multiple_of(MAX_LANES),
            false => shape::<T>(isa, rank).tile,
        }
    }

    /// Wherever there is room for V, let there be room for so many rows.
    pub fn expect(&mut self, rows: usize) {
        self.v.most = rows;
    }

    /// Rows of the one column of V, as a sweep has left them.
    pub fn take_column(&mut self, rows: Range<usize>, to: &mut [T]) {
        let v = self.v.view();
        for (row, to) in rows.zip(to) {
            let (tile, offset) = v.locate(row);
            // SAFETY: the row is one of V's, and V is this one's own.
            *to = unsafe { *v.ptr(tile).add(offset) };
        }
    }

    /// For rows of V from `first` on, Σ ± v² over what a sweep has left of its columns.
    pub fn residuals(&mut self, first: usize, rows: usize) -> Vec<f64> {
        let (v, [plus, minus]) = (self.v.view(), self.signs);
        let sum = |row| {
            let (tile, offset) = v.locate(row);
            let squares = (0..plus + minus).map(|r| {
                // SAFETY: the row is one of V's, and V is this one's own.
                let entry = unsafe { *v.ptr(tile).add(offset + r * v.tile) }.to_f64();
                if r < plus { entry * entry } else { -(entry * entry) }
            });
            squares.sum::<f64>()
        };
        (first..first + rows).map(sum).collect()
    }

    /// A sweep has ended well.
    #[inline(always)]
    fn end(&mut self, plan: &Plan, health: &Health<T>) {
        self.report = Some(health.report(plan.start));
    }

    #[inline(always)]
    pub fn take_report(&mut self) -> Modification<T> {
        self.report.take().unwrap_or_else(Modification::identity)
    }

    /// The memory of a sweep, with room for the block reflectors or coefficients of `reflector_sets` panels.
    #[inline(always)]
    pub(super) fn job(
        &mut self,
        isa: Isa,
        l: Entries<T>,
        plan: &Plan,
        outline: &Outline,
        reflector_sets: usize,
    ) -> Job<T> {
        debug_assert!(self.v.base() <= plan.start, "V is staged from a later row on");
        let rank = outline.rank();
        let (shape, by_column) = (shape::<T>(isa, rank), by_column(rank, plan.rows));
        let &Outline { plus, minus, .. } = outline;
        assert_eq!(by_column, self.by_column, "V is staged for other steps");
        let len = match by_column {
            true => Job::<T>::coefficients_len(plus + minus),
            false => Job::<T>::reflector_len(plan.panel_cols, &shape, plus, minus),
        };
        self.reflectors.reserve(reflector_sets * len);
        Job {
            isa,
            l,
            v: self.v.view(),
            stream: tuning::stream::<T>(isa, &l, plan, rank),
            large: tuning::large::<T>(plan),
            reflectors: self.reflectors.as_mut_ptr(),
            reflector_sets,
            panel_cols: plan.panel_cols,
            block: shape.block,
            lanes: shape.lanes,
            by_column,
            at_once: true,
            plus,
            minus,
            scale: T::from_f64(outline.scale),
            carried: None,
        }
    }
}

/// The panels of a sweep over some columns of L and all rows from there on.
#[inline]
pub(super) fn plan(rows: usize, columns: Range<usize>, outline: &Outline) -> Plan {
    Plan {
        rows,
        cols: columns.end,
        start: columns.start,
        panel_cols: tuning::panel_cols(outline.rank(), rows),
    }
}

/// One sweep over some columns of L (lower trapezoid) and so many rows, of which the last may be elsewhere, with V as it was
/// staged.
///
/// # Errors
/// The first column whose pivot² is not greater than zero. Columns of `l.dst` may have been written by
/// then.
///
/// # Safety
/// `l` and `carried` must describe memory for these columns, of their rows each, readable at `src`, writable at `dst`,
/// nobody else's.
pub(super) unsafe fn sweep<T: Scalar>(
    l: Entries<T>,
    (rows, carried): (usize, Option<CarriedRows<T>>),
    columns: Range<usize>,
    outline: &Outline,
    memory: &mut Sweep<T>,
    threads: Threads,
) -> Result<(), Stop> {
    let plan = plan(rows, columns, outline);
    let threads = tuning::threads(threads, &plan, outline.rank());
    let reflector_sets = if threads > 1 { plan.panels() } else { 1 };
    let mut job = memory.job(Isa::detect(), l, &plan, outline, reflector_sets);
    job.carried = carried;
    let in_place = l.src == l.dst.cast_const();
    let asks = if in_place { None } else { Asks::take() };
    let health = match asks {
        // SAFETY: L is the caller's promise; V and the reflectors, with a set for each panel, or one for the one panel that is worked on
        // by one thread, are borrowed from `memory`.
        Some(asks) => unsafe { run_asking(job, asks, &plan, (threads, &mut memory.chunks))? },
        // SAFETY: as above.
        None if threads > 1 => unsafe { run(&job, &plan, (threads, &mut memory.chunks))? },
        // SAFETY: as above.
        None => unsafe { serial::sweep(&job, &plan)? },
    };
    memory.end(&plan, &health);
    Ok(())
}

/// The same of an L that is complete when `steps` has come to it, and which is not the caller's factor until this has ended well.
///
/// # Errors
/// As [`sweep`].
///
/// # Safety
/// As [`sweep`], for L as the steps leave it to those of their job.
pub(super) unsafe fn sweep_by<T: Scalar, S: Steps<Report = Health<T>>>(
    l: Entries<T>,
    rows: usize,
    columns: Range<usize>,
    outline: &Outline,
    (memory, threads): (&mut Sweep<T>, Threads),
    steps: impl FnOnce(Job<T>) -> S,
) -> Result<(), Stop> {
    let plan = plan(rows, columns, outline);
    let threads = tuning::threads(threads, &plan, outline.rank());
    let reflector_sets = if threads > 1 { plan.panels() } else { 1 };
    let steps = steps(memory.job(Isa::detect(), l, &plan, outline, reflector_sets));
    let shared = (threads, &mut memory.chunks);
    let health = match Asks::take() {
        // SAFETY: as in `sweep`.
        Some(asks) => unsafe { run_asking(steps, asks, &plan, shared)? },
        // SAFETY: as in `sweep`.
        None => unsafe { run(&steps, &plan, shared)? },
    };
    memory.end(&plan, &health);
    Ok(())
}

/// The panels of a sweep on so many threads.
///
/// # Safety
/// As [`Workers::new`].
unsafe fn run<S: Steps>(
    steps: &S,
    plan: &Plan,
    (threads, chunks): (usize, &mut Vec<Chunk>),
) -> Result<S::Report, Breakdown> {
    let chunk_rows = tuning::chunk_rows(plan, threads);
    if threads == 1 {
        // SAFETY: forwarded to the caller.
        return unsafe { alone(steps, plan, chunk_rows) };
    }
    cut(plan, chunk_rows, chunks);
    // SAFETY: forwarded to the caller.
    unsafe { Workers::new(steps, plan, chunk_rows, chunks) }.run(threads)
}

/// The same, asking before every panel whether to stop.
///
/// # Safety
/// As [`run`].
unsafe fn run_asking<S: Steps>(
    steps: S,
    asks: Asks,
    plan: &Plan,
    shared: (usize, &mut Vec<Chunk>),
) -> Result<S::Report, Stop> {
    let asking = Asking { steps, asks, stopped: AtomicBool::new(false) };
    // SAFETY: forwarded to the caller.
    let outcome = unsafe { run(&asking, plan, shared) };
    if asking.stopped.into_inner() { Err(Stop::Interrupted) } else { Ok(outcome?) }
}

/// Steps that can be stopped.
struct Asking<S> {
    steps: S,
    asks: Asks,
    stopped: AtomicBool,
}

impl<S: Steps> Steps for Asking<S> {
    type Report = S::Report;

    unsafe fn diagonal(&self, panel: Panel, report: &mut S::Report) -> Result<(), Breakdown> {
        if self.asks.stop() {
            self.stopped.store(true, Ordering::Relaxed);
            return Err(Breakdown { column: panel.first });
        }
        // SAFETY: forwarded to the caller.
        unsafe { self.steps.diagonal(panel, report) }
    }

    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        // SAFETY: forwarded to the caller.
        unsafe { self.steps.trailing(panel, rows) }
    }
}

/// The same on one thread, for L that moves in place on its way: `src` may be `dst` further down and to the right.
///
/// # Errors
/// As [`sweep`].
///
/// # Safety
/// As [`sweep`].
pub(super) unsafe fn sweep_on_its_way<T: Scalar>(
    l: Entries<T>,
    rows: usize,
    columns: Range<usize>,
    outline: &Outline,
    memory: &mut Sweep<T>,
) -> Result<(), Stop> {
    let plan = plan(rows, columns, outline);
    let mut job = memory.job(Isa::detect(), l, &plan, outline, 1);
    job.stream = false;
    // SAFETY: as in `sweep`. An entry goes to where no other is still to be read from: panels, rows of a panel and columns of
    // rows are taken in ascending order.
    let health = unsafe { serial::sweep(&job, &plan)? };
    memory.end(&plan, &health);
    Ok(())
}
