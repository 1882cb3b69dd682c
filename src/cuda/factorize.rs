//! Initial factors on the GPU.

use super::dense::Dense;
use super::device::Device;
use super::solver::{Solver, is_present};
use crate::error::Error;
use crate::scalar::Scalar;
use faer::MatMut;

/// Whether cuSOLVER is there and a matrix of this order would fit the device.
pub(super) fn fits<T: Scalar>(device: &Device, order: usize) -> Result<bool, Error> {
    if !is_present() {
        return Ok(false);
    }
    let (free, _) = device.memory_bytes()?;
    // Half as much again for the working memory, of which cuSOLVER says the size too late.
    let wanted = order.saturating_mul(order).saturating_mul(size_of::<T>());
    Ok(wanted.saturating_add(wanted / 2) <= free)
}

/// A ← L by cuSOLVER, zero above the diagonal; only the lower triangle of A is read. (n × n)
///
/// # Errors
/// `NotPositiveDefinite` at the first pivot that is not positive; A is left as it was then.
pub(super) fn by_cusolver<T: Scalar>(device: &Device, mut a: MatMut<'_, T>) -> Result<(), Error> {
    let solver = Solver::new(device)?;
    let mut on_device = Dense::new(device, a.nrows())?;
    on_device.upload(solver.stream(), a.as_ref())?;
    solver.factorize(&on_device)?;
    on_device.download(solver.stream(), a.as_mut())?;
    for j in 1..a.ncols() {
        a.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
    }
    Ok(())
}
