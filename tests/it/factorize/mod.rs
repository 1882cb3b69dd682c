//! Initial factors: one suite for every method.

#[cfg(feature = "cuda")]
mod blocked_on_the_device;

use crate::support::compensated::sum_of_products;
use crate::support::contract::Observed;
use crate::support::problem::{factor, rng, uniform};
use crate::support::real::Real;
use cholupdate::Error;
use cholupdate::factorize::{Method, Sequential, Threaded, factorize, timed};
use cholupdate::faer::{Mat, mat};

/// Every available method, and the guard that keeps other tests off the device meanwhile.
fn with_methods(mut test: impl FnMut(&Method)) {
    test(&Method::default());
    for variant in Sequential::ALL {
        test(&Method::Sequential(variant));
    }
    for variant in Threaded::ALL {
        for (threads, cutoff) in [(1, 0), (3, 0), (2, 7), (2, 1000)] {
            test(&Method::Threads { variant, threads, cutoff });
        }
    }
    #[cfg(feature = "opencl")]
    for device in crate::support::opencl::devices() {
        for variant in cholupdate::opencl::ColumnKernels::ALL {
            for cutoff in [0, 3, 1000] {
                test(&Method::OpenCl { device: device.clone(), variant, cutoff });
            }
        }
    }
    #[cfg(feature = "cuda")]
    {
        use crate::support::cuda::{device, turn};
        use cholupdate::cuda::ColumnKernels;
        let _turn = turn();
        let Some(device) = device() else { return };
        test(&Method::fastest_on(&device));
        test(&Method::CudaBlocked { device: device.clone() });
        for kernels in ColumnKernels::ALL {
            for (threads_per_block, cutoff) in [(8, 0), (128, 0), (1, 3), (64, 1000)] {
                let device = device.clone();
                test(&Method::Cuda { device, kernels, threads_per_block, cutoff });
            }
        }
    }
}

/// A = G Gᵀ for a well-conditioned lower G, rows scaled by `grade`, rounded; NaN above the diagonal.
fn matrix<T: Real>(order: usize, grade: impl Fn(usize) -> f64) -> Mat<T> {
    let g = factor(order, &mut rng(order as u64));
    let a = &g * g.transpose();
    Mat::from_fn(order, order, |i, j| T::of(if i < j { f64::NAN } else { a[(i, j)] * grade(i) * grade(j) }))
}

/// max over i, j of |(L Lᵀ − A)_ij| / (u √(a_ii a_jj)), evaluated in twice the precision of f64: at most max(n, 12), as for a
/// modification with k = 0.
#[track_caller]
fn check<T: Real>(observed: &mut Observed, l: &Mat<T>, a: &Mat<T>, what: &Method) {
    let order = a.nrows();
    assert_eq!((l.nrows(), l.ncols()), (order, order), "{what:?}");
    let mut pairs = Vec::new();
    for j in 0..order {
        assert!((0..j).all(|i| l[(i, j)] == T::of(0.0)), "above column {j}: {what:?}");
        assert!(l[(j, j)] > T::of(0.0), "pivot {j}: {what:?}");
        let lower = |m: &Mat<T>, i: usize| if i < j { 0.0 } else { m[(i, j)].f64() };
        let column: Vec<f64> = (0..order).map(|i| lower(l, i)).collect();
        pairs.push((column.clone(), column));
        let unit = (0..order).map(|i| if i == j { 1.0 } else { 0.0 }).collect();
        pairs.push(((0..order).map(|i| -lower(a, i)).collect(), unit));
    }
    let scale = |i: usize| a[(i, i)].f64().sqrt();
    let mut worst = 0.0f64;
    for (j, column) in sum_of_products(order, &pairs).iter().enumerate() {
        for (i, residual) in column.iter().enumerate() {
            worst = worst.max(residual.abs() / (T::U * scale(j + i) * scale(j)));
        }
    }
    observed.hold::<T>(worst, (order, 0), what);
}

fn every_order_is_factored<T: Real>(orders: &[usize]) {
    let mut observed = Observed::recorded(10.1);
    with_methods(|method| {
        for &order in orders {
            let a = matrix::<T>(order, |_| 1.0);
            check(&mut observed, &factorize(&a, method).unwrap(), &a, method);
        }
        let graded = matrix::<T>(33, |i| 0.3f64.powi(i as i32 / 3));
        check(&mut observed, &factorize(&graded, method).unwrap(), &graded, method);
    });
}

#[test]
fn every_order_is_factored_in_double_precision() {
    every_order_is_factored::<f64>(&[0, 1, 2, 3, 8, 31, 64, 101]);
}

#[test]
fn every_order_is_factored_in_single_precision() {
    every_order_is_factored::<f32>(&[0, 1, 2, 5, 32, 67]);
}

/// Ruschel (2016), page 19: the matrix and the factor as printed, to two digits.
#[test]
fn the_example_of_the_thesis() {
    let a = mat![
        [29.0, 5.0, 9.0, 5.0, 6.0],
        [5.0, 29.0, 10.0, 8.0, 7.0],
        [9.0, 10.0, 23.0, 4.0, 5.0],
        [5.0, 8.0, 4.0, 26.0, 6.0],
        [6.0, 7.0, 5.0, 6.0, 30.0],
    ];
    let printed = mat![
        [5.39, 0.0, 0.0, 0.0, 0.0],
        [0.93, 5.3, 0.0, 0.0, 0.0],
        [1.67, 1.59, 4.2, 0.0, 0.0],
        [0.93, 1.35, 0.07, 4.83, 0.0],
        [1.11, 1.12, 0.32, 0.71, 5.19],
    ];
    with_methods(|method| {
        let difference = (factorize(&a, method).unwrap() - &printed).norm_max();
        assert!(difference <= 0.0051, "{method:?}: {difference}");
    });
}

#[test]
fn the_first_pivot_that_is_not_positive_is_named() {
    let l = factor(40, &mut rng(3));
    let good = &l * l.transpose();
    with_methods(|method| {
        for column in [0, 1, 17, 38, 39] {
            let mut a = good.clone();
            // Far from zero for any rounding; the later one is not reported.
            a[(column, column)] = -1.0;
            a[(39, 39)] = -1.0;
            let error = factorize(&a, method).unwrap_err();
            assert_eq!(error, Error::NotPositiveDefinite { column }, "{method:?}");
        }
        let zero = Mat::<f32>::zeros(3, 3);
        assert_eq!(factorize(&zero, method).unwrap_err(), Error::NotPositiveDefinite { column: 0 });
    });
}

#[test]
fn bad_matrices_are_refused_before_anything_is_done() {
    with_methods(|method| {
        let error = factorize(&Mat::<f64>::zeros(3, 2), method).unwrap_err();
        assert_eq!(error, Error::Shape { argument: "a", extent: "columns", expected: 3, found: 2 });
        for x in [f64::NAN, f64::INFINITY] {
            let mut a = Mat::<f64>::identity(4, 4);
            a[(3, 1)] = x;
            let error = factorize(&a, method).unwrap_err();
            assert_eq!(error, Error::NonFinite { argument: "a", row: 3, column: 1 });
        }
        let huge = Mat::<f64>::from_fn(2, 2, |i, j| if i == j { f64::MAX } else { 0.0 });
        assert_eq!(factorize(&huge, method).unwrap_err(), Error::Overflow { argument: "a" });
    });
}

#[test]
fn layouts_do_not_matter() {
    let a = matrix::<f64>(20, |_| 1.0);
    let wide = Mat::from_fn(40, 60, |i, j| if i % 2 == 0 && j % 3 == 0 { a[(i / 2, j / 3)] } else { 7.0 });
    let every = |m: &Mat<f64>| Mat::from_fn(20, 20, |i, j| m[(2 * i, 3 * j)]);
    let reversed = Mat::from_fn(20, 20, |i, j| a[(19 - i, 19 - j)]);
    let mut observed = Observed::recorded(5.6);
    with_methods(|method| {
        // Some methods round differently from call to call: each result must be a factor, but not the same bits.
        let mut close = |l: Mat<f64>| check(&mut observed, &l, &a, method);
        close(factorize(&every(&wide), method).unwrap());
        close(factorize(reversed.as_ref().reverse_rows_and_cols(), method).unwrap());
        close(factorize(a.transpose().to_owned().transpose(), method).unwrap());
    });
}

#[test]
fn the_time_is_that_of_the_algorithm() {
    let a = matrix::<f64>(60, |_| 1.0);
    let mut observed = Observed::recorded(8.1);
    with_methods(|method| {
        let before = std::time::Instant::now();
        let (l, elapsed) = timed(&a, method).unwrap();
        assert!(elapsed <= before.elapsed() && elapsed.as_nanos() > 0, "{method:?}");
        check(&mut observed, &l, &a, method);
    });
}

#[test]
fn numbers_of_threads_that_cannot_be_are_refused() {
    let a = Mat::<f64>::identity(2, 2);
    for threads in [0, 1025, usize::MAX] {
        let method = Method::Threads { variant: Threaded::Simple, threads, cutoff: 0 };
        let error = factorize(&a, &method).unwrap_err();
        assert!(
            matches!(error, Error::Tuning { field: "threads", found, .. } if found == threads),
            "{error:?}"
        );
    }
    #[cfg(feature = "cuda")]
    {
        use crate::support::cuda::{device, turn};
        use cholupdate::cuda::ColumnKernels;
        let _turn = turn();
        let Some(device) = device() else { return };
        for threads_per_block in [0, 1025] {
            let (device, kernels) = (device.clone(), ColumnKernels::Tiled);
            let method = Method::Cuda { device, kernels, threads_per_block, cutoff: 0 };
            let error = factorize(&a, &method).unwrap_err();
            let found = threads_per_block;
            assert!(
                matches!(error, Error::Tuning { field: "threads_per_block", found: f, .. } if f == found)
            );
        }
    }
}

/// A matrix from data with more columns than rows is singular, with any method.
#[test]
fn a_singular_matrix_is_no_success_with_nonsense() {
    let g = uniform(12, 4, &mut rng(9));
    let a = &g * g.transpose();
    // None is known to complete: only the contract is checked.
    let mut observed = Observed::recorded(12.0);
    with_methods(|method| match factorize(&a, method) {
        Err(Error::NotPositiveDefinite { column }) => assert!(column >= 4, "{method:?}: {column}"),
        // Rounding may leave a small positive pivot.
        Ok(l) => check(&mut observed, &l, &a, method),
        Err(error) => panic!("{method:?}: {error}"),
    });
}
