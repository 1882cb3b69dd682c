//! How large |L| |D| |Lᵀ| is, compared with A.

use crate::error::Error;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use cholupdate_kernels::squares::{Squares, SquaresKernel};
use faer::{MatRef, Par};
use rayon::prelude::*;

/// Blocks of columns from which on several threads sum them.
const WORTH_SHARING: usize = 3;

/// For each row of a factor L S Lᴴ the sum of the squares of its entries, with two sets of signs. (n, n)
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    /// Σ_j |l_ij|², the diagonal of L Lᴴ.
    pub squares: Vec<f64>,
    /// Σ_j s_j |l_ij|², that of A.
    pub diagonal: Vec<f64>,
}

impl Sums {
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
        let mut all = Self { squares: vec![0.0; order], diagonal: vec![0.0; order] };
        for (block, [plus, minus]) in each.iter().enumerate() {
            for (at, (plus, minus)) in plus.iter().zip(minus).enumerate() {
                let (row, plus, minus) = (block * TOGETHER + at, plus.to_f64(), minus.to_f64());
                all.squares[row] += plus + minus;
                all.diagonal[row] += plus - minus;
            }
        }
        all
    }

    /// Copies other sums, without an allocation if there were as many before.
    pub fn copy_from(&mut self, other: &Self) {
        self.squares.clone_from(&other.squares);
        self.diagonal.clone_from(&other.diagonal);
    }

    pub fn growth(&self) -> Growth {
        let (mut largest, mut row) = (0.0, 0);
        for (i, &sum) in self.squares.iter().enumerate() {
            // NaN counts as larger than anything.
            if !(sum <= largest) {
                (largest, row) = (sum, i);
            }
        }
        let diagonal = self.diagonal.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
        let growth = match self.squares.len() {
            0 => 1.0,
            _ if largest.is_nan() => f64::INFINITY,
            _ => largest / diagonal,
        };
        Growth { largest, growth, row }
    }
}

/// The largest of these sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    /// The largest diagonal entry of L Lᵀ.
    pub largest: f64,
    /// The same over the largest diagonal entry of |L S Lᵀ|; 1 for order 0.
    pub growth: f64,
    /// The row of the former.
    pub row: usize,
}

impl Growth {
    /// Whether the growth is known, and within this limit.
    pub fn within(&self, limit: f64) -> bool {
        self.largest.is_finite() && self.growth <= limit
    }

    /// # Errors
    /// `Unstable`, if the growth is above the limit, or entries are not finite.
    pub fn check<T: Number>(&self, l: MatRef<'_, T>, limit: f64) -> Result<(), Error> {
        self.check_row(limit, |row| (0..row).map(move |j| l[(row, j)].abs().to_f64()))
    }

    /// The same. `before` returns the magnitudes of the entries of a row of L before its pivot, which is as large as what it cancels; the
    /// error has the column of the largest.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_row<I: Iterator<Item = f64>>(
        &self,
        limit: f64,
        before: impl FnOnce(usize) -> I,
    ) -> Result<(), Error> {
        if self.within(limit) {
            return Ok(());
        }
        let entries = before(self.row).enumerate();
        let (column, _) = entries.fold((0, 0.0), |(at, most), (j, entry)| {
            if !(entry <= most) && most.is_finite() { (j, entry) } else { (at, most) }
        });
        Err(Error::Unstable { column, growth: self.growth })
    }
}
