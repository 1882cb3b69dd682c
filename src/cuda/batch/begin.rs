//! How a batch on a device begins, and how its factors are read.

use super::arguments::{GROUP, IN_PLACE, NO_FACTOR, SIDE_BY_SIDE, Source, Target, address};
use super::device_batch::DeviceBatch;
use super::kernels::Kernels;
use super::operand::{BatchOperand, BatchOperandMut, begin_behind, end_before};
use super::outcome::{error_of, fetch};
use super::{CholeskyBatch, MOST_ROWS, ResultsMemory};
use crate::batch::check_orders;
use crate::check::{extent, index};
use crate::cuda::device::Device;
use crate::cuda::memory::DeviceBuffer;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use faer::Mat;
use std::sync::Arc;

/// Scalars from one matrix, or group of matrices, to the next.
pub(in crate::cuda) fn stride<T>(order: usize) -> usize {
    let entries = order * (order + 1) / 2;
    if order <= SIDE_BY_SIDE { entries * GROUP } else { entries.next_multiple_of(16 / size_of::<T>()) }
}

impl<T: Real> CholeskyBatch<T> {
    /// The factors of matrices A, which are computed on the device.
    ///
    /// A matrix that is not positive definite, or not finite, has no factor: [`status_of`](Self::status_of) says why.
    ///
    /// # Shapes
    /// A (count × n × n); only lower triangles are read. n is at most 4096.
    ///
    /// # Errors
    /// `Shape`, or `OutOfRange` for an order or number of matrices that is too large, naming `a`; [`Error::Device`] if the device
    /// has not enough memory, or fails.
    ///
    /// # Cost
    /// n³/3 flops for each matrix.
    pub fn new<'a>(device: &Device, a: impl Into<BatchOperand<'a, T>>) -> Result<Self, Error> {
        Self::begun(device, ("a", a.into()), None, false)
    }

    /// As [`new`](Self::new), for matrices of different orders: of matrix b the leading `orders[b]` rows and columns are read. Rows of V
    /// and of right-hand sides from there on may be anything.
    ///
    /// # Shapes
    /// A (count × n × n), `orders` (count entries).
    ///
    /// # Errors
    /// As [`new`](Self::new); `Shape`, or `Index` for an order greater than n, naming `orders`.
    pub fn with_orders<'a>(
        device: &Device,
        a: impl Into<BatchOperand<'a, T>>,
        orders: &[usize],
    ) -> Result<Self, Error> {
        Self::begun(device, ("a", a.into()), Some(orders), false)
    }

    /// A batch of known factors L.
    ///
    /// # Shapes
    /// L (count × n × n); only lower triangles are read. Columns with a negative diagonal entry are negated, and L may have zeros on
    /// the diagonal.
    ///
    /// # Errors
    /// As [`new`](Self::new), naming `l`. A matrix of which L is not finite, or its square not, has no factor.
    pub fn from_factors<'a>(device: &Device, l: impl Into<BatchOperand<'a, T>>) -> Result<Self, Error> {
        Self::begun(device, ("l", l.into()), None, true)
    }

    /// As [`from_factors`](Self::from_factors), for factors of different orders.
    ///
    /// # Shapes
    /// L (count × n × n), `orders` (count entries).
    ///
    /// # Errors
    /// As [`with_orders`](Self::with_orders), naming `l`.
    pub fn from_factors_with_orders<'a>(
        device: &Device,
        l: impl Into<BatchOperand<'a, T>>,
        orders: &[usize],
    ) -> Result<Self, Error> {
        Self::begun(device, ("l", l.into()), Some(orders), true)
    }

    pub(super) fn begun(
        device: &Device,
        (argument, from): (&'static str, BatchOperand<'_, T>),
        orders: Option<&[usize]>,
        factors: bool,
    ) -> Result<Self, Error> {
        let [count, order, columns] = from.shape();
        extent(argument, "columns", order, columns)?;
        check_orders(orders, (count, order))?;
        if order > MOST_ROWS {
            return Err(Error::OutOfRange { argument, rule: "of an order of at most 4096" });
        }
        // Lists of matrices are in 32 bits.
        if i32::try_from(count).is_err() {
            return Err(Error::OutOfRange { argument, rule: "less than 2³¹ matrices" });
        }
        let batch = Self::empty(device, argument, (count, order))?;
        if count == 0 {
            return Ok(batch);
        }
        let from = from.take(device, argument)?;
        let streams = [from.stream];
        begin_behind(&batch.stream, &streams)?;
        let orders: Option<Vec<i32>> =
            orders.map(|orders| orders.iter().map(|&order| i32::try_from(order).unwrap_or(0)).collect());
        let orders = orders.map(|orders| batch.staged(&orders)).transpose()?;
        if let Some((staged, to)) = &orders {
            // SAFETY: both memories exist until all work has been waited for, below.
            unsafe { batch.stream.upload(staged, 0..count, to.slice(0..count))? };
        }
        let source = Source {
            a: from.address,
            a_strides: from.strides,
            orders: orders.as_ref().map_or(0, |(_, orders)| address(orders)),
            why: address(&batch.why),
            place: address(&batch.why_place),
            factors: i32::from(factors),
        };
        // SAFETY: the operand has these entries, and all memory exists until the work has been waited for.
        let enqueued = unsafe { batch.kernels.begin(&batch.stream, batch.factors(), source) };
        // Also if the operand is on a stream: the orders are in memory of this call.
        batch.stream.synchronize().and(enqueued)?;
        Ok(batch)
    }

    /// A batch without defined factors.
    pub(super) fn empty(
        device: &Device,
        argument: &'static str,
        (count, order): (usize, usize),
    ) -> Result<Self, Error> {
        let group_stride = stride::<T>(order);
        let kernels = Kernels::load::<T>(device, order, group_stride)?;
        let groups = if order <= SIDE_BY_SIDE { count.div_ceil(GROUP) } else { count };
        let (places, sides) = if order <= IN_PLACE { (1, 0) } else { (2, count) };
        let batch = Self {
            stream: Stream::new(device)?,
            kernels,
            count,
            order,
            group_stride,
            l: DeviceBuffer::new(device, groups.saturating_mul(group_stride).saturating_mul(places))?,
            sides: DeviceBuffer::new(device, sides)?,
            orders: DeviceBuffer::new(device, count)?,
            why: DeviceBuffer::new(device, count)?,
            why_place: DeviceBuffer::new(device, count)?,
            results: Arc::new(ResultsMemory::new(device, count)?),
            outcome_of: None,
            wide: Vec::new(),
            solved: [DeviceBuffer::new(device, count)?, DeviceBuffer::new(device, count)?],
            has_solved: false,
            rows: None,
            removed: Vec::new(),
            device: device.clone(),
            argument,
        };
        // SAFETY: the memory belongs to the batch, whose stream alone uses it.
        unsafe {
            batch.stream.clear(batch.results.pending.slice(0..2))?;
            batch.stream.clear(batch.sides.slice(0..sides))?;
        }
        Ok(batch)
    }

    /// Whether a matrix has a factor.
    ///
    /// # Errors
    /// The reason why it has none; `Index`, naming `matrix`, if there is no such matrix; [`Error::Device`].
    pub fn status_of(&self, matrix: usize) -> Result<(), Error> {
        index("matrix", matrix, self.count)?;
        let one = |from| fetch(&self.stream, &self.device, from, matrix..matrix + 1).map(|one| one[0]);
        if one(&self.orders)? != NO_FACTOR {
            return Ok(());
        }
        error_of(one(&self.why)?, one(&self.why_place)?, self.order, self.argument).map_or(Ok(()), Err)
    }

    /// The matrices that have no factor, in order.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn missing(&self) -> Result<Vec<usize>, Error> {
        let orders = self.fetch(&self.orders)?;
        Ok((0..self.count).filter(|&matrix| orders[matrix] == NO_FACTOR).collect())
    }

    /// The matrices that have no factor, in order, and why.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn why_missing(&self) -> Result<Vec<(usize, Error)>, Error> {
        let missing = self.missing()?;
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let (why, place) = (self.fetch(&self.why)?, self.fetch(&self.why_place)?);
        let error = |matrix: usize| error_of(why[matrix], place[matrix], self.order, self.argument);
        Ok(missing.into_iter().filter_map(|matrix| error(matrix).map(|error| (matrix, error))).collect())
    }

    /// A copy of the factor of a matrix in host memory, zero above the diagonal. (n × n)
    ///
    /// # Errors
    /// As [`status_of`](Self::status_of).
    pub fn factor(&self, matrix: usize) -> Result<Mat<T>, Error> {
        self.status_of(matrix)?;
        let order = fetch(&self.stream, &self.device, &self.orders, matrix..matrix + 1)?[0];
        let order = usize::try_from(order).unwrap_or(0);
        let (first, step) = if self.order <= SIDE_BY_SIDE { (matrix / GROUP, GROUP) } else { (matrix, 1) };
        let is_beside = self.order > IN_PLACE
            && fetch(&self.stream, &self.device, &self.sides, matrix..matrix + 1)?[0] != 0;
        let side = if is_beside { self.l.len() / 2 } else { 0 };
        let group = side + first * self.group_stride..side + (first + 1) * self.group_stride;
        let l = fetch(&self.stream, &self.device, &self.l, group)?;
        let column = |j: usize| j * (2 * self.order - j + 1) / 2;
        let entry = |i: usize, j: usize| {
            if i < j { T::ZERO } else { l[(column(j) + i - j) * step + matrix % step] }
        };
        Ok(Mat::from_fn(order, order, entry))
    }

    /// Copies all factors to lower triangles. Entries above the diagonal are not written, nor rows from the order of a matrix on, nor
    /// [`missing`](Self::missing) matrices.
    ///
    /// # Shapes
    /// L (count × n × n).
    ///
    /// # Errors
    /// `Shape`, naming `l`; [`Error::Device`].
    pub fn copy_factors<'a>(&self, l: impl Into<BatchOperandMut<'a, T>>) -> Result<(), Error> {
        let l = l.into();
        let [count, rows, columns] = l.shape();
        extent("l", "matrices", self.count, count)?;
        extent("l", "rows", self.order, rows)?;
        extent("l", "columns", self.order, columns)?;
        if count * rows == 0 {
            return Ok(());
        }
        let to = l.take(&self.device, "l")?;
        let streams = [to.stream];
        begin_behind(&self.stream, &streams)?;
        let target = Target { to: to.address, to_strides: to.strides };
        // SAFETY: the operand has these entries, and is waited for, or used on its stream.
        let enqueued = unsafe { self.kernels.copy(&self.stream, self.factors(), target) };
        end_before(&self.stream, &self.device, &streams).and(enqueued)?;
        let copy = to.into_copy();
        l.give_back(copy)
    }

    /// log det A of each matrix, on the host: −∞ for a singular matrix, NaN for one that has no factor.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn log_dets(&self) -> Result<Vec<f64>, Error> {
        if self.count == 0 {
            return Ok(Vec::new());
        }
        let to = DeviceBatch::<f64>::new(&self.device, [self.count, 1, 1])?;
        let address = to.view().address();
        // SAFETY: the memory has a number for each matrix, and is waited for.
        let enqueued = unsafe { self.kernels.log_det(&self.stream, self.factors(), address) };
        self.stream.synchronize().and(enqueued)?;
        let mut numbers = vec![0.0; self.count];
        to.copy_to(crate::batch::operand::BatchMut::by_rows(&mut numbers, [self.count, 1, 1])?)?;
        Ok(numbers)
    }
}
