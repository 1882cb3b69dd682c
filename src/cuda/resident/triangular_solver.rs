//! Solves triangular systems on the device, by kernels of this library or by cuSOLVER.

use super::inverses::Inverses;
use super::solve_launch::{SolveKernels, System, working_len};
use super::solve_memory::{SIDES, Working, library, room, working};
use super::take::{Found, Take};
use crate::cuda::cusolver::Solver;
use crate::cuda::device::Device;
use crate::cuda::matrix::{DeviceView, DeviceViewMut};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::packing::{pack_finite, unpack};
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use crate::storage::Side;
use faer::{MatMut, MatRef};

/// Right-hand sides that are solved together. Each side has as much working memory again, in double precision.
const RHS_AT_ONCE: usize = 1024;
/// Bytes of right-hand sides in host memory that the link copies while the host packs the next ones, unless a column is longer.
const PIECE_BYTES: usize = 2 << 20;

/// The operation on right-hand sides.
#[derive(Clone, Copy)]
pub(super) enum Work<'a> {
    /// Solves the systems of these sides, one after the other.
    Solve(&'a [Side]),
    /// Solves L Y = B with this number of leading columns of L.
    Eliminate(usize),
}

impl Work<'_> {
    fn is_of_both_sides(self) -> bool {
        matches!(self, Self::Solve([Side::L, Side::Transpose]))
    }
}

/// The kernels and working memory of solves, kept between calls.
pub(super) struct TriangularSolver<T> {
    kernels: SolveKernels<T>,
    stream: Stream,
    /// After the work for which a solve waits.
    done: Event,
    /// Right-hand sides, packed, in host memory.
    host: Option<Pinned<T>>,
    /// The same on the device: the current right-hand sides, and their solutions.
    on_device: Option<[DeviceBuffer<T>; 2]>,
    working: Option<Working>,
    /// cuSOLVER, from the first solve on for which it is faster.
    library: Option<Solver>,
    /// For right-hand sides that are already on the device.
    take: Option<Take<T>>,
    device: Device,
}

/// L (n × n) with its column stride, and the inverses of its diagonal blocks, for which there is room.
pub(super) struct Triangle<'a, T> {
    pub l: DeviceSlice<'a, T>,
    pub stride: usize,
    pub order: usize,
    pub inverses: &'a mut Inverses,
}

impl<T> Triangle<'_, T> {
    fn again(&mut self) -> Triangle<'_, T> {
        Triangle { inverses: self.inverses, ..*self }
    }
}

/// Whether this number of right-hand sides is solved together.
pub(super) fn go_together(columns: usize) -> bool {
    columns <= RHS_AT_ONCE
}

impl<T: Real> TriangularSolver<T> {
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self {
            kernels: SolveKernels::load(device, false)?,
            stream: Stream::new(device)?,
            done: Event::new(device)?,
            host: None,
            on_device: None,
            working: None,
            library: None,
            take: None,
            device: device.clone(),
        })
    }

    /// Applies the operation to B (n × m, n > 0) in host memory. After an error B is unchanged.
    pub fn solve(
        &mut self,
        mut triangle: Triangle<'_, T>,
        what: Work<'_>,
        mut rhs: MatMut<'_, T>,
    ) -> Result<(), Error> {
        let count = rhs.ncols();
        let kept = (!go_together(count)).then(|| rhs.to_owned());
        for first in (0..count).step_by(RHS_AT_ONCE) {
            let mut some = rhs.as_mut().subcols_mut(first, RHS_AT_ONCE.min(count - first));
            // SAFETY: it is waited for in the next line.
            let begun = unsafe { self.begin(triangle.again(), what, some.as_ref()) };
            let ended = self.end(begun, some.as_mut()).map_err(|error| match error {
                Error::NonFinite { argument, row, column } => {
                    Error::NonFinite { argument, row, column: first + column }
                }
                error => error,
            });
            if let Err(error) = ended {
                if let Some(kept) = kept {
                    rhs.copy_from(kept);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Starts the operation on a copy of right-hand sides in host memory, which are few enough for one solve.
    ///
    /// # Errors
    /// `NonFinite`, naming `rhs`; [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// Until it has [ended](Self::end) or been [waited for](Self::quiet), L and the inverses exist, and no other code writes
    /// them.
    pub unsafe fn begin(
        &mut self,
        triangle: Triangle<'_, T>,
        what: Work<'_>,
        rhs: MatRef<'_, T>,
    ) -> Result<(), Error> {
        let (order, count) = rhs.shape();
        let len = order * count;
        let Self { kernels, stream, done, host, on_device, working: kept, library: found, device, .. } = self;
        let library = library(found, device, what.is_of_both_sides(), (order, count));
        let on_device = room(on_device, device, len)?;
        let working = working(kept, device, order, count)?;
        let host = match host.take() {
            Some(fitting) if fitting.len() >= len => host.insert(fitting),
            old => {
                drop(old);
                host.insert(Pinned::new(device, len)?)
            }
        };
        let together = (PIECE_BYTES / size_of::<T>() / order).max(1);
        // SAFETY: only the stream uses this memory until it has been waited for, but for pieces that have not been sent, and working
        // memory, which may be replaced while it is being filled, is freed when the device is idle.
        unsafe {
            for first in (0..count).step_by(together) {
                let columns = first..count.min(first + together);
                let entries = columns.start * order..columns.end * order;
                let to = host.part_mut(entries.clone())?;
                if let Some((row, column)) = pack_finite(rhs.subcols(columns.start, columns.len()), to) {
                    return Err(Error::NonFinite { argument: "rhs", row, column: first + column });
                }
                stream.upload(host, entries.clone(), on_device[0].slice(entries))?;
            }
            let both = there(on_device, len);
            let (solution, used) =
                enqueue((kernels, library, stream), triangle, what, (both, working), count)?;
            stream.download(solution, host, 0..len)?;
            after(stream, done, working, used)
        }
    }

    /// Waits for the operation, and copies the result to the right-hand sides unless it has failed.
    ///
    /// # Errors
    /// [`Error::Device`]. Only the filling of the working memory is in flight when this returns.
    pub fn end(&mut self, begun: Result<(), Error>, mut rhs: MatMut<'_, T>) -> Result<(), Error> {
        self.wait(begun)?;
        let solution = self.host.as_ref().map_or(&[][..], Pinned::as_slice);
        unpack(&solution[..rhs.nrows() * rhs.ncols()], rhs.as_mut());
        Ok(())
    }

    /// Enqueues the elimination with leading columns of L for right-hand sides (n × m) on the device, in the first of these
    /// memories, on this solver's stream. The result is in the second. Returns how much of the working memory it uses.
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// As [`begin`](Self::begin), also for both memories.
    pub unsafe fn eliminate(
        &mut self,
        mut triangle: Triangle<'_, T>,
        columns: usize,
        [from, to]: [DeviceSlice<'_, T>; 2],
        count: usize,
    ) -> Result<usize, Error> {
        let Self { kernels, stream, working: kept, device, .. } = self;
        let (order, mut most) = (triangle.order, 0);
        for first in (0..count).step_by(RHS_AT_ONCE) {
            let some = RHS_AT_ONCE.min(count - first);
            let working = working(kept, device, order, some)?;
            let both = [from, to].map(|side| side.part(first * order..(first + some) * order));
            let (what, triangle) = (Work::Eliminate(columns), triangle.again());
            // SAFETY: the caller guarantees the memory.
            let (_, used) =
                unsafe { enqueue((kernels, None, stream), triangle, what, (both, working), some)? };
            most = most.max(used);
        }
        Ok(most)
    }

    /// Enqueues what follows work that began with [`eliminate`](Self::eliminate), which has used this much of the working memory:
    /// the event for which [`wait`](Self::wait) waits, and the filling for the next solve.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Only this solver uses its stream.
    pub unsafe fn finish(&mut self, used: usize) -> Result<(), Error> {
        match &mut self.working {
            // SAFETY: only the stream uses the memory.
            Some(working) => unsafe { after(&self.stream, &self.done, working, used) },
            None => self.done.record(&self.stream),
        }
    }

    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Waits for the operation that has begun.
    ///
    /// # Errors
    /// The one of its beginning; [`Error::Device`]. Only the filling of the working memory is in flight when this returns.
    pub fn wait(&self, begun: Result<(), Error>) -> Result<(), Error> {
        // Without the event, what has been enqueued is waited for.
        if begun.is_ok() { self.done.synchronize() } else { self.stream.synchronize().and(begun) }
    }

    /// Waits for the operation in flight, without reading its outcome.
    pub fn quiet(&mut self) {
        // An error here is found by the next wait as well.
        let _ = self.stream.synchronize();
    }

    /// Applies the operation to B (n × m, n m > 0) on the device. After an error B is unchanged, unless the device has failed.
    pub fn solve_there(
        &mut self,
        mut triangle: Triangle<'_, T>,
        what: Work<'_>,
        rhs: &mut DeviceViewMut<'_, T>,
    ) -> Result<(), Error> {
        let rhs = rhs.as_view();
        let cols = rhs.shape().1;
        if !go_together(cols) {
            // All of them are checked before any is written.
            let take = Take::ready(&mut self.take, &self.device, cols)?;
            let there = rhs.slice_on(&self.stream)?;
            // SAFETY: the caller has borrowed them for writing, and they are not written here.
            refused(unsafe {
                take.copy_and_check(&self.stream, there, there, rhs.shape(), (0..cols).map(|_| None))?
            })?;
        }
        for first in (0..cols).step_by(RHS_AT_ONCE) {
            let some = rhs.columns(first..cols.min(first + RHS_AT_ONCE));
            // SAFETY: the caller has borrowed them for writing; it is waited for in the next line.
            let begun = unsafe { self.begin_there(triangle.again(), what, &some, None) };
            self.end_there(begun, &some)?;
        }
        Ok(())
    }

    /// Starts the operation on right-hand sides on the device, which are few enough for one solve. The solution overwrites
    /// them, unless they are not finite or the status reports a breakdown.
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// As [`begin`](Self::begin), also for the right-hand sides and the status.
    pub unsafe fn begin_there(
        &mut self,
        triangle: Triangle<'_, T>,
        what: Work<'_>,
        rhs: &DeviceView<'_, T>,
        status: Option<&Pinned<i32>>,
    ) -> Result<(), Error> {
        let Self { kernels, stream, done, on_device, working: kept, library: found, take, device, .. } = self;
        let shape @ (order, cols) = rhs.shape();
        let library = library(found, device, what.is_of_both_sides(), shape);
        let on_device = room(on_device, device, order * cols)?;
        let working = working(kept, device, order, cols)?;
        let take = Take::ready(take, device, cols)?;
        let given = rhs.slice_on(stream)?;
        let both = there(on_device, order * cols);
        let work = (both[0], order);
        // SAFETY: the caller guarantees L, the inverses, the right-hand sides and the status; only the stream uses the rest.
        unsafe {
            take.begin(stream, given, work, shape, (0..cols).map(|column| Some((column, T::ONE))), None)?;
            let (solution, used) =
                enqueue((kernels, library, stream), triangle, what, (both, working), cols)?;
            take.give_back(stream, (solution, order), given, shape, status)?;
            after(stream, done, working, used)
        }
    }

    /// Waits for the operation on right-hand sides on the device.
    ///
    /// # Errors
    /// `NonFinite`, naming `rhs`; [`Error::Device`]. Only the filling of the working memory is in flight when this returns.
    pub fn end_there(&mut self, begun: Result<(), Error>, rhs: &DeviceView<'_, T>) -> Result<(), Error> {
        self.wait(begun)?;
        self.take.as_mut().map_or(Ok(()), |take| refused(take.found(rhs.shape())))
    }
}

/// The first scalars of both memories.
fn there<T: Real>(on_device: &[DeviceBuffer<T>; 2], len: usize) -> [DeviceSlice<'_, T>; 2] {
    on_device.each_ref().map(|buffer| buffer.slice(0..len))
}

/// Returns the error for right-hand sides with these data, if they are not finite.
fn refused<T>(found: &[Found<T>]) -> Result<(), Error> {
    let first = found.iter().enumerate().find_map(|(column, found)| Some((column, found.not_finite?)));
    match first {
        Some((column, row)) => Err(Error::NonFinite { argument: "rhs", row, column }),
        None => Ok(()),
    }
}

/// Enqueues what follows the operation: the event, and the filling of the working memory for the next one, of which this one has
/// used that much.
///
/// # Safety
/// As [`Working::reset`].
unsafe fn after(stream: &Stream, done: &Event, working: &mut Working, used: usize) -> Result<(), Error> {
    done.record(stream)?;
    if used > 0 {
        // SAFETY: the caller guarantees the memory.
        unsafe { working.reset(stream, used)? };
        working.clean = true;
    }
    Ok(())
}

/// Enqueues the operation for right-hand sides (n × count) in the first of these memories. Returns the location of the solution,
/// and how much of the working memory it uses.
///
/// # Safety
/// L, the inverses and all memory exist, and no other code uses them, until the stream has been waited for.
unsafe fn enqueue<'a, T: Real>(
    (kernels, library, stream): (&SolveKernels<T>, Option<&Solver>, &Stream),
    triangle: Triangle<'_, T>,
    what: Work<'_>,
    ([mut from, mut to], working): ([DeviceSlice<'a, T>; 2], &mut Working),
    count: usize,
) -> Result<(DeviceSlice<'a, T>, usize), Error> {
    let Triangle { l, stride, order: n, inverses } = triangle;
    let (sides, end) = match what {
        Work::Solve(sides) => (sides, n),
        Work::Eliminate(end) => (&[Side::L][..], end),
    };
    if let Some(library) = library {
        inverses.order_behind(stream)?;
        // SAFETY: the caller guarantees the memory; the solver uses this stream only.
        unsafe { library.solve(stream, (l, stride), (n, count), from)? };
        return Ok((from, 0));
    }
    assert!(sides.len() <= SIDES, "more systems than there is working memory for");
    let len = working_len(n, count);
    // False until the filling for the next operation is enqueued.
    let clean = core::mem::replace(&mut working.clean, false);
    // SAFETY: the caller guarantees all of them.
    unsafe {
        // Work that does not need L does not wait for it.
        if !clean {
            working.reset(stream, working.solved.len())?;
        }
        inverses.order_behind(stream)?;
        inverses.complete(stream, (l, stride), 0)?;
    }
    let (inverse, refine) = inverses.slice(0);
    for (at, &side) in sides.iter().enumerate() {
        let (solved, taken) =
            (working.solved.slice(at * len..(at + 1) * len), working.taken.slice(at..at + 1));
        let system =
            System { l, l_stride: stride, n, inverse, refine, from, to, count, solved, taken, own: None };
        // SAFETY: as above.
        unsafe { kernels.solve(stream, &system, side, end)? };
        (from, to) = (to, from);
    }
    Ok((from, sides.len() * len))
}
