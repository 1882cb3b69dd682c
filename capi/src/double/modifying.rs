//! A <- A + V diag(w) V^T on a factor.

use super::factor::cholupdate_d;
use crate::arguments::{borrow_mut, count, matrix, place, tell, weights_or_ones};
use crate::report::cholupdate_report;
use crate::status::{cholupdate_status, status_of};
use cholupdate::Weights;

/// A <- A + V V^T. V (n x k) is not changed; `report` may be NULL.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_update(
    factor: *mut cholupdate_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let v = matrix("v", v, (factor.kept.order(), count("k", k)?), ldv)?;
        tell(report, factor.kept.change(|held| held.modify(v, Weights::Plus))?);
        Ok(())
    })
}

/// A <- A - V V^T. V (n x k) is not changed; `report` may be NULL.
///
/// Returns as cholupdate_d_update(), and NOT_POSITIVE_DEFINITE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_downdate(
    factor: *mut cholupdate_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let v = matrix("v", v, (factor.kept.order(), count("k", k)?), ldv)?;
        tell(report, factor.kept.change(|held| held.modify(v, Weights::Minus))?);
        Ok(())
    })
}

/// A <- A + V diag(w) V^T, with any mix of signs: whether it succeeds depends on the result alone. V (n x k) and `weights` (k)
/// are not changed. NULL `weights` are those of an update, which are all 1; `report` may be NULL.
///
/// Returns as cholupdate_d_downdate().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_modify(
    factor: *mut cholupdate_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    weights: *const f64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let rank = count("k", k)?;
        let v = matrix("v", v, (factor.kept.order(), rank), ldv)?;
        let weights = weights_or_ones(weights, rank)?;
        tell(report, factor.kept.change(|held| held.modify(v, weights))?);
        Ok(())
    })
}

/// Writes 1 to `*can` if cholupdate_d_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x k)
/// and the matrix are not changed; the factor's working memory is.
///
/// Returns as cholupdate_d_update().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_can_downdate(
    factor: *mut cholupdate_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    can: *mut i32,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let v = matrix("v", v, (factor.kept.order(), count("k", k)?), ldv)?;
        let can = place("can", can)?;
        can.write(factor.kept.at_rest_mut()?.can_downdate(v)?.into());
        Ok(())
    })
}
