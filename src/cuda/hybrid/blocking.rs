//! How the columns of V are cut up for the device.

use super::form::{COLUMN_GROUP, ELEMENTS, Form};
use crate::scalar::Scalar;
use crate::sweep::rank_blocks::RankBlocks;

/// How many threads of the device may share a row. More would leave the CPU too few rank blocks to share.
const LANES: [usize; 3] = [1, 2, 4];

/// The rank blocks of one modification, and how the kernels go about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocking {
    pub blocks: RankBlocks,
    /// How the device goes about a row.
    pub form: Form,
    /// By place in [`ELEMENTS`]: columns of V that a thread takes of a rank block.
    pub instance: usize,
}

impl Blocking {
    pub const NONE: Self = Self { blocks: RankBlocks::NONE, form: Form::Columns { lanes: 1 }, instance: 0 };

    /// For V with that many columns of each sign. `limit`: columns of V that a thread takes, at most.
    pub fn new<T: Scalar>(plus: usize, minus: usize, limit: usize) -> Self {
        // Fewer of a sign would be filled up with too many zero columns.
        const WORTH_TENSOR_CORES: usize = 9;
        let most = plus.max(minus);
        let instance = |wanted: usize| ELEMENTS.iter().position(|&e| e >= wanted.min(limit)).unwrap_or(0);
        let with = |form: Form, instance: usize| {
            let blocks = RankBlocks::new(form.lanes() * ELEMENTS[instance], plus, minus);
            Self { blocks, form, instance }
        };
        if T::TYPE_NAME == "f64" && most >= WORTH_TENSOR_CORES {
            // Two rank blocks at least, if they are worth it, for two threads of the CPU.
            let wanted = (plus + minus).div_ceil(2 * Form::Tensor.lanes());
            return with(Form::Tensor, instance(wanted));
        }
        let instance = instance(most);
        let by_column = |lanes: usize| with(Form::Columns { lanes }, instance);
        // Zero columns fill up the last rank block of a sign, and are worked on like the others; rank blocks wait for each
        // other.
        let cost = |&lanes: &usize| by_column(lanes).blocks.count() * (lanes + 2);
        by_column(LANES.into_iter().min_by_key(cost).unwrap_or(1))
    }

    /// Columns of V that a thread takes of a rank block.
    pub fn elements(&self) -> usize {
        ELEMENTS[self.instance]
    }

    /// Scalars that the reflectors of one panel take on the device.
    pub fn reflector_scalars<T>(&self, panel_cols: usize) -> usize {
        self.blocks.count() * panel_cols / COLUMN_GROUP * self.form.group_scalars::<T>(self.elements())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_no_more_than_they_may() {
        for (plus, minus) in [(1, 0), (0, 1), (1, 1), (3, 2), (16, 0), (17, 30), (40, 1), (0, 256)] {
            for limit in ELEMENTS {
                for blocking in
                    [Blocking::new::<f32>(plus, minus, limit), Blocking::new::<f64>(plus, minus, limit)]
                {
                    assert!(blocking.elements() <= limit);
                    assert_eq!(blocking.blocks.width, blocking.form.lanes() * blocking.elements());
                    let columns =
                        (0..blocking.blocks.columns()).filter_map(|at| blocking.blocks.column_at(at));
                    assert_eq!(columns.count(), plus + minus);
                }
            }
        }
    }
}
