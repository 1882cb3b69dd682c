//! How the columns of V are cut into passes.

use super::kernels::{ELEMENTS, Form, GROUP};
use crate::change::Change;
use crate::cpu::copy_scaled;
use crate::scalar::Scalar;
use core::ops::Range;
use rayon::prelude::*;

/// How many threads of the device may share a row. More would leave the CPU too few passes to share.
const LANES: [usize; 3] = [1, 2, 4];

/// The passes of one modification: its columns of V, plus signs first, cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passes {
    /// Columns of V that a thread of the device takes in a pass.
    pub elements: usize,
    /// How the device goes about them.
    pub form: Form,
    plus: usize,
    minus: usize,
}

impl Passes {
    pub const NONE: Self =
        Self { elements: ELEMENTS[0], form: Form::Columns { lanes: 1 }, plus: 0, minus: 0 };

    /// For V with that many columns of each sign. `limit`: columns of V that a thread takes, at most.
    pub fn new<T: Scalar>(plus: usize, minus: usize, limit: usize) -> Self {
        // Fewer would be filled up with too many zero columns.
        const WORTH_TENSOR_CORES: usize = 9;
        let rank = plus + minus;
        let elements =
            |wanted: usize| ELEMENTS.into_iter().find(|&e| e >= wanted.min(limit)).unwrap_or(limit);
        if T::TYPE_NAME == "f64" && rank >= WORTH_TENSOR_CORES {
            let form = Form::Tensor;
            // Two passes at least, if they are worth it, for two threads of the CPU.
            return Self { elements: elements(rank.div_ceil(2 * form.lanes())), form, plus, minus };
        }
        let elements = elements(rank);
        // Zero columns fill up the last pass, and are worked on like the others; passes wait for each other.
        let cost = |lanes: usize| rank.div_ceil(lanes * elements) * (lanes + 2);
        let lanes = LANES.into_iter().min_by_key(|&lanes| cost(lanes)).unwrap_or(1);
        Self { elements, form: Form::Columns { lanes }, plus, minus }
    }

    /// Columns of V in a pass; those that the last one lacks are zero, and change nothing.
    pub fn width(&self) -> usize {
        self.form.lanes() * self.elements
    }

    pub fn count(&self) -> usize {
        (self.plus + self.minus).div_ceil(self.width())
    }

    /// Columns of V on the device.
    pub fn columns(&self) -> usize {
        self.count() * self.width()
    }

    /// Scalars that the reflectors of one panel take on the device.
    pub fn reflector_scalars<T>(&self, panel_cols: usize) -> usize {
        self.count() * panel_cols / GROUP * self.form.group_scalars::<T>(self.elements)
    }

    /// Columns with a plus sign in all passes. Zero columns go with the ones before them.
    pub fn all_plus(&self) -> usize {
        if self.minus == 0 { self.columns() } else { self.plus }
    }

    /// Writes `rows` of V diag(√|w|) as the passes take it, columns `stride` apart: plus signs first, filled up
    /// with zero columns.
    pub fn fill<T: Scalar>(&self, v: &mut [T], stride: usize, change: &Change<'_, T>, rows: Range<usize>) {
        /// Scalars from which on threads are worth waking.
        const WORTH_SHARING: usize = 1 << 17;
        let copy = |(r, to): (usize, &mut [T])| {
            let to = &mut to[rows.clone()];
            let Some((column, scale)) = change.columns().nth(r) else { return to.fill(T::ZERO) };
            copy_scaled(to, column.col(0).subrows(rows.start, rows.len()), scale);
        };
        let v = &mut v[..self.columns() * stride];
        if self.columns() * rows.len() < WORTH_SHARING {
            v.chunks_exact_mut(stride).enumerate().for_each(copy);
        } else {
            v.par_chunks_exact_mut(stride).enumerate().for_each(copy);
        }
    }

    /// Columns with a plus sign in one pass; they come first.
    pub fn plus(&self, pass: usize) -> usize {
        self.all_plus().saturating_sub(pass * self.width()).min(self.width())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_take_every_column_with_its_sign() {
        for (plus, minus) in [(1, 0), (0, 1), (3, 2), (16, 0), (17, 30), (40, 1), (0, 256)] {
            for limit in ELEMENTS {
                takes_all(Passes::new::<f32>(plus, minus, limit), plus, minus, limit);
                takes_all(Passes::new::<f64>(plus, minus, limit), plus, minus, limit);
            }
        }
    }

    fn takes_all(passes: Passes, plus: usize, minus: usize, limit: usize) {
        assert!(passes.elements <= limit && passes.columns() >= plus + minus);
        assert!(passes.columns() - (plus + minus) < passes.width());
        let all: usize = (0..passes.count()).map(|pass| passes.plus(pass)).sum();
        assert_eq!(all, passes.all_plus());
        assert_eq!(all, if minus == 0 { passes.columns() } else { plus });
    }
}
