//! The staging of the V of a modification that the caller gives.

use super::factor::ResidentFactor;
use super::inverses::Inverses;
use super::queue::{Matrices, Queue, When};
use super::take::Take;
use super::v::rank_blocks;
use crate::cuda::device::Device;
use crate::cuda::operands::on_device;
use crate::error::Error;
use crate::host::threads::Threads;
use crate::operand::Operand;
use crate::real::Real;
use crate::sweep::outline::Outline;
use crate::sweep::rank_blocks::RankBlocks;
use crate::sweep::weights::Weights;
use std::sync::PoisonError;

impl<T: Real> ResidentFactor<T> {
    /// The queue of a modification, with room for these rank blocks.
    fn ready<'a>(
        queue: &'a mut Option<Queue<T>>,
        (device, capacity, inverses): (&Device, usize, &mut Inverses),
        blocks: RankBlocks,
    ) -> Result<&'a mut Queue<T>, Error> {
        Ok(match queue.take() {
            Some(fitting) if fitting.fits(capacity, blocks) => {
                let fitting = queue.insert(fitting);
                fitting.cancel(inverses)?;
                fitting
            }
            // The old one is freed first, because both might not fit.
            old => {
                // A sweep that has begun ahead leaves inverses.
                if old.is_some() {
                    inverses.forget();
                }
                drop(old);
                queue.insert(Queue::new(device, capacity, blocks)?)
            }
        })
    }

    /// Stages V in the memory of the queue.
    fn stage_in_queue(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T>,
        when: When,
    ) -> Result<Outline, Error> {
        let Self { queue, signed, room_for_wide, take, device, l, shadow, solving, resizing, .. } = self;
        let ((order, columns), capacity) = (v.shape(), l.capacity());
        signed.order(weights, columns);
        let blocks = rank_blocks(device, false, room_for_wide, signed)?;
        let nothing = order == 0 || blocks.count() == 0;
        let (inverses, _) = solving.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(v) = on_device(v) {
            let queue = Self::ready(queue, (device, capacity, inverses), blocks)?;
            let take = Take::ready(take, device, columns)?;
            if let Some(rearranger) = resizing {
                rearranger.order_before(queue.stream())?;
            }
            // Without room for the inverses the sweep fails later, if there is one.
            let matrices = match shadow {
                Some(shadow) if when != When::Later && inverses.make_room(device).is_ok() => {
                    Some(Matrices { l, inverses, new: shadow.slice(0..shadow.len()) })
                }
                _ => None,
            };
            // SAFETY: earlier work is on the queue's stream, or comes before it. Before the next sweep nothing writes L or uses the
            // shadow or the inverses: the failure contract withdraws a staged V that is not swept, which waits for the sweep and
            // forgets the inverses. A lent V is not written before the sweep has been waited for, or withdrawn.
            return unsafe { queue.stage_device(take, (v, weights), signed, blocks, (matrices, when)) };
        }
        let v = v.on_host()?;
        if nothing {
            return signed.check(v.as_ref(), weights, Threads::Pool.par());
        }
        let queue = Self::ready(queue, (device, capacity, inverses), blocks)?;
        queue.v.stage_host(device, (v.as_ref(), weights), signed, blocks)
    }

    /// Stages V and w, in host memory or on the device.
    pub(super) fn stage_given(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T>,
        when: When,
    ) -> Result<Outline, Error> {
        if let Some(v) = on_device(v) {
            v.is_on(&self.device, "v")?;
        }
        let staged = self.stage_in_queue(v, weights, when);
        if let Err(Error::Device { .. }) = staged {
            // The contents of their memory are unknown, and a new queue may not have been initialized.
            (self.queue, self.take) = (None, None);
            self.solving.get_mut().unwrap_or_else(PoisonError::into_inner).0.forget();
        }
        staged
    }
}
