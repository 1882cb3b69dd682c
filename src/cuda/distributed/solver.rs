//! Solves triangular systems on all devices.
//!
//! Right-hand sides and solutions are in the memory of one device, the home, which all devices read and write. Each solves the
//! panels of its own rows, in launches that are in flight at the same time.

use super::part::Part;
use super::stop::{Launches, Stop, all_done};
use super::turns::in_turn;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::resident::inverses::Inverses;
use crate::cuda::resident::own_rows::sent;
use crate::cuda::resident::sizes::{PANEL_COLS, ROW_BLOCK};
use crate::cuda::resident::solve_launch::{OwnPart, SolveKernels, SolvePeers, System, working_len};
use crate::cuda::resident::solve_memory::{SIDES, Working, room, working};
use crate::cuda::resident::sweep_launch::MAX_PEERS;
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use crate::storage::Side;
use core::ffi::{c_int, c_longlong};
use std::sync::Arc;

/// What is solved.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub sides: &'a [Side],
    /// Columns of L that are solved with: all of them, unless the only side is L.
    pub end: usize,
}

/// The kernels and working memory of solves on one device.
struct OnDevice<T> {
    kernels: SolveKernels<T>,
    stream: Stream,
    working: Option<Working>,
    /// After working memory has been initialized, and after the solve.
    ready: Event,
    done: Arc<Event>,
    /// Sums on their way from device to device, and how far each has come.
    sums: Option<(DeviceBuffer<f64>, DeviceBuffer<i32>)>,
    /// For an order: the tasks of the backward substitution.
    tasks: Option<(usize, DeviceBuffer<i32>)>,
}

/// The same on all devices, kept between calls.
pub(super) struct Solver<T> {
    devices: Vec<OnDevice<T>>,
    /// The home, and its memory for right-hand sides and their solutions.
    home: usize,
    rhs: Option<[DeviceBuffer<T>; 2]>,
    stop: Stop,
}

impl<T: Real> Solver<T> {
    pub fn new(devices: &[Device]) -> Result<Self, Error> {
        let on_device = |device: &Device| -> Result<OnDevice<T>, Error> {
            Ok(OnDevice {
                kernels: SolveKernels::load(device, true)?,
                stream: Stream::new(device)?,
                working: None,
                ready: Event::new(device)?,
                done: Arc::new(Event::new(device)?),
                sums: None,
                tasks: None,
            })
        };
        let stop = Stop::new(&devices[0])?;
        let devices = devices.iter().map(on_device).collect::<Result<_, _>>()?;
        Ok(Self { devices, home: 0, rhs: None, stop })
    }

    /// The stream of the home, and its memory for this number of scalars of right-hand sides.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn at_home(
        &mut self,
        (home, device): (usize, &Device),
        len: usize,
    ) -> Result<(&Stream, DeviceSlice<'_, T>), Error> {
        if self.home != home {
            (self.home, self.rhs) = (home, None);
        }
        let [from, _] = room(&mut self.rhs, device, len)?;
        Ok((&self.devices[home].stream, from.slice(0..len)))
    }

    /// Solves with right-hand sides (n × count) that are at home, or on their way on its stream, and waits. Returns where the
    /// solution is, and the stream of the home.
    ///
    /// # Errors
    /// [`Error::Device`]. Nothing is in flight when this returns.
    pub fn solve(
        &mut self,
        (parts, inverses): (&[Part<T>], &mut [Inverses]),
        work: Work<'_>,
        (order, count): (usize, usize),
    ) -> Result<(DeviceSlice<'_, T>, &Stream), Error> {
        self.stop.clear();
        // SAFETY: L, its inverses and all memory are borrowed until the work has been waited for, here.
        let begun = unsafe { self.begin((parts, inverses), work, (order, count)) };
        let ended = begun.and_then(|()| all_done(self.devices.iter().map(|device| device.done.as_ref())));
        ended.inspect_err(|_| self.end())?;
        let Some(rhs) = &self.rhs else { return Ok((DeviceSlice::empty(), &self.devices[self.home].stream)) };
        Ok((rhs[work.sides.len() % 2].slice(0..order * count), &self.devices[self.home].stream))
    }

    /// # Safety
    /// Until the work has been waited for, L, its inverses and the right-hand sides exist, and no other code writes them.
    unsafe fn begin(
        &mut self,
        (parts, inverses): (&[Part<T>], &mut [Inverses]),
        Work { sides, end }: Work<'_>,
        (order, count): (usize, usize),
    ) -> Result<(), Error> {
        assert!(sides.len() <= SIDES, "more systems than there is working memory for");
        let len = working_len(order, count);
        for ((device, part), inverses) in self.devices.iter_mut().zip(parts).zip(inverses.iter_mut()) {
            device.make_room(part, order, len)?;
            let working = working(&mut device.working, &part.device, order, count)?;
            let stream = &device.stream;
            // SAFETY: only this stream uses the working memory; the caller guarantees L and the inverses.
            unsafe {
                working.reset(stream, sides.len() * len)?;
                if let Some((_, summed)) = &device.sums {
                    stream.clear(summed.slice(0..summed.len()))?;
                }
                inverses.order_behind(stream)?;
                inverses.complete(stream, (part.slice(), ROW_BLOCK), 0)?;
            }
            // On the stream of the home also after the right-hand sides.
            device.ready.record(stream)?;
        }
        let Some(rhs) = &self.rhs else { return Ok(()) };
        let launch = |own: usize, part: &Part<T>, inverses: &Inverses| -> Result<(), Error> {
            let device = &self.devices[own];
            for other in self.others(own) {
                device.stream.wait(&other.ready)?;
            }
            let [mut from, mut to] = rhs.each_ref().map(|buffer| buffer.slice(0..order * count));
            let ((inverse, refine), l) = (inverses.slice(0), part.slice());
            for (at, &side) in sides.iter().enumerate() {
                let Some((solved, taken)) = device.of_side(at, len) else { return Ok(()) };
                let panels = part.rows.panels(0..order.div_ceil(PANEL_COLS));
                let backward = device.tasks.as_ref().map_or(0, |(_, tasks)| tasks.len());
                let part = OwnPart {
                    peers: self.peers(own, (part, panels), (at, len)),
                    row_blocks: part.rows.row_blocks(0).address(),
                    tasks: if side == Side::L { panels.len() } else { backward },
                };
                let system = System {
                    l,
                    l_stride: ROW_BLOCK,
                    n: order,
                    inverse,
                    refine,
                    from,
                    to,
                    count,
                    solved,
                    taken,
                    own: Some(part),
                };
                // SAFETY: the caller guarantees L, the inverses and the right-hand sides, of which each device writes rows of
                // its own; the working memory has been initialized on all devices.
                unsafe { device.kernels.solve(&device.stream, &system, side, end)? };
                (from, to) = (to, from);
            }
            device.done.record(&device.stream)
        };
        let events = self.devices.iter().map(|device| Arc::downgrade(&device.done)).collect();
        in_turn(events, || {
            let parts = parts.iter().zip(inverses.iter());
            parts.enumerate().try_for_each(|(own, (part, inverses))| launch(own, part, inverses))
        })
    }

    fn others(&self, own: usize) -> impl Iterator<Item = &OnDevice<T>> {
        self.devices.iter().enumerate().filter(move |&(at, _)| at != own).map(|(_, device)| device)
    }

    fn peers(
        &self,
        own: usize,
        (part, panels): (&Part<T>, DeviceSlice<'_, i32>),
        (side, len): (usize, usize),
    ) -> SolvePeers {
        let device = &self.devices[own];
        let (solved, taken) = device.of_side(side, len).map_or((0, 0), addresses);
        let (sums, summed) = device.sums();
        let distance = |from: u64, to: u64| to.wrapping_sub(from).cast_signed() as c_longlong;
        let mut peers = SolvePeers {
            count: (self.devices.len() - 1) as c_int,
            devices: self.devices.len() as c_int,
            taken,
            stop: self.stop.address(),
            own: panels.address(),
            backward: device.tasks.as_ref().map_or(0, |(_, tasks)| tasks.slice(0..tasks.len()).address()),
            together: part.rows.share.panels_together() as c_longlong,
            sums,
            summed,
            sums_there: [0; MAX_PEERS + 1],
            summed_there: [0; MAX_PEERS + 1],
            solved: [0; MAX_PEERS],
        };
        for (to, other) in peers.solved.iter_mut().zip(self.others(own)) {
            *to = distance(solved, other.of_side(side, len).map_or((0, 0), addresses).0);
        }
        for (at, other) in self.devices.iter().enumerate() {
            let there = other.sums();
            (peers.sums_there[at], peers.summed_there[at]) =
                (distance(sums, there.0), distance(summed, there.1));
        }
        peers
    }
}

fn addresses<T, I>((words, numbers): (DeviceSlice<'_, T>, DeviceSlice<'_, I>)) -> (u64, u64) {
    (words.address(), numbers.address())
}

impl<T: Real> Launches for Solver<T> {
    fn end(&self) {
        self.stop.set();
        for device in &self.devices {
            let _ = device.stream.synchronize();
        }
    }
}

impl<T: Real> OnDevice<T> {
    /// The words of a side's solution, and its counter.
    fn of_side(&self, side: usize, len: usize) -> Option<(DeviceSlice<'_, f64>, DeviceSlice<'_, i32>)> {
        let Working { solved, taken, .. } = self.working.as_ref()?;
        Some((solved.slice(side * len..(side + 1) * len), taken.slice(side..side + 1)))
    }

    /// The addresses of the sums on their way, and of how far they are.
    fn sums(&self) -> (u64, u64) {
        let slices = self
            .sums
            .as_ref()
            .map(|(sums, summed)| (sums.slice(0..sums.len()), summed.slice(0..summed.len())));
        slices.map_or((0, 0), addresses)
    }

    /// Allocates memory for sums, and makes the list of tasks, for systems of this order with solutions of this length.
    fn make_room(&mut self, part: &Part<T>, order: usize, len: usize) -> Result<(), Error> {
        let panels = order.div_ceil(PANEL_COLS);
        // Both halves of each sum; and a word for each panel and group of right-hand sides, of which there are eight or more.
        let (sums, summed) = (2 * len, len / (8 * PANEL_COLS));
        if self.sums.as_ref().is_none_or(|(kept, _)| kept.len() < sums) {
            self.sums = None;
            let device = &part.device;
            self.sums = Some((DeviceBuffer::new(device, sums)?, DeviceBuffer::new(device, summed)?));
        }
        if self.tasks.as_ref().is_none_or(|&(of, _)| of != order) {
            let tasks: Vec<i32> = part.rows.share.backward(panels).collect();
            self.tasks = Some((order, sent(&part.device, &tasks)?));
        }
        Ok(())
    }
}

/// A copy of right-hand sides (n × count) in page-locked memory.
///
/// # Errors
/// [`Error::Device`].
pub(super) fn pinned<'a, T: Real>(
    kept: &'a mut Option<Pinned<T>>,
    device: &Device,
    len: usize,
) -> Result<&'a mut Pinned<T>, Error> {
    Ok(match kept.take() {
        Some(fitting) if fitting.len() >= len => kept.insert(fitting),
        old => {
            drop(old);
            kept.insert(Pinned::new(device, len)?)
        }
    })
}
