//! The engine for several devices: what it computes is what one device computes, bit for bit.

use crate::support::cuda::{share, turn};
use crate::support::problem::{Kind, Problem, rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::cuda::{Device, DeviceMatrix, Distributed, Resident};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Engine, Error, Weights};

#[cfg(target_os = "linux")]
use crate::support::cuda::fake_cuda;

/// The first devices, one more each time, as many as there are and four at most. Without any the test prints that, as others do.
fn devices() -> Vec<Vec<Device>> {
    let Some(first) = crate::support::cuda::device() else { return Vec::new() };
    let all: Vec<Device> =
        std::iter::once(first).chain((1..4).map_while(|ordinal| Device::new(ordinal).ok())).collect();
    (1..=all.len()).map(|count| all[..count].to_vec()).collect()
}

/// Engines on one to four devices, with small and large blocks of rows; on the fake driver small ones on two and on four.
fn engines() -> Vec<Distributed> {
    let of = |devices: Vec<Device>| {
        let rows = share([384, 128], 2, devices.len() + 1);
        rows.map(|rows| Distributed::new(&devices).unwrap().with_block_rows(rows).unwrap())
            .collect::<Vec<_>>()
    };
    devices().into_iter().flat_map(of).collect()
}

/// The engine for one device, and those for several.
struct Compared {
    one: Option<Resident>,
    several: Vec<Distributed>,
}

impl Compared {
    fn new() -> Self {
        let one = crate::support::cuda::device().map(|device| Resident::new(&device));
        Self { one, several: engines() }
    }

    fn modify<T: Real>(&self, problem: &Problem<T>, what: &str) {
        let Some(one) = &self.one else { return };
        let one = problem.modified(one).map(|(l, _)| bits(l.as_ref()));
        for engine in &self.several {
            let several = problem.modified(engine).map(|(l, _)| bits(l.as_ref()));
            assert!(one == several, "{what} on {engine:?}: {:?}", several.err());
        }
    }
}

/// With rows of V scaled by `scale(panel)`.
fn scaled<T: Real>(mut problem: Problem<T>, scale: impl Fn(usize) -> f64) -> Problem<T> {
    for i in 0..problem.v.nrows() {
        let scale = T::of(scale(i / 64));
        problem.v.row_mut(i).iter_mut().for_each(|x| *x *= scale);
    }
    problem
}

fn orders_and_ranks<T: Real>() {
    let compared = Compared::new();
    for n in [1, 64, 130, 128 * 5 + 37] {
        for k in [1, 16, 20] {
            for kind in Kind::ALL {
                compared.modify(&Problem::<T>::feasible(n, k, kind, 0.3, 1), &format!("{n} {k} {kind:?}"));
            }
        }
    }
}

#[test]
fn orders_and_ranks_in_double_precision() {
    let _turn = turn();
    orders_and_ranks::<f64>();
}

#[test]
fn orders_and_ranks_in_single_precision() {
    let _turn = turn();
    orders_and_ranks::<f32>();
}

/// Panels that rebase, that take the Householder fallback, and columns that are interchanged.
#[test]
fn hard_panels() {
    let _turn = turn();
    let compared = Compared::new();
    let n = 128 * 4 + 37;
    for k in [3, 20] {
        let up = |seed| Problem::<f64>::feasible(n, k, Kind::Up, 0.5, seed);
        compared.modify(&scaled(up(2), |panel| if panel % 3 == 1 { 1e3 } else { 0.03 }), "some hard");
        compared.modify(&scaled(up(3), |panel| if panel < 2 { 1e-9 } else { 1.0 }), "hard later");
        compared.modify(&Problem::<f64>::feasible(n, k, Kind::Down, 1e-4, 4), "nearly singular");
    }
    compared.modify(&Problem::<f64>::cancelling(n, 9, 1e-3, 5), "cancelling");
}

/// A V whose first rows are zero, from anywhere on.
#[test]
fn late_starts() {
    let _turn = turn();
    let compared = Compared::new();
    let n = 128 * 4 + 37;
    for first in [1, 64, 100, 128, 200, 300, 500, n - 1] {
        let up = Problem::<f64>::feasible(n, 2, Kind::Up, 0.5, 6);
        let mut problem = scaled(up, |_| 1.0);
        problem.v.subrows_mut(0, first).fill(0.0);
        compared.modify(&problem, &format!("from {first} on"));
    }
}

/// More sweeps than one launch has.
#[test]
fn several_launches() {
    let _turn = turn();
    let compared = Compared::new();
    compared.modify(&Problem::<f64>::feasible(300, 540, Kind::Up, 0.5, 7), "many columns");
}

#[test]
fn v_on_any_of_the_devices() {
    let _turn = turn();
    let problem = Problem::<f64>::feasible(400, 20, Kind::Mixed, 0.3, 8);
    let mut expected = None;
    for engine in engines() {
        for device in engine.devices() {
            let v = DeviceMatrix::from_host(device, &problem.v).unwrap();
            let mut factor = Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
            factor.modify(&v, &problem.weights).unwrap();
            let new = (bits(factor.to_factor().unwrap().as_ref()), factor.error_estimate().to_bits());
            assert!(*expected.get_or_insert_with(|| new.clone()) == new, "{engine:?}, V on {device:?}");
        }
    }
}

/// A breakdown is found at the same column, and leaves every bit; then the factor can be modified again.
#[test]
fn a_breakdown_leaves_the_factor() {
    let _turn = turn();
    let n = 128 * 4 + 37;
    for at in [0, 130, 300, n - 1] {
        let mut problem = Problem::<f64>::feasible(n, 2, Kind::Down, 0.5, 9);
        problem.v.fill(0.0);
        problem.v[(at, 1)] = 3.0;
        let good = Problem::<f64>::feasible(n, 2, Kind::Mixed, 0.5, 9);
        let mut found = None;
        for engine in engines() {
            let mut factor = Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
            for _ in 0..2 {
                let outcome = factor.can_downdate(&problem.v).map(|_| ());
                let refused = factor.downdate(&problem.v).unwrap_err();
                assert!(matches!(refused, Error::NotPositiveDefinite { .. }), "{refused:?}");
                assert!(*found.get_or_insert((outcome.clone(), refused.clone())) == (outcome, refused));
                assert!(bits(factor.to_factor().unwrap().as_ref()) == bits(problem.l.as_ref()), "{engine:?}");
            }
            factor.modify(&good.v, &good.weights).unwrap();
        }
    }
}

/// The factor after rows and columns have come, gone and moved.
fn edited<E: Engine<f64>>(l: &Mat<f64>, engine: E) -> Vec<Vec<u64>> {
    let n = l.nrows();
    let column = |order: usize| Mat::from_fn(order, 1, |i, _| 0.01 * (i % 7) as f64);
    let mut factor = Cholesky::from_factor_in(l, engine).unwrap();
    let mut seen = Vec::new();
    let mut see = |factor: &Cholesky<f64, E>| seen.push(bits(factor.to_factor().unwrap().as_ref()));
    factor.append(&column(n), &[3.0]).unwrap();
    see(&factor);
    factor.update(&column(n + 1)).unwrap();
    see(&factor);
    factor.remove(&[n]).unwrap();
    see(&factor);
    factor.remove(&[150]).unwrap();
    see(&factor);
    let new = Mat::from_fn(n, 1, |i, _| if i == 100 { 4.0 } else { 0.01 * (i % 5) as f64 });
    factor.insert(100, &new).unwrap();
    see(&factor);
    factor.shift(20, 200).unwrap();
    see(&factor);
    factor.shift(200, 20).unwrap();
    see(&factor);
    factor.modify_scaled(0.5, &column(n), Weights::Plus).unwrap();
    factor.downdate(&column(n)).unwrap();
    see(&factor);
    seen
}

#[test]
fn rows_and_columns() {
    let _turn = turn();
    let Some(device) = crate::support::cuda::device() else { return };
    let problem = Problem::<f64>::feasible(300, 1, Kind::Up, 0.5, 10);
    let one = edited(&problem.l, Resident::new(&device));
    for engine in engines() {
        for (at, (found, expected)) in edited(&problem.l, engine.clone()).iter().zip(&one).enumerate() {
            assert!(found == expected, "step {at} on {engine:?}");
        }
    }
}

/// Both halves of a solve, their product, and a solve with the new factor of a modification in flight.
#[test]
fn solves() {
    let _turn = turn();
    let Some(device) = crate::support::cuda::device() else { return };
    let solved = |factor: &mut dyn FnMut(&Mat<f64>) -> Vec<Mat<f64>>, n: usize, count: usize| {
        factor(&uniform(n, count, &mut rng(11))).into_iter().map(|x| bits(x.as_ref())).collect::<Vec<_>>()
    };
    for (n, count) in [(1, 1), (130, 9), (128 * 4 + 37, 3), (300, 40), (3, 1030)] {
        let problem = Problem::<f64>::feasible(n, 2, Kind::Up, 0.5, 12);
        let one = solved(&mut |b| all_solves(&problem, Resident::new(&device), b), n, count);
        for engine in engines() {
            let several = solved(&mut |b| all_solves(&problem, engine.clone(), b), n, count);
            for (at, (found, expected)) in several.iter().zip(&one).enumerate() {
                assert!(found == expected, "{n} {count}: {at} on {engine:?}");
            }
        }
    }
}

fn all_solves<E: Engine<f64>>(problem: &Problem<f64>, engine: E, b: &Mat<f64>) -> Vec<Mat<f64>> {
    let mut factor = Cholesky::from_factor_in(&problem.l, engine).unwrap();
    let mut found = vec![factor.solve(b).unwrap()];
    let mut half = b.clone();
    factor.solve_l_in_place(&mut half).unwrap();
    found.push(half.clone());
    factor.solve_lt_in_place(&mut half).unwrap();
    found.push(half.clone());
    let (modified, solved) = factor.submit(&problem.v, Weights::Plus).unwrap().solve_in_place(&mut half);
    modified.unwrap();
    solved.unwrap();
    found.push(half);
    found.push(factor.solve(b).unwrap());
    found
}

#[test]
fn right_hand_sides_on_a_device() {
    let _turn = turn();
    let problem = Problem::<f64>::feasible(300, 2, Kind::Up, 0.5, 13);
    let b = uniform(300, 5, &mut rng(14));
    for engine in engines() {
        let factor = Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
        let expected = factor.solve(&b).unwrap();
        for device in engine.devices() {
            let mut there = DeviceMatrix::from_host(device, &b).unwrap();
            factor.solve_in_place(&mut there).unwrap();
            let found = there.to_host().unwrap();
            assert!(bits(found.as_ref()) == bits(expected.as_ref()), "{engine:?}, on {device:?}");
        }
    }
}

#[test]
fn devices_are_different_ones() {
    let _turn = turn();
    let Some(device) = crate::support::cuda::device() else { return };
    let refused = Distributed::new(&[device.clone(), device.clone()]).unwrap_err();
    assert!(matches!(refused, Error::OutOfRange { argument: "devices", .. }), "{refused:?}");
    assert!(matches!(Distributed::new(&[]).unwrap_err(), Error::OutOfRange { .. }));
    let engine = Distributed::new(&[device]).unwrap();
    for rows in [0, 100] {
        let refused = engine.clone().with_block_rows(rows).unwrap_err();
        assert!(matches!(refused, Error::OutOfRange { argument: "rows", .. }), "{refused:?}");
    }
}

/// A launch, a copy or a fill fails on one device: every device ends, and the factor is the old one or the new one.
#[cfg(target_os = "linux")]
#[test]
fn one_device_fails() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let devices = devices().pop().unwrap();
    let engine = Distributed::new(&devices).unwrap().with_block_rows(128).unwrap();
    for kind in Kind::ALL {
        let problem = Problem::<f64>::feasible(128 * 4 + 5, 3, kind, 0.5, 27);
        let modified = |factor: &mut Cholesky<f64, Distributed>| factor.modify(&problem.v, &problem.weights);
        let mut factor = problem.factor(&engine);
        fake.reset_stats();
        modified(&mut factor).unwrap();
        let operations = fake.stats().operations();
        let new = bits(factor.to_factor().unwrap().as_ref());
        // Others for each kind.
        for at in share(1..=operations, 3, kind as usize) {
            let mut factor = problem.factor(&engine);
            fake.fail_at(at);
            let outcome = modified(&mut factor);
            fake.fail_at(0);
            if outcome.is_err() {
                assert!(matches!(outcome, Err(Error::Device { .. })), "{kind:?}: {outcome:?}");
            }
            let expected = if outcome.is_ok() { new.clone() } else { bits(problem.l.as_ref()) };
            fake.reset();
            let found = bits(factor.to_factor().unwrap().as_ref());
            assert!(found == expected, "{kind:?}, failing at {at}");
            factor.modify(&problem.v, &problem.weights).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn devices_without_access_to_each_other_are_refused() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    fake.peers(false);
    let devices = [Device::new(0).unwrap(), Device::new(1).unwrap()];
    let refused = Distributed::new(&devices).unwrap_err();
    assert!(matches!(&refused, Error::Device { message, .. } if message.contains("access")), "{refused:?}");
    Distributed::new(&devices[..1]).unwrap();
}

/// Factors of several threads on the same devices, with allocations between: none waits for another forever.
#[test]
fn several_factors_at_once() {
    let _turn = turn();
    let Some(devices) = devices().pop() else { return };
    let problem = Problem::<f64>::feasible(300, 3, Kind::Up, 0.3, 12);
    let expected = problem.modified(&Resident::new(&devices[0])).map(|(l, _)| bits(l.as_ref())).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let engine = Distributed::new(&devices).unwrap().with_block_rows(128).unwrap();
                for _ in 0..4 {
                    let mut factor = Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
                    factor.update(&problem.v).unwrap();
                    assert!(bits(factor.to_factor().unwrap().as_ref()) == expected);
                    factor.solve(&problem.v).unwrap();
                }
            });
        }
    });
}
