//! The kernels of the hybrid engine, each with the one function that launches it.

use crate::error::Error;
use crate::hybrid::api::Trailing;
use crate::hybrid::form::{COLUMN_GROUP, ELEMENTS, Form, reflector_stride};
use crate::hybrid::tuning::Tuning;
use crate::opencl::device::Device;
use crate::opencl::program::Source;
use crate::opencl::queue::{Function, Queue};
use crate::real::Real;
use core::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// The kernels for one scalar type. A kernel's arguments belong to the kernel, so threads set them and enqueue it in turns.
pub(crate) struct Kernels<T> {
    /// By index into [`ELEMENTS`].
    trailing: Vec<Mutex<Function>>,
    interchanged: Mutex<Function>,
    scalar: PhantomData<T>,
}

impl<T: Real> Kernels<T> {
    /// The kernels of `device`. At the first call for a scalar type the driver compiles them, which takes up to some seconds.
    ///
    /// # Errors
    /// [`Error::Device`] if the device does not compute in `T`, or the driver refuses them.
    pub fn load(device: &Device) -> Result<Self, Error> {
        device.supports::<T>()?;
        let double = ("DOUBLE", usize::from(size_of::<T>() == 8));
        let trailing = |&elements: &usize| {
            let program = device.program(Source {
                name: "trailing.cl",
                text: include_str!("../../../kernels/opencl/trailing.cl"),
                parameters: vec![
                    double,
                    ("ELEMENTS", elements),
                    ("STRIDE", reflector_stride::<T>(elements)),
                    ("COLUMN_GROUP", COLUMN_GROUP),
                ],
            })?;
            Function::new(device, &program, c"trailing").map(Mutex::new)
        };
        let program = device.program(Source {
            name: "interchanged.cl",
            text: include_str!("../../../kernels/opencl/interchanged.cl"),
            parameters: vec![double],
        })?;
        Ok(Self {
            trailing: ELEMENTS.iter().map(trailing).collect::<Result<_, _>>()?,
            interchanged: Mutex::new(Function::new(device, &program, c"interchanged")?),
            scalar: PhantomData,
        })
    }

    /// Enqueues the trailing step, in launches of at most `blocks_per_kernel · threads_per_block` rows.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses a launch or an earlier one has failed.
    ///
    /// # Safety
    /// The memory has the shapes that `step` describes. Until the step is done it exists, and only this queue uses those rows
    /// of the panel and of V, or writes the reflectors.
    pub unsafe fn trailing(
        &self,
        queue: &Queue,
        step: &Trailing<'_, T, Device>,
        tuning: &Tuning,
    ) -> Result<(), Error> {
        if step.is_empty() {
            return Ok(());
        }
        step.check();
        debug_assert!(step.blocking.form == Form::Columns { lanes: 1 }, "a work-item has a whole row");
        let function =
            if step.interchanged { &self.interchanged } else { &self.trailing[step.blocking.instance] };
        let function = function.lock().unwrap_or_else(PoisonError::into_inner);
        let most = tuning.blocks_per_kernel * tuning.threads_per_block;
        // SAFETY: rows are 64 bits wide in both kernels. Work-items use rows from `first` on and none from `end` on, which are
        // inside the memory. The caller guarantees the rest.
        unsafe {
            self.set(&function, step)?;
            for first in step.rows.clone().step_by(most) {
                // The last work-group may have more work-items than rows.
                let end = step.rows.end.min(first + most);
                function.set(9, &(first as u64))?;
                function.set(10, &(end as u64))?;
                queue.launch(&function, end - first, tuning.threads_per_block)?;
            }
        }
        Ok(())
    }

    /// Sets the arguments, except for the first and last rows (9, 10). The only function that knows their order.
    ///
    /// # Safety
    /// The function is that of the step, and locked.
    unsafe fn set(&self, function: &Function, step: &Trailing<'_, T, Device>) -> Result<(), Error> {
        let (reflectors_first, v_first) = step.first_block();
        let blocks = step.blocking.blocks;
        // SAFETY: the types of the parameters that both kernels have, in their order, and those of `interchanged.cl` alone.
        unsafe {
            function.set(0, &step.panel.handle())?;
            function.set(1, &(step.panel_stride as u64))?;
            function.set(2, &step.v.handle())?;
            function.set(3, &(v_first as u64))?;
            function.set(4, &(step.v_stride as u64))?;
            function.set(5, &step.reflectors.handle())?;
            function.set(6, &(reflectors_first as u64))?;
            function.set(7, &(step.cols as u32))?;
            function.set(8, &(step.rank_blocks.len() as u32))?;
            if step.interchanged {
                function.set(11, &(step.block_stride() as u64))?;
                function.set(12, &(blocks.width as u32))?;
                function.set(13, &(blocks.count_plus().saturating_sub(step.rank_blocks.start) as u32))?;
            }
        }
        Ok(())
    }
}
