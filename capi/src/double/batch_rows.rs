//! Rows and columns of the matrices of batches.

use super::batch::cholupdate_d_batch;
use crate::arguments::{array, borrow, borrow_mut, count, place};
use crate::batches::{Results, each_or_null, masked, matrices};
use crate::status::{Refused, cholupdate_status, status_of};
use core::ffi::c_double;

/// Writes the order of each matrix to `orders` (count): 0 for one without a factor.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_orders(
    batch: *const cholupdate_d_batch,
    orders: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = &borrow("batch", batch)?.batch;
        each_or_null("orders", orders, batch.extents()?.0)?;
        let orders = place("orders", orders)?;
        for (matrix, order) in batch.orders()?.into_iter().enumerate() {
            // Numbers of rows fit 63 bits, because they fit memory.
            orders.add(matrix).write(order as i64);
        }
        Ok(())
    })
}

/// Makes room for matrices of order `n`, which becomes the n of the batch, and with it the number of rows of V and of right-hand
/// sides, unless that is as large already. No matrix changes.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_reserve(
    batch: *mut cholupdate_d_batch,
    n: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { borrow_mut("batch", batch)?.batch.reserve(count("n", n)?) })
}

/// Appends a row and column to each matrix. `a` (n x 1 each) are the new columns: of a matrix of order m the first m entries are above
/// the diagonal, the next one is on it, and the others may be anything. `mask` is as in cholupdate_d_batch_modify(); the columns of
/// matrices that it leaves out may be anything. `info`, `min_pivot_ratio` and `log_det_change` (count each) may be NULL.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with the reason in `info`, for matrices that would not be positive definite,
/// are singular or of order n, or whose column is not finite or too large.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_append(
    batch: *mut cholupdate_d_batch,
    a: *const f64,
    a_strides: *const i64,
    mask: *const u8,
    info: *mut i64,
    min_pivot_ratio: *mut c_double,
    log_det_change: *mut c_double,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = &mut borrow_mut("batch", batch)?.batch;
        let (matrices, n) = batch.extents()?;
        let results = Results::new(matrices, info, (min_pivot_ratio, log_det_change))?;
        let mask = masked(mask, matrices)?;
        let a = self::matrices("a", a, [matrices, n, 1], a_strides)?;
        batch.append(a, mask.as_deref(), &results)
    })
}

/// Removes a row and column of each matrix b, that of the number indices[b]. `mask` is as in cholupdate_d_batch_modify(); the indices
/// of matrices that it leaves out may be anything. `info`, `min_pivot_ratio` and `log_det_change` (count each) may be NULL.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with the reason in `info`, for matrices that do not have the row, or are
/// singular.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_remove(
    batch: *mut cholupdate_d_batch,
    indices: *const i64,
    mask: *const u8,
    info: *mut i64,
    min_pivot_ratio: *mut c_double,
    log_det_change: *mut c_double,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = &mut borrow_mut("batch", batch)?.batch;
        let matrices = batch.extents()?.0;
        let results = Results::new(matrices, info, (min_pivot_ratio, log_det_change))?;
        let mask = masked(mask, matrices)?;
        let given = array("indices", indices, matrices)?;
        let looked_at = |matrix: usize| mask.as_ref().is_none_or(|mask| mask[matrix]);
        let index = |(matrix, &index): (usize, &i64)| match usize::try_from(index) {
            Ok(index) => Ok(index),
            Err(_) if !looked_at(matrix) => Ok(0),
            Err(_) => Err(Refused::invalid(&format!("indices[{matrix}]"), index, "0 or more")),
        };
        let indices = given.iter().enumerate().map(index).collect::<Result<Vec<_>, _>>()?;
        batch.remove(&indices, mask.as_deref(), &results)
    })
}
