//! Recursive least squares: a forgetting factor, and carried right-hand sides.

use super::factor::cholupdate_d;
use crate::arguments::{
    array, array_mut, borrow, borrow_mut, columns, count, matrix, matrix_mut, tell, weights_or_ones,
};
use crate::report::cholupdate_report;
use crate::status::{cholupdate_status, status_of};
use cholupdate::Carried;

/// A <- decay A + V diag(w) V^T, 0 < decay <= 1: earlier observations count less with each call. V (n x k) and `weights` (k)
/// are not changed; NULL weights are all 1. `report`, relative to the old A, may be NULL.
///
/// Returns as cholupdate_d_modify().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_modify_scaled(
    factor: *mut cholupdate_d,
    decay: f64,
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
        tell(report, factor.kept.change(|held| held.modify_scaled(decay, v, weights))?);
        Ok(())
    })
}

/// Starts m least squares problems that cholupdate_d_modify_carrying() updates, with A = X^T X for observations X and observed
/// values Y: `b` (n x m), X^T Y, becomes z = L^-1 X^T Y, and `sums` (m), the sums of squares of Y, become the residual sums of
/// squares. A sum that is smaller than the explained sum of squares by more than rounding errors becomes -1.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_carry(
    factor: *const cholupdate_d,
    m: i64,
    b: *mut f64,
    ldb: i64,
    sums: *mut f64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let order = factor.kept.order();
        let sides = columns::<f64>("m", m, 1 + order)?;
        let given = matrix("b", b, (order, sides), ldb)?;
        let carried = Carried::new(factor.kept.at_rest()?, given, array("sums", sums, sides)?)?;
        // All reads of the arrays are done.
        matrix_mut("b", b, (order, sides), ldb)?.copy_from(&carried.z);
        array_mut("sums", sums, sides)?.copy_from_slice(&carried.squares);
        Ok(())
    })
}

/// As cholupdate_d_modify_scaled(), with m least squares problems: the rows of V^T with the values `y` (k x m) are added as
/// observations, or removed if their weight is negative. `z` (n x m) and `squares` (m) are results of cholupdate_d_carry() or
/// of an earlier call, and become those of the new factor. cholupdate_d_solve_lt() computes the solutions from a copy of `z`. A
/// sum of squares that would become negative is -1 from then on, as RHO in LINPACK's dchdd. `report` may be NULL.
///
/// Returns as cholupdate_d_modify_scaled(); nothing is changed unless it returns OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_modify_carrying(
    factor: *mut cholupdate_d,
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
    squares: *mut f64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (order, rank) = (factor.kept.order(), count("k", k)?);
        let sides = columns::<f64>("m", m, 1 + order)?;
        let v = matrix("v", v, (order, rank), ldv)?;
        let weights = weights_or_ones(weights, rank)?;
        let y = matrix("y", y, (rank, sides), ldy)?;
        let mut z = matrix_mut("z", z, (order, sides), ldz)?;
        let squares = array_mut("squares", squares, sides)?;
        let mut carried = Carried { z: z.to_owned(), squares: squares.to_vec() };
        let changed = factor.kept.change(|held| held.modify_carrying(decay, v, weights, y, &mut carried))?;
        z.copy_from(&carried.z);
        squares.copy_from_slice(&carried.squares);
        tell(report, changed);
        Ok(())
    })
}
