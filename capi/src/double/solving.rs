//! Solves, with one side or both, and products.

use super::factor::cholupdate_d;
use crate::arguments::{borrow, count, device_matrix_mut, matrix_mut};
use crate::kept::Factor;
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::{Error, OperandMut};
use core::ffi::c_void;

/// B (n x nrhs) <- X with A X = B, in the caller's array `b`.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { solved(|factor, b| factor.solve_in_place(b), factor, nrhs, b, ldb) })
}

/// B (n x nrhs) <- Y with L Y = B, in the caller's array `b`.
///
/// Returns as cholupdate_d_solve().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_l(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { solved(|factor, b| factor.solve_l_in_place(b), factor, nrhs, b, ldb) })
}

/// B (n x nrhs) <- X with L^T X = B, in the caller's array `b`.
///
/// Returns as cholupdate_d_solve().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_lt(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { solved(|factor, b| factor.solve_lt_in_place(b), factor, nrhs, b, ldb) })
}

/// X (n x m) <- A X = L L^T X, in the caller's array `x`. A is not formed, and may be singular.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_multiply(
    factor: *const cholupdate_d,
    m: i64,
    x: *mut f64,
    ldx: i64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe { multiplied(|factor, x| factor.multiply_in_place(x), factor, m, x, ldx) })
}

/// X (n x m) <- L X, in the caller's array `x`.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_multiply_l(
    factor: *const cholupdate_d,
    m: i64,
    x: *mut f64,
    ldx: i64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe { multiplied(|factor, x| factor.multiply_l_in_place(x), factor, m, x, ldx) })
}

/// X (n x m) <- L^T X, in the caller's array `x`.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_multiply_lt(
    factor: *const cholupdate_d,
    m: i64,
    x: *mut f64,
    ldx: i64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe { multiplied(|factor, x| factor.multiply_lt_in_place(x), factor, m, x, ldx) })
}

/// A solve, a product, or a half of one.
type Solve = fn(&Factor<f64>, &mut OperandMut<'_, f64>) -> Result<(), Error>;

/// Solves with an array in host memory.
///
/// # Safety
/// Pointers are NULL or point to what the header says.
unsafe fn solved(
    solve: Solve,
    factor: *const cholupdate_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> Result<(), Refused> {
    // SAFETY: the caller guarantees the pointers.
    unsafe {
        let factor = borrow("factor", factor)?;
        let b = matrix_mut("b", b, (factor.kept.order(), count("nrhs", nrhs)?), ldb)?;
        Ok(solve(factor.kept.at_rest()?, &mut OperandMut::Host(b))?)
    }
}

/// A product, with one of its sides or both.
///
/// # Safety
/// Pointers are NULL or lead to what the header says.
unsafe fn multiplied(
    multiply: Solve,
    factor: *const cholupdate_d,
    m: i64,
    x: *mut f64,
    ldx: i64,
) -> Result<(), Refused> {
    // SAFETY: forwarded to the caller.
    unsafe {
        let factor = borrow("factor", factor)?;
        let x = matrix_mut("x", x, (factor.kept.order(), count("m", m)?), ldx)?;
        Ok(multiply(factor.kept.at_rest()?, &mut OperandMut::Host(x))?)
    }
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
