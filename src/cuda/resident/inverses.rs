//! The inverses of the diagonal blocks of L, used by modifications and triangular systems.

use super::own_rows::OwnRows;
use super::sizes::PANEL_COLS;
use super::sweep_launch::{Filled, THREADS};
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice};
use crate::cuda::ptx::INVERT;
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use core::ffi::{c_int, c_longlong};
use core::ops::Range;
use std::sync::Arc;

/// Words that a thread block fills, if the number of such blocks does not exceed the other limit.
const WORDS_OF_BLOCK: usize = 8 * THREADS;
const MAX_FILLING: usize = 512;

/// D⁻¹ of each panel, and whether it loses digits: 64 n doubles, allocated when they are first needed.
pub(in crate::cuda) struct Inverses {
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
    /// The rows of L on this device, if it is one of several. Then other inverses are not computed.
    rows: Option<Arc<OwnRows>>,
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
            rows: None,
        })
    }

    /// The same for an L of which only these rows are on the device.
    pub fn of_rows(self, rows: Arc<OwnRows>) -> Self {
        Self { rows: Some(rows), ..self }
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
            unsafe { self.make(stream, l, from..known, Filled::nothing())? };
            self.known = from;
        }
        Ok(())
    }

    /// Enqueues the computation of the inverses from column `start` on for another L, which has the earlier columns in common
    /// with this one, and the filling of memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`complete`](Self::complete), and as [`Filled::reset`].
    pub unsafe fn remake<T: Real>(
        &mut self,
        stream: &Stream,
        l: (DeviceSlice<'_, T>, usize),
        start: usize,
        to_fill: Filled<'_>,
    ) -> Result<(), Error> {
        let panels = start / PANEL_COLS..self.order.div_ceil(PANEL_COLS);
        let known = self.known.min(panels.start);
        self.forget();
        // SAFETY: the caller guarantees L and the inverses.
        unsafe { self.make(stream, l, panels, to_fill)? };
        self.known = known;
        Ok(())
    }

    /// Records that sweeps that have been enqueued on the stream leave the inverses from column `start` on, of another L as in
    /// [`remake`](Self::remake).
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn left_by_sweeps(&mut self, stream: &Stream, start: usize) -> Result<(), Error> {
        self.known = self.known.min(start / PANEL_COLS);
        self.ready.record(stream)
    }

    /// # Safety
    /// As [`remake`](Self::remake).
    unsafe fn make<T: Real>(
        &self,
        stream: &Stream,
        (l, l_stride): (DeviceSlice<'_, T>, usize),
        panels: Range<usize>,
        to_fill: Filled<'_>,
    ) -> Result<(), Error> {
        let own = self.rows.as_ref().map(|rows| (rows.panels(panels.clone()), rows.row_blocks(0)));
        // Panels of a list are numbered from the first one of L on.
        let first = if own.is_some() { 0 } else { panels.start * PANEL_COLS };
        let (inverse, refine) = self.slice(first);
        debug_assert!(panels.len() * PANEL_COLS.pow(2) <= inverse.len() && panels.len() <= refine.len());
        let inverted = own.map_or(panels.len(), |(own, _)| own.len());
        let Filled { records, flags } = to_fill;
        let filling = records.len().max(flags.len()).div_ceil(WORDS_OF_BLOCK).min(MAX_FILLING);
        let (mut ones, mut ones_len) = (records.address(), records.len() as c_longlong);
        let (mut zeros, mut zeros_len) = (flags.address(), flags.len() as c_longlong);
        let mut l = l.part(first * (l_stride + 1)..l.len()).address();
        let (mut stride, mut rows) = (l_stride as c_longlong, (self.order - first) as c_longlong);
        let (mut own, mut row_blocks) =
            own.map_or((0, 0), |(own, row_blocks)| (own.address(), row_blocks.address()));
        let (mut inverse, mut refine) = (inverse.address(), refine.address());
        let mut inverted = inverted as c_int;
        let mut arguments = [
            argument(&mut l),
            argument(&mut stride),
            argument(&mut inverse),
            argument(&mut refine),
            argument(&mut rows),
            argument(&mut own),
            argument(&mut row_blocks),
            argument(&mut inverted),
            argument(&mut ones),
            argument(&mut ones_len),
            argument(&mut zeros),
            argument(&mut zeros_len),
        ];
        let blocks = inverted as usize + filling;
        if blocks > 0 {
            // SAFETY: twelve arguments of the types of the kernel's, for the panels along the diagonal from there on, or for a
            // list of them; the caller guarantees L and the memory to fill.
            unsafe { self.kernel.launch(stream, Launch::new((blocks, 1), THREADS), &mut arguments)? };
        }
        self.ready.record(stream)
    }
}
