//! What triangular systems take beside L and right-hand sides, kept between calls.

use super::solves::working_len;
use crate::cuda::cusolver::Solver;
use crate::cuda::device::Device;
use crate::cuda::memory::DeviceBuffer;
use crate::error::Error;
use crate::scalar::Scalar;

/// Systems that come one after the other, at most.
pub(super) const SIDES: usize = 2;

/// From so many entries of B on cuSOLVER takes both sides, if it is found: the products are most of the work then, and there it is
/// faster. (Measured on an NVIDIA H200.)
const LIBRARY_ENTRIES: usize = 1 << 23;

/// Both memories for right-hand sides, of so many scalars each at least.
pub(super) fn room<'a, T: Scalar>(
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

/// cuSOLVER where it is the faster one for right-hand sides of this shape, and found.
pub(super) fn library<'a>(
    found: &'a mut Option<Solver>,
    device: &Device,
    both_sides: bool,
    (order, columns): (usize, usize),
) -> Option<&'a Solver> {
    let pays = both_sides && order * columns >= LIBRARY_ENTRIES;
    if pays && found.is_none() {
        // Next time there may be room for it.
        *found = Solver::new(device).ok();
    }
    found.as_ref().filter(|_| pays)
}

/// What the kernels work with beside right-hand sides, for as many sides as there may be.
pub(super) struct Working {
    pub solved: DeviceBuffer<f64>,
    pub taken: DeviceBuffer<i32>,
}

/// As much of it as systems of this order with so many right-hand sides take.
pub(super) fn working<'a>(
    kept: &'a mut Option<Working>,
    device: &Device,
    order: usize,
    count: usize,
) -> Result<&'a Working, Error> {
    let len = SIDES * working_len(order, count);
    Ok(match kept.take() {
        Some(fitting) if fitting.solved.len() >= len => kept.insert(fitting),
        old => {
            drop(old);
            let (solved, taken) = (DeviceBuffer::new(device, len)?, DeviceBuffer::new(device, SIDES)?);
            kept.insert(Working { solved, taken })
        }
    })
}
