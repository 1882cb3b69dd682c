//! After the first call of a shape, no call allocates.

use crate::support::allocator::Group;
use crate::support::engines::sized;
use crate::support::problem::{Kind, Problem};
use crate::support::real::Real;
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Cpu, Engine, Safeguard, Workspace, modify_in_place};
use rayon::ThreadPoolBuilder;

const SAFEGUARDS: [Safeguard; 2] = [Safeguard::ShadowBuffer, Safeguard::DryRun];
const SHAPES: [(usize, usize); 6] = [(1, 1), (20, 3), (65, 1), (100, 17), (300, 2), (300, 40)];

/// Allocations of `calls` in its second run on this thread.
fn again(mut calls: impl FnMut()) -> usize {
    let group = Group::new();
    group.join();
    calls();
    let before = group.count();
    assert!(before > 0, "the counter does not count");
    calls();
    group.count() - before
}

fn modify_allocates_once<T: Real>()
where
    Cpu: Engine<T>,
{
    for safeguard in SAFEGUARDS {
        for (n, k) in SHAPES {
            let problem = Problem::<T>::feasible(n, k, Kind::Down, 0.1, 1);
            let mut factor = problem.factor(&Cpu::sequential().with_safeguard(safeguard));
            let weights = Kind::Mixed.weights::<T>(k);
            let count = again(|| {
                factor.update(&problem.v).unwrap();
                factor.downdate(&problem.v).unwrap();
                factor.modify(&problem.v, &weights).unwrap();
                factor.modify(&problem.v, &weights.iter().map(|&w| -w).collect::<Vec<_>>()).unwrap();
                factor.can_downdate(&problem.v).unwrap();
            });
            // The allocation of the test itself.
            assert_eq!(count, 1, "{safeguard:?}, n = {n}, k = {k}");
        }
    }
}

#[test]
fn modifications_allocate_nothing_after_the_first() {
    modify_allocates_once::<f64>();
    modify_allocates_once::<f32>();
}

/// For any number of leading zero rows of V.
#[test]
fn columns_that_begin_later_take_no_further_memory() {
    for k in [1, 2, 4, 9] {
        let problem = Problem::<f64>::feasible(200, k, Kind::Up, 0.1, 1);
        let later = [1, 50, 120, 190].map(|first| {
            let entry = |i, j| if i < first { 0.0 } else { problem.v[(i, j)] };
            Mat::from_fn(200, k, entry)
        });
        let mut factor = problem.factor(&Cpu::sequential());
        let group = Group::new();
        group.join();
        factor.update(&problem.v).unwrap();
        let before = group.count();
        assert!(before > 0, "the counter does not count");
        later.iter().for_each(|v| factor.update(v).map(|_| ()).unwrap());
        assert_eq!(group.count(), before, "k = {k}");
    }
}

/// Up to the capacity, rows and columns are inserted and removed in place.
#[test]
fn rows_that_come_and_go_allocate_nothing_after_the_first() {
    for safeguard in SAFEGUARDS {
        for (n, r) in [(1, 1), (20, 3), (100, 1), (100, 17)] {
            let cpu = Cpu::sequential().with_safeguard(safeguard);
            let whole =
                Problem::<f64>::feasible(n + r, 1, Kind::Up, 0.1, 1).factor(&cpu).reconstruct().unwrap();
            let mut factor = Cholesky::new_in(&whole, cpu).unwrap();
            factor.reserve(2 * r).unwrap();
            let indices: Vec<usize> = (n / 2..n / 2 + r).collect();
            let last: Vec<usize> = (n + r - 1..n + r).collect();
            let count = again(|| {
                factor.remove(&indices).unwrap();
                factor.insert(n / 2, whole.subcols(n / 2, r)).unwrap();
                factor.replace(n / 2, whole.subcols(n / 2, r)).unwrap();
                factor.remove(&last).unwrap();
                let (above, corner) = whole.subcols(n + r - 1, 1).split_at_row(n + r - 1);
                factor.append(above, corner).unwrap();
            });
            assert_eq!(count, 0, "{safeguard:?}, n = {n}, r = {r}");
        }
    }
}

/// The old L, the old shadow buffer and the new L never exist together: with room for an eighth more, at most two buffers of
/// that size exist.
#[test]
fn growth_takes_no_more_memory_than_two_factors() {
    for grow in [0, 1] {
        let n = sized(600, 200);
        let problem = Problem::<f64>::feasible(n, 1, Kind::Down, 0.1, 1);
        let group = Group::new();
        group.join();
        let mut factor = problem.factor(&Cpu::sequential());
        factor.downdate(&problem.v).unwrap();
        let two = |order: usize| (2 * order * (order + 40) * 8) as isize;
        let beside = (100 * n * 8) as isize;
        assert!(group.most_bytes() <= two(n) + beside, "before");
        match grow {
            0 => factor.reserve(n / 8).unwrap(),
            _ => {
                let (cross, corner) = (Mat::<f64>::zeros(n, 1), [1.0]);
                factor.append(&cross, &corner).map(drop).unwrap();
            }
        }
        assert!(factor.capacity() >= n + n / 8);
        let most = group.most_bytes();
        assert!(most <= two(factor.capacity()) + beside, "{most} bytes, {grow}");
    }
}

/// A breakdown may allocate, to be decided in twice the precision.
#[test]
fn a_breakdown_takes_nothing_from_later_calls() {
    for safeguard in SAFEGUARDS {
        let small = Problem::<f64>::feasible(100, 4, Kind::Down, 0.1, 1);
        let large = small.clone().dominated(10.0);
        let mut factor = small.factor(&Cpu::sequential().with_safeguard(safeguard));
        let group = Group::new();
        group.join();
        factor.update(&small.v).unwrap();
        factor.downdate(&small.v).unwrap();
        assert!(factor.downdate(&large.v).is_err());
        let before = group.count();
        assert!(before > 0, "the counter does not count");
        factor.update(&small.v).unwrap();
        factor.downdate(&small.v).unwrap();
        assert_eq!(group.count(), before, "{safeguard:?}");
    }
}

#[test]
fn smaller_shapes_fit_in_what_larger_ones_left() {
    let large = Problem::<f64>::feasible(200, 40, Kind::Mixed, 0.1, 1);
    let mut factor = large.factor(&Cpu::sequential());
    // Small enough that all modifications below succeed.
    let mut v = Mat::from_fn(200, 40, |i, j| 1e-3 * large.v[(i, j)]);
    let group = Group::new();
    group.join();
    factor.modify(&v, &large.weights).unwrap();
    let before = group.count();
    assert!(before > 0, "the counter does not count");
    for rank in [39, 16, 1, 40] {
        v.as_mut().subrows_mut(0, 40 - rank).fill(0.0);
        factor.modify(v.as_ref().subcols(0, rank), &large.weights[..rank]).unwrap();
    }
    assert_eq!(group.count(), before);
}

#[test]
fn in_place_modifications_allocate_nothing_after_the_first() {
    for safeguard in SAFEGUARDS {
        let cpu = Cpu::sequential().with_safeguard(safeguard);
        for (n, k) in SHAPES {
            let problem = Problem::<f64>::feasible(n, k, Kind::Mixed, 0.1, 1);
            let mut by_columns = problem.l.clone();
            let mut by_rows = problem.l.transpose().to_owned();
            let back: Vec<f64> = problem.weights.iter().map(|w| -w).collect();
            let mut workspace = Workspace::new();
            let count = again(|| {
                for weights in [&problem.weights, &back] {
                    for l in [by_columns.as_mut(), by_rows.as_mut().transpose_mut()] {
                        modify_in_place(l, &problem.v, weights, &cpu, &mut workspace).unwrap();
                    }
                }
            });
            assert_eq!(count, 0, "{safeguard:?}, n = {n}, k = {k}");
        }
    }
}

#[test]
fn solving_in_place_allocates_nothing() {
    for (n, m) in [(1, 1), (20, 3), (100, 1), (300, 40)] {
        let problem = Problem::<f64>::feasible(n, m, Kind::Up, 0.1, 1);
        let factor = problem.factor(&Cpu::sequential());
        let mut rhs = problem.v.clone();
        let group = Group::new();
        group.join();
        factor.solve_in_place(&mut rhs).unwrap();
        factor.log_det().unwrap();
        assert_eq!(group.count(), 0, "n = {n}, m = {m}");
    }
}

/// All threads of a pool count together. Rayon occasionally allocates blocks of its queues, for any caller.
#[test]
fn on_many_threads_only_rayon_allocates() {
    const CALLS: usize = 200;
    let group = Group::new();
    let pool = ThreadPoolBuilder::new().num_threads(3).start_handler(move |_| group.join()).build().unwrap();
    for safeguard in SAFEGUARDS {
        let problem = Problem::<f64>::feasible(sized(800, 100), 17, Kind::Down, 0.1, 1);
        let mut factor = problem.factor(&Cpu::default().with_safeguard(safeguard));
        let count = pool.install(|| {
            let mut calls = || {
                factor.update(&problem.v).unwrap();
                factor.downdate(&problem.v).unwrap();
            };
            calls();
            let before = group.count();
            (0..CALLS).for_each(|_| calls());
            group.count() - before
        });
        println!("{safeguard:?}: {count} allocations by rayon in {CALLS} pairs of calls on 3 threads");
        assert!(count < CALLS, "{safeguard:?}: {count} allocations in {CALLS} pairs of calls");
    }
}
