//! Insertion, removal and reordering of rows and columns.

use super::factor::cholupdate_d;
use crate::arguments::{borrow_mut, count, is_upper, matrix, rows, tell, triangle};
use crate::report::cholupdate_report;
use crate::status::{cholupdate_status, status_of};
use core::ffi::c_char;

/// Appends r rows and columns: B above K are the new columns of A, `cross` (n x r) and `corner` (r x r), of which the triangle
/// `uplo` is read. Both are not changed; `report` may be NULL.
///
/// Returns as cholupdate_d_downdate(); the column is that of the new A.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_append(
    factor: *mut cholupdate_d,
    r: i64,
    cross: *const f64,
    ldcross: i64,
    corner: *const f64,
    ldcorner: i64,
    uplo: c_char,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (more, upper) = (count("r", r)?, is_upper("uplo", uplo)?);
        let cross = matrix("cross", cross, (factor.kept.order(), more), ldcross)?;
        let corner = triangle("corner", corner, more, ldcorner, upper)?;
        tell(report, factor.kept.change(|held| held.append(cross, &corner))?);
        Ok(())
    })
}

/// Inserts r rows and columns, which become rows `at` to `at` + r - 1; `at` is at most the old n. `columns` (n + r x r) are the
/// new columns of A, in the numbering of the new A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not
/// changed; `report` may be NULL.
///
/// Returns as cholupdate_d_append().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_insert(
    factor: *mut cholupdate_d,
    at: i64,
    r: i64,
    columns: *const f64,
    ldcolumns: i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (at, more) = (count("at", at)?, count("r", r)?);
        let all = factor.kept.order().saturating_add(more);
        let columns = matrix("columns", columns, (all, more), ldcolumns)?;
        tell(report, factor.kept.change(|held| held.insert(at, columns))?);
        Ok(())
    })
}

/// Removes the r rows and columns with the distinct `indices` (r), in any order. `indices` is not changed; `report` may be
/// NULL.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_remove(
    factor: *mut cholupdate_d,
    r: i64,
    indices: *const i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let indices = rows("indices", indices, count("r", r)?)?;
        tell(report, factor.kept.change(|held| held.remove(&indices))?);
        Ok(())
    })
}

/// Replaces r neighbouring rows and columns, from row `at` on. `columns` (n x r) are the new columns of A; of their rows `at`
/// to `at` + r - 1 the lower triangle is read. They are not changed; `report` may be NULL.
///
/// Returns as cholupdate_d_append().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_replace(
    factor: *mut cholupdate_d,
    at: i64,
    r: i64,
    columns: *const f64,
    ldcolumns: i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (at, rank) = (count("at", at)?, count("r", r)?);
        let columns = matrix("columns", columns, (factor.kept.order(), rank), ldcolumns)?;
        tell(report, factor.kept.change(|held| held.replace(at, columns))?);
        Ok(())
    })
}

/// Moves row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
///
/// Returns as cholupdate_d_remove().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_shift(
    factor: *mut cholupdate_d,
    from: i64,
    to: i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (from, to) = (count("from", from)?, count("to", to)?);
        tell(report, factor.kept.change(|held| held.shift(from, to))?);
        Ok(())
    })
}

/// Reorders rows and columns: row `order`[i] of A becomes row i. `order` (n) contains every row once and is not changed;
/// `report` may be NULL.
///
/// Returns as cholupdate_d_remove().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_permute(
    factor: *mut cholupdate_d,
    order: *const i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let order = rows("order", order, factor.kept.order())?;
        tell(report, factor.kept.change(|held| held.permute(&order))?);
        Ok(())
    })
}
