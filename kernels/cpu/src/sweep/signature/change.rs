//! How blocks and columns of L change.

use crate::number::{Float, Number};
use crate::sweep::reflector::OneSign;
use core::ops::Range;

/// How the columns of a block of L change.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockChange {
    /// Columns of V with a plus sign, before the block.
    pub plus: usize,
    /// The sign of its pivots, unless they are processed one by one.
    pub negative: bool,
    /// The columns are eliminated one by one.
    pub one_by_one: bool,
}

impl BlockChange {
    /// The columns of V, in the order in which they are eliminated: those of the sign of the pivots first. `minus` says that they have
    /// the other one.
    #[inline(always)]
    pub fn signed(&self, rank: usize) -> [OneSign; 2] {
        let (same, other) = groups(self.negative, self.plus, rank);
        [
            OneSign { first: same.start, rank: same.len(), minus: false },
            OneSign { first: other.start, rank: other.len(), minus: true },
        ]
    }
}

/// The columns of V with the sign of a pivot, and the others.
#[inline(always)]
pub fn groups(negative: bool, plus: usize, rank: usize) -> (Range<usize>, Range<usize>) {
    if negative { (plus..rank, 0..plus) } else { (0..plus, plus..rank) }
}

/// A column of L changes places with column `with` of V, times the number of magnitude 1 that makes the pivot positive.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<T: Number> {
    pub with: usize,
    /// Where in V the column of L goes; the column there goes to `with`.
    pub to: usize,
    /// That number times `size`, as its own parts would have rounding errors.
    pub turn: T,
    pub size: T::Part,
}

impl<T: Number> Exchange<T> {
    /// `pivot` is the entry of V that becomes the pivot of L; it is not zero.
    #[inline(always)]
    pub fn new((with, to): (usize, usize), pivot: T) -> Self {
        let turn = if T::PARTS == 1 { pivot } else { scaled(pivot) }.turn();
        Self { with, to, turn, size: T::turn_size(turn) }
    }
}

/// A multiple of x by a power of two whose products with entries of V neither overflow nor underflow.
fn scaled<T: Number>(mut x: T) -> T {
    /// From the smallest number to those near 1.
    const STEPS: usize = 11;
    let (least, most) = (T::Part::ONE / T::Part::MAGNIFIER, T::Part::MAGNIFIER);
    for _ in 0..STEPS {
        let size = x.abs();
        if size < least {
            x = x.times(most);
        } else if size > most {
            x = x.times(least);
        } else {
            break;
        }
    }
    x
}

/// How one column of L changes: what is done to its rows, from the first field to the last. The coefficients b and g of the
/// reflections are those of the [`Reflector`](crate::sweep::reflector::Reflector) of its block.
#[derive(Clone, Copy, Debug)]
pub struct OneColumn<T: Number> {
    pub before: Option<Exchange<T>>,
    /// F
    pub same: (usize, usize),
    pub crossing: Option<Exchange<T>>,
    /// G, or the rest of it after a crossing.
    pub other: (usize, usize),
    /// Their x, and after a crossing that of the old column of L.
    pub x: [T::Part; 3],
}

impl<T: Number> Default for OneColumn<T> {
    fn default() -> Self {
        Self { before: None, same: (0, 0), crossing: None, other: (0, 0), x: [T::Part::ZERO; 3] }
    }
}
