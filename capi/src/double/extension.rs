//! A bordered by rows that are never made part of the factor.

use super::factor::cholupdate_d;
use crate::arguments::{borrow, count, is_upper, matrix, matrix_mut, place, sides, triangle};
use crate::kept::Border;
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::Extension;
use core::ffi::c_char;

/// A factor in double precision, of A bordered by r rows and columns, which leaves that of A as it is: many can stand on one.
pub struct cholupdate_d_extension {
    border: Border<f64>,
    /// The number of the matrix that is bordered.
    matrix: u64,
}

/// Borders A by B (n x r), `cross`, and K (r x r), `corner`, of whose triangle `uplo` is read: the matrix is (A B; B^T K). `*extension` is the caller's
/// from then on, for cholupdate_d_extension_free(), and is of the factor as it is now: functions that take both want them as they are here.
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
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let (more, upper) = (count("r", r)?, is_upper("uplo", uplo)?);
        let cross = matrix("cross", cross, (factor.kept.order(), more), ldcross)?;
        let corner = triangle("corner", corner, more, ldcorner, upper)?;
        let extension = place("extension", extension)?;
        let border = factor.kept.at_rest()?.extension(&cross, &corner)?.into_parts();
        let new = cholupdate_d_extension { border, matrix: factor.kept.matrix() };
        extension.write(Box::into_raw(Box::new(new)));
        Ok(())
    })
}

/// Ends an extension and gives back its memory. The pointer leads nowhere from then on. NULL is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_extension_free(extension: *mut cholupdate_d_extension) {
    if extension.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: it came from `Box::into_raw`, and the caller gives it back.
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
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let all = borrow("extension", extension)?.order();
        // Rows are counted in 63 bits: their numbers fit memory.
        place("order", order)?.write(all as i64);
        Ok(())
    })
}

/// B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended, which has not changed since.
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
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let extension = borrow("extension", extension)?.of(factor)?;
        let order = extension.order();
        let shape = (order, sides::<f64>("nrhs", nrhs, order)?);
        let (s, corner) = &extension.border;
        let extended = Extension::from_borrowed_parts(factor.kept.at_rest()?, s.as_ref(), corner.as_ref())?;
        let x = extended.solve(&matrix("b", b, shape, ldb)?)?;
        // What was read from the array is read by now.
        matrix_mut("b", b, shape, ldb)?.copy_from(x);
        Ok(())
    })
}

/// Writes log det of the bordered A to `*log_det`. `factor` is the one that was extended, which has not changed since.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_extension_log_det(
    factor: *const cholupdate_d,
    extension: *const cholupdate_d_extension,
    log_det: *mut f64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
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

/// Copies C with C C^T = K - B^T A^-1 B, what A leaves unexplained of K, to the triangle `uplo` of the caller's array `corner` (r x r), or its
/// transpose for 'U'. The other triangle is left alone.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_extension_corner(
    extension: *const cholupdate_d_extension,
    uplo: c_char,
    corner: *mut f64,
    ldcorner: i64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let (_, c) = &borrow("extension", extension)?.border;
        let upper = is_upper("uplo", uplo)?;
        let corner = matrix_mut("corner", corner, (c.nrows(), c.nrows()), ldcorner)?;
        let mut corner = if upper { corner.transpose_mut() } else { corner };
        corner.copy_from_triangular_lower(c);
        Ok(())
    })
}

impl cholupdate_d_extension {
    /// n + r.
    fn order(&self) -> usize {
        self.border.0.nrows() + self.border.0.ncols()
    }

    /// The same, which is of that factor as it is.
    fn of(&self, factor: &cholupdate_d) -> Result<&Self, Refused> {
        if factor.kept.matrix() != self.matrix {
            return Err(Refused::not_so(
                "`extension` is of another factor than `factor`, or `factor` has changed since",
            ));
        }
        Ok(self)
    }
}
