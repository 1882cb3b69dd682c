//! Sweeps of the resident engine with a V in device memory, which begin before it is known whether V is valid. They have the
//! results of a V in host memory, whose sweeps begin afterwards.

use crate::support::cuda::{device, resident};
use crate::support::problem::{Kind, Problem};
use crate::support::real::bits;
use cholupdate::cuda::{DeviceMatrix, Resident};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Error, Modification};

const ORDER: usize = 64 * 4 + 37;

/// A factor whose V are in device memory, and the same factor with V in host memory.
struct Both {
    here: Cholesky<f64, Resident>,
    there: Cholesky<f64, Resident>,
}

impl Both {
    fn new(problem: &Problem<f64>, engine: &Resident) -> Self {
        let factor = || Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
        Self { here: factor(), there: factor() }
    }

    fn are_equal(&self) {
        let [here, there] = [&self.here, &self.there].map(|factor| factor.to_factor().unwrap());
        assert!(bits(here.as_ref()) == bits(there.as_ref()));
    }

    fn modify(&mut self, v: &Mat<f64>, weight: f64) -> Result<Modification, Error> {
        let weights = vec![weight; v.ncols()];
        let on_device = DeviceMatrix::from_host(&device().unwrap(), v).unwrap();
        let outcome = self.there.modify(&on_device, &weights);
        assert_eq!(outcome, self.here.modify(v, &weights));
        self.are_equal();
        outcome
    }

    fn solve(&mut self, rhs: &Mat<f64>) {
        let [here, there] = [&self.here, &self.there].map(|factor| factor.solve(rhs).unwrap());
        assert!(bits(here.as_ref()) == bits(there.as_ref()));
    }
}

/// V of which the sweep that has begun cannot be used, and what comes next.
#[test]
fn what_has_begun_in_vain_leaves_no_trace() {
    let Some((_turn, engine)) = resident() else { return };
    let problem = Problem::<f64>::feasible(ORDER, 3, Kind::Up, 0.3, 71);
    let good = &problem.v;
    let with = |row: usize, x: f64| {
        let mut v = good.clone();
        v[(row, 1)] = x;
        v
    };
    let from_row = |first: usize| Mat::from_fn(ORDER, 3, |i, j| if i < first { 0.0 } else { good[(i, j)] });
    let far = Mat::from_fn(ORDER, 3, |i, j| 1e6 * good[(i, j)]);
    let mut both = Both::new(&problem, &engine);
    both.modify(good, 1.0).unwrap();
    let not_finite = Error::NonFinite { argument: "v", row: 200, column: 1 };
    let vain: [(&str, Mat<f64>, f64, Option<Error>); 7] = [
        ("not finite", with(200, f64::NAN), 1.0, Some(not_finite)),
        ("too large", with(5, 1e200), 1.0, Some(Error::Overflow { argument: "v" })),
        ("late", from_row(150), 1.0, None),
        ("later than any", from_row(ORDER - 1), 1.0, None),
        ("zero", Mat::zeros(ORDER, 3), 1.0, None),
        ("without weight", good.clone(), 0.0, None),
        ("sixteen columns after three", Problem::<f64>::feasible(ORDER, 16, Kind::Up, 0.3, 72).v, 1.0, None),
    ];
    for (name, v, weight, expected) in &vain {
        // So that the next sweep begins at once.
        for _ in 0..2 {
            both.modify(good, 1.0).unwrap();
        }
        assert_eq!(both.modify(v, *weight).err(), *expected, "{name}");
        both.solve(good);
        both.modify(good, -1.0).unwrap();
        both.modify(v, *weight).err();
    }
    both.modify(good, 1.0).unwrap();
    let broken = both.modify(&far, -1.0).unwrap_err();
    assert!(matches!(broken, Error::NotPositiveDefinite { .. }), "{broken:?}");
    both.modify(good, 1.0).unwrap();
}

/// Each of these uses or replaces the memory of a sweep that has begun and been refused.
#[test]
fn any_call_may_come_next() {
    let Some((_turn, engine)) = resident() else { return };
    let problem = Problem::<f64>::feasible(ORDER, 3, Kind::Up, 0.3, 73);
    let mut refused = problem.v.clone();
    refused[(100, 2)] = f64::INFINITY;
    type Call = fn(&mut Cholesky<f64, Resident>, &Mat<f64>);
    let calls: [(&str, Call); 7] = [
        ("remove", |factor, _| {
            factor.remove(&[3, 120]).unwrap();
        }),
        ("shift", |factor, _| {
            factor.shift(200, 10).unwrap();
        }),
        ("insert", |factor, _| {
            let column: Vec<f64> = (0..=ORDER).map(|i| if i == 70 { 1e3 } else { 0.1 }).collect();
            factor.insert(70, &column).unwrap();
        }),
        ("a forgetting factor", |factor, v| {
            factor.modify_scaled(0.5, v, &[1.0; 3]).unwrap();
        }),
        ("can_downdate", |factor, v| assert!(factor.can_downdate(v).unwrap())),
        ("wide", |factor, v| {
            factor.update(&Mat::from_fn(ORDER, 40, |i, j| v[(i, j % 3)])).unwrap();
        }),
        ("submit", |factor, v| core::mem::forget(factor.submit(v, &[0.5, 1.0, 0.25]).unwrap())),
    ];
    for (name, call) in calls {
        let mut both = Both::new(&problem, &engine);
        for _ in 0..2 {
            both.modify(&problem.v, 1.0).unwrap();
        }
        assert!(both.modify(&refused, 1.0).is_err(), "{name}");
        call(&mut both.here, &problem.v);
        call(&mut both.there, &problem.v);
        both.are_equal();
        let v = Mat::from_fn(both.here.order(), 2, |i, j| problem.v[(i % ORDER, j)]);
        both.modify(&v, 1.0).unwrap();
    }
    // The factor may go while the sweep is in flight.
    let mut both = Both::new(&problem, &engine);
    for _ in 0..2 {
        both.modify(&problem.v, 1.0).unwrap();
    }
    let on_device = DeviceMatrix::from_host(&device().unwrap(), &problem.v).unwrap();
    core::mem::forget(both.there.submit(&on_device, &[1.0; 3]).unwrap());
    drop(both);
}
