//! Sweeps of the resident engine with a V in device memory, which begin before it is known whether V is valid. They have the
//! results of a V in host memory, whose sweeps begin afterwards.

#[cfg(target_os = "linux")]
use crate::support::cuda::fake_cuda;
use crate::support::cuda::{device, resident};
use crate::support::problem::{Kind, Problem};
use crate::support::real::bits;
use cholupdate::cuda::{DeviceMatrix, DeviceView, Resident};
use cholupdate::faer::{Mat, Scale};
use cholupdate::{Cholesky, Error, Modification};

const ORDER: usize = 64 * 4 + 37;

/// A factor whose V are in device memory, and the same factor with V in host memory.
struct Both {
    here: Factor,
    there: Factor,
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
    let overflow = || Some(Error::Overflow { argument: "v" });
    let largest = Mat::from_fn(ORDER, 3, |_, _| f64::MAX);
    let vain: [(&str, Mat<f64>, f64, Option<Error>); 8] = [
        ("not finite", with(200, f64::NAN), 1.0, Some(not_finite)),
        ("too large", with(5, 1e200), 1.0, overflow()),
        ("infinite with its weight", largest, 1e300, overflow()),
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

type Factor = Cholesky<f64, Resident>;
/// V is in device memory if the last argument is true.
type Call = fn(&mut Factor, &Mat<f64>, bool);

/// The value of an expression of V, which is in host memory or in device memory.
macro_rules! with {
    ($there:expr, $v:expr, |$operand:ident| $call:expr) => {
        if $there {
            let $operand = &DeviceMatrix::from_host(&device().unwrap(), $v).unwrap();
            $call
        } else {
            let $operand = $v;
            $call
        }
    };
}

const CALLS: [(&str, Call); 11] = [
    ("remove", |f, _, _| {
        f.remove(&[3, 120]).unwrap();
    }),
    ("shift", |f, _, _| {
        f.shift(200, 10).unwrap();
    }),
    ("insert", |f, _, _| {
        let column: Vec<f64> = (0..=ORDER).map(|i| if i == 70 { 1e3 } else { 0.1 }).collect();
        f.insert(70, &column).unwrap();
    }),
    ("reserve", |f, _, _| f.reserve(2 * ORDER).unwrap()),
    ("a forgetting factor", |f, v, there| {
        with!(there, v, |w| f.modify_scaled(0.5, w, &[1.0; 3])).unwrap();
    }),
    ("a downdate that would succeed", |f, v, there| {
        assert!(with!(there, v, |w| f.can_downdate(w)).unwrap());
    }),
    ("a downdate that would fail", |f, v, there| {
        let far = Mat::from_fn(ORDER, 3, |i, j| 1e6 * v[(i, j)]);
        assert!(!with!(there, &far, |w| f.can_downdate(w)).unwrap());
    }),
    ("one wide rank block", |f, v, there| {
        let wide = Mat::from_fn(ORDER, 20, |i, j| v[(i, j % 3)] / (1 + j) as f64);
        with!(there, &wide, |w| f.update(w)).unwrap();
    }),
    ("rank blocks of both signs", |f, v, there| {
        with!(there, v, |w| f.modify(w, &[1.0, -0.01, 1.0])).unwrap();
    }),
    ("submit and solve", |f, v, there| {
        let mut x = v.clone();
        let (modified, solved) = with!(there, v, |w| f.submit(w, &[1.0; 3]).unwrap().solve_in_place(&mut x));
        modified.unwrap();
        solved.unwrap();
        let expected = f.solve(v).unwrap();
        assert!(bits(x.as_ref()) == bits(expected.as_ref()));
    }),
    ("submit", |f, v, there| with!(there, v, |w| core::mem::forget(f.submit(w, &[0.5, 1.0, 0.25]).unwrap()))),
];

/// After sweeps that have been used, and after one that has not been.
#[test]
fn any_call_may_come_next() {
    let Some((_turn, engine)) = resident() else { return };
    let problem = Problem::<f64>::feasible(ORDER, 3, Kind::Up, 0.3, 73);
    let mut refused = problem.v.clone();
    refused[(100, 2)] = f64::INFINITY;
    for (name, call) in CALLS {
        for is_refused in [false, true] {
            let mut both = Both::new(&problem, &engine);
            for _ in 0..2 {
                both.modify(&problem.v, 1.0).unwrap();
            }
            if is_refused {
                assert!(both.modify(&refused, 1.0).is_err(), "{name}");
            }
            call(&mut both.here, &problem.v, false);
            call(&mut both.there, &problem.v, true);
            both.are_equal();
            let v = Mat::from_fn(both.here.order(), 2, |i, j| problem.v[(i % ORDER, j)]);
            both.modify(&v, 1.0).unwrap();
        }
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

/// Unlike [`Cholesky::update`], which waits for the sweep, `submit` has copied V when it returns.
#[test]
fn a_submitted_v_may_be_overwritten() {
    let Some((_turn, engine)) = resident() else { return };
    let problem = Problem::<f64>::feasible(ORDER, 3, Kind::Up, 0.3, 75);
    let tenfold = Mat::from_fn(ORDER, ORDER, |i, j| if i == j { 10.0 } else { 0.0 });
    let other = Cholesky::from_factor_in(&tenfold, engine.clone()).unwrap();
    let mut both = Both::new(&problem, &engine);
    for weight in [1.0, 0.25] {
        for _ in 0..2 {
            both.modify(&problem.v, weight).unwrap();
        }
        let mut v = DeviceMatrix::from_host(&device().unwrap(), &problem.v).unwrap();
        let pending = both.there.submit(&v, &[weight; 3]).unwrap();
        other.solve_in_place(&mut v).unwrap();
        pending.wait().unwrap();
        both.here.modify(&problem.v, &[weight; 3]).unwrap();
        both.are_equal();
        assert!((v.to_host().unwrap() * Scale(100.0) - &problem.v).norm_max() < 1e-14);
    }
}

/// V in memory of another library, with gaps between its columns.
#[test]
#[allow(unsafe_code, reason = "the memory is of the matrix beside the view")]
fn a_v_with_gaps_is_read_where_it_is() {
    let Some((_turn, engine)) = resident() else { return };
    let problem = Problem::<f64>::feasible(ORDER, 3, Kind::Up, 0.3, 76);
    let gaps =
        Mat::from_fn(ORDER + 5, 3, |i, j| if i < 2 { f64::NAN } else { problem.v[((i - 2) % ORDER, j)] });
    let v = gaps.subrows(2, ORDER).to_owned();
    let device = device().unwrap();
    let owner = DeviceMatrix::from_host(&device, &gaps).unwrap();
    let address = owner.view().address() + 16;
    // SAFETY: the last column begins after the second row of the matrix and ends within it.
    let view =
        unsafe { DeviceView::<f64>::from_raw(&device, address, (ORDER, 3), owner.view().stride()) }.unwrap();
    let mut both = Both::new(&problem, &engine);
    for weight in [1.0, 1.0, -1.0, 1.0, -1.0, -1.0] {
        let outcome = both.there.modify(&view, &[weight; 3]);
        assert_eq!(outcome, both.here.modify(&v, &[weight; 3]));
        both.are_equal();
    }
}

/// V that is valid, and refused because of L when its sweep has begun.
#[test]
fn what_l_refuses_leaves_no_trace() {
    let Some((_turn, engine)) = resident() else { return };
    let unit = |row: usize, x: f64| Mat::from_fn(ORDER, 1, |i, _| if i == row { x } else { 0.0 });
    let diagonal = |row: usize, x: f64| {
        Mat::from_fn(ORDER, ORDER, |i, j| match i == j {
            true if i == row => x,
            same => f64::from(u8::from(same)),
        })
    };
    let next: [(&str, Call); 6] = [
        ("nothing", |_, _, _| {}),
        ("remove", |f, _, _| drop(f.remove(&[3]).map(drop))),
        ("shift", |f, _, _| drop(f.shift(200, 150).map(drop))),
        ("solve", |f, v, _| drop(f.solve(v))),
        ("reserve", |f, _, _| f.reserve(2 * ORDER).unwrap()),
        ("update from the host", |f, v, _| drop(f.update(v).map(drop))),
    ];
    // An entry of A that would overflow; a downdate of a singular A.
    let large = (diagonal(0, 1.2e154), unit(0, 1e152), unit(0, 1e154), 1.0);
    let singular = (diagonal(100, 0.0), unit(0, 1.0), unit(0, 0.1), -1.0);
    for (l, good, bad, sign) in [large, singular] {
        for (name, call) in next {
            let problem = Problem { l: l.clone(), v: good.clone(), weights: vec![1.0] };
            let mut both = Both::new(&problem, &engine);
            for _ in 0..2 {
                both.modify(&good, 1.0).unwrap();
            }
            let refused = both.modify(&bad, sign).unwrap_err();
            assert!(
                matches!(refused, Error::Overflow { .. } | Error::Singular { column: 100 }),
                "{refused:?}"
            );
            call(&mut both.here, &good, false);
            call(&mut both.there, &good, true);
            both.are_equal();
            let v = Mat::from_fn(both.here.order(), 1, |i, _| if i < 3 { 0.5 } else { 0.0 });
            both.modify(&v, 1.0).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

/// The fake driver counts launches: a V that is refused takes one, and one more if its sweep has begun.
#[cfg(target_os = "linux")]
#[test]
fn only_sweeps_that_are_likely_to_be_used_begin_ahead() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let device = device().unwrap();
    let problem = Problem::<f64>::feasible(ORDER, 3, Kind::Up, 0.3, 74);
    let mut factor = Cholesky::from_factor_in(&problem.l, Resident::new(&device)).unwrap();
    let there = |cols: usize, first: usize, bad: bool| {
        let entry = |i: usize, j: usize| match (i, j) {
            (200, 0) if bad => f64::NAN,
            _ if i < first => 0.0,
            _ => problem.v[(i, j % 3)],
        };
        DeviceMatrix::from_host(&device, &Mat::from_fn(ORDER, cols, entry)).unwrap()
    };
    let launches = |factor: &mut Factor, cols| {
        let refused = there(cols, 0, true);
        fake.reset_stats();
        factor.update(&refused).unwrap_err();
        fake.stats().launches
    };
    factor.update(&problem.v).unwrap();
    assert_eq!(launches(&mut factor, 3), 1, "the first V there");
    factor.update(&there(3, 0, false)).unwrap();
    assert_eq!(launches(&mut factor, 3), 2, "after a V from the first row on");
    assert_eq!(launches(&mut factor, 3), 1, "after a refused V");
    factor.update(&there(3, 0, false)).unwrap();
    factor.update(&there(3, 150, false)).unwrap();
    assert_eq!(launches(&mut factor, 3), 1, "after a V with zeros in the first row block");
    factor.update(&there(3, 0, false)).unwrap();
    assert_eq!(launches(&mut factor, 40), 1, "two rank blocks");
}
