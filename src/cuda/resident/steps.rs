//! The kernels of a modification, and for each the one function that launches it.

use super::schedule::{GROUP, KIND_SHIFT, Kind, STRETCH_SHIFT, SWEEP_SHIFT, Schedule};
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, argument};
use crate::cuda::memory::{DeviceSlice, Pinned};
use crate::cuda::ptx::{INVERT, SWEEP};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::scalar::Scalar;
use core::ffi::{c_int, c_longlong};
use core::marker::PhantomData;
use core::mem::offset_of;

/// Columns in a panel.
pub(super) const PANEL_COLS: usize = 64;
/// Columns of V that go together.
pub(super) const V_COLS: usize = 16;
/// Threads of a block.
const THREADS: usize = 256;

/// What host and kernels agree on beside the sizes that the host takes from them.
const SWEEP_LAYOUT: [(&str, usize); 40] = [
    ("PANEL_COLS", PANEL_COLS),
    ("RANK_BLOCK", V_COLS),
    ("ROW_BLOCK_PANELS", GROUP),
    ("THREADS", THREADS),
    ("KIND_FORWARDING", Kind::Carries as usize),
    ("KIND_INVERTING", Kind::Inverts as usize),
    ("KIND_CRITICAL_PATH", Kind::Leads as usize),
    ("KIND_UPDATE", Kind::Follows as usize),
    ("RANGE_SHIFT", STRETCH_SHIFT),
    ("RANK_BLOCK_SHIFT", SWEEP_SHIFT),
    ("KIND_SHIFT", KIND_SHIFT),
    ("MAX_ROW_BLOCKS", 1 << STRETCH_SHIFT),
    ("MAX_RANGES", 1 << (SWEEP_SHIFT - STRETCH_SHIFT)),
    ("MAX_RANK_BLOCKS", 1 << (KIND_SHIFT - SWEEP_SHIFT)),
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
    ("AT_SAVED_V", offset_of!(Arguments, kept)),
    ("AT_FLAGS", offset_of!(Arguments, marks)),
    ("AT_FLAGS_BEFORE", offset_of!(Arguments, before)),
    ("AT_N", offset_of!(Arguments, n)),
    ("AT_FIRST_COLUMN", offset_of!(Arguments, number)),
    ("AT_SIGN", offset_of!(Arguments, sign)),
    ("AT_PLUS", offset_of!(Arguments, plus)),
    ("AT_RANGE_PANELS", offset_of!(Arguments, width)),
    ("AT_V_SLOTS", offset_of!(Arguments, places)),
    ("AT_LAST", offset_of!(Arguments, last)),
    ("AT_TASKS", offset_of!(Arguments, tasks)),
];

/// Records or tiles that a block has room for, at most.
const MAX_SLOTS: usize = 3;

/// `invert.cu` for one scalar type.
pub(super) struct Inversion(Function);

impl Inversion {
    pub fn load<T: Scalar>(device: &Device) -> Result<Self, Error> {
        let module = device.module(INVERT)?;
        module.layout("invert")?.check(&[("PANEL_COLS", PANEL_COLS), ("THREADS", THREADS)])?;
        Ok(Self(Function::load(&module, "invert", T::TYPE_NAME)?))
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

/// The kernel of sweeps for one scalar type.
pub(super) struct Steps<T> {
    invert: Inversion,
    sweep: Function,
    /// Records that a block has room for.
    slots: usize,
    /// Scalars of a panel's record.
    record: usize,
    scalar: PhantomData<T>,
}

/// Sweeps over L (n × n) from the diagonal entry of their first column on, as it was and as it will be; V from the same
/// row on, 16 columns for each sweep; and what is kept of each panel. As `resident/sweep_args.cuh` has it.
#[derive(Clone, Copy)]
pub(super) struct Sweeps<'a, T> {
    pub from: DeviceSlice<'a, T>,
    pub to: DeviceSlice<'a, T>,
    pub l_stride: usize,
    pub v: DeviceSlice<'a, T>,
    pub v_stride: usize,
    pub inverse: DeviceSlice<'a, f64>,
    pub refine: DeviceSlice<'a, i32>,
    /// All bits ones at first.
    pub records: DeviceSlice<'a, f64>,
    pub kept: DeviceSlice<'a, f64>,
    /// In host memory, of all columns of L.
    pub pivots: &'a Pinned<T>,
    pub status: &'a Pinned<i32>,
    /// Zeros at first.
    pub marks: DeviceSlice<'a, i32>,
    pub n: usize,
    /// The number of the first column.
    pub number: usize,
    /// How many, and how many with a plus sign, which come first.
    pub count: usize,
    pub plus: usize,
    /// Those with a minus sign take V from the end: sweep i has columns `V_COLS (last − i)` and on, which may lie before
    /// `v` where launches before had the others; a sweep with a plus sign has columns `V_COLS i` and on.
    pub last: isize,
    /// The words of the schedule.
    pub schedule: Schedule,
    pub tasks: DeviceSlice<'a, i32>,
}

/// [`Sweeps`] as the kernel takes it.
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
    kept: u64,
    marks: u64,
    before: u64,
    n: c_longlong,
    number: c_longlong,
    sign: f64,
    plus: c_int,
    width: c_int,
    places: c_int,
    last: c_int,
    tasks: u64,
}

/// Marks that the sweeps of a schedule take: the number of blocks that have begun, and for each sweep one for each panel
/// and two for each group of rows and stretch.
pub(super) fn marks(schedule: Schedule) -> usize {
    let (panels, sweeps) = (schedule.panels(), schedule.sweeps());
    1 + sweeps * (panels + 2 * panels.div_ceil(GROUP) * panels.div_ceil(schedule.width()))
}

/// Scalars of V between stretches that they take.
pub(super) fn kept(schedule: Schedule) -> usize {
    let groups = schedule.sweeps() * schedule.panels().div_ceil(GROUP);
    groups * schedule.places() * GROUP * PANEL_COLS * V_COLS
}

impl<T: Scalar> Sweeps<'_, T> {
    fn arguments(&self, record: usize) -> Arguments {
        let (panels, sweeps) = (self.n.div_ceil(PANEL_COLS), self.count);
        let entries = (self.n - 1) * (self.l_stride + 1) + 1;
        debug_assert!(self.from.len() >= entries && self.to.len() >= entries, "L is too short");
        let bytes = self.from.address() | self.to.address() | (self.l_stride * size_of::<T>()) as u64;
        debug_assert!(bytes.is_multiple_of(16), "columns of L begin anywhere");
        let furthest = if self.plus > 0 { self.plus.min(sweeps) as isize - 1 } else { self.last };
        let furthest =
            if self.plus < sweeps { furthest.max(self.last - self.plus as isize) } else { furthest };
        let columns = V_COLS as isize * (furthest + 1);
        let end = (columns - 1) * self.v_stride as isize + self.n as isize;
        debug_assert!(self.v.len() as isize >= end, "V is too short");
        debug_assert!(self.inverse.len() >= panels * PANEL_COLS.pow(2) && self.refine.len() >= panels);
        debug_assert!(self.records.len() >= sweeps * panels * record);
        debug_assert!(self.pivots.len() >= self.number + self.n && self.status.len() > 0);
        debug_assert!(self.schedule.panels() == panels && self.schedule.sweeps() == sweeps);
        debug_assert!(self.marks.len() >= marks(self.schedule) && self.kept.len() >= kept(self.schedule));
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
            kept: self.kept.address(),
            marks: self.marks.address(),
            // The kernel sets this and the sign for each sweep.
            before: 0,
            n: self.n as c_longlong,
            number: self.number as c_longlong,
            sign: 0.0,
            plus: self.plus as c_int,
            width: self.schedule.width() as c_int,
            places: self.schedule.places() as c_int,
            last: self.last as c_int,
            tasks: self.tasks.address(),
        }
    }
}

impl<T: Scalar> Steps<T> {
    pub fn load(device: &Device) -> Result<Self, Error> {
        let module = device.module(SWEEP.on(device))?;
        let layout = module.layout("sweep")?;
        layout.check(&SWEEP_LAYOUT)?;
        let front = layout.size(&format!("FRONT_BYTES_{}", T::TYPE_NAME.to_uppercase()))?;
        let slot = layout.size("SLOT_BYTES")?;
        let slots = (device.shared_bytes()?.saturating_sub(front) / slot).clamp(1, MAX_SLOTS);
        let shared = front + slots * slot;
        Ok(Self {
            invert: Inversion::load::<T>(device)?,
            sweep: Function::load(&module, "sweep", T::TYPE_NAME)?.with_shared(shared)?,
            slots,
            record: layout.size("RECORD")?,
            scalar: PhantomData,
        })
    }

    /// Scalars of a panel's record.
    pub fn record(&self) -> usize {
        self.record
    }

    /// As [`Inversion::ask`], of all panels.
    ///
    /// # Safety
    /// As [`Inversion::ask`].
    pub unsafe fn invert(
        &self,
        stream: &Stream,
        l: (DeviceSlice<'_, T>, usize),
        inverses: (DeviceSlice<'_, f64>, DeviceSlice<'_, i32>),
        rows: usize,
    ) -> Result<(), Error> {
        // SAFETY: forwarded to the caller.
        unsafe { self.invert.ask(stream, l, inverses, (rows.div_ceil(PANEL_COLS), rows)) }
    }

    /// Asks for records and marks as sweeps need them.
    ///
    /// # Safety
    /// Until it is done, the memory lives and nothing but the stream uses it.
    pub unsafe fn reset(
        &self,
        stream: &Stream,
        records: DeviceSlice<'_, f64>,
        marks: DeviceSlice<'_, i32>,
    ) -> Result<(), Error> {
        // SAFETY: forwarded to the caller.
        unsafe {
            stream.clear(marks)?;
            stream.fill(records, u8::MAX)
        }
    }

    /// Asks for the sweeps. Their inverses are there, and records and marks as [`reset`](Self::reset) leaves them.
    ///
    /// # Safety
    /// As `sweep.cu` says; the slices live until it is done, and what is written is this stream's.
    pub unsafe fn sweep(&self, stream: &Stream, sweeps: &Sweeps<'_, T>) -> Result<(), Error> {
        let mut argument_of_sweeps = sweeps.arguments(self.record);
        let mut slots = self.slots as c_int;
        let mut arguments = [argument(&mut argument_of_sweeps), argument(&mut slots)];
        // SAFETY: two arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe { self.sweep.launch(stream, ((sweeps.tasks.len(), 1), THREADS), &mut arguments) }
    }
}
