//! The kernels of the hybrid engine, and for each the one function that launches it.
//!
//! A kernel's contract stands at the top of its file in `kernels/`; its launch function alone knows the order
//! of its arguments and which thread owns what.

use super::device::{Device, Module, unfit};
use super::launch::{Launch, launch};
use super::memory::DeviceSlice;
use super::ptx::{COPY_F32, COPY_F64, TRAILING_F32, TRAILING_F64, TRAILING_TENSOR};
use super::stream::Stream;
use super::tuning::{MAX_THREADS_ELEMENTS, Tuning};
use crate::error::Error;
use crate::scalar::Scalar;
use core::ffi::{c_int, c_longlong};
use core::marker::PhantomData;
use core::ops::Range;
use cudarc::driver::sys;
use std::sync::Arc;

/// The values of `elements_per_thread` that the kernels are instantiated for.
pub(crate) const ELEMENTS: [usize; 4] = [4, 8, 16, 32];

/// Columns of L come in groups of this many: `COLUMN_GROUP` of `trailing.cu` and `trailing_tensor.cu`.
pub(crate) const GROUP: usize = 8;

/// How a pass of the trailing step goes about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `trailing.cu`: column after column, by 1, 2, 4 or 8 threads that share the row.
    Columns { lanes: usize },
    /// `trailing_tensor.cu`: eight columns at a time on tensor cores. Double precision only.
    Tensor,
}

impl Form {
    /// Threads that share a row.
    pub fn lanes(self) -> usize {
        match self {
            Self::Columns { lanes } => lanes,
            Self::Tensor => 4,
        }
    }

    /// Scalars that the reflectors of 8 columns of L take in a pass.
    pub fn group_scalars<T>(self, elements: usize) -> usize {
        match self {
            Self::Columns { lanes } => GROUP * lanes * reflector_stride::<T>(elements),
            Self::Tensor => (self.lanes() * elements + GROUP + 2) * GROUP,
        }
    }

    /// Bytes of shared memory: groups of reflectors, one at work and with tensor cores one on its way.
    fn shared_bytes<T>(self, elements: usize) -> usize {
        let groups = if self == Self::Tensor { 2 } else { 1 };
        groups * self.group_scalars::<T>(elements) * size_of::<T>()
    }
}

/// For [`Form::Columns`]: scalars from one row of a pass's reflectors to the next: b, and the 16 bytes that s and x
/// are in.
pub(crate) fn reflector_stride<T>(elements_per_thread: usize) -> usize {
    elements_per_thread + 16 / size_of::<T>()
}

/// For [`Form::Tensor`]: the place of entry r of b_j in a group's reflectors, j < 8.
pub(crate) fn tensor_b(j: usize, r: usize) -> usize {
    GROUP * r + (j ^ (r & 6))
}

/// The trailing step: all columns of a panel over some rows, in passes of `lanes · elements` columns of V. Its sign is in
/// the reflectors of a pass.
///
/// Shapes, column-major: entry (i, j) of the panel at `panel[i + j · panel_stride]`, entry (i, r) of V at
/// `v[i + r · v_stride]`; `reflectors` are as the kernel of the form says.
pub(crate) struct Trailing<'a, T> {
    pub panel: DeviceSlice<'a, T>,
    pub panel_stride: usize,
    pub v: DeviceSlice<'a, T>,
    pub v_stride: usize,
    pub reflectors: DeviceSlice<'a, T>,
    /// Columns of the panel, a multiple of 8.
    pub cols: usize,
    pub passes: usize,
    pub form: Form,
    /// Columns of V that a thread takes in a pass.
    pub elements: usize,
    /// Rows of the panel and of V that the step is over.
    pub rows: Range<usize>,
}

/// The kernels for one scalar type, loaded on one device. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Kernels<T> {
    /// By place in [`ELEMENTS`].
    trailing: [sys::CUfunction; ELEMENTS.len()],
    /// The same on tensor cores; for single precision there is none.
    tensor: Option<[sys::CUfunction; ELEMENTS.len()]>,
    copy: sys::CUfunction,
    /// Keep the functions loaded.
    _modules: Vec<Arc<Module>>,
    scalar: PhantomData<T>,
}

// SAFETY: the driver takes function handles from any thread, and the module is kept.
unsafe impl<T: Scalar> Send for Kernels<T> {}
// SAFETY: as above.
unsafe impl<T: Scalar> Sync for Kernels<T> {}

/// The functions of a kernel by place in [`ELEMENTS`].
fn instances(module: &Module, name: &str) -> Result<[sys::CUfunction; ELEMENTS.len()], Error> {
    let mut found = [core::ptr::null_mut(); ELEMENTS.len()];
    for (function, elements) in found.iter_mut().zip(ELEMENTS) {
        *function = module.function(&format!("{name}_e{elements}"))?;
    }
    Ok(found)
}

impl<T: Scalar> Kernels<T> {
    /// The kernels of `device`. The first call for a scalar type has the driver translate them, which takes
    /// some hundredths of a second.
    ///
    /// # Errors
    /// [`Error::Device`] where the driver refuses them.
    pub fn load(device: &Device) -> Result<Self, Error> {
        let double = T::TYPE_NAME == "f64";
        let (trailing_ptx, copy_ptx) =
            if double { (TRAILING_F64, COPY_F64) } else { (TRAILING_F32, COPY_F32) };
        let mut modules = vec![device.module(trailing_ptx)?, device.module(copy_ptx)?];
        modules[0].layout(&format!("trailing_{}", T::TYPE_NAME))?.check(&[
            ("COLUMN_GROUP", GROUP),
            ("MAX_THREADS_ELEMENTS", MAX_THREADS_ELEMENTS),
            ("REFLECTOR_PADDING_BYTES", reflector_stride::<T>(0) * size_of::<T>()),
        ])?;
        let trailing = instances(&modules[0], &format!("trailing_{}", T::TYPE_NAME))?;
        let copy = modules[1].function(&format!("copy_{}", T::TYPE_NAME))?;
        let mut tensor = None;
        if double {
            modules.push(device.module(TRAILING_TENSOR)?);
            let form = Form::Tensor;
            modules[2].layout("tensor_f64")?.check(&[
                ("COLUMN_GROUP", GROUP),
                ("ROW_THREADS", form.lanes()),
                ("GROUP_SCALARS", form.group_scalars::<T>(0)),
                ("GROUP_SCALARS_PER_ELEMENT", form.group_scalars::<T>(1) - form.group_scalars::<T>(0)),
                ("MAX_THREADS_ELEMENTS", MAX_THREADS_ELEMENTS),
            ])?;
            tensor = Some(instances(&modules[2], "tensor_f64")?);
        }
        Ok(Self { trailing, tensor, copy, _modules: modules, scalar: PhantomData })
    }

    /// Asks for the trailing step on `stream`, in launches of at most
    /// `blocks_per_kernel · threads_per_block / lanes` rows. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::Tuning`] for a `tuning` that is not valid with the step's elements, [`Error::Device`] where
    /// the driver refuses a launch or an earlier one has failed.
    ///
    /// # Safety
    /// The slices have the shapes that `step` tells of. Until the step is done (an event recorded after it
    /// has been waited for) they live, and nothing but this stream touches those rows of the panel and of V
    /// or writes the reflectors.
    pub unsafe fn trailing(
        &self,
        stream: &Stream,
        step: &Trailing<'_, T>,
        tuning: &Tuning,
    ) -> Result<(), Error> {
        let elements = step.elements;
        let tuning = Tuning { elements_per_thread: elements, ..*tuning };
        tuning.validate()?;
        let functions = if step.form == Form::Tensor { self.tensor } else { Some(self.trailing) };
        let place = ELEMENTS.iter().position(|&instance| instance == elements);
        let (Some(functions), Some(place)) = (functions, place) else {
            return Err(unfit(format!("no kernel for {elements} elements per thread, {:?}", step.form)));
        };
        if step.cols == 0 || step.passes == 0 || step.rows.is_empty() {
            return Ok(());
        }
        step.check();
        let lanes = step.form.lanes();
        let shared_bytes = step.form.shared_bytes::<T>(elements);
        let threads = tuning.threads_per_block;
        let mut first = step.rows.start;
        while first < step.rows.end {
            let wanted = ((step.rows.end - first) * lanes).div_ceil(threads);
            let blocks = wanted.min(tuning.blocks_per_kernel);
            let shape = Launch { blocks: (blocks, 1), threads, shared_bytes };
            // SAFETY: the function is the one of these arguments. Threads 0 .. blocks · threads own the rows
            // from `first` on and none from `rows.end` on, which lie in the slices; the caller vouches for
            // the rest.
            unsafe { step.launch(functions[place], stream, shape, first) }?;
            first += blocks * threads / lanes;
        }
        Ok(())
    }
}

/// Where a matrix is that [`Kernels::copy`] reads or writes: an address, and the scalars from one column to
/// the next.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub address: u64,
    pub stride: usize,
}

impl<T: Scalar> Kernels<T> {
    /// Asks for a copy of `rows` × `cols` scalars between device memory and page-locked host memory, either
    /// way, on `stream`. Unlike an upload or download it does not queue behind other copies.
    ///
    /// # Errors
    /// [`Error::Device`] where the driver refuses the launch or an earlier one has failed.
    ///
    /// # Safety
    /// Both places have room for that many columns; until the copy is done they live, nothing writes `from`
    /// and nothing but this stream uses `to`.
    pub unsafe fn copy(
        &self,
        stream: &Stream,
        (from, to): (Place, Place),
        (rows, cols): (usize, usize),
    ) -> Result<(), Error> {
        const THREADS: usize = 256;
        const BLOCKS: usize = 64;
        if rows == 0 || cols == 0 {
            return Ok(());
        }
        let (mut to_address, mut to_stride) = (to.address, to.stride as c_longlong);
        let (mut from_address, mut from_stride) = (from.address, from.stride as c_longlong);
        let (mut row_count, mut col_count) = (rows as c_longlong, cols as c_longlong);
        let mut arguments = [
            (&raw mut to_address).cast(),
            (&raw mut to_stride).cast(),
            (&raw mut from_address).cast(),
            (&raw mut from_stride).cast(),
            (&raw mut row_count).cast(),
            (&raw mut col_count).cast(),
        ];
        let blocks = (rows.div_ceil(THREADS).min(BLOCKS), cols.min(BLOCKS));
        let shape = Launch { blocks, threads: THREADS, shared_bytes: 0 };
        // SAFETY: six pointers to values of the types of the kernel's six parameters; the caller vouches for the
        // memory.
        unsafe { launch(self.copy, stream, shape, &mut arguments) }
    }
}

impl<T> Trailing<'_, T> {
    /// The contracts of both kernels, as far as they can be seen from here.
    fn check(&self) {
        let Self { panel, panel_stride, v, v_stride, reflectors, cols, passes, form, elements, rows } = self;
        let lanes = form.lanes();
        let columns = passes * lanes * elements;
        debug_assert!(matches!(lanes, 1 | 2 | 4 | 8), "lanes share a warp");
        debug_assert!(*form != Form::Tensor || size_of::<T>() == 8, "tensor cores are for double precision");
        debug_assert!(cols.is_multiple_of(GROUP), "columns come in groups");
        debug_assert!(rows.end <= *panel_stride || *cols == 1, "a column of the panel runs into the next");
        debug_assert!((cols - 1) * panel_stride + rows.end <= panel.len(), "the panel is too short");
        debug_assert!(rows.end <= *v_stride, "a column of V runs into the next");
        debug_assert!((columns - 1) * v_stride + rows.end <= v.len(), "V is too short");
        let scalars = passes * cols / GROUP * form.group_scalars::<T>(*elements);
        debug_assert!(scalars <= reflectors.len(), "too few reflectors");
        debug_assert!(reflectors.address().is_multiple_of(16), "the reflectors are not aligned");
    }

    /// The one place that knows the order of the kernel's arguments.
    ///
    /// # Safety
    /// `function` is an instance for `T` of the form's kernel, and its contract holds for these arguments.
    unsafe fn launch(
        &self,
        function: sys::CUfunction,
        stream: &Stream,
        shape: Launch,
        first: usize,
    ) -> Result<(), Error> {
        let mut panel = self.panel.address();
        let mut panel_stride = self.panel_stride as c_longlong;
        let mut v = self.v.address();
        let mut v_stride = self.v_stride as c_longlong;
        let mut reflectors = self.reflectors.address();
        let mut cols = self.cols as c_int;
        let mut passes = self.passes as c_int;
        let mut lanes = self.form.lanes() as c_int;
        let mut first = first as c_longlong;
        let mut end = self.rows.end as c_longlong;
        let mut arguments = [
            (&raw mut panel).cast(),
            (&raw mut panel_stride).cast(),
            (&raw mut v).cast(),
            (&raw mut v_stride).cast(),
            (&raw mut reflectors).cast(),
            (&raw mut cols).cast(),
            (&raw mut passes).cast(),
            (&raw mut lanes).cast(),
            (&raw mut first).cast(),
            (&raw mut end).cast(),
        ];
        // SAFETY: ten pointers to values of the types of the kernel's ten parameters.
        unsafe { launch(function, stream, shape, &mut arguments) }
    }
}
