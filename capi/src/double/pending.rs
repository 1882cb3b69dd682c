//! Modifications in flight while the program does other work.

use super::factor::cholupdate_d;
use crate::arguments::{borrow_mut, count, matrix, matrix_mut, place, tell, weights_or_ones};
use crate::kept::Changed;
use crate::report::cholupdate_report;
use crate::status::{Refused, cholupdate_status, remembered, status_of};
use cholupdate::{Operand, OperandMut};
use core::ptr;

/// A modification in flight, which has exclusive use of the factor: from cholupdate_d_submit() until
/// cholupdate_d_pending_wait() or a solve that takes it has returned its outcome, or cholupdate_d_pending_free() has freed it.
/// In between every other function of the factor, except cholupdate_d_order() and cholupdate_d_free(), returns
/// INVALID_ARGUMENT.
pub struct cholupdate_d_pending {
    /// NULL once the outcome is known.
    factor: *mut cholupdate_d,
}

/// As cholupdate_d_modify(), without waiting for the engine. When this returns, V and `weights` have been copied, and the rest
/// of the work may still be in progress. Only CHOLUPDATE_CUDA works on after the call; the other engines finish within it. The
/// caller owns `*pending` and frees it by cholupdate_d_pending_free(); only one thread at a time may use it.
///
/// Returns as cholupdate_d_modify(), as far as errors are found within the call: `*pending` is written only if it returns OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_submit(
    factor: *mut cholupdate_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    weights: *const f64,
    pending: *mut *mut cholupdate_d_pending,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let order = borrow_mut("factor", factor)?.kept.order();
        submitted(factor, &matrix("v", v, (order, count("k", k)?), ldv)?.into(), k, weights, pending)
    })
}

/// Submits a modification.
///
/// # Safety
/// Pointers are NULL or point to what the header says.
pub(super) unsafe fn submitted(
    factor: *mut cholupdate_d,
    v: &Operand<'_, f64>,
    k: i64,
    weights: *const f64,
    pending: *mut *mut cholupdate_d_pending,
) -> Result<(), Refused> {
    // SAFETY: the caller guarantees the pointers.
    unsafe {
        let weights = weights_or_ones(weights, count("k", k)?)?;
        let pending = place("pending", pending)?;
        borrow_mut("factor", factor)?.kept.submit(|held| held.submit(v, weights).map(core::mem::forget))?;
        pending.write(Box::into_raw(Box::new(cholupdate_d_pending { factor })));
    }
    Ok(())
}

/// Waits for the outcome, which is that of cholupdate_d_modify(). `report` may be NULL. The factor can be used afterwards.
///
/// Returns as cholupdate_d_modify(); INVALID_ARGUMENT if the outcome has already been returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_pending_wait(
    pending: *mut cholupdate_d_pending,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let pending = borrow_mut("pending", pending)?;
        pending.order()?;
        let (changed, ()) = pending.land(|factor| factor.kept.land(|held| (held.pending().wait(), ())));
        tell(report, changed?);
        Ok(())
    })
}

/// Waits for the outcome, and B (n x nrhs) <- X with A X = B in the caller's array `b`, with the A that results: the new one if
/// the modification has succeeded, otherwise the old one. On CHOLUPDATE_CUDA the host waits once for both. `*solved` is the
/// status of the solve, which is as from cholupdate_d_solve(); `report` may be NULL. The factor can be used afterwards.
///
/// Returns as cholupdate_d_pending_wait(). The last error is that of the modification, or that of the solve if only the solve
/// failed. If an argument is NULL or invalid, the modification is still in flight, and `*solved` is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_pending_solve(
    pending: *mut cholupdate_d_pending,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
    report: *mut cholupdate_report,
    solved: *mut cholupdate_status,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let pending = borrow_mut("pending", pending)?;
        let b = matrix_mut("b", b, (pending.order()?, count("nrhs", nrhs)?), ldb)?;
        pending.solve(OperandMut::Host(b), report, place("solved", solved)?)
    })
}

/// Frees a pending object. If its outcome has not been returned, waits for it and discards it; the factor is then the new one
/// or the old one. The pointer is invalid afterwards. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_pending_free(pending: *mut cholupdate_d_pending) {
    if pending.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: the pointer came from `Box::into_raw`, and the caller gives up ownership.
        let mut pending = unsafe { Box::from_raw(pending) };
        if !pending.factor.is_null() {
            let _ = pending.land(|factor| factor.kept.land(|held| (held.pending().wait(), ())));
        }
        Ok(())
    });
}

impl cholupdate_d_pending {
    /// n, if the modification is in flight.
    pub(super) fn order(&self) -> Result<usize, Refused> {
        // SAFETY: until the modification has ended, the factor exists, and this object has exclusive use of it.
        match unsafe { self.factor.as_ref() } {
            Some(factor) => Ok(factor.kept.order()),
            None => Err(Refused::not_so("the outcome of `pending` has been had")),
        }
    }

    /// Waits for the modification to end, and frees a factor that the program has freed in the meantime.
    fn land<R>(&mut self, wait: impl FnOnce(&mut cholupdate_d) -> R) -> R {
        let factor = core::mem::replace(&mut self.factor, ptr::null_mut());
        // SAFETY: the modification is in flight, as callers have checked: the factor exists, and this object has exclusive use
        // of it. If the program has freed the factor, it does not use it again.
        unsafe {
            let outcome = wait(&mut *factor);
            if (*factor).kept.is_freed() {
                drop(Box::from_raw(factor));
            }
            outcome
        }
    }

    /// Waits and solves.
    ///
    /// # Safety
    /// `report` is NULL or points to a report of the caller's, and `solved` to a status of the caller's.
    pub(super) unsafe fn solve(
        &mut self,
        mut b: OperandMut<'_, f64>,
        report: *mut cholupdate_report,
        solved: *mut cholupdate_status,
    ) -> Result<(), Refused> {
        let (changed, outcome): (Changed, _) =
            self.land(|factor| factor.kept.land(|held| held.pending().solve_in_place(&mut b)));
        let outcome = outcome.map_err(Refused::from);
        // SAFETY: the caller guarantees the pointers.
        unsafe {
            solved.write(outcome.map_or_else(remembered, |()| cholupdate_status::CHOLUPDATE_OK));
            tell(report, changed?);
        }
        Ok(())
    }
}
