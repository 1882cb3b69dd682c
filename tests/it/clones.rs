//! A clone has its own memory and is as accurate as the original.

use crate::support::contract::{allowed, backward_error_of_rows, some_rows};
use crate::support::real::Real;
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Cpu, Safeguard};

/// Orders with an even number of cache lines, an odd number, and a partial line.
const ORDERS: [usize; 6] = [1, 13, 16, 32, 64, 1024];

fn original_and_clone_agree<T: Real>() {
    for n in ORDERS {
        let entry = |i: usize, r: usize| T::of(((i * 7 + r * 5) % 11) as f64 / 40.0 - 0.1);
        let a = Mat::from_fn(n, n, |i, j| if i == j { T::of(4.0) } else { T::of(0.0) });
        let v = Mat::from_fn(n, 2, entry);
        // The first rows are zero: the columns before are copied, not exchanged.
        let late = Mat::from_fn(n, 1, |i, r| if i < n / 2 { T::of(0.0) } else { entry(i, r) });
        for safeguard in [Safeguard::ShadowBuffer, Safeguard::DryRun] {
            let cpu = Cpu::sequential().with_safeguard(safeguard);
            let mut original = Cholesky::new_in(&a, cpu).unwrap();
            original.update(&v).unwrap();
            let before = original.to_factor().unwrap();
            let mut clone = original.clone();
            for factor in [&mut original, &mut clone] {
                for v in [v.as_ref(), late.as_ref(), late.as_ref()] {
                    factor.update(v).unwrap();
                    factor.downdate(v).unwrap();
                }
                factor.downdate(&v).unwrap();
            }
            assert_eq!(original.l(), clone.l(), "n = {n}");
            clone.update(&v).unwrap();
            assert_ne!(original.l(), clone.l(), "n = {n}");
            // Eight calls, each with an error of up to the contract's bound for a matrix of up to twice the diagonal.
            let none = Mat::<T>::zeros(n, 0);
            let back = backward_error_of_rows(clone.l(), before.as_ref(), none.as_ref(), &[], some_rows(n));
            assert!(back <= 8.0 * 2.0 * allowed(n, 2), "n = {n}: {back:.1} u");
        }
    }
}

#[test]
fn a_clone_goes_on_by_itself() {
    original_and_clone_agree::<f64>();
    original_and_clone_agree::<f32>();
}

#[test]
fn a_factor_can_be_printed() {
    let factor = Cholesky::new(&Mat::<f64>::identity(3, 3)).unwrap();
    assert!(format!("{factor:?}").contains("order: 3"));
}
