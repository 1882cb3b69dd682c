//! The one schedule: how a sweep goes over the panels, whoever does the work.

pub mod plan;
pub mod signed;

use self::plan::{Panel, Plan};
use core::ops::Range;

/// The first pivot² that is not greater than zero, by column of L.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Breakdown {
    pub column: usize,
}

/// Who does the work of a sweep, and where.
///
/// The driver below calls these from one thread. `work` may return before the work is done; what a later
/// call needs of it, that call waits for. Rows never mix, so a backend may split and delay them as it likes.
pub(crate) trait Backend {
    /// What ends a sweep early.
    type Stop: From<Breakdown>;

    /// Brings the columns of `panel` to where the work is done. Called one panel ahead.
    fn fetch(&mut self, panel: Panel) -> Result<(), Self::Stop>;

    /// Transforms the diagonal block of `panel`, makes its block reflector and applies it to the rows below:
    /// `head`, on which the next diagonal block waits, and `tail`. All earlier panels have been asked for on
    /// these rows; no call for this panel follows, so its columns may go home. One call for all of it: a backend
    /// may do the parts side by side, and in the order that suits it.
    ///
    /// Lookahead: a backend that works asynchronously is still busy with the tail when the next panel's turn
    /// comes.
    fn work(&mut self, panel: Panel, head: Range<usize>, tail: Range<usize>) -> Result<(), Self::Stop>;

    /// Waits until everything asked for is done. Called last, also after an early end.
    fn finish(&mut self) -> Result<(), Self::Stop>;
}

/// [ L V ] → [ L' V' ]: one pass over all panels of `plan`.
pub(crate) fn sweep<B: Backend>(backend: &mut B, plan: &Plan) -> Result<(), B::Stop> {
    let outcome = panels(backend, plan);
    let finished = backend.finish();
    // What a lost device has computed may look like a breakdown.
    finished.and(outcome)
}

fn panels<B: Backend>(backend: &mut B, plan: &Plan) -> Result<(), B::Stop> {
    let mut coming = plan.panel(0);
    if let Some(first) = coming {
        backend.fetch(first)?;
    }
    while let Some(panel) = coming {
        coming = plan.panel(panel.index + 1);
        let mut head = panel.end()..panel.end();
        if let Some(next) = coming {
            backend.fetch(next)?;
            head = next.block();
        }
        let tail = head.end..plan.rows;
        backend.work(panel, head, tail)?;
    }
    Ok(())
}
