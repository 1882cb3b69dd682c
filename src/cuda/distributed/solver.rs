//! Solves triangular systems on all devices.
//!
//! Right-hand sides and solutions are in the memory of one device, the home, which all devices read and write. Each solves the
//! panels of its own rows, in launches that are in flight at the same time.

use super::part::Part;
use super::stop::{Launches, Stop, all_done};
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::resident::inverses::Inverses;
use crate::cuda::resident::own_rows::sent;
use crate::cuda::resident::solve_launch::{SolveKernels, SolvePeers, System, working_len};
use crate::cuda::resident::solve_memory::{SIDES, Working, room, working};
use crate::cuda::resident::sweep_launch::{MAX_PEERS, PANEL_COLS, ROW_BLOCK};
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use crate::storage::Side;
use core::ffi::{c_int, c_longlong};

/// The tables that are kept: those of L and of what was L before the last modification.
const TABLES: usize = 2;

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
    done: Event,
    /// For each L by the addresses of its parts: the table of row blocks.
    tables: Vec<(Vec<u64>, DeviceBuffer<u64>)>,
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
                done: Event::new(device)?,
                tables: Vec::new(),
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
        let ended = begun.and_then(|()| all_done(self.devices.iter().map(|device| &device.done)));
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
        let (len, addresses) = (working_len(order, count), addresses(parts));
        for ((device, part), inverses) in self.devices.iter_mut().zip(parts).zip(inverses.iter_mut()) {
            device.make_table(parts, &part.device, &addresses)?;
            let Working { solved, taken } = working(&mut device.working, &part.device, order, count)?;
            let stream = &device.stream;
            // SAFETY: only this stream uses the working memory; the caller guarantees L and the inverses.
            unsafe {
                stream.fill(solved.slice(0..sides.len() * len), 0xff)?;
                stream.clear(taken.slice(0..sides.len()))?;
                inverses.order_behind(stream)?;
                inverses.complete(stream, (part.slice(), ROW_BLOCK), 0)?;
            }
            // On the stream of the home also after the right-hand sides.
            device.ready.record(stream)?;
        }
        let Some(rhs) = &self.rhs else { return Ok(()) };
        for (own, ((device, part), inverses)) in self.devices.iter().zip(parts).zip(inverses.iter()).enumerate() {
            for other in self.others(own) {
                device.stream.wait(&other.ready)?;
            }
            let [mut from, mut to] = rhs.each_ref().map(|buffer| buffer.slice(0..order * count));
            let (inverse, _) = inverses.slice(0);
            for (at, &side) in sides.iter().enumerate() {
                let Some((solved, taken)) = device.of_side(at, len) else { return Ok(()) };
                let peers = self.peers(own, (part, order), (at, len), &addresses);
                let system = System {
                    l: part.slice(),
                    l_stride: ROW_BLOCK,
                    n: order,
                    inverse,
                    from,
                    to,
                    count,
                    solved,
                    taken,
                    peers: Some(peers),
                };
                // SAFETY: the caller guarantees L, the inverses and the right-hand sides, of which each device writes rows of
                // its own; the working memory has been initialized on all devices.
                unsafe { device.kernels.solve(&device.stream, &system, side, end)? };
                (from, to) = (to, from);
            }
            device.done.record(&device.stream)?;
        }
        Ok(())
    }

    fn others(&self, own: usize) -> impl Iterator<Item = &OnDevice<T>> {
        self.devices.iter().enumerate().filter(move |&(at, _)| at != own).map(|(_, device)| device)
    }

    fn peers(
        &self,
        own: usize,
        (part, order): (&Part<T>, usize),
        (side, len): (usize, usize),
        addresses: &[u64],
    ) -> SolvePeers {
        let device = &self.devices[own];
        let there = |device: &OnDevice<T>| {
            device.of_side(side, len).map_or((0, 0), |(solved, taken)| (solved.address(), taken.address()))
        };
        let (solved, taken) = there(device);
        let panels = part.rows.panels(0..order.div_ceil(PANEL_COLS));
        let mut peers = SolvePeers {
            count: (self.devices.len() - 1) as c_int,
            own_panels: panels.len() as c_int,
            taken,
            stop: self.stop.address(),
            own: panels.address(),
            row_blocks: device.table(addresses),
            solved: [0; MAX_PEERS],
        };
        for (to, other) in peers.solved.iter_mut().zip(self.others(own)) {
            *to = there(other).0.wrapping_sub(solved).cast_signed() as c_longlong;
        }
        peers
    }
}

impl<T> Launches for Solver<T> {
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
        let Working { solved, taken } = self.working.as_ref()?;
        Some((solved.slice(side * len..(side + 1) * len), taken.slice(side..side + 1)))
    }

    /// Makes the table of row blocks of this L, unless it is kept.
    fn make_table(&mut self, parts: &[Part<T>], device: &Device, addresses: &[u64]) -> Result<(), Error> {
        if self.tables.iter().any(|(of, _)| of == addresses) {
            return Ok(());
        }
        let count = parts.iter().flat_map(|part| &part.places).map(|&(row_block, _)| row_block + 1).max();
        let mut table = vec![0_u64; count.unwrap_or(0)];
        for (part, address) in parts.iter().zip(addresses) {
            for &(row_block, at) in &part.places {
                let distance = (at as i64 - (row_block * ROW_BLOCK) as i64) * size_of::<T>() as i64;
                table[row_block] = address.wrapping_add_signed(distance);
            }
        }
        let table = sent(device, &table)?;
        if self.tables.len() == TABLES {
            self.tables.remove(0);
        }
        self.tables.push((addresses.to_vec(), table));
        Ok(())
    }

    fn table(&self, addresses: &[u64]) -> u64 {
        let found = self.tables.iter().find(|(of, _)| of == addresses);
        found.map_or(0, |(_, table)| table.slice(0..table.len()).address())
    }
}

/// Where L begins on each device.
fn addresses<T: Real>(parts: &[Part<T>]) -> Vec<u64> {
    parts.iter().map(|part| part.slice().address()).collect()
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
