//! The factor of A by blocks of columns, right-looking: the process that has the diagonal block factors it, each computes its rows
//! below, and subtracts their products with the rows of all from its own.

use super::network::{Network, bytes_mut};
use super::rows::LocalRows;
use crate::error::Error;
use crate::host::blocked::{self, Memory};
use crate::real::Real;
use core::ops::Range;
use faer::{Accum, Conj, Mat, MatRef, Par};

/// A ← L, in the rows of each process; only the lower triangle of A is read.
///
/// # Errors
/// `NotPositiveDefinite`, the same on all processes. Then the rows are half changed.
pub(super) fn factorize<T: Real>(net: &impl Network, a: &mut LocalRows<T>, par: Par) -> Result<(), Error> {
    let cyclic = a.cyclic;
    for block in 0..cyclic.blocks() {
        let rows = cyclic.rows_of(block);
        let (owner, size) = (cyclic.owner(rows.start), rows.len());
        let mut diagonal = Mat::zeros(size, size);
        // The column of a breakdown plus one.
        let mut broken = [0];
        if owner == cyclic.rank {
            diagonal.copy_from(a.column(block).1.subrows(0, size));
            match blocked::factorize_in(diagonal.as_mut(), par, &mut Memory::default()) {
                Ok(()) => a.column_mut(block).1.subrows_mut(0, size).copy_from(&diagonal),
                Err(column) => broken[0] = column as u64 + 1,
            }
        }
        net.broadcast(owner, bytes_mut(&mut broken));
        if let Some(column) = broken[0].checked_sub(1) {
            return Err(Error::NotPositiveDefinite { column: rows.start + column as usize });
        }
        for j in 0..size {
            net.broadcast(owner, bytes_mut(diagonal.col_as_slice_mut(j)));
        }
        let below = cyclic.before(rows.end)..cyclic.rows();
        let mut own = {
            let (first, mut column) = a.column_mut(block);
            let mut mine = column.as_mut().subrows_mut(below.start - first, below.len());
            // X Lᵀ = A, so L Xᵀ = Aᵀ.
            T::solve_lower((diagonal.as_ref(), Conj::No), mine.as_mut().transpose_mut(), par);
            mine.to_owned()
        };
        for rank in 0..cyclic.ranks {
            let of = cyclic.of(rank);
            let count = of.rows() - of.before(rows.end);
            if count == 0 {
                continue;
            }
            let mut theirs = if rank == cyclic.rank {
                core::mem::replace(&mut own, Mat::new())
            } else {
                Mat::zeros(count, size)
            };
            for j in 0..size {
                net.broadcast(rank, bytes_mut(theirs.col_as_slice_mut(j)));
            }
            subtract(a, below.clone(), block, (rank, theirs.as_ref()), par);
        }
    }
    Ok(())
}

/// Subtracts from the rows of this process in the columns that belong to the rows of `rank`. `theirs` are the rows of that process
/// below the diagonal block, in this block of columns.
fn subtract<T: Real>(
    a: &mut LocalRows<T>,
    below: Range<usize>,
    block: usize,
    (rank, theirs): (usize, MatRef<'_, T>),
    par: Par,
) {
    let cyclic = a.cyclic;
    let mine = {
        let (first, column) = a.column(block);
        column.subrows(below.start - first, below.len()).to_owned()
    };
    let mut at = 0;
    for columns in cyclic.of(rank).mine().filter(|&columns| columns > block) {
        let size = cyclic.rows_of(columns).len();
        let right = theirs.subrows(at, size);
        at += size;
        let (first, to) = a.column_mut(columns);
        let left = mine.subrows(first - below.start, to.nrows());
        T::matmul(to, Accum::Add, (left, Conj::No), right.transpose(), -T::ONE, par);
    }
}
