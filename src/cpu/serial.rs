//! The schedule on one thread: the panels in order, each over all rows.

use crate::element::Element;
use crate::sweep::plan::{Panels, Plan};
use cholupdate_kernels::health::Health;
use cholupdate_kernels::steps::{Breakdown, Steps};
use cholupdate_kernels::sweep::job::Job;

/// [L V] → [L' V'].
///
/// # Errors
/// The first column whose pivot² is not greater than zero.
///
/// # Safety
/// No other thread uses any memory that `job` describes.
#[inline(always)]
pub(super) unsafe fn sweep<T: Element>(job: &Job<T>, plan: &Plan) -> Result<Health<T::Part>, Breakdown> {
    let mut health = Health::default();
    for panel in plan.iter() {
        // SAFETY: all earlier panels have been applied to all rows.
        unsafe {
            job.diagonal(panel, &mut health)?;
            job.trailing(panel, panel.end()..plan.rows);
        }
    }
    Ok(health)
}

/// The same for any steps and panels.
///
/// # Errors
/// The first column whose pivot² is not greater than zero.
///
/// # Safety
/// No other thread uses any memory that the steps use.
pub(super) unsafe fn panels<S: Steps>(steps: &S, panels: &impl Panels) -> Result<S::Report, Breakdown> {
    let mut report = S::Report::default();
    for panel in (0..).map_while(|index| panels.panel(index)) {
        // SAFETY: all earlier panels have been applied to all rows.
        unsafe {
            steps.diagonal(panel, &mut report)?;
            steps.trailing(panel, panel.end()..panels.all_rows().end);
        }
    }
    Ok(report)
}
