//! The factor of an indefinite A bordered by rows, without a change of the factor of A.

use super::ldlt::cholupdate_d_ldlt;
use crate::arguments::{
    array_mut, borrow, columns, copy_triangle, count, is_upper, matrix, matrix_mut, place, triangle,
};
use crate::kept::Border;
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::LdltExtension;
use core::ffi::c_char;

/// A factor in double precision, of a possibly indefinite A bordered by r rows and columns. The factor of A is not changed, so many
/// extensions can share one.
pub struct cholupdate_d_ldlt_extension {
    border: Border<f64>,
    /// The diagonal of S, which belongs to C.
    signs: Vec<f64>,
    /// Number of the matrix that is bordered.
    matrix: u64,
}

/// Borders A by B (n x r), `cross`, and K (r x r), `corner`, of which the triangle `uplo` is read: the matrix is (A B; B^T K). The
/// caller owns `*extension` and frees it by cholupdate_d_ldlt_extension_free(). It belongs to the current factor: functions that take
/// both require that the factor has not changed since. What is expected of changes is not asked of it.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_extension_new(
    factor: *const cholupdate_d_ldlt,
    r: i64,
    cross: *const f64,
    ldcross: i64,
    corner: *const f64,
    ldcorner: i64,
    uplo: c_char,
    extension: *mut *mut cholupdate_d_ldlt_extension,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let (more, upper) = (count("r", r)?, is_upper("uplo", uplo)?);
        let cross = matrix("cross", cross, (factor.held.order(), more), ldcross)?;
        let corner = triangle("corner", corner, more, ldcorner, upper)?;
        let extension = place("extension", extension)?;
        let (y, corner, signs) = factor.held.extension(cross, &corner)?.into_parts();
        let new = cholupdate_d_ldlt_extension { border: (y, corner), signs, matrix: factor.matrix };
        extension.write(Box::into_raw(Box::new(new)));
        Ok(())
    })
}

/// Frees an extension. The pointer is invalid afterwards. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_extension_free(extension: *mut cholupdate_d_ldlt_extension) {
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
pub unsafe extern "C" fn cholupdate_d_ldlt_extension_order(
    extension: *const cholupdate_d_ldlt_extension,
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

/// B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended, and must
/// not have changed since.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_extension_solve(
    factor: *const cholupdate_d_ldlt,
    extension: *const cholupdate_d_ldlt_extension,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let extension = borrow("extension", extension)?;
        let extended = extension.of(borrow("factor", factor)?)?;
        let shape = (extension.order(), columns::<f64>("nrhs", nrhs, extension.order())?);
        let x = extended.solve(matrix("b", b, shape, ldb)?)?;
        // All reads of the array are done.
        matrix_mut("b", b, shape, ldb)?.copy_from(x);
        Ok(())
    })
}

/// Writes log |det| of the bordered A to `*log_abs_det`. `factor` is the one that was extended, and must not have changed since.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_extension_log_abs_det(
    factor: *const cholupdate_d_ldlt,
    extension: *const cholupdate_d_ldlt_extension,
    log_abs_det: *mut f64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let extended = borrow("extension", extension)?.of(borrow("factor", factor)?)?;
        place("log_abs_det", log_abs_det)?.write(extended.log_abs_det());
        Ok(())
    })
}

/// Writes the number of positive eigenvalues of the bordered A to `*positive`, and that of negative ones to `*negative`. Each may be
/// NULL. `factor` is the one that was extended, and must not have changed since.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_extension_inertia(
    factor: *const cholupdate_d_ldlt,
    extension: *const cholupdate_d_ldlt_extension,
    positive: *mut i64,
    negative: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let inertia = borrow("extension", extension)?.of(borrow("factor", factor)?)?.inertia();
        for (place, number) in [(positive, inertia.0), (negative, inertia.1)] {
            if !place.is_null() {
                // Numbers of rows fit 63 bits, because the rows fit memory.
                place.write(number as i64);
            }
        }
        Ok(())
    })
}

/// Copies C, whose diagonal is positive, with C S C^T = K - B^T A^-1 B, the Schur complement of A, to the triangle `uplo` of the
/// caller's array `corner` (r x r), or its transpose for 'U'. The other triangle is not changed. The diagonal of S, 1 or -1, is
/// written to `signs` (r).
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_extension_corner(
    extension: *const cholupdate_d_ldlt_extension,
    uplo: c_char,
    corner: *mut f64,
    ldcorner: i64,
    signs: *mut f64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let extension = borrow("extension", extension)?;
        let ((_, c), upper) = (&extension.border, is_upper("uplo", uplo)?);
        let corner = matrix_mut("corner", corner, (c.nrows(), c.nrows()), ldcorner)?;
        let signs = array_mut("signs", signs, c.nrows())?;
        copy_triangle(c.as_ref(), corner, upper);
        signs.copy_from_slice(&extension.signs);
        Ok(())
    })
}

impl cholupdate_d_ldlt_extension {
    /// n + r.
    fn order(&self) -> usize {
        self.border.0.nrows() + self.border.0.ncols()
    }

    /// The extension of that factor.
    ///
    /// # Errors
    /// It is not of the current state of the factor.
    fn of<'a>(&'a self, factor: &'a cholupdate_d_ldlt) -> Result<LdltExtension<'a, f64>, Refused> {
        if factor.matrix != self.matrix {
            return Err(Refused::not_so(
                "`extension` is of another factor than `factor`, or `factor` has changed since",
            ));
        }
        let (y, corner) = &self.border;
        Ok(LdltExtension::from_borrowed_parts(&factor.held, y.as_ref(), corner.as_ref(), &self.signs)?)
    }
}
