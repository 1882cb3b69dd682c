//! Many small factors in the memory of a GPU, modified together.
//!
//! | file | holds |
//! |---|---|
//! | `device_batch` | matrices in device memory |
//! | `packed` | those that are made there |
//! | `operand` | matrices in either memory, as arguments of calls |
//! | `arguments` | what kernels take |
//! | `form` | how the matrices of an order are divided among threads |
//! | `kernels`, `row_kernels` | the kernels for an order, and how they are launched |
//! | `begin` | how a batch begins |
//! | `modify`, `solve` | the calls that modify and that solve |
//! | `rows` | the calls that append and remove rows and columns |
//! | `copies` | copies of some matrices, and with more room |
//! | `outcome` | what a call has done to each matrix |

pub(super) mod arguments;
#[allow(unsafe_code, reason = "copies and launches")]
pub(super) mod begin;
#[allow(unsafe_code, reason = "launches of kernels")]
mod copies;
#[allow(unsafe_code, reason = "copies, and views of memory that the caller manages")]
mod device_batch;
mod form;
#[allow(unsafe_code, reason = "launches of kernels")]
pub(super) mod kernels;
#[allow(unsafe_code, reason = "launches of kernels")]
mod modify;
#[allow(unsafe_code, reason = "streams of the caller")]
mod operand;
#[allow(unsafe_code, reason = "copies from the device")]
mod outcome;
#[allow(unsafe_code, reason = "copies on the device")]
mod packed;
#[allow(unsafe_code, reason = "launches of kernels")]
mod row_kernels;
#[allow(unsafe_code, reason = "launches of kernels")]
mod rows;
#[allow(unsafe_code, reason = "launches of kernels")]
mod solve;

pub use self::device_batch::{DeviceBatch, DeviceBatchView, DeviceBatchViewMut};
pub use self::operand::{BatchOperand, BatchOperandMut, WeightsOperand};
pub use self::outcome::{DeviceNumbers, DeviceOutcome, Status};

use self::arguments::{Factors, GROUP, IN_PLACE, Results, SIDE_BY_SIDE, address};
use self::kernels::Kernels;
use self::row_kernels::RowKernels;
use super::device::Device;
use super::memory::{DeviceBuffer, Pinned};
use super::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use std::sync::Arc;

/// Cholesky factors of many small matrices in the memory of a GPU, kept current together: A_b = L_b L_bᵀ for b = 0, 1, …
///
/// It is the [`CholeskyBatch`](crate::CholeskyBatch) of a device, under the same rules: a matrix that cannot be modified stays as it
/// was, bit for bit, the outcome names it, and the others are modified; the result of a matrix does not depend on the others or on its
/// place in the batch, bit for bit; and the accuracy is that of [`Cholesky`](crate::Cholesky), matrix by matrix. Matrices for which
/// working precision does not suffice are modified in twice the precision of f64, on the device as well.
///
/// V and right-hand sides may be in host memory or on the device. If they are on streams of the caller's
/// ([`DeviceBatchView::on_stream`]), no call waits for the device: the outcome is there until the next modification, and is waited for
/// when it is read.
///
/// ```
/// use cholupdate::cuda::{CholeskyBatch, Device};
/// use cholupdate::{BatchMut, BatchRef, Error};
///
/// fn on_the_gpu() -> Result<(), Error> {
///     // Two matrices of order 2, one after the other, by rows.
///     let a = [4.0, 2.0, 2.0, 5.0,   9.0, 3.0, 3.0, 2.0];
///     let mut batch = CholeskyBatch::new(&Device::new(0)?, BatchRef::by_rows(&a, [2, 2, 2])?)?;
///     // A column for each.
///     let v = [1.0, 2.0,   0.0, 1.5];
///     let v = BatchRef::by_rows(&v, [2, 2, 1])?;
///     assert!(batch.update(v)?.failed()?.is_empty());          // A_b + v_b v_bᵀ
///     batch.downdate(v)?;                                      // A_b again
///     assert_eq!(batch.downdate(v)?.failed()?, [1]);           // A_1 − v v_ᵀ would not be positive definite
///     let mut x = [8.0, 12.0,   15.0, 7.0];
///     let status = batch.solve_in_place(BatchMut::by_rows(&mut x, [2, 2, 1])?)?;
///     assert!(status.failed()?.is_empty());
///     Ok(())
/// }
/// # match on_the_gpu() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
pub struct CholeskyBatch<T> {
    /// Declared before the memory that its work uses: it is waited for when that is freed.
    stream: Stream,
    kernels: Kernels,
    count: usize,
    order: usize,
    /// Scalars from one group of matrices to the next.
    group_stride: usize,
    /// If a modification is not made in place, all factors and then room for as many.
    l: DeviceBuffer<T>,
    /// In which of the two each is. Empty if a modification is made in place.
    sides: DeviceBuffer<i32>,
    orders: DeviceBuffer<i32>,
    /// Why a matrix has no factor, and where.
    why: DeviceBuffer<i32>,
    why_place: DeviceBuffer<i32>,
    results: Arc<ResultsMemory<T>>,
    /// The argument of the modification whose results these are, if they are those of one.
    outcome_of: Option<&'static str>,
    /// Working memory of modifications. Later ones are larger, and modifications in flight may use an earlier one.
    wide: Vec<DeviceBuffer<f64>>,
    /// Results of solves.
    solved: [DeviceBuffer<i32>; 2],
    /// Whether there are any.
    has_solved: bool,
    /// The kernels that append and remove rows, once they have been used.
    rows: Option<RowKernels>,
    /// The indices of the last removal, which errors name.
    removed: Vec<usize>,
    device: Device,
    /// The argument of which the batch was made.
    argument: &'static str,
}

/// What modifications have done to each matrix.
struct ResultsMemory<T> {
    status: DeviceBuffer<i32>,
    place: DeviceBuffer<i32>,
    ratio: DeviceBuffer<T>,
    log_det: DeviceBuffer<T>,
    pending: DeviceBuffer<i32>,
}

impl<T: Real> ResultsMemory<T> {
    fn new(device: &Device, count: usize) -> Result<Self, Error> {
        Ok(Self {
            status: DeviceBuffer::new(device, count)?,
            place: DeviceBuffer::new(device, count)?,
            ratio: DeviceBuffer::new(device, count)?,
            log_det: DeviceBuffer::new(device, count)?,
            pending: DeviceBuffer::new(device, count + 2)?,
        })
    }

    fn argument(&self) -> Results {
        Results {
            status: address(&self.status),
            place: address(&self.place),
            ratio: address(&self.ratio),
            log_det: address(&self.log_det),
            pending: address(&self.pending),
        }
    }
}

/// The largest order: offsets in a triangle, and places in V, are counted in 32 bits.
const MOST_ROWS: usize = 4096;

impl<T: Real> CholeskyBatch<T> {
    fn factors(&self) -> Factors {
        Factors {
            l: address(&self.l),
            group_stride: i64::try_from(self.group_stride).unwrap_or(0),
            count: i64::try_from(self.count).unwrap_or(0),
            orders: address(&self.orders),
            sides: if self.order <= IN_PLACE { 0 } else { address(&self.sides) },
            side_stride: i64::try_from(self.l.len() / 2).unwrap_or(0),
            n: i32::try_from(self.order).unwrap_or(0),
            group: if self.order <= SIDE_BY_SIDE { i32::try_from(GROUP).unwrap_or(0) } else { 1 },
        }
    }

    /// The number of matrices.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// n, the number of rows of V and of right-hand sides: the largest order that a matrix can have.
    #[must_use]
    pub fn order(&self) -> usize {
        self.order
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The orders of all matrices; `None` for those that have no factor.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn orders(&self) -> Result<Vec<Option<usize>>, Error> {
        Ok(self.fetch(&self.orders)?.into_iter().map(|order| usize::try_from(order).ok()).collect())
    }

    /// Copies memory of the device, after all work of the batch.
    fn fetch<N: super::plain::Plain>(&self, from: &DeviceBuffer<N>) -> Result<Vec<N>, Error> {
        outcome::fetch(&self.stream, &self.device, from, 0..self.count)
    }

    /// A copy of a number of matrices' memory.
    fn staged<N: super::plain::Plain>(&self, from: &[N]) -> Result<(Pinned<N>, DeviceBuffer<N>), Error> {
        let mut staged = Pinned::new(&self.device, from.len())?;
        staged.as_mut_slice()?.copy_from_slice(from);
        Ok((staged, DeviceBuffer::new(&self.device, from.len())?))
    }
}

impl<T> core::fmt::Debug for CholeskyBatch<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CholeskyBatch")
            .field("count", &self.count)
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}
