//! The schedule on one thread: a panel after the other, each over all rows.

use super::kernels::job::{Chain, Job};
use crate::scalar::Scalar;
use crate::sweep::Breakdown;
use crate::sweep::plan::{Panel, Plan};

/// [L V] → [L' V'].
///
/// # Errors
/// The first column whose pivot² is not greater than zero.
///
/// # Safety
/// All memory that `job` describes is this call's alone.
pub(super) unsafe fn sweep<T: Scalar>(job: &Job<T>, plan: &Plan) -> Result<Chain<T>, Breakdown> {
    let mut chain = Chain::default();
    for panel in plan.iter() {
        // SAFETY: all earlier panels have been applied to all rows.
        unsafe { one_panel(job, plan, panel, &mut chain)? };
    }
    Ok(chain)
}

/// The part of one panel in it.
///
/// # Errors
/// As [`sweep`].
///
/// # Safety
/// As [`sweep`]; all earlier panels have been done.
pub(super) unsafe fn one_panel<T: Scalar>(
    job: &Job<T>,
    plan: &Plan,
    panel: Panel,
    chain: &mut Chain<T>,
) -> Result<(), Breakdown> {
    // SAFETY: forwarded to the caller.
    unsafe {
        job.diagonal(panel, chain)?;
        job.trailing(panel, panel.end()..plan.rows);
    }
    Ok(())
}
