//! What a call has done to each matrix: numbers on the device, which are copied when they are asked for.

use super::arguments::address;
use super::{CholeskyBatch, ResultsMemory};
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::plain::Plain;
use crate::cuda::stream::Stream;
use crate::error::{Error, other};
use crate::real::Real;
use crate::report::Modification;
use core::ops::Range;
use std::sync::{Arc, OnceLock};

/// Statuses, as `batch.cuh` has them.
const NONE: i32 = -1;
const NOT_FINITE: i32 = -2;
const WEIGHT_NOT_FINITE: i32 = -3;
const TOO_LARGE: i32 = -4;
const SINGULAR: i32 = -5;
const UNDECIDED: i32 = -6;
const FULL: i32 = -7;
const NO_SUCH_ROW: i32 = -8;

/// Copies a range of device memory, after all work on the stream.
pub(super) fn fetch<N: Plain>(
    stream: &Stream,
    device: &Device,
    from: &DeviceBuffer<N>,
    range: Range<usize>,
) -> Result<Vec<N>, Error> {
    let staged = Pinned::new(device, range.len())?;
    // SAFETY: both memories exist, and nothing else uses the second until the stream has been waited for.
    let enqueued = unsafe { stream.download(from.slice(range.clone()), &staged, 0..range.len()) };
    stream.synchronize().and(enqueued)?;
    Ok(staged.as_slice().to_vec())
}

/// The error that a status stands for.
pub(super) fn error_of(status: i32, place: i32, order: usize, argument: &'static str) -> Option<Error> {
    let place = usize::try_from(place).unwrap_or(0);
    let (row, column) = (place % order.max(1), place / order.max(1));
    match status {
        0 => None,
        NOT_FINITE => Some(Error::NonFinite { argument, row, column }),
        WEIGHT_NOT_FINITE => Some(Error::NonFinite { argument: "weights", row: place, column: 0 }),
        TOO_LARGE => Some(Error::Overflow { argument }),
        SINGULAR => Some(Error::Singular { column: place }),
        FULL => Some(Error::Shape { argument, extent: "rows", expected: order + 1, found: order }),
        UNDECIDED => Some(other("the call has failed on the device")),
        column => {
            let column = usize::try_from(column).unwrap_or(1).saturating_sub(1);
            Some(Error::NotPositiveDefinite { column })
        }
    }
}

/// Which matrices a call has failed for. The numbers are on the device; what asks for them waits for the call, and copies them once.
pub struct Status<'a, T> {
    batch: &'a CholeskyBatch<T>,
    status: &'a DeviceBuffer<i32>,
    place: &'a DeviceBuffer<i32>,
    argument: &'static str,
    copied: OnceLock<Vec<i32>>,
}

impl<'a, T: Real> Status<'a, T> {
    pub(super) fn new(
        batch: &'a CholeskyBatch<T>,
        [status, place]: [&'a DeviceBuffer<i32>; 2],
        argument: &'static str,
    ) -> Self {
        Self { batch, status, place, argument, copied: OnceLock::new() }
    }

    /// The address of the numbers on the device, 32-bit integers, one for each matrix: 0; 1 + the column that breaks down; or a negative
    /// number for a matrix that has no factor (−1), an argument (−2) or weight (−3) that is not finite or is too large (−4), a pivot
    /// that is zero (−5), no room for a row (−7) or no row of this index (−8). They are valid until the next call of the same kind, for
    /// work that is ordered after this one.
    #[must_use]
    pub fn address(&self) -> u64 {
        address(self.status)
    }

    fn numbers(&self) -> Result<&[i32], Error> {
        if let Some(copied) = self.copied.get() {
            return Ok(copied);
        }
        let numbers = self.batch.fetch(self.status)?;
        Ok(self.copied.get_or_init(|| numbers))
    }

    /// The matrices for which the call has failed, in order. They are as they were, and so are their right-hand sides.
    ///
    /// # Errors
    /// [`Error::Device`], as all calls here.
    pub fn failed(&self) -> Result<Vec<usize>, Error> {
        let numbers = self.numbers()?;
        Ok((0..numbers.len()).filter(|&matrix| numbers[matrix] != 0).collect())
    }

    /// The same matrices, and why.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn failures(&self) -> Result<Vec<(usize, Error)>, Error> {
        let numbers = self.numbers()?;
        if numbers.iter().all(|&status| status == 0) {
            return Ok(Vec::new());
        }
        let (batch, place) = (self.batch, self.batch.fetch(self.place)?);
        let (why, why_place) = match numbers.contains(&NONE) {
            true => (batch.fetch(&batch.why)?, batch.fetch(&batch.why_place)?),
            false => (Vec::new(), Vec::new()),
        };
        let reason = |matrix: usize| match why.get(matrix) {
            Some(&why) => (why, why_place[matrix]),
            None => (0, 0),
        };
        let one = |(matrix, &status): (usize, &i32)| {
            let error = self.error(matrix, (status, place[matrix]), reason(matrix));
            error.map(|error| (matrix, error))
        };
        Ok(numbers.iter().enumerate().filter_map(one).collect())
    }

    /// The error of a matrix with this status and place; `reason` is why it has no factor, and where.
    fn error(&self, matrix: usize, (status, place): (i32, i32), reason: (i32, i32)) -> Option<Error> {
        let batch = self.batch;
        match status {
            NONE => error_of(reason.0, reason.1, batch.order, batch.argument),
            NO_SUCH_ROW => {
                let (found, limit) = (batch.removed[matrix], usize::try_from(place).unwrap_or(0));
                Some(Error::Index { argument: self.argument, entry: matrix, found, limit })
            }
            status => error_of(status, place, batch.order, self.argument),
        }
    }

    /// Whether the call has failed for a matrix.
    ///
    /// # Errors
    /// Those of the same call of [`CholeskyBatch`](crate::CholeskyBatch); `Index`, naming `matrix`, if there is no such matrix;
    /// [`Error::Device`].
    pub fn status(&self, matrix: usize) -> Result<(), Error> {
        crate::check::index("matrix", matrix, self.batch.count)?;
        let status = self.numbers()?[matrix];
        let (batch, at) = (self.batch, matrix..matrix + 1);
        let one = |from| fetch(&batch.stream, &batch.device, from, at.clone()).map(|one| one[0]);
        let error = match status {
            0 => None,
            NONE => self.error(matrix, (status, 0), (one(&batch.why)?, one(&batch.why_place)?)),
            status => self.error(matrix, (status, one(self.place)?), (0, 0)),
        };
        error.map_or(Ok(()), Err)
    }
}

/// The outcome of a modification of a batch, matrix by matrix. It borrows the batch, which keeps the numbers until its next
/// modification.
pub struct DeviceOutcome<'a, T> {
    status: Status<'a, T>,
    reports: OnceLock<[Vec<T>; 2]>,
}

impl<'a, T: Real> DeviceOutcome<'a, T> {
    /// The outcome of a call with this argument.
    pub(super) fn of(batch: &'a CholeskyBatch<T>, argument: &'static str) -> Self {
        let results = &batch.results;
        let status = Status::new(batch, [&results.status, &results.place], argument);
        Self { status, reports: OnceLock::new() }
    }

    /// The matrices that could not be modified, in order.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn failed(&self) -> Result<Vec<usize>, Error> {
        self.status.failed()
    }

    /// The same matrices, and why.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn failures(&self) -> Result<Vec<(usize, Error)>, Error> {
        self.status.failures()
    }

    /// Whether a matrix could be modified. One that was left out by a mask was.
    ///
    /// # Errors
    /// As [`BatchOutcome::status`](crate::BatchOutcome::status); [`Error::Device`].
    pub fn status(&self, matrix: usize) -> Result<(), Error> {
        self.status.status(matrix)
    }

    /// The report of the modification of a matrix.
    ///
    /// # Errors
    /// As [`status`](Self::status).
    pub fn report(&self, matrix: usize) -> Result<Modification, Error> {
        self.status(matrix)?;
        Ok(of_numbers(self.copied()?, matrix))
    }

    /// The reports of all matrices; `None` for those that could not be modified.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn reports(&self) -> Result<Vec<Option<Modification>>, Error> {
        let (statuses, numbers) = (self.status.numbers()?, self.copied()?);
        let one = |(matrix, &status): (usize, &i32)| (status == 0).then(|| of_numbers(numbers, matrix));
        Ok(statuses.iter().enumerate().map(one).collect())
    }

    /// The least ratios and the logarithms, which are copied once.
    fn copied(&self) -> Result<&[Vec<T>; 2], Error> {
        if let Some(copied) = self.reports.get() {
            return Ok(copied);
        }
        let results = &self.status.batch.results;
        let both = [self.status.batch.fetch(&results.ratio)?, self.status.batch.fetch(&results.log_det)?];
        Ok(self.reports.get_or_init(|| both))
    }

    /// The numbers on the device, to be used there.
    #[must_use]
    pub fn on_device(&self) -> DeviceNumbers<T> {
        DeviceNumbers { results: self.status.batch.results.clone(), count: self.status.batch.count }
    }

    /// The addresses of numbers on the device, one for each matrix: the status (32-bit integers, [`Status::address`]), the least ratio of
    /// a new pivot to the old one (its square is `min_pivot_ratio`), and by how much log det A has grown (both of type T). They are
    /// valid until the next modification, for work that is ordered after this one.
    #[must_use]
    pub fn addresses(&self) -> [u64; 3] {
        self.on_device().addresses()
    }
}

/// The report of a matrix that was modified.
fn of_numbers<T: Real>([ratio, log_det]: &[Vec<T>; 2], matrix: usize) -> Modification {
    let (ratio, log_det) = (ratio[matrix].to_f64(), log_det[matrix].to_f64());
    Modification::of_product((ratio * ratio).min(f64::MAX), 1.0).and(f64::INFINITY, log_det)
}

/// The numbers of the outcomes of a batch, in the memory of its device. The memory exists as long as this does, and every
/// modification of the batch writes it again.
///
/// ```
/// use cholupdate::cuda::{CholeskyBatch, Device};
/// use cholupdate::{BatchRef, Error};
///
/// fn on_the_gpu() -> Result<(), Error> {
///     let mut batch = CholeskyBatch::new(&Device::new(0)?, BatchRef::by_rows(&[4.0, 9.0], [2, 1, 1])?)?;
///     let numbers = batch.update(BatchRef::by_rows(&[1.0, 0.0], [2, 1, 1])?)?.on_device();
///     let [status, ratio, log_det] = numbers.addresses();      // for a kernel, or another library
///     assert!(numbers.count() == 2 && status != ratio && ratio != log_det);
///     Ok(())
/// }
/// # match on_the_gpu() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
pub struct DeviceNumbers<T> {
    results: Arc<ResultsMemory<T>>,
    count: usize,
}

impl<T: Real> DeviceNumbers<T> {
    /// As [`DeviceOutcome::addresses`].
    #[must_use]
    pub fn addresses(&self) -> [u64; 3] {
        let results = &self.results;
        [address(&results.status), address(&results.ratio), address(&results.log_det)]
    }

    /// The number of matrices.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }
}

impl<T: Real> CholeskyBatch<T> {
    /// The outcome of a modification with this argument, which has been enqueued.
    pub(super) fn with_outcome(&mut self, argument: &'static str) -> DeviceOutcome<'_, T> {
        self.outcome_of = Some(argument);
        DeviceOutcome::of(self, argument)
    }

    /// The outcome of the last modification; `None` before the first one, after one that a device has failed in, and after
    /// [`reserve`](Self::reserve) has made room or [`replace`](Self::replace) has replaced a matrix.
    #[must_use]
    pub fn outcome(&self) -> Option<DeviceOutcome<'_, T>> {
        self.outcome_of.map(|argument| DeviceOutcome::of(self, argument))
    }

    /// Which matrices the last solve has failed for; `None` as for [`outcome`](Self::outcome).
    #[must_use]
    pub fn solve_status(&self) -> Option<Status<'_, T>> {
        let [status, place] = &self.solved;
        self.has_solved.then(|| Status::new(self, [status, place], "rhs"))
    }

    /// Waits until all calls so far are done.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn wait(&self) -> Result<(), Error> {
        self.stream.synchronize()
    }
}

impl<T> core::fmt::Debug for DeviceNumbers<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DeviceNumbers").field("count", &self.count).finish_non_exhaustive()
    }
}

impl<T: Real> core::fmt::Debug for Status<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Status").field("count", &self.batch.count).finish_non_exhaustive()
    }
}

impl<T: Real> core::fmt::Debug for DeviceOutcome<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DeviceOutcome").field("count", &self.status.batch.count).finish_non_exhaustive()
    }
}
