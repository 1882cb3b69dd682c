//! How a factor begins.

use super::Factor;
use crate::check::{extent, finite_lower};
use crate::element::Element;
use crate::error::Error;
use crate::factorize::check;
use crate::guarded::Guarded;
use crate::history::{History, diagonal_of};
use crate::host::blocked;
use crate::host::layout::{lower, make_diagonal_real};
use crate::host::squares::{diagonal_of_product, largest_of};
use crate::operand::Operand;
use crate::storage::{Storage, pivots};
use crate::structure::Scratch;
use cholupdate_kernels::number::{Float, Number};
use faer::{Mat, Par};

/// What is known about an L in host memory that a storage is about to adopt.
#[derive(Clone, Debug)]
pub struct Start {
    /// A bound on the 2-norms of its rows.
    row_norm: f64,
    pub(crate) history: History,
    /// Its first column whose pivot is zero.
    singular: Option<usize>,
}

/// Checks that a matrix is square, and that there is room for a copy of it.
pub(crate) fn square<T: Element>(argument: &'static str, a: &Operand<'_, T>) -> Result<(), Error> {
    let (order, columns) = a.shape();
    extent(argument, "columns", order, columns)?;
    a.has_room_on_host(argument)
}

/// The bound of a row of L from its square.
fn bound<T: Element>(square: f64) -> Result<f64, Error> {
    let overflows = square > T::Part::LARGE_SQUARE.to_f64();
    if overflows { Err(Error::Overflow { argument: "l" }) } else { Ok(square.sqrt()) }
}

impl<T: Element, F: Storage<T>> Factor<T, F> {
    /// A factor whose storage has adopted L.
    pub(crate) fn new(storage: F, start: Start) -> Self {
        let Start { row_norm, history, singular } = start;
        let guarded = Guarded::new(storage, row_norm, history).with_singular(singular);
        Self { guarded, scratch: Scratch::default() }
    }

    /// The factor of A in host memory, by faer's blocked LLᵀ. (n × n)
    pub(super) fn factored(a: &Operand<'_, T>, par: Par) -> Result<(Mat<T>, Start), Error> {
        let a = a.on_host()?;
        let largest = check(a.as_ref())?;
        let mut l = lower(a.as_ref());
        make_diagonal_real(l.as_mut());
        blocked::factorize(l.as_mut(), par)?;
        let history = History::of_matrix(diagonal_of(a.as_ref()));
        Ok((l, Start { row_norm: largest.sqrt(), history, singular: None }))
    }

    /// L in host memory with a real positive diagonal. (n × n)
    pub(super) fn checked(l: &Operand<'_, T>, par: Par) -> Result<(Mat<T>, Start), Error> {
        let l = l.on_host()?;
        let l = l.as_ref();
        finite_lower("l", l)?;
        let squares = diagonal_of_product(l, par);
        let row_norm = bound::<T>(largest_of(&squares))?;
        let mut l = lower(l);
        for j in 0..l.ncols() {
            let (pivot, size) = (l[(j, j)], l[(j, j)].abs());
            if pivot != T::of_real(size) {
                let phase = pivot.conj().over(size);
                l.col_mut(j).iter_mut().for_each(|x| *x *= phase);
                l[(j, j)] = T::of_real(size);
            }
        }
        let singular = (0..l.ncols()).find(|&j| l[(j, j)] == T::ZERO);
        Ok((l, Start { row_norm, history: History::of_factor(squares), singular }))
    }

    /// L, for a storage of another engine.
    pub(super) fn copied(&self) -> Result<(Mat<T>, Start), Error> {
        let l = self.to_l()?;
        let history = self.guarded.history().clone();
        Ok((l, Start { row_norm: self.guarded.row_norm(), history, singular: self.guarded.singular() }))
    }

    /// A factor that an engine has made of an A with this diagonal.
    pub(super) fn of_matrix(storage: F, diagonal: Vec<f64>) -> Self {
        let row_norm = largest_of(&diagonal).sqrt();
        Self::new(storage, Start { row_norm, history: History::of_matrix(diagonal), singular: None })
    }

    /// A factor that an engine has made of the L of an A with this diagonal.
    pub(super) fn of_factor(storage: F, diagonal: Vec<f64>) -> Result<Self, Error> {
        let row_norm = bound::<T>(largest_of(&diagonal))?;
        let singular = pivots(&storage).position(|pivot| pivot == T::Part::ZERO);
        Ok(Self::new(storage, Start { row_norm, history: History::of_factor(diagonal), singular }))
    }
}
