//! A clone has memory of its own and is as good as the original.

use cholupdate::{Cholesky, Cpu, Safeguard, Scalar};
use faer::Mat;

/// Orders whose cache lines are even in number, odd, and not whole.
const ORDERS: [usize; 6] = [1, 13, 16, 32, 64, 1024];

fn original_and_clone_agree<T: Scalar>(convert: impl Fn(f64) -> T) {
    for n in ORDERS {
        let entry = |i: usize, r: usize| convert(((i * 7 + r * 5) % 11) as f64 / 40.0 - 0.1);
        let a = Mat::from_fn(n, n, |i, j| if i == j { convert(4.0) } else { convert(0.0) });
        let v = Mat::from_fn(n, 2, entry);
        // The first rows are zero: the columns before are copied, not exchanged.
        let late = Mat::from_fn(n, 1, |i, r| if i < n / 2 { convert(0.0) } else { entry(i, r) });
        for safeguard in [Safeguard::ShadowBuffer, Safeguard::DryRun] {
            let cpu = Cpu::sequential().with_safeguard(safeguard);
            let mut original = Cholesky::new_in(&a, cpu).unwrap();
            original.update(&v).unwrap();
            let before = original.to_factor().unwrap();
            let mut clone = original.clone();
            for factor in [&mut original, &mut clone] {
                for v in [v.as_ref(), late.as_ref(), late.as_ref()] {
                    factor.update(&v).unwrap();
                    factor.downdate(&v).unwrap();
                }
                factor.downdate(&v).unwrap();
            }
            assert_eq!(original.l(), clone.l(), "n = {n}");
            clone.update(&v).unwrap();
            assert_ne!(original.l(), clone.l(), "n = {n}");
            let back = (clone.l() - &before).norm_max();
            assert!(back < T::from_f64_impl(1e-4), "n = {n}: {back:?}");
        }
    }
}

#[test]
fn a_clone_goes_on_by_itself() {
    original_and_clone_agree::<f64>(|x| x);
    original_and_clone_agree::<f32>(|x| x as f32);
}

#[test]
fn a_factor_can_be_printed() {
    let factor = Cholesky::new(&Mat::<f64>::identity(3, 3)).unwrap();
    assert!(format!("{factor:?}").contains("order: 3"));
}
