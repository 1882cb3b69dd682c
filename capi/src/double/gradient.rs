//! Derivatives, for arrays of the caller's.

use super::array::cholupdate_d_workspace;
use crate::arguments::{
    array, array_mut, count, is_upper, matrix, matrix_mut, room, turned, turned_mut, weights_or_ones,
};
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::gradient::{
    CotangentsMut, Modified, Tangents, append_vjp, modify_jvp_into, modify_vjp_into, solve_vjp,
};
use core::ffi::c_char;

/// Derivatives of L' L'^T = L L^T + V diag(w) V^T in reverse mode: the cotangents of L, V and w from that of L', where a cotangent is
/// the derivative of a number by each entry. L, the `l_new` that a modification has left, and `cotangent` (n x n) are lower triangular,
/// or for an `uplo` of 'U' R, R' and the cotangent of R', upper triangular. V (n x k) and `weights` (k) are those of the
/// modification; NULL weights are all 1, and weights of zero are permitted. Written are `l_cotangent` (n x n), with zeros in its other
/// triangle, `v_cotangent` (n x k), and `weights_cotangent` (k), which may be NULL. `workspace` is as for cholupdate_d_modify_array().
/// The diagonal of L must not be negative. Other entries that are not finite make what depends on them NaN or infinite.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, or NOT_POSITIVE_DEFINITE for a diagonal entry of L' that is not positive; with
/// weights of both signs also OVERFLOW.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_modify_vjp(
    uplo: c_char,
    n: i64,
    l: *const f64,
    ldl: i64,
    l_new: *const f64,
    ldl_new: i64,
    k: i64,
    v: *const f64,
    ldv: i64,
    weights: *const f64,
    cotangent: *const f64,
    ldcotangent: i64,
    l_cotangent: *mut f64,
    ldl_cotangent: i64,
    v_cotangent: *mut f64,
    ldv_cotangent: i64,
    weights_cotangent: *mut f64,
    workspace: *mut cholupdate_d_workspace,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (upper, order, rank) = (is_upper("uplo", uplo)?, count("n", n)?, count("k", k)?);
        let square = (order, order);
        let of = Modified {
            l: turned(matrix("l", l, square, ldl)?, upper),
            new: turned(matrix("l_new", l_new, square, ldl_new)?, upper),
            v: matrix("v", v, (order, rank), ldv)?,
            weights: weights_or_ones(weights, rank)?,
        };
        let cotangent = turned(matrix("cotangent", cotangent, square, ldcotangent)?, upper);
        let l_cotangent = matrix_mut("l_cotangent", l_cotangent, square, ldl_cotangent)?;
        let v_cotangent = matrix_mut("v_cotangent", v_cotangent, (order, rank), ldv_cotangent)?;
        let mut unasked = Vec::new();
        let weights = if weights_cotangent.is_null() {
            room::<f64>("k", k, Some(rank))?;
            unasked.resize(rank, 0.0);
            &mut unasked[..]
        } else {
            array_mut("weights_cotangent", weights_cotangent, rank)?
        };
        let to = CotangentsMut { l: turned_mut(l_cotangent, upper), v: v_cotangent, weights };
        let mut own = None;
        let workspace = cholupdate_d_workspace::of(workspace, &mut own);
        modify_vjp_into(&of, cotangent, to, &workspace.engine, &mut workspace.of_derivatives)?;
        Ok(())
    })
}

/// Derivatives of L' L'^T = L L^T + V diag(w) V^T in forward mode: the tangent of L' from those of L, V and w. `l_tangent` (n x n) has
/// the triangle of L, `v_tangent` is n x k, and `weights_tangent` has k entries; NULL stands for zeros. Written is `tangent` (n x n),
/// that of L' or R', with zeros in its other triangle. The other arguments are as for cholupdate_d_modify_vjp().
///
/// Returns as cholupdate_d_modify_vjp().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_modify_jvp(
    uplo: c_char,
    n: i64,
    l: *const f64,
    ldl: i64,
    l_new: *const f64,
    ldl_new: i64,
    k: i64,
    v: *const f64,
    ldv: i64,
    weights: *const f64,
    l_tangent: *const f64,
    ldl_tangent: i64,
    v_tangent: *const f64,
    ldv_tangent: i64,
    weights_tangent: *const f64,
    tangent: *mut f64,
    ldtangent: i64,
    workspace: *mut cholupdate_d_workspace,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (upper, order, rank) = (is_upper("uplo", uplo)?, count("n", n)?, count("k", k)?);
        let square = (order, order);
        let of = Modified {
            l: turned(matrix("l", l, square, ldl)?, upper),
            new: turned(matrix("l_new", l_new, square, ldl_new)?, upper),
            v: matrix("v", v, (order, rank), ldv)?,
            weights: weights_or_ones(weights, rank)?,
        };
        let of_weights = match weights_tangent.is_null() {
            true => None,
            false => Some(array("weights_tangent", weights_tangent, rank)?),
        };
        let along = Tangents {
            l: turned(matrix("l_tangent", l_tangent, square, ldl_tangent)?, upper),
            v: matrix("v_tangent", v_tangent, (order, rank), ldv_tangent)?,
            weights: of_weights,
        };
        let to = turned_mut(matrix_mut("tangent", tangent, square, ldtangent)?, upper);
        let mut own = None;
        let workspace = cholupdate_d_workspace::of(workspace, &mut own);
        modify_jvp_into(&of, &along, to, &workspace.engine, &mut workspace.of_derivatives)?;
        Ok(())
    })
}

/// Derivatives of the solution X (n x nrhs) of A X = B in reverse mode: the cotangents of L and B from that of X. L (n x n) is lower
/// triangular, or upper triangular for an `uplo` of 'U'. Written are `l_cotangent` (n x n), with zeros in its other triangle, and
/// `b_cotangent` (n x nrhs).
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or SINGULAR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_vjp(
    uplo: c_char,
    n: i64,
    l: *const f64,
    ldl: i64,
    nrhs: i64,
    x: *const f64,
    ldx: i64,
    cotangent: *const f64,
    ldcotangent: i64,
    l_cotangent: *mut f64,
    ldl_cotangent: i64,
    b_cotangent: *mut f64,
    ldb_cotangent: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (upper, order, columns) = (is_upper("uplo", uplo)?, count("n", n)?, count("nrhs", nrhs)?);
        let (square, tall) = ((order, order), (order, columns));
        let l = turned(matrix("l", l, square, ldl)?, upper);
        let x = matrix("x", x, tall, ldx)?;
        let cotangent = matrix("cotangent", cotangent, tall, ldcotangent)?;
        let of_l = matrix_mut("l_cotangent", l_cotangent, square, ldl_cotangent)?;
        let mut of_b = matrix_mut("b_cotangent", b_cotangent, tall, ldb_cotangent)?;
        let pulled = solve_vjp(l, x, cotangent)?;
        turned_mut(of_l, upper).copy_from(&pulled.l);
        of_b.copy_from(&pulled.b);
        Ok(())
    })
}

/// Derivatives of cholupdate_d_append() in reverse mode: the cotangents of L, `cross` and `corner` from that of L'. L', the `l_new`
/// that it has left, and `cotangent` (n + r x n + r) are lower triangular, or upper triangular for an `uplo` of 'U'. Written are
/// `l_cotangent` (n x n), `cross_cotangent` (n x r) and `corner_cotangent` (r x r); of the latter the triangle `uplo` counts, and it and
/// `l_cotangent` have zeros in the other one.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or SINGULAR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_append_vjp(
    uplo: c_char,
    n: i64,
    r: i64,
    l_new: *const f64,
    ldl_new: i64,
    cotangent: *const f64,
    ldcotangent: i64,
    l_cotangent: *mut f64,
    ldl_cotangent: i64,
    cross_cotangent: *mut f64,
    ldcross_cotangent: i64,
    corner_cotangent: *mut f64,
    ldcorner_cotangent: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (upper, order, more) = (is_upper("uplo", uplo)?, count("n", n)?, count("r", r)?);
        let too_many = || Refused::invalid("r", r, "small enough for the memory that there is");
        let all = order.checked_add(more).ok_or_else(too_many)?;
        let new = turned(matrix("l_new", l_new, (all, all), ldl_new)?, upper);
        let cotangent = turned(matrix("cotangent", cotangent, (all, all), ldcotangent)?, upper);
        let of_l = matrix_mut("l_cotangent", l_cotangent, (order, order), ldl_cotangent)?;
        let mut of_cross = matrix_mut("cross_cotangent", cross_cotangent, (order, more), ldcross_cotangent)?;
        let of_corner = matrix_mut("corner_cotangent", corner_cotangent, (more, more), ldcorner_cotangent)?;
        let pulled = append_vjp(new, order, cotangent)?;
        turned_mut(of_l, upper).copy_from(&pulled.l);
        of_cross.copy_from(&pulled.cross);
        turned_mut(of_corner, upper).copy_from(&pulled.corner);
        Ok(())
    })
}
