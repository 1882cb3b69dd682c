//! Solves, with one side or both, and products.

use super::factor::cholupdate_d;
use crate::arguments::{borrow, count, matrix_mut};
use crate::kept::Factor;
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::{Error, OperandMut};

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
pub(super) type Solve = fn(&Factor<f64>, &mut OperandMut<'_, f64>) -> Result<(), Error>;

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
