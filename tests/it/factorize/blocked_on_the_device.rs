//! Across panels, column blocks and the trailing matrix, with full and partial blocks.

use super::{check, matrix};
use crate::support::contract::Observed;
use crate::support::cuda::{Turn, device, turn};
use crate::support::problem::{factor, rng};
use crate::support::real::Real;
use cholupdate::Error;
use cholupdate::factorize::{Method, factorize};

fn method() -> Option<(Turn, Method)> {
    let turn = turn();
    Some((turn, Method::CudaBlocked { device: device()? }))
}

fn long_matrices_are_factored<T: Real>(mut observed: Observed) {
    let Some((_turn, method)) = method() else { return };
    for order in [128, 129, 190, 257, 321, 385, 514] {
        let a = matrix::<T>(order, |_| 1.0);
        check(&mut observed, &factorize(&a, &method).unwrap(), &a, &method);
    }
}

#[test]
fn long_matrices_are_factored_in_double_precision() {
    long_matrices_are_factored::<f64>(Observed::recorded(25.6));
}

#[test]
fn long_matrices_are_factored_in_single_precision() {
    long_matrices_are_factored::<f32>(Observed::recorded(2.7));
}

/// A diagonal block whose inverse is as large as 10⁵, so that a product with it alone would lose five digits.
#[test]
fn a_diagonal_block_that_is_hard_to_invert_costs_no_digits() {
    let Some((_turn, method)) = method() else { return };
    let order = 200;
    let mut g = factor(order, &mut rng(17));
    for j in 0..64 {
        g.col_mut(j).subrows_mut(j, 64 - j).fill(-0.2);
        g[(j, j)] = 1.0;
    }
    let a = &g * g.transpose();
    check(&mut Observed::recorded(15.7), &factorize(&a, &method).unwrap(), &a, &method);
}

#[test]
fn the_first_pivot_that_is_not_positive_is_named_in_any_panel() {
    let Some((_turn, method)) = method() else { return };
    let order = 400;
    let good = matrix::<f32>(order, |_| 1.0);
    for column in [0, 63, 64, 127, 200, 255, 256, 384, 399] {
        for bad in [0.0, -1.0, -1e30] {
            let mut a = good.clone();
            a[(column, column)] = bad;
            a[(order - 1, order - 1)] = -1.0;
            let error = factorize(&a, &method).unwrap_err();
            assert_eq!(error, Error::NotPositiveDefinite { column }, "{bad}");
        }
    }
}

/// A launch, a copy or a fill: each failure is an error, and no memory stays allocated.
#[cfg(target_os = "linux")]
#[test]
fn a_driver_error_anywhere_is_an_error() {
    use cholupdate::cuda::ColumnKernels;
    let Some(fake) = crate::support::cuda::fake_cuda::exclusive() else { return };
    let device = device().unwrap();
    let columns = |kernels| {
        let device = device.clone();
        Method::Cuda { device, kernels, threads_per_block: 64, cutoff: 0 }
    };
    let methods = [Method::CudaBlocked { device: device.clone() }, Method::fastest_on(&device)];
    for (method, order) in
        methods.map(|method| (method, 130)).into_iter().chain(ColumnKernels::ALL.map(|k| (columns(k), 4)))
    {
        let a = matrix::<f64>(order, |_| 1.0);
        fake.reset_stats();
        let expected = factorize(&a, &method).unwrap();
        let stats = fake.stats();
        // One in four of the many of larger orders.
        for at in (1..=stats.operations()).step_by(if order > 100 { 4 } else { 1 }) {
            fake.fail_at(at);
            let outcome = factorize(&a, &method);
            fake.reset();
            assert!(matches!(outcome, Err(Error::Device { .. })), "{method:?}, failing at {at}: {outcome:?}");
            assert_eq!(fake.stats().live_bytes, 0, "{method:?}, failing at {at}");
        }
        assert_eq!(factorize(&a, &method).unwrap(), expected, "{method:?}");
        println!("{method:?}: {stats:?}");
    }
}
