//! L' of each matrix of a stack.

use super::alone::{self, RowMajor, write_nan, write_triangle};
pub use super::alone::{Alone, OnBreakdown};
use super::layout::{clear_above, clear_below};
use super::stack::{Stack, Vectors};
use cholupdate::faer::Mat;
use cholupdate::{BatchMut, BatchRef, BatchWeights, CholeskyBatch, Cpu, Error, Weights};
use rayon::prelude::*;

/// The largest order of matrices that are modified side by side, as `CholeskyBatch` does.
const MOST_SIDE_BY_SIDE: usize = 96;

/// The work, in multiplications, from which on a stack is shared by threads.
const WORTH_SHARING: usize = 1 << 16;

/// L, V and w of each matrix, and where L' and whether it exists are written.
pub struct Modify<T: Alone> {
    pub count: usize,
    /// n and k.
    pub extents: (usize, usize),
    /// L, lower triangular, with strides of its own. (n × n)
    pub l: Stack<T>,
    /// (n × k)
    pub v: Stack<T>,
    pub weights: Vectors<T::RealPart>,
    /// L', row-major, or with `upper` R'. (n × n)
    pub to: *mut T,
    /// One byte for each matrix, 1 if L' exists.
    pub ok: *mut u8,
    pub upper: bool,
    pub on_breakdown: OnBreakdown,
}

// SAFETY: threads that share it write to the results of different matrices, as `run` sees to.
unsafe impl<T: Alone> Sync for Modify<T> {}

impl<T: Alone> Modify<T> {
    /// Does it.
    ///
    /// # Safety
    /// The memory is described correctly. That of the results overlaps no other, but `to` may be where L is, of each matrix one.
    pub unsafe fn run(&self) {
        let (n, k) = self.extents;
        match self.count {
            0 => {}
            // SAFETY: as the caller guarantees.
            count if n == 0 => unsafe { self.ok.write_bytes(1, count) },
            // SAFETY: as the caller guarantees.
            1 => unsafe { self.one(0, &Cpu::default()) },
            // SAFETY: as the caller guarantees.
            _ if n <= MOST_SIDE_BY_SIDE => unsafe { self.side_by_side() },
            count if count * n * n * k.max(1) < WORTH_SHARING => {
                // SAFETY: as the caller guarantees.
                (0..count).for_each(|matrix| unsafe { self.one(matrix, &Cpu::sequential()) });
            }
            count => (0..count).into_par_iter().for_each(|matrix| {
                // SAFETY: as the caller guarantees; each matrix has results of its own.
                unsafe { self.one(matrix, &Cpu::sequential()) };
            }),
        }
    }

    /// # Safety
    /// As [`run`](Self::run).
    unsafe fn one(&self, matrix: usize, engine: &Cpu) {
        let (n, k) = self.extents;
        // SAFETY: as the caller guarantees.
        unsafe {
            let (l, v) = (self.l.view(matrix, (n, n)), self.v.view(matrix, (n, k)));
            let weights = self.weights.view(matrix, k);
            let ok = alone::modify(l, v, weights, self.result(matrix), (self.on_breakdown, engine));
            *self.ok.wrapping_add(matrix) = ok.into();
        }
    }

    fn result(&self, matrix: usize) -> RowMajor<T> {
        let order = self.extents.0;
        RowMajor { at: self.to.wrapping_add(matrix * order * order), order, upper: self.upper }
    }

    /// L may be in the memory of the results.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    unsafe fn side_by_side(&self) {
        let ((n, _), count) = (self.extents, self.count);
        // SAFETY: as the caller guarantees.
        unsafe {
            let broken = self.in_batch().unwrap_or_else(|error| {
                (0..count)
                    .map(|matrix| (matrix, error.clone(), self.l.view(matrix, (n, n)).to_owned()))
                    .collect()
            });
            self.ok.write_bytes(1, count);
            for (matrix, error, l) in broken {
                *self.ok.wrapping_add(matrix) = 0;
                write_triangle(l.as_ref(), self.result(matrix));
                write_nan(self.result(matrix), self.on_breakdown, &error);
            }
        }
    }

    /// Writes the factors, and returns which matrices cannot be modified, why, and their L.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    unsafe fn in_batch(&self) -> Result<Vec<(usize, Error, Mat<T>)>, Error> {
        let ((n, k), count) = (self.extents, self.count);
        let strides = |of: &Stack<T>| [of.each, of.row, of.column].map(isize::unsigned_abs);
        // SAFETY: as the caller guarantees; strides are not negative.
        unsafe {
            let l = BatchRef::from_raw_parts(self.l.of(0), [count, n, n], strides(&self.l));
            let v = BatchRef::from_raw_parts(self.v.of(0), [count, n, k], strides(&self.v));
            let weights: BatchWeights<'_, T::RealPart> = match self.weights.each {
                0 => alone::named(self.weights.view(0, k)).into(),
                _ => match alone::named(self.weights.view(0, count * k)) {
                    Weights::Each(each) => BatchWeights::OfEach(each),
                    named => named.into(),
                },
            };
            let mut batch = CholeskyBatch::from_factors(l)?;
            let outcome = batch.modify(v, weights)?;
            let with_l = |(matrix, error): (usize, &Error)| {
                (matrix, error.clone(), self.l.view(matrix, (n, n)).to_owned())
            };
            let broken = outcome.failures().map(with_l).collect();
            for matrix in 0..count {
                let RowMajor { at, order, upper } = self.result(matrix);
                match upper {
                    true => clear_below(at, order, T::NIL),
                    false => clear_above(at, order, T::NIL),
                }
            }
            let to = Stack::by_rows(self.to, [count, n, n]).transposed_if(self.upper);
            let to = BatchMut::from_raw_parts(to.at, [count, n, n], strides(&to))?;
            batch.copy_factors(to)?;
            Ok(broken)
        }
    }
}
