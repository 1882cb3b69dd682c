//! Factors: where they come from, what they are made of and where they end.

use crate::arguments::{borrow, borrow_mut, count, is_upper, matrix_mut, place, room, triangle};
use crate::kept::{Factor, Kept};
use crate::options::{cholupdate_options, settings};
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::{AnyEngine, Error};
use core::ffi::c_char;

/// A factor in double precision, of a matrix A (n x n).
pub struct cholupdate_d {
    pub kept: Kept<f64>,
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
    status_of(|| unsafe {
        let a = triangle("a", a, count("n", n)?, lda, is_upper("uplo", uplo)?)?;
        made(|engine| Factor::new_in(&a, engine), options, factor)
    })
}

/// Takes a factor that is known: L (n x n), or R = L^T for an `uplo` of 'U'. Columns of L with a negative diagonal entry are negated, which leaves
/// L L^T as it is. `*factor` is the caller's from then on, for cholupdate_d_free(); `l` is copied.
///
/// Returns as cholupdate_d_new() but for NOT_POSITIVE_DEFINITE. A zero on the diagonal is a singular A, as in cholupdate_d_zeros().
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
    status_of(|| unsafe {
        let l = triangle("l", l, count("n", n)?, ldl, is_upper("uplo", uplo)?)?;
        made(|engine| Factor::from_factor_in(&l, engine), options, factor)
    })
}

/// Begins with A = 0 (n x n), of which L = 0: least squares that are accumulated row by row, as in LINPACK's dchud. A is singular until updates have
/// given every pivot a value. Until then cholupdate_d_update() and every modification with positive weights alone works, and so do
/// calls that read L; those that need a regular A return SINGULAR. `*factor` is the caller's from then on, for cholupdate_d_free().
///
/// Returns NULL_POINTER or INVALID_ARGUMENT; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_zeros(
    n: i64,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let order = count("n", n)?;
        // Of L and a copy.
        room::<f64>("n", n, order.checked_mul(order).and_then(|entries| entries.checked_mul(2)))?;
        made(|engine| Factor::zeros_in(order, engine), options, factor)
    })
}

/// A factor of what is given.
///
/// # Safety
/// Pointers are NULL or lead to what the header says.
unsafe fn made(
    make: impl FnOnce(AnyEngine) -> Result<Factor<f64>, Error>,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d,
) -> Result<(), Refused> {
    let factor = place("factor", factor)?;
    // SAFETY: forwarded to the caller.
    unsafe {
        let kept = Kept::new(make(AnyEngine::new(&settings(options)?)?)?);
        factor.write(Box::into_raw(Box::new(cholupdate_d { kept })));
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
        let kept = factor.kept.copied(None)?;
        copy.write(Box::into_raw(Box::new(cholupdate_d { kept })));
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
        let kept = factor.kept.copied(Some(settings(options)?))?;
        copy.write(Box::into_raw(Box::new(cholupdate_d { kept })));
        Ok(())
    })
}

/// Ends a factor and gives back its memory, or has the pending object of a modification in flight do so when that ends. The pointer leads
/// nowhere from then on. NULL is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_free(factor: *mut cholupdate_d) {
    if factor.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: it came from `Box::into_raw`, and the caller gives it back; a pending object frees what is left for it to free.
        unsafe {
            if (*factor).kept.is_over() {
                drop(Box::from_raw(factor));
            }
        }
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
        let order = borrow("factor", factor)?.kept.order();
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
            factor.kept.order().checked_add(rows).and_then(|rows| rows.checked_mul(rows)?.checked_mul(16));
        if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            return Err(Refused::invalid("additional", additional, "what memory can hold"));
        }
        Ok(factor.kept.at_rest_mut()?.reserve(rows)?)
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
        let order = factor.kept.order();
        let l = matrix_mut("l", l, (order, order), ldl)?;
        let mut l = if upper { l.transpose_mut() } else { l };
        l.copy_from_triangular_lower(factor.kept.at_rest()?.to_factor()?.as_ref());
        Ok(())
    })
}
