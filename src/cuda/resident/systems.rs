//! Triangular systems on the device.

use super::solves::{SolveSteps, System, Way};
use super::steps::{Inversion, PANEL_COLS};
use super::take::{Found, Intake};
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::matrix::DeviceViewMut;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::scalar::Scalar;
use core::iter;
use core::ops::Range;
use faer::MatMut;

/// Right-hand sides that go together: the second extent of a grid is at most 65535.
const TOGETHER: usize = 4096;

/// What it takes, kept between calls.
pub(super) struct Systems<T> {
    inversion: Inversion,
    steps: SolveSteps<T>,
    stream: Stream,
    /// Of the diagonal blocks.
    inverse: Option<(DeviceBuffer<f64>, DeviceBuffer<i32>)>,
    /// Right-hand sides, packed: in host memory, and on the device twice.
    host: Option<Pinned<T>>,
    rhs: Option<[DeviceBuffer<T>; 2]>,
    /// For right-hand sides that are on the device already.
    intake: Option<Intake<T>>,
}

impl<T: Scalar> Systems<T> {
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self {
            inversion: Inversion::load::<T>(device)?,
            steps: SolveSteps::load(device)?,
            stream: Stream::new(device)?,
            inverse: None,
            host: None,
            rhs: None,
            intake: None,
        })
    }

    /// B ← A⁻¹ B. (n × m) B is left alone on any error.
    pub fn solve(&mut self, device: &Device, l: &Dense<T>, mut rhs: MatMut<'_, T>) -> Result<(), Error> {
        let count = rhs.ncols();
        let kept = (count > TOGETHER).then(|| rhs.to_owned());
        for first in (0..count).step_by(TOGETHER) {
            let columns = first..count.min(first + TOGETHER);
            if let Err(error) = self.some(device, l, rhs.as_mut(), columns) {
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
        device: &Device,
        l: &Dense<T>,
        mut rhs: MatMut<'_, T>,
        columns: Range<usize>,
    ) -> Result<(), Error> {
        let order = l.order();
        let len = order * columns.len();
        if len == 0 {
            return Ok(());
        }
        self.make_room(device, order, columns.len())?;
        if self.host.as_ref().is_none_or(|host| host.len() < len) {
            self.host = None;
            self.host = Some(Pinned::new(device, len)?);
        }
        let Some(host) = &mut self.host else { return Err(Error::Poisoned) };
        for (to, j) in host.as_mut_slice().chunks_exact_mut(order).zip(columns.clone()) {
            to.iter_mut().zip(rhs.as_ref().col(j).iter()).for_each(|(to, from)| *to = *from);
        }
        let (Some(host), Some(both)) = (&self.host, &self.rhs) else { return Err(Error::Poisoned) };
        let on_device = both[0].slice(0..len);
        // SAFETY: the stream alone uses this memory until it has been waited for.
        let asked = unsafe {
            self.stream
                .upload(host, 0..len, on_device)
                .and_then(|()| self.ask(l, both, columns.len()))
                .and_then(|()| self.stream.download(on_device, host, 0..len))
        };
        // Also behind an error: nothing is under way when this returns.
        self.stream.synchronize().and(asked)?;
        for (from, j) in host.as_slice().chunks_exact(order).zip(columns) {
            rhs.as_mut().col_mut(j).iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }

    /// B ← A⁻¹ B, with B (n × m) on the device; it is left alone on any error but one of the device.
    pub fn solve_there(
        &mut self,
        device: &Device,
        l: &Dense<T>,
        rhs: &mut DeviceViewMut<'_, T>,
    ) -> Result<(), Error> {
        let rhs = rhs.as_view();
        let (order, cols) = rhs.shape();
        let (at, stride) = rhs.slice();
        if order * cols == 0 {
            return Ok(());
        }
        self.make_room(device, order, cols.min(TOGETHER))?;
        Intake::ready(&mut self.intake, device, cols)?;
        // A look at all of them first.
        let found = self.take((at, stride), (at, stride), (order, cols), iter::repeat(None))?;
        if let Some((column, row)) = (0..).zip(found).find_map(|(j, found)| Some((j, found.not_finite?))) {
            return Err(Error::NonFinite { argument: "rhs", row, column });
        }
        for first in (0..cols).step_by(TOGETHER) {
            let count = TOGETHER.min(cols - first);
            let there = (at.part(first * stride..at.len()), stride);
            // Taken out while the rest of this is at work.
            let Some(rhs) = self.rhs.take() else { return Err(Error::Poisoned) };
            let here = (rhs[0].slice(0..order * count), order);
            let each = || (0..count).map(|column| Some((column, T::ONE)));
            self.take(there, here, (order, count), each())?;
            // SAFETY: they are borrowed, or held here, until the stream has been waited for in the next line.
            let asked = unsafe { self.ask(l, &rhs, count) };
            self.stream.synchronize().and(asked)?;
            self.take(here, there, (order, count), each())?;
            self.rhs = Some(rhs);
        }
        Ok(())
    }

    fn take(
        &mut self,
        from: (DeviceSlice<'_, T>, usize),
        to: (DeviceSlice<'_, T>, usize),
        shape: (usize, usize),
        targets: impl IntoIterator<Item = Option<(usize, T)>>,
    ) -> Result<&[Found<T>], Error> {
        let Some(intake) = &mut self.intake else { return Err(Error::Poisoned) };
        // SAFETY: one is borrowed for writing by whoever called, the other is this one's own.
        unsafe { intake.take(&self.stream, from, to, shape, targets) }
    }

    fn make_room(&mut self, device: &Device, order: usize, count: usize) -> Result<(), Error> {
        if self.inverse.is_none() {
            let panels = order.div_ceil(PANEL_COLS);
            let inverse = DeviceBuffer::new(device, panels * PANEL_COLS.pow(2))?;
            self.inverse = Some((inverse, DeviceBuffer::new(device, panels)?));
        }
        let len = order * count;
        if self.rhs.as_ref().is_none_or(|[one, _]| one.len() < len) {
            self.rhs = None;
            self.rhs = Some([DeviceBuffer::new(device, len)?, DeviceBuffer::new(device, len)?]);
        }
        Ok(())
    }

    /// B ← A⁻¹ B in the first of these, n × count.
    ///
    /// # Safety
    /// L and both live, and nobody else uses them, until the stream has been waited for.
    unsafe fn ask(
        &self,
        l: &Dense<T>,
        [rhs, other]: &[DeviceBuffer<T>; 2],
        count: usize,
    ) -> Result<(), Error> {
        let Self { inversion, steps, stream, inverse, .. } = self;
        let Some((inverse, refine)) = inverse else { return Err(Error::Poisoned) };
        let n = l.order();
        let panels = n.div_ceil(PANEL_COLS);
        let (rhs, other) = (rhs.slice(0..n * count), other.slice(0..n * count));
        let inverse = inverse.slice(0..inverse.len());
        let forward = System { l: l.slice(), l_stride: l.stride(), n, inverse, from: rhs, to: other, count };
        let backward = System { l: l.slice(), l_stride: l.stride(), n, inverse, from: other, to: rhs, count };
        // SAFETY: the caller vouches for all of them, and the inverses are this one's own.
        unsafe {
            inversion.ask(
                stream,
                (l.slice(), l.stride()),
                (inverse, refine.slice(0..panels)),
                (panels, n),
            )?;
            for panel in 0..panels {
                steps.panel(stream, &forward, Way::Forward, panel * PANEL_COLS)?;
            }
            for panel in (0..panels).rev() {
                steps.panel(stream, &backward, Way::Backward, panel * PANEL_COLS)?;
            }
        }
        Ok(())
    }
}
