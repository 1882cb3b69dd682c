//! The kernels of a modification, and for each the one function that launches it.

use crate::cuda::device::{Device, Module};
use crate::cuda::kernels::{CHAIN, INVERT, Launch, REFLECT, launch};
use crate::cuda::memory::DeviceSlice;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::scalar::Scalar;
use core::ffi::{c_int, c_longlong, c_void};
use core::marker::PhantomData;
use cudarc::driver::sys;
use std::sync::Arc;

/// Columns in a panel, and rows that a block of threads of `chain.cu` takes.
pub(super) const PANEL_COLS: usize = 64;
/// Columns of V that go together.
pub(super) const V_COLS: usize = 16;

/// A pointer to an argument of a kernel, which lives until the launch.
pub(super) fn argument<A>(value: &mut A) -> *mut c_void {
    core::ptr::from_mut(value).cast()
}

/// A kernel, which keeps its module loaded.
pub(super) struct Function {
    handle: sys::CUfunction,
    _module: Arc<Module>,
}

// SAFETY: the driver takes function handles from any thread, and the module is kept.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    pub fn load(module: &Arc<Module>, name: &str, scalar: &str) -> Result<Self, Error> {
        Ok(Self { handle: module.function(&format!("{name}_{scalar}"))?, _module: module.clone() })
    }

    /// # Safety
    /// As [`launch`].
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        (blocks, threads): ((usize, usize), usize),
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error> {
        // SAFETY: forwarded to the caller.
        unsafe { launch(self.handle, stream, Launch { blocks, threads, shared_bytes: 0 }, arguments) }
    }
}

/// `invert.cu`, `chain.cu` and `reflect.cu` for one scalar type.
pub(super) struct Steps<T> {
    /// Blocks of threads of the chain: one to a multiprocessor, which has room for it beside the bulk.
    at_once: usize,
    invert: Function,
    chain: Function,
    reflect: Function,
    turn: Function,
    settle: Function,
    scalar: PhantomData<T>,
}

/// L from a panel's first diagonal entry on.
#[derive(Clone, Copy)]
pub(super) struct Block<'a, T> {
    pub l: DeviceSlice<'a, T>,
    pub stride: usize,
    /// Rows of L from this diagonal entry on.
    pub rows: usize,
}

/// V from the same row on, [`V_COLS`] columns of it.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    pub v: DeviceSlice<'a, T>,
    pub stride: usize,
    /// 1 or −1.
    pub sign: f64,
}

/// What is kept of each panel, from the same one on.
#[derive(Clone, Copy)]
pub(super) struct Kept<'a, T> {
    /// D⁻¹ (64 × 64).
    pub inverse: DeviceSlice<'a, f64>,
    /// P (64 × 16).
    pub p: DeviceSlice<'a, f64>,
    /// R and then q (16 × 16).
    pub turn: DeviceSlice<'a, f64>,
    /// Whether P is small.
    pub small: DeviceSlice<'a, i32>,
    pub reflectors: DeviceSlice<'a, T>,
}

impl<T: Scalar> Steps<T> {
    pub fn load(device: &Device) -> Result<Self, Error> {
        let (chain, reflect) = (device.module(CHAIN)?, device.module(REFLECT)?);
        Ok(Self {
            at_once: device.multiprocessors(),
            invert: Function::load(&device.module(INVERT)?, "invert", T::TYPE_NAME)?,
            chain: Function::load(&chain, "chain", T::TYPE_NAME)?,
            reflect: Function::load(&reflect, "reflect", T::TYPE_NAME)?,
            turn: Function::load(&reflect, "turn", T::TYPE_NAME)?,
            settle: Function::load(&reflect, "settle", T::TYPE_NAME)?,
            scalar: PhantomData,
        })
    }

    /// Asks for D⁻¹ of `panels` panels with rows below.
    ///
    /// # Safety
    /// As `invert.cu` says; the slices live until it is done, and the inverses are this stream's.
    pub unsafe fn invert(
        &self,
        stream: &Stream,
        block: &Block<'_, T>,
        kept: &Kept<'_, T>,
        panels: usize,
    ) -> Result<(), Error> {
        debug_assert!(panels * PANEL_COLS < block.rows && panels * PANEL_COLS.pow(2) <= kept.inverse.len());
        let (mut l, mut stride) = (block.l.address(), block.stride as c_longlong);
        let mut inverse = kept.inverse.address();
        let mut arguments = [argument(&mut l), argument(&mut stride), argument(&mut inverse)];
        // SAFETY: three arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe { self.invert.launch(stream, ((panels, 1), PANEL_COLS), &mut arguments) }
    }

    /// Asks for what a panel does to the rows of V below it.
    ///
    /// # Safety
    /// As `chain.cu` says; the slices live until it is done, and but for L are this stream's.
    pub unsafe fn chain(
        &self,
        stream: &Stream,
        block: &Block<'_, T>,
        rows: &Rows<'_, T>,
        kept: &Kept<'_, T>,
    ) -> Result<(), Error> {
        debug_assert!(block.rows > PANEL_COLS);
        let (mut l, mut l_stride) = (block.l.address(), block.stride as c_longlong);
        let (mut v, mut v_stride) = (rows.v.address(), rows.stride as c_longlong);
        let (mut inverse, mut p) = (kept.inverse.address(), kept.p.address());
        let (mut turn, mut small) = (kept.turn.address(), kept.small.address());
        let (mut below, mut sign) = ((block.rows - PANEL_COLS) as c_longlong, rows.sign);
        let blocks = (block.rows - PANEL_COLS).div_ceil(PANEL_COLS).min(self.at_once);
        let mut arguments = [
            argument(&mut l),
            argument(&mut l_stride),
            argument(&mut inverse),
            argument(&mut v),
            argument(&mut v_stride),
            argument(&mut p),
            argument(&mut turn),
            argument(&mut small),
            argument(&mut below),
            argument(&mut sign),
        ];
        // SAFETY: ten arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe { self.chain.launch(stream, ((blocks, 1), 256), &mut arguments) }
    }

    /// Asks for the reflectors of `panels` panels, and where the last of them is the last of all for its new
    /// diagonal block at `target`. `first`: the number of the first column.
    ///
    /// # Safety
    /// As `reflect.cu` says; the slices live until it is done, and but for L are this stream's.
    pub unsafe fn reflect(
        &self,
        stream: &Stream,
        (block, target): (&Block<'_, T>, DeviceSlice<'_, T>),
        rows: &Rows<'_, T>,
        kept: &Kept<'_, T>,
        (pivots, status): (DeviceSlice<'_, T>, DeviceSlice<'_, i32>),
        (first, panels): (usize, usize),
    ) -> Result<(), Error> {
        let taken = block.rows.min(panels * PANEL_COLS);
        debug_assert!(taken > (panels - 1) * PANEL_COLS);
        let (mut l, mut l_stride) = (block.l.address(), block.stride as c_longlong);
        let (mut v, mut v_stride) = (rows.v.address(), rows.stride as c_longlong);
        let (mut p, mut turn, mut small) = (kept.p.address(), kept.turn.address(), kept.small.address());
        let (mut reflectors, mut target) = (kept.reflectors.address(), target.address());
        let (mut taken, mut last) = (taken as c_int, c_int::from(taken == block.rows));
        let (mut sign, mut first) = (rows.sign, first as c_longlong);
        let (mut pivots, mut status) = (pivots.address(), status.address());
        let mut arguments = [
            argument(&mut l),
            argument(&mut l_stride),
            argument(&mut v),
            argument(&mut v_stride),
            argument(&mut p),
            argument(&mut turn),
            argument(&mut small),
            argument(&mut reflectors),
            argument(&mut target),
            argument(&mut pivots),
            argument(&mut taken),
            argument(&mut last),
            argument(&mut sign),
            argument(&mut first),
            argument(&mut status),
        ];
        // SAFETY: fifteen arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe { self.reflect.launch(stream, ((panels, 1), 320), &mut arguments) }
    }

    /// Asks for the reflectors of `panels` panels in the terms of the V that they go over. `carried`: Q behind the
    /// panel before, nothing before the first; `carry`: where Q behind the last goes.
    ///
    /// # Safety
    /// As `reflect.cu` says; the slices live until it is done, and are this stream's.
    pub unsafe fn turn(
        &self,
        stream: &Stream,
        kept: &Kept<'_, T>,
        (carried, carry): (Option<DeviceSlice<'_, f64>>, DeviceSlice<'_, f64>),
        panels: usize,
    ) -> Result<(), Error> {
        debug_assert!(panels * V_COLS.pow(2) <= kept.turn.len());
        let (mut turn, mut reflectors) = (kept.turn.address(), kept.reflectors.address());
        let mut fresh = c_int::from(carried.is_none());
        let (mut carried, mut carry) = (carried.unwrap_or(carry).address(), carry.address());
        let mut arguments = [
            argument(&mut turn),
            argument(&mut carried),
            argument(&mut carry),
            argument(&mut fresh),
            argument(&mut reflectors),
        ];
        // SAFETY: five arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe { self.turn.launch(stream, ((panels, 1), 256), &mut arguments) }
    }

    /// Asks for the new diagonal to go into L from `block` on.
    ///
    /// # Safety
    /// Both live until it is done, and this L is this stream's.
    pub unsafe fn settle(
        &self,
        stream: &Stream,
        block: &Block<'_, T>,
        pivots: DeviceSlice<'_, T>,
    ) -> Result<(), Error> {
        const THREADS: usize = 128;
        debug_assert!(pivots.len() == block.rows);
        let (mut l, mut stride) = (block.l.address(), (block.stride + 1) as c_longlong);
        let (mut pivots, mut count) = (pivots.address(), block.rows as c_longlong);
        let mut arguments =
            [argument(&mut l), argument(&mut stride), argument(&mut pivots), argument(&mut count)];
        // SAFETY: four arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe { self.settle.launch(stream, ((block.rows.div_ceil(THREADS), 1), THREADS), &mut arguments) }
    }
}
