//! Matrices that every process makes for itself, with the same entries.

use cholupdate_mpi::cholupdate::faer::Mat;
use cholupdate_mpi::{Cyclic, Distributed, RealScalar, Settings};
use mpi::topology::SimpleCommunicator;

/// A scalar type and its rounding of a number.
pub trait Number: RealScalar {
    fn of(x: f64) -> Self;
}

impl Number for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
}

impl Number for f64 {
    fn of(x: f64) -> Self {
        x
    }
}

/// A number between −1 and 1 that looks random.
fn number(i: usize, j: usize) -> f64 {
    let x = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (j as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let x = (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((x ^ (x >> 32)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A well-conditioned L. (n × n)
pub fn factor<T: Number>(order: usize) -> Mat<T> {
    Mat::from_fn(order, order, |i, j| match i.cmp(&j) {
        core::cmp::Ordering::Less => T::of(0.0),
        core::cmp::Ordering::Equal => T::of(1.5 + number(i, j)),
        core::cmp::Ordering::Greater => T::of(number(i, j) / (order as f64).sqrt()),
    })
}

/// A matrix with entries of this magnitude.
pub fn matrix<T: Number>(rows: usize, cols: usize, scale: f64) -> Mat<T> {
    Mat::from_fn(rows, cols, |i, j| T::of(scale * number(i + 7, j + 31)))
}

/// The rows of a process.
pub fn mine<T: Number>(cyclic: &Cyclic, of: &Mat<T>) -> Mat<T> {
    Mat::from_fn(cyclic.rows(), of.ncols(), |place, j| of[(cyclic.row(place), j)])
}

pub fn settings(block: usize, threads: usize) -> Settings {
    Settings { threads: Some(threads), block, ..Settings::default() }
}

/// A distributed factor of this L.
pub fn start<T: Number>(world: &SimpleCommunicator, settings: Settings, l: &Mat<T>) -> Distributed<T> {
    let rows = mine(&cholupdate_mpi::rows_of(world, l.nrows(), settings), l);
    Distributed::from_factor(world, settings, l.nrows(), rows.as_ref()).unwrap()
}

/// Checks that L is this, on all processes.
pub fn expect<T: Number>(factor: &Distributed<T>, l: &Mat<T>, what: &str) {
    assert!(factor.to_rows().unwrap() == mine(&factor.cyclic(), l), "{what}");
    let pivots = factor.pivots().unwrap();
    assert!((0..l.nrows()).all(|j| pivots[j] == l[(j, j)]), "{what}: pivots");
}
