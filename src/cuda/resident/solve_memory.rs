//! The working memory of triangular systems, kept between calls.

use super::solve_launch::working_len;
use crate::cuda::cusolver::Solver;
use crate::cuda::device::Device;
use crate::cuda::memory::DeviceBuffer;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;

/// The most systems that are solved one after the other.
pub(in crate::cuda) const SIDES: usize = 2;

/// Number of entries of B from which on cuSOLVER solves both sides, if it is found: most of the work is then in products, for
/// which it is faster. (Measured on an NVIDIA H200.)
const LIBRARY_ENTRIES: usize = 1 << 23;

/// Both memories for right-hand sides, each of at least this number of scalars.
pub(in crate::cuda) fn room<'a, T: Real>(
    kept: &'a mut Option<[DeviceBuffer<T>; 2]>,
    device: &Device,
    len: usize,
) -> Result<&'a [DeviceBuffer<T>; 2], Error> {
    Ok(match kept.take() {
        Some(fitting) if fitting[0].len() >= len => kept.insert(fitting),
        old => {
            drop(old);
            kept.insert([DeviceBuffer::new(device, len)?, DeviceBuffer::new(device, len)?])
        }
    })
}

/// cuSOLVER, if it is found and faster for right-hand sides of this shape.
pub(in crate::cuda) fn library<'a>(
    found: &'a mut Option<Solver>,
    device: &Device,
    both_sides: bool,
    (order, columns): (usize, usize),
) -> Option<&'a Solver> {
    let pays = both_sides && order * columns >= LIBRARY_ENTRIES;
    if pays && found.is_none() {
        // If it fails, the next call tries again, when there may be memory for it.
        *found = Solver::new(device).ok();
    }
    found.as_ref().filter(|_| pays)
}

/// Working memory of the kernels besides right-hand sides, for the largest number of sides.
pub(in crate::cuda) struct Working {
    pub solved: DeviceBuffer<f64>,
    pub taken: DeviceBuffer<i32>,
    /// Whether all of it is as a launch expects it, or will be after the work that is enqueued.
    pub clean: bool,
}

impl Working {
    /// Enqueues that the first doubles of `solved`, of which there are this many, and the counters are as a launch expects them.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Only the stream uses the memory until that is done.
    pub unsafe fn reset(&self, stream: &Stream, used: usize) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe {
            stream.fill(self.solved.slice(0..used), u8::MAX)?;
            stream.clear(self.taken.slice(0..SIDES))
        }
    }
}

/// Reserves working memory for systems of this order with this number of right-hand sides.
pub(in crate::cuda) fn working<'a>(
    kept: &'a mut Option<Working>,
    device: &Device,
    order: usize,
    count: usize,
) -> Result<&'a mut Working, Error> {
    let len = SIDES * working_len(order, count);
    Ok(match kept.take() {
        Some(fitting) if fitting.solved.len() >= len => kept.insert(fitting),
        old => {
            drop(old);
            let (solved, taken) = (DeviceBuffer::new(device, len)?, DeviceBuffer::new(device, SIDES)?);
            kept.insert(Working { solved, taken, clean: false })
        }
    })
}
