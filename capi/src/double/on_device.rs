//! Modifications, solves and modifications in flight, with arrays in the memory of a GPU.

use super::factor::cholupdate_d;
use super::pending::{cholupdate_d_pending, submitted};
use super::solving::Solve;
use crate::arguments::{
    borrow, borrow_mut, count, device_matrix, device_matrix_mut, place, tell, weights_or_ones,
};
use crate::report::cholupdate_report;
use crate::status::{Refused, cholupdate_status, status_of};
use core::ffi::c_void;

/// As cholupdate_d_modify() with V in the memory of GPU number `device`: `v` is a CUdeviceptr, `stream` a CUstream of the
/// device's primary context or NULL for its default stream. The call comes after work already on the stream, and before later
/// work on it. `weights` (k) are in host memory.
///
/// Returns as cholupdate_d_modify(), and the statuses of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_modify_on_device(
    factor: *mut cholupdate_d,
    k: i64,
    v: u64,
    ldv: i64,
    weights: *const f64,
    device: i64,
    stream: *mut c_void,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let rank = count("k", k)?;
        let v = device_matrix("v", v, (factor.kept.order(), rank), ldv, (device, stream))?;
        let weights = weights_or_ones(weights, rank)?;
        tell(report, factor.kept.change(|held| held.modify(&v, weights))?);
        Ok(())
    })
}

/// As cholupdate_d_submit() with V in the memory of GPU number `device`, as in cholupdate_d_modify_on_device().
///
/// Returns as cholupdate_d_submit(), and the statuses of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_submit_on_device(
    factor: *mut cholupdate_d,
    k: i64,
    v: u64,
    ldv: i64,
    weights: *const f64,
    device: i64,
    stream: *mut c_void,
    pending: *mut *mut cholupdate_d_pending,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        let order = borrow_mut("factor", factor)?.kept.order();
        let v = device_matrix("v", v, (order, count("k", k)?), ldv, (device, stream))?;
        submitted(factor, &v, k, weights, pending)
    })
}

/// As cholupdate_d_pending_solve() with B in the memory of GPU number `device`, as in cholupdate_d_modify_on_device(): `b` is a
/// CUdeviceptr.
///
/// Returns as cholupdate_d_pending_solve(), and the statuses of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_pending_solve_on_device(
    pending: *mut cholupdate_d_pending,
    nrhs: i64,
    b: u64,
    ldb: i64,
    device: i64,
    stream: *mut c_void,
    report: *mut cholupdate_report,
    solved: *mut cholupdate_status,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        let pending = borrow_mut("pending", pending)?;
        let shape = (pending.order()?, count("nrhs", nrhs)?);
        let b = device_matrix_mut("b", b, shape, ldb, (device, stream))?;
        pending.solve(b, report, place("solved", solved)?)
    })
}

/// As cholupdate_d_solve() with B in the memory of GPU number `device`, as in cholupdate_d_modify_on_device(): `b` is a CUdeviceptr.
///
/// Returns as cholupdate_d_solve(), and the statuses of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_on_device(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: u64,
    ldb: i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        solved_on_device(|factor, b| factor.solve_in_place(b), factor, nrhs, (b, ldb), (device, stream))
    })
}

/// As cholupdate_d_solve_l(), on a device.
///
/// Returns as cholupdate_d_solve_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_l_on_device(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: u64,
    ldb: i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        solved_on_device(|factor, b| factor.solve_l_in_place(b), factor, nrhs, (b, ldb), (device, stream))
    })
}

/// As cholupdate_d_solve_lt(), on a device.
///
/// Returns as cholupdate_d_solve_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_lt_on_device(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: u64,
    ldb: i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        solved_on_device(|factor, b| factor.solve_lt_in_place(b), factor, nrhs, (b, ldb), (device, stream))
    })
}

/// Solves with a matrix on a device.
///
/// # Safety
/// Pointers and addresses are NULL or point to what the header says.
unsafe fn solved_on_device(
    solve: Solve,
    factor: *const cholupdate_d,
    nrhs: i64,
    (b, ldb): (u64, i64),
    place: (i64, *mut c_void),
) -> Result<(), Refused> {
    // SAFETY: the caller guarantees the pointers and addresses.
    unsafe {
        let factor = borrow("factor", factor)?;
        let mut b =
            device_matrix_mut::<f64>("b", b, (factor.kept.order(), count("nrhs", nrhs)?), ldb, place)?;
        Ok(solve(factor.kept.at_rest()?, &mut b)?)
    }
}
