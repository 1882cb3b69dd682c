//! LINPACK's `zchud` and `zchdd` by plain loops (Dongarra, Moler, Bunch, Stewart, *LINPACK Users' Guide*, SIAM 1979, chapter 10),
//! for the lower factor: the peer for drift and for small pivots.

use super::scalar::{Complex, in_c64, narrow};
use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef, c64};

/// x rounded to T: every product and sum is.
fn near<T: Complex>(x: c64) -> c64 {
    T::from_c64(x).c64()
}

fn near_real<T: Complex>(x: f64) -> f64 {
    T::part(x).f64()
}

/// L Lᴴ ← L Lᴴ + V diag(w) Vᴴ for weights of ±1, a column at a time in the order given; `None` where a downdate is refused.
pub fn modify<T: Complex>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T::Re]) -> Option<Mat<T>> {
    let mut l = in_c64(l);
    for (column, weight) in v.col_iter().zip(weights) {
        let x: Vec<c64> = column.iter().map(|x| x.c64()).collect();
        if weight.f64() > 0.0 {
            update::<T>(&mut l, x);
        } else if !downdate::<T>(&mut l, &x) {
            return None;
        }
    }
    Some(narrow(&l))
}

fn update<T: Complex>(l: &mut Mat<c64>, mut x: Vec<c64>) {
    for j in 0..x.len() {
        let (pivot, a) = (l[(j, j)].re, x[j]);
        let r = near_real::<T>(pivot.hypot(a.norm()));
        if r == 0.0 {
            continue;
        }
        let (c, s) = (near_real::<T>(pivot / r), near::<T>(a / r));
        l[(j, j)] = r.into();
        for i in j + 1..x.len() {
            let (old, v) = (l[(i, j)], x[i]);
            l[(i, j)] = near::<T>(near::<T>(old * c) + near::<T>(s.conj() * v));
            x[i] = near::<T>(near::<T>(v * c) - near::<T>(s * old));
        }
    }
}

fn downdate<T: Complex>(l: &mut Mat<c64>, x: &[c64]) -> bool {
    let n = x.len();
    let mut p: Vec<c64> = Vec::new();
    for i in 0..n {
        let rest = (0..i).fold(x[i], |rest, j| near::<T>(rest - near::<T>(l[(i, j)] * p[j])));
        p.push(near::<T>(rest / l[(i, i)].re));
    }
    let square = p.iter().fold(0.0, |sum, p| near_real::<T>(sum + p.norm_sqr()));
    if !(square < 1.0) {
        return false;
    }
    // Rotations that take (p, α) to (0, 1), from the last row on.
    let mut alpha = near_real::<T>((1.0 - square).sqrt());
    let mut rotations = vec![(1.0, c64::default()); n];
    for j in (0..n).rev() {
        let r = near_real::<T>(alpha.hypot(p[j].norm()));
        rotations[j] = (near_real::<T>(alpha / r), near::<T>(p[j] / r));
        alpha = r;
    }
    for i in 0..n {
        let mut carry = c64::default();
        for j in (0..=i).rev() {
            let ((c, s), old) = (rotations[j], l[(i, j)]);
            l[(i, j)] = near::<T>(near::<T>(old * c) - near::<T>(s.conj() * carry));
            carry = near::<T>(near::<T>(carry * c) + near::<T>(s * old));
        }
    }
    true
}

/// The peer holds the contract itself where nothing nearly cancels.
#[test]
fn the_peer_is_right() {
    use super::oracle::assert_contract;
    use super::problem::{Kind, Problem};
    use cholupdate::faer::c32;
    fn check<T: Complex>() {
        for (n, k) in [(1, 1), (5, 2), (40, 8)] {
            for kind in Kind::ALL {
                let Problem { l, v, weights } = Problem::<T>::feasible(n, k, kind, 0.5, 1);
                let new = modify(l.as_ref(), v.as_ref(), &weights).expect("feasible");
                assert_contract(new.as_ref(), l.as_ref(), v.as_ref(), &weights, kind);
            }
        }
    }
    check::<c64>();
    check::<c32>();
}
