//! The kernels of the resident engine, and for each the one function that launches it.

use crate::cuda::device::{Device, Module};
use crate::cuda::kernels::{DIAGONAL, Launch, SOLVE, launch};
use crate::cuda::memory::DeviceSlice;
use crate::cuda::passes::Passes;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::plan::Panel;
use crate::scalar::Scalar;
use core::ffi::{c_int, c_longlong, c_void};
use core::marker::PhantomData;
use cudarc::driver::sys;
use std::sync::Arc;

/// The values of E that `diagonal.cu` is instantiated for.
const ELEMENTS: [usize; 3] = [4, 8, 16];

/// A pointer to an argument of a kernel, which lives until the launch.
fn argument<A>(value: &mut A) -> *mut c_void {
    core::ptr::from_mut(value).cast()
}

/// `diagonal.cu` for one scalar type.
pub(super) struct DiagonalStep<T> {
    functions: [sys::CUfunction; ELEMENTS.len()],
    /// Keeps the functions loaded.
    _module: Arc<Module>,
    scalar: PhantomData<T>,
}

// SAFETY: the driver takes function handles from any thread, and the module is kept.
unsafe impl<T: Scalar> Send for DiagonalStep<T> {}
// SAFETY: as above.
unsafe impl<T: Scalar> Sync for DiagonalStep<T> {}

/// What a diagonal step works on; all slices begin where the panel does.
pub(super) struct Diagonal<'a, T> {
    pub l: DeviceSlice<'a, T>,
    pub l_stride: usize,
    /// Rows of L under the block.
    pub below: usize,
    pub v: DeviceSlice<'a, T>,
    pub v_stride: usize,
    pub reflectors: DeviceSlice<'a, T>,
    pub pivots: DeviceSlice<'a, T>,
    pub status: DeviceSlice<'a, i32>,
}

impl<T: Scalar> DiagonalStep<T> {
    pub fn load(device: &Device) -> Result<Self, Error> {
        let module = device.module(DIAGONAL)?;
        let mut functions = [core::ptr::null_mut(); ELEMENTS.len()];
        for (function, elements) in functions.iter_mut().zip(ELEMENTS) {
            *function = module.function(&format!("diagonal_{}_e{elements}", T::TYPE_NAME))?;
        }
        Ok(Self { functions, _module: module, scalar: PhantomData })
    }

    /// Asks for the diagonal step of `panel` in all passes.
    ///
    /// # Safety
    /// The slices have the shapes that `diagonal.cu` tells of, live until it is done, and are this stream's.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        step: &Diagonal<'_, T>,
        panel: Panel,
        panel_cols: usize,
        passes: &Passes,
    ) -> Result<(), Error> {
        let place = ELEMENTS.iter().position(|&e| e == passes.elements).unwrap_or(ELEMENTS.len() - 1);
        debug_assert!(ELEMENTS[place] == passes.elements && panel.cols <= panel_cols && panel_cols <= 64);
        let mut addresses =
            [step.l.address(), step.v.address(), step.reflectors.address(), step.pivots.address()];
        let [l, v, reflectors, pivots] = addresses.each_mut().map(argument);
        let (mut l_stride, mut v_stride) = (step.l_stride as c_longlong, step.v_stride as c_longlong);
        let (mut cols, mut panel_cols) = (panel.cols as c_int, panel_cols as c_int);
        let mut below = step.below.min(c_int::MAX as usize) as c_int;
        let (mut count, mut plus) = (passes.count() as c_int, passes.all_plus() as c_int);
        let (mut first, mut status) = (panel.first as c_longlong, step.status.address());
        let mut arguments = [
            l,
            argument(&mut l_stride),
            v,
            argument(&mut v_stride),
            reflectors,
            pivots,
            argument(&mut cols),
            argument(&mut below),
            argument(&mut panel_cols),
            argument(&mut count),
            argument(&mut plus),
            argument(&mut first),
            argument(&mut status),
        ];
        // SAFETY: thirteen arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe {
            launch(
                self.functions[place],
                stream,
                Launch { blocks: (1, 1), threads: 256, shared_bytes: 0 },
                &mut arguments,
            )
        }
    }
}

/// `solve.cu` for one scalar type.
pub(super) struct SolveSteps<T> {
    forward: sys::CUfunction,
    backward: sys::CUfunction,
    below: sys::CUfunction,
    above: sys::CUfunction,
    /// Keeps the functions loaded.
    _module: Arc<Module>,
    scalar: PhantomData<T>,
}

// SAFETY: as for `DiagonalStep`.
unsafe impl<T: Scalar> Send for SolveSteps<T> {}
// SAFETY: as above.
unsafe impl<T: Scalar> Sync for SolveSteps<T> {}

/// A panel of L and the rows of the right-hand sides from its first on.
pub(super) struct System<'a, T> {
    pub l: DeviceSlice<'a, T>,
    pub l_stride: usize,
    pub x: DeviceSlice<'a, T>,
    pub x_stride: usize,
    pub cols: usize,
    /// Rows under the diagonal block.
    pub below: usize,
    /// Right-hand sides.
    pub count: usize,
}

impl<T: Scalar> SolveSteps<T> {
    pub fn load(device: &Device) -> Result<Self, Error> {
        let module = device.module(SOLVE)?;
        let function = |name: &str| module.function(&format!("solve_{name}_{}", T::TYPE_NAME));
        Ok(Self {
            forward: function("forward")?,
            backward: function("backward")?,
            below: function("below")?,
            above: function("above")?,
            _module: module.clone(),
            scalar: PhantomData,
        })
    }

    /// Asks for the diagonal block's system, then for what it takes from the rows below.
    ///
    /// # Safety
    /// The slices have the shapes that `solve.cu` tells of, live until it is done, and are this stream's.
    pub unsafe fn forward(&self, stream: &Stream, system: &System<'_, T>) -> Result<(), Error> {
        const THREADS: usize = 128;
        // SAFETY: forwarded to the caller.
        unsafe {
            self.block(stream, system, self.forward)?;
            let blocks = system.below.div_ceil(THREADS);
            self.rest(stream, system, self.below, (blocks, THREADS))
        }
    }

    /// Asks for what the rows below take, then for the transposed diagonal block's system.
    ///
    /// # Safety
    /// As `forward`.
    pub unsafe fn backward(&self, stream: &Stream, system: &System<'_, T>) -> Result<(), Error> {
        const THREADS: usize = 256;
        // SAFETY: forwarded to the caller.
        unsafe {
            self.rest(stream, system, self.above, (system.cols, THREADS))?;
            self.block(stream, system, self.backward)
        }
    }

    unsafe fn block(
        &self,
        stream: &Stream,
        system: &System<'_, T>,
        function: sys::CUfunction,
    ) -> Result<(), Error> {
        const THREADS: usize = 64;
        let (mut l, mut x) = (system.l.address(), system.x.address());
        let (mut l_stride, mut x_stride) = (system.l_stride as c_longlong, system.x_stride as c_longlong);
        let mut cols = system.cols as c_int;
        let mut arguments = [
            argument(&mut l),
            argument(&mut l_stride),
            argument(&mut x),
            argument(&mut x_stride),
            argument(&mut cols),
        ];
        // SAFETY: five arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe {
            launch(
                function,
                stream,
                Launch { blocks: (system.count, 1), threads: THREADS, shared_bytes: 0 },
                &mut arguments,
            )
        }
    }

    unsafe fn rest(
        &self,
        stream: &Stream,
        system: &System<'_, T>,
        function: sys::CUfunction,
        (blocks, threads): (usize, usize),
    ) -> Result<(), Error> {
        if system.below == 0 {
            return Ok(());
        }
        let (mut l, mut x) = (system.l.address(), system.x.address());
        let (mut l_stride, mut x_stride) = (system.l_stride as c_longlong, system.x_stride as c_longlong);
        let (mut cols, mut below) = (system.cols as c_int, system.below as c_longlong);
        let mut arguments = [
            argument(&mut l),
            argument(&mut l_stride),
            argument(&mut x),
            argument(&mut x_stride),
            argument(&mut cols),
            argument(&mut below),
        ];
        // SAFETY: six arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe {
            launch(
                function,
                stream,
                Launch { blocks: (blocks, system.count), threads, shared_bytes: 0 },
                &mut arguments,
            )
        }
    }
}
