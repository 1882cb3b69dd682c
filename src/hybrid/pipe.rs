//! The device memory of a hybrid factor, and the host memory that copies and kernels access.
//!
//! ```text
//! up      trailing rows of panels to their slots                              <── left
//! work    V once; reflectors, then all rows but those needed next             <── arrived
//! ahead   the rows needed next, with priority, and their part of V back       <── ready (work)
//! down    trailing rows from their slots back to the host                     <── worked, exported
//! ```

use super::api::Api;
use super::blocking::Blocking;
use super::form::Forms;
use super::tuning::Tuning;
use crate::error::Error;
use crate::host::layout::whole_lines;
use crate::real::Real;

/// Device memory for one streamed panel.
pub(super) struct Slot<T: Real, A: Api> {
    pub panel: A::Memory<T>,
    /// The panel has been copied in.
    pub arrived: A::Event,
    /// The device has applied the reflectors to it.
    pub worked: A::Event,
    /// It has been copied out, or need not be.
    pub left: A::Event,
}

/// The block reflectors of one panel, for all rank blocks.
pub(super) struct Reflectors<T: Real, A: Api> {
    pub host: A::Locked<T>,
    pub device: A::Memory<T>,
}

/// Queues and memory for sweeps of up to a certain size.
pub(super) struct Pipe<T: Real, A: Api> {
    pub kernels: A::Kernels<T>,
    pub up: A::Queue,
    pub work: A::Queue,
    pub ahead: A::Queue,
    pub down: A::Queue,
    pub slots: Vec<Slot<T, A>>,
    /// Of a panel and of the next one: the host writes one while the device reads the other.
    pub reflectors: [Reflectors<T, A>; 2],
    /// V, column-major, with columns `v_stride` apart: on the device, and in the host memory from which the host reads its
    /// rows.
    pub v: A::Memory<T>,
    pub v_host: A::Locked<T>,
    pub v_stride: usize,
    /// All data for the work on the panel is on the device.
    pub ready: A::Event,
    /// The rows of V that the host needs next are in `v_host`; by the parity of the panel that was applied to them last.
    pub exported: [A::Event; 2],
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

/// Device memory of a sweep over k columns of V of one sign, in bytes: `slots` panels, V and two sets of reflectors.
/// `usize::MAX` for a tuning that is not valid, and for numbers that could overflow.
pub(crate) fn device_bytes<T: Real>(order: usize, k: usize, tuning: &Tuning, forms: Forms) -> usize {
    const MOST: usize = 1 << 28;
    if order > MOST || k > MOST || tuning.validate().is_err() {
        return usize::MAX;
    }
    let blocking = Blocking::new::<T>(k, 0, tuning.elements_per_thread, forms);
    let Scalars { slot, v, reflectors } = Scalars::new::<T>(order, &blocking, tuning);
    (tuning.slots * slot + v + 2 * reflectors) * size_of::<T>()
}

impl<T: Real, A: Api> Pipe<T, A> {
    /// # Errors
    /// [`Error::Device`] if the device or the host does not have that much memory.
    pub fn new(device: &A, order: usize, blocking: &Blocking, tuning: &Tuning) -> Result<Self, Error> {
        let scalars = Scalars::new::<T>(order, blocking, tuning);
        let slot = || {
            Ok(Slot {
                panel: device.memory(scalars.slot)?,
                arrived: device.event()?,
                worked: device.event()?,
                left: device.event()?,
            })
        };
        let reflectors = || -> Result<_, Error> {
            Ok(Reflectors {
                host: device.locked(scalars.reflectors)?,
                device: device.memory(scalars.reflectors)?,
            })
        };
        let work = device.queue()?;
        Ok(Self {
            kernels: device.kernels()?,
            up: device.queue()?,
            ahead: device.queue_ahead_of(&work)?,
            work,
            down: device.queue()?,
            slots: (0..tuning.slots).map(|_| slot()).collect::<Result<_, Error>>()?,
            reflectors: [reflectors()?, reflectors()?],
            v: device.memory(scalars.v)?,
            v_host: device.locked(scalars.v)?,
            v_stride: whole_lines::<T>(order),
            ready: device.event()?,
            exported: [device.event()?, device.event()?],
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

    /// Waits for all enqueued work.
    pub fn drain(&self) -> Result<(), Error> {
        // Waits for every queue, also after an error.
        let outcomes = [&self.up, &self.work, &self.ahead, &self.down].map(A::drain);
        outcomes.into_iter().collect()
    }
}
