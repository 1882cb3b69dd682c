//! The kernels for the rank blocks of a queue, and how much memory the largest of its launches takes.

use super::schedule::{Partitions, Schedule};
use super::sweep_launch::{NARROW, SWEEPS_OF_LAUNCH, SweepKernel, Variant, WIDE, flags, saved_v};
use crate::cuda::device::Device;
use crate::error::Error;
use crate::real::Real;
use crate::sweep::rank_blocks::RankBlocks;

/// For narrow rank blocks, and for wide ones if there may be any.
pub(in crate::cuda) struct SweepKernels<T> {
    narrow: SweepKernel<T>,
    wide: Option<SweepKernel<T>>,
}

/// The most scalars, flags and tasks that any launch takes.
pub(in crate::cuda) struct LaunchSizes {
    pub records: usize,
    pub saved_v: usize,
    pub flags: usize,
    pub tasks: usize,
    /// Those of a launch of one narrow sweep.
    pub records_of_one: usize,
    pub flags_of_one: usize,
}

impl<T: Real> SweepKernels<T> {
    /// # Errors
    /// [`Error::Device`] if the driver fails.
    pub fn load(device: &Device, blocks: RankBlocks, distributed: bool) -> Result<Self, Error> {
        let load = |width| SweepKernel::load(device, Variant { width, distributed });
        let narrow = load(NARROW)?;
        let wide = if blocks.width == WIDE { Some(load(WIDE)?) } else { None };
        Ok(Self { narrow, wide })
    }

    /// Whether there is a kernel for these rank blocks.
    pub fn has_kernel_for(&self, blocks: RankBlocks) -> bool {
        blocks.width != WIDE || self.wide.is_some()
    }

    /// The kernel for these rank blocks, if [there is one](Self::has_kernel_for).
    pub fn of(&self, blocks: RankBlocks) -> &SweepKernel<T> {
        self.wide.as_ref().filter(|_| blocks.width == WIDE).unwrap_or(&self.narrow)
    }

    /// Enough for every launch with at most these panels and rank blocks.
    pub fn sizes(&self, panels: usize, partitions: Partitions, blocks: RankBlocks) -> LaunchSizes {
        let together = blocks.count().clamp(1, SWEEPS_OF_LAUNCH);
        // Of rank blocks that may be wide at most two are narrow, one of each sign.
        let narrow = if self.wide.is_some() { 2 } else { together };
        let kernels = [Some((&self.narrow, narrow)), self.wide.as_ref().map(|wide| (wide, together))];
        let largest = |of: fn(&SweepKernel<T>, Schedule) -> usize| {
            let schedule = |sweeps: usize| Schedule::new(panels, sweeps, partitions.of(sweeps));
            let launches = kernels.into_iter().flatten().flat_map(|(kernel, most)| {
                Partitions::largest(most).map(|sweeps| of(kernel, schedule(sweeps)))
            });
            launches.max().unwrap_or(0)
        };
        let one = Schedule::new(panels, 1, partitions.of(1));
        LaunchSizes {
            records: largest(SweepKernel::records),
            saved_v: largest(|kernel, schedule| saved_v(schedule, kernel.width())),
            flags: largest(|_, schedule| flags(schedule)),
            tasks: largest(|_, schedule| schedule.len()).max(one.leaving_inverses().len()),
            records_of_one: self.narrow.records(one),
            flags_of_one: flags(one),
        }
    }
}
