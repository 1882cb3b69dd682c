//! The inverses of the diagonal blocks of L, used by modifications and triangular systems.

use super::sweep_launch::{PANEL_COLS, THREADS};
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice};
use crate::cuda::ptx::INVERT;
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use core::ffi::c_longlong;
use core::ops::Range;

/// D⁻¹ of each panel, and whether it loses digits: 64 n doubles, allocated when they are first needed.
pub(super) struct Inverses {
    /// `invert.cu` for the scalar type of L.
    kernel: Function,
    /// (64 × 64) for each panel, and a number for each.
    memory: Option<(DeviceBuffer<f64>, DeviceBuffer<i32>)>,
    order: usize,
    /// The largest order for which there is room.
    capacity: usize,
    /// The first panel of L from which on the inverses are valid, or will be when `ready` is reached.
    known: usize,
    ready: Event,
}

impl Inverses {
    /// For an L of this order and scalar type, which may grow to the capacity; no inverse is valid.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses the kernel.
    pub fn new<T: Real>(device: &Device, order: usize, capacity: usize) -> Result<Self, Error> {
        let module = device.module(&INVERT)?;
        module.layout("invert")?.check(&[("PANEL_COLS", PANEL_COLS), ("THREADS", THREADS)])?;
        Ok(Self {
            kernel: Function::load(&module, &format!("invert_{}", T::TYPE_NAME))?,
            memory: None,
            order,
            capacity,
            known: order.div_ceil(PANEL_COLS),
            ready: Event::new(device)?,
        })
    }

    /// Allocates the memory, unless it exists.
    ///
    /// # Errors
    /// [`Error::Device`] if the device does not have that much memory.
    pub fn make_room(&mut self, device: &Device) -> Result<(), Error> {
        if self.memory.is_none() {
            let panels = self.capacity.div_ceil(PANEL_COLS);
            let inverse = DeviceBuffer::new(device, panels * PANEL_COLS.pow(2))?;
            self.memory = Some((inverse, DeviceBuffer::new(device, panels)?));
        }
        Ok(())
    }

    /// Makes all inverses invalid.
    pub fn forget(&mut self) {
        self.known = self.order.div_ceil(PANEL_COLS);
    }

    /// Sets the order of L, and makes all inverses invalid.
    pub fn set_order(&mut self, order: usize) {
        self.order = order;
        self.forget();
    }

    /// The inverses from column `start` on, which is the first of a panel. There is room for them.
    pub fn slice(&self, start: usize) -> (DeviceSlice<'_, f64>, DeviceSlice<'_, i32>) {
        let Some((inverse, refine)) = &self.memory else {
            return (DeviceSlice::empty(), DeviceSlice::empty());
        };
        let inverse = inverse.slice(start * PANEL_COLS..inverse.len());
        (inverse, refine.slice(start / PANEL_COLS..refine.len()))
    }

    /// Orders later work on the stream after work on another stream that computes inverses.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn order_behind(&self, stream: &Stream) -> Result<(), Error> {
        stream.wait(&self.ready)
    }

    /// Enqueues the computation of the inverses from column `start` on that are not valid. Later work on the stream can use
    /// them.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it is done, L exists, and nothing writes it; only this stream uses the inverses.
    pub unsafe fn complete<T: Real>(
        &mut self,
        stream: &Stream,
        l: (DeviceSlice<'_, T>, usize),
        start: usize,
    ) -> Result<(), Error> {
        let (from, known) = (start / PANEL_COLS, self.known);
        if from < known {
            self.forget();
            // SAFETY: the caller guarantees L and the inverses.
            unsafe { self.make(stream, l, from..known)? };
            self.known = from;
        }
        Ok(())
    }

    /// Enqueues the computation of the inverses from column `start` on for another L, which has the earlier columns in common
    /// with this one.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`complete`](Self::complete).
    pub unsafe fn remake<T: Real>(
        &mut self,
        stream: &Stream,
        l: (DeviceSlice<'_, T>, usize),
        start: usize,
    ) -> Result<(), Error> {
        let panels = start / PANEL_COLS..self.order.div_ceil(PANEL_COLS);
        let known = self.known.min(panels.start);
        self.forget();
        // SAFETY: the caller guarantees L and the inverses.
        unsafe { self.make(stream, l, panels)? };
        self.known = known;
        Ok(())
    }

    /// # Safety
    /// As [`complete`](Self::complete).
    unsafe fn make<T: Real>(
        &self,
        stream: &Stream,
        (l, l_stride): (DeviceSlice<'_, T>, usize),
        panels: Range<usize>,
    ) -> Result<(), Error> {
        let first = panels.start * PANEL_COLS;
        let (inverse, refine) = self.slice(first);
        debug_assert!(panels.len() * PANEL_COLS.pow(2) <= inverse.len() && panels.len() <= refine.len());
        let mut l = l.part(first * (l_stride + 1)..l.len()).address();
        let (mut stride, mut rows) = (l_stride as c_longlong, (self.order - first) as c_longlong);
        let (mut inverse, mut refine) = (inverse.address(), refine.address());
        let mut arguments = [
            argument(&mut l),
            argument(&mut stride),
            argument(&mut inverse),
            argument(&mut refine),
            argument(&mut rows),
        ];
        // SAFETY: five arguments of the types of the kernel's, for the panels along the diagonal from there on; the caller
        // guarantees L.
        unsafe { self.kernel.launch(stream, Launch::new((panels.len(), 1), THREADS), &mut arguments)? };
        self.ready.record(stream)
    }
}
