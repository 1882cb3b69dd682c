//! Matrices from which a row goes and to which one comes, so that they are the same again.

use cholupdate::BatchRef;
use cholupdate::faer::Mat;
use cholupdate_bench::batches::{norm_max, residual};
use cholupdate_bench::scalar::Real;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Matrices A, each with a row f of its own that goes. From row f on A is the covariance of a stationary process: A_ij depends on i − j
/// alone, and for j < f on j alone. So without row f it is the leading part of A of order n − 1, and with the last row of A it is A
/// again: every cycle has the same input, and none has to be restored.
pub struct Matrices<T> {
    pub count: usize,
    pub order: usize,
    /// A, by rows. (count × n × n)
    a: Vec<T>,
    /// The last rows of A. (count × n)
    last: Vec<T>,
    /// f. (count)
    pub indices: Vec<usize>,
}

impl<T: Real> Matrices<T> {
    /// As many matrices of order n, of which some are `different`, and repeated. Their f are in the middle half.
    pub fn new(count: usize, n: usize, different: usize) -> Self {
        let random = &mut StdRng::seed_from_u64(1);
        let (mut a, mut last, mut indices) = (Vec::new(), Vec::new(), Vec::new());
        for matrix in 0..count {
            if matrix < different {
                let f = random.random_range(n / 4..(3 * n).div_ceil(4));
                let l = factor(n, f, random);
                let square = &l * l.transpose();
                a.extend((0..n * n).map(|at| T::narrow(square[(at / n, at % n)])));
                last.extend((0..n).map(|j| T::narrow(square[(n - 1, j)])));
                indices.push(f);
            } else {
                let from = matrix % different;
                a.extend_from_within(from * n * n..(from + 1) * n * n);
                last.extend_from_within(from * n..(from + 1) * n);
                indices.push(indices[from]);
            }
        }
        Self { count, order: n, a, last, indices }
    }

    /// What a removal leads to, and an append: the leading parts of order n − 1, and A.
    pub fn after(&self, turn: usize) -> BatchRef<'_, T> {
        let (n, order) = (self.order, self.order_after(turn));
        BatchRef::new(&self.a, [self.count, order, order], [n * n, n, 1]).expect("the shape of A")
    }

    pub fn order_after(&self, turn: usize) -> usize {
        self.order - 1 + turn
    }

    /// The new columns of an append.
    pub fn columns(&self) -> BatchRef<'_, T> {
        BatchRef::by_rows(&self.last, [self.count, self.order, 1]).expect("the shape of the new columns")
    }

    /// Writes the new columns one after the other. (count × n)
    pub fn copy_columns(&self, to: &mut [T]) {
        to.copy_from_slice(&self.last);
    }

    /// The new column of one matrix. (n × 1)
    pub fn column(&self, matrix: usize) -> Mat<T> {
        Mat::from_fn(self.order, 1, |i, _| self.columns().get(matrix, i, 0))
    }

    /// max |L Lᵀ − A| / max |A| over some matrices after a removal or an append; NaN if an order is wrong.
    pub fn residual(&self, turn: usize, l: impl Fn(usize) -> Mat<T>) -> f64 {
        let n = self.order_after(turn);
        let some = (0..self.count).step_by(self.count.div_ceil(20));
        norm_max(some.map(|matrix| match l(matrix) {
            l if l.nrows() == n => {
                residual(n, |i, j| l[(i, j)].wide(), |i, j| self.after(turn).get(matrix, i, j).wide())
            }
            _ => f64::NAN,
        }))
    }
}

/// L of a matrix from which row f is removed (n × n). Rows f to n − 1 are equal in columns 0 to f − 1; in the others they are the factor of
/// the matrix with entries ρ^|i − j|.
fn factor(n: usize, f: usize, random: &mut StdRng) -> Mat<f64> {
    let half = 0.5 / (n as f64).sqrt();
    let shared: Vec<f64> = (0..f).map(|_| random.random_range(-half..half)).collect();
    let rho: f64 = random.random_range(-0.7..0.7);
    Mat::from_fn(n, n, |i, j| match j {
        _ if i < j => 0.0,
        _ if i < f && i == j => random.random_range(0.5..1.5),
        _ if i < f => random.random_range(-half..half),
        _ if j < f => shared[j],
        _ if j == f => rho.powi((i - f) as i32),
        _ => rho.powi((i - j) as i32) * (1.0 - rho * rho).sqrt(),
    })
}

/// Scalars that a removal and an append read and write at least, for a matrix of order n: the lower triangles before and after; the one
/// before, the new column and the new row.
pub fn moved(n: usize) -> [usize; 2] {
    let (without, with) = (n * (n - 1) / 2, n * (n + 1) / 2);
    [with + without, without + 2 * n]
}
