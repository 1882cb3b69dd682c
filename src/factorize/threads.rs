//! Several threads: Crout's method, with the rows of a column in parallel.

use super::sequential::pivot;
use super::storage::{Rows, Storage, dot, to_mat};
use crate::error::Error;
use crate::real::Real;
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// The threaded methods: Crout's, row-major, with rayon in the place of the thesis's OpenMP.
///
/// Source: J. P. T. Ruschel, *Parallel Implementations of the Cholesky Decomposition on CPUs and GPUs*, UFRGS
/// (2016), section 4.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Threaded {
    /// From one array to another. One thread computes the diagonal entry before the others start.
    Simple,
    /// The same, but the thread that computes an entry adds its square to the diagonal entry of the entry's row.
    DistributedSum,
    /// As `Simple`, in the array of A.
    InPlace,
}

impl Threaded {
    /// All of them, in the order of the thesis.
    pub const ALL: [Self; 3] = [Self::Simple, Self::DistributedSum, Self::InPlace];
}

/// More threads would only use memory for their stacks.
const MOST: usize = 1024;

pub(super) fn factorize<T: Real>(
    a: MatRef<'_, T>,
    variant: Threaded,
    threads: usize,
    cutoff: usize,
) -> Result<(Mat<T>, Duration), Error> {
    let refused = |rule| Error::Tuning { field: "threads", rule, found: threads };
    if !(1..=MOST).contains(&threads) {
        return Err(refused("1 to 1024"));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(a.nrows()).max(1)).build();
    let pool = pool.map_err(|_| refused("as many as the system can start"))?;
    let order = a.nrows();
    let mut l = Rows::from_lower(a);
    let a = (variant != Threaded::InPlace).then(|| core::mem::replace(&mut l, Rows::zeros(order)));
    // One thread computes the columns from here on.
    let alone = order.saturating_sub(cutoff);
    pool.install(|| {
        let start = Instant::now();
        for j in 0..order {
            column(a.as_ref(), &mut l, j, variant, if j < alone { threads } else { 1 })?;
        }
        Ok(start.elapsed())
    })
    .map(|elapsed| (to_mat(order, &l), elapsed))
}

/// Computes column `j` with `threads` threads. Without `a`, `l` holds A.
fn column<T: Real>(
    a: Option<&Rows<T>>,
    l: &mut Rows<T>,
    j: usize,
    variant: Threaded,
    threads: usize,
) -> Result<(), Error> {
    let order = l.order;
    let sum = match variant {
        // The sum of squares that the earlier columns have accumulated here.
        Threaded::DistributedSum => l.get(j, j),
        _ => l.dot(j, j, j),
    };
    let diagonal = pivot(a.unwrap_or(l).get(j, j), sum, j)?;
    l.set(j, j, diagonal);
    let (above, below) = l.entries.split_at_mut((j + 1) * order);
    let pivot_row = &above[j * order..][..j];
    let entry = |(below_j, row): (usize, &mut [T])| {
        let i = j + 1 + below_j;
        let old = a.map_or(row[j], |a| a.get(i, j));
        let new = (old - dot(&row[..j], pivot_row)) / diagonal;
        row[j] = new;
        if variant == Threaded::DistributedSum {
            row[i] += new * new;
        }
    };
    if threads == 1 {
        below.chunks_exact_mut(order).enumerate().for_each(entry);
    } else {
        // A static schedule: the same number of rows for each thread.
        let rows = (order - j - 1).div_ceil(threads).max(1);
        below.par_chunks_exact_mut(order).enumerate().with_min_len(rows).for_each(entry);
    }
    Ok(())
}
