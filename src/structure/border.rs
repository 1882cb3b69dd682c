//! The rows and columns of L that come with new rows and columns of A.

use super::Resizable;
use crate::error::Error;
use crate::factorize::blocked;
use crate::host::threads::where_it_pays;
use crate::scalar::Scalar;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatRef, Par};

/// r rows of L, and the columns below their diagonal block.
#[derive(Clone, Debug)]
pub struct Border<T> {
    /// S, whose transpose is left of the diagonal block. (at × r)
    pub left: Mat<T>,
    /// C, zero above the diagonal. (r × r)
    pub corner: Mat<T>,
    /// X. (m × r)
    pub below: Mat<T>,
    /// min over the rows of c_jj² / k_jj: how much of a new diagonal entry the others leave.
    pub least_ratio: T,
    /// log det C Cᵀ.
    pub log_det: f64,
}

impl<T: Scalar> Border<T> {
    /// Of the columns B₁, K and B₂, one above the other, at row `at` of L. ((at + r + m) × r)
    ///
    /// `skipped`: rows of L from `at` on that have none in B₂, those that are replaced.
    ///
    /// # Errors
    /// `NotPositiveDefinite` at a row of K; `Device`.
    pub fn new(
        l: &impl Resizable<T>,
        at: usize,
        columns: MatRef<'_, T>,
        skipped: usize,
        par: Par,
    ) -> Result<Self, Error> {
        let rank = columns.ncols();
        let (above, rest) = columns.split_at_row(at);
        let (k, b2) = rest.split_at_row(rank);
        let mut rhs = Mat::<T>::zeros(at + skipped + b2.nrows(), rank);
        rhs.subrows_mut(0, at).copy_from(above);
        rhs.subrows_mut(at + skipped, b2.nrows()).copy_from(b2);
        l.eliminate(at, rhs.as_mut())?;
        let left = rhs.subrows(0, at);
        let par = where_it_pays(par, (at + b2.nrows()) * rank * rank);
        let corner =
            schur(left, k, par).map_err(|column| Error::NotPositiveDefinite { column: at + column })?;
        let mut below = rhs.subrows(at + skipped, b2.nrows()).to_owned();
        if rank == 1 {
            below.col_mut(0).iter_mut().for_each(|x| *x = *x / corner[(0, 0)]);
        } else {
            solve_lower_triangular_in_place(corner.as_ref(), below.as_mut().transpose_mut(), par);
        }
        let pivots = || corner.diagonal().column_vector().iter().copied();
        let ratios = pivots().zip(k.diagonal().column_vector().iter()).map(|(c, &k)| c * (c / k));
        let least_ratio = ratios.fold(T::ONE, |least, ratio| if ratio < least { ratio } else { least });
        let log_det = 2.0 * pivots().map(|c| c.to_f64().ln()).sum::<f64>();
        Ok(Self { left: left.to_owned(), corner, below, least_ratio, log_det })
    }

    /// r.
    pub fn rows(&self) -> usize {
        self.corner.nrows()
    }
}

/// C with C Cᵀ = K − Sᵀ S, of which the lower triangle of K is read. (at × r, r × r)
///
/// # Errors
/// The first row whose pivot² is not greater than zero.
pub fn schur<T: Scalar>(s: MatRef<'_, T>, k: MatRef<'_, T>, par: Par) -> Result<Mat<T>, usize> {
    let rank = k.ncols();
    let mut c = Mat::from_fn(rank, rank, |i, j| if i >= j { k[(i, j)] } else { T::ZERO });
    if rank == 1 {
        let square = k[(0, 0)] - s.col(0).squared_norm_l2();
        c[(0, 0)] = square.sqrt();
        return if square > T::ZERO && square.is_finite() { Ok(c) } else { Err(0) };
    }
    triangular_matmul(
        c.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Add,
        s.transpose(),
        BlockStructure::Rectangular,
        s,
        BlockStructure::Rectangular,
        -T::ONE,
        par,
    );
    match blocked::factorize(c.as_mut(), par) {
        Ok(()) if c.is_all_finite() => Ok(c),
        Ok(()) => Err((0..rank).find(|&j| !c.row(j).is_all_finite()).unwrap_or(0)),
        Err(Error::NotPositiveDefinite { column }) => Err(column),
        Err(_) => unreachable!("faer has no other errors"),
    }
}
