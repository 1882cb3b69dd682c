//! What complex results owe to real ones: a real problem stored as complex numbers, phases that go through a modification, and
//! the factor of A' itself.

use super::exact::Hermitian;
use super::oracle::{assert_contract, backward_error};
use super::problem::{Kind, Problem, phases, rng};
use super::scalar::{Complex, in_c64, narrow};
use crate::support::contract::allowed;
use crate::support::problem::Problem as RealProblem;
use crate::support::real::Real;
use cholupdate::faer::{Mat, c64};
use cholupdate::{Cholesky, Engine};

in_both_precisions!(
    real_numbers_stored_as_complex_ones_stay_real,
    rows_and_columns_of_real_numbers_stay_real,
    quarter_turns_go_through_a_modification,
    phases_of_columns_of_v_do_not_count,
    a_modification_makes_the_factor_of_the_new_matrix,
);

/// Whether real numbers stored as complex ones must have the bits of the real result. They need not: the real kernels of small
/// ranks have another order of operations.
const SAME_BITS: bool = false;

/// Every entry times this number. It is exact if the number is ±1 or ±i.
fn complex<T: Complex>(a: &Mat<T::Re>, times: c64) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::from_c64(times * a[(i, j)].f64()))
}

/// `of_complex` has imaginary parts of zero, and its real parts are within twice the contract of the real result.
#[track_caller]
fn assert_same<T: Complex>(of_complex: &Mat<T>, of_real: &Mat<T::Re>, k: usize, what: impl std::fmt::Debug) {
    let n = of_real.nrows();
    let all = || (0..n).flat_map(|j| (0..n).map(move |i| (i, j)));
    assert!(all().all(|at| of_complex[at].c64().im == 0.0), "{what:?}: there are imaginary parts");
    if SAME_BITS {
        let same = |at| of_complex[at].c64().re.to_bits() == of_real[at].f64().to_bits();
        assert!(all().all(same), "{what:?}: other bits");
    }
    let wanted = complex::<T>(of_real, 1.0.into());
    let error = backward_error(of_complex.as_ref(), wanted.as_ref(), Mat::zeros(n, 0).as_ref(), &[]);
    assert!(error <= 2.0 * allowed(n, k), "{what:?}: {error:.1} u");
}

fn real_numbers_stored_as_complex_ones_stay_real<T: Complex, E: Engine<T> + Engine<T::Re> + Clone>(
    engine: &E,
) {
    for n in [0, 1, 2, 3, 8, 9, 33, 70, 150] {
        for k in [0, 1, 2, 3, 5, 17] {
            for kind in Kind::ALL {
                let real = RealProblem::<T::Re>::feasible(n, k, kind, 0.5, (n + k) as u64);
                let mut factor = Cholesky::from_factor_in(&real.l, engine.clone()).unwrap();
                factor.modify(&real.v, &real.weights).unwrap();
                let wanted = factor.to_factor().unwrap();
                // V Vᴴ is the same for imaginary V.
                for turn in [c64::new(1.0, 0.0), c64::new(0.0, 1.0)] {
                    let l = complex::<T>(&real.l, 1.0.into());
                    let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
                    factor.modify(&complex::<T>(&real.v, turn), &real.weights).unwrap();
                    let made = factor.to_factor().unwrap();
                    assert_same(&made, &wanted, k, (n, k, kind, turn));
                }
            }
        }
    }
}

fn rows_and_columns_of_real_numbers_stay_real<T: Complex, E: Engine<T> + Engine<T::Re> + Clone>(engine: &E) {
    for n in [5, 12, 40] {
        let l = complex::<T>(&RealProblem::<T::Re>::feasible(n, 0, Kind::Up, 0.5, 3).l, 1.0.into());
        let a = Hermitian::product(&in_c64(l.as_ref()));
        let a = Mat::from_fn(n, n, |i, j| T::part(a.entry(i, j).re));
        let of = complex::<T>(&a, 1.0.into());
        let mut real = Cholesky::new_in(&a, engine.clone()).unwrap();
        let mut kept = Cholesky::new_in(&of, engine.clone()).unwrap();
        assert_same(&kept.to_factor().unwrap(), &real.to_factor().unwrap(), n, "new");
        let columns = a.subcols(2, 2).to_owned();
        for step in 0..6 {
            let (of_real, of_complex) = match step {
                0 => (real.remove(&[2, 3]), kept.remove(&[2, 3])),
                1 => (real.insert(2, &columns), kept.insert(2, &complex::<T>(&columns, 1.0.into()))),
                2 => (real.shift(0, n - 1), kept.shift(0, n - 1)),
                3 => (real.shift(n - 1, 1), kept.shift(n - 1, 1)),
                4 => {
                    let order: Vec<usize> = (0..n).rev().collect();
                    (real.permute(&order), kept.permute(&order))
                }
                _ => {
                    let identity = (Mat::<T::Re>::identity(n, 1), Mat::<T>::identity(n, 1));
                    (real.replace(0, &identity.0), kept.replace(0, &identity.1))
                }
            };
            of_real.unwrap();
            of_complex.unwrap();
            assert_same(&kept.to_factor().unwrap(), &real.to_factor().unwrap(), (step + 2) * n, step);
        }
    }
}

/// D L' Dᴴ is the factor after D L Dᴴ is modified by D V U. With powers of i all turns are exact.
fn quarter_turns_go_through_a_modification<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let quarter = |at: usize| {
        [c64::new(1.0, 0.0), c64::new(0.0, 1.0), c64::new(-1.0, 0.0), c64::new(0.0, -1.0)][at % 4]
    };
    for (n, k) in [(1, 1), (2, 1), (3, 2), (9, 3), (33, 5), (70, 17), (20, 40)] {
        for kind in Kind::ALL {
            let problem = Problem::<T>::feasible(n, k, kind, 0.1, 4);
            let turned = Problem {
                l: Mat::from_fn(n, n, |i, j| {
                    T::from_c64(quarter(7 * i) * problem.l[(i, j)].c64() * quarter(7 * j).conj())
                }),
                v: Mat::from_fn(n, k, |i, r| T::from_c64(quarter(7 * i + 3 * r) * problem.v[(i, r)].c64())),
                weights: problem.weights.clone(),
            };
            let (made, report) = turned.modified(engine).unwrap();
            let (_, straight) = problem.modified(engine).unwrap();
            let back = Mat::from_fn(n, n, |i, j| {
                T::from_c64(quarter(7 * i).conj() * made[(i, j)].c64() * quarter(7 * j))
            });
            let Problem { l, v, weights } = &problem;
            assert_contract(back.as_ref(), l.as_ref(), v.as_ref(), weights, kind);
            let off = (report.min_pivot_ratio / straight.min_pivot_ratio - 1.0).abs();
            assert!(off <= 1e3 * (n + k) as f64 * T::ROUNDOFF, "{kind:?}: {report:?}, not {straight:?}");
        }
    }
}

/// V U Uᴴ Vᴴ is V Vᴴ for any phases U.
fn phases_of_columns_of_v_do_not_count<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(1, 1), (3, 2), (9, 3), (33, 5), (70, 17)] {
        for kind in Kind::ALL {
            let problem = Problem::<T>::feasible(n, k, kind, 0.1, 5);
            let u = phases(k, &mut rng(6));
            let v = Mat::from_fn(n, k, |i, r| problem.v[(i, r)].c64() * u[r]);
            let turned = Problem { v: narrow::<T>(&v), ..problem.clone() };
            let (made, _) = turned.modified(engine).unwrap();
            let Problem { l, v, weights } = &problem;
            let error = backward_error(made.as_ref(), l.as_ref(), v.as_ref(), weights);
            // The products with U round as well: two roundings of each entry of V.
            assert!(error <= allowed(n, k) + 6.0, "n = {n}, k = {k}, {kind:?}: {error:.1} u");
        }
    }
}

/// L' and the factor of A' differ by as much as their backward errors, and the condition of A', allow
/// (Sun, *Perturbation bounds for the Cholesky and QR factorizations*, 1991).
fn a_modification_makes_the_factor_of_the_new_matrix<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(1, 1), (2, 3), (9, 2), (33, 5), (70, 17), (101, 3)] {
        for kind in Kind::ALL {
            let problem = Problem::<T>::feasible(n, k, kind, 0.3, 7);
            let (made, _) = problem.modified(engine).unwrap();
            let mut a = Hermitian::product(&in_c64(problem.l.as_ref()));
            a.add(&in_c64(problem.v.as_ref()), &problem.weights);
            let a = a.rounded();
            let anew = Cholesky::new_in(&narrow::<T>(&a), engine.clone()).unwrap().to_factor().unwrap();
            let values = a.self_adjoint_eigenvalues(cholupdate::faer::Side::Lower).unwrap();
            let (least, most) = (values[0], values[n - 1]);
            let squares = |x: &Mat<T>, c: usize| x.col(c).iter().map(|x| x.c64().norm_sqr()).sum::<f64>();
            let of_l: f64 = (0..n).map(|j| squares(&problem.l, j)).sum();
            let of_v: f64 = (0..k).map(|r| problem.weights[r].f64().abs() * squares(&problem.v, r)).sum();
            let trace = of_l + of_v;
            let off = (in_c64(made.as_ref()) - in_c64(anew.as_ref())).norm_l2();
            // Of the modification, of A' as it is rounded, and of its factor.
            let bound =
                3.0 * allowed(n, k) * T::ROUNDOFF * trace / (2.0 * least).sqrt() * (most / least).sqrt();
            assert!(off <= bound, "n = {n}, k = {k}, {kind:?}: {off:.1e}, not {bound:.1e}");
        }
    }
}
