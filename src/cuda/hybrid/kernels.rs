//! The kernels of the hybrid engine, each with the one function that launches it.

use crate::cuda::copying::CopyKernel;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::module::Module;
use crate::cuda::ptx::{INTERCHANGED, TRAILING_F32, TRAILING_F64, TRAILING_TENSOR};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::hybrid::api::{Place, Trailing};
use crate::hybrid::blocking::Blocking;
use crate::hybrid::form::{COLUMN_GROUP, ELEMENTS, Form, reflector_stride};
use crate::hybrid::tuning::{MAX_THREADS_ELEMENTS, Tuning};
use crate::real::Real;
use core::ffi::{c_int, c_longlong};
use core::marker::PhantomData;
use std::sync::Arc;

/// The kernels for one scalar type, loaded on one device.
pub(crate) struct Kernels<T> {
    /// By index into [`ELEMENTS`].
    trailing: Vec<Function>,
    /// The same on tensor cores; empty for single precision.
    tensor: Vec<Function>,
    interchanged: Function,
    copy: CopyKernel<T>,
    scalar: PhantomData<T>,
}

/// The instances of a kernel, by index into [`ELEMENTS`].
fn instances(module: &Arc<Module>, name: &str) -> Result<Vec<Function>, Error> {
    ELEMENTS.iter().map(|elements| Function::load(module, &format!("{name}_e{elements}"))).collect()
}

impl<T: Real> Kernels<T> {
    /// The kernels of `device`. At the first call for a scalar type the driver translates them, which takes some hundredths of
    /// a second.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses them.
    pub fn load(device: &Device) -> Result<Self, Error> {
        let double = T::TYPE_NAME == "f64";
        let trailing_ptx = if double { &TRAILING_F64 } else { &TRAILING_F32 };
        let (module, name) = (device.module(trailing_ptx)?, format!("trailing_{}", T::TYPE_NAME));
        module.layout(&name)?.check(&[
            ("COLUMN_GROUP", COLUMN_GROUP),
            ("MAX_THREADS_ELEMENTS", MAX_THREADS_ELEMENTS),
            ("REFLECTOR_PADDING_BYTES", reflector_stride::<T>(0) * size_of::<T>()),
        ])?;
        let trailing = instances(&module, &name)?;
        let mut tensor = Vec::new();
        if double {
            let (module, form) = (device.module(&TRAILING_TENSOR)?, Form::Tensor);
            module.layout("tensor_f64")?.check(&[
                ("COLUMN_GROUP", COLUMN_GROUP),
                ("ROW_THREADS", form.lanes()),
                ("GROUP_SCALARS", form.group_scalars::<T>(0)),
                ("GROUP_SCALARS_PER_ELEMENT", form.group_scalars::<T>(1) - form.group_scalars::<T>(0)),
                ("MAX_THREADS_ELEMENTS", MAX_THREADS_ELEMENTS),
            ])?;
            tensor = instances(&module, "tensor_f64")?;
        }
        let copy = CopyKernel::load(device)?;
        let interchanged =
            Function::load(&device.module(&INTERCHANGED)?, &format!("interchanged_{}", T::TYPE_NAME))?;
        Ok(Self { trailing, tensor, interchanged, copy, scalar: PhantomData })
    }

    /// Enqueues the trailing step on `stream`, in launches of at most
    /// `blocks_per_kernel · threads_per_block / lanes` rows. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses a launch or an earlier one has failed.
    ///
    /// # Safety
    /// The memory has the shapes that `step` describes, and `tuning` is valid for at least this number of elements. Until the
    /// step is done (an event recorded after it has been waited for) it exists, and only this stream uses those rows of the
    /// panel and of V, or writes the reflectors.
    pub unsafe fn trailing(
        &self,
        stream: &Stream,
        step: &Trailing<'_, T, Device>,
        tuning: &Tuning,
    ) -> Result<(), Error> {
        let Blocking { form, instance, .. } = step.blocking;
        debug_assert!(tuning.elements_per_thread >= step.blocking.elements());
        if step.is_empty() {
            return Ok(());
        }
        step.check();
        debug_assert!(address(step.reflectors, 0).is_multiple_of(16), "the reflectors are not aligned");
        let (function, lanes, shared_bytes) = match form {
            _ if step.interchanged => (&self.interchanged, 1, 0),
            Form::Tensor => (&self.tensor[instance], form.lanes(), step.shared_bytes()),
            Form::Columns { lanes } => (&self.trailing[instance], lanes, step.shared_bytes()),
        };
        let threads = tuning.threads_per_block;
        let mut first = step.rows.start;
        while first < step.rows.end {
            let wanted = ((step.rows.end - first) * lanes).div_ceil(threads);
            let blocks = wanted.min(tuning.blocks_per_kernel);
            let shape = Launch { blocks: (blocks, 1), threads, shared_bytes };
            // SAFETY: the function has these arguments. Threads 0 .. blocks · threads use the rows from `first` on and none
            // from `rows.end` on, which are inside the memory; the caller guarantees the rest.
            unsafe {
                match step.interchanged {
                    true => step.launch_interchanged(function, stream, shape, first),
                    false => step.launch(function, stream, shape, first),
                }
            }?;
            first += blocks * threads / lanes;
        }
        Ok(())
    }
}

/// The address of the scalar at `offset`, as the value of a kernel's pointer parameter.
fn address<T: Real>(memory: &DeviceBuffer<T>, offset: usize) -> u64 {
    memory.slice(offset..memory.len()).address()
}

/// The columns from a place on, with their stride.
fn on_device<T: Real>(place: Place<'_, DeviceBuffer<T>>) -> (DeviceSlice<'_, T>, usize) {
    (place.memory.slice(place.offset..place.memory.len()), place.stride)
}

/// The same in page-locked host memory.
fn on_host<T: Real>(place: Place<'_, Pinned<T>>) -> (DeviceSlice<'_, T>, usize) {
    (place.memory.mapped().part(place.offset..place.memory.len()), place.stride)
}

impl<T: Real> Kernels<T> {
    /// Enqueues a copy of `shape` from page-locked host memory to the device on `stream`. Unlike [`Stream::upload`] it is not
    /// queued after other copies.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses the launch or an earlier one has failed.
    ///
    /// # Safety
    /// As [`Stream::upload`], for these columns.
    pub unsafe fn upload(
        &self,
        stream: &Stream,
        from: Place<'_, Pinned<T>>,
        shape: (usize, usize),
        to: Place<'_, DeviceBuffer<T>>,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe { self.copy.copy(stream, on_host(from), shape, on_device(to)) }
    }

    /// The same in the other direction.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    ///
    /// # Safety
    /// As [`Stream::download`], for these columns.
    pub unsafe fn download(
        &self,
        stream: &Stream,
        from: Place<'_, DeviceBuffer<T>>,
        shape: (usize, usize),
        to: Place<'_, Pinned<T>>,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe { self.copy.copy(stream, on_device(from), shape, on_host(to)) }
    }
}

impl<T: Real> Trailing<'_, T, Device> {
    /// Bytes of shared memory: the current group of reflectors, and with tensor cores the next one, which is being copied.
    fn shared_bytes(&self) -> usize {
        let form = self.blocking.form;
        let groups = if form == Form::Tensor { 2 } else { 1 };
        groups * form.group_scalars::<T>(self.blocking.elements()) * size_of::<T>()
    }

    /// The addresses of the reflectors and of the columns of V of the step's rank blocks.
    fn addresses(&self) -> (u64, u64) {
        let (reflectors, v) = self.first_block();
        (address(self.reflectors, reflectors), address(self.v, v))
    }

    /// The only function that knows the order of the kernel's arguments.
    ///
    /// # Safety
    /// `function` is an instance for `T` of the form's kernel, and its contract holds for these arguments.
    unsafe fn launch(
        &self,
        function: &Function,
        stream: &Stream,
        shape: Launch,
        first: usize,
    ) -> Result<(), Error> {
        let mut panel = address(self.panel, 0);
        let mut panel_stride = self.panel_stride as c_longlong;
        let (mut reflectors, mut v) = self.addresses();
        let mut v_stride = self.v_stride as c_longlong;
        let mut cols = self.cols as c_int;
        let mut blocks = self.rank_blocks.len() as c_int;
        let mut lanes = self.blocking.form.lanes() as c_int;
        let mut first = first as c_longlong;
        let mut end = self.rows.end as c_longlong;
        let mut arguments = [
            argument(&mut panel),
            argument(&mut panel_stride),
            argument(&mut v),
            argument(&mut v_stride),
            argument(&mut reflectors),
            argument(&mut cols),
            argument(&mut blocks),
            argument(&mut lanes),
            argument(&mut first),
            argument(&mut end),
        ];
        // SAFETY: ten pointers to values of the types of the kernel's ten parameters.
        unsafe { function.launch(stream, shape, &mut arguments) }
    }

    /// The same for the kernel of rank blocks with interchanges.
    ///
    /// # Safety
    /// As `launch`, for `interchanged.cu`.
    unsafe fn launch_interchanged(
        &self,
        function: &Function,
        stream: &Stream,
        shape: Launch,
        first: usize,
    ) -> Result<(), Error> {
        let (mut reflectors, mut v) = self.addresses();
        let plus = self.blocking.blocks.count_plus();
        let mut panel = address(self.panel, 0);
        let mut panel_stride = self.panel_stride as c_longlong;
        let mut v_stride = self.v_stride as c_longlong;
        let mut block_stride = self.block_stride() as c_longlong;
        let mut width = self.blocking.blocks.width as c_int;
        let mut cols = self.cols as c_int;
        let mut blocks = self.rank_blocks.len() as c_int;
        let mut plus = plus.saturating_sub(self.rank_blocks.start) as c_int;
        let mut first = first as c_longlong;
        let mut end = self.rows.end as c_longlong;
        let mut arguments = [
            argument(&mut panel),
            argument(&mut panel_stride),
            argument(&mut v),
            argument(&mut v_stride),
            argument(&mut reflectors),
            argument(&mut block_stride),
            argument(&mut width),
            argument(&mut cols),
            argument(&mut blocks),
            argument(&mut plus),
            argument(&mut first),
            argument(&mut end),
        ];
        // SAFETY: twelve pointers to values of the types of the kernel's twelve parameters.
        unsafe { function.launch(stream, shape, &mut arguments) }
    }
}
