//! Creation, copying and freeing of factors of indefinite matrices, and what is in them.

use crate::arguments::{
    array, array_mut, borrow, copy_triangle, count, is_upper, matrix_mut, place, triangle,
};
use crate::kept::next;
use crate::options::{cholupdate_options, cpu_alone, settings};
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::{Cpu, Error, Ldlt, LdltModification};
use core::ffi::c_char;

/// A factor L S L^T in double precision, of a symmetric, possibly indefinite matrix A (n x n).
pub struct cholupdate_d_ldlt {
    pub held: Ldlt<f64>,
    /// A different number for every matrix that a factor has represented.
    pub matrix: u64,
}

impl cholupdate_d_ldlt {
    fn new(held: Ldlt<f64>) -> Self {
        Self { held, matrix: next() }
    }

    /// Changes the matrix by `verb`.
    pub fn change(
        &mut self,
        verb: impl FnOnce(&mut Ldlt<f64>) -> Result<LdltModification, Error>,
    ) -> Result<LdltModification, Refused> {
        let report = verb(&mut self.held)?;
        self.matrix = next();
        Ok(report)
    }
}

// Threads of the program may read a factor at once, and give it to one another.
const fn goes_anywhere<T: Send + Sync>() {}
const _: () = goes_anywhere::<cholupdate_d_ldlt>();

/// Factors A (n x n), of which the triangle `uplo` is read, as L S L^T. `options` sets the number of threads; its engine must be the
/// CPU, and its safeguard is not used: no call loses the factor. The caller owns `*factor` and frees it by cholupdate_d_ldlt_free().
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_new(
    n: i64,
    a: *const f64,
    lda: i64,
    uplo: c_char,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d_ldlt,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let a = triangle("a", a, count("n", n)?, lda, is_upper("uplo", uplo)?)?;
        made(|engine| Ldlt::new_in(&a, engine), options, factor)
    })
}

/// Makes a factor of a known A = L diag(d) L^T: of L (n x n), or R = L^T for an `uplo` of 'U', with any diagonal that is not zero, and
/// `d` (n). Both are copied. `options` are as in cholupdate_d_ldlt_new(). The caller owns `*factor` and frees it by
/// cholupdate_d_ldlt_free().
///
/// Returns as cholupdate_d_ldlt_new(): SINGULAR if an entry of `d` or of the diagonal is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_from_factor(
    n: i64,
    l: *const f64,
    ldl: i64,
    uplo: c_char,
    d: *const f64,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d_ldlt,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let order = count("n", n)?;
        let l = triangle("l", l, order, ldl, is_upper("uplo", uplo)?)?;
        let d = array("d", d, order)?;
        made(|engine| Ldlt::from_factor_in(&l, d, engine), options, factor)
    })
}

/// Makes a factor by `make` with the threads of the options.
///
/// # Safety
/// Pointers are NULL or point to what the header says.
unsafe fn made(
    make: impl FnOnce(Cpu) -> Result<Ldlt<f64>, Error>,
    options: *const cholupdate_options,
    factor: *mut *mut cholupdate_d_ldlt,
) -> Result<(), Refused> {
    let factor = place("factor", factor)?;
    // SAFETY: the caller guarantees the pointers.
    unsafe {
        let held = make(cpu_alone(&settings(options)?, "a factor L S L^T")?)?;
        factor.write(Box::into_raw(Box::new(cholupdate_d_ldlt::new(held))));
    }
    Ok(())
}

/// Copies the factor, with its limit of the growth and what is expected of it. The caller owns `*copy` and frees it by
/// cholupdate_d_ldlt_free().
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_clone(
    factor: *const cholupdate_d_ldlt,
    copy: *mut *mut cholupdate_d_ldlt,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = borrow("factor", factor)?;
        let copy = place("copy", copy)?;
        copy.write(Box::into_raw(Box::new(cholupdate_d_ldlt::new(factor.held.clone()))));
        Ok(())
    })
}

/// Frees a factor. The pointer is invalid afterwards. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_free(factor: *mut cholupdate_d_ldlt) {
    if factor.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: the pointer came from `Box::into_raw`, and the caller gives up ownership.
        drop(unsafe { Box::from_raw(factor) });
        Ok(())
    });
}

/// Writes n to `*n`.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_order(
    factor: *const cholupdate_d_ldlt,
    n: *mut i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let order = borrow("factor", factor)?.held.order();
        // Numbers of rows fit 63 bits, because the rows fit memory.
        place("n", n)?.write(order as i64);
        Ok(())
    })
}

/// Copies L, whose diagonal is positive, to the triangle `uplo` of the caller's array `l` (n x n), or R = L^T for 'U'. The other
/// triangle is not changed.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_to_factor(
    factor: *const cholupdate_d_ldlt,
    uplo: c_char,
    l: *mut f64,
    ldl: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = &borrow("factor", factor)?.held;
        let upper = is_upper("uplo", uplo)?;
        let l = matrix_mut("l", l, (factor.order(), factor.order()), ldl)?;
        copy_triangle(factor.l(), l, upper);
        Ok(())
    })
}

/// Writes the diagonal of S to `signs` (n): 1 or -1.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_signs(
    factor: *const cholupdate_d_ldlt,
    signs: *mut f64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = &borrow("factor", factor)?.held;
        array_mut("signs", signs, factor.order())?.copy_from_slice(&factor.signs());
        Ok(())
    })
}

/// Writes A = L S L^T, both triangles, to the caller's array `a` (n x n).
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_ldlt_reconstruct(
    factor: *const cholupdate_d_ldlt,
    a: *mut f64,
    lda: i64,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let factor = &borrow("factor", factor)?.held;
        matrix_mut("a", a, (factor.order(), factor.order()), lda)?.copy_from(factor.reconstruct());
        Ok(())
    })
}
