//! The memory of one sweep.

use super::change::{BlockChange, OneColumn};
use crate::number::Number;
use crate::panel::Panel;
use crate::sweep::job::Job;
use crate::sweep::reflector::{OneSign, Reflector};
use crate::sweep::shape::Shape;

/// All that the steps read and write. `blocks` and `columns` are those of the sweep, and only the diagonal step writes to them, and to
/// `plus` and `new`.
pub struct SignatureJob<T: Number> {
    /// L and V, with the numbers of plus and minus columns before the sweep. The new L is written somewhere.
    pub job: Job<T>,
    /// Whether the old pivots and the new ones are negative, for each column of L. They may be the same memory.
    pub old: *const bool,
    pub new: *mut bool,
    /// One for each block of a panel, panel by panel.
    pub blocks: *mut BlockChange,
    /// One for each column of L.
    pub columns: *mut OneColumn<T>,
    /// Columns of V with a plus sign, after the diagonal steps so far.
    pub plus: *mut usize,
    /// A pivot is zero to working precision if less than this share is left of it.
    pub tolerance: T::Part,
}

// SAFETY: as of `Job`.
unsafe impl<T: Number> Sync for SignatureJob<T> {}

impl<T: Number> SignatureJob<T> {
    /// Scalars for the reflectors of one panel.
    pub fn reflector_len(panel_cols: usize, shape: &Shape, rank: usize) -> usize {
        panel_cols.div_ceil(shape.block) * Self::block_len(shape.lanes, rank)
    }

    /// Scalars for those of a block: of both signs, however many columns of V have which.
    #[inline(always)]
    fn block_len(lanes: usize, rank: usize) -> usize {
        Reflector::<T>::len(rank, lanes) + Reflector::<T>::len(0, lanes)
    }
}

impl<T: Number> SignatureJob<T> {
    /// Columns of V.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.job.plus + self.job.minus
    }

    /// The change of block `s` of a panel.
    #[inline(always)]
    pub fn block(&self, panel: Panel, s: usize) -> *mut BlockChange {
        self.blocks.wrapping_add(panel.index * self.job.panel_cols.div_ceil(self.job.block) + s)
    }

    #[inline(always)]
    fn memory(&self, panel: Panel, s: usize) -> *mut T {
        let Job { lanes, block, panel_cols, reflectors, .. } = self.job;
        let blocks = self.job.set(panel) * panel_cols.div_ceil(block) + s;
        reflectors.wrapping_add(blocks * Self::block_len(lanes, self.rank()))
    }

    /// The reflectors of a block, for the columns of V of the sign of its pivots and for the others.
    #[inline(always)]
    pub fn reflectors(&self, panel: Panel, s: usize, signed: [OneSign; 2]) -> [Reflector<T>; 2] {
        let (lanes, at) = (self.job.lanes, self.memory(panel, s));
        let [same, other] = signed.map(|signed| signed.rank);
        // SAFETY: one after the other they are as long as the memory of a block.
        unsafe {
            let first = Reflector::at(at, lanes, same);
            [first, Reflector::at(at.wrapping_add(Reflector::<T>::len(same, lanes)), lanes, other)]
        }
    }

    /// The same memory for the coefficients of all columns of V, where the columns of L are processed one by one.
    #[inline(always)]
    pub fn coefficients(&self, panel: Panel, s: usize) -> Reflector<T> {
        // SAFETY: the memory of a block is longer than one reflector of all columns of V.
        unsafe { Reflector::at(self.memory(panel, s), self.job.lanes, self.rank()) }
    }
}
