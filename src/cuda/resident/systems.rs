//! Triangular systems on the device.

use super::solves::{SolveSteps, System};
use super::steps::PANEL_COLS;
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::plan::Plan;
use crate::scalar::Scalar;
use core::ops::Range;
use faer::MatMut;

/// Right-hand sides that go together: the second extent of a grid is at most 65535.
const TOGETHER: usize = 4096;

/// What it takes, kept between calls.
pub(super) struct Systems<T> {
    steps: SolveSteps<T>,
    stream: Stream,
    /// Right-hand sides, packed, on both sides of the link.
    rhs: Option<(Pinned<T>, DeviceBuffer<T>)>,
}

impl<T: Scalar> Systems<T> {
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self { steps: SolveSteps::load(device)?, stream: Stream::new(device)?, rhs: None })
    }

    /// B ← A⁻¹ B. (n × m) B is left alone on any error.
    pub fn solve(&mut self, device: &Device, l: &Dense<T>, mut rhs: MatMut<'_, T>) -> Result<(), Error> {
        let count = rhs.ncols();
        for first in (0..count).step_by(TOGETHER) {
            let columns = first..count.min(first + TOGETHER);
            self.some(device, l, rhs.as_mut(), columns)?;
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
        if self.rhs.as_ref().is_none_or(|(host, _)| host.len() < len) {
            self.rhs = None;
            self.rhs = Some((Pinned::new(device, len)?, DeviceBuffer::new(device, len)?));
        }
        let Self { steps, stream, rhs: Some((host, on_device)) } = self else { return Err(Error::Poisoned) };
        for (to, j) in host.as_mut_slice().chunks_exact_mut(order).zip(columns.clone()) {
            to.iter_mut().zip(rhs.as_ref().col(j).iter()).for_each(|(to, from)| *to = *from);
        }
        let asked = ask(steps, stream, l, (host, on_device), columns.len());
        // Also behind an error: nothing is under way when this returns.
        stream.synchronize().and(asked)?;
        for (from, j) in host.as_slice().chunks_exact(order).zip(columns) {
            rhs.as_mut().col_mut(j).iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }
}

fn ask<T: Scalar>(
    steps: &SolveSteps<T>,
    stream: &Stream,
    l: &Dense<T>,
    (host, on_device): (&Pinned<T>, &DeviceBuffer<T>),
    count: usize,
) -> Result<(), Error> {
    let order = l.order();
    let len = order * count;
    let plan = Plan { rows: order, cols: order, start: 0, panel_cols: PANEL_COLS };
    let system = |index: usize| {
        plan.panel(index).map(|panel| System {
            l: l.from(panel.first, panel.first),
            l_stride: order,
            x: on_device.slice(panel.first..len),
            x_stride: order,
            cols: panel.cols,
            below: order - panel.end(),
            count,
        })
    };
    // SAFETY: the stream alone uses the right-hand sides, and L is borrowed, until it has been waited for.
    unsafe {
        stream.upload(host, 0..len, on_device.slice(0..len))?;
        for system in (0..plan.panels()).filter_map(system) {
            steps.forward(stream, &system)?;
        }
        for system in (0..plan.panels()).rev().filter_map(system) {
            steps.backward(stream, &system)?;
        }
        stream.download(on_device.slice(0..len), host, 0..len)
    }
}
