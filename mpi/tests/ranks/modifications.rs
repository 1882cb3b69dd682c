//! Modifications, against one process of the `Cpu` engine.

use crate::common::{Number, expect, factor, matrix, settings, start};
use cholupdate_mpi::cholupdate::faer::Mat;
use cholupdate_mpi::cholupdate::{Cholesky, Cpu};
use cholupdate_mpi::{Error, Rows, Safeguard, Settings, Weights};
use mpi::topology::SimpleCommunicator;

fn weights<T: Number>(k: usize, signs: &str) -> Vec<T> {
    let sign = |r: usize| match signs {
        "+" => 1.0,
        "-" => -1.0,
        _ => [1.0, -0.25, 0.5][r % 3],
    };
    (0..k).map(|r| T::of(sign(r))).collect()
}

pub fn same_bits<T: Number>(world: &SimpleCommunicator) {
    for (n, k) in
        [(0, 1), (1, 1), (2, 0), (64, 4), (129, 2), (200, 1), (257, 3), (300, 8), (310, 33), (90, 100)]
    {
        for signs in ["+", "-", "±"] {
            let l = factor::<T>(n);
            let mut v = matrix::<T>(n, k, 0.02 / (k.max(1) as f64).sqrt());
            if n > 256 && signs == "±" {
                v.subrows_mut(0, 101).fill(T::of(0.0));
            }
            let w = weights::<T>(k, signs);
            let mut cpu = Cholesky::<T>::from_factor_in(&l, Cpu::sequential()).unwrap();
            let report = cpu.modify(&v, &w).unwrap();
            let expected = cpu.to_factor().unwrap();
            for block in [16, 48, 256] {
                let what = format!("n {n}, k {k}, {signs}, blocks of {block}");
                for safeguard in [Safeguard::ShadowBuffer, Safeguard::DryRun] {
                    let mut ours = start(world, Settings { safeguard, ..settings(block, 1) }, &l);
                    let found = ours.modify(Rows::All(v.as_ref()), &w).unwrap();
                    assert_eq!(found, report, "{what}");
                    expect(&ours, &expected, &what);
                }
            }
        }
    }
}

pub fn many(world: &SimpleCommunicator) {
    let n = 333;
    let l = factor::<f64>(n);
    let mut cpu = Cholesky::<f64>::from_factor_in(&l, Cpu::sequential()).unwrap();
    let mut ours = start(world, settings(32, 1), &l);
    for step in 0..40 {
        let k = [1, 2, 5, 16][step % 4];
        let v = Mat::from_fn(n, k, |i, j| ((i * 31 + j * 7 + step * 13) % 101) as f64 / 2000.0);
        if step % 3 == 2 {
            let found = ours.downdate(Rows::All(v.as_ref()));
            assert_eq!(found, cpu.downdate(&v));
            assert_eq!(ours.can_downdate(Rows::All(v.as_ref())), cpu.can_downdate(&v));
        } else {
            assert_eq!(ours.update(Rows::All(v.as_ref())), cpu.update(&v));
        }
        assert_eq!(ours.log_det(), cpu.log_det());
    }
    expect(&ours, &cpu.to_factor().unwrap(), "after 40 modifications");
}

pub fn threads(world: &SimpleCommunicator) {
    let n = 1500;
    let (l, v) = (factor::<f64>(n), matrix::<f64>(n, 6, 1e-3));
    let mut cpu = Cholesky::<f64>::from_factor_in(&l, Cpu::sequential()).unwrap();
    cpu.downdate(&v).unwrap();
    for threads in [1, 2, 3] {
        let mut ours = start(world, settings(64, threads), &l);
        ours.downdate(Rows::All(v.as_ref())).unwrap();
        expect(&ours, &cpu.to_factor().unwrap(), &format!("{threads} threads"));
    }
}

pub fn breakdown(world: &SimpleCommunicator) {
    let n = 400;
    let l = factor::<f64>(n);
    for column in [0, 17, 180, 399] {
        for k in [1, 3, 20] {
            let mut v = matrix::<f64>(n, k, 1e-3);
            v.col_mut(k / 2).fill(0.0);
            v[(column, k / 2)] = 40.0;
            let mut cpu = Cholesky::<f64>::from_factor_in(&l, Cpu::sequential()).unwrap();
            let expected = cpu.downdate(&v).unwrap_err();
            assert!(matches!(expected, Error::NotPositiveDefinite { .. }));
            for safeguard in [Safeguard::ShadowBuffer, Safeguard::DryRun] {
                let mut ours = start(world, Settings { safeguard, ..settings(32, 1) }, &l);
                assert_eq!(ours.can_downdate(Rows::All(v.as_ref())), Ok(false));
                assert_eq!(ours.downdate(Rows::All(v.as_ref())), Err(expected.clone()));
                expect(&ours, &l, "after a breakdown");
                // And it goes on.
                let small = matrix::<f64>(n, 2, 1e-3);
                let mut one = Cholesky::<f64>::from_factor_in(&l, Cpu::sequential()).unwrap();
                one.downdate(&small).unwrap();
                ours.modify(Rows::All(small.as_ref()), Weights::Minus).unwrap();
                expect(&ours, &one.to_factor().unwrap(), "after the next modification");
            }
            let mut ours = start(world, Settings { safeguard: Safeguard::None, ..settings(32, 1) }, &l);
            assert!(matches!(ours.downdate(Rows::All(v.as_ref())), Err(Error::NotPositiveDefinite { .. })));
            assert_eq!(ours.update(Rows::All(v.as_ref())), Err(Error::Poisoned));
            assert_eq!(ours.log_det(), Err(Error::Poisoned));
        }
    }
}
