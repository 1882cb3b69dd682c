//! A <- A + V diag(w) V^T on a factor of an indefinite matrix.

use super::ldlt::cholupdate_d_ldlt;
use crate::arguments::{borrow_mut, columns, count, matrix, matrix_mut, place, tell, weights_or_ones};
use crate::report::cholupdate_ldlt_report;
use crate::status::{cholupdate_status, status_of};

/// A <- A + V V^T. V (n x k) is not changed; `report` may be NULL.
///
/// Returns as cholupdate_d_ldlt_modify().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_update(
    factor: *mut cholupdate_d_ldlt,
    k: i64,
    v: *const f64,
    ldv: i64,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let v = matrix("v", v, (factor.held.order(), count("k", k)?), ldv)?;
        tell(report, factor.change(|held| held.update(v))?);
        Ok(())
    })
}

/// A <- A - V V^T. V (n x k) is not changed; `report` may be NULL.
///
/// Returns as cholupdate_d_ldlt_modify().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_downdate(
    factor: *mut cholupdate_d_ldlt,
    k: i64,
    v: *const f64,
    ldv: i64,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let v = matrix("v", v, (factor.held.order(), count("k", k)?), ldv)?;
        tell(report, factor.change(|held| held.downdate(v))?);
        Ok(())
    })
}

/// A <- A + V diag(w) V^T, with any mix of signs: whether it succeeds depends on the leading minors of the result alone. V (n x k) and
/// `weights` (k) are not changed. NULL `weights` are those of an update, which are all 1; `report` may be NULL.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE; UNEXPECTED_INERTIA or UNEXPECTED_SIGN if
/// something is expected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_modify(
    factor: *mut cholupdate_d_ldlt,
    k: i64,
    v: *const f64,
    ldv: i64,
    weights: *const f64,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let rank = count("k", k)?;
        let v = matrix("v", v, (factor.held.order(), rank), ldv)?;
        let weights = weights_or_ones(weights, rank)?;
        tell(report, factor.change(|held| held.modify(v, weights))?);
        Ok(())
    })
}

/// A <- decay A + V diag(w) V^T, 0 < decay <= 1. V (n x k) and `weights` (k) are not changed; NULL weights are all 1. `report`,
/// relative to the old A, may be NULL.
///
/// Returns as cholupdate_d_ldlt_modify().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_modify_scaled(
    factor: *mut cholupdate_d_ldlt,
    decay: f64,
    k: i64,
    v: *const f64,
    ldv: i64,
    weights: *const f64,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let rank = count("k", k)?;
        let v = matrix("v", v, (factor.held.order(), rank), ldv)?;
        let weights = weights_or_ones(weights, rank)?;
        tell(report, factor.change(|held| held.modify_scaled(decay, v, weights))?);
        Ok(())
    })
}

/// As cholupdate_d_ldlt_modify_scaled(), with m right-hand sides b, which become decay b + V diag(w) `y`, `y` (k x m), for A and b with
/// A x = b. `z` (n x m) is L^-1 b, as cholupdate_d_ldlt_solve_l() or an earlier call has computed it, and becomes that of the new L and
/// b. cholupdate_d_ldlt_solve_lt() of S z is x. `report` may be NULL.
///
/// Returns as cholupdate_d_ldlt_modify(); nothing is changed unless it returns OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_modify_carrying(
    factor: *mut cholupdate_d_ldlt,
    decay: f64,
    k: i64,
    v: *const f64,
    ldv: i64,
    weights: *const f64,
    m: i64,
    y: *const f64,
    ldy: i64,
    z: *mut f64,
    ldz: i64,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (order, rank) = (factor.held.order(), count("k", k)?);
        let sides = columns::<f64>("m", m, 1 + order)?;
        let v = matrix("v", v, (order, rank), ldv)?;
        let weights = weights_or_ones(weights, rank)?;
        let y = matrix("y", y, (rank, sides), ldy)?;
        let z = matrix_mut("z", z, (order, sides), ldz)?;
        tell(report, factor.change(|held| held.modify_carrying(decay, v, weights, y, z))?);
        Ok(())
    })
}

/// Writes 1 to `*can` if cholupdate_d_ldlt_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x k) and
/// the matrix are not changed; the factor's working memory is.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or OVERFLOW.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_can_downdate(
    factor: *mut cholupdate_d_ldlt,
    k: i64,
    v: *const f64,
    ldv: i64,
    can: *mut i32,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = &mut borrow_mut("factor", factor)?.held;
        let v = matrix("v", v, (factor.order(), count("k", k)?), ldv)?;
        let can = place("can", can)?;
        can.write(factor.can_downdate(v)?.into());
        Ok(())
    })
}
