//! The methods with which the library is compared: refactorization, and the peers' modifications of a factor.

use super::linpack::{Work, dchdd, dchud};
use super::real::Real;
use cholupdate::faer::diag::Diag;
use cholupdate::faer::linalg::cholesky::llt::update::rank_r_update_clobber;
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

/// Other methods to modify a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// `dchud` and `dchdd`.
    Linpack,
    /// `rank_r_update_clobber`: Gill, Golub, Murray and Saunders' method C1.
    Faer,
    /// `rank_one_update`: the recurrence of Krause and Igel.
    Nalgebra,
    /// Rotations and hyperbolic rotations, as in Algorithm 1 of Walder's gpucholmod.
    Rotations,
}

impl Peer {
    pub const ALL: [Self; 4] = [Self::Linpack, Self::Faer, Self::Nalgebra, Self::Rotations];

    /// L Lᵀ ← L Lᵀ + V diag(w) Vᵀ, plus signs first; false where it is refused or leaves no factor.
    pub fn modify<T: Real>(self, l: &mut Mat<T>, v: MatRef<'_, T>, weights: &[T]) -> bool {
        let n = l.nrows();
        let signed = |sign: T| (0..v.ncols()).filter(move |&r| weights[r] * sign > T::ZERO);
        let order: Vec<usize> = signed(T::ONE).chain(signed(-T::ONE)).collect();
        let done = if self == Self::Faer {
            let mut w = Mat::from_fn(n, order.len(), |i, r| v[(i, order[r])]);
            let mut alpha = Diag::zeros(order.len());
            order.iter().enumerate().for_each(|(at, &r)| alpha[at] = weights[r]);
            rank_r_update_clobber(l.as_mut(), w.as_mut(), alpha.as_mut()).is_ok()
        } else {
            let mut work = Work::new(n);
            order.iter().all(|&r| {
                let scale = weights[r].abs().sqrt();
                let x: Vec<T> = (0..n).map(|i| v[(i, r)] * scale).collect();
                let minus = weights[r] < T::ZERO;
                let sigma = if minus { -T::ONE } else { T::ONE };
                match self {
                    Self::Linpack if minus => return dchdd(l.as_mut(), &x, &mut work).is_ok(),
                    Self::Linpack => dchud(l.as_mut(), &x, &mut work),
                    Self::Nalgebra => T::nalgebra_rank_one_update(l, &x, sigma),
                    _ => rotations(l, x, sigma),
                }
                true
            })
        };
        // LINPACK's diagonal may have any sign, which does not change L Lᵀ.
        for j in (0..n).filter(|&j| l[(j, j)] < T::ZERO).collect::<Vec<_>>() {
            l.col_mut(j).iter_mut().for_each(|x| *x = -*x);
        }
        done && (0..n).all(|j| l[(j, j)] > T::ZERO)
    }
}

/// (l, v) ← (c l + σ s v, c v − s l) with c = l_jj / r, s = v_j / r, r² = l_jj² + σ v_j².
fn rotations<T: Real>(l: &mut Mat<T>, mut x: Vec<T>, sigma: T) {
    for j in 0..x.len() {
        let r = (l[(j, j)] * l[(j, j)] + sigma * x[j] * x[j]).sqrt();
        let (c, s) = (l[(j, j)] / r, x[j] / r);
        l[(j, j)] = r;
        for i in j + 1..x.len() {
            let (old, v) = (l[(i, j)], x[i]);
            (l[(i, j)], x[i]) = (c * old + sigma * s * v, c * v - s * old);
        }
    }
}

/// LINPACK, a column at a time: updates first, then downdates, or `None` where a downdate is refused.
pub fn linpack<T: Real>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T]) -> Option<Mat<T>> {
    let mut l = l.to_owned();
    Peer::Linpack.modify(&mut l, v, weights).then_some(l)
}
