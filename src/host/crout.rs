//! Crout's method, column after column.

use crate::error::Error;
use crate::real::Real;
use faer::MatMut;
use faer::reborrow::IntoConst;

/// Computes the columns of L from `first` on, after columns that are complete, with one thread of the host.
pub(crate) fn remaining_columns<T: Real>(mut l: MatMut<'_, T>, first: usize) -> Result<(), Error> {
    let order = l.nrows();
    let mut sums = vec![T::ZERO; order];
    for j in first..order {
        let (done, mut rest) = l.as_mut().split_at_col_mut(j);
        let done = done.into_const();
        // Products are summed first: subtracting each from a large entry would lose its digits.
        let sums = &mut sums[j..];
        sums.fill(T::ZERO);
        for p in 0..j {
            let x = done[(j, p)];
            let before = done.col(p).subrows(j, order - j);
            sums.iter_mut().zip(before.iter()).for_each(|(sum, &y)| *sum += x * y);
        }
        let mut column = rest.as_mut().col_mut(0).subrows_mut(j, order - j);
        let square = column[0] - sums[0];
        if !(square > T::ZERO) {
            return Err(Error::NotPositiveDefinite { column: j });
        }
        let pivot = square.sqrt();
        column[0] = pivot;
        let below = column.subrows_mut(1, order - j - 1);
        below.iter_mut().zip(&sums[1..]).for_each(|(x, &sum)| *x = (*x - sum) / pivot);
    }
    Ok(())
}
