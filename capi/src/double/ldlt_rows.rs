//! Insertion, removal and reordering of rows and columns of an indefinite matrix.

use super::ldlt::cholupdate_d_ldlt;
use crate::arguments::{borrow_mut, count, is_upper, matrix, rows, tell, triangle};
use crate::report::cholupdate_ldlt_report;
use crate::status::{cholupdate_status, status_of};
use core::ffi::c_char;

/// Appends r rows and columns: B above C are the new columns of A, `cross` (n x r) and `corner` (r x r), of which the triangle `uplo`
/// is read. Both are not changed; `report` may be NULL.
///
/// Returns as cholupdate_d_ldlt_modify(); the column is that of the new A.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_append(
    factor: *mut cholupdate_d_ldlt,
    r: i64,
    cross: *const f64,
    ldcross: i64,
    corner: *const f64,
    ldcorner: i64,
    uplo: c_char,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (more, upper) = (count("r", r)?, is_upper("uplo", uplo)?);
        let cross = matrix("cross", cross, (factor.held.order(), more), ldcross)?;
        let corner = triangle("corner", corner, more, ldcorner, upper)?;
        tell(report, factor.change(|held| held.append(cross, &corner))?);
        Ok(())
    })
}

/// Inserts r rows and columns, which become rows `at` to `at` + r - 1; `at` is at most the old n. `columns` (n + r x r) are the new
/// columns of A, in the numbering of the new A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not changed;
/// `report` may be NULL.
///
/// Returns as cholupdate_d_ldlt_append().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_insert(
    factor: *mut cholupdate_d_ldlt,
    at: i64,
    r: i64,
    columns: *const f64,
    ldcolumns: i64,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (at, more) = (count("at", at)?, count("r", r)?);
        let all = factor.held.order().saturating_add(more);
        let columns = matrix("columns", columns, (all, more), ldcolumns)?;
        tell(report, factor.change(|held| held.insert(at, columns))?);
        Ok(())
    })
}

/// Replaces r neighbouring rows and columns, from row `at` on, in one step: the matrix without them need not have a factor. `columns`
/// (n x r) are the new columns of A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not changed; `report` may
/// be NULL.
///
/// Returns as cholupdate_d_ldlt_append().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_replace(
    factor: *mut cholupdate_d_ldlt,
    at: i64,
    r: i64,
    columns: *const f64,
    ldcolumns: i64,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (at, rank) = (count("at", at)?, count("r", r)?);
        let columns = matrix("columns", columns, (factor.held.order(), rank), ldcolumns)?;
        tell(report, factor.change(|held| held.replace(at, columns))?);
        Ok(())
    })
}

/// Removes the r rows and columns with the distinct `indices` (r), in any order. Unlike that of a positive definite matrix the rest may
/// have no factor. `indices` is not changed; `report` may be NULL.
///
/// Returns as cholupdate_d_ldlt_modify(), except NOT_FINITE; the column is that of the new A.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_remove(
    factor: *mut cholupdate_d_ldlt,
    r: i64,
    indices: *const i64,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let indices = rows("indices", indices, count("r", r)?)?;
        tell(report, factor.change(|held| held.remove(&indices))?);
        Ok(())
    })
}

/// Moves row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
///
/// Returns as cholupdate_d_ldlt_remove().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_shift(
    factor: *mut cholupdate_d_ldlt,
    from: i64,
    to: i64,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (from, to) = (count("from", from)?, count("to", to)?);
        tell(report, factor.change(|held| held.shift(from, to))?);
        Ok(())
    })
}

/// Reorders rows and columns: row `order`[i] of A becomes row i. `order` (n) contains every row once and is not changed; `report` may
/// be NULL.
///
/// Returns as cholupdate_d_ldlt_remove().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_permute(
    factor: *mut cholupdate_d_ldlt,
    order: *const i64,
    report: *mut cholupdate_ldlt_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let order = rows("order", order, factor.held.order())?;
        tell(report, factor.change(|held| held.permute(&order))?);
        Ok(())
    })
}
