//! How large |L| |D| |Lᵀ| is, compared with A.

use crate::error::Error;
use crate::float::Float;
use faer::{MatRef, Par};
use rayon::prelude::*;

/// Row sums of a factor L S Lᵀ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    /// max Σ_j l_ij², the largest diagonal entry of L Lᵀ.
    pub largest: f64,
    /// The same over the largest diagonal entry of |L S Lᵀ|; 1 for order 0.
    pub growth: f64,
    /// The row of the former.
    row: usize,
}

impl Growth {
    pub fn of<T: Float>(l: MatRef<'_, T>, negative: &[bool], par: Par) -> Self {
        /// Columns that one thread sums. A fixed number, so that the sums are the same for any number of threads.
        const TOGETHER: usize = 256;
        let order = l.nrows();
        // Of the squares, with all signs and with those of S.
        let sums = |first: usize| {
            let mut sums = vec![[0.0; 2]; order - first];
            for j in first..order.min(first + TOGETHER) {
                let (column, sign) = (l.col(j).subrows(j, order - j), if negative[j] { -1.0 } else { 1.0 });
                for (sum, x) in sums[j - first..].iter_mut().zip(column.iter()) {
                    let square = x.to_f64() * x.to_f64();
                    *sum = [sum[0] + square, sum[1] + sign * square];
                }
            }
            sums
        };
        let blocks = order.div_ceil(TOGETHER);
        let each: Vec<_> = match par {
            Par::Rayon(_) if blocks > 1 => {
                (0..blocks).into_par_iter().map(|block| sums(block * TOGETHER)).collect()
            }
            _ => (0..blocks).map(|block| sums(block * TOGETHER)).collect(),
        };
        let mut all = vec![[0.0; 2]; order];
        for (block, sums) in each.iter().enumerate() {
            for (all, sum) in all[block * TOGETHER..].iter_mut().zip(sums) {
                *all = [all[0] + sum[0], all[1] + sum[1]];
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
    pub fn check<T: Float>(&self, l: MatRef<'_, T>, limit: f64) -> Result<(), Error> {
        if self.largest.is_finite() && self.growth <= limit {
            return Ok(());
        }
        let entries = (0..=self.row).map(|j| (j, l[(self.row, j)].abs().to_f64()));
        let (column, _) = entries.fold((0, 0.0), |(at, most), (j, entry)| {
            if !(entry <= most) && most.is_finite() { (j, entry) } else { (at, most) }
        });
        Err(Error::Unstable { column, growth: self.growth })
    }
}
