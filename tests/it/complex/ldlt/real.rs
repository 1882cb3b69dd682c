//! What complex factors owe to real ones.

use super::{Factor, backward_error, columns};
use crate::complex::problem::rng;
use crate::complex::scalar::parts;
use crate::ldlt::MATRICES;
use cholupdate::faer::{Mat, c64};
use cholupdate::{Cpu, Error, Ldlt};
use rand::Rng;

fn complex(a: &Mat<f64>, times: c64) -> Mat<c64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| times * a[(i, j)])
}

/// Imaginary parts stay exactly zero, and signs and refusals are those of real numbers.
#[test]
fn real_numbers_stored_as_complex_ones_stay_real() {
    let random = &mut rng(1);
    for matrix in MATRICES {
        for n in [1, 2, 8, 9, 33, 70] {
            for (k, scale) in [(1, 1.0), (3, 30.0), (17, 0.1)] {
                let a: Mat<f64> = matrix.make(n, random);
                let Ok(begun) = Ldlt::new_in(&a, Cpu::sequential()) else { continue };
                let l = begun.l().to_owned();
                let v = columns::<c64>(n, k, scale, random);
                let v = Mat::from_fn(n, k, |i, r| v[(i, r)].re);
                let weights: Vec<f64> = (0..k).map(|_| random.random_range(-1.0..1.0)).collect();
                let mut real = begun.clone();
                let of_real = real.modify(&v, &weights).map(|report| report.inertia);
                // V Vᴴ is the same for imaginary V.
                for turn in [c64::new(1.0, 0.0), c64::new(0.0, 1.0)] {
                    let what = format!("{matrix:?}, n {n}, k {k}, {turn}");
                    let l = complex(&l, 1.0.into());
                    let mut kept = Ldlt::from_factor_in(&l, &begun.signs(), Cpu::sequential()).unwrap();
                    let old = Factor::of(&kept);
                    let made = kept.modify(&complex(&v, turn), &weights).map(|report| report.inertia);
                    let (Ok(of_real), Ok(made)) = (&of_real, &made) else {
                        assert!(
                            matches!(
                                (&of_real, &made),
                                (Err(Error::Singular { .. }), Err(Error::Singular { .. }))
                            ),
                            "{what}"
                        );
                        continue;
                    };
                    let new = Factor::of(&kept);
                    let all = || (0..n).flat_map(|j| (0..n).map(move |i| (i, j)));
                    assert!(all().all(|at| new.l[at].im == 0.0), "{what}");
                    assert_eq!(of_real, made, "{what}");
                    let error = backward_error(&new, &old, complex(&v, turn).as_ref(), &weights);
                    assert!(error <= (n + k).max(12) as f64, "{what}: {error} u");
                }
            }
        }
    }
}

/// D L' Dᴴ is the factor after D L Dᴴ is modified by D V U. With powers of i all turns are exact.
#[test]
fn quarter_turns_go_through_a_modification() {
    let quarter = |at: usize| {
        [c64::new(1.0, 0.0), c64::new(0.0, 1.0), c64::new(-1.0, 0.0), c64::new(0.0, -1.0)][at % 4]
    };
    let random = &mut rng(2);
    for matrix in MATRICES {
        for (n, k) in [(1, 1), (2, 1), (9, 3), (33, 5), (70, 17)] {
            let a = super::turned::<c64>(matrix, n, random);
            let Ok(mut factor) = Ldlt::new_in(&a, Cpu::sequential()) else { continue };
            let old = Factor::of(&factor);
            let v = columns::<c64>(n, k, 2.0, random);
            let weights = parts::<c64>(&(0..k).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<_>>());
            let l = Mat::from_fn(n, n, |i, j| quarter(7 * i) * old.l[(i, j)] * quarter(7 * j).conj());
            let mut turned = Ldlt::from_factor_in(&l, &factor.signs(), Cpu::sequential()).unwrap();
            let turned_v = Mat::from_fn(n, k, |i, r| quarter(7 * i + 3 * r) * v[(i, r)]);
            let (straight, made) = (factor.modify(&v, &weights), turned.modify(&turned_v, &weights));
            let (Ok(straight), Ok(made)) = (&straight, &made) else {
                assert!(straight.is_err() == made.is_err(), "{matrix:?}, n {n}, k {k}");
                continue;
            };
            assert_eq!(straight.inertia, made.inertia);
            let l = Mat::from_fn(n, n, |i, j| quarter(7 * i).conj() * turned.l()[(i, j)] * quarter(7 * j));
            let back = Factor { l, s: turned.signs() };
            let error = backward_error(&back, &old, v.as_ref(), &weights);
            assert!(error <= (n + k).max(12) as f64, "{matrix:?}, n {n}, k {k}: {error} u");
        }
    }
}
