//! Triangular solves on several threads, by the schedule of a sweep: the unknowns of a panel are computed from its diagonal
//! block, and then subtracted from the rows below.

use super::tuning;
use super::workers::{Workers, alone, cut};
use crate::element::Element;
use crate::host::threads::Threads;
use crate::storage::Side;
use crate::sweep::plan::Plan;
use cholupdate_kernels::dense::Conjugable;
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::{Breakdown, Steps};
use core::marker::PhantomData;
use core::ops::Range;
use faer::reborrow::IntoConst;
use faer::{Accum, Conj, MatMut, MatRef, Par};

/// The leading columns of L, in their memory layout.
pub(crate) trait Blocks<T>: Sync {
    /// The numbers of rows and columns of L.
    fn shape(&self) -> (usize, usize);

    /// Unknowns of a panel. Columns from a multiple of this number on are stored together.
    fn panel_cols(&self) -> usize;

    /// Calls `work` for the parts of these rows and columns, with the rows and columns of each part. The diagonal block of a
    /// panel is one part.
    fn each_part(
        &self,
        rows: &Range<usize>,
        columns: &Range<usize>,
        work: impl FnMut(Range<usize>, Range<usize>, MatRef<'_, T>),
    );
}

impl<T: Element> Blocks<T> for MatRef<'_, T> {
    fn shape(&self) -> (usize, usize) {
        self.shape()
    }

    fn panel_cols(&self) -> usize {
        PANEL_COLS
    }

    fn each_part(
        &self,
        rows: &Range<usize>,
        columns: &Range<usize>,
        mut work: impl FnMut(Range<usize>, Range<usize>, MatRef<'_, T>),
    ) {
        let part = self.submatrix(rows.start, columns.start, rows.len(), columns.len());
        work(rows.clone(), columns.clone(), part);
    }
}

/// Approximate number of rows of a chunk. It does not depend on the number of threads, so neither do the products and their
/// rounding errors.
pub(crate) const CHUNK_ROWS: usize = 256;

/// Unknowns of a panel of a column-major L. With more of them the chain of diagonal steps would be longer, with fewer the products
/// slower.
pub(crate) const PANEL_COLS: usize = 64;

/// Solves L Y = B or Lᴴ X = Y in place, on threads of the current pool: X (n × m). If L has fewer columns than rows, solves for
/// the first unknowns of L Y = B, and subtracts them from the rows of B below.
pub(crate) fn solve<T: Element>(l: &impl Blocks<T>, side: Side, rhs: MatMut<'_, T>, threads: Threads) {
    let (rows, columns) = l.shape();
    let threads = tuning::solve_threads(threads, rows, columns, rhs.ncols());
    solve_on(l, side, rhs, threads);
}

fn solve_on<T: Element>(l: &impl Blocks<T>, side: Side, rhs: MatMut<'_, T>, threads: usize) {
    let ((rows, columns), panel_cols) = (l.shape(), l.panel_cols());
    // For the transpose, the plan counts rows from the last one upwards. It is padded with rows before its first panel that do
    // not exist, so that its panels are those of L.
    let (rows, cols) = match side {
        Side::L => (rows, columns),
        Side::Transpose => (rows.next_multiple_of(panel_cols), columns.next_multiple_of(panel_cols)),
    };
    let plan = Plan { rows, cols, start: 0, panel_cols };
    let solve = Solve {
        l,
        side,
        rows,
        rhs: rhs.as_ptr_mut(),
        strides: (rhs.row_stride(), rhs.col_stride()),
        shape: rhs.shape(),
        borrowed: PhantomData::<&mut T>,
    };
    let chunk_rows = CHUNK_ROWS.next_multiple_of(panel_cols);
    let done = if threads > 1 {
        let mut chunks = Vec::new();
        cut(&plan, chunk_rows, &mut chunks);
        // SAFETY: B is borrowed exclusively. A diagonal step computes its own rows of B, which no later step writes.
        unsafe { Workers::new(&solve, &plan, chunk_rows, &mut chunks) }.run(threads)
    } else {
        // SAFETY: as above.
        unsafe { alone(&solve, &plan, chunk_rows) }
    };
    debug_assert!(done.is_ok(), "a solve does not break down");
}

/// L, and B, which threads share. Lᴴ X = Y is solved from the last row upwards, so rows and columns are counted from there.
struct Solve<'a, T, L> {
    l: &'a L,
    side: Side,
    /// Rows of the plan.
    rows: usize,
    /// B (n × m).
    rhs: *mut T,
    strides: (isize, isize),
    shape: (usize, usize),
    borrowed: PhantomData<&'a mut T>,
}

// SAFETY: the contract of each step says which thread may use which rows of B when.
unsafe impl<T: Sync + Send, L: Sync> Sync for Solve<'_, T, L> {}

impl<'a, T: Element, L: Blocks<T>> Solve<'a, T, L> {
    /// Converts rows of the plan to rows of L.
    fn place(&self, rows: Range<usize>) -> Range<usize> {
        match self.side {
            Side::L => rows,
            Side::Transpose => {
                let end = self.shape.0.min(self.rows - rows.start);
                end.min(self.rows - rows.end)..end
            }
        }
    }

    /// Rows of B.
    ///
    /// # Safety
    /// They are rows of B. While the result exists, no other thread writes to them, or reads them if they are written.
    unsafe fn rhs(&self, rows: &Range<usize>) -> MatMut<'a, T> {
        let first = self.rhs.wrapping_offset(rows.start as isize * self.strides.0);
        // SAFETY: rows of B, with its strides; the caller guarantees the rest.
        unsafe { MatMut::from_raw_parts_mut(first, rows.len(), self.shape.1, self.strides.0, self.strides.1) }
    }
}

impl<T: Element, L: Blocks<T>> Steps for Solve<'_, T, L> {
    type Report = ();

    unsafe fn diagonal(&self, panel: Panel, (): &mut ()) -> Result<(), Breakdown> {
        let rows = self.place(panel.block());
        self.l.each_part(&rows, &rows, |rows, _, diagonal| {
            // SAFETY: no other thread uses the rows of the block.
            let rhs = unsafe { self.rhs(&rows) };
            match self.side {
                Side::L => T::solve_lower((diagonal, Conj::No), rhs, Par::Seq),
                Side::Transpose => T::solve_upper((diagonal.transpose(), Conj::Yes), rhs, Par::Seq),
            }
        });
        Ok(())
    }

    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        let (known, rows) = (self.place(panel.block()), self.place(rows));
        // SAFETY: the unknowns of the panel have been computed, and are only read from now on; no other thread uses the other
        // rows.
        let rest = |from: &Range<usize>, to: &Range<usize>, l: Conjugable<'_, T>| unsafe {
            T::matmul(self.rhs(to), Accum::Add, l, self.rhs(from).into_const(), -T::ONE, Par::Seq);
        };
        match self.side {
            Side::L => self.l.each_part(&rows, &known, |rows, known, l| rest(&known, &rows, (l, Conj::No))),
            Side::Transpose => self
                .l
                .each_part(&known, &rows, |known, rows, l| rest(&known, &rows, (l.transpose(), Conj::Yes))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    /// A well-conditioned L, and right-hand sides with entries of order 1.
    fn problem(rows: usize, columns: usize, rhs: usize) -> (Mat<f64>, Mat<f64>) {
        let entry = |i: usize, j: usize| ((7 * i + 3 * j) % 11) as f64 / 11.0 - 0.5;
        let l = Mat::from_fn(rows, columns, |i, j| match i.cmp(&j) {
            core::cmp::Ordering::Less => 0.0,
            core::cmp::Ordering::Equal => 2.0,
            core::cmp::Ordering::Greater => entry(i, j) / (rows as f64).sqrt(),
        });
        (l, Mat::from_fn(rows, rhs, entry))
    }

    #[test]
    fn any_number_of_threads_solves_with_the_same_bits() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (n, m) in [(0, 2), (1, 1), (63, 1), (64, 3), (65, 0), (129, 1), (700, 5)] {
            let (l, b) = problem(n, n, m);
            for side in [Side::L, Side::Transpose] {
                let mut one = b.clone();
                solve_on(&l.as_ref(), side, one.as_mut(), 1);
                for threads in [2, 3, 8] {
                    let mut x = b.clone();
                    pool.install(|| solve_on(&l.as_ref(), side, x.as_mut(), threads));
                    let back = match side {
                        Side::L => &l * &x,
                        Side::Transpose => l.transpose() * &x,
                    };
                    let off = (back - &b).norm_max();
                    assert!(x == one, "n {n}, m {m}, {side:?}, {threads} threads");
                    assert!(off < 1e-14, "n {n}, m {m}, {side:?}, {threads} threads: off by {off:e}");
                }
            }
        }
    }

    #[test]
    fn rows_below_the_unknowns_lose_their_share() {
        let (l, b) = problem(500, 200, 3);
        for threads in [1, 4] {
            let mut x = b.clone();
            solve_on(&l.as_ref(), Side::L, x.as_mut(), threads);
            // B = (L₁₁; L₂₁) Y + the rest
            let (known, rest) = x.split_at_row(200);
            let mut back = &l * known;
            let below = back.subrows(200, 300) + rest;
            back.subrows_mut(200, 300).copy_from(below);
            assert!((back - &b).norm_max() < 1e-14);
        }
    }
}
