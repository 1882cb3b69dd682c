//! Modifications of factors in memory of the caller's, on a stream of the caller's, for which the host does not wait.
//!
//! | file | holds |
//! |---|---|
//! | `signs` | what is known about weights before they are read |
//! | `operands` | the memory of a modification |
//! | `scratch` | the division of working memory |
//! | `kept` | kernels and tasks that a device keeps |
//! | `around` | the kernels before and after those of the engines |
//! | `sweeps` | one matrix, by the sweeps of the resident engine |
//! | `side_by_side` | small matrices, by the kernels of a batch |
//! | `exchange` | the kernels between these matrices and a batch |

#[allow(unsafe_code, reason = "launches of kernels")]
mod around;
#[allow(unsafe_code, reason = "launches of kernels")]
mod exchange;
#[allow(unsafe_code, reason = "a copy to the device")]
mod kept;
mod operands;
#[allow(unsafe_code, reason = "memory of the caller's")]
mod scratch;
#[allow(unsafe_code, reason = "launches on memory of the caller's")]
mod side_by_side;
mod signs;
#[allow(unsafe_code, reason = "launches on memory of the caller's")]
mod sweeps;

pub use self::operands::StreamOperands;
pub use self::signs::Signs;

use self::side_by_side::SideBySide;
use self::sweeps::{One, Sweeps};
use super::current::keeping_current_context;
use super::device::Device;
use super::memory::DeviceSlice;
use super::stream::Stream;
use crate::error::{Error, other};
use crate::real::Real;

/// Modifications A + V diag(w) Vᵀ of matrices of one shape, enqueued on streams of the caller's: for the programs of other libraries,
/// which own the memory and the streams.
///
/// Nothing waits for the device, but for [`new`](Self::new) the first time that a process needs kernels or a number of panels of 64 columns. Only
/// launches are enqueued, so a stream may be one that is being captured. Nothing is raised for a factor that does not exist: a byte in
/// device memory tells. The work is that of [`Resident`](super::Resident), bit for bit where all weights have one sign, but a
/// breakdown is not decided in higher precision; or that of [`CholeskyBatch`](super::CholeskyBatch).
///
/// # Cost
/// One launch of sweeps, as [`Resident`](super::Resident) has, and two short ones, for each matrix. Several matrices up to order 256 are
/// modified side by side, as by [`CholeskyBatch`](super::CholeskyBatch), in six operations of the device together. If n is not a multiple of 16 bytes,
/// L is copied once before and once after.
///
/// ```
/// use cholupdate::Error;
/// use cholupdate::cuda::{Device, Signs, StreamModification};
///
/// fn scratch_bytes() -> Result<usize, Error> {
///     // One matrix of order 1000, three columns.
///     let modification = StreamModification::<f64>::new(&Device::new(0)?, [1, 1000, 3], Signs::Plus)?;
///     Ok(modification.scratch_bytes())
/// }
/// # match scratch_bytes() { Ok(_) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
pub struct StreamModification<T> {
    device: Device,
    count: usize,
    n: usize,
    signs: Signs,
    work: Work<T>,
}

/// How it is done.
enum Work<T> {
    /// There are no entries.
    Nothing,
    /// One matrix after the other.
    Sweeps(Sweeps<T>),
    SideBySide(SideBySide<T>),
}

impl<T> core::fmt::Debug for StreamModification<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("StreamModification")
            .field("count", &self.count)
            .field("n", &self.n)
            .field("signs", &self.signs)
            .finish_non_exhaustive()
    }
}

impl<T: Real> StreamModification<T> {
    /// For `count` matrices of order n, and k columns of V for each.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], naming `v`, if k is 2³⁰ or more; [`Error::Device`] if the device has no memory for tasks, or fails.
    pub fn new(device: &Device, [count, n, k]: [usize; 3], signs: Signs) -> Result<Self, Error> {
        if k >= 1 << 30 {
            return Err(Error::OutOfRange { argument: "v", rule: "of less than 2³⁰ columns" });
        }
        let work = || {
            Ok::<_, Error>(match (count, n) {
                (0, _) | (_, 0) => Work::Nothing,
                _ if SideBySide::<T>::takes([count, n, k]) => {
                    Work::SideBySide(SideBySide::new(device, [count, n, k], signs)?)
                }
                _ => Work::Sweeps(Sweeps::new(device, (n, k), signs)?),
            })
        };
        let work = keeping_current_context(work)?;
        Ok(Self { device: device.clone(), count, n, signs, work })
    }

    /// The bytes of working memory that [`enqueue`](Self::enqueue) needs.
    #[must_use]
    pub fn scratch_bytes(&self) -> usize {
        match &self.work {
            Work::Nothing => 0,
            Work::Sweeps(sweeps) => sweeps.bytes(),
            Work::SideBySide(together) => together.bytes(),
        }
    }

    /// Whether L and L' may be by rows, as several matrices up to order 256 may at no cost. Larger ones, and a single one, are by columns.
    #[must_use]
    pub fn takes_rows(&self) -> bool {
        !matches!(self.work, Work::Sweeps(_))
    }

    /// Enqueues the modification on a stream, by its handle in the driver. The context that is current on this thread stays so.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses a launch, if an address of a matrix or of working memory is no multiple of 16 bytes as it has
    /// to be, or if matrices are by rows that must not be. Some of the work may be in flight then.
    ///
    /// # Safety
    /// The stream is one of the device, in its primary context. Until the work is done, the memory is as the operands describe it, nothing
    /// writes to L, V or w, and nothing else uses L', the bytes or the working memory, which has [`scratch_bytes`](Self::scratch_bytes).
    pub unsafe fn enqueue(&self, stream: u64, operands: &StreamOperands, scratch: u64) -> Result<(), Error> {
        // SAFETY: as the caller guarantees.
        keeping_current_context(|| unsafe { self.enqueue_all(stream, operands, scratch) })
    }

    /// # Safety
    /// As [`enqueue`](Self::enqueue).
    unsafe fn enqueue_all(&self, stream: u64, operands: &StreamOperands, scratch: u64) -> Result<(), Error> {
        let n = self.n;
        // SAFETY: as the caller guarantees.
        let stream = unsafe { Stream::of_caller(&self.device, stream) };
        let work = match &self.work {
            Work::Nothing => {
                // SAFETY: as the caller guarantees: the bytes are those of matrices without entries.
                return unsafe { stream.fill(DeviceSlice::<u8>::at(operands.ok, self.count), 1) };
            }
            // SAFETY: as the caller guarantees.
            Work::SideBySide(together) => return unsafe { together.enqueue(&stream, operands, scratch) },
            Work::Sweeps(sweeps) => sweeps,
        };
        if operands.l_by_rows || operands.to_by_rows {
            return Err(other("matrices of this order and number have to be by columns"));
        }
        let bytes = |entries: usize| (entries * size_of::<T>()) as u64;
        let swept = operands.l | operands.to | bytes(operands.l_matrix);
        if !(scratch | if work.is_copied() { 0 } else { swept }).is_multiple_of(16) {
            return Err(other("an address of a matrix or of working memory is no multiple of 16 bytes"));
        }
        let [v_matrix, v_strides @ ..] = operands.v_strides;
        for matrix in 0..self.count {
            let weights = match self.signs {
                Signs::Any => operands.weights + bytes(matrix * operands.weights_matrix),
                Signs::Plus | Signs::Minus => 0,
            };
            let one = One {
                l: operands.l + bytes(matrix * operands.l_matrix),
                v: operands.v + bytes(matrix * v_matrix),
                v_strides: v_strides.map(|stride| stride as i64),
                weights,
                to: operands.to + bytes(matrix * n * n),
                ok: operands.ok + matrix as u64,
                nan: operands.nan,
            };
            // SAFETY: as the caller guarantees; matrices follow each other on the stream, and share the working memory.
            unsafe { work.enqueue(&stream, one, scratch)? };
        }
        Ok(())
    }
}
