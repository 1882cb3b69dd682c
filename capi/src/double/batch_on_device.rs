//! Batches whose matrices, and what they are modified by, are in the memory of a GPU.

use super::batch::{begun, cholupdate_d_batch, orders_or_n};
use crate::arguments::{borrow, borrow_mut, count, place};
use crate::batch_weights::{between, weighted};
use crate::batches::{device_matrices, device_matrices_mut, masked};
use crate::changing::{Sides, appended, modified, solved};
use crate::held::Anywhere;
use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::Weights;
use cholupdate::cuda::{CholeskyBatch, Device, WeightsOperand};
use core::ffi::c_void;

/// As cholupdate_d_batch_new() on the engine CHOLUPDATE_CUDA, with A in the memory of GPU number `device`, where the factors will be as
/// well: `a` is a CUdeviceptr, `stream` a CUstream of the device's primary context or NULL for its default stream. The call comes after
/// work already on the stream, and waits for the device. `a_strides` and `orders` are in host memory.
///
/// Returns as cholupdate_d_batch_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_new_on_device(
    count: i64,
    n: i64,
    a: u64,
    a_strides: *const i64,
    orders: *const i64,
    device: i64,
    stream: *mut c_void,
    made: *mut *mut cholupdate_d_batch,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        let (count, n) = (self::count("count", count)?, self::count("n", n)?);
        let a = device_matrices("a", a, [count, n, n], a_strides, (device, stream))?;
        let orders = orders_or_n(orders, count)?;
        let made = place("made", made)?;
        let device = Device::kept(self::count("device", device)?)?;
        let batch = match orders {
            Some(orders) => CholeskyBatch::with_orders(&device, a, &orders),
            None => CholeskyBatch::new(&device, a),
        };
        begun(Anywhere::on_device(batch?), made)
    })
}

/// As cholupdate_d_batch_from_factors(), with L on a device as in cholupdate_d_batch_new_on_device().
///
/// Returns as cholupdate_d_batch_from_factors().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_from_factors_on_device(
    count: i64,
    n: i64,
    l: u64,
    l_strides: *const i64,
    device: i64,
    stream: *mut c_void,
    made: *mut *mut cholupdate_d_batch,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        let (count, n) = (self::count("count", count)?, self::count("n", n)?);
        let l = device_matrices("l", l, [count, n, n], l_strides, (device, stream))?;
        let made = place("made", made)?;
        let device = Device::kept(self::count("device", device)?)?;
        begun(Anywhere::on_device(CholeskyBatch::from_factors(&device, l)?), made)
    })
}

/// A <- A + V V^T for each matrix of a batch on GPU number `device`, with V in its memory: `v` is a CUdeviceptr, `stream` a CUstream of
/// the device's primary context or NULL for its default stream. The work comes after work already on the stream, and before later work
/// on it. The call does not wait for it: until the work is done, V must stay as it is. cholupdate_d_batch_outcome() says what has come of
/// it, and cholupdate_d_batch_outcome_addresses() where that is on the device.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT, or the statuses of devices: DEVICE_ERROR if the batch is on another one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_update_on_device(
    batch: *mut cholupdate_d_batch,
    k: i64,
    v: u64,
    v_strides: *const i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        modified_there(batch, (k, v, v_strides), Weights::Plus.into(), None, (device, stream))
    })
}

/// A <- A - V V^T for each matrix. As cholupdate_d_batch_update_on_device().
///
/// Returns as cholupdate_d_batch_update_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_downdate_on_device(
    batch: *mut cholupdate_d_batch,
    k: i64,
    v: u64,
    v_strides: *const i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        modified_there(batch, (k, v, v_strides), Weights::Minus.into(), None, (device, stream))
    })
}

/// A <- A + V diag(w) V^T for each matrix, with V as in cholupdate_d_batch_update_on_device(). `weights` and `mask` are as in
/// cholupdate_d_batch_modify(), in host memory. The call waits for the device unless both are NULL.
///
/// Returns as cholupdate_d_batch_update_on_device(), and NOT_FINITE for `weights` of all matrices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_modify_on_device(
    batch: *mut cholupdate_d_batch,
    k: i64,
    v: u64,
    v_strides: *const i64,
    weights: *const f64,
    weights_stride: i64,
    mask: *const u8,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        let matrices = borrow("batch", batch)?.batch.extents()?.0;
        let mask = masked(mask, matrices)?;
        let mut copied = Vec::new();
        let weights = weighted(weights, weights_stride, (matrices, count("k", k)?), &mut copied)?;
        modified_there(batch, (k, v, v_strides), weights.into(), mask.as_deref(), (device, stream))
    })
}

/// A <- A + V diag(w) V^T for each matrix, with V and w on the device, as V is in cholupdate_d_batch_update_on_device(): `weights` is a
/// CUdeviceptr, and `weights_stride` as in cholupdate_d_batch_modify(). The call does not wait for the device. A matrix with a weight that
/// is not finite fails, with NOT_FINITE in its outcome.
///
/// Returns as cholupdate_d_batch_update_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_modify_by_weights_on_device(
    batch: *mut cholupdate_d_batch,
    k: i64,
    v: u64,
    v_strides: *const i64,
    weights: u64,
    weights_stride: i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        let (matrices, rank) = (borrow("batch", batch)?.batch.there()?.count(), count("k", k)?);
        let strides = [between(weights_stride, rank)? as i64, 1, k];
        let place = (device, stream);
        let weights = device_matrices("weights", weights, [matrices, rank, 1], strides.as_ptr(), place)?;
        modified_there(batch, (k, v, v_strides), weights.into(), None, place)
    })
}

/// Modifies a batch by V on its device.
///
/// # Safety
/// Pointers and addresses are NULL or point to what the header says.
unsafe fn modified_there(
    batch: *mut cholupdate_d_batch,
    (k, v, v_strides): (i64, u64, *const i64),
    weights: WeightsOperand<'_, f64>,
    mask: Option<&[bool]>,
    place: (i64, *mut c_void),
) -> Result<(), Refused> {
    // SAFETY: forwarded to the caller.
    unsafe {
        let batch = borrow_mut("batch", batch)?.batch.there_mut()?;
        let shape = [batch.count(), batch.order(), count("k", k)?];
        let v = device_matrices("v", v, shape, v_strides, place)?;
        modified(batch, v.into(), weights, mask)?;
        Ok(())
    }
}

/// As cholupdate_d_batch_append(), with the new columns on a device, as V is in cholupdate_d_batch_update_on_device(). `mask` is in host
/// memory, and the call waits for the device unless it is NULL.
///
/// Returns as cholupdate_d_batch_update_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_append_on_device(
    batch: *mut cholupdate_d_batch,
    a: u64,
    a_strides: *const i64,
    mask: *const u8,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = borrow_mut("batch", batch)?.batch.there_mut()?;
        let mask = masked(mask, batch.count())?;
        let shape = [batch.count(), batch.order(), 1];
        let a = device_matrices("a", a, shape, a_strides, (device, stream))?;
        appended(batch, a.into(), mask.as_deref())?;
        Ok(())
    })
}

/// B (n x nrhs each) <- X with A X = B for each matrix of a batch on GPU number `device`, with B in its memory, as V is in
/// cholupdate_d_batch_update_on_device(): `b` is a CUdeviceptr, of which no two entries share memory, and the call does not wait for the
/// device. The right-hand sides of matrices that fail stay as they were. cholupdate_d_batch_solve_outcome() says which ones have.
///
/// Returns as cholupdate_d_batch_update_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_solve_on_device(
    batch: *const cholupdate_d_batch,
    nrhs: i64,
    b: u64,
    b_strides: *const i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe { solved_there(Sides::Both, batch, (nrhs, b, b_strides), (device, stream)) })
}

/// B (n x nrhs each) <- Y with L Y = B. As cholupdate_d_batch_solve_on_device().
///
/// Returns as cholupdate_d_batch_solve_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_solve_l_on_device(
    batch: *const cholupdate_d_batch,
    nrhs: i64,
    b: u64,
    b_strides: *const i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe { solved_there(Sides::L, batch, (nrhs, b, b_strides), (device, stream)) })
}

/// B (n x nrhs each) <- X with L^T X = B. As cholupdate_d_batch_solve_on_device().
///
/// Returns as cholupdate_d_batch_solve_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_solve_lt_on_device(
    batch: *const cholupdate_d_batch,
    nrhs: i64,
    b: u64,
    b_strides: *const i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe { solved_there(Sides::Transposed, batch, (nrhs, b, b_strides), (device, stream)) })
}

/// Solves with B on the device of a batch.
///
/// # Safety
/// Pointers and addresses are NULL or point to what the header says.
unsafe fn solved_there(
    sides: Sides,
    batch: *const cholupdate_d_batch,
    (nrhs, b, b_strides): (i64, u64, *const i64),
    place: (i64, *mut c_void),
) -> Result<(), Refused> {
    // SAFETY: forwarded to the caller.
    unsafe {
        let mut batch = borrow("batch", batch)?.batch.there()?;
        let shape = [batch.count(), batch.order(), count("nrhs", nrhs)?];
        let b = device_matrices_mut("b", b, shape, b_strides, place)?;
        solved(&mut batch, sides, b.into())?;
        Ok(())
    }
}

/// As cholupdate_d_batch_to_factors() for a batch on GPU number `device`, to L in its memory, as V is in
/// cholupdate_d_batch_update_on_device(): `l` is a CUdeviceptr, and the call does not wait for the device.
///
/// Returns as cholupdate_d_batch_update_on_device().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_d_batch_to_factors_on_device(
    batch: *const cholupdate_d_batch,
    l: u64,
    l_strides: *const i64,
    device: i64,
    stream: *mut c_void,
) -> cholupdate_status {
    // SAFETY: the header requires that pointers and addresses are NULL or point to what it says.
    status_of(|| unsafe {
        let batch = borrow("batch", batch)?.batch.there()?;
        let shape = [batch.count(), batch.order(), batch.order()];
        Ok(batch.copy_factors(device_matrices_mut("l", l, shape, l_strides, (device, stream))?)?)
    })
}
