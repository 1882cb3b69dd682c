//! Numbers about a factor: log det A, the condition number, and the estimated error.

use super::factor::cholupdate_d;
use crate::arguments::{borrow, count, place};
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::RefactorPolicy;
use core::ffi::c_double;

/// Writes log det A to `*log_det`.
///
/// Returns NULL_POINTER or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_log_det(
    factor: *const cholupdate_d,
    log_det: *mut f64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let log_det = place("log_det", log_det)?;
        log_det.write(factor.kept.at_rest()?.log_det()?);
        Ok(())
    })
}

/// Writes an estimate of the condition number of A in the 1-norm to `*condition`.
///
/// Returns NULL_POINTER or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_condition(
    factor: *const cholupdate_d,
    condition: *mut f64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let condition = place("condition", condition)?;
        condition.write(factor.kept.at_rest()?.condition()?);
        Ok(())
    })
}

/// Writes an estimate of max |(L L^T - A)_ij| / sqrt(a_ii a_jj) to `*estimate`, where A is the exact matrix: the error that all
/// modifications since L was computed have added, in either precision.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_error_estimate(
    factor: *const cholupdate_d,
    estimate: *mut c_double,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let estimate = place("estimate", estimate)?;
        estimate.write(factor.kept.at_rest()?.error_estimate());
        Ok(())
    })
}

/// Writes 1 to `*needs` if A should be factored again, otherwise 0. It should be if cholupdate_d_error_estimate() exceeds
/// `max_error`, or if there were more than `max_modifications` since L was computed. A `max_error` of 0 stands for half of the
/// digits, the square root of the unit roundoff; INT64_MAX permits any number of modifications.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_needs_refactor(
    factor: *const cholupdate_d,
    max_error: c_double,
    max_modifications: i64,
    needs: *mut i32,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        if !(max_error >= 0.0) {
            return Err(Refused::invalid("max_error", max_error, "0 or more"));
        }
        let policy = RefactorPolicy {
            max_error: (max_error > 0.0).then_some(max_error),
            max_modifications: count("max_modifications", max_modifications)?,
        };
        let needs = place("needs", needs)?;
        needs.write(factor.kept.at_rest()?.needs_refactor(&policy).into());
        Ok(())
    })
}
