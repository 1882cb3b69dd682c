//! L on one of several devices.

use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice};
use crate::cuda::resident::inverses::Inverses;
use crate::cuda::resident::own_rows::OwnRows;
use crate::cuda::resident::share::{Share, row_blocks};
use crate::error::{Error, other};
use crate::real::Real;
use crate::storage::Target;
use core::mem;
use std::sync::Arc;

/// The row blocks of L on a device.
pub(super) struct Part<T> {
    pub device: Device,
    pub rows: Arc<OwnRows>,
    pub l: DeviceBuffer<T>,
    /// The destination of the next modification.
    pub shadow: Option<DeviceBuffer<T>>,
    /// The place of each row block in this memory: its number and its first entry.
    pub places: Vec<(usize, usize)>,
}

impl<T: Real> Part<T> {
    /// Not initialized, for factors of up to this order.
    ///
    /// # Errors
    /// [`Error::Device`] if the device does not have that much memory.
    pub fn new(device: &Device, share: Share, capacity: usize) -> Result<Self, Error> {
        let count = row_blocks(capacity);
        Ok(Self {
            device: device.clone(),
            rows: Arc::new(OwnRows::new(device, share, capacity)?),
            l: DeviceBuffer::new(device, share.entries(count))?,
            shadow: None,
            places: share.places(count).collect(),
        })
    }

    /// Room for the inverses of its diagonal blocks, for an L of this order.
    pub fn inverses(&self, order: usize, capacity: usize) -> Result<Inverses, Error> {
        Ok(Inverses::new::<T>(&self.device, order, capacity)?.of_rows(self.rows.clone()))
    }

    /// Allocates the shadow buffer, unless it exists.
    ///
    /// # Errors
    /// [`Error::Device`] if the device does not have that much memory.
    pub fn make_shadow(&mut self) -> Result<(), Error> {
        if self.shadow.is_none() {
            self.shadow = Some(DeviceBuffer::new(&self.device, self.l.len())?);
        }
        Ok(())
    }

    /// L.
    pub fn slice(&self) -> DeviceSlice<'_, T> {
        self.l.slice(0..self.l.len())
    }

    /// The memory to which a sweep with this target writes.
    ///
    /// # Errors
    /// [`Error::Device`] if there is no shadow buffer.
    pub fn target(&self, target: Target) -> Result<DeviceSlice<'_, T>, Error> {
        match (target, &self.shadow) {
            (Target::InPlace, _) => Ok(self.slice()),
            (_, Some(shadow)) => Ok(shadow.slice(0..shadow.len())),
            (_, None) => Err(other("there is no shadow")),
        }
    }

    /// Makes the shadow buffer L.
    pub fn exchange(&mut self) {
        if let Some(shadow) = &mut self.shadow {
            mem::swap(shadow, &mut self.l);
        }
    }
}
