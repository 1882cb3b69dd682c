//! Solves, with one side or both.

use super::super::agreement::{Call, agreed};
use super::super::arguments::{borrow, columns, matrix_mut};
use super::super::status::{Refused, cholupdate_mpi_status, status_of_all};
use super::factor::cholupdate_mpi_d;
use crate::distributed::Distributed;
use cholupdate::Error;
use cholupdate::faer::MatMut;

/// B (n x nrhs) <- X with A X = B. Each process has its local rows of B, and gets those of X, in the caller's array `b` (local rows x
/// nrhs).
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, NOT_FINITE or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_solve(
    factor: *const cholupdate_mpi_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe { solved((Call::Solve, Distributed::solve_in_place), factor, nrhs, b, ldb) })
}

/// B (n x nrhs) <- Y with L Y = B, as cholupdate_mpi_d_solve().
///
/// Returns as cholupdate_mpi_d_solve().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_solve_l(
    factor: *const cholupdate_mpi_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe { solved((Call::SolveL, Distributed::solve_l_in_place), factor, nrhs, b, ldb) })
}

/// B (n x nrhs) <- X with L^T X = B, as cholupdate_mpi_d_solve().
///
/// Returns as cholupdate_mpi_d_solve().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_solve_lt(
    factor: *const cholupdate_mpi_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe { solved((Call::SolveLt, Distributed::solve_lt_in_place), factor, nrhs, b, ldb) })
}

type Solve = fn(&Distributed<f64>, MatMut<'_, f64>) -> Result<(), Error>;

/// Solves by `solve`, in place.
///
/// # Safety
/// Pointers are NULL or point to what the header says.
unsafe fn solved(
    (call, solve): (Call, Solve),
    factor: *const cholupdate_mpi_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> Result<(), Refused> {
    // SAFETY: the caller guarantees the pointers.
    unsafe {
        let held = &borrow("factor", factor)?.held;
        // Every process holds the right-hand sides whole in between.
        let rhs = columns::<f64>("nrhs", nrhs, held.order().max(1));
        let rhs = rhs.and_then(|nrhs| matrix_mut("b", b, (held.cyclic().rows(), nrhs), ldb));
        let rhs = agreed::<f64, _>(held.factor.net(), call, rhs)?;
        Ok(solve(held, rhs)?)
    }
}
