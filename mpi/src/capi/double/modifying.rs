//! A <- A + V diag(w) V^T on a factor.

use super::super::agreement::{Call, agreed};
use super::super::arguments::{borrow_mut, place, rows as given, tell, weights_or_ones};
use super::super::report::cholupdate_mpi_report;
use super::super::status::{cholupdate_mpi_status, status_of_all};
use super::factor::cholupdate_mpi_d;

/// A <- A + V V^T. V (n x k) is given by one of cholupdate_mpi_rows, `rows`, and not changed; `report` may be NULL.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, NOT_FINITE, OVERFLOW or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_update(
    factor: *mut cholupdate_mpi_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    rows: i32,
    report: *mut cholupdate_mpi_report,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        let held = &mut borrow_mut("factor", factor)?.held;
        let v = given("v", v, (&held.cyclic(), ("k", k)), (ldv, rows));
        let v = agreed::<f64, _>(held.factor.net(), Call::Update, v)?;
        tell(report, held.update(v)?);
        Ok(())
    })
}

/// A <- A - V V^T. V (n x k) is given by one of cholupdate_mpi_rows, `rows`, and not changed; `report` may be NULL.
///
/// Returns as cholupdate_mpi_d_update(), and NOT_POSITIVE_DEFINITE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_downdate(
    factor: *mut cholupdate_mpi_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    rows: i32,
    report: *mut cholupdate_mpi_report,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        let held = &mut borrow_mut("factor", factor)?.held;
        let v = given("v", v, (&held.cyclic(), ("k", k)), (ldv, rows));
        let v = agreed::<f64, _>(held.factor.net(), Call::Downdate, v)?;
        tell(report, held.downdate(v)?);
        Ok(())
    })
}

/// A <- A + V diag(w) V^T, with any mix of signs: whether it succeeds depends on the result alone. V (n x k) is given by one of
/// cholupdate_mpi_rows, `rows`, and `weights` (k) are the same on all processes; both are not changed. NULL `weights` are those of an
/// update, which are all 1; `report` may be NULL.
///
/// Returns as cholupdate_mpi_d_downdate().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_modify(
    factor: *mut cholupdate_mpi_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    rows: i32,
    weights: *const f64,
    report: *mut cholupdate_mpi_report,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        let held = &mut borrow_mut("factor", factor)?.held;
        let mine = given("v", v, (&held.cyclic(), ("k", k)), (ldv, rows));
        let mine = mine.and_then(|v| Ok((v, weights_or_ones(weights, v.ncols())?)));
        let (v, weights) = agreed::<f64, _>(held.factor.net(), Call::Modify, mine)?;
        tell(report, held.modify(v, weights)?);
        Ok(())
    })
}

/// Writes 1 to `*can` if cholupdate_mpi_d_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x k)
/// and the matrix are not changed; the factor's working memory is.
///
/// Returns as cholupdate_mpi_d_update().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_can_downdate(
    factor: *mut cholupdate_mpi_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    rows: i32,
    can: *mut i32,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        let held = &mut borrow_mut("factor", factor)?.held;
        let mine = given("v", v, (&held.cyclic(), ("k", k)), (ldv, rows));
        let mine = mine.and_then(|v| Ok((v, place("can", can)?)));
        let (v, can) = agreed::<f64, _>(held.factor.net(), Call::CanDowndate, mine)?;
        can.write(held.can_downdate(v)?.into());
        Ok(())
    })
}
