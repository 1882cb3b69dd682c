//! The matrix layouts that the sequential and threaded methods compare.

use crate::real::Real;
use faer::{Mat, MatRef};

/// A square matrix whose lower triangle is used.
pub(super) trait Storage<T> {
    /// Copies the lower triangle of A, with zeros above it.
    fn from_lower(a: MatRef<'_, T>) -> Self;
    fn zeros(order: usize) -> Self;
    fn get(&self, i: usize, j: usize) -> T;
    fn set(&mut self, i: usize, j: usize, x: T);
    /// Σ_{p < k} l_ip l_jp.
    fn dot(&self, i: usize, j: usize, k: usize) -> T;
}

/// An array of arrays, one for each row.
pub(super) struct Nested<T>(Vec<Vec<T>>);

/// One array, row after row or, in the transposed layout, column after column.
pub(super) struct Contiguous<T, const BY_ROWS: bool> {
    pub entries: Vec<T>,
    pub order: usize,
}

pub(super) type Rows<T> = Contiguous<T, true>;
pub(super) type Columns<T> = Contiguous<T, false>;

impl<T: Real> Storage<T> for Nested<T> {
    fn from_lower(a: MatRef<'_, T>) -> Self {
        let n = a.nrows();
        let row = |i: usize| (0..n).map(|j| if j <= i { a[(i, j)] } else { T::ZERO }).collect();
        Self((0..n).map(row).collect())
    }

    fn zeros(order: usize) -> Self {
        Self(vec![vec![T::ZERO; order]; order])
    }

    fn get(&self, i: usize, j: usize) -> T {
        self.0[i][j]
    }

    fn set(&mut self, i: usize, j: usize, x: T) {
        self.0[i][j] = x;
    }

    fn dot(&self, i: usize, j: usize, k: usize) -> T {
        dot(&self.0[i][..k], &self.0[j][..k])
    }
}

impl<T, const BY_ROWS: bool> Contiguous<T, BY_ROWS> {
    fn place(&self, i: usize, j: usize) -> usize {
        if BY_ROWS { i * self.order + j } else { j * self.order + i }
    }
}

impl<T: Real, const BY_ROWS: bool> Storage<T> for Contiguous<T, BY_ROWS> {
    fn from_lower(a: MatRef<'_, T>) -> Self {
        let mut lower = Self::zeros(a.nrows());
        for j in 0..a.ncols() {
            for i in j..a.nrows() {
                lower.set(i, j, a[(i, j)]);
            }
        }
        lower
    }

    fn zeros(order: usize) -> Self {
        Self { entries: vec![T::ZERO; order * order], order }
    }

    fn get(&self, i: usize, j: usize) -> T {
        self.entries[self.place(i, j)]
    }

    fn set(&mut self, i: usize, j: usize, x: T) {
        let place = self.place(i, j);
        self.entries[place] = x;
    }

    fn dot(&self, i: usize, j: usize, k: usize) -> T {
        if BY_ROWS {
            return dot(&self.entries[i * self.order..][..k], &self.entries[j * self.order..][..k]);
        }
        let columns = self.entries.chunks_exact(self.order.max(1)).take(k);
        columns.fold(T::ZERO, |sum, column| sum + column[i] * column[j])
    }
}

/// Converts the lower triangle to a matrix, with zeros above it.
pub(super) fn to_mat<T: Real>(order: usize, l: &impl Storage<T>) -> Mat<T> {
    Mat::from_fn(order, order, |i, j| if i >= j { l.get(i, j) } else { T::ZERO })
}

/// Computes Σ x_p y_p in enough chains to hide the latency of an addition.
pub(super) fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    const CHAINS: usize = 32;
    let (x, x_rest) = x.as_chunks::<CHAINS>();
    let (y, y_rest) = y.as_chunks::<CHAINS>();
    let mut sums = [T::ZERO; CHAINS];
    for (x, y) in x.iter().zip(y) {
        for c in 0..CHAINS {
            sums[c] += x[c] * y[c];
        }
    }
    let rest = x_rest.iter().zip(y_rest).fold(T::ZERO, |sum, (&x, &y)| sum + x * y);
    let mut len = CHAINS;
    while len > 1 {
        len /= 2;
        for c in 0..len {
            sums[c] += sums[c + len];
        }
    }
    sums[0] + rest
}
