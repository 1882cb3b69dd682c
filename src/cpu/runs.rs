//! A sweep over L S Lᴴ, S = diag(±1), with a V whose columns have one sign: columns of L of one sign are processed by the steps for a
//! positive definite matrix. Relative to a negative pivot, V has the opposite sign.
//!
//! ```text
//! columns of L      + + + + + + + + + − − − − − − − − − − …
//! panels            │     D     │ D │D│  D  │     D     │     each of one sign; blocks of columns are where they would be in an L of one sign
//! ```

use super::serial;
use super::signature::{SignatureMemory, SignedFactor};
use super::staged::plan;
use super::sweep::{run, run_asking};
use super::tuning;
use crate::element::Element;
use crate::host::interrupt::Asks;
use crate::host::threads::Threads;
use crate::report::Modification;
use crate::sweep::outline::Outline;
use crate::sweep::plan::Panels;
use crate::sweep::stop::Stop;
use cholupdate_kernels::health::Health;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::{Breakdown, Steps};
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::job::Job;
use core::ops::Range;
use faer::MatRef;

/// The columns of L of one sign that follow each other must be this many on average: where the sign changes, V is read and written once
/// more, and the blocks of columns are narrower.
const WORTH_A_PANEL: usize = 16;

/// Whether these columns of L are processed by the steps for one sign in less time.
pub(crate) fn are_long(negative: &[bool]) -> bool {
    let changes: usize = negative.iter().zip(negative.iter().skip(1)).map(|(a, b)| usize::from(a != b)).sum();
    changes < negative.len().div_ceil(WORTH_A_PANEL)
}

/// Sums over the rows of a factor L S Lᴴ. (n, n)
pub(crate) struct RowSums<'a> {
    /// Σ_j |l_ij|², the diagonal of L Lᴴ.
    pub squares: &'a mut [f64],
    /// Σ_j s_j |l_ij|², that of A.
    pub diagonal: &'a mut [f64],
}

/// Panels of columns of one sign, in order, and the rows below them.
struct RunPanels<'a> {
    panels: &'a [Panel],
    rows: Range<usize>,
    /// No panel has columns on both sides of a multiple of this, counted from the first row.
    unit: usize,
}

impl Panels for RunPanels<'_> {
    fn panel(&self, index: usize) -> Option<Panel> {
        self.panels.get(index).copied()
    }

    fn next_rows(&self, panel: Panel) -> Range<usize> {
        self.panel(panel.index + 1).map_or(panel.end()..panel.end(), |next| next.block())
    }

    fn trailing_rows(&self, panel: Panel) -> Range<usize> {
        self.next_rows(panel).end..self.rows.end
    }

    fn all_rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    fn unit(&self) -> usize {
        self.unit
    }
}

/// Cuts columns into panels of one sign. Counted from the first column, none has columns on both sides of a multiple of `unit`. One
/// that begins inside a block of columns, or that would end inside one because the sign changes, ends where the block begins or ends.
fn cut(negative: &[bool], columns: Range<usize>, (unit, block): (usize, usize), panels: &mut Vec<Panel>) {
    panels.clear();
    let mut first = columns.start;
    while first < columns.end {
        let before = first - columns.start;
        let most = columns.end.min(first + unit - before % unit);
        let sign = negative[first];
        let same = negative[first..most].iter().take_while(|&&negative| negative == sign).count();
        let end = match before % block {
            0 if first + same == most || same < block => first + same,
            0 => first + same / block * block,
            inside => first + same.min(block - inside),
        };
        panels.push(Panel { index: panels.len(), first, cols: end - first });
        first = end;
    }
}

/// The steps of a sweep over runs of columns of one sign.
struct RunSteps<'a, T: Number> {
    /// With V relative to positive pivots, and to negative ones.
    jobs: [Job<T>; 2],
    /// Which pivots are negative.
    negative: &'a [bool],
    /// The sign of V.
    sign: f64,
    /// The end of the columns of L.
    end: usize,
    /// The sums of all rows, if they are kept current: of squares, and with signs.
    sums: Option<[*mut f64; 2]>,
    /// The least permitted squared ratio of a new pivot to an old one.
    least: f64,
}

// SAFETY: the sums are memory that only the steps access, each for its own rows.
unsafe impl<T: Number> Sync for RunSteps<'_, T> {}

impl<T: Element> RunSteps<'_, T> {
    /// The steps for the sign of a column.
    fn job(&self, column: usize) -> &Job<T> {
        &self.jobs[usize::from(self.negative[column])]
    }

    /// The sign of V relative to that of a column.
    fn relative(&self, column: usize) -> f64 {
        if self.negative[column] { -self.sign } else { self.sign }
    }

    /// Adds these multiples of the squared norms of rows of V to the sums of squares, and to those with signs.
    ///
    /// # Safety
    /// No other thread uses these rows.
    unsafe fn add(&self, rows: Range<usize>, multiples: [f64; 2]) {
        let v = self.jobs[0].v;
        let rank = self.jobs[0].plus + self.jobs[0].minus;
        for (sums, factor) in self.sums.into_iter().flatten().zip(multiples) {
            if factor != 0.0 {
                // SAFETY: there is a sum for each row of L, as V has, and the caller guarantees that these are used by no other thread.
                unsafe {
                    let sums = core::slice::from_raw_parts_mut(sums.add(rows.start), rows.len());
                    v.add_squares(rows.start, 0..rank, factor, sums);
                }
            }
        }
    }

    /// What V adds to the sums in the first step on these rows.
    ///
    /// # Safety
    /// As `add`.
    unsafe fn begin(&self, panel: Panel, rows: Range<usize>) {
        if panel.index == 0 {
            // SAFETY: the caller guarantees the rows.
            unsafe { self.add(rows, [self.relative(panel.first), self.sign]) };
        }
    }
}

impl<T: Element> Steps for RunSteps<'_, T> {
    type Report = Health<T::Part>;

    unsafe fn diagonal(&self, panel: Panel, health: &mut Health<T::Part>) -> Result<(), Breakdown> {
        // SAFETY: the caller guarantees the rows of the block.
        unsafe {
            self.begin(panel, panel.block());
            self.job(panel.first).diagonal(panel, health)?;
        }
        // The comparison is false for NaN.
        if health.totals(0).0 >= self.least { Ok(()) } else { Err(Breakdown { column: panel.first }) }
    }

    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        let (first, end) = (panel.first, panel.end());
        // SAFETY: the caller guarantees the rows.
        unsafe {
            self.begin(panel, rows.clone());
            self.job(first).trailing(panel, rows.clone());
            // What is left of V below the columns of one sign is what those of the other sign begin with.
            if end < self.end && self.negative[end] != self.negative[first] {
                self.add(rows, [-2.0 * self.relative(first), 0.0]);
            }
        }
    }

    fn prefetch(&self, panel: Panel, next: Range<usize>) {
        self.job(panel.first).prefetch(panel, next);
    }
}

/// Sweeps over a range of columns of L, out of place or, without `old`, in place, with the staged V, whose columns have one sign. Keeps
/// the sums of the rows of L current, if there are some: the sum of the squares of a row of L and V is the same before and after the steps
/// of one sign.
///
/// Returns `None` if a pivot would change its sign or come near zero. `new` and the sums are then unspecified from the first column on.
///
/// # Errors
/// `Interrupted`.
pub(crate) fn sweep_runs<T: Element>(
    old: Option<MatRef<'_, T>>,
    new: SignedFactor<'_, T>,
    columns: Range<usize>,
    outline: &Outline,
    memory: &mut SignatureMemory<T>,
    (sums, threads): (Option<RowSums<'_>>, Threads),
) -> Result<Option<Modification>, Stop> {
    let SignedFactor { l: new, negative } = new;
    let order = new.nrows();
    assert!(
        new.ncols() == order && negative.len() == order && columns.end <= order,
        "L is square, and S has an entry for each column"
    );
    assert!(old.is_none_or(|old| old.shape() == new.shape()), "old and new L have one shape");
    assert!(new.row_stride() == 1 || order < 2, "L is column-major");
    assert!(outline.plus == 0 || outline.minus == 0, "the columns of V have one sign");
    let (dst, dst_stride) = (new.as_ptr_mut(), new.col_stride());
    let (src, src_stride) = match old {
        Some(old) => (old.as_ptr(), old.col_stride()),
        None => (dst.cast_const(), dst_stride),
    };
    let plan = plan(order, columns.clone(), outline);
    let threads = tuning::threads(threads, &plan, outline.rank());
    let SignatureMemory { sweep, panels, chunks, .. } = memory;
    cut(negative, columns.clone(), (plan.panel_cols, sweep.block(outline.rank())), panels);
    let sets = if threads > 1 { panels.len() } else { 1 };
    let job = sweep.job(Isa::detect(), Entries { src, src_stride, dst, dst_stride }, &plan, outline, sets);
    let steps = RunSteps {
        jobs: [job, Job { plus: job.minus, minus: job.plus, ..job }],
        negative,
        sign: if outline.minus == 0 { 1.0 } else { -1.0 },
        end: columns.end,
        sums: sums.map(|RowSums { squares, diagonal }| {
            assert!(squares.len() == order && diagonal.len() == order, "each row has its sums");
            [squares.as_mut_ptr(), diagonal.as_mut_ptr()]
        }),
        // Where a pivot is nearly zero, whether any digit of it is known must be found out.
        least: (64.0 * (order + outline.rank()) as f64 * T::Part::UNIT.to_f64()).max(1e-3),
    };
    let panels = RunPanels { panels, rows: columns.start..order, unit: plan.panel_cols };
    // SAFETY: L has these rows and columns, column-major, and is borrowed, exclusively where it is written, as are the sums; V and the
    // reflectors are borrowed from `sweep`, with a set of reflectors for each panel, or, on one thread, for the current one.
    let swept = unsafe {
        match Asks::claim() {
            Some(asks) => run_asking(steps, asks, &panels, (threads, chunks)),
            None if threads > 1 => run(&steps, &panels, (threads, chunks)).map_err(Stop::from),
            None => serial::panels(&steps, &panels).map_err(Stop::from),
        }
    };
    match swept {
        Ok(health) => Ok(Some(Modification::of_sweep(&health, plan.start))),
        Err(Stop::Breakdown { .. }) => Ok(None),
        Err(stop) => Err(stop),
    }
}
