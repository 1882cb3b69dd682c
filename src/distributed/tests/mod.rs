//! Distributed factors on threads of this process, against the `Cpu` engine.

mod modifications;
mod others;

use super::network::threads::Threads as Ranks;
use super::*;
use faer::Mat;

/// A number between −1 and 1 that looks random.
fn number(i: usize, j: usize) -> f64 {
    let x = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (j as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let x = (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((x ^ (x >> 32)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

trait Number: crate::Scalar + crate::real::Real {
    fn of(x: f64) -> Self {
        <Self as cholupdate_kernels::number::Float>::from_f64(x)
    }
}
impl Number for f32 {}
impl Number for f64 {}

/// A factor with entries of order 1 that is well conditioned.
fn factor<T: Number>(order: usize) -> Mat<T> {
    Mat::from_fn(order, order, |i, j| match i.cmp(&j) {
        core::cmp::Ordering::Less => T::of(0.0),
        core::cmp::Ordering::Equal => T::of(1.5 + number(i, j)),
        core::cmp::Ordering::Greater => T::of(number(i, j) / (order as f64).sqrt()),
    })
}

fn matrix<T: Number>(rows: usize, cols: usize, scale: f64) -> Mat<T> {
    Mat::from_fn(rows, cols, |i, j| T::of(scale * number(i + 7, j + 31)))
}

/// The rows of a process.
fn mine<T: Number>(cyclic: &Cyclic, of: &Mat<T>) -> Mat<T> {
    Mat::from_fn(cyclic.rows(), of.ncols(), |place, j| of[(cyclic.row(place), j)])
}

fn settings(block: usize, threads: usize) -> Settings {
    Settings { threads: Some(threads), block, ..Settings::default() }
}

fn start<T: Number>(net: Ranks, settings: Settings, l: &Mat<T>) -> Factor<T, Ranks> {
    let (order, block) = (l.nrows(), settings.block);
    let cyclic = Cyclic { order, block, ranks: net.ranks(), rank: net.rank() };
    Factor::new(net, settings, (Origin::Factor, order), mine(&cyclic, l).as_ref()).unwrap()
}

/// Runs `work` on so many processes with distributed factors of L; all results must be the same.
fn on_all<T: Number, R: PartialEq + core::fmt::Debug + Send + 'static>(
    (ranks, settings): (usize, Settings),
    l: &Mat<T>,
    work: impl Fn(&mut Factor<T, Ranks>) -> R + Send + Sync + 'static,
) -> R {
    let l = l.clone();
    let mut all = Ranks::run(ranks, move |net| work(&mut start(net, settings, &l)));
    let first = all.swap_remove(0);
    assert!(all.iter().all(|other| *other == first), "{all:?}, {first:?}");
    first
}

/// L of all processes, on each of them.
fn whole<T: Number>(factor: &Factor<T, Ranks>) -> Mat<T> {
    let rows = factor.to_rows().unwrap();
    let mut all = Mat::zeros(factor.cyclic().order, rows.ncols());
    factor.gather_rows(rows.as_ref(), all.as_mut());
    all
}
