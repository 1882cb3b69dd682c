//! Initial factors on the GPU: by cuSOLVER, or by kernels of our own.

mod columns;

pub use self::columns::ColumnKernels;
pub(crate) use self::columns::by_column;

use super::dense::Dense;
use super::device::Device;
use super::solver::{self, Solver};
use crate::error::Error;
use crate::scalar::Scalar;
use faer::{MatMut, MatRef};
use std::time::{Duration, Instant};

/// Whether cuSOLVER's library is found.
pub(crate) fn has_cusolver() -> bool {
    solver::is_present()
}

/// A factored by cuSOLVER where its library is found and works, A and its working memory fit, and A is large enough
/// for that to be worth the start; else `None`.
///
/// # Errors
/// `NotPositiveDefinite`.
pub(super) fn where_it_pays<T: Scalar>(
    device: &Device,
    a: MatRef<'_, T>,
) -> Result<Option<Factored<T>>, Error> {
    // Below, starting the library and page-locking memory takes longer than faer.
    const WORTH_STARTING: usize = 2048;
    if a.nrows() < WORTH_STARTING || !fits::<T>(device, a.nrows()).unwrap_or(false) {
        return Ok(None);
    }
    match Factored::new(device, a) {
        Ok(factored) => Ok(Some(factored)),
        Err(error @ Error::NotPositiveDefinite { .. }) => Err(error),
        // A library for another driver, or memory that somebody else has taken: faer needs neither.
        Err(_) => Ok(None),
    }
}

/// Whether cuSOLVER is there and a matrix of this order would fit the device.
fn fits<T: Scalar>(device: &Device, order: usize) -> Result<bool, Error> {
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
/// `NotPositiveDefinite` at the first pivot that is not positive; A is left as it was then. `Device`.
pub(crate) fn by_cusolver<T: Scalar>(device: &Device, a: MatMut<'_, T>) -> Result<Duration, Error> {
    let factored = Factored::new(device, a.as_ref())?;
    let begun = factored.begun;
    factored.fetch(a)?;
    Ok(begun.elapsed())
}

/// A factor that cuSOLVER has left on the device.
pub(super) struct Factored<T> {
    solver: Solver,
    l: Dense<T>,
    /// When A was about to go up.
    begun: Instant,
}

impl<T: Scalar> Factored<T> {
    fn new(device: &Device, a: MatRef<'_, T>) -> Result<Self, Error> {
        let solver = Solver::new(device)?;
        let l = Dense::aligned(device, a.nrows())?;
        let begun = Instant::now();
        l.upload(solver.stream(), a)?;
        solver.factorize(&l)?;
        Ok(Self { solver, l, begun })
    }

    /// L where it is, with anything above the diagonal.
    pub fn into_l(self) -> Dense<T> {
        self.l
    }

    /// L, zero above the diagonal.
    pub fn fetch(&self, mut l: MatMut<'_, T>) -> Result<(), Error> {
        self.l.download(self.solver.stream(), l.as_mut(), self.l.order())?;
        for j in 1..l.ncols() {
            l.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
        }
        Ok(())
    }
}
