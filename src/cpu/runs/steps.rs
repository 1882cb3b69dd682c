//! The steps of a sweep over columns of L of both signs, with a V of one.

use crate::element::Element;
use cholupdate_kernels::health::Health;
use cholupdate_kernels::number::Number;
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::{Breakdown, Steps};
use cholupdate_kernels::sweep::job::Job;
use cholupdate_kernels::sweep::signature::SignatureJob;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The steps of a sweep over runs of columns of one sign.
pub(super) struct RunSteps<'a, T: Number> {
    /// With V relative to positive pivots, and to negative ones.
    pub jobs: [Job<T>; 2],
    /// Which pivots are negative.
    pub negative: &'a [bool],
    /// The sign of V.
    pub sign: f64,
    /// The end of the columns of L.
    pub end: usize,
    /// The sums of all rows, if they are kept current: of squares, and with signs.
    pub sums: Option<[*mut f64; 2]>,
    /// The least permitted squared ratio of a new pivot to an old one.
    pub least: f64,
    pub any_signs: Option<AnySigns<'a, T>>,
}

/// The steps for any signs, which replace the others where a pivot does not permit them.
pub(super) struct AnySigns<'a, T: Number> {
    pub steps: SignatureJob<T>,
    /// The first panel of these steps. The thread that runs the sweep writes it before it publishes the panel.
    pub first: &'a AtomicUsize,
    /// Memory for the rows of V in a diagonal block.
    pub saved: *mut T::Part,
}

impl<T: Element> AnySigns<'_, T> {
    fn have(&self, panel: Panel) -> bool {
        panel.index >= self.first.load(Ordering::Relaxed)
    }

    /// Calls a function with each contiguous part of the rows of V in a diagonal block, its length, and as much of the memory.
    ///
    /// # Safety
    /// No other thread uses these rows.
    unsafe fn each_part(&self, panel: Panel, each: impl Fn(*mut T::Part, *mut T::Part, usize)) {
        let (v, rank) = (self.steps.job.v, self.steps.rank());
        let (mut row, mut saved) = (panel.first, self.saved);
        while row < panel.end() {
            let (tile, offset) = v.locate(row);
            let len = (panel.end() - row).min(v.tile - offset);
            for column in 0..rank * T::PARTS {
                // SAFETY: these are rows of V, and there is memory for a panel of them.
                unsafe {
                    each(v.ptr(tile).add(column * v.tile + offset), saved, len);
                    saved = saved.add(len);
                }
            }
            row += len;
        }
    }

    /// # Safety
    /// As `each_part`.
    unsafe fn save(&self, panel: Panel) {
        // SAFETY: parts of V and of other memory.
        unsafe { self.each_part(panel, |v, saved, len| core::ptr::copy_nonoverlapping(v, saved, len)) }
    }

    /// Restores what was saved before a step on this diagonal block, which is the first of these steps.
    ///
    /// # Safety
    /// As `each_part`.
    unsafe fn begin(&self, panel: Panel) {
        // SAFETY: as above.
        unsafe { self.each_part(panel, |v, saved, len| core::ptr::copy_nonoverlapping(saved, v, len)) }
        self.first.store(panel.index, Ordering::Relaxed);
    }
}

// SAFETY: the sums are memory that only the steps access, each for its own rows; only diagonal steps use what is saved.
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
        // SAFETY: the caller guarantees the rows of the block, and the new L is not where the old one is if there are steps for any signs.
        unsafe {
            if let Some(any) = &self.any_signs
                && any.have(panel)
            {
                return any.steps.diagonal(panel, health);
            }
            self.begin(panel, panel.block());
            let shrinks = self.relative(panel.first) < 0.0;
            let (any, before) = (self.any_signs.as_ref().filter(|_| shrinks), *health);
            if let Some(any) = any {
                any.save(panel);
            }
            let made = self.job(panel.first).diagonal(panel, health);
            // The comparison is false for NaN.
            if made.is_ok() && health.totals(0).0 >= self.least {
                return Ok(());
            }
            let Some(any) = any else { return Err(Breakdown { column: panel.first }) };
            *health = before;
            any.begin(panel);
            any.steps.diagonal(panel, health)
        }
    }

    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        let (first, end) = (panel.first, panel.end());
        // SAFETY: the caller guarantees the rows.
        unsafe {
            self.begin(panel, rows.clone());
            if let Some(any) = &self.any_signs
                && any.have(panel)
            {
                return any.steps.trailing(panel, rows);
            }
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
