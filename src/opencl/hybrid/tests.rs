//! Launches on a device that permits only small work-groups.

use super::Hybrid;
use crate::opencl::device::tests::with_work_groups_of;
use crate::opencl::{Device, Tuning};
use crate::{Cholesky, Weights};
use faer::Mat;

/// L after an update and a downdate. (150 × 150)
fn modified(device: &Device, tuning: Tuning) -> Mat<f32> {
    let order = 150;
    let a = Mat::from_fn(order, order, |i, j| if i == j { 9.0 } else { 1.0 / (1 + i.abs_diff(j)) as f32 });
    let v = Mat::from_fn(order, 5, |i, r| ((i * 7 + r * 3) % 11) as f32 / 11.0 - 0.4);
    let mut factor = Cholesky::new_in(&a, Hybrid::new(device, tuning).unwrap()).unwrap();
    factor.update(&v).unwrap();
    factor.modify_scaled(0.5, &v, Weights::Plus).unwrap();
    factor.downdate(v.subcols(0, 2)).unwrap();
    factor.to_factor().unwrap()
}

/// The rows of a launch are no multiple of these sizes, so that each launch has more work-items than rows.
#[test]
fn small_work_groups_change_no_bit() {
    let tuning = Tuning { blocks_per_kernel: 1, threads_per_block: 32, panel_cols: 16, ..Tuning::walder() };
    let Some(device) = with_work_groups_of(usize::MAX) else { return };
    let expected = modified(&device, tuning);
    for limit in [1, 5, 24] {
        let device = with_work_groups_of(limit).unwrap();
        assert!(modified(&device, tuning) == expected, "{limit} work-items");
    }
}
