//! Rows and columns at the end.

use super::super::agreement::{Call, agreed};
use super::super::arguments::{borrow_mut, count, matrix, rows as given, tell};
use super::super::report::cholupdate_mpi_report;
use super::super::status::{cholupdate_mpi_status, status_of_all};
use super::factor::cholupdate_mpi_d;

/// Appends r rows and columns: B above K are the new columns of A, `cross` (n x r) and `corner` (r x r). B is given by one of
/// cholupdate_mpi_rows, `rows`; K is the same on all processes. Both are not changed; `report` may be NULL.
///
/// Returns as cholupdate_mpi_d_downdate(); the column is that of the new A.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_append(
    factor: *mut cholupdate_mpi_d,
    r: i64,
    cross: *const f64,
    ldcross: i64,
    rows: i32,
    corner: *const f64,
    ldcorner: i64,
    report: *mut cholupdate_mpi_report,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        let held = &mut borrow_mut("factor", factor)?.held;
        let mine = given("cross", cross, (&held.cyclic(), ("r", r)), (ldcross, rows));
        let mine = mine.and_then(|cross| {
            let more = cross.ncols();
            Ok((cross, matrix("corner", corner, (more, more), ldcorner)?))
        });
        let (cross, corner) = agreed::<f64, _>(held.factor.net(), Call::Append, mine)?;
        tell(report, held.append(cross, corner)?);
        Ok(())
    })
}

/// Removes the last `count` rows and columns of A; `report` may be NULL.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_remove_last(
    factor: *mut cholupdate_mpi_d,
    count: i64,
    report: *mut cholupdate_mpi_report,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        let held = &mut borrow_mut("factor", factor)?.held;
        let fewer = self::count("count", count);
        let fewer = agreed::<f64, _>(held.factor.net(), Call::RemoveLast, fewer)?;
        tell(report, held.remove_last(fewer)?);
        Ok(())
    })
}
