//! Triangular systems on the device.

use super::solves::{SolveSteps, System, Way};
use super::steps::{Inversion, PANEL_COLS};
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::scalar::Scalar;
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
    rhs: Option<(Pinned<T>, [DeviceBuffer<T>; 2])>,
}

impl<T: Scalar> Systems<T> {
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self {
            inversion: Inversion::load::<T>(device)?,
            steps: SolveSteps::load(device)?,
            stream: Stream::new(device)?,
            inverse: None,
            rhs: None,
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
        if self.inverse.is_none() {
            let panels = order.div_ceil(PANEL_COLS);
            let inverse = DeviceBuffer::new(device, panels * PANEL_COLS.pow(2))?;
            self.inverse = Some((inverse, DeviceBuffer::new(device, panels)?));
        }
        if self.rhs.as_ref().is_none_or(|(host, _)| host.len() < len) {
            self.rhs = None;
            let on_device = [DeviceBuffer::new(device, len)?, DeviceBuffer::new(device, len)?];
            self.rhs = Some((Pinned::new(device, len)?, on_device));
        }
        let Some((host, _)) = &mut self.rhs else { return Err(Error::Poisoned) };
        for (to, j) in host.as_mut_slice().chunks_exact_mut(order).zip(columns.clone()) {
            to.iter_mut().zip(rhs.as_ref().col(j).iter()).for_each(|(to, from)| *to = *from);
        }
        let asked = self.ask(l, columns.len());
        // Also behind an error: nothing is under way when this returns.
        self.stream.synchronize().and(asked)?;
        let Some((host, _)) = &self.rhs else { return Err(Error::Poisoned) };
        for (from, j) in host.as_slice().chunks_exact(order).zip(columns) {
            rhs.as_mut().col_mut(j).iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }

    fn ask(&self, l: &Dense<T>, count: usize) -> Result<(), Error> {
        let Self { inversion, steps, stream, inverse, rhs } = self;
        let (Some((inverse, refine)), Some((host, [rhs, other]))) = (inverse, rhs) else {
            return Err(Error::Poisoned);
        };
        let n = l.order();
        let panels = n.div_ceil(PANEL_COLS);
        let (rhs, other) = (rhs.slice(0..n * count), other.slice(0..n * count));
        let inverse = inverse.slice(0..inverse.len());
        let forward = System { l: l.slice(), l_stride: l.stride(), n, inverse, from: rhs, to: other, count };
        let backward = System { l: l.slice(), l_stride: l.stride(), n, inverse, from: other, to: rhs, count };
        // SAFETY: the stream alone uses this memory, and L is borrowed, until it has been waited for.
        unsafe {
            inversion.ask(
                stream,
                (l.slice(), l.stride()),
                (inverse, refine.slice(0..panels)),
                (panels, n),
            )?;
            stream.upload(host, 0..n * count, rhs)?;
            for panel in 0..panels {
                steps.panel(stream, &forward, Way::Forward, panel * PANEL_COLS)?;
            }
            for panel in (0..panels).rev() {
                steps.panel(stream, &backward, Way::Backward, panel * PANEL_COLS)?;
            }
            stream.download(rhs, host, 0..n * count)
        }
    }
}
