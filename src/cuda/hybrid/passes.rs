//! How the columns of V are cut into passes.

use super::kernels::{ELEMENTS, Form, GROUP};
use crate::cpu::kernels::packed::copy_scaled;
use crate::scalar::Scalar;
use crate::sweep::signed::Change;
use core::ops::Range;
use rayon::prelude::*;

/// How many threads of the device may share a row. More would leave the CPU too few passes to share.
const LANES: [usize; 3] = [1, 2, 4];

/// The passes of one modification: its columns of V of each sign cut into pieces, plus signs first.
///
/// Those of the minus columns begin with the last: a downdate takes back what an update has added in the order in which it
/// is on top. Otherwise none of the passes leads back to a factor that was there before, and the roundings of a loop that
/// adds and takes away the same V add up.
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
        // Fewer of a sign would be filled up with too many zero columns.
        const WORTH_TENSOR_CORES: usize = 9;
        let most = plus.max(minus);
        let elements =
            |wanted: usize| ELEMENTS.into_iter().find(|&e| e >= wanted.min(limit)).unwrap_or(limit);
        if T::TYPE_NAME == "f64" && most >= WORTH_TENSOR_CORES {
            let form = Form::Tensor;
            // Two passes at least, if they are worth it, for two threads of the CPU.
            let elements = elements((plus + minus).div_ceil(2 * form.lanes()));
            return Self { elements, form, plus, minus };
        }
        let elements = elements(most);
        let with = |lanes: usize| Self { elements, form: Form::Columns { lanes }, plus, minus };
        // Zero columns fill up the last pass of a sign, and are worked on like the others; passes wait for each other.
        let cost = |&lanes: &usize| with(lanes).count() * (lanes + 2);
        with(LANES.into_iter().min_by_key(cost).unwrap_or(1))
    }

    /// Columns of V in a pass, all of one sign; those that the last one lacks are zero, and change nothing.
    pub fn width(&self) -> usize {
        self.form.lanes() * self.elements
    }

    pub fn count(&self) -> usize {
        self.count_plus() + self.minus.div_ceil(self.width())
    }

    fn count_plus(&self) -> usize {
        self.plus.div_ceil(self.width())
    }

    /// Whether the columns of a pass have a minus sign.
    pub fn is_minus(&self, pass: usize) -> bool {
        pass >= self.count_plus()
    }

    /// Columns of V on the device.
    pub fn columns(&self) -> usize {
        self.count() * self.width()
    }

    /// Scalars that the reflectors of one panel take on the device.
    pub fn reflector_scalars<T>(&self, panel_cols: usize) -> usize {
        self.count() * panel_cols / GROUP * self.form.group_scalars::<T>(self.elements)
    }

    /// Which of the signed columns of V, plus signs first, is at place `at` of the passes; none where a zero column is.
    fn column(&self, at: usize) -> Option<usize> {
        let (pass, r) = (at / self.width(), at % self.width());
        let (first, own, columns) = match self.is_minus(pass) {
            false => (0, pass, self.plus),
            true => (self.plus, self.count() - 1 - pass, self.minus),
        };
        let r = own * self.width() + r;
        (r < columns).then_some(first + r)
    }

    /// Writes `rows` of V diag(√|w|) as the passes take it, columns `stride` apart, filled up with zero columns.
    pub fn fill<T: Scalar>(&self, v: &mut [T], stride: usize, change: &Change<'_, T>, rows: Range<usize>) {
        /// Scalars from which on threads are worth waking.
        const WORTH_SHARING: usize = 1 << 17;
        let copy = |(at, to): (usize, &mut [T])| {
            let to = &mut to[rows.clone()];
            let column = self.column(at).and_then(|r| change.columns().nth(r));
            let Some((column, scale)) = column else { return to.fill(T::ZERO) };
            copy_scaled(to, column.col(0).subrows(rows.start, rows.len()), scale);
        };
        let v = &mut v[..self.columns() * stride];
        if self.columns() * rows.len() < WORTH_SHARING {
            v.chunks_exact_mut(stride).enumerate().for_each(copy);
        } else {
            v.par_chunks_exact_mut(stride).enumerate().for_each(copy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_take_every_column_with_its_sign() {
        for (plus, minus) in [(1, 0), (0, 1), (1, 1), (3, 2), (16, 0), (17, 30), (40, 1), (0, 256)] {
            for limit in ELEMENTS {
                takes_all(Passes::new::<f32>(plus, minus, limit), plus, minus, limit);
                takes_all(Passes::new::<f64>(plus, minus, limit), plus, minus, limit);
            }
        }
    }

    fn takes_all(passes: Passes, plus: usize, minus: usize, limit: usize) {
        assert!(passes.elements <= limit);
        let taken = |at: usize| passes.column(at).map(|r| (r, passes.is_minus(at / passes.width())));
        let mut taken: Vec<_> = (0..passes.columns()).filter_map(taken).collect();
        assert!(taken.is_sorted_by_key(|&(_, minus)| minus), "plus signs come first");
        taken.sort();
        let expected: Vec<_> = (0..plus + minus).map(|r| (r, r >= plus)).collect();
        assert_eq!(taken, expected);
        let spare = |columns: usize| columns.next_multiple_of(passes.width()) - columns;
        assert_eq!(passes.columns(), plus + minus + spare(plus) + spare(minus));
    }
}
