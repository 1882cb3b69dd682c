//! The kernels of a modification, and for each the one function that launches it.

use crate::cuda::device::{Device, Module, failed};
use crate::cuda::kernels::{BULK, CHAIN, INVERT, Launch, launch};
use crate::cuda::memory::DeviceSlice;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::scalar::Scalar;
use core::ffi::{c_int, c_longlong, c_void};
use core::marker::PhantomData;
use core::ops::Range;
use cudarc::driver::{result, sys};
use std::sync::Arc;

/// Columns in a panel.
pub(super) const PANEL_COLS: usize = 64;
/// Columns of V that go together.
pub(super) const V_COLS: usize = 16;
/// Panels that a launch of the chain solves.
pub(super) const SOLVED: usize = 4;
/// Panels behind the bulk that a launch of the chain can look back to.
pub(super) const WINDOW: usize = 16;
/// Scalars of a panel's record that the bulk has at hand: P, N, M and how it goes.
const STAGED: usize = 2 * PANEL_COLS * V_COLS + 72 * 32 + 2;
/// Scalars of a panel's record, with a frame and G, and of the chain's state.
pub(super) const RECORD: usize = STAGED + 2 * V_COLS * V_COLS;
pub(super) const STATE: usize = (2 * SOLVED * PANEL_COLS + V_COLS) * V_COLS + 1;

/// Bytes of the two records that a block of the bulk has at hand.
const STAGED_BYTES: usize = 2 * STAGED * size_of::<f64>();
/// Threads of a block, and of one of the bulk.
const THREADS: usize = 256;
const BULK_THREADS: usize = 128;
/// Bytes of shared memory of a block of the chain: V, P, a small matrix, and so many tiles on their way.
const CHAIN_BYTES: usize = (SOLVED * PANEL_COLS + PANEL_COLS + V_COLS) * 20 * size_of::<f64>();
const TILE_BYTES: usize = PANEL_COLS * (PANEL_COLS + 4) * size_of::<f64>();
const TILES: [usize; 2] = [3, 1];
/// Rows of L for a block of the bulk, and of the group that is solved for one of the chain.
const BULK_ROWS: usize = 64;
const HEAD_ROWS: usize = 16;
/// Blocks of the chain that share those rows.
const SHARING: usize = 2;
/// Blocks of the chain that make the products of a panel.
const WEIGHING: usize = 4;

/// A pointer to an argument of a kernel, which lives until the launch.
pub(super) fn argument<A>(value: &mut A) -> *mut c_void {
    core::ptr::from_mut(value).cast()
}

/// A kernel, which keeps its module loaded.
pub(super) struct Function {
    handle: sys::CUfunction,
    shared_bytes: usize,
    _module: Arc<Module>,
}

// SAFETY: the driver takes function handles from any thread, and the module is kept.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    pub fn load(module: &Arc<Module>, name: &str, scalar: &str) -> Result<Self, Error> {
        Ok(Self {
            handle: module.function(&format!("{name}_{scalar}"))?,
            shared_bytes: 0,
            _module: module.clone(),
        })
    }

    /// With so many bytes of dynamic shared memory.
    fn with_shared(self, shared_bytes: usize) -> Result<Self, Error> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the module of the handle is kept, and loading it has bound the thread.
        unsafe { result::function::set_function_attribute(self.handle, attribute, shared_bytes as c_int) }
            .map_err(failed("asking for shared memory for a kernel"))?;
        Ok(Self { shared_bytes, ..self })
    }

    /// # Safety
    /// As [`launch`].
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        (blocks, threads): ((usize, usize), usize),
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let shape = Launch { blocks, threads, shared_bytes: self.shared_bytes };
        // SAFETY: forwarded to the caller.
        unsafe { launch(self.handle, stream, shape, arguments) }
    }
}

/// `invert.cu` for one scalar type.
pub(super) struct Inversion(Function);

impl Inversion {
    pub fn load<T: Scalar>(device: &Device) -> Result<Self, Error> {
        Ok(Self(Function::load(&device.module(INVERT)?, "invert", T::TYPE_NAME)?))
    }

    /// Asks for the inverses of the diagonal blocks of so many panels of L, which is given from the first one's
    /// diagonal entry on, with so many rows; and for whether each is one that loses digits.
    ///
    /// # Safety
    /// As `invert.cu` says; the slices live until it is done, and but for L are this stream's.
    pub unsafe fn ask<T: Scalar>(
        &self,
        stream: &Stream,
        (l, l_stride): (DeviceSlice<'_, T>, usize),
        (inverse, refine): (DeviceSlice<'_, f64>, DeviceSlice<'_, i32>),
        (panels, rows): (usize, usize),
    ) -> Result<(), Error> {
        debug_assert!(panels * PANEL_COLS.pow(2) <= inverse.len() && panels <= refine.len());
        let (mut l, mut stride) = (l.address(), l_stride as c_longlong);
        let (mut inverse, mut refine) = (inverse.address(), refine.address());
        let mut rows = rows as c_longlong;
        let mut arguments = [
            argument(&mut l),
            argument(&mut stride),
            argument(&mut inverse),
            argument(&mut refine),
            argument(&mut rows),
        ];
        // SAFETY: five arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe { self.0.launch(stream, ((panels, 1), THREADS), &mut arguments) }
    }
}

/// The kernels of a sweep for one scalar type.
pub(super) struct Steps<T> {
    /// Blocks of the bulk at once.
    at_once: usize,
    invert: Inversion,
    chain: Function,
    /// That the chain has on their way.
    tiles: usize,
    bulk: Function,
    scalar: PhantomData<T>,
}

/// L (n × n) from the diagonal entry of a sweep's first column on, as it was and as it will be; V from the same row
/// on, 16 columns of it; and what is kept of each panel. As `panel.cuh` has it.
#[derive(Clone, Copy)]
pub(super) struct Sweep<'a, T> {
    pub from: DeviceSlice<'a, T>,
    pub to: DeviceSlice<'a, T>,
    pub l_stride: usize,
    pub v: [DeviceSlice<'a, T>; 2],
    pub v_stride: usize,
    pub inverse: DeviceSlice<'a, f64>,
    pub refine: DeviceSlice<'a, i32>,
    pub records: DeviceSlice<'a, f64>,
    pub state: DeviceSlice<'a, f64>,
    pub pivots: DeviceSlice<'a, T>,
    pub status: DeviceSlice<'a, i32>,
    pub arrived: DeviceSlice<'a, i32>,
    pub n: usize,
    /// The number of the first column.
    pub number: usize,
    /// 1 or −1.
    pub sign: f64,
}

/// [`Sweep`] as the kernels take it.
#[repr(C)]
struct Arguments {
    from: u64,
    to: u64,
    l_stride: c_longlong,
    v: [u64; 2],
    v_stride: c_longlong,
    inverse: u64,
    refine: u64,
    records: u64,
    state: u64,
    pivots: u64,
    status: u64,
    arrived: u64,
    n: c_longlong,
    number: c_longlong,
    sign: f64,
}

impl<T: Scalar> Sweep<'_, T> {
    pub fn panels(&self) -> usize {
        self.n.div_ceil(PANEL_COLS)
    }

    fn arguments(&self) -> Arguments {
        let panels = self.panels();
        let entries = (self.n - 1) * (self.l_stride + 1) + 1;
        debug_assert!(self.from.len() >= entries && self.to.len() >= entries, "L is too short");
        let entries = (V_COLS - 1) * self.v_stride + self.n;
        debug_assert!(self.v.iter().all(|v| v.len() >= entries), "V is too short");
        debug_assert!(self.inverse.len() >= panels * PANEL_COLS.pow(2) && self.refine.len() >= panels);
        debug_assert!(self.records.len() >= panels * RECORD && self.state.len() >= STATE);
        debug_assert!(self.pivots.len() >= self.n && self.status.len() + self.arrived.len() >= 2);
        Arguments {
            from: self.from.address(),
            to: self.to.address(),
            l_stride: self.l_stride as c_longlong,
            v: self.v.map(|v| v.address()),
            v_stride: self.v_stride as c_longlong,
            inverse: self.inverse.address(),
            refine: self.refine.address(),
            records: self.records.address(),
            state: self.state.address(),
            pivots: self.pivots.address(),
            status: self.status.address(),
            arrived: self.arrived.address(),
            n: self.n as c_longlong,
            number: self.number as c_longlong,
            sign: self.sign,
        }
    }
}

impl<T: Scalar> Steps<T> {
    pub fn load(device: &Device) -> Result<Self, Error> {
        /// That fit a multiprocessor.
        const BLOCKS: usize = 3;
        let function = |ptx, name| Function::load(&device.module(ptx)?, name, T::TYPE_NAME);
        let room = device.shared_bytes()?;
        let tiles = TILES.into_iter().find(|tiles| CHAIN_BYTES + tiles * TILE_BYTES <= room).unwrap_or(1);
        Ok(Self {
            at_once: BLOCKS * device.multiprocessors(),
            invert: Inversion::load::<T>(device)?,
            chain: function(CHAIN.on(device), "chain")?.with_shared(CHAIN_BYTES + tiles * TILE_BYTES)?,
            tiles,
            bulk: function(BULK.on(device), "bulk")?.with_shared(STAGED_BYTES)?,
            scalar: PhantomData,
        })
    }

    /// Asks for the inverses of these panels' diagonal blocks.
    ///
    /// # Safety
    /// As [`Inversion::ask`].
    pub unsafe fn invert(
        &self,
        stream: &Stream,
        sweep: &Sweep<'_, T>,
        panels: Range<usize>,
    ) -> Result<(), Error> {
        let first = panels.start * PANEL_COLS;
        let l = sweep.from.part(first * (sweep.l_stride + 1)..sweep.from.len());
        let inverse = sweep.inverse.part(first * PANEL_COLS..sweep.inverse.len());
        let refine = sweep.refine.part(panels.start..sweep.refine.len());
        // SAFETY: forwarded to the caller.
        unsafe {
            self.invert.ask(stream, (l, sweep.l_stride), (inverse, refine), (panels.len(), sweep.n - first))
        }
    }

    /// Asks for the products of the [`SOLVED`] panels before `next`, which are solved, and for those from there on,
    /// as many as there are, to be solved, from V as it is behind the panels before `window`.
    ///
    /// # Safety
    /// As `chain.cu` says; the slices live until it is done, and but for L, V and the pivots are this stream's.
    pub unsafe fn chain(
        &self,
        stream: &Stream,
        sweep: &Sweep<'_, T>,
        next: usize,
        window: usize,
    ) -> Result<(), Error> {
        debug_assert!(next.is_multiple_of(SOLVED) && (window..=window + WINDOW).contains(&next));
        let panels = sweep.panels();
        let rows = sweep.n.saturating_sub(next * PANEL_COLS).min(SOLVED * PANEL_COLS);
        let weighed = next.saturating_sub(SOLVED);
        let heads = rows.div_ceil(HEAD_ROWS) * SHARING;
        let blocks = heads + (next.min(panels) - weighed) * WEIGHING;
        let mut arguments = sweep.arguments();
        let (mut window, mut weighed) = (window as c_int, weighed as c_int);
        let (mut next, mut heads, mut tiles) = (next as c_int, heads as c_int, self.tiles as c_int);
        let mut arguments = [
            argument(&mut arguments),
            argument(&mut window),
            argument(&mut weighed),
            argument(&mut next),
            argument(&mut heads),
            argument(&mut tiles),
        ];
        // SAFETY: six arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe { self.chain.launch(stream, ((blocks, 1), THREADS), &mut arguments) }
    }

    /// Asks for all rows of L and V through these panels, V from the buffer of this number into the other.
    ///
    /// # Safety
    /// As `bulk.cu` says; the slices live until it is done, and the new L and the other V are this stream's.
    pub unsafe fn bulk(
        &self,
        stream: &Stream,
        sweep: &Sweep<'_, T>,
        panels: Range<usize>,
        buffer: usize,
    ) -> Result<(), Error> {
        debug_assert!(panels.end <= sweep.panels() && buffer < 2);
        let rows = sweep.n - panels.start * PANEL_COLS;
        let blocks = rows.div_ceil(BULK_ROWS).min(self.at_once);
        let mut arguments = sweep.arguments();
        let (mut first, mut count) = (panels.start as c_int, panels.len() as c_int);
        let mut buffer = buffer as c_int;
        let mut arguments =
            [argument(&mut arguments), argument(&mut first), argument(&mut count), argument(&mut buffer)];
        // SAFETY: four arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe { self.bulk.launch(stream, ((blocks, 1), BULK_THREADS), &mut arguments) }
    }
}
