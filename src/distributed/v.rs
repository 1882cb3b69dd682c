//! V as the processes stage it.

use super::network::Network;
use crate::check::extent;
use crate::error::Error;
use crate::real::Real;
use crate::sweep::cyclic::Cyclic;
use crate::sweep::outline::{Outline, Seen};
use crate::sweep::signed::Signed;
use crate::sweep::weights::Weights;
use faer::{Mat, MatRef, Par};

/// A matrix with a row for each row of L.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a, T> {
    /// The rows of this process, in order.
    Mine(MatRef<'a, T>),
    /// All rows, on every process.
    All(MatRef<'a, T>),
}

impl<'a, T: Real> Rows<'a, T> {
    /// The number of columns.
    #[must_use]
    pub fn ncols(&self) -> usize {
        match self {
            Self::Mine(rows) | Self::All(rows) => rows.ncols(),
        }
    }

    /// Checks the number of rows.
    ///
    /// # Errors
    /// `Shape`.
    pub(super) fn check(&self, argument: &'static str, cyclic: &Cyclic) -> Result<(), Error> {
        match self {
            Self::Mine(rows) => extent(argument, "rows", cyclic.rows(), rows.nrows()),
            Self::All(rows) => extent(argument, "rows", cyclic.order, rows.nrows()),
        }
    }

    /// The rows of this process, in `memory` if they are not neighbours in what is given.
    pub(super) fn mine_in(self, cyclic: &Cyclic, memory: &'a mut Mat<T>) -> MatRef<'a, T> {
        match self {
            Self::Mine(rows) => rows,
            Self::All(rows) if cyclic.ranks == 1 => rows,
            Self::All(_) => {
                *memory = self.mine(cyclic);
                memory.as_ref()
            }
        }
    }

    /// A copy of the rows of this process.
    pub(super) fn mine(&self, cyclic: &Cyclic) -> Mat<T> {
        match self {
            Self::Mine(rows) => rows.to_owned(),
            Self::All(rows) => {
                Mat::from_fn(cyclic.rows(), rows.ncols(), |place, j| rows[(cyclic.row(place), j)])
            }
        }
    }
}

/// The bits of numbers as one word that differs if they do, but for accidents of one in 2⁶⁴.
fn mixed<T: Real>(start: u64, numbers: impl Iterator<Item = T>) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    numbers.fold(start, |hash, x| mix(hash, x.to_f64().to_bits()))
}

/// A word for weights.
pub(super) fn fingerprint<T: Real>(weights: Weights<'_, T>) -> u64 {
    match weights {
        Weights::Plus => 1,
        Weights::Minus => 2,
        Weights::Each(w) => mixed(3 + w.len() as u64, w.iter().copied()),
    }
}

/// A word for the lower triangle of a matrix.
pub(super) fn fingerprint_of<T: Real>(a: MatRef<'_, T>) -> u64 {
    mixed(3, (0..a.ncols()).flat_map(|j| a.col(j).iter().skip(j).copied()))
}

/// Checks a V of which every process has its rows, and determines the order of its columns.
///
/// # Errors
/// `NonFinite` or `Overflow`, naming `v`, the same on all processes.
pub(super) fn look<T: Real>(
    (net, cyclic): (&impl Network, &Cyclic),
    signed: &mut Signed<T>,
    (v, weights): (MatRef<'_, T>, Weights<'_, T>),
    par: Par,
) -> Result<Outline, Error> {
    let rank = v.ncols();
    let row = |place: Option<usize>| place.map_or(u64::MAX, |place| cyclic.row(place) as u64);
    let seen = signed.look(v, par);
    // For each column: the complement of the bits of its largest entry, whose order is that of magnitudes; the first row that is not
    // finite; the first row that is not zero.
    let mut words = Vec::with_capacity(3 * rank);
    for (column, seen) in v.col_iter().zip(seen.iter()) {
        words.push(!seen.largest.to_f64().to_bits());
        words.push(row(seen.not_finite));
        words.push(row(column.iter().position(|&x| x != T::ZERO)));
    }
    net.least(&mut words);
    let mut first = Vec::with_capacity(rank);
    for (seen, words) in seen.iter_mut().zip(words.chunks(3)) {
        let row = |word: u64| (word != u64::MAX).then_some(word as usize);
        *seen = Seen { largest: T::from_f64(f64::from_bits(!words[0])), not_finite: row(words[1]) };
        first.push(row(words[2]).unwrap_or(usize::MAX));
    }
    let mut outline = signed.outline_of_all(cyclic.order, weights, &first)?;
    signed.order(weights, rank);
    signed.leave_out_zeros(&mut outline);
    Ok(outline)
}
