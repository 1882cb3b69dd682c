//! Triangular systems on the device.

use super::inverses::Inverses;
use super::solves::{SolveSteps, System, working_len};
use super::take::{Found, Take};
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::matrix::DeviceViewMut;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::stream::Stream;
use crate::engine::Side;
use crate::error::Error;
use crate::scalar::Scalar;
use core::ops::Range;
use faer::MatMut;

/// Right-hand sides that go together: there is as much working memory again in double precision, for each side.
const RHS_AT_ONCE: usize = 1024;

/// Systems that come one after the other, at most.
const SIDES: usize = 2;

/// What is done with right-hand sides.
#[derive(Clone, Copy)]
pub(super) enum Work<'a> {
    /// The systems of these sides, one after the other.
    Solve(&'a [Side]),
    /// So many leading columns of L, through L Y = B.
    Eliminate(usize),
}

/// What it takes beside L and its inverses, kept between calls.
pub(super) struct Systems<T> {
    steps: SolveSteps<T>,
    stream: Stream,
    /// Right-hand sides, packed, in host memory.
    host: Option<Pinned<T>>,
    /// And on the device: those worked on, and their solutions.
    on_device: Option<[DeviceBuffer<T>; 2]>,
    working: Option<Working>,
    /// For right-hand sides that are on the device already.
    take: Option<Take<T>>,
    device: Device,
}

/// L (n × n) and the inverses of its diagonal blocks, for which there is room.
pub(super) type Triangle<'a, T> = (&'a Dense<T>, &'a mut Inverses);

impl<T: Scalar> Systems<T> {
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self {
            steps: SolveSteps::load(device)?,
            stream: Stream::new(device)?,
            host: None,
            on_device: None,
            working: None,
            take: None,
            device: device.clone(),
        })
    }

    /// Does this with B (n × m, n > 0) in host memory. B is left alone on any error.
    pub fn solve(
        &mut self,
        (l, inverses): Triangle<'_, T>,
        what: Work<'_>,
        mut rhs: MatMut<'_, T>,
    ) -> Result<(), Error> {
        let count = rhs.ncols();
        let kept = (count > RHS_AT_ONCE).then(|| rhs.to_owned());
        for first in (0..count).step_by(RHS_AT_ONCE) {
            let columns = first..count.min(first + RHS_AT_ONCE);
            if let Err(error) = self.some((l, inverses), what, rhs.as_mut(), columns) {
                if let Some(kept) = kept {
                    rhs.copy_from(kept);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn some(
        &mut self,
        (l, inverses): Triangle<'_, T>,
        what: Work<'_>,
        mut rhs: MatMut<'_, T>,
        columns: Range<usize>,
    ) -> Result<(), Error> {
        let order = l.order();
        let len = order * columns.len();
        let Self { steps, stream, host, on_device, working: kept, device, .. } = self;
        let on_device = room(on_device, device, len)?;
        let working = working(kept, device, order, columns.len())?;
        let host = match host.take() {
            Some(fitting) if fitting.len() >= len => host.insert(fitting),
            old => {
                drop(old);
                host.insert(Pinned::new(device, len)?)
            }
        };
        for (to, j) in host.as_mut_slice().chunks_exact_mut(order).zip(columns.clone()) {
            to.iter_mut().zip(rhs.as_ref().col(j).iter()).for_each(|(to, from)| *to = *from);
        }
        let work = on_device[0].slice(0..len);
        // SAFETY: the stream alone uses this memory until it has been waited for.
        let enqueued = unsafe {
            stream
                .upload(host, 0..len, work)
                .and_then(|()| {
                    enqueue((steps, stream), (l, inverses), what, (on_device, working), columns.len())
                })
                .and_then(|solution| stream.download(solution, host, 0..len))
        };
        // Also behind an error: nothing is in flight when this returns.
        stream.synchronize().and(enqueued)?;
        for (from, j) in host.as_slice().chunks_exact(order).zip(columns) {
            rhs.as_mut().col_mut(j).iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }

    /// The same with B (n × m, n m > 0) on the device; it is left alone on any error but one of the device.
    pub fn solve_there(
        &mut self,
        (l, inverses): Triangle<'_, T>,
        what: Work<'_>,
        rhs: &mut DeviceViewMut<'_, T>,
    ) -> Result<(), Error> {
        let rhs = rhs.as_view();
        let (order, cols) = rhs.shape();
        let (at, stride) = rhs.slice();
        let Self { steps, stream, on_device, working: kept, take, device, .. } = self;
        let on_device = room(on_device, device, order * cols.min(RHS_AT_ONCE))?;
        let working = working(kept, device, order, cols.min(RHS_AT_ONCE))?;
        let take = Take::ready(take, device, cols)?;
        let mut take = |from, to, shape, target: &dyn Fn(usize) -> Option<(usize, T)>| {
            // SAFETY: one is borrowed for writing by whoever called, the other is this one's own.
            let found = unsafe { take.take(stream, from, to, shape, (0..).map(target)) }?;
            match first_not_finite(found) {
                Some((column, row)) => Err(Error::NonFinite { argument: "rhs", row, column }),
                None => Ok(()),
            }
        };
        let there = (at, stride);
        if cols > RHS_AT_ONCE {
            // A look at all of them before any is written.
            take(there, there, (order, cols), &|_| None)?;
        }
        for first in (0..cols).step_by(RHS_AT_ONCE) {
            let count = RHS_AT_ONCE.min(cols - first);
            let there = (at.part(first * stride..at.len()), stride);
            let work = (on_device[0].slice(0..order * count), order);
            take(there, work, (order, count), &|column| Some((column, T::ONE)))?;
            // SAFETY: all are borrowed until the stream has been waited for in the next line.
            let enqueued = unsafe {
                enqueue((steps, stream), (l, inverses), what, (on_device, working), count)
                    .and_then(|solution| stream.move_columns((solution, order), (order, count), there))
            };
            stream.synchronize().and(enqueued)?;
        }
        Ok(())
    }
}

/// Column and row.
fn first_not_finite<T>(found: &[Found<T>]) -> Option<(usize, usize)> {
    found.iter().enumerate().find_map(|(column, found)| Some((column, found.not_finite?)))
}

/// Both memories for right-hand sides, of so many scalars each at least.
fn room<'a, T: Scalar>(
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

/// What the kernels work with beside right-hand sides, for as many sides as there may be.
struct Working {
    solved: DeviceBuffer<f64>,
    taken: DeviceBuffer<i32>,
}

/// As much of it as systems of this order with so many right-hand sides take.
fn working<'a>(
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

/// Enqueues it for right-hand sides (n × count) in the first of these; where the solution will be.
///
/// # Safety
/// L, the inverses and all memory live, and nobody else uses them, until the stream has been waited for.
unsafe fn enqueue<'a, T: Scalar>(
    (steps, stream): (&SolveSteps<T>, &Stream),
    (l, inverses): Triangle<'_, T>,
    what: Work<'_>,
    (on_device, working): (&'a [DeviceBuffer<T>; 2], &Working),
    count: usize,
) -> Result<DeviceSlice<'a, T>, Error> {
    let n = l.order();
    let [mut from, mut to] = on_device.each_ref().map(|buffer| buffer.slice(0..n * count));
    inverses.order_behind(stream)?;
    // SAFETY: the caller vouches for all of them.
    unsafe { inverses.complete(stream, l, 0)? };
    let (inverse, _) = inverses.slice(0);
    let (sides, end) = match what {
        Work::Solve(sides) => (sides, n),
        Work::Eliminate(end) => (&[Side::L][..], end),
    };
    assert!(sides.len() <= SIDES, "more systems than there is working memory for");
    let (Working { solved, taken }, len) = (working, working_len(n, count));
    // SAFETY: as above.
    unsafe {
        stream.fill(solved.slice(0..sides.len() * len), 0xff)?;
        stream.clear(taken.slice(0..sides.len()))?;
    }
    for (at, &side) in sides.iter().enumerate() {
        let (solved, taken) = (solved.slice(at * len..(at + 1) * len), taken.slice(at..at + 1));
        let system =
            System { l: l.slice(), l_stride: l.stride(), n, inverse, from, to, count, solved, taken };
        // SAFETY: as above.
        unsafe { steps.solve(stream, &system, side, end)? };
        (from, to) = (to, from);
    }
    Ok(from)
}
