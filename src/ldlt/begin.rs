//! How a factor L S Lᵀ begins.

use super::expected::Expected;
use super::growth::Sums;
use super::state::{Indefinite, Stored};
use crate::check::{extent, finite_lower};
use crate::cpu::signature::SignatureMemory;
use crate::error::Error;
use crate::host::layout::lower;
use crate::host::squares::add_squares;
use crate::host::threads::Threads;
use crate::operand::Operand;
use crate::real::Real;
use faer::{Mat, MatMut, Par};

impl<T: Real> Indefinite<T> {
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

    /// The factor of A, by faer's blocked LDLᵀ without pivoting.
    pub(super) fn of_matrix(a: &Operand<'_, T>, threads: Threads) -> Result<Self, Error> {
        let a = a.on_host()?;
        if finite_lower("a", a.as_ref())? > T::LARGE_SQUARE {
            return Err(Error::Overflow { argument: "a" });
        }
        let mut l = lower(a.as_ref());
        let tolerance = l.nrows() as f64 * T::UNIT.to_f64();
        let negative = factored(l.as_mut(), None, tolerance, threads.par())?;
        Self::new(threads, l, negative, Self::default_limit())
    }

    /// The factor L diag(d) Lᵀ. (n × n, n)
    pub(super) fn of_factor(l: &Operand<'_, T>, d: &[T], threads: Threads) -> Result<Self, Error> {
        let l = l.on_host()?;
        finite_lower("l", l.as_ref())?;
        extent("d", "entries", l.as_ref().nrows(), d.len())?;
        if let Some(row) = d.iter().position(|d| !d.is_finite()) {
            return Err(Error::NonFinite { argument: "d", row, column: 0 });
        }
        let mut l = lower(l.as_ref());
        for (j, d) in d.iter().enumerate() {
            let pivot = l[(j, j)];
            let scale = if pivot < T::ZERO { -d.abs().sqrt() } else { d.abs().sqrt() };
            if pivot == T::ZERO || scale == T::ZERO {
                return Err(Error::Singular { column: j });
            }
            l.col_as_slice_mut(j)[j..].iter_mut().for_each(|entry| *entry *= scale);
            if l[(j, j)] == T::ZERO {
                return Err(Error::Singular { column: j });
            }
        }
        if l.col_iter()
            .any(|column| column.iter().any(|entry| !(entry.abs() * entry.abs() <= T::LARGE_SQUARE)))
        {
            return Err(Error::Overflow { argument: "l" });
        }
        Self::new(threads, l, d.iter().map(|&d| d < T::ZERO).collect(), f64::INFINITY)
    }
}

/// A ← L of A = L S Lᵀ, zero above the diagonal. Returns which entries of S are −1. For a Schur complement `left` has, for each row, the
/// sum of the squares of the row of L to the left of it. (r × r, r)
///
/// # Errors
/// `Singular` with the first column whose pivot is less than this share of (|L| |D| |Lᵀ|)_ii, or not finite.
pub(super) fn factored<T: Real>(
    mut a: MatMut<'_, T>,
    left: Option<&[f64]>,
    tolerance: f64,
    par: Par,
) -> Result<Vec<bool>, Error> {
    let order = a.nrows();
    let tolerance = tolerance.max(8.0 * T::UNIT.to_f64());
    // Where faer stops at a zero, an earlier pivot may have been too small already.
    let end = T::ldlt(a.as_mut(), par).map_or_else(|column| column, |()| order);
    let mut negative = vec![false; order];
    // Σ over the columns so far of the squares of a row.
    let mut squares = left.map_or_else(|| vec![0.0; order], <[f64]>::to_vec);
    for j in 0..end {
        let d = a[(j, j)];
        negative[j] = d < T::ZERO;
        let root = d.abs().sqrt();
        a.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
        a[(j, j)] = root;
        let pivot = d.abs().to_f64();
        // The comparison is false for NaN.
        if !(pivot > tolerance * (squares[j] + pivot) && pivot < f64::INFINITY) {
            return Err(Error::Singular { column: j });
        }
        let mut below = a.as_mut().col_mut(j).subrows_mut(j + 1, order - j - 1);
        below.as_mut().iter_mut().for_each(|entry| *entry *= root);
        add_squares(&mut squares[j + 1..], below.as_ref(), 1.0);
    }
    if end < order { Err(Error::Singular { column: end }) } else { Ok(negative) }
}
