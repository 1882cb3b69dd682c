//! How a factor L S Lᴴ begins.

use super::expected::Expected;
use super::growth::Sums;
use super::state::{Indefinite, Stored};
use crate::check::{extent, finite_lower};
use crate::cpu::signature::SignatureMemory;
use crate::element::Element;
use crate::error::Error;
use crate::host::layout::{lower, make_diagonal_real};
use crate::host::squares::add_squares;
use crate::host::threads::Threads;
use crate::operand::Operand;
use cholupdate_kernels::number::{Float, Number};
use faer::{Mat, MatMut, Par};

impl<T: Element> Indefinite<T> {
    /// `accepted` is the largest growth that is taken; that of later calls has the default limit.
    fn new(threads: Threads, l: Mat<T>, negative: Vec<bool>, accepted: f64) -> Result<Self, Error> {
        let sums = Sums::of(l.as_ref(), &negative, threads.par());
        let growth = sums.growth();
        growth.check(l.as_ref(), accepted)?;
        Ok(Self {
            threads,
            now: Stored::new(l, negative, sums),
            next: Stored::empty(),
            memory: SignatureMemory::default(),
            growth,
            largest: growth.largest,
            limit: Self::default_limit(),
            expected: Expected::Anything,
        })
    }

    /// The factor of A, by faer's blocked LDLᴴ without pivoting.
    pub(super) fn of_matrix(a: &Operand<'_, T>, threads: Threads) -> Result<Self, Error> {
        let a = a.on_host()?;
        let mut l = lower(a.as_ref());
        // The imaginary part of A's diagonal is not read.
        make_diagonal_real(l.as_mut());
        if finite_lower("a", l.as_ref())? > T::Part::LARGE_SQUARE {
            return Err(Error::Overflow { argument: "a" });
        }
        let tolerance = l.nrows() as f64 * T::Part::UNIT.to_f64();
        let negative = factored(l.as_mut(), None, tolerance, threads.par())?;
        Self::new(threads, l, negative, Self::default_limit())
    }

    /// The factor L diag(d) Lᴴ. (n × n, n)
    pub(super) fn of_factor(l: &Operand<'_, T>, d: &[T::Part], threads: Threads) -> Result<Self, Error> {
        let l = l.on_host()?;
        finite_lower("l", l.as_ref())?;
        extent("d", "entries", l.as_ref().nrows(), d.len())?;
        if let Some(row) = d.iter().position(|d| !d.is_finite()) {
            return Err(Error::NonFinite { argument: "d", row, column: 0 });
        }
        let mut l = lower(l.as_ref());
        for (j, d) in d.iter().enumerate() {
            let (pivot, root) = (l[(j, j)], d.abs().sqrt());
            let size = pivot.abs();
            if size == T::Part::ZERO || root == T::Part::ZERO {
                return Err(Error::Singular { column: j });
            }
            // The phase, or sign, that makes the diagonal positive.
            let scale = pivot.conj().over(size).times(root);
            l.col_as_slice_mut(j)[j..].iter_mut().for_each(|entry| *entry *= scale);
            l[(j, j)] = T::of_real(size * root);
            if l[(j, j)] == T::ZERO {
                return Err(Error::Singular { column: j });
            }
        }
        Self::of_l(threads, l, d.iter().map(|&d| d < T::Part::ZERO).collect())
    }

    /// The factor L S Lᴴ, with any growth. (n × n, zero above the diagonal; n)
    ///
    /// # Errors
    /// `Overflow`.
    pub(super) fn of_l(threads: Threads, l: Mat<T>, negative: Vec<bool>) -> Result<Self, Error> {
        let large = |entry: &T| !(entry.abs() * entry.abs() <= T::Part::LARGE_SQUARE);
        if l.col_iter().any(|column| column.iter().any(large)) {
            return Err(Error::Overflow { argument: "l" });
        }
        Self::new(threads, l, negative, f64::INFINITY)
    }
}

/// A ← L of A = L S Lᴴ, zero above the diagonal. Returns which entries of S are −1. For a Schur complement `left` has, for each row, the
/// sum of the squares of the row of L to the left of it. (r × r, r)
///
/// # Errors
/// `Singular` with the first column whose pivot is less than this share of (|L| |D| |Lᴴ|)_ii, or not finite.
pub(super) fn factored<T: Element>(
    mut a: MatMut<'_, T>,
    left: Option<&[f64]>,
    tolerance: f64,
    par: Par,
) -> Result<Vec<bool>, Error> {
    let order = a.nrows();
    let tolerance = tolerance.max(8.0 * T::Part::UNIT.to_f64());
    // Where faer stops at a zero, an earlier pivot may have been too small already.
    let end = T::ldlt(a.as_mut(), par).map_or_else(|column| column, |()| order);
    let mut negative = vec![false; order];
    // Σ over the columns so far of the squares of a row.
    let mut squares = left.map_or_else(|| vec![0.0; order], <[f64]>::to_vec);
    for j in 0..end {
        let d = a[(j, j)].real();
        negative[j] = d < T::Part::ZERO;
        let root = d.abs().sqrt();
        a.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
        a[(j, j)] = T::of_real(root);
        let pivot = d.abs().to_f64();
        // The comparison is false for NaN.
        if !(pivot > tolerance * (squares[j] + pivot) && pivot < f64::INFINITY) {
            return Err(Error::Singular { column: j });
        }
        let mut below = a.as_mut().col_mut(j).subrows_mut(j + 1, order - j - 1);
        below.as_mut().iter_mut().for_each(|entry| *entry = entry.times(root));
        add_squares(&mut squares[j + 1..], below.as_ref(), 1.0);
    }
    if end < order { Err(Error::Singular { column: end }) } else { Ok(negative) }
}
