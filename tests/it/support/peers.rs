//! What the library is compared with: refactorization by faer, and LINPACK's rank-1 routines.

#[path = "../../../benches/support/linpack.rs"]
mod linpack;

use self::linpack::{Work, dchdd, dchud};
use super::real::Real;
use cholupdate::faer::linalg::matmul::triangular::{BlockStructure, matmul};
use cholupdate::faer::linalg::solvers::Llt;
use cholupdate::faer::{Accum, Mat, MatRef, Par, Side};

/// The factor of fl(LLᵀ + V diag(w) Vᵀ), or `None` where that is not positive definite.
pub fn refactorize<T: Real>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T]) -> Option<Mat<T>> {
    let mut a = Mat::zeros(l.nrows(), l.nrows());
    let weighted = Mat::from_fn(v.nrows(), v.ncols(), |i, r| v[(i, r)] * weights[r]);
    let (lower, upper) = (BlockStructure::TriangularLower, BlockStructure::TriangularUpper);
    let full = BlockStructure::Rectangular;
    let replace = Accum::Replace;
    matmul(a.as_mut(), lower, replace, l, lower, l.transpose(), upper, T::ONE, Par::Seq);
    matmul(a.as_mut(), lower, Accum::Add, &weighted, full, v.transpose(), full, T::ONE, Par::Seq);
    let llt = Llt::new(a.as_ref(), Side::Lower).ok()?;
    Some(llt.L().to_owned())
}

/// LINPACK, a column at a time: updates first, then downdates, or `None` where a downdate is refused.
pub fn linpack<T: Real>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T]) -> Option<Mat<T>> {
    let n = l.nrows();
    let mut l = l.to_owned();
    let mut work = Work::new(n);
    let column = |r: usize| -> Vec<T> {
        let scale = weights[r].abs().sqrt();
        (0..n).map(|i| v[(i, r)] * scale).collect()
    };
    for r in (0..v.ncols()).filter(|&r| weights[r] > T::ZERO) {
        dchud(l.as_mut(), &column(r), &mut work);
    }
    for r in (0..v.ncols()).filter(|&r| weights[r] < T::ZERO) {
        dchdd(l.as_mut(), &column(r), &mut work).ok()?;
    }
    // LINPACK lets the diagonal have any sign; L Lᵀ does not mind.
    for j in (0..n).filter(|&j| l[(j, j)] < T::ZERO).collect::<Vec<_>>() {
        l.col_mut(j).iter_mut().for_each(|x| *x = -*x);
    }
    Some(l)
}
