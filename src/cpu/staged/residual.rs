//! What is left of V after a sweep.

use super::SweepMemory;
use crate::element::Element;
use core::ops::Range;
use faer::Mat;

impl<T: Element> SweepMemory<T> {
    /// Copies rows of the only column of V after a sweep.
    pub fn take_column(&mut self, rows: Range<usize>, to: &mut [T]) {
        let v = self.v.view();
        for (row, to) in rows.zip(to) {
            // SAFETY: the row is a row of V, and V belongs to `self`.
            *to = unsafe { v.entry(row, 0) };
        }
    }

    /// Copies these rows of V after a sweep. (m × k)
    pub fn residual(&mut self, rows: Range<usize>, rank: usize) -> Mat<T> {
        let v = self.v.view();
        // SAFETY: the row is a row of V, and V belongs to `self`.
        Mat::from_fn(rows.len(), rank, |i, r| unsafe { v.entry(rows.start + i, r) })
    }

    /// For each row of V from `first` on, Σ ± |v|² over its columns after a sweep.
    pub fn residuals(&mut self, first: usize, rows: usize) -> Vec<f64> {
        let (v, [plus, minus], mut sums) = (self.v.view(), self.signs, vec![0.0; rows]);
        // SAFETY: these are rows and columns of V, and V belongs to `self`.
        unsafe {
            v.add_squares(first, 0..plus, 1.0, &mut sums);
            v.add_squares(first, plus..plus + minus, -1.0, &mut sums);
        }
        sums
    }
}
