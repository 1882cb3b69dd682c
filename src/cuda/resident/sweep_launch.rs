//! The kernels of the sweeps, one for each width of rank blocks, with the one function that launches them.

use super::schedule::{KIND_SHIFT, Kind, RANGE_SHIFT, RANK_BLOCK_SHIFT, Schedule};
use super::sizes::{PANEL_COLS, ROW_BLOCK_PANELS};
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::layout::Layout;
use crate::cuda::memory::DeviceSlice;
use crate::cuda::module::Module;
use crate::cuda::ptx::{SWEEP, SWEEP_DISTRIBUTED, SWEEP_WIDE, SWEEP_WIDE_DISTRIBUTED};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use crate::sweep::rank_blocks::RankBlocks;
use core::ffi::{c_int, c_longlong};
use core::marker::PhantomData;
use core::mem::offset_of;
use std::sync::Arc;

/// Columns of V in a rank block, narrow or wide.
pub(in crate::cuda) const NARROW: usize = 16;
pub(in crate::cuda) const WIDE: usize = 32;
/// The most sweeps of a launch.
pub(in crate::cuda) const SWEEPS_OF_LAUNCH: usize = 16;
/// The status if nothing broke down: no column number is as large.
pub(in crate::cuda) const WHOLE: i32 = i32::MAX;
/// Threads of a block.
pub(in crate::cuda) const THREADS: usize = 256;
/// The most records or tiles for which a block has shared memory.
const MAX_SLOTS: usize = 3;

/// Constants on which host and kernels agree, except the sizes that the host reads from the kernels.
const LAYOUT: [(&str, usize); 20] = [
    ("PANEL_COLS", PANEL_COLS),
    ("ROW_BLOCK_PANELS", ROW_BLOCK_PANELS),
    ("THREADS", THREADS),
    ("KIND_FORWARDING", Kind::Forwarding as usize),
    ("KIND_INVERTING", Kind::Inverting as usize),
    ("KIND_CRITICAL_PATH", Kind::CriticalPath as usize),
    ("KIND_UPDATE", Kind::Update as usize),
    ("RANGE_SHIFT", RANGE_SHIFT),
    ("RANK_BLOCK_SHIFT", RANK_BLOCK_SHIFT),
    ("KIND_SHIFT", KIND_SHIFT),
    ("MAX_ROW_BLOCKS", 1 << RANGE_SHIFT),
    ("MAX_RANGES", 1 << (RANK_BLOCK_SHIFT - RANGE_SHIFT)),
    ("MAX_RANK_BLOCKS", 1 << (KIND_SHIFT - RANK_BLOCK_SHIFT)),
    ("COMMON_FLAGS", 1),
    ("FLAGS_PER_PANEL", 1),
    ("FLAGS_PER_RANGE", 2),
    ("MAX_SLOTS", MAX_SLOTS),
    ("LAUNCH_BYTES", size_of::<Arguments>()),
    ("MAX_PEERS", MAX_PEERS),
    ("PEERS_BYTES", size_of::<Peers>()),
];

/// The kernel of sweeps for one scalar type and one width of rank blocks.
pub(in crate::cuda) struct SweepKernel<T> {
    sweep: Function,
    width: usize,
    /// For records or tiles, for which a block has shared memory.
    slots: usize,
    shared_bytes: usize,
    /// Scalars of a panel's record.
    record: usize,
    fills_next: bool,
    scalar: PhantomData<T>,
}

/// The arguments of sweeps over L (n × n) from the diagonal entry of their first column on: the old and the new L; V from the
/// same row on, a rank block for each sweep; and the data kept about each panel. As in `resident/sweep_args.cuh`.
#[derive(Clone, Copy)]
pub(in crate::cuda) struct ResidentSweeps<'a, T> {
    pub from: DeviceSlice<'a, T>,
    pub to: DeviceSlice<'a, T>,
    pub l_stride: usize,
    pub v: DeviceSlice<'a, T>,
    pub v_stride: usize,
    pub inverse: DeviceSlice<'a, f64>,
    pub refine: DeviceSlice<'a, i32>,
    /// All bits one initially.
    pub records: DeviceSlice<'a, f64>,
    pub saved_v: DeviceSlice<'a, f64>,
    /// For all columns of L. As the status in host memory that is mapped, or in device memory.
    pub pivots: DeviceSlice<'a, T>,
    /// One word.
    pub status: DeviceSlice<'a, i32>,
    /// Zeros initially.
    pub flags: DeviceSlice<'a, i32>,
    pub n: usize,
    /// Index of the first column.
    pub number: usize,
    /// The number of sweeps.
    pub count: usize,
    /// The rank blocks of the whole V, and the one of the first sweep.
    pub blocks: RankBlocks,
    pub first: usize,
    /// The words of the schedule.
    pub schedule: Schedule,
    pub tasks: DeviceSlice<'a, i32>,
    /// Memory that is filled for the next launch; both are of one sweep, with this schedule.
    pub next: Option<Filled<'a>>,
    /// In a launch over several devices, which has its own kernel.
    pub peers: Option<Peers>,
}

/// The memory that sweeps find and leave filled.
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Filled<'a> {
    /// All bits one.
    pub records: DeviceSlice<'a, f64>,
    /// Zeros.
    pub flags: DeviceSlice<'a, i32>,
}

impl Filled<'_> {
    pub fn nothing() -> Self {
        Self { records: DeviceSlice::empty(), flags: DeviceSlice::empty() }
    }

    /// Enqueues the filling.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it is done, the memory exists and only the stream uses it.
    pub unsafe fn reset(self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe {
            stream.clear(self.flags)?;
            stream.fill(self.records, u8::MAX)
        }
    }
}

/// The other devices of a launch over several: `resident/peers.cuh`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Peers {
    pub count: c_int,
    /// Addresses of this device's first flag, of the word in host memory that ends the launch, and of the table of row blocks,
    /// from the first one of the sweep on.
    pub taken: u64,
    pub stop: u64,
    pub row_blocks: u64,
    /// For each of the other devices, the distances in bytes from its records and flags to those of this one.
    pub records: [c_longlong; MAX_PEERS],
    pub flags: [c_longlong; MAX_PEERS],
}

/// The most devices besides the first.
pub(in crate::cuda) const MAX_PEERS: usize = 15;

/// How a kernel of sweeps is compiled.
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Variant {
    /// Columns of a rank block.
    pub width: usize,
    /// For a launch over several devices.
    pub distributed: bool,
}

/// The arguments of a launch, each with its name in the kernel's layout, its type, and its value for these sweeps.
macro_rules! arguments {
    (of $sweeps:ident; $($name:literal $field:ident: $type:ty = $value:expr;)*) => {
        /// [`ResidentSweeps`] in the kernel's layout.
        #[repr(C)]
        struct Arguments {
            $($field: $type,)*
        }

        impl Arguments {
            const OFFSETS: &[(&str, usize)] = &[$(($name, offset_of!(Arguments, $field)),)*];

            fn new<T: Real>($sweeps: &ResidentSweeps<'_, T>) -> Self {
                Self { $($field: $value,)* }
            }
        }
    };
}

arguments! { of sweeps;
    "AT_FROM" from: u64 = sweeps.from.address();
    "AT_TO" to: u64 = sweeps.to.address();
    "AT_L_STRIDE" l_stride: c_longlong = sweeps.l_stride as c_longlong;
    "AT_V" v: u64 = sweeps.v.address();
    "AT_V_STRIDE" v_stride: c_longlong = sweeps.v_stride as c_longlong;
    "AT_INVERSE" inverse: u64 = sweeps.inverse.address();
    "AT_REFINE" refine: u64 = sweeps.refine.address();
    "AT_RECORDS" records: u64 = sweeps.records.address();
    "AT_PIVOTS" pivots: u64 = sweeps.pivots.part(sweeps.number..sweeps.pivots.len()).address();
    "AT_STATUS" status: u64 = sweeps.status.address();
    "AT_SAVED_V" saved_v: u64 = sweeps.saved_v.address();
    "AT_FLAGS" flags: u64 = sweeps.flags.address();
    // The kernel sets this and the sign for each sweep.
    "AT_FLAGS_BEFORE" flags_before: u64 = 0;
    "AT_N" n: c_longlong = sweeps.n as c_longlong;
    "AT_FIRST_COLUMN" first_column: c_longlong = sweeps.number as c_longlong;
    "AT_SIGN" sign: f64 = 0.0;
    // As the flags.
    "AT_PEERS" peers: u64 = 0;
    "AT_PLUS" plus: c_int = sweeps.blocks.count_plus() as c_int - sweeps.first as c_int;
    "AT_LAST_PLUS" last_plus: c_int = sweeps.blocks.columns_of(sweeps.blocks.count_plus().saturating_sub(1)) as c_int;
    "AT_FIRST_MINUS" first_minus: c_int = sweeps.blocks.columns_of(sweeps.blocks.count_plus()) as c_int;
    "AT_RANGE_PANELS" range_panels: c_int = sweeps.schedule.range_panels() as c_int;
    "AT_V_SLOTS" v_slots: c_int = sweeps.schedule.v_slots() as c_int;
    "AT_TASKS" tasks: u64 = sweeps.tasks.address();
    "AT_NEXT_RECORDS" next_records: u64 = sweeps.next.map_or(0, |next| next.records.address());
    "AT_NEXT_FLAGS" next_flags: u64 = sweeps.next.map_or(0, |next| next.flags.address());
}

/// The number of flags for a schedule: one for the number of thread blocks that have started, and for each sweep one for each
/// panel and two for each row block and panel range.
pub(in crate::cuda) fn flags(schedule: Schedule) -> usize {
    let (panels, sweeps) = (schedule.panels(), schedule.sweeps());
    1 + sweeps * (panels + 2 * panels.div_ceil(ROW_BLOCK_PANELS) * panels.div_ceil(schedule.range_panels()))
}

/// Scalars of V that are saved between panel ranges, for rank blocks of this width.
pub(in crate::cuda) fn saved_v(schedule: Schedule, width: usize) -> usize {
    let row_blocks = schedule.sweeps() * schedule.panels().div_ceil(ROW_BLOCK_PANELS);
    row_blocks * schedule.v_slots() * ROW_BLOCK_PANELS * PANEL_COLS * width
}

/// Whether the device has the shared memory for wide rank blocks.
///
/// # Errors
/// [`Error::Device`] if the driver fails.
pub(in crate::cuda) fn has_room_for_wide<T: Real>(device: &Device, distributed: bool) -> Result<bool, Error> {
    if device.compute_capability() < (9, 0) {
        return Ok(false);
    }
    let (name, module) = module(device, Variant { width: WIDE, distributed })?;
    let layout = module.layout(name)?;
    let (front, slot) = room::<T>(layout)?;
    Ok(device.shared_bytes()? >= front + layout.size("MIN_SLOTS")? * slot)
}

/// The module with the kernels of this variant, and its name.
fn module(device: &Device, variant: Variant) -> Result<(&'static str, Arc<Module>), Error> {
    let capability = device.compute_capability();
    let (name, ptx) = match (variant.width == WIDE, variant.distributed) {
        (true, false) => ("sweep_wide", &SWEEP_WIDE),
        (true, true) => ("sweep_wide_distributed", &SWEEP_WIDE_DISTRIBUTED),
        (false, false) => ("sweep", SWEEP.on(capability)),
        (false, true) => ("sweep_distributed", SWEEP_DISTRIBUTED.on(capability)),
    };
    Ok((name, device.module(ptx)?))
}

/// Bytes of shared memory of a block without its slots, and for each slot.
fn room<T: Real>(layout: &Layout) -> Result<(usize, usize), Error> {
    let front = layout.size(&format!("FRONT_BYTES_{}", T::TYPE_NAME.to_uppercase()))?;
    Ok((front, layout.size("SLOT_BYTES")?))
}

impl<T: Real> ResidentSweeps<'_, T> {
    /// Asserts the contract of the kernel.
    fn check(&self, kernel: &SweepKernel<T>) {
        let (panels, sweeps) = (self.n.div_ceil(PANEL_COLS), self.count);
        if self.peers.is_none() {
            let entries = (self.n - 1) * (self.l_stride + 1) + 1;
            debug_assert!(self.from.len() >= entries && self.to.len() >= entries, "L is too short");
        }
        let bytes = self.from.address() | self.to.address() | (self.l_stride * size_of::<T>()) as u64;
        debug_assert!(bytes.is_multiple_of(16), "columns of L begin anywhere");
        let columns = kernel.width * (sweeps - 1) + self.blocks.columns_of(self.first + sweeps - 1);
        let end = (columns - 1) * self.v_stride + self.n;
        debug_assert!(self.v.len() >= end, "V is too short");
        debug_assert!(self.inverse.len() >= panels * PANEL_COLS.pow(2) && self.refine.len() >= panels);
        debug_assert!(self.records.len() >= sweeps * panels * kernel.record);
        debug_assert!(self.pivots.len() >= self.number + self.n && self.status.len() > 0);
        debug_assert!(self.schedule.panels() == panels && self.schedule.sweeps() == sweeps);
        debug_assert!(self.next.is_none_or(|next| {
            sweeps == 1
                && next.records.len() >= panels * kernel.record
                && next.flags.len() >= flags(self.schedule)
        }));
        debug_assert!(
            self.flags.len() >= flags(self.schedule)
                && self.saved_v.len() >= saved_v(self.schedule, kernel.width)
        );
    }
}

impl<T: Real> SweepKernel<T> {
    pub fn load(device: &Device, variant: Variant) -> Result<Self, Error> {
        let width = variant.width;
        let (name, module) = module(device, variant)?;
        let layout = module.layout(name)?;
        layout.check(&LAYOUT)?;
        layout.check(Arguments::OFFSETS)?;
        layout.check(&[("RANK_BLOCK", width)])?;
        let (front, slot) = room::<T>(layout)?;
        let slots = (device.shared_bytes()?.saturating_sub(front) / slot).clamp(1, MAX_SLOTS);
        let shared_bytes = front + slots * slot;
        Ok(Self {
            sweep: Function::load(&module, &format!("{name}_{}", T::TYPE_NAME))?.with_shared(shared_bytes)?,
            width,
            slots,
            shared_bytes,
            record: layout.size("RECORD")?,
            fills_next: layout.size("FILLS_NEXT")? == 1,
            scalar: PhantomData,
        })
    }

    /// Columns of a rank block.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether a launch of one sweep that leaves inverses can fill memory for the next one.
    pub fn fills_next(&self) -> bool {
        self.fills_next
    }

    /// Scalars of the records of a launch.
    pub fn records(&self, schedule: Schedule) -> usize {
        schedule.sweeps() * schedule.panels() * self.record
    }

    /// Enqueues the sweeps. The inverses have been computed, and records and flags are [`Filled`].
    ///
    /// # Safety
    /// As `sweep.cu` requires; the slices exist until it is done, and only this stream uses the memory that is written.
    pub unsafe fn sweep(&self, stream: &Stream, sweeps: &ResidentSweeps<'_, T>) -> Result<(), Error> {
        sweeps.check(self);
        let mut argument_of_sweeps = Arguments::new(sweeps);
        let mut slots = self.slots as c_int;
        let mut peers = sweeps.peers;
        let mut arguments = vec![argument(&mut argument_of_sweeps), argument(&mut slots)];
        arguments.extend(peers.as_mut().map(argument));
        let shape =
            Launch { blocks: (sweeps.tasks.len(), 1), threads: THREADS, shared_bytes: self.shared_bytes };
        // SAFETY: two arguments of the types of the kernel's, or three; the caller guarantees the memory to which they point.
        unsafe { self.sweep.launch(stream, shape, &mut arguments) }
    }
}
