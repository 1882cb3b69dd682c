//! Modification of a factor in an array of the caller's.

use crate::arguments::{count, is_upper, matrix, matrix_mut, place, tell, weights_or_ones};
use crate::options::{cholupdate_options, cpu_alone, settings};
use crate::report::cholupdate_report;
use crate::status::{cholupdate_status, status_of};
use cholupdate::gradient::GradientWorkspace;
use cholupdate::{Cpu, Workspace, modify_in_place};
use core::ffi::c_char;

/// Working memory of cholupdate_d_modify_array(), cholupdate_d_modify_vjp() and cholupdate_d_modify_jvp(). It grows to the largest size
/// needed so far, and never shrinks.
pub struct cholupdate_d_workspace {
    memory: Workspace<f64>,
    pub(super) of_derivatives: GradientWorkspace<f64>,
    pub(super) engine: Cpu,
}

impl cholupdate_d_workspace {
    fn new(engine: Cpu) -> Self {
        Self { memory: Workspace::new(), of_derivatives: GradientWorkspace::new(), engine }
    }

    /// The caller's, or one with default settings for this call alone.
    ///
    /// # Safety
    /// As for [`borrow_mut`](crate::arguments::borrow_mut).
    pub(super) unsafe fn of(theirs: *mut Self, own: &mut Option<Self>) -> &mut Self {
        // SAFETY: the caller guarantees the pointer.
        match unsafe { theirs.as_mut() } {
            Some(theirs) => theirs,
            None => own.insert(Self::new(Cpu::default())),
        }
    }
}

/// Creates working memory for cholupdate_d_modify_array() and derivatives. `options` sets the number of threads and the safeguard; its
/// engine must be the CPU. The caller owns `*workspace` and frees it by cholupdate_d_workspace_free().
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_workspace_new(
    options: *const cholupdate_options,
    workspace: *mut *mut cholupdate_d_workspace,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let workspace = place("workspace", workspace)?;
        let engine = cpu_alone(&settings(options)?, "a workspace")?;
        workspace.write(Box::into_raw(Box::new(cholupdate_d_workspace::new(engine))));
        Ok(())
    })
}

/// Frees the memory. The pointer is invalid afterwards. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_workspace_free(workspace: *mut cholupdate_d_workspace) {
    if workspace.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: the pointer came from `Box::into_raw`, and the caller gives up ownership.
        drop(unsafe { Box::from_raw(workspace) });
        Ok(())
    });
}

/// Replaces the factor in the caller's array `l` (n x n) by that of A + V diag(w) V^T: L, or R = L^T for an `uplo` of 'U'. Its
/// diagonal must not be negative, nor zero if a weight is negative; its other entries must be finite, which is not checked. V
/// (n x k) and `weights` (k) are not changed; NULL weights are all 1. Only one thread at a time may use a `workspace`; NULL
/// uses one for this call alone, with default settings. 'L' is modified in place, 'U' through a copy. `report` may be NULL.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, NOT_POSITIVE_DEFINITE or SINGULAR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_modify_array(
    uplo: c_char,
    n: i64,
    l: *mut f64,
    ldl: i64,
    k: i64,
    v: *const f64,
    ldv: i64,
    weights: *const f64,
    workspace: *mut cholupdate_d_workspace,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let (order, rank) = (count("n", n)?, count("k", k)?);
        let upper = is_upper("uplo", uplo)?;
        let l = matrix_mut("l", l, (order, order), ldl)?;
        let l = if upper { l.transpose_mut() } else { l };
        let v = matrix("v", v, (order, rank), ldv)?;
        let weights = weights_or_ones(weights, rank)?;
        let mut own = None;
        let workspace = cholupdate_d_workspace::of(workspace, &mut own);
        let learned = modify_in_place(l, v, weights, &workspace.engine, &mut workspace.memory);
        tell(report, learned?);
        Ok(())
    })
}
