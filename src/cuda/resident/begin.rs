//! The start of a sweep: where it reads L, where it writes, and from which column on.

use super::factor::{ResidentFactor, Way, lost};
use super::sizes::{PANEL_COLS, ROW_BLOCK};
use crate::error::other;
use crate::real::Real;
use crate::storage::Target;
use crate::sweep::plan::Plan;
use crate::sweep::stop::Stop;
use std::sync::PoisonError;

impl<T: Real> ResidentFactor<T> {
    /// Starts the sweep of the V that has been staged, from the row block of this column on, or of the row at which L is split: earlier
    /// rows of V are zero, so that their columns do not change.
    pub(super) fn begin_sweep(&mut self, column: usize, way: Way, target: Target) -> Result<(), Stop> {
        let start = column.min(self.splits_at.unwrap_or(column)) / ROW_BLOCK * ROW_BLOCK;
        let whole = target == Target::Shadow && self.splits_at.is_none();
        let Self { queue, l, shadow, resizing, solving, device, .. } = self;
        let (inverses, _) = solving.get_mut().unwrap_or_else(PoisonError::into_inner);
        inverses.make_room(device).map_err(|error| lost(error, false))?;
        let Some(at_work) = queue else { return Err(lost(other("no V has been staged"), false)) };
        let shadow = shadow.as_ref().map(|shadow| shadow.slice(0..shadow.len()));
        let (from, to) = match (way, shadow) {
            (Way::InPlace, _) => (l.slice(), l.slice()),
            (Way::ToShadow, Some(shadow)) => (l.slice(), shadow),
            (Way::FromShadow, Some(shadow)) => (shadow, l.slice()),
            (Way::ToShadow | Way::FromShadow, None) => {
                return Err(lost(other("there is no shadow"), false));
            }
        };
        if let Some(rearranger) = resizing {
            rearranger.order_before(at_work.stream()).map_err(|error| lost(error, false))?;
        }
        let plan = Plan { rows: l.order(), cols: l.order(), start, panel_cols: PANEL_COLS };
        let l = (from, l.stride());
        // SAFETY: L and the shadow belong to the factor, which drops its queue first. What is written becomes L, or part of it, and
        // the queue starts again, only after `wait` has returned, and only if nothing broke down. A sweep that is still in flight
        // then comes before all other work on either matrix: `quiet` waits for it, or streams do. After a failure the queue is
        // dropped.
        if let Err((error, written)) = unsafe { at_work.begin(&plan, (l, inverses), (target, to, whole)) } {
            *queue = None;
            return Err(lost(error, written));
        }
        self.flight = Some((target, start));
        Ok(())
    }
}
