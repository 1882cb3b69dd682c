//! The division of the columns of V into rank blocks for the device.

use super::form::{COLUMN_GROUP, ELEMENTS, Form, Forms};
use crate::real::Real;
use crate::sweep::rank_blocks::RankBlocks;

/// The rank blocks of one modification, and the form in which the kernels process them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocking {
    pub blocks: RankBlocks,
    /// The form in which the device processes a row.
    pub form: Form,
    /// Index into [`ELEMENTS`]: the number of columns of a rank block that a thread processes.
    pub instance: usize,
}

impl Blocking {
    pub const NONE: Self = Self { blocks: RankBlocks::NONE, form: Form::Columns { lanes: 1 }, instance: 0 };

    /// For a V with that many columns of each sign, and kernels with these forms. `limit` is the largest number of columns that
    /// a thread processes.
    pub fn new<T: Real>(plus: usize, minus: usize, limit: usize, forms: Forms) -> Self {
        // With fewer columns of a sign, too many zero columns would be added.
        const WORTH_TENSOR_CORES: usize = 9;
        let most = plus.max(minus);
        let instance = |wanted: usize| ELEMENTS.iter().position(|&e| e >= wanted.min(limit)).unwrap_or(0);
        let with = |form: Form, instance: usize| {
            let blocks = RankBlocks::new(form.lanes() * ELEMENTS[instance], plus, minus);
            Self { blocks, form, instance }
        };
        if forms.tensor && T::TYPE_NAME == "f64" && most >= WORTH_TENSOR_CORES {
            // At least two rank blocks, if they are large enough, for two threads of the CPU.
            let wanted = (plus + minus).div_ceil(2 * Form::Tensor.lanes());
            return with(Form::Tensor, instance(wanted));
        }
        let instance = instance(most);
        let by_column = |lanes: usize| with(Form::Columns { lanes }, instance);
        // Zero columns fill the last rank block of a sign, and cost as much as others; and rank blocks wait for each other.
        let cost = |&lanes: &usize| by_column(lanes).blocks.count() * (lanes + 2);
        by_column(forms.lanes.iter().copied().min_by_key(cost).unwrap_or(1))
    }

    /// The number of columns of a rank block that a thread processes.
    pub fn elements(&self) -> usize {
        ELEMENTS[self.instance]
    }

    /// Scalars of the reflectors of one panel on the device.
    pub fn reflector_scalars<T>(&self, panel_cols: usize) -> usize {
        self.blocks.count() * panel_cols / COLUMN_GROUP * self.form.group_scalars::<T>(self.elements())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Forms = Forms { tensor: true, lanes: &[1, 2, 4] };
    const ONE: Forms = Forms { tensor: false, lanes: &[1] };

    #[test]
    fn the_form_is_one_that_the_kernels_have() {
        for rank in [1, 9, 40, 256] {
            let one = Form::Columns { lanes: 1 };
            assert_eq!(Blocking::new::<f32>(rank, rank, 16, ONE).form, one);
            assert_eq!(Blocking::new::<f64>(rank, rank, 16, ONE).form, one);
        }
        assert_eq!(Blocking::new::<f64>(9, 0, 16, ALL).form, Form::Tensor);
    }

    #[test]
    fn threads_take_no_more_than_they_may() {
        for (plus, minus) in [(1, 0), (0, 1), (1, 1), (3, 2), (16, 0), (17, 30), (40, 1), (0, 256)] {
            for limit in ELEMENTS {
                for forms in [ALL, ONE] {
                    for blocking in [
                        Blocking::new::<f32>(plus, minus, limit, forms),
                        Blocking::new::<f64>(plus, minus, limit, forms),
                    ] {
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
}
