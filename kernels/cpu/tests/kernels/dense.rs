//! Dense linear algebra of complex matrices.

use cholupdate_kernels::dense::Dense;
use cholupdate_kernels::number::Number;
use faer::{Accum, Conj, Mat, Par, c64};

/// Entries of order 1, each different.
fn entry(i: usize, j: usize) -> c64 {
    c64::new(((7 * i + 3 * j) % 11) as f64 / 11.0 - 0.5, ((5 * i + 8 * j) % 13) as f64 / 13.0 - 0.5)
}

/// L with a real positive diagonal. (n × n)
fn lower(n: usize) -> Mat<c64> {
    Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
        core::cmp::Ordering::Less => c64::ZERO,
        core::cmp::Ordering::Equal => c64::new(2.0, 0.0),
        core::cmp::Ordering::Greater => entry(i, j).over((n as f64).sqrt()),
    })
}

#[test]
fn a_complex_matrix_is_factored() {
    for n in [1, 2, 7, 64, 150] {
        let l = lower(n);
        let a = &l * l.adjoint();
        let mut again = a.clone();
        let mut memory = c64::cholesky_memory(n, Par::Seq);
        c64::cholesky(again.as_mut(), Par::Seq, &mut memory).unwrap();
        for j in 0..n {
            for i in j..n {
                assert!((again[(i, j)] - l[(i, j)]).abs() < 1e-13, "n {n}");
            }
        }
    }
}

#[test]
fn an_indefinite_complex_matrix_is_factored() {
    for n in [1, 2, 7, 64, 150, 300] {
        let l = lower(n);
        let signed = Mat::from_fn(n, n, |i, j| if j % 3 == 1 { -l[(i, j)] } else { l[(i, j)] });
        let mut a = &signed * l.adjoint();
        c64::ldlt(a.as_mut(), Par::Seq).unwrap();
        for j in 0..n {
            let sign = if j % 3 == 1 { -1.0 } else { 1.0 };
            assert!((a[(j, j)].re - 4.0 * sign).abs() < 1e-12, "n {n}");
            assert!((j + 1..n).all(|i| (a[(i, j)].times(2.0) - l[(i, j)]).abs() < 1e-12), "n {n}");
        }
    }
}

#[test]
fn both_halves_of_a_complex_system_are_solved() {
    for (n, m) in [(1, 1), (9, 2), (80, 3)] {
        let (l, b) = (lower(n), Mat::from_fn(n, m, entry));
        let (mut y, mut x) = (&l * &b, l.adjoint() * &b);
        c64::solve_lower((l.as_ref(), Conj::No), y.as_mut(), Par::Seq);
        c64::solve_upper((l.transpose(), Conj::Yes), x.as_mut(), Par::Seq);
        assert!((y - &b).norm_max() < 1e-13 && (x - &b).norm_max() < 1e-13, "n {n}");
    }
}

#[test]
fn an_operand_of_a_product_is_conjugated() {
    let (a, b) = (Mat::from_fn(8, 5, entry), Mat::from_fn(8, 3, |i, j| entry(j, i + 1)));
    let mut c = Mat::zeros(5, 3);
    c64::matmul(c.as_mut(), Accum::Replace, (a.transpose(), Conj::Yes), b.as_ref(), c64::ONE, Par::Seq);
    assert!((c - a.adjoint() * &b).norm_max() < 1e-15);
}
