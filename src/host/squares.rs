//! Sums of squared magnitudes of rows.

use cholupdate_kernels::number::{Float, Number};
use faer::{ColRef, MatRef, Par};
use rayon::prelude::*;

/// The diagonal of L Lᴴ. (n × n, lower triangular)
pub(crate) fn diagonal_of_product<T: Number>(l: MatRef<'_, T>, par: Par) -> Vec<f64> {
    /// Columns that one thread sums. A fixed number, so that the sums are the same for any number of threads.
    const TOGETHER: usize = 256;
    let sums = |first: usize| {
        let mut sums = vec![0.0; l.nrows() - first];
        for j in first..l.ncols().min(first + TOGETHER) {
            add_squares(&mut sums[j - first..], l.col(j).subrows(j, l.nrows() - j), 1.0);
        }
        sums
    };
    let blocks = l.ncols().div_ceil(TOGETHER);
    let each: Vec<_> = match par {
        Par::Rayon(_) if blocks > 1 => {
            (0..blocks).into_par_iter().map(|block| sums(block * TOGETHER)).collect()
        }
        _ => (0..blocks).map(|block| sums(block * TOGETHER)).collect(),
    };
    let mut diagonal = vec![0.0; l.nrows()];
    for (block, sums) in each.iter().enumerate() {
        diagonal[block * TOGETHER..].iter_mut().zip(sums).for_each(|(sum, x)| *sum += x);
    }
    diagonal
}

/// The largest 2-norm of a row of L. (n × n, lower triangular)
pub(crate) fn row_norm<T: Number>(l: MatRef<'_, T>) -> f64 {
    largest_of(&diagonal_of_product(l, Par::Seq)).sqrt()
}

pub(crate) fn largest_of(of: &[f64]) -> f64 {
    of.iter().copied().fold(0.0, f64::max)
}

/// sums ← sums + weight |x|², entry by entry.
#[inline(always)]
pub(crate) fn add_squares<T: Number>(sums: &mut [f64], column: ColRef<'_, T>, weight: f64) {
    let add = |(sum, x): (&mut f64, &T)| {
        let parts = T::parts(core::slice::from_ref(x)).iter().map(|x| x.to_f64());
        parts.for_each(|x| *sum += weight * x * x);
    };
    match column.try_as_col_major() {
        Some(column) => sums.iter_mut().zip(column.as_slice()).for_each(add),
        None => sums.iter_mut().zip(column.iter()).for_each(add),
    }
}
