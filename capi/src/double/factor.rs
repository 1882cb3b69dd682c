//! Factors: where they come from and end, and what is known of them.

use crate::arguments::{borrow, borrow_mut, count, is_upper, matrix_mut, place, triangle};
use crate::held::{Held, Origin, hold};
use crate::options::{Settings, cholupdate_options};
use crate::status::{Refused, cholupdate_status, status_of};
use core::ffi::c_char;

/// A factor in double precision, of a matrix A (n x n).
pub struct cholupdate_d {
    pub held: Box<dyn Held<f64>>,
    settings: Settings,
}

/// Factors A (n x n), of which the triangle `uplo` is read. `*factor` is the caller's from then on, for cholupdate_d_free().
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE; UNAVAILABLE and the other statuses of devices for an
/// engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_new(
    n: i64,
    a: *const f64,
    lda: i64,
    uplo: c_char,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe { made(Origin::Matrix, ("a", a, lda), (n, uplo), options, factor) })
}

/// Takes a factor that is known: L (n x n), or R = L^T for an `uplo` of 'U'. Columns of L with a negative diagonal entry are negated, which leaves
/// L L^T as it is. `*factor` is the caller's from then on, for cholupdate_d_free(); `l` is copied.
///
/// Returns as cholupdate_d_new(); NOT_POSITIVE_DEFINITE for a zero on the diagonal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_from_factor(
    n: i64,
    l: *const f64,
    ldl: i64,
    uplo: c_char,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe { made(Origin::Factor, ("l", l, ldl), (n, uplo), options, factor) })
}

/// A factor of what is given.
///
/// # Safety
/// Pointers are NULL or lead to what the header says.
unsafe fn made(
    from: Origin,
    (argument, start, stride): (&'static str, *const f64, i64),
    (n, uplo): (i64, c_char),
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d,
) -> Result<(), Refused> {
    let (order, upper) = (count("n", n)?, is_upper("uplo", uplo)?);
    let factor = place("factor", factor)?;
    // SAFETY: forwarded to the caller.
    unsafe {
        let settings = Settings::new(options)?;
        let given = triangle(argument, start, order, stride, upper)?;
        let held = hold(from, &given, &settings)?;
        factor.write(Box::into_raw(Box::new(cholupdate_d { held, settings })));
    }
    Ok(())
}

/// Makes another factor of the same matrix, on the same engine. `*copy` is the caller's from then on, for cholupdate_d_free().
///
/// Returns NULL_POINTER or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_clone(
    factor: *const cholupdate_d,
    copy: *mut *mut cholupdate_d,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let copy = place("copy", copy)?;
        let (held, settings) = (factor.held.on_engine(&factor.settings)?, factor.settings);
        copy.write(Box::into_raw(Box::new(cholupdate_d { held, settings })));
        Ok(())
    })
}

/// Makes another factor of the same matrix, with other settings: on another engine, say. `*copy` is the caller's from then on, for
/// cholupdate_d_free().
///
/// Returns NULL_POINTER, INVALID_ARGUMENT for settings, or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_to_engine(
    factor: *const cholupdate_d,
    options: *const cholupdate_options,
    copy: *mut *mut cholupdate_d,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let copy = place("copy", copy)?;
        let settings = Settings::new(options)?;
        let held = factor.held.on_engine(&settings)?;
        copy.write(Box::into_raw(Box::new(cholupdate_d { held, settings })));
        Ok(())
    })
}

/// Ends a factor and gives back its memory. The pointer leads nowhere from then on. NULL is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_free(factor: *mut cholupdate_d) {
    if factor.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: it came from `Box::into_raw`, and the caller gives it back.
        drop(unsafe { Box::from_raw(factor) });
        Ok(())
    });
}

/// Writes n to `*n`.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_order(factor: *const cholupdate_d, n: *mut i64) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let order = borrow("factor", factor)?.held.order();
        // Rows are counted in 63 bits: their numbers fit memory.
        place("n", n)?.write(order as i64);
        Ok(())
    })
}

/// Makes room for `additional` more rows, so that they come in without another allocation.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_reserve(
    factor: *mut cholupdate_d,
    additional: i64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let rows = count("additional", additional)?;
        let bytes =
            factor.held.order().checked_add(rows).and_then(|rows| rows.checked_mul(rows)?.checked_mul(16));
        if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            return Err(Refused::invalid("additional", additional, "what memory can hold"));
        }
        Ok(factor.held.reserve(rows)?)
    })
}

/// Writes log det A to `*log_det`.
///
/// Returns NULL_POINTER or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_log_det(
    factor: *const cholupdate_d,
    log_det: *mut f64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let log_det = place("log_det", log_det)?;
        log_det.write(factor.held.log_det()?);
        Ok(())
    })
}

/// Writes an estimate of the condition number of A in the 1-norm to `*condition`.
///
/// Returns NULL_POINTER or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_condition(
    factor: *const cholupdate_d,
    condition: *mut f64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let condition = place("condition", condition)?;
        condition.write(factor.held.condition()?);
        Ok(())
    })
}

/// Copies L to the triangle `uplo` of the caller's array `l` (n x n), or R = L^T for 'U'. The other triangle is left alone.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_to_factor(
    factor: *const cholupdate_d,
    uplo: c_char,
    l: *mut f64,
    ldl: i64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let upper = is_upper("uplo", uplo)?;
        let order = factor.held.order();
        let l = matrix_mut("l", l, (order, order), ldl)?;
        let mut l = if upper { l.transpose_mut() } else { l };
        l.copy_from_triangular_lower(factor.held.to_factor()?.as_ref());
        Ok(())
    })
}
