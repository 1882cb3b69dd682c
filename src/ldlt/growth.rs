//! How large |L| |D| |Lᵀ| is, compared with A.

use super::squares::{Squares, SquaresKernel};
use crate::error::Error;
use crate::host::isa::Isa;
use crate::number::{Float, Number};
use faer::{MatRef, Par};
use rayon::prelude::*;

/// Blocks of columns from which on several threads sum them.
const WORTH_SHARING: usize = 3;

/// Row sums of a factor L S Lᴴ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    /// max Σ_j |l_ij|², the largest diagonal entry of L Lᴴ.
    pub largest: f64,
    /// The same over the largest diagonal entry of |L S Lᴴ|; 1 for order 0.
    pub growth: f64,
    /// The row of the former.
    row: usize,
}

impl Growth {
    pub fn of<T: SquaresKernel>(l: MatRef<'_, T>, negative: &[bool], par: Par) -> Self {
        /// Columns that one thread sums. A fixed number, so that the sums are the same for any number of threads.
        const TOGETHER: usize = 256;
        let order = l.nrows();
        let sums = |first: usize| {
            let [mut plus, mut minus] = [(); 2].map(|()| vec![T::Part::ZERO; order - first]);
            let columns = first..order.min(first + TOGETHER);
            let sums = [&mut plus[..], &mut minus[..]];
            T::add_squares(Isa::detect(), Squares::new(l, columns, negative, sums));
            [plus, minus]
        };
        let blocks = order.div_ceil(TOGETHER);
        let each: Vec<_> = match par {
            Par::Rayon(_) if blocks > WORTH_SHARING => {
                (0..blocks).into_par_iter().map(|block| sums(block * TOGETHER)).collect()
            }
            _ => (0..blocks).map(|block| sums(block * TOGETHER)).collect(),
        };
        // Of the squares, with all signs and with those of S.
        let mut all = vec![[0.0; 2]; order];
        for (block, [plus, minus]) in each.iter().enumerate() {
            for ((all, plus), minus) in all[block * TOGETHER..].iter_mut().zip(plus).zip(minus) {
                let (plus, minus) = (plus.to_f64(), minus.to_f64());
                *all = [all[0] + (plus + minus), all[1] + (plus - minus)];
            }
        }
        let (mut largest, mut row, mut diagonal) = (0.0, 0, 0.0_f64);
        for (i, [sum, entry]) in all.into_iter().enumerate() {
            // NaN counts as larger than anything.
            if !(sum <= largest) {
                (largest, row) = (sum, i);
            }
            diagonal = diagonal.max(entry.abs());
        }
        let growth = match order {
            0 => 1.0,
            _ if largest.is_nan() => f64::INFINITY,
            _ => largest / diagonal,
        };
        Self { largest, growth, row }
    }

    /// # Errors
    /// `Unstable`, if the growth is above the limit, or entries are not finite.
    pub fn check<T: Number>(&self, l: MatRef<'_, T>, limit: f64) -> Result<(), Error> {
        if self.largest.is_finite() && self.growth <= limit {
            return Ok(());
        }
        // The pivot of the row itself is as large as what it cancels.
        let entries = (0..self.row).map(|j| (j, l[(self.row, j)].abs().to_f64()));
        let (column, _) = entries.fold((0, 0.0), |(at, most), (j, entry)| {
            if !(entry <= most) && most.is_finite() { (j, entry) } else { (at, most) }
        });
        Err(Error::Unstable { column, growth: self.growth })
    }
}
