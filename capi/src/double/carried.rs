//! Least squares: forgetting, and right-hand sides that go along with the factor.

use super::factor::cholupdate_d;
use crate::arguments::{
    array, array_mut, borrow, borrow_mut, count, matrix, matrix_mut, sides, tell, weights_or_ones,
};
use crate::report::cholupdate_report;
use crate::status::{cholupdate_status, status_of};
use cholupdate::Carried;

/// A <- decay A + V diag(w) V^T, 0 < decay <= 1: what was seen before counts less and less. V (n x k) and `weights` (k) are left alone; NULL weights are
/// all 1. `report`, against the old A, may be NULL.
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
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let rank = count("k", k)?;
        let v = matrix("v", v, (factor.kept.order(), rank), ldv)?;
        let weights = weights_or_ones(weights, rank)?;
        tell(report, factor.kept.change(|held| held.modify_scaled(decay, &v, weights))?);
        Ok(())
    })
}

/// Begins m least squares problems that cholupdate_d_modify_carrying() keeps current, A = X^T X for observations X and Y what was observed:
/// `b` (n x m), X^T Y, becomes z = L^-1 X^T Y, and `sums` (m), the sums of squares of Y, the residual sums of squares. A sum that is smaller than what
/// is explained, by more than roundings, becomes -1.
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
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let order = factor.kept.order();
        let sides = sides::<f64>("m", m, 1 + order)?;
        let given = matrix("b", b, (order, sides), ldb)?;
        let carried = Carried::new(factor.kept.at_rest()?, &given, array("sums", sums, sides)?)?;
        // What was read from the arrays is read by now.
        matrix_mut("b", b, (order, sides), ldb)?.copy_from(&carried.z);
        array_mut("sums", sums, sides)?.copy_from_slice(&carried.squares);
        Ok(())
    })
}

/// As cholupdate_d_modify_scaled(), with m least squares problems: the rows of V^T with the values `y` (k x m) come as observations, or go where
/// their weight is negative. `z` (n x m) and `squares` (m) are what cholupdate_d_carry() or an earlier call has left, and become those of the new factor.
/// cholupdate_d_solve_lt() with a copy of `z` has the solutions. A sum of squares that would become negative is -1 from then on, as RHO in LINPACK's
/// dchdd. `report` may be NULL.
///
/// Returns as cholupdate_d_modify_scaled(); nothing is changed where it is not OK.
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
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (order, rank) = (factor.kept.order(), count("k", k)?);
        let sides = sides::<f64>("m", m, 1 + order)?;
        let v = matrix("v", v, (order, rank), ldv)?;
        let weights = weights_or_ones(weights, rank)?;
        let y = matrix("y", y, (rank, sides), ldy)?;
        let mut z = matrix_mut("z", z, (order, sides), ldz)?;
        let squares = array_mut("squares", squares, sides)?;
        let mut carried = Carried { z: z.to_owned(), squares: squares.to_vec() };
        let changed =
            factor.kept.change(|held| held.modify_carrying(decay, &v, weights, &y, &mut carried))?;
        z.copy_from(&carried.z);
        squares.copy_from_slice(&carried.squares);
        tell(report, changed);
        Ok(())
    })
}
