//! Arguments that are refused: the error names the argument and the place, whichever part of an entry is wrong, and nothing is
//! changed.

use super::problem::{Kind, Problem};
use super::scalar::{Complex, bits, in_c64, is_double, narrow};
use cholupdate::faer::{Mat, c64};
use cholupdate::{Carried, Cholesky, Engine, Error};

on_every_cpu!(
    wrong_shapes_are_named,
    non_finite_entries_of_v_are_found,
    non_finite_weights_and_decays_are_found,
    non_finite_entries_of_a_and_l_are_found,
    imaginary_parts_of_the_diagonal_of_a_are_not_read,
    non_finite_right_hand_sides_are_found,
    non_finite_rows_are_found,
    entries_whose_squares_overflow_are_refused,
    large_entries_within_the_limits_are_accepted,
);

fn shape<X>(argument: &'static str, extent: &'static str, expected: usize, found: usize) -> Result<X, Error> {
    Err(Error::Shape { argument, extent, expected, found })
}

fn non_finite<X>(argument: &'static str, row: usize, column: usize) -> Result<X, Error> {
    Err(Error::NonFinite { argument, row, column })
}

/// Not finite in the real part, in the imaginary part, or in both.
fn not_finite<T: Complex>() -> impl Iterator<Item = T> {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    bad.into_iter()
        .flat_map(|bad| [c64::new(bad, 0.5), c64::new(0.5, bad), c64::new(bad, -bad)].map(T::from_c64))
}

/// Calls that must be refused leave this factor as it is.
#[track_caller]
fn refused<T: Complex, E: Engine<T>>(
    factor: &mut Cholesky<T, E>,
    error: &Result<(), Error>,
    call: impl FnOnce(&mut Cholesky<T, E>) -> Result<(), Error>,
) {
    let before = bits(factor.to_factor().unwrap().as_ref());
    assert_eq!(&call(factor), error);
    assert!(bits(factor.to_factor().unwrap().as_ref()) == before, "a refused call changed the factor");
}

fn wrong_shapes_are_named<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for (rows, columns) in [(3, 2), (2, 3), (0, 1), (1, 0)] {
        let a = Mat::<T>::zeros(rows, columns);
        assert_eq!(Cholesky::new_in(&a, engine.clone()).map(drop), shape("a", "columns", rows, columns));
        let of_factor = Cholesky::from_factor_in(&a, engine.clone()).map(drop);
        assert_eq!(of_factor, shape("l", "columns", rows, columns));
    }
    let mut factor = Problem::<T>::feasible(5, 1, Kind::Up, 0.5, 1).factor(engine);
    for rows in [0, 1, 4, 6] {
        let v = Mat::<T>::zeros(rows, 2);
        let error = shape("v", "rows", 5, rows);
        refused(&mut factor, &error, |factor| factor.update(&v).map(drop));
        refused(&mut factor, &error, |factor| factor.downdate(&v).map(drop));
        refused(&mut factor, &error, |factor| factor.can_downdate(&v).map(drop));
        refused(&mut factor, &error, |factor| factor.modify(&v, &[T::part(1.0); 2]).map(drop));
        refused(&mut factor, &shape("rhs", "rows", 5, rows), |factor| factor.solve(&v).map(drop));
        refused(&mut factor, &shape("rhs", "rows", 5, rows), |factor| factor.solve_l(&v).map(drop));
        refused(&mut factor, &shape("rhs", "rows", 5, rows), |factor| factor.solve_lt(&v).map(drop));
        refused(&mut factor, &shape("x", "rows", 5, rows), |factor| factor.multiply(&v).map(drop));
        refused(&mut factor, &shape("cross", "rows", 5, rows), |factor| {
            factor.append(&v, &Mat::<T>::identity(2, 2)).map(drop)
        });
        let mut rhs = Mat::from_fn(rows, 2, |i, _| T::from_real(i as f64));
        refused(&mut factor, &shape("rhs", "rows", 5, rows), |factor| factor.solve_in_place(&mut rhs));
    }
    for weights in [0, 1, 3] {
        let v = Mat::<T>::zeros(5, 2);
        refused(&mut factor, &shape("weights", "entries", 2, weights), |factor| {
            factor.modify(&v, &vec![T::part(1.0); weights]).map(drop)
        });
    }
}

fn non_finite_entries_of_v_are_found<T: Complex, E: Engine<T> + Clone>(engine: &E) {
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
                refused(&mut factor, &error, |factor| factor.modify(&v, &vec![T::part(0.0); k]).map(drop));
            }
        }
    }
}

fn non_finite_weights_and_decays_are_found<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let problem = Problem::<T>::feasible(10, 5, Kind::Mixed, 0.5, 3);
    let mut factor = problem.factor(engine);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for at in 0..5 {
            let mut weights = problem.weights.clone();
            weights[at] = T::part(bad);
            weights[4] = T::part(bad);
            let error = non_finite("weights", at, 0);
            refused(&mut factor, &error, |factor| factor.modify(&problem.v, &weights).map(drop));
            refused(&mut factor, &error, |factor| {
                factor.modify_scaled(T::part(0.5), &problem.v, &weights).map(drop)
            });
        }
    }
    let range = Err(Error::OutOfRange { argument: "decay", rule: "positive and at most 1" });
    for decay in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY] {
        refused(&mut factor, &range, |factor| {
            factor.modify_scaled(T::part(decay), &problem.v, &problem.weights).map(drop)
        });
    }
}

fn non_finite_entries_of_a_and_l_are_found<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 2, 9, 40] {
        let identity = Mat::<T>::identity(n, n);
        for bad in not_finite::<T>() {
            for (row, column) in [(n - 1, 0), (n - 1, n / 2), (n / 2, 0)] {
                let mut a = identity.clone();
                a[(row, column)] = bad;
                if row > column {
                    a[(column, row)] = T::from_c64(c64::new(f64::NAN, f64::NAN));
                    let found = Cholesky::new_in(&a, engine.clone()).map(drop);
                    assert_eq!(found, non_finite("a", row, column));
                }
                let found = Cholesky::from_factor_in(&a, engine.clone()).map(drop);
                assert_eq!(found, non_finite("l", row, column));
            }
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in [0, n / 2, n - 1] {
                let mut a = identity.clone();
                a[(at, at)] = T::from_real(bad);
                assert_eq!(Cholesky::new_in(&a, engine.clone()).map(drop), non_finite("a", at, at));
                assert_eq!(Cholesky::from_factor_in(&a, engine.clone()).map(drop), non_finite("l", at, at));
            }
        }
    }
}

fn imaginary_parts_of_the_diagonal_of_a_are_not_read<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 2, 9, 40, 130] {
        let l = in_c64(Problem::<T>::feasible(n, 0, Kind::Up, 0.5, 4).l.as_ref());
        let a = &l * l.adjoint();
        let real =
            narrow::<T>(&Mat::from_fn(n, n, |i, j| if i == j { a[(i, i)].re.into() } else { a[(i, j)] }));
        let wanted = Cholesky::new_in(&real, engine.clone()).unwrap().to_factor().unwrap();
        for part in [1e-3, -1e3, f64::NAN, f64::INFINITY] {
            let other = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Equal => T::from_c64(c64::new(real[(i, i)].c64().re, part)),
                // Nor is anything above the diagonal.
                std::cmp::Ordering::Less => T::from_c64(c64::new(f64::NAN, part)),
                std::cmp::Ordering::Greater => real[(i, j)],
            });
            let made = Cholesky::new_in(&other, engine.clone()).unwrap().to_factor().unwrap();
            assert!(bits(made.as_ref()) == bits(wanted.as_ref()), "n = {n}, {part}");
        }
    }
}

fn non_finite_right_hand_sides_are_found<T: Complex, E: Engine<T> + Clone>(engine: &E) {
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
            refused(&mut factor, &error, |factor| factor.solve_l(&rhs).map(drop));
            refused(&mut factor, &error, |factor| factor.solve_lt(&rhs).map(drop));
            refused(&mut factor, &error, |factor| factor.solve_in_place(&mut rhs));
            assert_eq!(bits(rhs.as_ref()), before);
            let error = non_finite("x", row, column);
            refused(&mut factor, &error, |factor| factor.multiply(&rhs).map(drop));
            refused(&mut factor, &error, |factor| factor.multiply_lt_in_place(&mut rhs));
            assert_eq!(bits(rhs.as_ref()), before);
            let mut carried = Carried::new(&factor, &problem.v, &[T::part(1e3); 3]).unwrap();
            let (untouched, ones) = (carried.clone(), [T::part(1.0); 3]);
            let mut y = Mat::<T>::identity(3, 3);
            y[(row % 3, column)] = bad;
            let error = non_finite("y", row % 3, column);
            refused(&mut factor, &error, |factor| {
                factor.modify_carrying(T::part(1.0), &problem.v, &ones, &y, &mut carried).map(drop)
            });
            assert!(carried == untouched);
        }
    }
}

fn non_finite_rows_are_found<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut factor = Problem::<T>::feasible(6, 1, Kind::Up, 0.5, 5).factor(engine);
    for bad in not_finite::<T>() {
        let mut columns = Mat::<T>::identity(8, 2);
        (columns[(0, 0)], columns[(1, 1)]) = (T::ONE, T::ONE);
        columns[(4, 1)] = bad;
        refused(&mut factor, &non_finite("columns", 4, 1), |factor| factor.insert(0, &columns).map(drop));
        let cross = columns.subrows(2, 6).to_owned();
        let corner = Mat::<T>::identity(2, 2);
        refused(&mut factor, &non_finite("cross", 2, 1), |factor| factor.append(&cross, &corner).map(drop));
        let mut corner = corner;
        corner[(1, 0)] = bad;
        let cross = Mat::<T>::zeros(6, 2);
        refused(&mut factor, &non_finite("corner", 1, 0), |factor| factor.append(&cross, &corner).map(drop));
        // What is above its diagonal does not count.
        corner[(1, 0)] = T::ZERO;
        corner[(0, 1)] = bad;
        factor.append(&cross, &corner).unwrap();
        factor.remove(&[6, 7]).unwrap();
    }
}

fn entries_whose_squares_overflow_are_refused<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let overflow = |argument| Err(Error::Overflow { argument });
    let sizes = if is_double::<T>() { [1.7e308, 1e160] } else { [3.3e38, 1e20] };
    for n in [1, 8, 20] {
        let problem = Problem::<T>::feasible(n, 2, Kind::Mixed, 0.5, 5);
        let mut factor = problem.factor(engine);
        for large in sizes {
            for large in
                [c64::new(large, 0.0), c64::new(0.0, -large), c64::new(large, large)].map(T::from_c64)
            {
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
        }
        let mut a = Mat::<T>::identity(n, n);
        a[(n - 1, n - 1)] = T::from_real(sizes[0]);
        assert_eq!(Cholesky::new_in(&a, engine.clone()).map(drop), overflow("a"));
        // √|w| v must stay small.
        let v = Mat::from_fn(n, 2, |_, _| T::from_c64(c64::new(0.0, 1e15)));
        let weights = [T::part(1.0), T::part(sizes[0])];
        refused(&mut factor, &overflow("v"), |factor| factor.modify(&v, &weights).map(drop));
    }
}

fn large_entries_within_the_limits_are_accepted<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let size = if is_double::<T>() { 1e148 } else { 1e16 };
    let large = T::from_c64(c64::new(size, -size));
    let mut factor = Cholesky::from_factor_in(&Mat::<T>::identity(9, 9), engine.clone()).unwrap();
    let v = Mat::from_fn(9, 9, |i, j| if i >= j { large } else { T::ZERO });
    factor.update(&v).unwrap();
    factor.downdate(&v).map(drop).unwrap_err();
    // A tiny weight makes room for a large V.
    factor.modify(&[T::from_c64(c64::new(0.0, 100.0 * size)); 9], &[T::part(1e-4)]).unwrap();
    assert!(factor.to_factor().unwrap()[(8, 0)].c64().norm() >= size);
}
