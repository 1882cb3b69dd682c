//! Sweeps that begin before it is known whether their V is valid: the device need not wait for the host to read the outcome of
//! the check. They write to memory of which the factor has no part yet.

use super::{Place, Queue};
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

/// Whether a V is likely to begin in the first row block, after this number in a row that have. Of a large order it takes several:
/// there a sweep takes much longer than the host, and one that is not used is a long wait.
fn is_likely_early(order: usize, before: usize) -> bool {
    const SHORT: usize = 8192;
    before >= if order <= SHORT { 1 } else { 8 }
}

/// L, its inverses, and memory of the shape of L for the new one.
pub(in crate::cuda::resident) struct Matrices<'a, T> {
    pub l: &'a Dense<T>,
    pub inverses: &'a mut Inverses,
    pub new: DeviceSlice<'a, T>,
}

/// When a sweep may begin with a V that is staged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::cuda::resident) enum When {
    /// Not before the next call: the shadow is not free. V is of columns of L, whose squares are not wanted.
    Later,
    /// At once, with a copy of V.
    AtOnce,
    /// At once, and V may be read where it is until the sweep has been waited for, or is withdrawn.
    WhileLent,
}

/// A sweep in flight.
pub(super) struct Ahead {
    /// The doubles of records that it uses.
    used: usize,
    /// The addresses of L and of the new L.
    matrices: [u64; 2],
    order: usize,
}

impl<T: Real> Queue<T> {
    /// As [`StagedV::stage_device`]. If V is likely to be valid, a sweep with all of its rows is enqueued, so that the device need
    /// not wait for the host to read the outcome of the check. It reads a V that is `lent` and needs no scaling in the caller's
    /// memory, any other from the copy, behind which it is enqueued. [`begin`](Self::begin) makes use of the sweep.
    ///
    /// # Errors
    /// As [`StagedV::stage_device`]; but after [`Error::Device`] a sweep may read a lent V until this queue is dropped.
    ///
    /// # Safety
    /// As [`begin`](Self::begin) for `matrices`: L, the inverses, and memory for the new L. Until `begin` is called, or another V
    /// is staged, or this stream has been waited for, L and that memory exist, nothing writes L, and nothing else uses the other.
    /// A V that is `lent` exists and is not written until the sweep has been waited for, or [`cancel`](Self::cancel) has returned.
    pub unsafe fn stage_device(
        &mut self,
        take: &mut Take<T>,
        (v, weights): (&DeviceView<'_, T>, Weights<'_, T>),
        signed: &mut Signed<T>,
        blocks: RankBlocks,
        (matrices, when): (Option<Matrices<'_, T>>, When),
    ) -> Result<Outline, Error> {
        let shape = v.shape();
        let likely = is_likely_early(shape.0, self.early) && blocks.count() == 1 && shape.0 > 0;
        let mut matrices = matrices.filter(|_| likely);
        let mut begun = None;
        if when == When::WhileLent
            && signed.are_as_given(&blocks, shape.1)
            && let Some(matrices) = &mut matrices
        {
            let (lent, stride) = v.slice_on(&self.stream)?;
            self.v.expect(blocks);
            // SAFETY: the caller guarantees the matrices and V.
            begun = Some(unsafe { self.begin_ahead(shape.0, matrices, Place::Lent(lent, stride)) });
        }
        // SAFETY: the view's memory exists and is not written while it is borrowed; the caller guarantees the other.
        let copying =
            unsafe { self.v.begin_device((&self.before, take), v, signed, blocks, when != When::Later) };
        if begun.is_none()
            && copying.is_ok()
            && let Some(matrices) = &mut matrices
        {
            let recorded = self.copied.record(&self.before);
            // SAFETY: the caller guarantees the matrices.
            begun =
                Some(recorded.and_then(|()| unsafe { self.begin_ahead(shape.0, matrices, Place::Copied) }));
        }
        self.before.synchronize().and(copying).and(begun.unwrap_or(Ok(())))?;
        let outline = StagedV::outline_of(take, shape, weights);
        let first = outline.as_ref().ok().and_then(|outline| outline.first_column::<T>(shape.0));
        if first.is_some_and(|first| first < ROW_BLOCK) {
            self.early = self.early.saturating_add(1);
        } else {
            self.early = 0;
            if let Some(Matrices { inverses, .. }) = matrices {
                self.cancel(inverses)?;
            }
        }
        outline
    }

    /// Enqueues the sweep.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`stage_device`](Self::stage_device).
    unsafe fn begin_ahead(
        &mut self,
        order: usize,
        Matrices { l, inverses, new }: &mut Matrices<'_, T>,
        place: Place<'_, T>,
    ) -> Result<(), Error> {
        let plan = Plan { rows: order, cols: order, start: 0, panel_cols: PANEL_COLS };
        let matrices = [l.slice().address(), new.address()];
        // Nothing is lost by a failure: L is not written.
        let written = &mut false;
        let l = (l.slice(), l.stride());
        // SAFETY: the caller guarantees the matrices.
        let used = unsafe { self.enqueue_sweeps(&plan, (l, inverses), (*new, true, true), place, written)? };
        self.ahead = Some(Ahead { used, matrices, order });
        Ok(())
    }

    /// The doubles of records of the sweep that has been enqueued ahead, if there is one.
    pub(super) fn take_ahead(
        &mut self,
        plan: &Plan,
        l: DeviceSlice<'_, T>,
        to: DeviceSlice<'_, T>,
    ) -> Option<usize> {
        let ahead = self.ahead.take()?;
        debug_assert!(ahead.matrices == [l.address(), to.address()], "of another factor");
        debug_assert!(
            ahead.order == plan.rows && plan.start == 0 && self.v.blocks.count() == 1,
            "of another V"
        );
        Some(ahead.used)
    }

    /// Waits for a sweep that has been enqueued ahead and is not used. L is as before; the inverses are to be computed again.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn cancel(&mut self, inverses: &mut Inverses) -> Result<(), Error> {
        if self.ahead.take().is_none() {
            return Ok(());
        }
        inverses.forget();
        self.stream.synchronize()
    }
}

#[cfg(test)]
mod tests {
    use super::is_likely_early;

    #[test]
    fn a_large_order_takes_several_early_v() {
        let least = |order| (0..).find(|&before| is_likely_early(order, before));
        assert_eq!([1, 8192, 8193, 1 << 17].map(least), [Some(1), Some(1), Some(8), Some(8)]);
    }
}
