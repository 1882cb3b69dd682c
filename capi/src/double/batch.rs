//! Creation, copying and freeing of batches.

use crate::arguments::{
    borrow, borrow_mut, copy_triangle, count, is_upper, matrix_mut, place, rows, triangle,
};
use crate::batches::{Results, matrices, matrices_mut, number};
use crate::held::{Given, Held, by_reference};
use crate::options::{cholupdate_options, settings};
use crate::status::{Refused, Status, cholupdate_status, status_of};
use core::ffi::c_char;
use core::ptr;

/// Factors in double precision of many small matrices A (n x n), which are modified side by side.
pub struct cholupdate_d_batch {
    pub batch: Held<f64>,
}

/// Factors `count` matrices A (n x n), of which lower triangles are read. With `orders` (count), of matrix b only the leading
/// orders[b] rows and columns are read, and of V and right-hand sides as many rows; NULL `orders` are n for all. The engine of
/// `options` is CHOLUPDATE_CPU or, for factors in the memory of a GPU, CHOLUPDATE_CUDA, with n of at most 4096; their safeguard is not
/// used. The caller owns `*made` and frees it by cholupdate_d_batch_free().
///
/// Returns NULL_POINTER or INVALID_ARGUMENT; the statuses of devices for a GPU, as all functions on such a batch. Returns SOME_FAILED,
/// with the batch, if a matrix is not positive definite, not finite or too large: it has no factor and fails in every later call, until
/// cholupdate_d_batch_replace(). cholupdate_d_batch_status() has the reasons.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_new(
    count: i64,
    n: i64,
    a: *const f64,
    a_strides: *const i64,
    orders: *const i64,
    options: *const cholupdate_options,
    made: *mut *mut cholupdate_d_batch,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (count, n) = (self::count("count", count)?, self::count("n", n)?);
        let a = matrices("a", a, [count, n, n], a_strides)?;
        let orders = orders_or_n(orders, count)?;
        let made = place("made", made)?;
        begun(Held::<f64>::new(Given::A(a, orders), &settings(options)?)?, made)
    })
}

/// Makes a batch of known factors L (n x n), of which lower triangles are read; they are copied. As in cholupdate_d_from_factor(),
/// columns with a negative diagonal entry are negated, and zeros on the diagonal are accepted. `options` are as in
/// cholupdate_d_batch_new(). The caller owns `*made` and frees it by cholupdate_d_batch_free().
///
/// Returns NULL_POINTER or INVALID_ARGUMENT, or the statuses of devices. Returns SOME_FAILED, with the batch, if some L is not finite,
/// or too large.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_from_factors(
    count: i64,
    n: i64,
    l: *const f64,
    l_strides: *const i64,
    options: *const cholupdate_options,
    made: *mut *mut cholupdate_d_batch,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (count, n) = (self::count("count", count)?, self::count("n", n)?);
        let l = matrices("l", l, [count, n, n], l_strides)?;
        let made = place("made", made)?;
        begun(Held::<f64>::new(Given::L(l), &settings(options)?)?, made)
    })
}

/// The orders of matrices, or None if all are n.
///
/// # Safety
/// `orders` is NULL or has so many entries.
pub unsafe fn orders_or_n(orders: *const i64, count: usize) -> Result<Option<Vec<usize>>, Refused> {
    if orders.is_null() {
        return Ok(None);
    }
    // SAFETY: forwarded to the caller.
    unsafe { rows("orders", orders, count).map(Some) }
}

/// Gives a batch to the caller, unless it cannot be told which matrices have no factor.
///
/// # Errors
/// That of the first matrix without a factor, or of the device.
///
/// # Safety
/// `made` can be written.
pub unsafe fn begun(batch: Held<f64>, made: *mut *mut cholupdate_d_batch) -> Result<(), Refused> {
    // SAFETY: the caller guarantees the pointer, and there is no array.
    unsafe {
        let status = tell_missing(&batch, ptr::null_mut());
        if let Err(refused) = &status
            && refused.status != Status::SomeFailed
        {
            return status;
        }
        made.write(Box::into_raw(Box::new(cholupdate_d_batch { batch })));
        status
    }
}

/// Writes why matrices have no factor.
///
/// # Errors
/// That of the first one.
///
/// # Safety
/// `info` is NULL or has an entry for each matrix.
unsafe fn tell_missing(batch: &Held<f64>, info: *mut i64) -> Result<(), Refused> {
    let results = Results::of_info(batch.extents()?.0, info)?;
    let missing = batch.missing()?;
    // SAFETY: the caller guarantees the array.
    unsafe { results.tell_failures(by_reference(&missing)) }
}

/// Copies the batch. The caller owns `*copy` and frees it by cholupdate_d_batch_free().
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_clone(
    batch: *const cholupdate_d_batch,
    copy: *mut *mut cholupdate_d_batch,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (batch, copy) = (borrow("batch", batch)?, place("copy", copy)?);
        let batch = batch.batch.copied()?;
        copy.write(Box::into_raw(Box::new(cholupdate_d_batch { batch })));
        Ok(())
    })
}

/// Copies the matrices numbered `indices` (m), in this order, to another batch; one may occur several times. The caller owns
/// `*selected` and frees it by cholupdate_d_batch_free().
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_select(
    batch: *const cholupdate_d_batch,
    m: i64,
    indices: *const i64,
    selected: *mut *mut cholupdate_d_batch,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = borrow("batch", batch)?;
        let indices = rows("indices", indices, count("m", m)?)?;
        let selected = place("selected", selected)?;
        let batch = batch.batch.select(&indices)?;
        selected.write(Box::into_raw(Box::new(cholupdate_d_batch { batch })));
        Ok(())
    })
}

/// Frees a batch. The pointer is invalid afterwards. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_free(batch: *mut cholupdate_d_batch) {
    if batch.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: the pointer came from `Box::into_raw`, and the caller gives up ownership.
        drop(unsafe { Box::from_raw(batch) });
        Ok(())
    });
}

/// Writes the number of matrices to `*count` and n to `*n`. Each may be NULL.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_extents(
    batch: *const cholupdate_d_batch,
    count: *mut i64,
    n: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let extents = borrow("batch", batch)?.batch.extents()?;
        for (place, extent) in [(count, extents.0), (n, extents.1)] {
            if !place.is_null() {
                // Numbers of matrices and rows fit 63 bits, because they fit memory.
                place.write(extent as i64);
            }
        }
        Ok(())
    })
}

/// Writes to `info` (count) which matrices have no factor, and why.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, or SOME_FAILED if there are any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_status(
    batch: *const cholupdate_d_batch,
    info: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe { tell_missing(&borrow("batch", batch)?.batch, info) })
}

/// Factors A (m x m), of which the triangle `uplo` is read, in place of a matrix, with m of at most n.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE; the matrix is then as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_replace(
    batch: *mut cholupdate_d_batch,
    matrix: i64,
    m: i64,
    a: *const f64,
    lda: i64,
    uplo: c_char,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = &mut borrow_mut("batch", batch)?.batch;
        let (matrices, n) = batch.extents()?;
        let (matrix, order) = (number(matrix, matrices)?, count("m", m)?);
        if order > n {
            return Err(Refused::invalid("m", m, format!("at most {n}")));
        }
        let a = triangle("a", a, order, lda, is_upper("uplo", uplo)?)?;
        batch.replace(matrix, (&a).into())
    })
}

/// Copies L of a matrix, of its order m, to the triangle `uplo` of the caller's array `l` (m x m), or R = L^T for 'U'. The other
/// triangle is not changed.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT; for a matrix without a factor the reason for that, as cholupdate_d_new() would.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_to_factor(
    batch: *const cholupdate_d_batch,
    matrix: i64,
    uplo: c_char,
    l: *mut f64,
    ldl: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = &borrow("batch", batch)?.batch;
        let upper = is_upper("uplo", uplo)?;
        let factor = batch.factor(number(matrix, batch.extents()?.0)?)?;
        let l = matrix_mut("l", l, (factor.nrows(), factor.nrows()), ldl)?;
        copy_triangle(factor.as_ref(), l, upper);
        Ok(())
    })
}

/// Copies all L to the lower triangles of the caller's array `l` (n x n each). Upper triangles are not changed, nor rows that a
/// matrix does not have, nor matrices without a factor.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_to_factors(
    batch: *const cholupdate_d_batch,
    l: *mut f64,
    l_strides: *const i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = &borrow("batch", batch)?.batch;
        let (count, n) = batch.extents()?;
        batch.copy_factors(matrices_mut("l", l, [count, n, n], l_strides)?)
    })
}
