//! A modification does not depend on the order of its columns, on whether weights or columns are scaled, nor on zero rows of V.

use crate::support::contract::Observed;
use crate::support::engines::sized;
use crate::support::problem::{Kind, Problem};
use crate::support::real::{Real, bits};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Engine};

on_every_engine!(
    success_does_not_depend_on_the_order_of_the_columns,
    any_order_of_the_columns_meets_the_contract,
    weights_are_as_good_as_scaled_columns,
    columns_of_weight_zero_change_nothing,
    leading_zero_rows_leave_the_leading_columns,
    update_and_downdate_are_modify_with_unit_weights,
    v_is_left_alone,
);

/// A − v vᵀ is indefinite, A − v vᵀ + w wᵀ is not.
fn success_does_not_depend_on_the_order_of_the_columns<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(4.8);
    for n in [1, 2, 8, 30, 70] {
        let problem = Problem::<T>::feasible(n, 1, Kind::Up, 0.5, n as u64);
        let mut factor = problem.factor(engine);
        let v = &problem.v;
        // v far too large for a downdate, and w = 1.001 v to compensate.
        let too_large = T::of(1e3);
        let minus_first = Mat::from_fn(n, 2, |i, r| v[(i, 0)] * too_large * T::of([1.0, 1.001][r]));
        let plus_first = Mat::from_fn(n, 2, |i, r| minus_first[(i, 1 - r)]);
        assert!(!factor.can_downdate(minus_first.col(0)).unwrap());

        for (v, weights) in [(&minus_first, [-T::ONE, T::ONE]), (&plus_first, [T::ONE, -T::ONE])] {
            let mut factor = problem.factor(engine);
            factor.modify(v, &weights).unwrap();
            let new = factor.to_factor().unwrap();
            let problem = Problem { l: problem.l.clone(), v: v.clone(), weights: weights.to_vec() };
            observed.check(new.as_ref(), &problem, weights);
        }
    }
}

fn any_order_of_the_columns_meets_the_contract<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(3.0);
    let problem = Problem::<T>::feasible(60, 12, Kind::Mixed, 1e-3, 3);
    let Problem { l, v, weights } = &problem;
    for shift in 0..12 {
        let order: Vec<usize> = (0..12).map(|r| (r * 5 + shift) % 12).collect();
        let shuffled = Mat::from_fn(60, 12, |i, r| v[(i, order[r])]);
        let weights: Vec<T> = order.iter().map(|&r| weights[r]).collect();
        let problem = Problem { l: l.clone(), v: shuffled, weights };
        let (new, _) = problem.modified(engine).unwrap();
        observed.check(new.as_ref(), &problem, order);
    }
}

/// Powers of four: their roots are exact, so the results must have the same bits.
fn weights_are_as_good_as_scaled_columns<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 9, 64, 100] {
        let problem = Problem::<T>::feasible(n, 6, Kind::Mixed, 0.3, 4);
        let root = |r: usize| 2f64.powi(r as i32 - 3);
        let scaled = Mat::from_fn(n, 6, |i, r| problem.v[(i, r)] * T::of(1.0 / root(r)));
        let weights: Vec<T> = (0..6).map(|r| problem.weights[r] * T::of(root(r) * root(r))).collect();
        let (expected, report) = problem.modified(engine).unwrap();
        let weighted = Problem { l: problem.l.clone(), v: scaled, weights };
        let (got, weighted_report) = weighted.modified(engine).unwrap();
        assert_eq!(bits(got.as_ref()), bits(expected.as_ref()));
        assert_eq!(weighted_report, report);
    }
}

fn columns_of_weight_zero_change_nothing<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 8, 50] {
        let problem = Problem::<T>::feasible(n, 4, Kind::Mixed, 0.3, 5);
        let (expected, _) = problem.modified(engine).unwrap();
        // Every second column has weight zero, and is large.
        let padded = Problem {
            l: problem.l.clone(),
            v: Mat::from_fn(n, 8, |i, r| if r % 2 == 0 { problem.v[(i, r / 2)] } else { T::of(1e9) }),
            weights: (0..8).map(|r| if r % 2 == 0 { problem.weights[r / 2] } else { T::ZERO }).collect(),
        };
        assert_eq!(bits(padded.modified(engine).unwrap().0.as_ref()), bits(expected.as_ref()));

        let mut factor = problem.factor(engine);
        let report = factor.modify(&padded.v, &[T::ZERO; 8]).unwrap();
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(problem.l.as_ref()));
        assert_eq!((report.min_pivot_ratio, report.log_det_change()), (1.0, 0.0));
    }
}

fn leading_zero_rows_leave_the_leading_columns<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(5.1);
    for n in [1, 5, 16, 33, sized(100, 34)] {
        for k in [1, 2, 9] {
            for kind in Kind::ALL {
                for zeros in (0..=n).step_by(1 + n / 20) {
                    let mut problem = Problem::<T>::feasible(n, k, kind, 0.3, (n + k) as u64);
                    for i in 0..zeros {
                        problem.v.row_mut(i).fill(T::ZERO);
                    }
                    let (new, _) = problem.modified(engine).unwrap();
                    let leading = |l: &Mat<T>| bits(l.as_ref().subcols(0, zeros));
                    assert!(
                        leading(&new) == leading(&problem.l),
                        "{kind:?}, n = {n}, k = {k}: V starts at row {zeros}, but columns before it changed"
                    );
                    observed.check(new.as_ref(), &problem, (kind, zeros));
                }
            }
        }
    }
}

fn update_and_downdate_are_modify_with_unit_weights<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 8, 50, 90] {
        for k in [0, 1, 2, 8, 20] {
            let problem = Problem::<T>::feasible(n, k, Kind::Down, 0.3, 6);
            let weighted = |weight: T| {
                let mut factor = problem.factor(engine);
                let report = factor.modify(&problem.v, &vec![weight; k]).unwrap();
                (bits(factor.to_factor().unwrap().as_ref()), report)
            };
            let mut up = problem.factor(engine);
            let report = up.update(&problem.v).unwrap();
            assert_eq!((bits(up.to_factor().unwrap().as_ref()), report), weighted(T::ONE));
            let mut down = problem.factor(engine);
            let report = down.downdate(&problem.v).unwrap();
            assert_eq!((bits(down.to_factor().unwrap().as_ref()), report), weighted(-T::ONE));
        }
    }
}

fn v_is_left_alone<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let problem = Problem::<T>::feasible(40, 5, Kind::Mixed, 0.3, 7);
    let before = bits(problem.v.as_ref());
    let mut factor = Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
    factor.modify(&problem.v, &problem.weights).unwrap();
    factor.downdate(&(&problem.v * cholupdate::faer::Scale(T::of(1e3)))).unwrap_err();
    assert_eq!(bits(problem.v.as_ref()), before);
}
