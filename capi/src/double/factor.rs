//! Creation, copying and freeing of factors.

use crate::arguments::{
    borrow, borrow_mut, copy_triangle, count, is_upper, matrix_mut, place, room, triangle,
};
use crate::kept::{Factor, Kept};
use crate::number::Number;
use crate::options::{cholupdate_options, settings};
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::Error;
use core::ffi::c_char;

/// A factor in double precision, of a matrix A (n x n).
pub struct cholupdate_d {
    pub kept: Kept<f64>,
}

/// Factors A (n x n), of which the triangle `uplo` is read. The caller owns `*factor` and frees it by cholupdate_d_free().
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE; UNAVAILABLE and the other statuses of
/// devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_new(
    n: i64,
    a: *const f64,
    lda: i64,
    uplo: c_char,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let a = triangle("a", a, count("n", n)?, lda, is_upper("uplo", uplo)?)?;
        made(|engine| Factor::new_in(&a, engine), options, factor)
    })
}

/// Makes a factor of a known L (n x n), or R = L^T for an `uplo` of 'U'. Columns of L with a negative diagonal entry are
/// negated, which leaves L L^T as it is. The caller owns `*factor` and frees it by cholupdate_d_free(); `l` is copied.
///
/// Returns as cholupdate_d_new() except NOT_POSITIVE_DEFINITE. With a zero on the diagonal A is singular, as in
/// cholupdate_d_zeros().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_from_factor(
    n: i64,
    l: *const f64,
    ldl: i64,
    uplo: c_char,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let l = triangle("l", l, count("n", n)?, ldl, is_upper("uplo", uplo)?)?;
        made(|engine| Factor::from_factor_in(&l, engine), options, factor)
    })
}

/// Makes the factor L = 0 of A = 0 (n x n): the start of least squares that are accumulated row by row, as with LINPACK's
/// dchud. A is singular until updates have made every pivot positive. Until then cholupdate_d_update() and every modification
/// with only positive weights work, and so do calls that read L; calls that need a regular A return SINGULAR. The caller owns
/// `*factor` and frees it by cholupdate_d_free().
///
/// Returns NULL_POINTER or INVALID_ARGUMENT; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_zeros(
    n: i64,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let order = count("n", n)?;
        // For L and a copy.
        room::<f64>("n", n, order.checked_mul(order).and_then(|entries| entries.checked_mul(2)))?;
        made(|engine| Factor::zeros_in(order, engine), options, factor)
    })
}

/// Makes a factor by `make` on the engine of the options.
///
/// # Safety
/// Pointers are NULL or point to what the header says.
unsafe fn made(
    make: impl FnOnce(<f64 as Number>::Engine) -> Result<Factor<f64>, Error>,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d,
) -> Result<(), Refused> {
    let factor = place("factor", factor)?;
    // SAFETY: the caller guarantees the pointers.
    unsafe {
        let kept = Kept::new(make(f64::engine(&settings(options)?)?)?);
        factor.write(Box::into_raw(Box::new(cholupdate_d { kept })));
    }
    Ok(())
}

/// Copies the factor, on the same engine. The caller owns `*copy` and frees it by cholupdate_d_free().
///
/// Returns NULL_POINTER or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_clone(
    factor: *const cholupdate_d,
    copy: *mut *mut cholupdate_d,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let copy = place("copy", copy)?;
        let kept = factor.kept.copied(None)?;
        copy.write(Box::into_raw(Box::new(cholupdate_d { kept })));
        Ok(())
    })
}

/// Copies the factor with other settings, for example to another engine. The caller owns `*copy` and frees it by
/// cholupdate_d_free().
///
/// Returns NULL_POINTER, INVALID_ARGUMENT for settings, or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_to_engine(
    factor: *const cholupdate_d,
    options: *const cholupdate_options,
    copy: *mut *mut cholupdate_d,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let copy = place("copy", copy)?;
        let kept = factor.kept.copied(Some(settings(options)?))?;
        copy.write(Box::into_raw(Box::new(cholupdate_d { kept })));
        Ok(())
    })
}

/// Frees a factor. If a modification is in flight, the pending object frees it when the modification ends. The pointer is
/// invalid afterwards. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_free(factor: *mut cholupdate_d) {
    if factor.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: the pointer came from `Box::into_raw`, and the caller gives up ownership; if a modification is in flight, the
        // pending object frees it.
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
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let order = borrow("factor", factor)?.kept.order();
        // Numbers of rows fit 63 bits, because the rows fit memory.
        place("n", n)?.write(order as i64);
        Ok(())
    })
}

/// Reserves memory for `additional` more rows, which can then be inserted without another allocation.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_reserve(
    factor: *mut cholupdate_d,
    additional: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let rows = count("additional", additional)?;
        // For L and a copy.
        let bytes = factor
            .kept
            .order()
            .checked_add(rows)
            .and_then(|rows| rows.checked_mul(rows)?.checked_mul(2 * size_of::<f64>()));
        if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            return Err(Refused::invalid("additional", additional, "what memory can hold"));
        }
        Ok(factor.kept.at_rest_mut()?.reserve(rows)?)
    })
}

/// Copies L to the triangle `uplo` of the caller's array `l` (n x n), or R = L^T for 'U'. The other triangle is not changed.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_to_factor(
    factor: *const cholupdate_d,
    uplo: c_char,
    l: *mut f64,
    ldl: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let upper = is_upper("uplo", uplo)?;
        let order = factor.kept.order();
        let l = matrix_mut("l", l, (order, order), ldl)?;
        copy_triangle(factor.kept.at_rest()?.to_factor()?.as_ref(), l, upper);
        Ok(())
    })
}
