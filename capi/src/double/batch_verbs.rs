//! Modifications of batches, solves and determinants.

use super::batch::cholupdate_d_batch;
use crate::arguments::{borrow, borrow_mut, count, place};
use crate::batch_weights::weighted;
use crate::batches::{Results, each_or_null, masked, matrices, matrices_mut};
use crate::changing::Sides;
use crate::held::by_reference;
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::{BatchWeights, Weights};
use core::ffi::c_double;

/// A <- A + V V^T for each matrix. V (n x k each) is not changed. `info`, `min_pivot_ratio` and `log_det_change` (count each) may be
/// NULL; the last two are as in cholupdate_report, and NaN for matrices that have failed.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with NOT_FINITE or OVERFLOW in `info`, or why there is no factor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_update(
    batch: *mut cholupdate_d_batch,
    k: i64,
    v: *const f64,
    v_strides: *const i64,
    info: *mut i64,
    min_pivot_ratio: *mut c_double,
    log_det_change: *mut c_double,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (given, numbers) = ((k, v, v_strides), (min_pivot_ratio, log_det_change));
        modified(batch, given, Weights::Plus.into(), None, (info, numbers))
    })
}

/// A <- A - V V^T for each matrix. As cholupdate_d_batch_update().
///
/// Returns as cholupdate_d_batch_update(); SOME_FAILED also for matrices that would not be positive definite, or are singular.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_downdate(
    batch: *mut cholupdate_d_batch,
    k: i64,
    v: *const f64,
    v_strides: *const i64,
    info: *mut i64,
    min_pivot_ratio: *mut c_double,
    log_det_change: *mut c_double,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (given, numbers) = ((k, v, v_strides), (min_pivot_ratio, log_det_change));
        modified(batch, given, Weights::Minus.into(), None, (info, numbers))
    })
}

/// A <- A + V diag(w) V^T for each matrix, with any mix of signs. A `weights_stride` of 0 is for `weights` (k) of all matrices;
/// otherwise it is k or more, and those of matrix b begin at weights[b * weights_stride]. NULL `weights` are ones. Columns with the
/// weight 0 may be anything. With a `mask` (count), matrices with mask[b] == 0 stay as they are: their `info` is 0, their ratio 1, and
/// their change 0. A NULL `mask` is for all matrices. The rest is as in cholupdate_d_batch_update().
///
/// Returns as cholupdate_d_batch_downdate(), and NOT_FINITE for `weights` of all matrices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_modify(
    batch: *mut cholupdate_d_batch,
    k: i64,
    v: *const f64,
    v_strides: *const i64,
    weights: *const f64,
    weights_stride: i64,
    mask: *const u8,
    info: *mut i64,
    min_pivot_ratio: *mut c_double,
    log_det_change: *mut c_double,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let matrices = borrow("batch", batch)?.batch.extents()?.0;
        let mask = masked(mask, matrices)?;
        let mut copied = Vec::new();
        let weights = weighted(weights, weights_stride, (matrices, count("k", k)?), &mut copied)?;
        let (given, numbers) = ((k, v, v_strides), (min_pivot_ratio, log_det_change));
        modified(batch, given, weights, mask.as_deref(), (info, numbers))
    })
}

/// Modifies a batch by V, and writes the outcome.
///
/// # Safety
/// Pointers are NULL or point to what the header says.
unsafe fn modified(
    batch: *mut cholupdate_d_batch,
    (k, v, v_strides): (i64, *const f64, *const i64),
    weights: BatchWeights<'_, f64>,
    mask: Option<&[bool]>,
    (info, numbers): (*mut i64, (*mut c_double, *mut c_double)),
) -> Result<(), Refused> {
    // SAFETY: the caller guarantees the pointers.
    unsafe {
        let batch = &mut borrow_mut("batch", batch)?.batch;
        let ((matrices, n), rank) = (batch.extents()?, count("k", k)?);
        let results = Results::new(matrices, info, numbers)?;
        let v = self::matrices("v", v, [matrices, n, rank], v_strides)?;
        batch.modify(v, weights, mask, &results)
    }
}

/// B (n x nrhs each) <- X with A X = B for each matrix, in the caller's array `b`, of which no two entries share memory. The
/// right-hand sides of matrices that fail stay as they were. `info` (count) may be NULL.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED for B that is not finite, singular matrices, and those without a factor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_solve(
    batch: *const cholupdate_d_batch,
    nrhs: i64,
    b: *mut f64,
    b_strides: *const i64,
    info: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { solved(Sides::Both, batch, (nrhs, b, b_strides), info) })
}

/// B (n x nrhs each) <- Y with L Y = B. As cholupdate_d_batch_solve().
///
/// Returns as cholupdate_d_batch_solve().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_solve_l(
    batch: *const cholupdate_d_batch,
    nrhs: i64,
    b: *mut f64,
    b_strides: *const i64,
    info: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { solved(Sides::L, batch, (nrhs, b, b_strides), info) })
}

/// B (n x nrhs each) <- X with L^T X = B. As cholupdate_d_batch_solve().
///
/// Returns as cholupdate_d_batch_solve().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_solve_lt(
    batch: *const cholupdate_d_batch,
    nrhs: i64,
    b: *mut f64,
    b_strides: *const i64,
    info: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { solved(Sides::Transposed, batch, (nrhs, b, b_strides), info) })
}

/// Solves, and writes what has failed.
///
/// # Safety
/// Pointers are NULL or point to what the header says.
unsafe fn solved(
    sides: Sides,
    batch: *const cholupdate_d_batch,
    (nrhs, b, b_strides): (i64, *mut f64, *const i64),
    info: *mut i64,
) -> Result<(), Refused> {
    // SAFETY: the caller guarantees the pointers.
    unsafe {
        let batch = &borrow("batch", batch)?.batch;
        let (matrices, n) = batch.extents()?;
        let results = Results::of_info(matrices, info)?;
        let b = matrices_mut("b", b, [matrices, n, count("nrhs", nrhs)?], b_strides)?;
        batch.solve(sides, b, &results)
    }
}

/// Writes log det A of each matrix to `log_det` (count): NaN if it is singular or has no factor. `info` (count)
/// may be NULL.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED if there are such matrices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_log_det(
    batch: *const cholupdate_d_batch,
    log_det: *mut c_double,
    info: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = &borrow("batch", batch)?.batch;
        let matrices = batch.extents()?.0;
        let results = Results::of_info(matrices, info)?;
        each_or_null("log_det", log_det, matrices)?;
        let log_det = place("log_det", log_det)?;
        let (numbers, failures) = batch.log_dets()?;
        log_det.copy_from_nonoverlapping(numbers.as_ptr(), matrices);
        results.tell_failures(by_reference(&failures))
    })
}
