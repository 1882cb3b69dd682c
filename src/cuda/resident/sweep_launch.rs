//! The kernels of the sweeps, one for each width of rank blocks, with the one function that launches them.

use super::schedule::{KIND_SHIFT, Kind, RANGE_SHIFT, RANK_BLOCK_SHIFT, ROW_BLOCK_PANELS, Schedule};
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::layout::Layout;
use crate::cuda::memory::{DeviceSlice, Pinned};
use crate::cuda::module::Module;
use crate::cuda::ptx::{SWEEP, SWEEP_WIDE};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::scalar::Scalar;
use core::ffi::{c_int, c_longlong};
use core::marker::PhantomData;
use core::mem::offset_of;
use std::sync::Arc;

/// Columns in a panel.
pub(super) const PANEL_COLS: usize = 64;
/// Columns of V in a rank block, narrow or wide.
pub(super) const NARROW: usize = 16;
pub(super) const WIDE: usize = 32;
/// The status if nothing broke down: no column number is as large.
pub(super) const WHOLE: i32 = i32::MAX;
/// Threads of a block.
pub(super) const THREADS: usize = 256;
/// The most records or tiles for which a block has shared memory.
const MAX_SLOTS: usize = 3;

/// Constants on which host and kernels agree, except the sizes that the host reads from the kernels.
const LAYOUT: [(&str, usize); 38] = [
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
    ("AT_FROM", offset_of!(Arguments, from)),
    ("AT_TO", offset_of!(Arguments, to)),
    ("AT_L_STRIDE", offset_of!(Arguments, l_stride)),
    ("AT_V", offset_of!(Arguments, v)),
    ("AT_V_STRIDE", offset_of!(Arguments, v_stride)),
    ("AT_INVERSE", offset_of!(Arguments, inverse)),
    ("AT_REFINE", offset_of!(Arguments, refine)),
    ("AT_RECORDS", offset_of!(Arguments, records)),
    ("AT_PIVOTS", offset_of!(Arguments, pivots)),
    ("AT_STATUS", offset_of!(Arguments, status)),
    ("AT_SAVED_V", offset_of!(Arguments, saved_v)),
    ("AT_FLAGS", offset_of!(Arguments, flags)),
    ("AT_FLAGS_BEFORE", offset_of!(Arguments, flags_before)),
    ("AT_N", offset_of!(Arguments, n)),
    ("AT_FIRST_COLUMN", offset_of!(Arguments, first_column)),
    ("AT_SIGN", offset_of!(Arguments, sign)),
    ("AT_PLUS", offset_of!(Arguments, plus)),
    ("AT_RANGE_PANELS", offset_of!(Arguments, range_panels)),
    ("AT_V_SLOTS", offset_of!(Arguments, v_slots)),
    ("AT_TASKS", offset_of!(Arguments, tasks)),
];

/// The kernel of sweeps for one scalar type and one width of rank blocks.
pub(super) struct SweepKernel<T> {
    sweep: Function,
    width: usize,
    /// Records for which a block has shared memory.
    slots: usize,
    shared_bytes: usize,
    /// Scalars of a panel's record.
    record: usize,
    scalar: PhantomData<T>,
}

/// The arguments of sweeps over L (n × n) from the diagonal entry of their first column on: the old and the new L; V from the
/// same row on, a rank block for each sweep; and the data kept about each panel. As in `resident/sweep_args.cuh`.
#[derive(Clone, Copy)]
pub(super) struct ResidentSweeps<'a, T> {
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
    /// In host memory, for all columns of L.
    pub pivots: &'a Pinned<T>,
    pub status: &'a Pinned<i32>,
    /// Zeros initially.
    pub flags: DeviceSlice<'a, i32>,
    pub n: usize,
    /// Index of the first column.
    pub number: usize,
    /// The number of sweeps, and of those with a plus sign, which come first.
    pub count: usize,
    pub plus: usize,
    /// The words of the schedule.
    pub schedule: Schedule,
    pub tasks: DeviceSlice<'a, i32>,
}

/// [`ResidentSweeps`] in the kernel's layout.
#[repr(C)]
struct Arguments {
    from: u64,
    to: u64,
    l_stride: c_longlong,
    v: u64,
    v_stride: c_longlong,
    inverse: u64,
    refine: u64,
    records: u64,
    pivots: u64,
    status: u64,
    saved_v: u64,
    flags: u64,
    flags_before: u64,
    n: c_longlong,
    first_column: c_longlong,
    sign: f64,
    plus: c_int,
    range_panels: c_int,
    v_slots: c_int,
    tasks: u64,
}

/// The number of flags for a schedule: one for the number of thread blocks that have started, and for each sweep one for each
/// panel and two for each row block and panel range.
pub(super) fn flags(schedule: Schedule) -> usize {
    let (panels, sweeps) = (schedule.panels(), schedule.sweeps());
    1 + sweeps * (panels + 2 * panels.div_ceil(ROW_BLOCK_PANELS) * panels.div_ceil(schedule.range_panels()))
}

/// Scalars of V that are saved between panel ranges, for rank blocks of this width.
pub(super) fn saved_v(schedule: Schedule, width: usize) -> usize {
    let row_blocks = schedule.sweeps() * schedule.panels().div_ceil(ROW_BLOCK_PANELS);
    row_blocks * schedule.v_slots() * ROW_BLOCK_PANELS * PANEL_COLS * width
}

/// Whether the device has the shared memory for wide rank blocks.
///
/// # Errors
/// [`Error::Device`] if the driver fails.
pub(super) fn has_room_for_wide<T: Scalar>(device: &Device) -> Result<bool, Error> {
    if device.compute_capability() < (9, 0) {
        return Ok(false);
    }
    let (name, module) = module(device, WIDE)?;
    let layout = module.layout(name)?;
    let (front, slot) = room::<T>(layout)?;
    Ok(device.shared_bytes()? >= front + layout.size("MIN_SLOTS")? * slot)
}

/// The module with the kernels for rank blocks of this width, and its name.
fn module(device: &Device, width: usize) -> Result<(&'static str, Arc<Module>), Error> {
    let (name, ptx) = if width == WIDE { ("sweep_wide", &SWEEP_WIDE) } else { ("sweep", SWEEP.on(device)) };
    Ok((name, device.module(ptx)?))
}

/// Bytes of shared memory of a block without its slots, and for each slot.
fn room<T: Scalar>(layout: &Layout) -> Result<(usize, usize), Error> {
    let front = layout.size(&format!("FRONT_BYTES_{}", T::TYPE_NAME.to_uppercase()))?;
    Ok((front, layout.size("SLOT_BYTES")?))
}

impl<T: Scalar> ResidentSweeps<'_, T> {
    fn arguments(&self, kernel: &SweepKernel<T>) -> Arguments {
        let (panels, sweeps) = (self.n.div_ceil(PANEL_COLS), self.count);
        let entries = (self.n - 1) * (self.l_stride + 1) + 1;
        debug_assert!(self.from.len() >= entries && self.to.len() >= entries, "L is too short");
        let bytes = self.from.address() | self.to.address() | (self.l_stride * size_of::<T>()) as u64;
        debug_assert!(bytes.is_multiple_of(16), "columns of L begin anywhere");
        let end = (kernel.width * sweeps - 1) * self.v_stride + self.n;
        debug_assert!(self.v.len() >= end, "V is too short");
        debug_assert!(self.inverse.len() >= panels * PANEL_COLS.pow(2) && self.refine.len() >= panels);
        debug_assert!(self.records.len() >= sweeps * panels * kernel.record);
        debug_assert!(self.pivots.len() >= self.number + self.n && self.status.len() > 0);
        debug_assert!(self.schedule.panels() == panels && self.schedule.sweeps() == sweeps);
        debug_assert!(
            self.flags.len() >= flags(self.schedule)
                && self.saved_v.len() >= saved_v(self.schedule, kernel.width)
        );
        Arguments {
            from: self.from.address(),
            to: self.to.address(),
            l_stride: self.l_stride as c_longlong,
            v: self.v.address(),
            v_stride: self.v_stride as c_longlong,
            inverse: self.inverse.address(),
            refine: self.refine.address(),
            records: self.records.address(),
            pivots: self.pivots.address(self.number),
            status: self.status.address(0),
            saved_v: self.saved_v.address(),
            flags: self.flags.address(),
            // The kernel sets this and the sign for each sweep.
            flags_before: 0,
            n: self.n as c_longlong,
            first_column: self.number as c_longlong,
            sign: 0.0,
            plus: self.plus as c_int,
            range_panels: self.schedule.range_panels() as c_int,
            v_slots: self.schedule.v_slots() as c_int,
            tasks: self.tasks.address(),
        }
    }
}

impl<T: Scalar> SweepKernel<T> {
    pub fn load(device: &Device, width: usize) -> Result<Self, Error> {
        let (name, module) = module(device, width)?;
        let layout = module.layout(name)?;
        layout.check(&LAYOUT)?;
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
            scalar: PhantomData,
        })
    }

    /// Columns of a rank block.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Scalars of the records of a launch.
    pub fn records(&self, schedule: Schedule) -> usize {
        schedule.sweeps() * schedule.panels() * self.record
    }

    /// Enqueues the initialization of records and flags for sweeps.
    ///
    /// # Safety
    /// Until it is done, the memory exists and only the stream uses it.
    pub unsafe fn reset(
        &self,
        stream: &Stream,
        records: DeviceSlice<'_, f64>,
        flags: DeviceSlice<'_, i32>,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe {
            stream.clear(flags)?;
            stream.fill(records, u8::MAX)
        }
    }

    /// Enqueues the sweeps. The inverses have been computed, and records and flags are as [`reset`](Self::reset) leaves them.
    ///
    /// # Safety
    /// As `sweep.cu` requires; the slices exist until it is done, and only this stream uses the memory that is written.
    pub unsafe fn sweep(&self, stream: &Stream, sweeps: &ResidentSweeps<'_, T>) -> Result<(), Error> {
        let mut argument_of_sweeps = sweeps.arguments(self);
        let mut slots = self.slots as c_int;
        let mut arguments = [argument(&mut argument_of_sweeps), argument(&mut slots)];
        let shape =
            Launch { blocks: (sweeps.tasks.len(), 1), threads: THREADS, shared_bytes: self.shared_bytes };
        // SAFETY: two arguments of the types of the kernel's; the caller guarantees the memory to which they point.
        unsafe { self.sweep.launch(stream, shape, &mut arguments) }
    }
}
