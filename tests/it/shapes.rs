//! Every accepted shape.

use crate::support::contract::Observed;
use crate::support::engines::sized;
use crate::support::problem::{Kind, Problem};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, Row};
use cholupdate::{Cholesky, Engine};

on_every_engine!(
    order_zero,
    order_one,
    rank_zero,
    rank_beyond_the_order,
    negative_diagonal_entries_are_turned,
    orders_of_every_stride,
);

fn order_zero<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let empty = Mat::<T>::zeros(0, 0);
    for mut factor in [
        Cholesky::new_in(&empty, engine.clone()).unwrap(),
        Cholesky::from_factor_in(&empty, engine.clone()).unwrap(),
    ] {
        for v in [Mat::<T>::zeros(0, 0), Mat::zeros(0, 3)] {
            let reports = [
                factor.update(&v).unwrap(),
                factor.downdate(&v).unwrap(),
                factor.modify(&v, &vec![-T::ONE; v.ncols()]).unwrap(),
            ];
            for report in reports {
                assert_eq!((report.min_pivot_ratio, report.log_det_change()), (1.0, 0.0));
            }
            assert!(factor.can_downdate(&v).unwrap());
        }
        assert_eq!(factor.order(), 0);
        assert_eq!(factor.log_det().unwrap(), T::ZERO);
        assert_eq!(factor.solve(&Mat::<T>::zeros(0, 2)).unwrap().shape(), (0, 2));
        assert_eq!(factor.to_factor().unwrap().shape(), (0, 0));
        assert_eq!(factor.reconstruct().unwrap().shape(), (0, 0));
    }
}

/// 3² + 4² = 5².
fn order_one<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let [three, four, five] = [3.0, 4.0, 5.0].map(T::of);
    let mut factor = Cholesky::new_in(&[three * three], engine.clone()).unwrap();
    let near = |factor: &Cholesky<T, E>, expected: T| {
        let l = factor.to_factor().unwrap()[(0, 0)];
        assert!((l.f64() - expected.f64()).abs() <= 4.0 * T::U * expected.f64(), "{l}, not {expected}");
    };
    near(&factor, three);
    factor.update(&[four]).unwrap();
    near(&factor, five);
    let x = factor.solve(&[five * five]).unwrap()[(0, 0)];
    assert!((x.f64() - 1.0).abs() <= 8.0 * T::U, "{x}, not 1");
    factor.downdate(&[four]).unwrap();
    near(&factor, three);
    factor.modify(&Row::from_fn(2, |r| [four, three][r]), &[T::ONE, -T::ONE]).unwrap();
    near(&factor, four);
}

fn rank_zero<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 9, 40] {
        let problem = Problem::<T>::feasible(n, 0, Kind::Up, 0.5, 1);
        let mut factor = problem.factor(engine);
        factor.update(&problem.v).unwrap();
        factor.downdate(&problem.v).unwrap();
        factor.modify(&problem.v, &[]).unwrap();
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(problem.l.as_ref()));
    }
}

fn rank_beyond_the_order<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(6.6);
    for (n, k) in [(1, 2), (1, 100), (3, 40), (9, 10), (16, 65), (40, 200)] {
        for kind in Kind::ALL {
            let problem = Problem::<T>::feasible(n, k, kind, 0.1, 2);
            let (new, _) = problem.modified(engine).unwrap();
            observed.check(new.as_ref(), &problem, kind);
        }
    }
}

fn negative_diagonal_entries_are_turned<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 8, 30] {
        let problem = Problem::<T>::feasible(n, 1, Kind::Up, 0.5, 7);
        let mut turned = problem.l.clone();
        for j in (0..n).step_by(3) {
            turned.col_mut(j).iter_mut().for_each(|x| *x = -*x);
        }
        let factor = Cholesky::from_factor_in(&turned, engine.clone()).unwrap().to_factor().unwrap();
        let same = (0..n).all(|j| (0..n).all(|i| factor[(i, j)] == problem.l[(i, j)]));
        assert!(same, "n = {n}");
    }
}

/// Orders around multiples of cache lines and large powers of two.
fn orders_of_every_stride<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(3.5);
    for n in sized([127, 128, 129, 255, 256, 257], [63, 64, 65, 127, 128, 129]) {
        let problem = Problem::<T>::feasible(n, 3, Kind::Mixed, 0.3, 8);
        let (new, _) = problem.modified(engine).unwrap();
        observed.check(new.as_ref(), &problem, "stride");
    }
}
