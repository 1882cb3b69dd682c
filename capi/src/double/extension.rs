//! The factor of A bordered by rows, without a change of the factor of A.

use super::factor::cholupdate_d;
use crate::arguments::{
    borrow, columns, copy_triangle, count, is_upper, matrix, matrix_mut, place, triangle,
};
use crate::kept::Border;
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::Extension;
use core::ffi::c_char;

/// A factor in double precision, of A bordered by r rows and columns. The factor of A is not changed, so many extensions can
/// share one.
pub struct cholupdate_d_extension {
    border: Border<f64>,
    /// Number of the matrix that is bordered.
    matrix: u64,
}

/// Borders A by B (n x r), `cross`, and K (r x r), `corner`, of which the triangle `uplo` is read: the matrix is (A B; B^T K).
/// The caller owns `*extension` and frees it by cholupdate_d_extension_free(). It belongs to the current factor: functions that
/// take both require that the factor has not changed since.
///
/// Returns as cholupdate_d_append().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_extension_new(
    factor: *const cholupdate_d,
    r: i64,
    cross: *const f64,
    ldcross: i64,
    corner: *const f64,
    ldcorner: i64,
    uplo: c_char,
    extension: *mut *mut cholupdate_d_extension,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let (more, upper) = (count("r", r)?, is_upper("uplo", uplo)?);
        let cross = matrix("cross", cross, (factor.kept.order(), more), ldcross)?;
        let corner = triangle("corner", corner, more, ldcorner, upper)?;
        let extension = place("extension", extension)?;
        let border = factor.kept.at_rest()?.extension(cross, &corner)?.into_parts();
        let new = cholupdate_d_extension { border, matrix: factor.kept.matrix() };
        extension.write(Box::into_raw(Box::new(new)));
        Ok(())
    })
}

/// Frees an extension. The pointer is invalid afterwards. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_extension_free(extension: *mut cholupdate_d_extension) {
    if extension.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: the pointer came from `Box::into_raw`, and the caller gives up ownership.
        drop(unsafe { Box::from_raw(extension) });
        Ok(())
    });
}

/// Writes n + r to `*order`.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_extension_order(
    extension: *const cholupdate_d_extension,
    order: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let all = borrow("extension", extension)?.order();
        // Numbers of rows fit 63 bits, because the rows fit memory.
        place("order", order)?.write(all as i64);
        Ok(())
    })
}

/// B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended, and
/// must not have changed since.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_extension_solve(
    factor: *const cholupdate_d,
    extension: *const cholupdate_d_extension,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let extension = borrow("extension", extension)?.of(factor)?;
        let order = extension.order();
        let shape = (order, columns::<f64>("nrhs", nrhs, order)?);
        let (s, corner) = &extension.border;
        let extended = Extension::from_borrowed_parts(factor.kept.at_rest()?, s.as_ref(), corner.as_ref())?;
        let x = extended.solve(matrix("b", b, shape, ldb)?)?;
        // All reads of the array are done.
        matrix_mut("b", b, shape, ldb)?.copy_from(x);
        Ok(())
    })
}

/// Writes log det of the bordered A to `*log_det`. `factor` is the one that was extended, and must not have changed since.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_extension_log_det(
    factor: *const cholupdate_d,
    extension: *const cholupdate_d_extension,
    log_det: *mut f64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let extension = borrow("extension", extension)?.of(factor)?;
        let log_det = place("log_det", log_det)?;
        let (s, corner) = &extension.border;
        let extended = Extension::from_borrowed_parts(factor.kept.at_rest()?, s.as_ref(), corner.as_ref())?;
        log_det.write(extended.log_det()?);
        Ok(())
    })
}

/// Copies C with C C^T = K - B^T A^-1 B, the Schur complement of A, to the triangle `uplo` of the caller's array `corner` (r x
/// r), or its transpose for 'U'. The other triangle is not changed.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_extension_corner(
    extension: *const cholupdate_d_extension,
    uplo: c_char,
    corner: *mut f64,
    ldcorner: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (_, c) = &borrow("extension", extension)?.border;
        let upper = is_upper("uplo", uplo)?;
        let corner = matrix_mut("corner", corner, (c.nrows(), c.nrows()), ldcorner)?;
        copy_triangle(c.as_ref(), corner, upper);
        Ok(())
    })
}

impl cholupdate_d_extension {
    /// n + r.
    fn order(&self) -> usize {
        self.border.0.nrows() + self.border.0.ncols()
    }

    /// Checks that the extension belongs to the current state of that factor.
    fn of(&self, factor: &cholupdate_d) -> Result<&Self, Refused> {
        if factor.kept.matrix() != self.matrix {
            return Err(Refused::not_so(
                "`extension` is of another factor than `factor`, or `factor` has changed since",
            ));
        }
        Ok(self)
    }
}
