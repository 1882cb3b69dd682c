//! The kernels of triangular systems, and for each the one function that launches it.

use super::steps::{Function, argument};
use crate::cuda::device::Device;
use crate::cuda::kernels::SOLVE;
use crate::cuda::memory::DeviceSlice;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::scalar::Scalar;
use core::ffi::{c_int, c_longlong};
use core::marker::PhantomData;

/// `solve.cu` for one scalar type.
pub(super) struct SolveSteps<T> {
    forward: Function,
    backward: Function,
    below: Function,
    above: Function,
    scalar: PhantomData<T>,
}

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
        let function = |name: &str| Function::load(&module, &format!("solve_{name}"), T::TYPE_NAME);
        Ok(Self {
            forward: function("forward")?,
            backward: function("backward")?,
            below: function("below")?,
            above: function("above")?,
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
            self.block(stream, system, &self.forward)?;
            let blocks = system.below.div_ceil(THREADS);
            self.rest(stream, system, &self.below, (blocks, THREADS))
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
            self.rest(stream, system, &self.above, (system.cols, THREADS))?;
            self.block(stream, system, &self.backward)
        }
    }

    unsafe fn block(
        &self,
        stream: &Stream,
        system: &System<'_, T>,
        function: &Function,
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
        unsafe { function.launch(stream, ((system.count, 1), THREADS), &mut arguments) }
    }

    unsafe fn rest(
        &self,
        stream: &Stream,
        system: &System<'_, T>,
        function: &Function,
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
        unsafe { function.launch(stream, ((blocks, system.count), threads), &mut arguments) }
    }
}
