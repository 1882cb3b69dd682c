//! The functions for double precision.

use crate::arguments::{
    array, borrow, borrow_mut, count, device_matrix, device_matrix_mut, is_upper, matrix, matrix_mut, place,
    rows, tell, triangle,
};
use crate::engines::cpu_alone;
use crate::held::{Held, Origin, Sides, hold};
use crate::options::{Settings, cholupdate_options};
use crate::report::cholupdate_report;
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::{Cpu, OperandMut, Weights, Workspace, modify_in_place};
use core::ffi::{c_char, c_void};

/// A factor in double precision, of a matrix A (n x n).
pub struct cholupdate_d {
    held: Box<dyn Held<f64>>,
    settings: Settings,
}

/// Working memory of cholupdate_d_modify_array(): grows to what the calls so far needed, never shrinks.
pub struct cholupdate_d_workspace {
    memory: Workspace<f64>,
    engine: Cpu,
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

/// A <- A + V V^T. V (n x k) is left alone; `report` may be NULL.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_update(
    factor: *mut cholupdate_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let v = matrix("v", v, (factor.held.order(), count("k", k)?), ldv)?;
        tell(report, factor.held.modify(&v, Weights::Plus)?);
        Ok(())
    })
}

/// A <- A - V V^T. V (n x k) is left alone; `report` may be NULL.
///
/// Returns as cholupdate_d_update(), and NOT_POSITIVE_DEFINITE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_downdate(
    factor: *mut cholupdate_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let v = matrix("v", v, (factor.held.order(), count("k", k)?), ldv)?;
        tell(report, factor.held.modify(&v, Weights::Minus)?);
        Ok(())
    })
}

/// A <- A + V diag(w) V^T, with any mix of signs: whether it succeeds depends on the result alone. V (n x k) and `weights` (k) are left alone;
/// `report` may be NULL.
///
/// Returns as cholupdate_d_downdate().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_modify(
    factor: *mut cholupdate_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    weights: *const f64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let rank = count("k", k)?;
        let v = matrix("v", v, (factor.held.order(), rank), ldv)?;
        let weights = array("weights", weights, rank)?;
        tell(report, factor.held.modify(&v, Weights::Each(weights))?);
        Ok(())
    })
}

/// As cholupdate_d_modify() with V in the memory of GPU number `device`: `v` is a CUdeviceptr, `stream` a CUstream of the device's primary context
/// or NULL for its default stream. What is on the stream comes before the call, and what comes on it later, after. `weights` (k) is in host memory,
/// or NULL for an update.
///
/// Returns as cholupdate_d_modify(), and the statuses of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_modify_on_device(
    factor: *mut cholupdate_d,
    k: i64,
    v: u64,
    ldv: i64,
    weights: *const f64,
    device: i64,
    stream: *mut c_void,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers and addresses are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let rank = count("k", k)?;
        let v = device_matrix("v", v, (factor.held.order(), rank), ldv, (device, stream))?;
        let weights = match weights.is_null() {
            true => Weights::Plus,
            false => Weights::Each(array("weights", weights, rank)?),
        };
        tell(report, factor.held.modify(&v, weights)?);
        Ok(())
    })
}

/// Writes 1 to `*can` if cholupdate_d_downdate() with the same V would succeed, else 0, by the very same arithmetic. V (n x k) is left alone, and so
/// is the matrix; the factor's working memory is not.
///
/// Returns as cholupdate_d_update().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_can_downdate(
    factor: *mut cholupdate_d,
    k: i64,
    v: *const f64,
    ldv: i64,
    can: *mut i32,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let v = matrix("v", v, (factor.held.order(), count("k", k)?), ldv)?;
        let can = place("can", can)?;
        can.write(factor.held.can_downdate(&v)?.into());
        Ok(())
    })
}

/// Makes working memory for cholupdate_d_modify_array(). `options` says how many threads and which safeguard; its engine is the CPU. `*workspace` is
/// the caller's from then on, for cholupdate_d_workspace_free().
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_workspace_new(
    options: *const cholupdate_options,
    workspace: *mut *mut cholupdate_d_workspace,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let workspace = place("workspace", workspace)?;
        let engine = cpu_alone(&Settings::new(options)?)?;
        let new = cholupdate_d_workspace { memory: Workspace::new(), engine };
        workspace.write(Box::into_raw(Box::new(new)));
        Ok(())
    })
}

/// Gives the memory back. The pointer leads nowhere from then on. NULL is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_workspace_free(workspace: *mut cholupdate_d_workspace) {
    if workspace.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: it came from `Box::into_raw`, and the caller gives it back.
        drop(unsafe { Box::from_raw(workspace) });
        Ok(())
    });
}

/// The factor in the caller's array `l` (n x n) becomes that of A + V diag(w) V^T: L, or R = L^T for an `uplo` of 'U'. Its diagonal must be
/// positive; its other entries are trusted to be finite. V (n x k) and `weights` (k) are left alone. One thread at a time uses a `workspace`; NULL is one
/// for this call alone, with default settings. 'L' is worked on where it lies, 'U' through a copy. `report` may be NULL.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE.
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
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let (order, rank) = (count("n", n)?, count("k", k)?);
        let upper = is_upper("uplo", uplo)?;
        let l = matrix_mut("l", l, (order, order), ldl)?;
        let l = if upper { l.transpose_mut() } else { l };
        let v = matrix("v", v, (order, rank), ldv)?;
        let weights = array("weights", weights, rank)?;
        let report_of = |workspace: &mut cholupdate_d_workspace| {
            modify_in_place(l, &v, weights, &workspace.engine, &mut workspace.memory)
        };
        let learned = match workspace.as_mut() {
            Some(workspace) => report_of(workspace),
            None => {
                report_of(&mut cholupdate_d_workspace { memory: Workspace::new(), engine: Cpu::default() })
            }
        };
        tell(report, learned?);
        Ok(())
    })
}

/// Adds r rows and columns behind the others: B above K are the new columns of A, `cross` (n x r) and `corner` (r x r), of whose triangle
/// `uplo` is read. Both are left alone; `report` may be NULL.
///
/// Returns as cholupdate_d_downdate(); the column is that of the new A.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_append(
    factor: *mut cholupdate_d,
    r: i64,
    cross: *const f64,
    ldcross: i64,
    corner: *const f64,
    ldcorner: i64,
    uplo: c_char,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (more, upper) = (count("r", r)?, is_upper("uplo", uplo)?);
        let cross = matrix("cross", cross, (factor.held.order(), more), ldcross)?;
        let corner = triangle("corner", corner, more, ldcorner, upper)?;
        tell(report, factor.held.append(&cross, &corner)?);
        Ok(())
    })
}

/// Inserts r rows and columns, which become rows `at` to `at` + r - 1, at most n before. `columns` (n + r x r) are the new columns of A, numbered as
/// afterwards; of their rows `at` to `at` + r - 1 the lower triangle is read. They are left alone; `report` may be NULL.
///
/// Returns as cholupdate_d_append().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_insert(
    factor: *mut cholupdate_d,
    at: i64,
    r: i64,
    columns: *const f64,
    ldcolumns: i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (at, more) = (count("at", at)?, count("r", r)?);
        let all = factor.held.order().saturating_add(more);
        let columns = matrix("columns", columns, (all, more), ldcolumns)?;
        tell(report, factor.held.insert(at, &columns)?);
        Ok(())
    })
}

/// Removes r rows and columns, those of the different `indices` (r) in any order, which is left alone; `report` may be NULL.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_remove(
    factor: *mut cholupdate_d,
    r: i64,
    indices: *const i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let indices = rows("indices", indices, count("r", r)?)?;
        tell(report, factor.held.remove(&indices)?);
        Ok(())
    })
}

/// Gives r neighbouring rows and columns, from row `at` on, other values. `columns` (n x r) are the new columns of A; of their rows `at` to `at` + r - 1
/// the lower triangle is read. They are left alone; `report` may be NULL.
///
/// Returns as cholupdate_d_append().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_replace(
    factor: *mut cholupdate_d,
    at: i64,
    r: i64,
    columns: *const f64,
    ldcolumns: i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (at, rank) = (count("at", at)?, count("r", r)?);
        let columns = matrix("columns", columns, (factor.held.order(), rank), ldcolumns)?;
        tell(report, factor.held.replace(at, &columns)?);
        Ok(())
    })
}

/// Takes row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
///
/// Returns as cholupdate_d_remove().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_shift(
    factor: *mut cholupdate_d,
    from: i64,
    to: i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let (from, to) = (count("from", from)?, count("to", to)?);
        tell(report, factor.held.shift(from, to)?);
        Ok(())
    })
}

/// Puts rows and columns in another order: row `order`[i] of A becomes row i. `order` (n) has every row once and is left alone; `report` may be NULL.
///
/// Returns as cholupdate_d_remove().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_permute(
    factor: *mut cholupdate_d,
    order: *const i64,
    report: *mut cholupdate_report,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe {
        let factor = borrow_mut("factor", factor)?;
        let order = rows("order", order, factor.held.order())?;
        tell(report, factor.held.permute(&order)?);
        Ok(())
    })
}

/// B (n x nrhs) <- X with A X = B, in the caller's array `b`.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or POISONED; the statuses of devices for an engine with a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe { solved(Sides::Both, factor, nrhs, b, ldb) })
}

/// B (n x nrhs) <- Y with L Y = B, in the caller's array `b`.
///
/// Returns as cholupdate_d_solve().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_l(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe { solved(Sides::L, factor, nrhs, b, ldb) })
}

/// B (n x nrhs) <- X with L^T X = B, in the caller's array `b`.
///
/// Returns as cholupdate_d_solve().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_lt(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers are NULL or lead to what it says.
    status_of(|| unsafe { solved(Sides::Transpose, factor, nrhs, b, ldb) })
}

/// A solve, with one of its sides or both.
///
/// # Safety
/// Pointers are NULL or lead to what the header says.
unsafe fn solved(
    sides: Sides,
    factor: *const cholupdate_d,
    nrhs: i64,
    b: *mut f64,
    ldb: i64,
) -> Result<(), Refused> {
    // SAFETY: forwarded to the caller.
    unsafe {
        let factor = borrow("factor", factor)?;
        let b = matrix_mut("b", b, (factor.held.order(), count("nrhs", nrhs)?), ldb)?;
        Ok(factor.held.solve(sides, OperandMut::Host(b))?)
    }
}

/// As cholupdate_d_solve() with B in the memory of GPU number `device`, as in cholupdate_d_modify_on_device(): `b` is a CUdeviceptr.
///
/// Returns as cholupdate_d_solve(), and the statuses of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_on_device(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: u64,
    ldb: i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers and addresses are NULL or lead to what it says.
    status_of(|| unsafe { solved_on_device(Sides::Both, factor, nrhs, (b, ldb), (device, stream)) })
}

/// As cholupdate_d_solve_l(), on a device.
///
/// Returns as cholupdate_d_solve_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_l_on_device(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: u64,
    ldb: i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers and addresses are NULL or lead to what it says.
    status_of(|| unsafe { solved_on_device(Sides::L, factor, nrhs, (b, ldb), (device, stream)) })
}

/// As cholupdate_d_solve_lt(), on a device.
///
/// Returns as cholupdate_d_solve_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_solve_lt_on_device(
    factor: *const cholupdate_d,
    nrhs: i64,
    b: u64,
    ldb: i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: what the caller promises by the header: pointers and addresses are NULL or lead to what it says.
    status_of(|| unsafe { solved_on_device(Sides::Transpose, factor, nrhs, (b, ldb), (device, stream)) })
}

/// A solve on a device.
///
/// # Safety
/// Pointers and addresses are NULL or lead to what the header says.
unsafe fn solved_on_device(
    sides: Sides,
    factor: *const cholupdate_d,
    nrhs: i64,
    (b, ldb): (u64, i64),
    place: (i64, *mut c_void),
) -> Result<(), Refused> {
    // SAFETY: forwarded to the caller.
    unsafe {
        let factor = borrow("factor", factor)?;
        let b = device_matrix_mut::<f64>("b", b, (factor.held.order(), count("nrhs", nrhs)?), ldb, place)?;
        Ok(factor.held.solve(sides, b)?)
    }
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
