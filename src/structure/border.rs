//! The rows and columns of L for new rows and columns of A.

use super::scratch::{BorderMemory, room};
use crate::error::Error;
use crate::host::blocked::{self, Memory};
use crate::host::threads::where_it_pays;
use crate::real::Real;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::reborrow::IntoConst;
use faer::{Accum, MatMut, MatRef, Par};

/// r rows of L, and the columns below their diagonal block.
#[derive(Clone, Copy, Debug)]
pub struct Border<'a, T> {
    /// S; its transpose is left of the diagonal block. (at × r)
    pub left: MatRef<'a, T>,
    /// C, zero above the diagonal. (r × r)
    pub corner: MatRef<'a, T>,
    /// X. (m × r)
    pub below: MatRef<'a, T>,
    /// min over the rows of c_jj² / k_jj: the smallest share of a new diagonal entry that the other rows do not explain.
    pub least_ratio: T,
    /// log det C Cᵀ.
    pub log_det: f64,
}

impl<'a, T: Real> Border<'a, T> {
    /// Computes the border for the columns B₁, K and B₂, one above the other, at row `at` of L. ((at + r + m) × r)
    ///
    /// `eliminate` solves with `at` leading columns of L, the first half of a solve; L has this capacity. `skipped` is the
    /// number of rows of L from `at` on that have no row in B₂, because they are replaced.
    ///
    /// # Errors
    /// `NotPositiveDefinite` at a row of K; `Device`.
    pub fn new(
        (capacity, eliminate): (usize, impl FnOnce(MatMut<'_, T>) -> Result<(), Error>),
        at: usize,
        columns: MatRef<'_, T>,
        skipped: usize,
        memory: &'a mut BorderMemory<T>,
        par: Par,
    ) -> Result<Self, Error> {
        let BorderMemory { rhs, corner, cholesky } = memory;
        let rank = columns.ncols();
        let (above, rest) = columns.split_at_row(at);
        let (k, b2) = rest.split_at_row(rank);
        let mut rhs = room(rhs, (at + skipped + b2.nrows(), capacity), rank);
        rhs.as_mut().subrows_mut(0, at).copy_from(above);
        rhs.as_mut().subrows_mut(at, skipped).fill(T::ZERO);
        rhs.as_mut().subrows_mut(at + skipped, b2.nrows()).copy_from(b2);
        eliminate(rhs.as_mut())?;
        let (left, rest) = rhs.split_at_row_mut(at);
        let mut below = rest.subrows_mut(skipped, b2.nrows());
        let par = where_it_pays(par, (at + b2.nrows()) * rank * rank);
        let mut corner = room(corner, (rank, rank), rank);
        schur(left.as_ref(), k, corner.as_mut(), cholesky, par)
            .map_err(|column| Error::NotPositiveDefinite { column: at + column })?;
        if rank == 1 {
            let pivot = corner[(0, 0)];
            below.as_mut().col_mut(0).iter_mut().for_each(|x| *x /= pivot);
        } else {
            T::solve_lower(corner.as_ref(), below.as_mut().transpose_mut(), par);
        }
        let corner = corner.into_const();
        let (least_ratio, log_det) = least_ratio_and_log_det(corner, k);
        Ok(Self { left: left.into_const(), corner, below: below.into_const(), least_ratio, log_det })
    }

    /// A border that consists of all rows of L.
    pub fn whole(l: MatRef<'a, T>) -> Self {
        let nothing = || MatRef::from_column_major_slice(&[], 0, l.ncols());
        Self { left: nothing(), corner: l, below: nothing(), least_ratio: T::ONE, log_det: 0.0 }
    }

    /// r.
    pub fn rows(&self) -> usize {
        self.corner.nrows()
    }
}

/// [`Border::least_ratio`], at most 1, and [`Border::log_det`]. Only the diagonals are read. (r × r, r × r)
pub fn least_ratio_and_log_det<T: Real>(c: MatRef<'_, T>, k: MatRef<'_, T>) -> (T, f64) {
    let pivots = || c.diagonal().column_vector().iter().copied();
    let ratios = pivots().zip(k.diagonal().column_vector().iter()).map(|(c, &k)| c * (c / k));
    let least_ratio = ratios.fold(T::ONE, |least, ratio| if ratio < least { ratio } else { least });
    (least_ratio, 2.0 * pivots().map(|c| c.to_f64().ln()).sum::<f64>())
}

/// Computes C with C Cᵀ = K − Sᵀ S, with zeros above the diagonal; only the lower triangle of K is read. (at × r, r × r)
///
/// # Errors
/// The first row whose pivot² is not greater than zero.
pub fn schur<T: Real>(
    s: MatRef<'_, T>,
    k: MatRef<'_, T>,
    mut c: MatMut<'_, T>,
    memory: &mut Memory,
    par: Par,
) -> Result<(), usize> {
    let rank = k.ncols();
    if rank == 1 {
        let square = k[(0, 0)] - s.col(0).squared_norm_l2();
        c[(0, 0)] = square.sqrt();
        return if square > T::ZERO && square.is_finite() { Ok(()) } else { Err(0) };
    }
    for j in 0..rank {
        c.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
        c.as_mut().col_mut(j).subrows_mut(j, rank - j).copy_from(k.col(j).subrows(j, rank - j));
    }
    let (lower, all) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    T::triangular_matmul((c.as_mut(), lower), Accum::Add, (s.transpose(), all), (s, all), -T::ONE, par);
    match blocked::factorize_in(c.as_mut(), par, memory) {
        Ok(()) if c.as_ref().is_all_finite() => Ok(()),
        Ok(()) => Err((0..rank).find(|&j| !c.as_ref().row(j).is_all_finite()).unwrap_or(0)),
        Err(column) => Err(column),
    }
}
