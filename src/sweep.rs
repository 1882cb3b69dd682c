//! The one schedule: how a sweep goes over the panels, whoever does the work.

use crate::plan::{Panel, Plan};
use core::ops::Range;

/// The first pivot² that is not greater than zero, by column of L.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Breakdown {
    pub column: usize,
}

/// Who does the work of a sweep, and where.
///
/// The driver below calls these from one thread. `trailing` may return before the work is done; what a
/// later call needs of it, that call waits for. Rows never mix, so a backend may split and delay them as it
/// likes.
pub(crate) trait Backend {
    /// What ends a sweep early.
    type Stop: From<Breakdown>;

    /// Brings the columns of `panel` to where the work is done. Called one panel ahead.
    fn fetch(&mut self, panel: Panel) -> Result<(), Self::Stop>;

    /// Transforms the diagonal block of `panel` and makes its block reflector. All earlier panels have been
    /// asked for on these rows.
    fn diagonal(&mut self, panel: Panel) -> Result<(), Self::Stop>;

    /// Applies the block reflector of `panel` to `rows` of L and V, all below its diagonal block.
    fn trailing(&mut self, panel: Panel, rows: Range<usize>) -> Result<(), Self::Stop>;

    /// Sends the columns of `panel` home: no call for this panel follows.
    fn retire(&mut self, panel: Panel) -> Result<(), Self::Stop>;

    /// Waits until everything asked for is done. Called last, also after an early end.
    fn finish(&mut self) -> Result<(), Self::Stop>;
}

/// [ L V ] → [ L' V' ]: one pass over all panels of `plan`.
///
/// Lookahead: the rows that meet the next diagonal block go first, and that block is worked on while a
/// backend that works asynchronously is still busy with the rows below.
pub(crate) fn sweep<B: Backend>(backend: &mut B, plan: &Plan) -> Result<(), B::Stop> {
    let outcome = panels(backend, plan);
    let finished = backend.finish();
    // What a lost device has computed may look like a breakdown.
    finished.and(outcome)
}

fn panels<B: Backend>(backend: &mut B, plan: &Plan) -> Result<(), B::Stop> {
    let Some(mut panel) = plan.panel(0) else { return Ok(()) };
    backend.fetch(panel)?;
    backend.diagonal(panel)?;
    while let Some(next) = plan.panel(panel.index + 1) {
        backend.fetch(next)?;
        backend.trailing(panel, next.block())?;
        backend.trailing(panel, next.end()..plan.rows)?;
        backend.retire(panel)?;
        backend.diagonal(next)?;
        panel = next;
    }
    backend.trailing(panel, panel.end()..plan.rows)?;
    backend.retire(panel)?;
    Ok(())
}
