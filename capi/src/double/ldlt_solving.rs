//! Solves with a factor of an indefinite matrix, with one side or both.

use super::ldlt::cholupdate_d_ldlt;
use crate::arguments::{borrow, count, matrix_mut};
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::{Error, Ldlt, OperandMut};

/// B (n x nrhs) <- X with A X = B, in the caller's array `b`.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_solve(
    factor: *const cholupdate_d_ldlt,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { solved(|factor, b| factor.solve_in_place(b), factor, nrhs, b, ldb) })
}

/// B (n x nrhs) <- Y with L Y = B, in the caller's array `b`. With it Y^T S Y = B^T A^-1 B.
///
/// Returns as cholupdate_d_ldlt_solve().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_solve_l(
    factor: *const cholupdate_d_ldlt,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { solved(|factor, b| factor.solve_l_in_place(b), factor, nrhs, b, ldb) })
}

/// B (n x nrhs) <- X with L^T X = B, in the caller's array `b`.
///
/// Returns as cholupdate_d_ldlt_solve().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_solve_lt(
    factor: *const cholupdate_d_ldlt,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { solved(|factor, b| factor.solve_lt_in_place(b), factor, nrhs, b, ldb) })
}

/// A solve, or a half of one.
type Solve = fn(&Ldlt<f64>, OperandMut<'_, f64>) -> Result<(), Error>;

/// Solves with an array in host memory.
///
/// # Safety
/// Pointers are NULL or point to what the header says.
unsafe fn solved(
    solve: Solve,
    factor: *const cholupdate_d_ldlt,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> Result<(), Refused> {
    // SAFETY: the caller guarantees the pointers.
    unsafe {
        let factor = &borrow("factor", factor)?.held;
        let b = matrix_mut("b", b, (factor.order(), count("nrhs", nrhs)?), ldb)?;
        Ok(solve(factor, OperandMut::Host(b))?)
    }
}
