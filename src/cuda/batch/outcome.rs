//! What a call has done to each matrix: numbers on the device, which are copied when they are asked for.

use super::CholeskyBatch;
use super::arguments::address;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::plain::Plain;
use crate::cuda::stream::Stream;
use crate::error::{Error, other};
use crate::real::Real;
use crate::report::Modification;
use core::ops::Range;
use std::sync::OnceLock;

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

/// What the last calls have done, until the next ones.
impl<T: Real> CholeskyBatch<T> {
    /// The outcome of the last modification, as that call has returned it. `None` if there was none, or if the device has failed in it.
    ///
    /// ```
    /// use cholupdate::cuda::{CholeskyBatch, Device};
    /// use cholupdate::{BatchRef, Error};
    ///
    /// fn on_the_gpu() -> Result<(), Error> {
    ///     let a = BatchRef::by_rows(&[4.0, 9.0], [2, 1, 1])?;
    ///     let mut batch = CholeskyBatch::new(&Device::new(0)?, a)?;
    ///     batch.downdate(BatchRef::by_rows(&[1.0, 3.5], [2, 1, 1])?)?;
    ///     let failed = batch.last_outcome().map(|outcome| outcome.failed()).transpose()?;
    ///     assert_eq!(failed.as_deref(), Some(&[1][..]));
    ///     Ok(())
    /// }
    /// # match on_the_gpu() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
    /// ```
    #[must_use]
    pub fn last_outcome(&self) -> Option<DeviceOutcome<'_, T>> {
        self.modified_by.map(|argument| DeviceOutcome::of(self, argument))
    }

    /// The status of the last solve, as that call has returned it. `None` if there was none, or if the device has failed in it.
    #[must_use]
    pub fn last_solve(&self) -> Option<Status<'_, T>> {
        self.has_solved.then(|| Status::of_solve(self))
    }

    /// The outcome of a modification that has been enqueued, or that had nothing to do.
    pub(super) fn outcome_of(&mut self, argument: &'static str) -> DeviceOutcome<'_, T> {
        self.modified_by = Some(argument);
        DeviceOutcome::of(self, argument)
    }

    /// What the numbers of a call say: the matrices that have failed, in order, and why.
    pub(super) fn failures_of(
        &self,
        numbers: &[i32],
        place: &DeviceBuffer<i32>,
        argument: &'static str,
    ) -> Result<Vec<(usize, Error)>, Error> {
        if numbers.iter().all(|&number| number == 0) {
            return Ok(Vec::new());
        }
        let place = self.fetch(place)?;
        let why = if numbers.contains(&NONE) {
            Some([self.fetch(&self.why)?, self.fetch(&self.why_place)?])
        } else {
            None
        };
        let error = |(matrix, &number): (usize, &i32)| {
            let why = why.as_ref().map_or([0; 2], |[why, place]| [why[matrix], place[matrix]]);
            let error = self.error_of(matrix, [number, place[matrix]], why, argument);
            error.map(|error| (matrix, error))
        };
        Ok(numbers.iter().enumerate().filter_map(error).collect())
    }

    /// The error of a matrix, from the number and the place that a call has left, and from those of a matrix without a factor.
    fn error_of(
        &self,
        matrix: usize,
        [number, place]: [i32; 2],
        [why, why_place]: [i32; 2],
        argument: &'static str,
    ) -> Option<Error> {
        match number {
            NONE => error_of(why, why_place, self.order, self.argument),
            NO_SUCH_ROW => {
                let (found, limit) = (self.removed[matrix], usize::try_from(place).unwrap_or(0));
                Some(Error::Index { argument, entry: matrix, found, limit })
            }
            number => error_of(number, place, self.order, argument),
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
    fn new(
        batch: &'a CholeskyBatch<T>,
        [status, place]: [&'a DeviceBuffer<i32>; 2],
        argument: &'static str,
    ) -> Self {
        Self { batch, status, place, argument, copied: OnceLock::new() }
    }

    pub(super) fn of_solve(batch: &'a CholeskyBatch<T>) -> Self {
        let [status, place] = &batch.solved;
        Self::new(batch, [status, place], "rhs")
    }

    /// The address of the numbers on the device, 32-bit integers, one for each matrix: 0; 1 + the column that breaks down; or a negative
    /// number for a matrix that has no factor (−1), an argument (−2) or weight (−3) that is not finite or is too large (−4), a pivot
    /// that is zero (−5), no room for a row (−7) or no row of this index (−8). They are valid until the next call of the same kind, for work that is ordered after this one.
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

    /// The same, and why.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn failures(&self) -> Result<Vec<(usize, Error)>, Error> {
        self.batch.failures_of(self.numbers()?, self.place, self.argument)
    }

    /// Whether the call has failed for a matrix.
    ///
    /// # Errors
    /// Those of the same call of [`CholeskyBatch`](crate::CholeskyBatch); `Index`, naming `matrix`, if there is no such matrix;
    /// [`Error::Device`].
    pub fn status(&self, matrix: usize) -> Result<(), Error> {
        crate::check::index("matrix", matrix, self.batch.count)?;
        let number = self.numbers()?[matrix];
        if number == 0 {
            return Ok(());
        }
        let (batch, at) = (self.batch, matrix..matrix + 1);
        let one = |from| fetch(&batch.stream, &batch.device, from, at.clone()).map(|one| one[0]);
        let why = if number == NONE { [one(&batch.why)?, one(&batch.why_place)?] } else { [0; 2] };
        let error = batch.error_of(matrix, [number, one(self.place)?], why, self.argument);
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
    fn of(batch: &'a CholeskyBatch<T>, argument: &'static str) -> Self {
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

    /// The same, and why.
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
        let results = &self.status.batch.results;
        if self.reports.get().is_none() {
            let both = [self.status.batch.fetch(&results.ratio)?, self.status.batch.fetch(&results.log_det)?];
            self.reports.get_or_init(|| both);
        }
        let numbers =
            self.reports.get().map(|[ratio, log_det]| (ratio[matrix].to_f64(), log_det[matrix].to_f64()));
        let (ratio, log_det) = numbers.unwrap_or((1.0, 0.0));
        let least = (ratio * ratio).min(f64::MAX);
        Ok(Modification::of_product(least, 1.0).and(f64::INFINITY, log_det))
    }

    /// The addresses of numbers on the device, one for each matrix: the status (32-bit integers, [`Status::address`]), the least ratio of
    /// a new pivot to the old one (its square is `min_pivot_ratio`), and by how much log det A has grown (both of type T). They are valid until the next
    /// modification, for work that is ordered after this one.
    #[must_use]
    pub fn addresses(&self) -> [u64; 3] {
        let results = &self.status.batch.results;
        [self.status.address(), address(&results.ratio), address(&results.log_det)]
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
