//! Triangular solves: as accurate as substitution, whether products with the inverses of diagonal blocks are corrected or not.

use crate::support::cuda::resident;
use crate::support::problem::{rng, uniform};
use crate::support::real::Real;
use cholupdate::Cholesky;
use cholupdate::cuda::Resident;
use cholupdate::faer::Mat;

/// L with a diagonal of 1 and entries in ±`scale`/√n below. With 10, products with the inverses of its blocks lose digits.
fn triangle<T: Real>(n: usize, scale: f64) -> Mat<T> {
    let entries = uniform(n, n, &mut rng(81));
    let entry = |i: usize, j: usize| match i {
        _ if i < j => 0.0,
        _ if i == j => 1.0,
        _ => entries[(i, j)] * scale / (n as f64).sqrt(),
    };
    Mat::from_fn(n, n, |i, j| T::of(entry(i, j)))
}

/// Asserts |B − A X| ≤ max(n, 64) u |A| |X|, entry by entry, for a triangular A.
fn assert_substituted<T: Real>(a: impl Fn(usize, usize) -> f64, x: &Mat<T>, b: &Mat<T>) {
    let n = x.nrows();
    for c in 0..x.ncols() {
        for i in 0..n {
            let terms = (0..n).map(|j| a(i, j) * x[(j, c)].f64());
            let (mut residual, mut size) = (b[(i, c)].f64(), 0.0);
            for term in terms {
                (residual, size) = (residual - term, size + term.abs());
            }
            let bound = n.max(64) as f64 * T::U * size;
            assert!(residual.abs() <= bound, "n = {n}, row {i}, column {c}: {residual:e} of {bound:e}");
        }
    }
}

fn solves<T: Real>(engine: &Resident) {
    for n in [1, 64, 65, 341, 449] {
        for scale in [0.5, 10.0] {
            let l = triangle::<T>(n, scale);
            let factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
            for count in [1, 2, 9, 33] {
                let rhs = uniform(n, count, &mut rng(82));
                let rhs = Mat::from_fn(n, count, |i, c| T::of(rhs[(i, c)]));
                let y = factor.solve_l(&rhs).unwrap();
                assert_substituted(|i, j| l[(i, j)].f64(), &y, &rhs);
                let x = factor.solve_lt(&y).unwrap();
                assert_substituted(|i, j| l[(j, i)].f64(), &x, &y);
            }
        }
    }
}

#[test]
fn solves_are_as_accurate_as_substitution() {
    let Some((_turn, engine)) = resident() else { return };
    solves::<f64>(&engine);
    solves::<f32>(&engine);
}
