//! Modifications of factors in memory of the caller's, on a stream of the caller's, for which the host does not wait.
//!
//! | file | holds |
//! |---|---|
//! | `signs` | what is known about weights before they are read |
//! | `scratch` | the division of working memory |
//! | `kept` | kernels and tasks that a device keeps |
//! | `around` | the kernels before and after the sweeps |
//! | `sweeps` | one matrix, by the sweeps of the resident engine |

#[allow(unsafe_code, reason = "launches of kernels")]
mod around;
#[allow(unsafe_code, reason = "a copy to the device")]
mod kept;
#[allow(unsafe_code, reason = "memory of the caller's")]
mod scratch;
mod signs;
#[allow(unsafe_code, reason = "launches on memory of the caller's")]
mod sweeps;

pub use self::signs::Signs;

use self::sweeps::{One, Sweeps};
use super::current::keeping_current_context;
use super::device::Device;
use super::memory::DeviceSlice;
use super::stream::Stream;
use crate::error::{Error, other};
use crate::real::Real;

/// The memory of a [`StreamModification`], by addresses in device memory.
#[derive(Clone, Copy, Debug)]
pub struct StreamOperands {
    /// L of each matrix, by columns without gaps; entries above the diagonal are not read. If n entries are a multiple of 16 bytes, so
    /// is the address, and that of L'. (n × n)
    pub l: u64,
    /// Entries from one matrix L to the next, or 0 if all matrices have the same.
    pub l_matrix: usize,
    /// V of each matrix. (n × k)
    pub v: u64,
    /// Entries from matrix to matrix, row to row, and column to column.
    pub v_strides: [usize; 3],
    /// w of each matrix, without gaps. Not read unless signs are [`Signs::Any`]. (k)
    pub weights: u64,
    /// Entries from the weights of one matrix to those of the next.
    pub weights_matrix: usize,
    /// L' of each matrix, one after the other, by columns without gaps, with zeros above the diagonal; another memory than that of L.
    pub to: u64,
    /// A byte for each matrix: 1 if L' exists, and 0 if A + V diag(w) Vᵀ is not positive definite, if V or w is not finite, or if a
    /// diagonal entry of L is not positive. Then L' is L, or NaN.
    pub ok: u64,
    /// Whether it is NaN.
    pub nan: bool,
}

/// Modifications A + V diag(w) Vᵀ of matrices of one shape, enqueued on streams of the caller's: for the programs of other libraries,
/// which own the memory and the streams.
///
/// Nothing waits for the device, but for [`new`](Self::new) the first time that a process needs kernels or a number of panels of 64 columns. Only
/// launches are enqueued, so a stream may be one that is being captured. Nothing is raised for a factor that does not exist: a byte in
/// device memory tells. The work is that of [`Resident`](super::Resident), bit for bit where all weights have one sign, but a
/// breakdown is not decided in higher precision.
///
/// # Cost
/// One launch of sweeps, as [`Resident`](super::Resident) has, and two short ones, for each matrix. If n is not a multiple of 16 bytes,
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
    /// Unless there is nothing to do.
    work: Option<Sweeps<T>>,
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
        let work = || Sweeps::new(device, (n, k), signs);
        let work = if count * n == 0 { None } else { Some(keeping_current_context(work)?) };
        Ok(Self { device: device.clone(), count, n, signs, work })
    }

    /// The bytes of working memory that [`enqueue`](Self::enqueue) needs.
    #[must_use]
    pub fn scratch_bytes(&self) -> usize {
        self.work.as_ref().map_or(0, Sweeps::bytes)
    }

    /// Enqueues the modification on a stream, by its handle in the driver. The context that is current on this thread stays so.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses a launch, or an address of a matrix or of working memory is no multiple of 16 bytes as it has
    /// to be. Some of the work may be in flight then.
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
        let Some(work) = &self.work else {
            // SAFETY: as the caller guarantees: the bytes are those of matrices without entries.
            return unsafe { stream.fill(DeviceSlice::<u8>::at(operands.ok, self.count), 1) };
        };
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
