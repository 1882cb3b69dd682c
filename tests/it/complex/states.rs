//! How a factor begins, and what it shares: a known L with phases on its diagonal, nothing, and clones.

use super::exact::Hermitian;
use super::oracle::{assert_contract, backward_error, is_factor};
use super::problem::{Kind, Problem, factor as random_factor, phases, rng, uniform};
use super::scalar::{Complex, bits, in_c64, narrow};
use crate::support::contract::allowed;
use crate::support::real::Real;
use cholupdate::faer::{Mat, c32, c64};
use cholupdate::{Cholesky, Cpu, Engine, Error, Safeguard};

on_every_cpu!(
    a_new_factor_holds_the_contract,
    columns_are_turned_until_the_diagonal_is_positive,
    a_real_diagonal_changes_no_bit,
    updates_of_nothing_make_a_factor,
    a_clone_goes_on_by_itself,
);

fn a_new_factor_holds_the_contract<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [0, 1, 2, 3, 9, 33, 70, 150] {
        let a = super::rows::matrix::<T>(n, n as u64);
        let mut wanted = Hermitian::product(&Mat::zeros(n, 0));
        let all = vec![None; n];
        wanted = wanted.with_rows(&all, |i, j| a[(i, j)].c64());
        let l = Cholesky::new_in(&a, engine.clone()).unwrap().to_factor().unwrap();
        assert!(is_factor(l.as_ref()), "n = {n}");
        let error = Hermitian::product(&in_c64(l.as_ref())).largest_difference(&wanted) / T::ROUNDOFF;
        assert!(error <= allowed(n, 1), "n = {n}: {error:.1} u");
    }
}

/// L and L U have the same A for a diagonal U of phases.
fn columns_are_turned_until_the_diagonal_is_positive<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [0, 1, 2, 3, 9, 33, 130] {
        let l = random_factor(n, &mut rng(4));
        let mut u = phases(n, &mut rng(5));
        // Exact turns too.
        let exact = [c64::new(-1.0, 0.0), c64::new(0.0, 1.0), c64::new(0.0, -1.0), c64::new(1.0, 0.0)];
        (0..n).step_by(2).for_each(|j| u[j] = exact[j / 2 % 4]);
        let turned = narrow::<T>(&Mat::from_fn(n, n, |i, j| match i < j {
            // Not read.
            true => c64::new(f64::NAN, f64::INFINITY),
            false => l[(i, j)] * u[j],
        }));
        let made = Cholesky::from_factor_in(&turned, engine.clone()).unwrap().to_factor().unwrap();
        let lower = Mat::from_fn(n, n, |i, j| if i < j { T::ZERO } else { turned[(i, j)] });
        let none = Mat::zeros(n, 0);
        assert!(is_factor(made.as_ref()), "n = {n}");
        let error = backward_error(made.as_ref(), lower.as_ref(), none.as_ref(), &[]);
        assert!(error <= allowed(n, 0), "n = {n}: {error:.1} u");
        for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
            let (x, pivot) = (turned[(i, j)].c64(), turned[(j, j)].c64());
            let off = (made[(i, j)].c64() - x * pivot.conj() / pivot.norm()).norm();
            // A phase, its product, and their roundings, in each part.
            assert!(off <= 8.0 * T::ROUNDOFF * x.norm(), "{i}, {j}: {off:.1e}");
            if j % 2 == 0 && i > j {
                assert_eq!(made[(i, j)].c64(), x * exact[j / 2 % 4].conj(), "{i}, {j}: a turn that is exact");
            }
        }
    }
}

fn a_real_diagonal_changes_no_bit<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 2, 9, 70] {
        let l = narrow::<T>(&random_factor(n, &mut rng(6)));
        let made = Cholesky::from_factor_in(&l, engine.clone()).unwrap().to_factor().unwrap();
        assert_eq!(bits(made.as_ref()), bits(l.as_ref()));
    }
}

fn updates_of_nothing_make_a_factor<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [0, 1, 2, 5, 9, 33] {
        for k in [1, 2, 3, 8, 40] {
            let mut factor = Cholesky::zeros_in(n, engine.clone()).unwrap();
            if n > 0 {
                let refused = factor.solve(&Mat::<T>::zeros(n, 1)).err();
                assert_eq!(refused, Some(Error::Singular { column: 0 }));
            }
            let calls = n.div_ceil(k) + 2;
            let all = narrow::<T>(&uniform(n, calls * k, &mut rng(7)));
            for call in 0..calls {
                factor.update(all.subcols(call * k, k)).unwrap();
            }
            let made = factor.to_factor().unwrap();
            assert!(is_factor(made.as_ref()), "n = {n}, k = {k}");
            let wanted = Hermitian::product(&in_c64(all.as_ref()));
            let error = Hermitian::product(&in_c64(made.as_ref())).largest_difference(&wanted) / T::ROUNDOFF;
            assert!(error <= calls as f64 * allowed(n, k), "n = {n}, k = {k}: {error:.1} u");
        }
    }
    // A single column leaves zeros, with no imaginary parts either.
    let mut factor = Cholesky::<T, E>::zeros_in(3, engine.clone()).unwrap();
    let v = [c64::default(), c64::new(3.0, 4.0), c64::new(0.0, 2.0)].map(T::from_c64);
    factor.update(&v).unwrap();
    let made = in_c64(factor.to_factor().unwrap().as_ref());
    assert!((0..3).all(|j| made[(j, j)].im == 0.0));
    assert!((made[(1, 1)].re - 5.0).abs() <= 8.0 * 5.0 * T::ROUNDOFF, "{}", made[(1, 1)]);
    // 2 i (3 − 4 i) / 5
    assert!((made[(2, 1)] - c64::new(1.6, 1.2)).norm() <= 8.0 * 2.0 * T::ROUNDOFF, "{}", made[(2, 1)]);
}

fn a_clone_goes_on_by_itself<T: Complex, E: Engine<T> + Clone>(engine: &E)
where
    Cholesky<T, E>: Clone,
{
    for n in [1, 13, 16, 64] {
        let problem = Problem::<T>::feasible(n, 3, Kind::Mixed, 0.5, 8);
        let mut original = problem.factor(engine);
        let mut clone = original.clone();
        for factor in [&mut original, &mut clone] {
            factor.modify(&problem.v, &problem.weights).unwrap();
        }
        let made = original.to_factor().unwrap();
        assert_eq!(bits(made.as_ref()), bits(clone.to_factor().unwrap().as_ref()));
        clone.update(&problem.v).unwrap();
        assert_eq!(bits(original.to_factor().unwrap().as_ref()), bits(made.as_ref()));
        let ones = [T::part(1.0); 3];
        let now = clone.to_factor().unwrap();
        assert_contract(now.as_ref(), made.as_ref(), problem.v.as_ref(), &ones, "the clone");
    }
}

/// L is where `l` says, and its parts can be taken.
#[test]
fn what_the_cpu_engine_offers() {
    fn check<T: Complex>()
    where
        Cpu: Engine<T>,
    {
        let problem = Problem::<T>::feasible(9, 2, Kind::Up, 0.5, 1);
        for safeguard in [Safeguard::ShadowBuffer, Safeguard::DryRun, Safeguard::None] {
            let mut factor = problem.factor(&Cpu::sequential().with_safeguard(safeguard));
            factor.reserve(5).unwrap();
            factor.update(&problem.v).unwrap();
            assert!(factor.capacity() >= 14);
            let l = factor.to_factor().unwrap();
            assert_eq!(bits(factor.l()), bits(l.as_ref()));
            assert!(factor.error_estimate() >= T::ROUNDOFF);
            let log_det = factor.log_det().unwrap();
            assert!(log_det.f64().is_finite());
            assert_eq!(bits(factor.into_parts().0.as_ref()), bits(l.as_ref()));
        }
    }
    check::<c64>();
    check::<c32>();
}

#[test]
fn a_factor_can_be_printed() {
    let factor = Cholesky::new(&Mat::<c64>::identity(3, 3)).unwrap();
    assert!(format!("{factor:?}").contains("order: 3"));
}
