//! Cells of the engines on a device: problems, times, and the residual.

use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Cholesky, Engine, Error, Scalar};
use rayon::prelude::*;
use std::env;
use std::time::{Duration, Instant};

/// Samples of each verb.
const SAMPLES: usize = 9;
const SAMPLED_ROWS: usize = 8;

/// Whether it is to run at all, and not to measure.
pub fn testing() -> bool {
    let says = |flag| env::args().any(|argument| argument == flag);
    says("--test") || !says("--bench")
}

/// Median seconds of an update and of the downdate that takes it back, for some samples unless they take longer
/// than `budget` together.
pub fn measure<T: Scalar, E: Engine<T>>(
    factor: &mut Cholesky<T, E>,
    v: &Mat<T>,
    budget: Duration,
) -> [f64; 2] {
    measure_calls(budget, |up| if up { factor.update(v) } else { factor.downdate(v) })
}

/// The same of any calls, given whether it is to be an update.
pub fn measure_calls<R>(budget: Duration, mut call: impl FnMut(bool) -> Result<R, Error>) -> [f64; 2] {
    let mut seconds = [Vec::new(), Vec::new()];
    // The first call allocates.
    let mut both = || {
        [true, false].map(|up| {
            let start = Instant::now();
            call(up).expect(if up { "an update" } else { "a downdate" });
            start.elapsed().as_secs_f64()
        })
    };
    both();
    let begin = Instant::now();
    while seconds[0].len() < SAMPLES && (seconds[0].is_empty() || begin.elapsed() < budget) {
        for (seconds, sample) in seconds.iter_mut().zip(both()) {
            seconds.push(sample);
        }
    }
    seconds.map(|mut seconds| {
        seconds.sort_by(f64::total_cmp);
        seconds[seconds.len() / 2]
    })
}

/// A number in ±1 that depends on its place alone.
fn noise(seed: u64, i: usize, j: usize) -> f64 {
    let mut x = seed ^ ((i as u64) << 32 | j as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A well-conditioned factor. (n × n)
pub fn factor<T: Scalar>(order: usize) -> Mat<T> {
    let mut l = Mat::<T>::zeros(order, order);
    let scale = 0.5 / (order as f64).sqrt();
    l.as_mut().par_col_iter_mut().enumerate().for_each(|(j, column)| {
        for (i, x) in column.iter_mut().enumerate().skip(j) {
            *x = T::from_f64(if i == j { 1.0 } else { scale * noise(1, i, j) });
        }
    });
    l
}

/// V. (n × k)
pub fn change<T: Scalar>(order: usize, rank: usize) -> Mat<T> {
    Mat::from_fn(order, rank, |i, r| T::from_f64(noise(2, i, r) / (rank as f64).sqrt()))
}

/// The largest entry of L'L'ᵀ − (L Lᵀ + V Vᵀ) in sampled rows, over that of A'.
pub fn residual<T: Scalar>(l: MatRef<'_, T>, v: MatRef<'_, T>, new: MatRef<'_, T>) -> f64 {
    let order = l.nrows();
    let rows: Vec<_> = (1..=SAMPLED_ROWS).map(|s| s * order / SAMPLED_ROWS - 1).collect();
    let products = |m: MatRef<'_, T>, triangular: bool| -> Vec<Vec<f64>> {
        let (n, k) = (m.nrows(), m.ncols());
        let partial = |j: usize, sums: &mut Vec<Vec<f64>>| {
            let first = if triangular { j } else { 0 };
            for (row, sums) in rows.iter().zip(sums) {
                let x = m[(*row, j)].to_f64();
                if x != 0.0 {
                    (first..n).for_each(|i| sums[i] += x * m[(i, j)].to_f64());
                }
            }
        };
        let zero = || vec![vec![0.0; n]; rows.len()];
        let fold = (0..k).into_par_iter().with_min_len(64).fold(zero, |mut sums, j| {
            partial(j, &mut sums);
            sums
        });
        fold.reduce(zero, |a, b| {
            a.iter().zip(&b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
        })
    };
    let (old, change, new) = (products(l, true), products(v, false), products(new, true));
    let (mut largest, mut difference) = (0.0f64, 0.0f64);
    for ((old, change), new) in old.iter().flatten().zip(change.iter().flatten()).zip(new.iter().flatten()) {
        let expected = old + change;
        largest = largest.max(expected.abs());
        // NaN stays.
        let d = (new - expected).abs();
        difference = if d <= difference { difference } else { d };
    }
    difference / largest
}

/// An environment variable that is not empty.
pub fn var(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Numbers from one.
pub fn list(name: &str) -> Option<Vec<usize>> {
    var(name).map(|value| value.split(',').map(|item| item.trim().parse().expect("numbers")).collect())
}
