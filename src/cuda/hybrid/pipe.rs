//! The device memory of a hybrid factor, and the host memory that copies and kernels access.
//!
//! ```text
//! up      trailing rows of panels to their slots                              <── left
//! work    V once; reflectors, then all rows but those needed next             <── arrived
//! ahead   the rows needed next, with priority, and their part of V back       <── ready (work)
//! down    trailing rows from their slots back to the host                     <── worked, exported
//! ```

use super::blocking::Blocking;
use super::kernels::{Kernels, Place};
use super::tuning::Tuning;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::host::layout::whole_lines;
use crate::real::Real;

/// Device memory for one streamed panel.
pub(super) struct Slot<T> {
    pub panel: DeviceBuffer<T>,
    /// The panel has been copied in.
    pub arrived: Event,
    /// The device has applied the reflectors to it.
    pub worked: Event,
    /// It has been copied out, or need not be.
    pub left: Event,
}

/// The block reflectors of one panel, for all rank blocks.
pub(super) struct Reflectors<T> {
    pub host: Pinned<T>,
    pub device: DeviceBuffer<T>,
}

/// Streams and memory for sweeps of up to a certain size.
pub(super) struct Pipe<T> {
    pub kernels: Kernels<T>,
    pub up: Stream,
    pub work: Stream,
    pub ahead: Stream,
    pub down: Stream,
    pub slots: Vec<Slot<T>>,
    /// Of a panel and of the next one: the host writes one while the device reads the other.
    pub reflectors: [Reflectors<T>; 2],
    /// V, column-major, with columns `v_stride` apart: on the device, and in the host memory from which the host reads its
    /// rows.
    pub v: DeviceBuffer<T>,
    pub v_host: Pinned<T>,
    pub v_stride: usize,
    /// All data for the work on the panel is on the device.
    pub ready: Event,
    /// The rows of V that the host needs next are in `v_host`; by the parity of the panel that was applied to them last.
    pub exported: [Event; 2],
    order: usize,
    tuning: Tuning,
    scalars: Scalars,
}

/// Scalars of each kind on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scalars {
    slot: usize,
    v: usize,
    reflectors: usize,
}

impl Scalars {
    fn new<T>(order: usize, blocking: &Blocking, tuning: &Tuning) -> Self {
        let Tuning { panel_cols, .. } = *tuning;
        Self {
            slot: whole_lines::<T>(order.saturating_sub(2 * panel_cols)) * panel_cols,
            v: whole_lines::<T>(order) * blocking.blocks.columns(),
            reflectors: blocking.reflector_scalars::<T>(panel_cols),
        }
    }
}

/// Device memory of a sweep, in bytes: `slots` panels, V and two sets of reflectors.
pub(super) fn device_bytes<T>(order: usize, blocking: &Blocking, tuning: &Tuning) -> usize {
    let Scalars { slot, v, reflectors } = Scalars::new::<T>(order, blocking, tuning);
    (tuning.slots * slot + v + 2 * reflectors) * size_of::<T>()
}

impl<T: Real> Pipe<T> {
    /// # Errors
    /// [`Error::Device`] if the device or the host does not have that much memory.
    pub fn new(device: &Device, order: usize, blocking: &Blocking, tuning: &Tuning) -> Result<Self, Error> {
        let scalars = Scalars::new::<T>(order, blocking, tuning);
        let slot = || {
            Ok(Slot {
                panel: DeviceBuffer::new(device, scalars.slot)?,
                arrived: Event::new(device)?,
                worked: Event::new(device)?,
                left: Event::new(device)?,
            })
        };
        let reflectors = || -> Result<_, Error> {
            Ok(Reflectors {
                host: Pinned::new(device, scalars.reflectors)?,
                device: DeviceBuffer::new(device, scalars.reflectors)?,
            })
        };
        Ok(Self {
            kernels: Kernels::load(device)?,
            up: Stream::new(device)?,
            work: Stream::new(device)?,
            ahead: Stream::first(device)?,
            down: Stream::new(device)?,
            slots: (0..tuning.slots).map(|_| slot()).collect::<Result<_, Error>>()?,
            reflectors: [reflectors()?, reflectors()?],
            v: DeviceBuffer::new(device, scalars.v)?,
            v_host: Pinned::new(device, scalars.v)?,
            v_stride: whole_lines::<T>(order),
            ready: Event::new(device)?,
            exported: [Event::new(device)?, Event::new(device)?],
            order,
            tuning: *tuning,
            scalars,
        })
    }

    /// Whether the memory suffices for a sweep of these rank blocks.
    pub fn fits(&self, order: usize, blocking: &Blocking, tuning: &Tuning) -> bool {
        let Scalars { slot, v, reflectors } = Scalars::new::<T>(order, blocking, tuning);
        self.order == order
            && self.tuning == *tuning
            && slot <= self.scalars.slot
            && v <= self.scalars.v
            && reflectors <= self.scalars.reflectors
    }

    /// Rows from `row` on of V, on the device and in host memory.
    pub fn rows_of_v(&self, row: usize) -> (Place, Place) {
        let stride = self.v_stride;
        let device = Place { address: self.v.slice(row..self.v.len()).address(), stride };
        (device, Place { address: self.v_host.address(row), stride })
    }

    /// Waits for all enqueued work.
    pub fn drain(&self) -> Result<(), Error> {
        // Waits for every stream, also after an error.
        let outcomes = [&self.up, &self.work, &self.ahead, &self.down].map(Stream::synchronize);
        outcomes.into_iter().collect()
    }
}
