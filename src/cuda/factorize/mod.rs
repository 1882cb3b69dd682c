//! Initial factors on the GPU: by cuSOLVER, or by this library's kernels.

mod blocked;
mod columns;

pub use self::columns::ColumnKernels;
pub(crate) use self::columns::by_column;

pub(super) use self::blocked::Blocked;
use super::cusolver::Solver;
use super::dense::Dense;
use super::device::Device;
use super::handles;
use super::stream::Stream;
use crate::error::{DeviceErrorKind, Error};
use crate::real::Real;
use faer::{MatMut, MatRef};
use std::time::{Duration, Instant};

/// Orders from which on a factorization on the device pays. For smaller ones, page-locking memory and starting cuSOLVER take
/// longer than faer.
pub(super) const WORTH_STARTING: usize = 2048;

/// Whether cuSOLVER's library is found.
pub(crate) fn has_cusolver() -> bool {
    handles::is_present()
}

/// The implementation that factors a matrix in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// cuSOLVER, if its library is found.
    CuSolver,
    /// `factor.cu`.
    Blocked,
}

/// Factors A on the device, if it is large enough and there is room for it: by cuSOLVER if its library is found and works,
/// otherwise by this library's kernels; otherwise returns `None`.
///
/// # Errors
/// `NotPositiveDefinite`, or `Device` if the device is lost.
pub(super) fn where_it_pays<T: Real>(
    device: &Device,
    a: MatRef<'_, T>,
) -> Result<Option<Factored<T>>, Error> {
    let order = a.nrows();
    if order < WORTH_STARTING {
        return Ok(None);
    }
    for by in [By::CuSolver, By::Blocked] {
        if !by.fits::<T>(device, order).unwrap_or(false) {
            continue;
        }
        match Factored::new(device, a, by) {
            Ok(factored) => return Ok(Some(factored)),
            // The library may be for another driver, or the memory may have been allocated by another process. The next
            // implementation needs no library and less memory, and faer neither.
            Err(Error::Device { kind, .. }) if kind != DeviceErrorKind::Lost => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

impl By {
    /// Whether the implementation is available, and a matrix of this order and its working memory fit the device.
    pub(super) fn fits<T>(self, device: &Device, order: usize) -> Result<bool, Error> {
        let matrix = order.saturating_mul(order).saturating_mul(size_of::<T>());
        let more = match self {
            Self::CuSolver if !has_cusolver() => return Ok(false),
            // The library reports its working memory too late, so it is estimated.
            Self::CuSolver => matrix / 2,
            // A diagonal block, and padding of columns to multiples of 16 bytes.
            Self::Blocked => order.saturating_mul(16).saturating_add(1 << 20),
        };
        let (free, _) = device.memory_bytes()?;
        Ok(matrix.saturating_add(more) <= free)
    }
}

/// A ← L on the device, zero above the diagonal; only the lower triangle of A is read. (n × n) Returns the time including
/// transfers and excluding the start.
///
/// # Errors
/// `NotPositiveDefinite` at the first pivot that is not positive, with A unchanged; `Device`.
pub(crate) fn in_device_memory<T: Real>(
    device: &Device,
    a: MatMut<'_, T>,
    by: By,
) -> Result<Duration, Error> {
    let factored = Factored::new(device, a.as_ref(), by)?;
    let begun = factored.begun;
    factored.fetch(a)?;
    Ok(begun.elapsed())
}

/// An implementation, with its stream.
pub(super) enum Means<T> {
    CuSolver(Solver, Stream),
    Blocked(Blocked<T>),
}

impl<T: Real> Means<T> {
    pub fn new(device: &Device, by: By) -> Result<Self, Error> {
        Ok(match by {
            By::CuSolver => Self::CuSolver(Solver::new(device)?, Stream::new(device)?),
            By::Blocked => Self::Blocked(Blocked::new(device)?),
        })
    }

    pub fn stream(&self) -> &Stream {
        match self {
            Self::CuSolver(_, stream) => stream,
            Self::Blocked(blocked) => blocked.stream(),
        }
    }

    /// A ← L, in the lower triangle of a matrix with aligned columns.
    ///
    /// # Errors
    /// `NotPositiveDefinite` at the first pivot that is not positive; `Device`.
    pub fn factorize(&self, a: &Dense<T>) -> Result<(), Error> {
        match self {
            Self::CuSolver(solver, stream) => solver.factorize(stream, a),
            Self::Blocked(blocked) => blocked.factorize(a),
        }
    }
}

/// A factor that remains on the device.
pub(super) struct Factored<T> {
    means: Means<T>,
    l: Dense<T>,
    /// The time before A was copied to the device.
    begun: Instant,
}

impl<T: Real> Factored<T> {
    fn new(device: &Device, a: MatRef<'_, T>, by: By) -> Result<Self, Error> {
        let means = Means::new(device, by)?;
        let l = Dense::aligned(device, a.nrows(), a.nrows())?;
        let begun = Instant::now();
        l.upload(means.stream(), a)?;
        means.factorize(&l)?;
        Ok(Self { means, l, begun })
    }

    /// The implementation that computed it.
    #[cfg(all(test, target_os = "linux"))]
    pub fn by(&self) -> By {
        match self.means {
            Means::CuSolver(..) => By::CuSolver,
            Means::Blocked(_) => By::Blocked,
        }
    }

    /// Copies L to the host, with zeros above the diagonal.
    pub fn fetch(&self, mut l: MatMut<'_, T>) -> Result<(), Error> {
        self.l.download(self.means.stream(), l.as_mut(), self.l.order())?;
        for j in 1..l.ncols() {
            l.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
        }
        Ok(())
    }
}
