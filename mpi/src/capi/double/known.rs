//! What a process knows of a factor. The other processes need not call these functions.

use super::super::arguments::{array_mut, borrow, place};
use super::super::status::{cholupdate_mpi_status, status_of};
use super::factor::cholupdate_mpi_d;

/// Writes n to `*n`. The other processes need not call it.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_order(
    factor: *const cholupdate_mpi_d,
    n: *mut i64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let order = borrow("factor", factor)?.held.order();
        // Numbers of rows fit 63 bits, because the argument did.
        place("n", n)?.write(order as i64);
        Ok(())
    })
}

/// Writes the number of rows of this process to `*rows`. The other processes need not call it.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_local_rows(
    factor: *const cholupdate_mpi_d,
    rows: *mut i64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let local = borrow("factor", factor)?.held.cyclic().rows();
        place("rows", rows)?.write(local as i64);
        Ok(())
    })
}

/// Writes log det A to `*log_det`. The other processes need not call it.
///
/// Returns NULL_POINTER or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_log_det(
    factor: *const cholupdate_mpi_d,
    log_det: *mut f64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let held = &borrow("factor", factor)?.held;
        let log_det = place("log_det", log_det)?;
        log_det.write(held.log_det()?);
        Ok(())
    })
}

/// Writes the diagonal of L to the caller's array `pivots` (n). The other processes need not call it.
///
/// Returns NULL_POINTER or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_pivots(
    factor: *const cholupdate_mpi_d,
    pivots: *mut f64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let held = &borrow("factor", factor)?.held;
        let pivots = array_mut("pivots", pivots, held.order())?;
        pivots.copy_from_slice(held.pivots()?);
        Ok(())
    })
}
