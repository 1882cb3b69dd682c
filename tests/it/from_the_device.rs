//! Factors of matrices in device memory, and results computed there.

use crate::support::contract::{Observed, factor_error_of_rows, some_rows};
use crate::support::cuda::{device, hybrid, resident};
use crate::support::problem::{rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::cuda::{DeviceMatrix, DeviceView, Resident};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Cholesky, Error};

/// Orders of one panel and of several, for factorizations by this library and, if installed, by cuSOLVER.
const ORDERS: [usize; 8] = [1, 2, 7, 64, 65, 130, 255, 300];

/// Well-conditioned, with `above` in the entries that are not read. (n × n)
fn matrix<T: Real>(n: usize, above: f64) -> Mat<T> {
    Mat::from_fn(n, n, |i, j| {
        T::of(match i.cmp(&j) {
            std::cmp::Ordering::Less => above,
            std::cmp::Ordering::Equal => 3.0 + (i % 5) as f64,
            std::cmp::Ordering::Greater => ((i * 31 + j * 17) % 13) as f64 / (13 * n) as f64,
        })
    })
}

fn symmetric<T: Real>(a: MatRef<'_, T>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i.max(j), i.min(j))])
}

fn there<T: Real>(a: &Mat<T>) -> DeviceMatrix<T> {
    DeviceMatrix::from_host(&device().unwrap(), a).unwrap()
}

/// The first rows of columns that are further apart than they are long.
fn apart<T: Real>(n: usize, all: &DeviceMatrix<T>) -> DeviceView<'_, T> {
    let address = all.view().address() + 3 * size_of::<T>() as u64;
    // SAFETY: n rows from the fourth on of a matrix that lives as long as the view.
    unsafe { DeviceView::from_raw(&device().unwrap(), address, (n, n), all.shape().0).unwrap() }
}

fn factored<T: Real>(engine: &Resident, mut observed: Observed) {
    for n in ORDERS {
        let a = matrix::<T>(n, f64::NAN);
        let mut wide = uniform(n + 5, n, &mut rng(81));
        wide.fill(f64::NAN);
        let wide =
            Mat::from_fn(
                n + 5,
                n,
                |i, j| if (3..n + 3).contains(&i) { a[(i - 3, j)] } else { T::of(wide[(i, j)]) },
            );
        let (packed, wide) = (there(&a), there(&wide));
        let factor = Cholesky::new_in(&packed, engine.clone()).unwrap();
        let l = factor.to_factor().unwrap();
        let whole = symmetric(a.as_ref());
        let error = factor_error_of_rows(l.as_ref(), whole.as_ref(), some_rows(n));
        observed.hold::<T>(error, (n, 0), n);
        let log_det = factor.log_det().unwrap().f64();
        let expected: f64 = (0..n).map(|j| 2.0 * l[(j, j)].f64().ln()).sum();
        assert!((log_det - expected).abs() <= 1e-5 * (1.0 + expected.abs()) * T::U / f32::U, "n = {n}");
        let again = Cholesky::new_in(apart(n, &wide), engine.clone()).unwrap();
        assert!(bits(again.to_factor().unwrap().as_ref()) == bits(l.as_ref()), "n = {n}");

        // L from the device, with one column negated: the same factor, as through the host.
        let negated = Mat::from_fn(n, n, |i, j| match i >= j {
            true if j == n / 2 => -l[(i, j)],
            true => l[(i, j)],
            false => T::of(f64::NAN),
        });
        let mut adopted = Cholesky::from_factor_in(&there(&negated), engine.clone()).unwrap();
        assert!(bits(adopted.to_factor().unwrap().as_ref()) == bits(l.as_ref()), "n = {n}");
        let mut from_host = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        let v = Mat::from_fn(n, 2, |i, j| T::of(0.1 * ((i + 3 * j) % 7) as f64));
        assert_eq!(adopted.update(&v).unwrap(), from_host.update(&v).unwrap(), "n = {n}");
        let [here, expected] = [adopted, from_host].map(|f| bits(f.to_factor().unwrap().as_ref()));
        assert!(here == expected, "n = {n}");
    }
}

#[test]
fn a_matrix_on_the_device_is_factored_there() {
    let Some((_turn, engine)) = resident() else { return };
    factored::<f64>(&engine, Observed::recorded(2.0));
    factored::<f32>(&engine, Observed::recorded(18.5));
}

/// As through the host.
#[test]
fn what_is_wrong_with_it_is_found_there() {
    let Some((_turn, engine)) = resident() else { return };
    for n in [5, 70, 300] {
        let both = |a: &Mat<f64>| {
            let [there, here] =
                [Cholesky::new_in(&there(a), engine.clone()), Cholesky::new_in(a, engine.clone())];
            let error = there.unwrap_err();
            assert_eq!(error, here.unwrap_err());
            error
        };
        let with = |entries: &[(usize, usize, f64)]| {
            let mut a = matrix::<f64>(n, 0.0);
            entries.iter().for_each(|&(i, j, x)| a[(i, j)] = x);
            a
        };
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = both(&with(&[(n - 1, 0, bad), (n - 2, 1, bad), (2, 2, bad)]));
            assert_eq!(error, Error::NonFinite { argument: "a", row: n - 1, column: 0 });
            let error = both(&with(&[(n - 1, n - 1, bad)]));
            assert_eq!(error, Error::NonFinite { argument: "a", row: n - 1, column: n - 1 });
        }
        assert_eq!(both(&with(&[(3, 3, 1.7e308)])), Error::Overflow { argument: "a" });
        for column in [0, 3, n - 1] {
            for pivot in [0.0, -1.0] {
                let error = both(&with(&[(column, column, pivot)]));
                assert_eq!(error, Error::NotPositiveDefinite { column }, "n = {n}");
            }
        }
        let wide = there(&Mat::<f64>::zeros(n, n + 1));
        let refused = Cholesky::new_in(&wide, engine.clone()).unwrap_err();
        assert!(matches!(refused, Error::Shape { argument: "a", .. }), "{refused:?}");

        let as_factor = |l: &Mat<f64>| Cholesky::from_factor_in(&there(l), engine.clone()).unwrap_err();
        let refused = as_factor(&with(&[(n - 1, 2, f64::NAN)]));
        assert_eq!(refused, Error::NonFinite { argument: "l", row: n - 1, column: 2 });
        assert_eq!(as_factor(&with(&[(n - 1, 2, 1e200)])), Error::Overflow { argument: "l" });
        let refused = Cholesky::from_factor_in(&wide, engine.clone()).unwrap_err();
        assert!(matches!(refused, Error::Shape { argument: "l", .. }), "{refused:?}");
    }
    let empty = there(&Mat::<f64>::zeros(0, 0));
    assert_eq!(Cholesky::new_in(&empty, engine.clone()).unwrap().order(), 0);
    assert_eq!(Cholesky::from_factor_in(&empty, engine).unwrap().order(), 0);
}

fn made<T: Real>(engine: &Resident) {
    for n in ORDERS {
        let factor = Cholesky::new_in(&there(&matrix::<T>(n, f64::NAN)), engine.clone()).unwrap();
        let l = factor.to_factor_on_device().unwrap();
        assert_eq!(l.shape(), (n, n));
        let host = factor.to_factor().unwrap();
        assert!(bits(l.to_host().unwrap().as_ref()) == bits(host.as_ref()), "n = {n}");
        let a = factor.reconstruct_on_device().unwrap().to_host().unwrap();
        let expected = factor.reconstruct().unwrap();
        for (found, expected) in a.col_iter().zip(expected.col_iter()) {
            for (found, expected) in found.iter().zip(expected.iter()) {
                let error = (found.f64() - expected.f64()).abs();
                assert!(
                    error <= 8.0 * (n as f64).sqrt() * T::U * (1.0 + expected.f64().abs()),
                    "n = {n}: {error}"
                );
            }
        }
        assert_eq!(a, symmetric(a.as_ref()));
    }
}

#[test]
fn l_and_a_can_be_had_on_the_device() {
    let Some((_turn, engine)) = resident() else { return };
    made::<f64>(&engine);
    made::<f32>(&engine);
}

/// The hybrid engine has its factor in host memory: A is copied there.
#[test]
fn the_hybrid_engine_takes_a_matrix_on_the_device_as_well() {
    let Some((_turn, engine)) = hybrid() else { return };
    let a = matrix::<f64>(90, 0.0);
    let (here, from_there) = (
        Cholesky::new_in(&a, engine.clone()).unwrap(),
        Cholesky::new_in(&there(&a), engine.clone()).unwrap(),
    );
    let l = here.to_factor().unwrap();
    assert_eq!(from_there.to_factor().unwrap(), l);
    assert_eq!(Cholesky::from_factor_in(&there(&l), engine).unwrap().to_factor().unwrap(), l);
}

#[cfg(target_os = "linux")]
mod on_the_fake_driver {
    use super::*;
    use crate::support::cuda::fake_cuda::exclusive;

    /// Status, and the diagonals of A and L.
    #[test]
    fn nothing_else_crosses_the_link() {
        let Some(fake) = exclusive() else { return };
        let engine = Resident::new(&device().unwrap());
        for n in [64, 300] {
            let a = there(&matrix::<f64>(n, 0.0));
            let l = there(&Cholesky::new(&matrix::<f64>(n, 0.0)).unwrap().to_factor().unwrap());
            let crossed = |make: &dyn Fn() -> Cholesky<f64, Resident>| {
                fake.reset_stats();
                let factor = make();
                let made = (factor.to_factor_on_device().unwrap(), factor.reconstruct_on_device().unwrap());
                let stats = fake.stats();
                assert!(
                    stats.bytes_up == 0 && stats.bytes_down <= 8 * (2 * n as u64 + 8),
                    "n = {n}: {stats:?}"
                );
                drop(made);
            };
            crossed(&|| Cholesky::new_in(&a, engine.clone()).unwrap());
            crossed(&|| Cholesky::from_factor_in(&l, engine.clone()).unwrap());
        }
    }

    /// It takes its own memory and working memory, and no second matrix. If that is too large it is an error that says so, and
    /// all memory is freed.
    #[test]
    fn as_much_memory_as_a_factor_takes_is_enough() {
        let Some(fake) = exclusive() else { return };
        let engine = Resident::new(&device().unwrap());
        let n = 300;
        let a = there(&matrix::<f64>(n, 0.0));
        let before = fake.stats().live_bytes;
        fake.memory_cap((before as usize) + n * n * 8 * 5 / 4);
        drop(Cholesky::new_in(&a, engine.clone()).unwrap());
        assert_eq!(fake.stats().live_bytes, before);
        fake.memory_cap((before as usize) + n * n * 8 / 2);
        let refused = Cholesky::new_in(&a, engine).unwrap_err();
        assert!(matches!(refused, Error::Device { .. }), "{refused:?}");
        assert_eq!(fake.stats().live_bytes, before);
    }

    #[test]
    fn a_driver_error_anywhere_is_an_error() {
        let Some(fake) = exclusive() else { return };
        let engine = Resident::new(&device().unwrap());
        for (n, stride) in [(70, 1), (260, 16)] {
            let a = matrix::<f64>(n, 0.0);
            let make = |a: &DeviceMatrix<f64>| -> Result<Mat<f64>, Error> {
                let factor = Cholesky::new_in(a, engine.clone())?;
                let l = factor.to_factor_on_device()?;
                let again = Cholesky::from_factor_in(&l, engine.clone())?;
                again.to_factor()
            };
            let given = there(&a);
            fake.reset_stats();
            let expected = make(&given).unwrap();
            let calls = fake.stats().calls;
            for (at, error) in (0..calls).step_by(stride).flat_map(|at| [(at, 304), (at, 2)]) {
                fake.seed(at as u32 + 1);
                fake.fail_calls(at, 1, error);
                let outcome = make(&given);
                fake.fail_calls(0, 0, 0);
                match outcome {
                    // By another method, with other roundings.
                    Ok(a) => assert!((&a - &expected).norm_max() < 1e-13, "n = {n}, call {at}"),
                    Err(error) => assert!(matches!(error, Error::Device { .. }), "{error:?}"),
                }
                assert!(make(&given).unwrap() == expected, "n = {n}, behind call {at}");
            }
        }
    }
}
