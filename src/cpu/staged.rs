//! V as a sweep reads it, in tiles, and the working memory of the sweep.

mod residual;

use super::tuning;
use super::workers::Chunk;
use crate::element::Element;
use crate::error::Error;
use crate::host::share::Share;
use crate::host::threads::Threads;
use crate::operand::Operand;
use crate::report::Modification;
use crate::sweep::outline::Outline;
use crate::sweep::plan::Plan;
use crate::sweep::signed::Signed;
use crate::sweep::weights::Weights;
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::health::Health;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::job::Job;
use cholupdate_kernels::sweep::packed::Packed;
use cholupdate_kernels::sweep::shape::{ANY, MAX_LANES, by_column, shape, together};
use cholupdate_kernels::sweep::signature::SignatureJob;
use core::ops::Range;
use faer::MatRef;

/// The staged V, and the working memory of a sweep, kept between calls.
pub(super) struct SweepMemory<T: Number> {
    signed: Signed<T::Part>,
    v: Packed<T>,
    /// V is in one tile, and the steps are those of `low_rank`.
    by_column: bool,
    /// V is staged for the steps by reflectors, however few its columns are.
    pub(super) by_reflectors: bool,
    /// Numbers of staged columns of V of each sign.
    signs: [usize; 2],
    reflectors: Buffer<T>,
    pub(super) chunks: Vec<Chunk>,
    /// The report of the last sweep, until it is read.
    report: Option<Modification>,
}

impl<T: Number> Default for SweepMemory<T> {
    fn default() -> Self {
        Self {
            signed: Signed::default(),
            v: Packed::default(),
            by_column: false,
            by_reflectors: false,
            signs: [0, 0],
            reflectors: Buffer::default(),
            chunks: Vec::new(),
            report: None,
        }
    }
}

impl<T: Number> Clone for SweepMemory<T> {
    /// None of it outlives a modification, so the clone is empty.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T: Element> SweepMemory<T> {
    /// Stages V diag(√|w|) in tiles, from the first column of L that it changes on.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`; `Device` if V is on a device that fails.
    #[inline(always)]
    pub fn stage(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
        threads: Threads,
    ) -> Result<Outline, Error> {
        let v = v.on_host()?;
        self.stage_for(Isa::detect(), v.as_ref(), weights, threads)
    }

    /// The same for a sum V Vᵀ, from row `start` on; earlier rows are zero.
    ///
    /// # Errors
    /// As [`stage`](Self::stage).
    pub fn stage_from(&mut self, start: usize, v: MatRef<'_, T>, threads: Threads) -> Result<Outline, Error> {
        let outline = self.check_and_order(v, Weights::Plus, threads)?;
        if outline.first_column::<T>(v.nrows()).is_some() {
            self.pack(Isa::detect(), v, &outline, start, threads);
        }
        Ok(outline)
    }

    /// The same in tiles for this instruction set.
    #[inline(always)]
    pub(super) fn stage_for(
        &mut self,
        isa: Isa,
        v: MatRef<'_, T>,
        weights: Weights<'_, T::Part>,
        threads: Threads,
    ) -> Result<Outline, Error> {
        if let Some(outline) = self.stage_few(isa, v, weights) {
            return Ok(outline);
        }
        let outline = self.check_and_order(v, weights, threads)?;
        if let Some(start) = outline.first_column::<T>(v.nrows()) {
            self.pack(isa, v, &outline, start, threads);
        }
        Ok(outline)
    }

    /// Checks V, and determines the order of its nonzero columns.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`.
    #[inline(always)]
    fn check_and_order(
        &mut self,
        v: MatRef<'_, T>,
        weights: Weights<'_, T::Part>,
        threads: Threads,
    ) -> Result<Outline, Error> {
        let mut outline = match Share::among(tuning::staging_threads(threads, v.nrows(), v.ncols())) {
            Some(share) => self.signed.check_on(&share, v, weights)?,
            None => self.signed.check(v, weights, threads.par())?,
        };
        self.signed.order(weights, v.ncols());
        self.signed.leave_out_zeros(&mut outline);
        self.signs = [outline.plus, outline.minus];
        Ok(outline)
    }

    /// The same in one pass, for a column-major V of few entries, all of one sign. Returns `None` if V must be examined in more
    /// detail.
    #[inline(always)]
    fn stage_few(&mut self, isa: Isa, v: MatRef<'_, T>, weights: Weights<'_, T::Part>) -> Option<Outline> {
        const FEW: usize = 1 << 12;
        let minus = match weights {
            Weights::Plus => false,
            Weights::Minus => true,
            Weights::Each(_) => return None,
        };
        let (rows, rank) = v.shape();
        if rows == 0 || rank == 0 || rank > FEW / rows || v.row_stride() != 1 {
            return None;
        }
        // Leading rows or columns may be zero.
        if (0..rank).any(|r| v[(0, r)] == T::ZERO) {
            return None;
        }
        // Reserved so that a later V of this shape that must be examined allocates nothing.
        self.signed.reserve(rank);
        let tile = self.tile(isa, rank, rows, rows);
        // The sum of all squares bounds the squared norm of a row. If it is close to the limit for L, it is too rough.
        let squares = self.v.pack_one_sign(isa, v, minus, tile).to_f64();
        let [plus, minus] = if minus { [0, rank] } else { [rank, 0] };
        self.signs = [plus, minus];
        (squares <= (T::Part::LARGE_SQUARE * T::Part::UNIT).to_f64()).then(|| Outline {
            plus,
            minus,
            first_row: 0,
            row_norm: if plus > 0 { squares.sqrt() } else { 0.0 },
            scale: 1.0,
        })
    }

    #[inline(always)]
    fn pack(&mut self, isa: Isa, v: MatRef<'_, T>, outline: &Outline, start: usize, threads: Threads) {
        let rows = v.subrows(start, v.nrows() - start);
        let (rank, tile) = (outline.rank(), self.tile(isa, outline.rank(), v.nrows(), rows.nrows()));
        match Share::among(tuning::staging_threads(threads, rows.nrows(), rank)) {
            Some(share) => {
                let columns = || self.signed.columns(rows);
                self.v.pack_on(
                    |parts, work| share.each(parts, work),
                    columns,
                    rank,
                    rows.nrows(),
                    (start, tile),
                );
            }
            None => self.v.pack(self.signed.columns(rows), rank, rows.nrows(), start, tile),
        }
    }

    /// The number of rows in a tile, for a V with `rank` columns and this many rows, of which `staged` are staged. Records
    /// which steps it is for.
    #[inline(always)]
    fn tile(&mut self, isa: Isa, rank: usize, rows: usize, staged: usize) -> usize {
        self.by_column = by_column(rank, rows) && !self.by_reflectors;
        match (self.by_column, self.by_reflectors) {
            (true, _) => staged.next_multiple_of(MAX_LANES),
            (_, true) => shape::<T>(isa, ANY).tile,
            _ => shape::<T>(isa, rank).tile,
        }
    }

    /// Reserves room for `rows` rows whenever room for V is reserved.
    pub fn expect(&mut self, rows: usize) {
        self.v.most = rows;
    }

    /// Columns of L whose first must be at a multiple of their number, counted from the first row of V, in the steps for this number of
    /// columns of V.
    pub fn block(&self, rank: usize) -> usize {
        if self.by_column { 1 } else { shape::<T>(Isa::detect(), rank).block }
    }

    /// Records the report of a sweep that has succeeded.
    #[inline(always)]
    pub(super) fn end(&mut self, plan: &Plan, health: &Health<T::Part>) {
        self.report = Some(Modification::of_sweep(health, plan.start));
    }

    #[inline(always)]
    pub fn take_report(&mut self) -> Modification {
        self.report.take().unwrap_or_else(Modification::identity)
    }

    /// The memory of a sweep, with space for the block reflectors or coefficients of `reflector_sets` panels.
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
        let by_column = by_column(rank, plan.rows) && !self.by_reflectors;
        let shape = shape::<T>(isa, if self.by_reflectors { ANY } else { rank });
        let &Outline { plus, minus, .. } = outline;
        assert_eq!(by_column, self.by_column, "V is staged for other steps");
        let len = match by_column {
            true => Job::<T>::coefficients_len(plus + minus, T::PARTS == 1 && together(rank, plan.rows)),
            false if self.by_reflectors => SignatureJob::<T>::reflector_len(plan.panel_cols, &shape, rank),
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
            together: T::PARTS == 1 && together(rank, plan.rows),
            at_once: true,
            plus,
            minus,
            scale: T::of_real(T::Part::from_f64(outline.scale)),
            carried: None,
        }
    }
}

/// The panels of a sweep over a range of columns of L and all rows from there on.
#[inline]
pub(super) fn plan(rows: usize, columns: Range<usize>, outline: &Outline) -> Plan {
    Plan {
        rows,
        cols: columns.end,
        start: columns.start,
        panel_cols: tuning::panel_cols(outline.rank(), rows),
    }
}
