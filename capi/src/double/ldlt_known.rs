//! Numbers about a factor of an indefinite matrix, and what is expected of it.

use super::ldlt::cholupdate_d_ldlt;
use crate::arguments::{array, borrow, borrow_mut, count, place};
use crate::status::{cholupdate_status, status_of};
use core::ffi::c_double;

/// Writes the number of positive eigenvalues of A to `*positive`, and that of negative ones to `*negative`. Each may be NULL.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_inertia(
    factor: *const cholupdate_d_ldlt,
    positive: *mut i64,
    negative: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let inertia = borrow("factor", factor)?.held.inertia();
        for (place, number) in [(positive, inertia.0), (negative, inertia.1)] {
            if !place.is_null() {
                // Numbers of rows fit 63 bits, because the rows fit memory.
                place.write(number as i64);
            }
        }
        Ok(())
    })
}

/// Writes log |det A| to `*log_abs_det`. The sign of det A is that of (-1)^m, with the number m of negative eigenvalues.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_log_abs_det(
    factor: *const cholupdate_d_ldlt,
    log_abs_det: *mut f64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = &borrow("factor", factor)?.held;
        place("log_abs_det", log_abs_det)?.write(factor.log_abs_det());
        Ok(())
    })
}

/// Writes an estimate of the condition number of A in the 1-norm to `*condition`.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_condition(
    factor: *const cholupdate_d_ldlt,
    condition: *mut f64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = &borrow("factor", factor)?.held;
        let condition = place("condition", condition)?;
        condition.write(factor.condition()?);
        Ok(())
    })
}

/// Writes max (|L| |D| |L^T|)_ii / max |A_ii|, at least 1, to `*growth`; 1 for n = 0. Rounding errors of the factor, and of solutions,
/// are larger by up to this factor than those of a positive definite matrix. Every call that changes the factor has computed it.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_growth(
    factor: *const cholupdate_d_ldlt,
    growth: *mut c_double,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = &borrow("factor", factor)?.held;
        place("growth", growth)?.write(factor.growth());
        Ok(())
    })
}

/// Writes the growth above which a call returns UNSTABLE to `*limit`. At the beginning it is 1 / (4 u), with the unit roundoff u: no
/// digit is left.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_growth_limit(
    factor: *const cholupdate_d_ldlt,
    limit: *mut c_double,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = &borrow("factor", factor)?.held;
        place("limit", limit)?.write(factor.growth_limit());
        Ok(())
    })
}

/// Sets the limit of the growth, at least 1, for later calls. The current factor may have more.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_set_growth_limit(
    factor: *mut cholupdate_d_ldlt,
    limit: c_double,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { Ok(borrow_mut("factor", factor)?.held.set_growth_limit(limit)?) })
}

/// From now on a call whose result would have other numbers of positive and negative eigenvalues returns UNEXPECTED_INERTIA. The
/// current factor may have others, for instance before rows are appended. Replaces what was expected before.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_expect_inertia(
    factor: *mut cholupdate_d_ldlt,
    positive: i64,
    negative: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = &mut borrow_mut("factor", factor)?.held;
        factor.expect_inertia(count("positive", positive)?, count("negative", negative)?);
        Ok(())
    })
}

/// From now on a call after which a pivot would not have the sign of its row's entry of `signs` (n) returns UNEXPECTED_SIGN: for
/// quasi-definite matrices, whose pivots keep their signs in every order of the rows. An entry of 0 expects nothing, nor does a new
/// row. Replaces what was expected before. `signs` is copied.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_expect_signs(
    factor: *mut cholupdate_d_ldlt,
    signs: *const f64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = &mut borrow_mut("factor", factor)?.held;
        Ok(factor.expect_signs(array("signs", signs, factor.order())?)?)
    })
}

/// From now on any inertia is accepted, as at the beginning.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_expect_any_inertia(
    factor: *mut cholupdate_d_ldlt,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        borrow_mut("factor", factor)?.held.expect_any_inertia();
        Ok(())
    })
}
