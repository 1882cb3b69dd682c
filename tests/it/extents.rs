//! Shapes that exceed any memory. A view may have any shape, with strides of 0 or without rows.

use crate::support::problem::{Kind, Problem};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Carried, Cholesky, Cpu, Engine, Error, Weights, Workspace, factorize, modify_in_place};

on_every_engine!(
    without_rows_any_number_of_columns_is_done,
    more_columns_than_memory_could_hold_are_refused,
    more_rows_than_memory_could_hold_are_refused,
    room_that_there_cannot_be_is_refused,
);

/// Beyond an address space of 47 bits, for three rows.
const WIDE: [usize; 3] = [1 << 44, 1 << 60, usize::MAX];

fn is_too_large<R: core::fmt::Debug>(argument: &'static str, outcome: Result<R, Error>) {
    let rule = "small enough for the memory that there is";
    assert_eq!(outcome.unwrap_err(), Error::OutOfRange { argument, rule });
}

fn without_rows_any_number_of_columns_is_done<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let empty = || Cholesky::<T, E>::from_factor_in(&Mat::<T>::new(), engine.clone()).unwrap();
    let one = T::ONE;
    for columns in WIDE {
        let v = MatRef::from_repeated_ref(&one, 0, columns);
        let mut factor = empty();
        for report in [
            factor.update(v).unwrap(),
            factor.downdate(v).unwrap(),
            factor.modify_scaled(T::of(0.5), v, Weights::Plus).unwrap(),
            factor.submit(v, Weights::Minus).unwrap().wait().unwrap(),
        ] {
            assert_eq!((report.min_pivot_ratio, report.log_det_change()), (1.0, 0.0));
        }
        assert!(factor.can_downdate(v).unwrap());
        assert_eq!(factor.solve(v).unwrap().shape(), (0, columns));
        assert_eq!(factor.solve_l(v).unwrap().shape(), (0, columns));
        assert_eq!(factor.solve_lt(v).unwrap().shape(), (0, columns));
        let mut rhs = factor.solve(v).unwrap();
        factor.solve_in_place(&mut rhs).unwrap();
        let (modified, solved) = factor.submit(v, Weights::Plus).unwrap().solve_in_place(&mut rhs);
        assert!(modified.is_ok() && solved.is_ok());
        let extension = factor.extension(&Mat::<T>::new(), &Mat::<T>::new()).unwrap();
        assert_eq!(extension.solve(v).unwrap().shape(), (0, columns));
    }
}

fn more_columns_than_memory_could_hold_are_refused<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let problem = Problem::<T>::feasible(3, 1, Kind::Up, 0.5, 1);
    let mut factor = problem.factor(engine);
    let before = bits(factor.to_factor().unwrap().as_ref());
    let zero = T::ZERO;
    for columns in WIDE {
        let v = MatRef::from_repeated_ref(&zero, 3, columns);
        is_too_large("v", factor.update(v));
        is_too_large("v", factor.downdate(v));
        is_too_large("v", factor.modify(v, Weights::Plus));
        is_too_large("v", factor.modify_scaled(T::of(0.5), v, Weights::Plus));
        is_too_large("v", factor.submit(v, Weights::Minus).map(drop));
        is_too_large("v", factor.can_downdate(v));
        let mut carried = Carried { z: Mat::<T>::zeros(3, 0), squares: vec![] };
        let y = MatRef::from_repeated_ref(&zero, columns, 0);
        let scaled = factor.modify_carrying(T::ONE, v, Weights::Plus, y, &mut carried);
        is_too_large("v", scaled);
        is_too_large("rhs", factor.solve(v));
        is_too_large("rhs", factor.solve_l(v));
        let corner = MatRef::from_repeated_ref(&zero, columns, columns);
        is_too_large("corner", factor.append(v, corner));
        is_too_large("corner", factor.extension(v, corner).map(drop));
        if let Some(rows) = columns.checked_add(3) {
            is_too_large("columns", factor.insert(1, MatRef::from_repeated_ref(&zero, rows, columns)));
        }
        assert!(matches!(factor.replace(0, v), Err(Error::Shape { argument: "columns", .. })));
        assert!(matches!(Carried::new(&factor, v, &[zero]), Err(Error::Shape { argument: "sums", .. })));
    }
    assert!(bits(factor.to_factor().unwrap().as_ref()) == before);
    factor.update(&problem.v).unwrap();
}

fn more_rows_than_memory_could_hold_are_refused<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let one = T::ONE;
    for order in [1 << 24, 1 << 34, 1 << 60, usize::MAX] {
        let a = MatRef::from_repeated_ref(&one, order, order);
        is_too_large("a", Cholesky::new_in(a, engine.clone()).map(drop));
        is_too_large("l", Cholesky::from_factor_in(a, engine.clone()).map(drop));
        is_too_large("order", Cholesky::<T, E>::zeros_in(order, engine.clone()).map(drop));
        is_too_large("a", factorize::factorize(a, &factorize::Method::default()).map(drop));
    }
}

fn room_that_there_cannot_be_is_refused<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let problem = Problem::<T>::feasible(3, 1, Kind::Down, 0.5, 1);
    let mut factor = problem.factor(engine);
    factor.downdate(&problem.v).unwrap();
    let before = (factor.capacity(), bits(factor.to_factor().unwrap().as_ref()));
    let rule = "few enough for an address space";
    for additional in [1 << 32, 1 << 40, usize::MAX / 4, usize::MAX / 2, usize::MAX] {
        let refused = factor.reserve(additional).unwrap_err();
        assert_eq!(refused, Error::OutOfRange { argument: "additional", rule }, "{additional}");
    }
    assert!(factor.reserve(1 << 24).is_err());
    assert_eq!((factor.capacity(), bits(factor.to_factor().unwrap().as_ref())), before);
    factor.update(&problem.v).unwrap();
    factor.downdate(&problem.v).unwrap();
    factor.append(&Mat::<T>::zeros(3, 1), &[T::ONE]).unwrap();
}

#[test]
fn in_memory_of_the_caller_v_has_to_fit_too() {
    let (mut l, mut workspace) = (Mat::<f64>::identity(3, 3), Workspace::new());
    let v = MatRef::from_repeated_ref(&0.0, 3, 1 << 60);
    let refused = modify_in_place(l.as_mut(), v, &[1.0], &Cpu::default(), &mut workspace);
    assert!(matches!(refused, Err(Error::Shape { argument: "weights", .. })));
}
