//! Modifications that go on while the program does something else.

use super::factor::cholupdate_d;
use crate::arguments::{
    borrow_mut, count, device_matrix, device_matrix_mut, matrix, matrix_mut, place, tell, weights_or_ones,
};
use crate::kept::Changed;
use crate::report::cholupdate_report;
use crate::status::{Refused, cholupdate_status, remembered, status_of};
use cholupdate::{Operand, OperandMut};
use core::ffi::c_void;
use core::ptr;

/// A modification in flight, which has the factor for itself: from cholupdate_d_submit() until cholupdate_d_pending_wait() or one of the solves here
/// has returned its outcome, or cholupdate_d_pending_free() has let go of it. In between every other function of the factor but
/// cholupdate_d_order() and cholupdate_d_free() returns INVALID_ARGUMENT.
pub struct cholupdate_d_pending {
    /// NULL once the outcome is known.
    factor: *mut cholupdate_d,
}

/// As cholupdate_d_modify(), without waiting for the engine: V and `weights` have been taken over when this returns, and the rest may go on.
/// CHOLUPDATE_CUDA alone has anything go on; the others do the work in the call. `*pending` is the caller's from then on, for
/// cholupdate_d_pending_free(), and used by one thread at a time.
///
/// Returns as cholupdate_d_modify(), as far as it is known by then: `*pending` is not written unless it is OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_submit(
    factor: *mut cholupdate_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    weights: *const f64,
    pending: *mut *mut cholupdate_d_pending,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let order = borrow_mut("factor", factor)?.kept.order();
        submitted(factor, &matrix("v", v, (order, count("k", k)?), ldv)?, (k, weights), pending)
    })
}

/// As cholupdate_d_submit() with V in the memory of GPU number `device`, as in cholupdate_d_modify_on_device().
///
/// Returns as cholupdate_d_submit(), and the statuses of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_submit_on_device(
    factor: *mut cholupdate_d,
    k: i64,
    v: u64,
    ldv: i64,
    weights: *const f64,
    device: i64,
    stream: *mut c_void,
    pending: *mut *mut cholupdate_d_pending,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers and addresses are NULL or lead to what it says.
    status_of(|| unsafe {
        let order = borrow_mut("factor", factor)?.kept.order();
        let v = device_matrix("v", v, (order, count("k", k)?), ldv, (device, stream))?;
        submitted(factor, &v, (k, weights), pending)
    })
}

/// Begins a modification.
///
/// # Safety
/// Pointers are NULL or lead to what the header says.
unsafe fn submitted(
    factor: *mut cholupdate_d,
    v: &Operand<'_, f64>,
    (k, weights): (i64, *const f64),
    pending: *mut *mut cholupdate_d_pending,
) -> Result<(), Refused> {
    // SAFETY: forwarded to the caller.
    unsafe {
        let weights = weights_or_ones(weights, count("k", k)?)?;
        let pending = place("pending", pending)?;
        borrow_mut("factor", factor)?.kept.submit(|held| held.submit(v, weights).map(core::mem::forget))?;
        pending.write(Box::into_raw(Box::new(cholupdate_d_pending { factor })));
    }
    Ok(())
}

/// Waits for the outcome, which is that of cholupdate_d_modify(). `report` may be NULL. The factor can be used from then on.
///
/// Returns as cholupdate_d_modify(); INVALID_ARGUMENT where the outcome has been had.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_pending_wait(
    pending: *mut cholupdate_d_pending,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let pending = borrow_mut("pending", pending)?;
        pending.order()?;
        let (changed, ()) = pending.land(|factor| factor.kept.land(|held| (held.pending().wait(), ())));
        tell(report, changed?);
        Ok(())
    })
}

/// Waits for the outcome, and B (n x nrhs) <- X with A X = B in the caller's array `b`, with the A that it leads to: the new one where the
/// modification has succeeded, otherwise the old one. On CHOLUPDATE_CUDA the two are one step, without the host in between. `*solved` is the status of
/// the solve, which is as from cholupdate_d_solve(); `report` may be NULL. The factor can be used from then on.
///
/// Returns as cholupdate_d_pending_wait(). The last error is that of the modification, or that of the solve where it failed alone. Where an
/// argument is NULL or invalid the modification is still in flight, and `*solved` is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_pending_solve(
    pending: *mut cholupdate_d_pending,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
    report: *mut cholupdate_report,
    solved: *mut cholupdate_status,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let pending = borrow_mut("pending", pending)?;
        let b = matrix_mut("b", b, (pending.order()?, count("nrhs", nrhs)?), ldb)?;
        pending.solve(OperandMut::Host(b), report, place("solved", solved)?)
    })
}

/// As cholupdate_d_pending_solve() with B in the memory of GPU number `device`, as in cholupdate_d_modify_on_device(): `b` is a CUdeviceptr.
///
/// Returns as cholupdate_d_pending_solve(), and the statuses of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_pending_solve_on_device(
    pending: *mut cholupdate_d_pending,
    nrhs: i64,
    b: u64,
    ldb: i64,
    device: i64,
    stream: *mut c_void,
    report: *mut cholupdate_report,
    solved: *mut cholupdate_status,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers and addresses are NULL or lead to what it says.
    status_of(|| unsafe {
        let pending = borrow_mut("pending", pending)?;
        let shape = (pending.order()?, count("nrhs", nrhs)?);
        let b = device_matrix_mut("b", b, shape, ldb, (device, stream))?;
        pending.solve(b, report, place("solved", solved)?)
    })
}

/// Ends a pending object, and waits where the outcome has not been had: it is lost then, and the factor is the new one or the old one.
/// The pointer leads nowhere from then on. NULL is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_pending_free(pending: *mut cholupdate_d_pending) {
    if pending.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: it came from `Box::into_raw`, and the caller gives it back.
        let mut pending = unsafe { Box::from_raw(pending) };
        if !pending.factor.is_null() {
            let _ = pending.land(|factor| factor.kept.land(|held| (held.pending().wait(), ())));
        }
        Ok(())
    });
}

impl cholupdate_d_pending {
    /// n; the modification is in flight.
    fn order(&self) -> Result<usize, Refused> {
        // SAFETY: until the modification has landed, the factor is there, and used by this object alone.
        match unsafe { self.factor.as_ref() } {
            Some(factor) => Ok(factor.kept.order()),
            None => Err(Refused::not_so("the outcome of `pending` has been had")),
        }
    }

    /// Has the modification land, and frees a factor that the program has no more use for.
    fn land<R>(&mut self, wait: impl FnOnce(&mut cholupdate_d) -> R) -> R {
        let factor = core::mem::replace(&mut self.factor, ptr::null_mut());
        // SAFETY: the modification is in flight, as callers have seen: the factor is there, and used by this object alone. What its program
        // has freed already it does not use again.
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
    /// `report` is NULL or leads to a report, and `solved` to a status, of the caller's.
    unsafe fn solve(
        &mut self,
        mut b: OperandMut<'_, f64>,
        report: *mut cholupdate_report,
        solved: *mut cholupdate_status,
    ) -> Result<(), Refused> {
        let (changed, outcome): (Changed<f64>, _) =
            self.land(|factor| factor.kept.land(|held| held.pending().solve_in_place(&mut b)));
        let outcome = outcome.map_err(Refused::from);
        // SAFETY: forwarded to the caller.
        unsafe {
            solved.write(outcome.map_or_else(remembered, |()| cholupdate_status::CHOLUPDATE_OK));
            tell(report, changed?);
        }
        Ok(())
    }
}
