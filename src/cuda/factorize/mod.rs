//! Initial factors on the GPU: by cuSOLVER, or by kernels of our own.

mod columns;

pub use self::columns::Kernels;
pub(crate) use self::columns::by_column;

use super::dense::Dense;
use super::device::Device;
use super::solver::{self, Solver};
use crate::error::Error;
use crate::scalar::Scalar;
use faer::MatMut;
use std::time::{Duration, Instant};

/// Whether cuSOLVER's library is found.
pub(crate) fn has_cusolver() -> bool {
    solver::is_present()
}

/// Whether cuSOLVER is there and a matrix of this order would fit the device.
pub(super) fn fits<T: Scalar>(device: &Device, order: usize) -> Result<bool, Error> {
    if !has_cusolver() {
        return Ok(false);
    }
    let (free, _) = device.memory_bytes()?;
    // Half as much again for the working memory, of which cuSOLVER says the size too late.
    let wanted = order.saturating_mul(order).saturating_mul(size_of::<T>());
    Ok(wanted.saturating_add(wanted / 2) <= free)
}

/// A ← L by cuSOLVER, zero above the diagonal; only the lower triangle of A is read. (n × n) Returns the time
/// with the transfers and without the start.
///
/// # Errors
/// `NotPositiveDefinite` at the first pivot that is not positive; A is left as it was then.
pub(crate) fn by_cusolver<T: Scalar>(device: &Device, mut a: MatMut<'_, T>) -> Result<Duration, Error> {
    let solver = Solver::new(device)?;
    let order = a.nrows();
    let mut on_device = Dense::new(device, order)?;
    let start = Instant::now();
    on_device.upload(solver.stream(), a.as_ref())?;
    solver.factorize(&on_device)?;
    on_device.download(solver.stream(), a.as_mut(), order)?;
    let elapsed = start.elapsed();
    clear_upper(a);
    Ok(elapsed)
}

fn clear_upper<T: Scalar>(mut a: MatMut<'_, T>) {
    for j in 1..a.ncols() {
        a.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
    }
}
