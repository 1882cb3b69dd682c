//! What calls on a batch in the memory of a GPU have done, for those that do not wait for it.

use super::batch::cholupdate_d_batch;
use crate::arguments::{borrow, place};
use crate::batches::Results;
use crate::changing::tell;
use crate::held::by_reference;
use crate::status::{Refused, cholupdate_status, status_of};
use core::ffi::c_double;

/// Waits for the last modification of a batch in the memory of a GPU, of rows as well, and writes its outcome to `info`, `min_pivot_ratio`
/// and `log_det_change` (count each), as cholupdate_d_batch_modify() does. Each may be NULL.
///
/// Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome: the batch was not modified, or cholupdate_d_batch_reserve() or
/// cholupdate_d_batch_replace() came after; SOME_FAILED as the modification would; the statuses of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_outcome(
    batch: *const cholupdate_d_batch,
    info: *mut i64,
    min_pivot_ratio: *mut c_double,
    log_det_change: *mut c_double,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = borrow("batch", batch)?.batch.there()?;
        let results = Results::new(batch.count(), info, (min_pivot_ratio, log_det_change))?;
        tell(&batch.outcome().ok_or_else(|| none("modified"))?, &results)
    })
}

/// Writes where the outcome of the last modification of a batch in the memory of a GPU is, for work on the device: the addresses, each a
/// CUdeviceptr, of arrays with an entry for each matrix. Each pointer may be NULL. `*status` has 32-bit integers: 0, 1 + the column of a
/// squared pivot that is not positive, or
///     -1         if the matrix has no factor,
///     -2, -3     if V or a new column, or a weight, is not finite,
///     -4         if squares could overflow,
///     -5         if the matrix is singular,
///     -6         if the call failed on the device before it was decided,
///     -7, -8     if it has no room for a row, or not the row that was to be removed.
/// `*pivot_ratio` has numbers in double precision, the least ratio of a new pivot to the old one, whose square is `min_pivot_ratio`;
/// `*log_det_change` has the change of log det A, in double precision. Both are undefined for matrices that have failed. The arrays are
/// written by the next modification. Work on its stream that comes before that may read them.
///
/// Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome, as cholupdate_d_batch_outcome().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_outcome_addresses(
    batch: *const cholupdate_d_batch,
    status: *mut u64,
    pivot_ratio: *mut u64,
    log_det_change: *mut u64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = borrow("batch", batch)?.batch.there()?;
        let addresses = batch.outcome().ok_or_else(|| none("modified"))?.addresses();
        for (place, address) in [status, pivot_ratio, log_det_change].into_iter().zip(addresses) {
            if !place.is_null() {
                place.write(address);
            }
        }
        Ok(())
    })
}

/// Waits for the last solve with a batch in the memory of a GPU, of any thread, and writes to `info` (count), which may be NULL, what
/// has failed.
///
/// Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome: there was no solve, or cholupdate_d_batch_reserve() or
/// cholupdate_d_batch_replace() came after; SOME_FAILED as cholupdate_d_batch_solve(); the statuses of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_solve_outcome(
    batch: *const cholupdate_d_batch,
    info: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = borrow("batch", batch)?.batch.there()?;
        let results = Results::of_info(batch.count(), info)?;
        let failures = batch.solve_status().ok_or_else(|| none("solved with"))?.failures()?;
        results.tell_failures(by_reference(&failures))
    })
}

/// Writes the address on the device, a CUdeviceptr, of what cholupdate_d_batch_solve_outcome() is about to `*status`: a 32-bit integer
/// for each matrix, as in cholupdate_d_batch_outcome_addresses(), with -2 for B that is not finite. The next solve writes them.
///
/// Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome, as cholupdate_d_batch_solve_outcome().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_solve_outcome_address(
    batch: *const cholupdate_d_batch,
    status: *mut u64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = borrow("batch", batch)?.batch.there()?;
        let address = batch.solve_status().ok_or_else(|| none("solved with"))?.address();
        place("status", status)?.write(address);
        Ok(())
    })
}

/// There is nothing to tell.
fn none(done: &str) -> Refused {
    Refused::not_so(format!(
        "`batch` has no outcome: it was not {done}, or `reserve` or `replace` came after"
    ))
}
