//! Sweeps that begin before it is known whether their V is valid: the device need not wait for the host to read the outcome of
//! the check. They write to memory of which the factor has no part yet.

use super::Queue;
use crate::cuda::dense::Dense;
use crate::cuda::matrix::DeviceView;
use crate::cuda::memory::DeviceSlice;
use crate::cuda::resident::inverses::Inverses;
use crate::cuda::resident::sizes::{PANEL_COLS, ROW_BLOCK};
use crate::cuda::resident::take::Take;
use crate::cuda::resident::v::StagedV;
use crate::error::Error;
use crate::real::Real;
use crate::sweep::outline::Outline;
use crate::sweep::plan::Plan;
use crate::sweep::rank_blocks::RankBlocks;
use crate::sweep::signed::Signed;
use crate::sweep::weights::Weights;

/// The largest order of such a sweep. Beyond, it takes much longer than the host, and one that is not used would be a long wait.
const AHEAD_UP_TO: usize = 8192;

/// L, its inverses, and memory of the shape of L for the new one.
pub(in crate::cuda::resident) struct Matrices<'a, T> {
    pub l: &'a Dense<T>,
    pub inverses: &'a mut Inverses,
    pub new: DeviceSlice<'a, T>,
}

impl<T: Real> Queue<T> {
    /// As [`StagedV::stage_device`]. If V is likely to be valid, a sweep with all of its rows is enqueued behind the copy, so that
    /// the device need not wait for the host to read the outcome of the check. [`begin`](Self::begin) makes use of it.
    ///
    /// # Errors
    /// As [`StagedV::stage_device`].
    ///
    /// # Safety
    /// As [`begin`](Self::begin) for `matrices`: L, the inverses, and memory for the new L. Until `begin` is called, or another V
    /// is staged, or this stream has been waited for, L and that memory exist, nothing writes L, and nothing else uses the other.
    pub unsafe fn stage_device(
        &mut self,
        take: &mut Take<T>,
        v: (&DeviceView<'_, T>, Weights<'_, T>),
        signed: &mut Signed<T>,
        blocks: RankBlocks,
        matrices: Option<Matrices<'_, T>>,
    ) -> Result<Outline, Error> {
        let ((v, weights), shape) = (v, v.0.shape());
        // SAFETY: the view's memory exists and is not written while it is borrowed; the caller guarantees the other.
        let begun = unsafe { self.v.begin_device((&self.before, take), v, signed, blocks) };
        let worth = self.goes_ahead && blocks.count() == 1 && (1..=AHEAD_UP_TO).contains(&shape.0);
        let begun = match matrices.filter(|_| worth && begun.is_ok()) {
            // SAFETY: the caller guarantees the matrices.
            Some(matrices) => unsafe { self.begin_ahead(shape.0, matrices) },
            None => begun,
        };
        self.before.synchronize().and(begun)?;
        let outline = StagedV::outline_of(take, shape, weights);
        let first = outline.as_ref().ok().and_then(|outline| outline.first_column::<T>(shape.0));
        self.goes_ahead = first.is_some_and(|first| first < ROW_BLOCK);
        if !self.goes_ahead {
            self.cancel()?;
        }
        outline
    }

    /// Enqueues the sweep behind the copy of V.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`stage_device`](Self::stage_device).
    unsafe fn begin_ahead(&mut self, order: usize, matrices: Matrices<'_, T>) -> Result<(), Error> {
        self.copied.record(&self.before)?;
        self.stream.wait(&self.copied)?;
        let plan = Plan { rows: order, cols: order, start: 0, panel_cols: PANEL_COLS };
        let Matrices { l, inverses, new } = matrices;
        // SAFETY: the caller guarantees the matrices.
        self.ahead = Some(unsafe { self.enqueue_sweeps(&plan, (l, inverses), (true, new), &mut false)? });
        Ok(())
    }

    /// Waits for a sweep that has been enqueued ahead and is not used. L and the inverses are as before.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn cancel(&mut self) -> Result<(), Error> {
        let Some(used) = self.ahead.take() else { return Ok(()) };
        self.stream.synchronize()?;
        // SAFETY: the memory belongs to this queue, and nothing is in flight.
        unsafe { self.filled(used).reset(&self.stream) }
    }
}
