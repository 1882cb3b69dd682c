//! Arguments that are refused: the error names the argument and the place, and nothing is changed.

use crate::support::contract::Observed;
use crate::support::engines::{sized, steps};
use crate::support::problem::{Kind, Problem};
use crate::support::real::{Real, bits};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Cpu, Engine, Error, Workspace, modify_in_place};

on_every_engine!(
    wrong_shapes_are_named,
    non_finite_entries_of_v_are_found,
    non_finite_weights_are_found,
    non_finite_entries_of_a_and_l_are_found,
    non_finite_right_hand_sides_are_found,
    entries_whose_squares_overflow_are_refused,
    large_entries_within_the_limits_are_accepted,
    what_does_not_overflow_is_accepted,
    up_to_the_limits_the_contract_holds,
    heavy_rows_next_to_overflow_are_as_good_as_others,
    what_once_was_large_does_not_count,
    a_window_of_large_entries_does_not_overflow,
);

fn shape<T>(argument: &'static str, extent: &'static str, expected: usize, found: usize) -> Result<T, Error> {
    Err(Error::Shape { argument, extent, expected, found })
}

fn non_finite<T>(argument: &'static str, row: usize, column: usize) -> Result<T, Error> {
    Err(Error::NonFinite { argument, row, column })
}

fn not_finite<T: Real>() -> [T; 3] {
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(T::of)
}

/// Calls that must be refused leave this factor as it is.
#[track_caller]
fn refused<T: Real, E: Engine<T>>(
    factor: &mut Cholesky<T, E>,
    error: &Result<(), Error>,
    call: impl FnOnce(&mut Cholesky<T, E>) -> Result<(), Error>,
) {
    let before = bits(factor.to_factor().unwrap().as_ref());
    assert_eq!(&call(factor), error);
    assert!(bits(factor.to_factor().unwrap().as_ref()) == before, "a refused call changed the factor");
}

fn wrong_shapes_are_named<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (rows, columns) in [(3, 2), (2, 3), (0, 1), (1, 0)] {
        let a = Mat::<T>::from_fn(rows, columns, |_, _| T::of(f64::NAN));
        assert_eq!(Cholesky::new_in(&a, engine.clone()).map(|_| ()), shape("a", "columns", rows, columns));
        assert_eq!(
            Cholesky::from_factor_in(&a, engine.clone()).map(|_| ()),
            shape("l", "columns", rows, columns)
        );
    }
    let mut factor = Problem::<T>::feasible(5, 1, Kind::Up, 0.5, 1).factor(engine);
    for rows in [0, 1, 4, 6] {
        let v = Mat::<T>::zeros(rows, 2);
        let error = shape("v", "rows", 5, rows);
        refused(&mut factor, &error, |factor| factor.update(&v).map(drop));
        refused(&mut factor, &error, |factor| factor.downdate(&v).map(drop));
        refused(&mut factor, &error, |factor| factor.can_downdate(&v).map(drop));
        refused(&mut factor, &error, |factor| factor.modify(&v, &[T::ONE; 2]).map(drop));
        let error = shape("rhs", "rows", 5, rows);
        refused(&mut factor, &error, |factor| factor.solve(&v).map(drop));
        let mut rhs = Mat::from_fn(rows, 2, |i, _| T::of(i as f64));
        let before = bits(rhs.as_ref());
        refused(&mut factor, &error, |factor| factor.solve_in_place(&mut rhs));
        assert_eq!(bits(rhs.as_ref()), before);
    }
    for weights in [0, 1, 3] {
        let v = Mat::<T>::zeros(5, 2);
        refused(&mut factor, &shape("weights", "entries", 2, weights), |factor| {
            factor.modify(&v, &vec![T::ONE; weights]).map(drop)
        });
    }
}

fn non_finite_entries_of_v_are_found<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(1, 1), (9, 1), (9, 4), (40, 17)] {
        let problem = Problem::<T>::feasible(n, k, Kind::Down, 0.5, 2);
        let mut factor = problem.factor(engine);
        for bad in not_finite::<T>() {
            for (row, column) in [(0, 0), (n - 1, k - 1), (n / 2, k / 2), (n - 1, 0), (0, k - 1)] {
                let mut v = problem.v.clone();
                v[(row, column)] = bad;
                v[(n - 1, k - 1)] = bad;
                let error = non_finite("v", row, column);
                // Row-major as well: another path through the check.
                let rows_first = v.transpose().to_owned();
                refused(&mut factor, &error, |factor| factor.update(&v).map(drop));
                refused(&mut factor, &error, |factor| factor.update(rows_first.transpose()).map(drop));
                refused(&mut factor, &error, |factor| factor.downdate(&v).map(drop));
                refused(&mut factor, &error, |factor| factor.can_downdate(&v).map(drop));
                refused(&mut factor, &error, |factor| factor.modify(&v, &problem.weights).map(drop));
                // Not even where its weight is zero.
                refused(&mut factor, &error, |factor| factor.modify(&v, &vec![T::ZERO; k]).map(drop));
            }
        }
    }
}

fn non_finite_weights_are_found<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let problem = Problem::<T>::feasible(10, 5, Kind::Mixed, 0.5, 3);
    let mut factor = problem.factor(engine);
    for bad in not_finite::<T>() {
        for at in 0..5 {
            let mut weights = problem.weights.clone();
            weights[at] = bad;
            weights[4] = bad;
            refused(&mut factor, &non_finite("weights", at, 0), |factor| {
                factor.modify(&problem.v, &weights).map(drop)
            });
        }
    }
}

fn non_finite_entries_of_a_and_l_are_found<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 2, 9, 40] {
        let identity = Mat::<T>::identity(n, n);
        for bad in not_finite::<T>() {
            for (row, column) in [(0, 0), (n - 1, 0), (n - 1, n - 1), (n / 2, n / 2), (n - 1, n / 2)] {
                let mut a = identity.clone();
                a[(row, column)] = bad;
                a[(n - 1, n - 1)] = bad;
                assert_eq!(Cholesky::new_in(&a, engine.clone()).map(drop), non_finite("a", row, column));
                assert_eq!(
                    Cholesky::from_factor_in(&a, engine.clone()).map(drop),
                    non_finite("l", row, column)
                );
            }
        }
    }
}

fn non_finite_right_hand_sides_are_found<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let problem = Problem::<T>::feasible(12, 3, Kind::Up, 0.5, 4);
    let mut factor = problem.factor(engine);
    for bad in not_finite::<T>() {
        for (row, column) in [(0, 0), (11, 0), (5, 1), (11, 2)] {
            let mut rhs = problem.v.clone();
            rhs[(row, column)] = bad;
            rhs[(11, 2)] = bad;
            let before = bits(rhs.as_ref());
            let error = non_finite("rhs", row, column);
            refused(&mut factor, &error, |factor| factor.solve(&rhs).map(drop));
            refused(&mut factor, &error, |factor| factor.solve_in_place(&mut rhs));
            assert_eq!(bits(rhs.as_ref()), before);
        }
    }
}

/// The largest finite number, and a number whose square is beyond it.
fn too_large<T: Real>() -> [T; 2] {
    if T::U < 1e-10 { [f64::MAX, 1e160].map(T::of) } else { [f32::MAX.into(), 1e20].map(T::of) }
}

fn entries_whose_squares_overflow_are_refused<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let overflow = |argument| Err(Error::Overflow { argument });
    for n in [1, 8, 20] {
        let problem = Problem::<T>::feasible(n, 2, Kind::Mixed, 0.5, 5);
        let mut factor = problem.factor(engine);
        for large in too_large::<T>() {
            let mut v = problem.v.clone();
            v[(n - 1, 1)] = large;
            refused(&mut factor, &overflow("v"), |factor| factor.update(&v).map(drop));
            refused(&mut factor, &overflow("v"), |factor| factor.downdate(&v).map(drop));
            refused(&mut factor, &overflow("v"), |factor| factor.can_downdate(&v).map(drop));
            refused(&mut factor, &overflow("v"), |factor| factor.modify(&v, &problem.weights).map(drop));

            let mut l = problem.l.clone();
            l[(n - 1, 0)] = large;
            assert_eq!(Cholesky::from_factor_in(&l, engine.clone()).map(drop), overflow("l"));
        }
        let mut a = Mat::<T>::identity(n, n);
        a[(n - 1, n - 1)] = too_large::<T>()[0];
        assert_eq!(Cholesky::new_in(&a, engine.clone()).map(drop), overflow("a"));

        // √|w| v must stay small.
        let v = Mat::from_fn(n, 2, |_, _| T::of(1e15));
        let weights = [T::ONE, too_large::<T>()[0]];
        refused(&mut factor, &overflow("v"), |factor| factor.modify(&v, &weights).map(drop));
    }
}

fn large_entries_within_the_limits_are_accepted<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let large = T::of(if T::U < 1e-10 { 1e148 } else { 1e16 });
    let mut factor = Cholesky::from_factor_in(&Mat::<T>::identity(9, 9), engine.clone()).unwrap();
    let v = Mat::from_fn(9, 9, |i, j| if i >= j { large } else { T::ZERO });
    factor.update(&v).unwrap();
    factor.downdate(&v).map(drop).unwrap_err();
    // A tiny weight makes room for a large V.
    factor.modify(&[large * T::of(100.0); 9], &[T::of(1e-4)]).unwrap();
    assert!(factor.to_factor().unwrap()[(8, 0)].f64() >= large.f64());
}

fn what_does_not_overflow_is_accepted<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let (a, v) = if T::U < 1e-10 { (1.1e308, 7e153) } else { (2e38, 1e19) };
    let diagonal = |x: f64| Mat::from_fn(2, 2, |i, j| if i == j { T::of(x) } else { T::ZERO });
    let mut of_a = Cholesky::new_in(&diagonal(a), engine.clone()).unwrap();
    let mut of_l = Cholesky::from_factor_in(&diagonal(a.sqrt()), engine.clone()).unwrap();
    for factor in [&mut of_a, &mut of_l] {
        factor.update(&[T::of(v), T::ZERO]).unwrap();
        let expected = [(a + v * v).sqrt(), a.sqrt()];
        let is = |factor: &Cholesky<T, E>, expected: [f64; 2]| {
            let l = factor.to_factor().unwrap();
            for (i, expected) in expected.into_iter().enumerate() {
                let off = (l[(i, i)].f64() / expected - 1.0).abs();
                assert!(off <= 4.0 * T::U, "{i}: {:?}, not {expected:e}", l[(i, i)]);
            }
        };
        is(factor, expected);
        assert!(
            factor.reconstruct().unwrap().as_ref().is_all_finite() && factor.error_estimate() < 10.0 * T::U
        );
        factor.downdate(&[T::of(v), T::ZERO]).unwrap();
        is(factor, [a.sqrt(); 2]);
        let before = bits(factor.to_factor().unwrap().as_ref());
        let refused = factor.update(&[T::of(2.0 * v), T::ZERO]).unwrap_err();
        assert_eq!(refused, Error::Overflow { argument: "v" });
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), before);
    }
}

/// Scaled by powers of two, which is exact, so that squares are close to overflow.
fn up_to_the_limits_the_contract_holds<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(10.0);
    for n in [1, 9, sized(70, 40)] {
        for k in [1, 2, 5, 17] {
            for kind in Kind::ALL {
                let problem = Problem::<T>::feasible(n, k, kind, 1e-2, (n + k) as u64);
                let largest = |a: &Mat<T>| a.norm_max().f64();
                let of_v = k as f64 * largest(&problem.v).powi(2);
                let squares = of_v + n as f64 * largest(&problem.l).powi(2);
                let scale = T::of((((0.9 * T::MOST).log2() - squares.log2()) / 2.0).floor().exp2());
                let scaled =
                    |a: &Mat<T>, scale: T| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] * scale);
                let large = Problem {
                    l: scaled(&problem.l, scale),
                    v: scaled(&problem.v, scale),
                    weights: problem.weights.clone(),
                };
                let (new, report) = large.modified(engine).unwrap();
                assert!(report.log_det_change().is_finite());
                observed.check(scaled(&new, T::ONE / scale).as_ref(), &problem, (n, k, kind));
            }
        }
    }
}

/// Interchanged columns of L and V, where twice the square of the new pivot overflows.
fn heavy_rows_next_to_overflow_are_as_good_as_others<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut observed = Observed::recorded(10.0);
    let size = if T::U < 1e-10 { 2.0f64.powi(509) } else { 2.0f64.powi(61) };
    let rows: [(&[f64], &[f64]); 3] = [
        (&[3.5, 3.5, 3.5, 3.5], &[3.5, -3.5, 2.0, 0.5]),
        (&[4.25, 3.5, 3.0], &[1.5, -3.5, 2.0]),
        (&[7.0], &[-2.5]),
    ];
    for (at, (first, second)) in rows.into_iter().enumerate() {
        let k = first.len();
        for n in [2, 150] {
            let l = Mat::from_fn(n, n, |i, j| match (i, j) {
                (1, 0) => 1.0,
                (i, j) => f64::from(u8::from(i == j)),
            });
            let v = Mat::from_fn(n, k, |i, r| match i {
                0 => first[r],
                1 => second[r],
                _ => 0.0,
            });
            let scaled = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] * size);
            let small = Problem::<T>::new(&l, &v, &vec![1.0; k]);
            let large = Problem::<T>::new(&scaled(&l), &scaled(&v), &vec![1.0; k]);
            let mut factor = large.factor(engine);
            let down = |l: &Mat<T>| Mat::from_fn(n, n, |i, j| T::of(l[(i, j)].f64() / size));
            factor.update(&large.v).unwrap();
            let new = down(&factor.to_factor().unwrap());
            observed.check(new.as_ref(), &small, (n, at));
            factor.downdate(&large.v).unwrap();
            let back = Problem { l: new, v: small.v.clone(), weights: vec![-T::ONE; k] };
            observed.check(down(&factor.to_factor().unwrap()).as_ref(), &back, (n, at, "back"));
        }
    }
}

/// The current L decides, however large its rows were before.
fn what_once_was_large_does_not_count<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let (a, v) = if T::U < 1e-10 { (1.1e308, 7e153) } else { (2e38, 1e19) };
    let diagonal = Mat::from_fn(2, 2, |i, j| if i == j { T::of(a) } else { T::ZERO });
    let mut factor = Cholesky::new_in(&diagonal, engine.clone()).unwrap();
    for _ in 0..5 {
        factor.update(&[T::of(v), T::ZERO]).unwrap();
        factor.downdate(&[T::of(v), T::ZERO]).unwrap();
    }
}

/// Rows that are added and removed: the current factor decides, not an earlier one.
fn a_window_of_large_entries_does_not_overflow<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let large = T::of(if T::U < 1e-10 { 1e148 } else { 1e16 });
    let mut factor = Cholesky::from_factor_in(&[large], engine.clone()).unwrap();
    for step in 0..steps::<E>(40_000) {
        if let Err(error) = factor.modify(&[large], &[T::ONE]).and_then(|_| factor.downdate(&[large])) {
            panic!("step {step}: {error}, where L = {:?}", factor.to_factor().unwrap()[(0, 0)]);
        }
    }
}

#[test]
fn in_place_the_same_arguments_are_refused() {
    let problem = Problem::<f64>::feasible(6, 2, Kind::Mixed, 0.5, 6);
    let before = bits(problem.l.as_ref());
    let mut l = problem.l.clone();
    let mut check = |v: &Mat<f64>, weights: &[f64], error: Result<(), Error>| {
        let mut workspace = Workspace::new();
        let got = modify_in_place(l.as_mut(), v, weights, &Cpu::default(), &mut workspace).map(drop);
        assert_eq!(got, error);
        assert_eq!(bits(l.as_ref()), before);
    };
    check(&Mat::zeros(5, 2), &[1.0, 1.0], shape("v", "rows", 6, 5));
    check(&problem.v, &[1.0], shape("weights", "entries", 2, 1));
    check(&problem.v, &[1.0, f64::NAN], non_finite("weights", 1, 0));
    let mut v = problem.v.clone();
    v[(3, 1)] = f64::INFINITY;
    check(&v, &problem.weights, non_finite("v", 3, 1));
    v[(3, 1)] = 1e200;
    check(&v, &problem.weights, Err(Error::Overflow { argument: "v" }));

    let mut wide = Mat::<f64>::identity(3, 4);
    let got = modify_in_place(wide.as_mut(), &[0.0; 3], &[1.0], &Cpu::default(), &mut Workspace::new());
    assert_eq!(got.map(drop), shape("l", "columns", 3, 4));
}

#[test]
fn errors_say_what_is_wrong_in_words() {
    let say = |error: Result<Cholesky<f64>, Error>| error.err().unwrap().to_string();
    assert_eq!(say(Cholesky::new(&Mat::zeros(2, 3))), "`a`: the number of columns is 3, expected 2");
    assert_eq!(say(Cholesky::new(&[f64::NAN])), "`a` is not finite at (0, 0)");
    assert!(say(Cholesky::new(&[f64::MAX])).contains("`a`"));
    assert!(say(Cholesky::new(&[-1.0])).contains("column 0"));
}
