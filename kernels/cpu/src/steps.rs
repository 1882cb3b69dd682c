//! The two steps of a panel.

use crate::panel::Panel;
use core::ops::Range;

/// A breakdown: the first column of L whose pivot² is not greater than zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakdown {
    pub column: usize,
}

/// The two steps of a panel, on memory that threads share row by row. Only the thread that runs the sweep calls other functions than
/// [`trailing`](Self::trailing).
pub trait Steps: Sync {
    /// The report of the diagonal steps.
    type Report: Default + Send;

    /// The diagonal step: computes what the rows below need of `panel`.
    ///
    /// # Errors
    /// The column of L whose pivot² is not greater than zero.
    ///
    /// # Safety
    /// All earlier panels have been applied to the rows of the block, no other thread uses these rows, and no thread reads the
    /// result of the step before it is complete.
    unsafe fn diagonal(&self, panel: Panel, report: &mut Self::Report) -> Result<(), Breakdown>;

    /// The trailing step on `rows`.
    ///
    /// # Safety
    /// The diagonal step of `panel` is done, all earlier panels have been applied to `rows`, and no other thread uses these
    /// rows.
    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>);

    /// Prefetches the reflectors that the diagonal step of `panel` writes, and L for that step and for its trailing step on the
    /// next diagonal rows.
    fn prefetch(&self, panel: Panel, next: Range<usize>) {
        let _ = (panel, next);
    }

    /// Whether the diagonal step of `panel`, all earlier ones of which are done, would not wait for another process.
    fn is_ready(&self, panel: Panel) -> bool {
        let _ = panel;
        true
    }

    /// Lets messages to and from other processes make progress.
    fn progress(&self) {}
}
