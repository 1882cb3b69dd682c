//! V and right-hand sides in device memory, and modifications that continue after the call.

use crate::support::contract::assert_solved;
use crate::support::cuda::{device, on_the_fake_driver, resident};
use crate::support::problem::{Kind, Problem, rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::cuda::{DeviceMatrix, DeviceView, DeviceViewMut, Resident};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Error, Weights};

const ORDER: usize = 64 * 5 + 21;

fn factor<T: Real>(problem: &Problem<T>, engine: &Resident) -> Cholesky<T, Resident> {
    Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap()
}

fn bits_of<T: Real>(factor: &Cholesky<T, Resident>) -> Vec<u64> {
    bits(factor.to_factor().unwrap().as_ref())
}

/// As from host memory, bit for bit.
fn is_the_same<T: Real>(engine: &Resident) {
    let device = device().unwrap();
    for (k, kind) in [(1, Kind::Up), (5, Kind::Down), (20, Kind::Mixed), (40, Kind::Mixed)] {
        for zeros in [0, 70, 200] {
            let mut problem = Problem::<T>::feasible(ORDER, k, kind, 0.3, 51);
            problem.v.as_mut().subrows_mut(0, zeros).fill(T::of(0.0));
            let mut weights: Vec<T> = problem.weights.iter().map(|&w| w * T::of(0.7)).collect();
            weights[k / 2] = T::of(0.0);
            let mut expected = factor(&problem, engine);
            let reported = expected.modify(&problem.v, &weights).unwrap();
            let mut found = factor(&problem, engine);
            let v = DeviceMatrix::from_host(&device, &problem.v).unwrap();
            let report = found.modify(v.view(), &weights).unwrap();
            assert_eq!(report, reported);
            assert!(bits_of(&found) == bits_of(&expected), "k = {k}, {kind:?}, {zeros} rows of zeros");
            assert_eq!(v.to_host().unwrap(), problem.v);
        }
    }
    let problem = Problem::<T>::feasible(ORDER, 3, Kind::Up, 0.3, 52);
    let (mut here, mut there) = (factor(&problem, engine), factor(&problem, engine));
    let v = DeviceMatrix::from_host(&device, &problem.v).unwrap();
    assert_eq!(here.update(v.view()).unwrap(), there.update(&problem.v).unwrap());
    assert_eq!(here.downdate(v.view()).unwrap(), there.downdate(&problem.v).unwrap());
    assert!(bits_of(&here) == bits_of(&there));
}

#[test]
fn v_on_the_device_is_as_good_as_v_on_the_host() {
    let Some((_turn, engine)) = resident() else { return };
    is_the_same::<f64>(&engine);
    is_the_same::<f32>(&engine);
}

#[test]
fn columns_may_be_any_distance_apart() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    let problem = Problem::<f64>::feasible(ORDER, 4, Kind::Up, 0.3, 53);
    let mut all = uniform(ORDER + 9, 4, &mut rng(54));
    all.as_mut().subrows_mut(5, ORDER).copy_from(&problem.v);
    let all = DeviceMatrix::from_host(&device, &all).unwrap();
    let (address, stride) = (all.view().address() + 5 * 8, all.view().stride());
    // SAFETY: rows 5 to ORDER + 5 of a matrix that lives and is not changed until the end.
    let view = unsafe { DeviceView::<f64>::from_raw(&device, address, (ORDER, 4), stride).unwrap() };
    let (mut here, mut there) = (factor(&problem, &engine), factor(&problem, &engine));
    assert_eq!(view.to_matrix().unwrap().to_host().unwrap(), problem.v);
    here.update(&view).unwrap();
    there.update(&problem.v).unwrap();
    assert!(bits_of(&here) == bits_of(&there));

    let before = all.to_host().unwrap();
    let address = all.view().address() + 5 * 8;
    // SAFETY: the same rows, which have no other user.
    let mut rhs = unsafe { DeviceViewMut::<f64>::from_raw(&device, address, (ORDER, 4), stride).unwrap() };
    here.solve_in_place(&mut rhs).unwrap();
    let x = there.solve(&problem.v).unwrap();
    let after = all.to_host().unwrap();
    assert_eq!(after.as_ref().subrows(5, ORDER), x.as_ref());
    for rows in [0..5, ORDER + 5..ORDER + 9] {
        let of = |m: &Mat<f64>| m.as_ref().subrows(rows.start, rows.len()).to_owned();
        assert_eq!(of(&after), of(&before));
    }

    // SAFETY: refused before it is read.
    let refused =
        unsafe { DeviceView::<f64>::from_raw(&device, address, (ORDER, 4), ORDER - 1).unwrap_err() };
    assert!(matches!(refused, Error::Shape { argument: "stride", .. }), "{refused:?}");
    for (address, shape, stride) in [(address + 1, (2, 2), 2), (address, (ORDER, usize::MAX), usize::MAX)] {
        // SAFETY: as above.
        let refused = unsafe { DeviceView::<f64>::from_raw(&device, address, shape, stride).unwrap_err() };
        assert!(matches!(refused, Error::Device { .. }), "{refused:?}");
    }
}

#[test]
fn bad_input_is_found_on_the_device() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    let problem = Problem::<f64>::feasible(ORDER, 3, Kind::Up, 0.3, 55);
    let mut there = factor(&problem, &engine);
    let before = bits_of(&there);
    let on_device = |v: &Mat<f64>| DeviceMatrix::from_host(&device, v).unwrap();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut v = problem.v.clone();
        (v[(300, 1)], v[(77, 1)], v[(5, 2)]) = (bad, bad, bad);
        let expected = Error::NonFinite { argument: "v", row: 77, column: 1 };
        assert_eq!(there.update(on_device(&v).view()).unwrap_err(), expected);
        // Also where the weight is zero.
        let outcome = there.modify(on_device(&v).view(), &[1.0, 0.0, -1.0]);
        assert_eq!(outcome.unwrap_err(), expected);
        let mut rhs = on_device(&v);
        let expected = Error::NonFinite { argument: "rhs", row: 77, column: 1 };
        assert_eq!(there.solve_in_place(rhs.view_mut()).unwrap_err(), expected);
        assert!(bits(rhs.to_host().unwrap().as_ref()) == bits(v.as_ref()));
    }
    let mut v = problem.v.clone();
    v[(9, 0)] = 1e200;
    let refused = there.update(on_device(&v).view()).unwrap_err();
    assert_eq!(refused, Error::Overflow { argument: "v" });
    let short = on_device(&v.as_ref().subrows(1, ORDER - 1).to_owned());
    assert_eq!(there.update(short.view()).unwrap_err(), there.update(&short.to_host().unwrap()).unwrap_err());
    let refused = there.modify(on_device(&problem.v).view(), &[1.0; 2]).unwrap_err();
    assert!(matches!(refused, Error::Shape { argument: "weights", .. }), "{refused:?}");
    let mut short = short;
    let refused = there.solve_in_place(short.view_mut()).unwrap_err();
    assert!(matches!(refused, Error::Shape { argument: "rhs", .. }), "{refused:?}");
    let refused = short.copy_from_host(&problem.v).unwrap_err();
    assert!(matches!(refused, Error::Shape { argument: "a", .. }), "{refused:?}");
    // Far larger than A.
    let far = Mat::from_fn(ORDER, 3, |i, j| 1e6 * problem.v[(i, j)]);
    let refused = there.downdate(on_device(&far).view()).unwrap_err();
    assert!(matches!(refused, Error::NotPositiveDefinite { .. }), "{refused:?}");
    assert!(bits_of(&there) == before);
}

/// What is found in columns does not depend on earlier calls, whose columns were fewer or more.
#[test]
fn earlier_columns_are_forgotten() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    let problem = Problem::<f64>::feasible(ORDER, 10, Kind::Up, 0.3, 58);
    let mut there = factor(&problem, &engine);
    let some = |columns: usize, bad: Option<usize>| {
        let entry = |i: usize, j: usize| if bad == Some(j) && i == 7 { f64::NAN } else { problem.v[(i, j)] };
        DeviceMatrix::from_host(&device, &Mat::from_fn(ORDER, columns, entry)).unwrap()
    };
    for (columns, bad) in
        [(10, Some(9)), (3, None), (10, None), (2, Some(0)), (10, Some(4)), (1, None), (10, None)]
    {
        let row_7 = |argument| bad.map(|column| Error::NonFinite { argument, row: 7, column });
        let v = some(columns, bad);
        assert_eq!(there.update(v.view()).err(), row_7("v"), "{columns} columns");
        let mut rhs = some(columns, bad);
        assert_eq!(there.solve_in_place(rhs.view_mut()).err(), row_7("rhs"), "{columns} right-hand sides");
        let given_back = bits(rhs.to_host().unwrap().as_ref()) != bits(v.to_host().unwrap().as_ref());
        assert_eq!(given_back, bad.is_none());
    }
}

/// A refused V may have been copied over columns of zeros.
#[test]
fn what_was_refused_leaves_no_trace() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    let narrow = Problem::<f64>::feasible(ORDER, 3, Kind::Up, 0.3, 58);
    let mut wide = Problem::<f64>::feasible(ORDER, 16, Kind::Up, 0.3, 59).v;
    (wide[(9, 4)], wide[(70, 15)]) = (f64::NAN, 1e200);
    let wide = DeviceMatrix::from_host(&device, &wide).unwrap();
    let on_device = DeviceMatrix::from_host(&device, &narrow.v).unwrap();
    let (mut here, mut there) = (factor(&narrow, &engine), factor(&narrow, &engine));
    for from_the_device in [false, true] {
        here.update(&narrow.v).unwrap();
        assert!(matches!(here.update(&wide), Err(Error::NonFinite { row: 9, column: 4, .. })));
        if from_the_device {
            here.update(&on_device).unwrap();
        } else {
            here.update(&narrow.v).unwrap();
        }
        for _ in 0..2 {
            there.update(&narrow.v).unwrap();
        }
        assert!(bits_of(&here) == bits_of(&there), "V from the device: {from_the_device}");
    }
}

/// With right-hand sides on the device, as with those of the host in `step.rs`.
#[test]
fn a_step_has_an_outcome_of_each() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    let problem = Problem::<f64>::feasible(ORDER, 3, Kind::Down, 0.3, 60);
    let far = Mat::from_fn(ORDER, 3, |i, j| 1e6 * problem.v[(i, j)]);
    let (mut here, mut there) = (factor(&problem, &engine), factor(&problem, &engine));
    // One, several, and more than one batch.
    for columns in [1, 40, 1030] {
        let good = uniform(ORDER, columns, &mut rng(61));
        let mut bad = good.clone();
        (bad[(ORDER - 1, columns - 1)], bad[(70, columns / 2)]) = (f64::NAN, f64::from_bits(u64::MAX));
        let not_finite = Error::NonFinite { argument: "rhs", row: 70, column: columns / 2 };
        for (v, rhs) in [(&far, &good), (&far, &bad), (&problem.v, &bad), (&problem.v, &good)] {
            let mut x = DeviceMatrix::from_host(&device, rhs).unwrap();
            let (modified, solved) = here.submit(v, Weights::Minus).unwrap().solve_in_place(&mut x);
            assert_eq!(modified, there.downdate(v));
            let expected = if core::ptr::eq(rhs, &good) {
                solved.unwrap();
                there.solve(&good).unwrap()
            } else {
                assert_eq!(solved.unwrap_err(), not_finite);
                bad.clone()
            };
            assert!(bits(x.to_host().unwrap().as_ref()) == bits(expected.as_ref()));
            assert!(bits_of(&here) == bits_of(&there));
            if modified.is_ok() {
                assert_eq!(here.update(v).unwrap(), there.update(v).unwrap());
            }
        }
    }
}

#[test]
fn nothing_on_the_device_is_nothing() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    for (order, cols) in [(0, 0), (0, 3), (5, 0)] {
        let mut there =
            Cholesky::from_factor_in(&Mat::<f64>::identity(order, order), engine.clone()).unwrap();
        let mut empty = DeviceMatrix::from_host(&device, &Mat::<f64>::zeros(order, cols)).unwrap();
        there.update(empty.view()).unwrap();
        there.solve_in_place(empty.view_mut()).unwrap();
        assert_eq!(empty.to_host().unwrap(), Mat::<f64>::zeros(order, cols));
    }
}

/// Large systems with many right-hand sides take another path. The fake driver would take minutes for one.
#[test]
fn large_systems_are_solved() {
    if on_the_fake_driver() {
        eprintln!("SKIPPED, for want of a real device");
        return;
    }
    let Some((_turn, engine)) = resident() else { return };
    let (order, columns) = (8192 + 5, 1024);
    let entries = uniform(order, 1, &mut rng(63));
    let l = Mat::from_fn(order, order, |i, j| match i {
        _ if i < j => 0.0,
        _ if i == j => 1.5 + entries[(j, 0)],
        _ => entries[(i, 0)] * entries[(j, 0)] / 100.0,
    });
    let mut factor = Cholesky::from_factor_in(&l, engine).unwrap();
    let rhs = uniform(order, columns, &mut rng(64));
    let mut x = rhs.clone();
    let v = uniform(order, 2, &mut rng(65));
    let (modified, solved) = factor.submit(&v, Weights::Plus).unwrap().solve_in_place(&mut x);
    modified.unwrap();
    solved.unwrap();
    let a = factor.reconstruct().unwrap();
    let some = |x: &Mat<f64>| Mat::from_fn(order, 4, |i, j| x[(i, 341 * j)]);
    assert_solved(&a, &some(&x), &some(&rhs));
    let mut there = DeviceMatrix::from_host(&device().unwrap(), &rhs).unwrap();
    factor.solve_in_place(&mut there).unwrap();
    assert_eq!(there.to_host().unwrap(), x);
}

#[test]
fn halves_of_a_solve_are_those_of_the_host() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    let problem = Problem::<f64>::feasible(ORDER, 3, Kind::Up, 0.3, 62);
    let there = factor(&problem, &engine);
    let mut rhs = DeviceMatrix::from_host(&device, &problem.v).unwrap();
    there.solve_l_in_place(&mut rhs).unwrap();
    let half = there.solve_l(&problem.v).unwrap();
    assert_eq!(rhs.to_host().unwrap(), half);
    there.solve_lt_in_place(&mut rhs).unwrap();
    assert_eq!(rhs.to_host().unwrap(), there.solve_lt(&half).unwrap());
    let refused = there.solve_lt_in_place(&mut vec![0.0; ORDER + 1]).unwrap_err();
    assert!(matches!(refused, Error::Shape { argument: "rhs", .. }), "{refused:?}");
}

#[test]
fn many_right_hand_sides_on_the_device_are_solved() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    let there = Cholesky::from_factor_in(
        &Mat::from_fn(3, 3, |i, j| if i < j { 0.0 } else { 1.0 + (i + j) as f64 }),
        engine,
    )
    .unwrap();
    // More than one batch.
    let rhs = uniform(3, 4100, &mut rng(56));
    let mut on_device = DeviceMatrix::from_host(&device, &rhs).unwrap();
    there.solve_in_place(on_device.view_mut()).unwrap();
    assert_eq!(on_device.to_host().unwrap(), there.solve(&rhs).unwrap());
}

#[test]
fn what_goes_on_after_the_call_comes_to_the_same_end() {
    let Some((_turn, engine)) = resident() else { return };
    let problem = Problem::<f64>::feasible(ORDER, 6, Kind::Down, 0.3, 57);
    let (mut here, mut there) = (factor(&problem, &engine), factor(&problem, &engine));
    let mut v = problem.v.clone();
    let pending = here.submit(&v, Weights::Minus).unwrap();
    v.as_mut().fill(f64::NAN); // already copied
    assert_eq!(pending.wait().unwrap(), there.downdate(&problem.v).unwrap());
    assert!(bits_of(&here) == bits_of(&there));

    // A breakdown leaves the factor as it was, in every way to wait.
    let before = bits_of(&here);
    let far = Mat::from_fn(ORDER, 6, |i, j| 1e6 * problem.v[(i, j)]);
    let expected = there.downdate(&far).unwrap_err();
    assert_eq!(here.submit(&far, Weights::Minus).unwrap().wait().unwrap_err(), expected);
    drop(here.submit(&far, Weights::Minus).unwrap());
    assert!(bits_of(&here) == before);

    // Dropped, it is completed.
    drop(here.submit(&problem.v, Weights::Plus).unwrap());
    there.update(&problem.v).unwrap();
    assert!(bits_of(&here) == bits_of(&there));

    // Forgotten, the next call waits for it.
    core::mem::forget(here.submit(&problem.v, &[1.0, -0.1, 0.0, 2.0, 0.5, 1.0]).unwrap());
    here.update(&problem.v).unwrap();
    there.modify(&problem.v, &[1.0, -0.1, 0.0, 2.0, 0.5, 1.0]).unwrap();
    there.update(&problem.v).unwrap();
    assert!(bits_of(&here) == bits_of(&there));
    // Its error is not returned by another call.
    core::mem::forget(here.submit(&far, Weights::Minus).unwrap());
    let none = Mat::<f64>::zeros(ORDER, 2);
    assert_eq!(here.update(&none).unwrap(), there.update(&none).unwrap());
    assert!(bits_of(&here) == bits_of(&there));
    // Or `pending` takes it up again.
    core::mem::forget(here.submit(&far, Weights::Minus).unwrap());
    assert_eq!(here.pending().wait().unwrap_err(), expected);
    core::mem::forget(here.submit(&problem.v, Weights::Plus).unwrap());
    assert_eq!(here.pending().wait().unwrap(), there.update(&problem.v).unwrap());
    assert!(bits_of(&here) == bits_of(&there));
    core::mem::forget(here.submit(&problem.v, Weights::Plus).unwrap());
    drop(here);

    let on_device = DeviceMatrix::from_host(&device().unwrap(), &problem.v).unwrap();
    let mut here = factor(&problem, &engine);
    let pending = here.submit(on_device.view(), &[-1.0; 6]).unwrap();
    drop(on_device);
    pending.wait().unwrap();
    let mut there = factor(&problem, &engine);
    there.downdate(&problem.v).unwrap();
    assert!(bits_of(&here) == bits_of(&there));
}
