//! The schedule on one thread: the panels in order, each over all rows.

use crate::sweep::plan::Panels;
use cholupdate_kernels::steps::{Breakdown, Steps};

/// Does the steps of all panels.
///
/// # Errors
/// The first column whose pivot² is not greater than zero.
///
/// # Safety
/// No other thread uses any memory that the steps use.
#[inline(always)]
pub(super) unsafe fn sweep<S: Steps>(steps: &S, panels: &impl Panels) -> Result<S::Report, Breakdown> {
    let (mut report, end) = (S::Report::default(), panels.all_rows().end);
    for panel in (0..).map_while(|index| panels.panel(index)) {
        // SAFETY: all earlier panels have been applied to all rows.
        unsafe {
            steps.diagonal(panel, &mut report)?;
            steps.trailing(panel, panel.end()..end);
        }
    }
    Ok(report)
}
