//! Modifications of matrices of one shape by the sweeps of the resident engine.

use super::around::{Around, Completion, Preparation, row_parts};
use super::kept::{kept, tasks};
use super::scratch::{Division, Part};
use super::signs::Signs;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice};
use crate::cuda::resident::schedule::{Partition, Schedule};
use crate::cuda::resident::sizes::PANEL_COLS;
use crate::cuda::resident::sweep_launch::{
    ResidentSweeps, SWEEPS_OF_LAUNCH, SweepKernel, Variant, flags, has_room_for_wide, saved_v,
};
use crate::cuda::resident::v::width;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use crate::sweep::rank_blocks::RankBlocks;
use core::marker::PhantomData;
use std::sync::Arc;

/// The addresses of one matrix: L and L' (n × n) by columns, V (n × k) with its strides, w, or 0 if its signs are known, and the byte
/// of whether L' exists.
#[derive(Clone, Copy)]
pub(super) struct One {
    pub l: u64,
    pub v: u64,
    pub v_strides: [i64; 2],
    pub weights: u64,
    pub to: u64,
    pub ok: u64,
    pub nan: bool,
}

/// Whether the device has the memory for wide rank blocks.
struct Room<T>(bool, PhantomData<T>);

/// The parts of the working memory.
struct Parts<T> {
    inverse: Part<f64>,
    refine: Part<i32>,
    records: Part<f64>,
    saved_v: Part<f64>,
    flags: Part<i32>,
    status: Part<i32>,
    refused: Part<i32>,
    pivots: Part<T>,
    /// V in rank blocks.
    staged: Part<T>,
    /// L with columns at multiples of 16 bytes, unless those of the caller's are.
    copy: Part<T>,
}

/// The work for matrices of one shape on a device.
pub(super) struct Sweeps<T> {
    n: usize,
    k: usize,
    blocks: RankBlocks,
    /// Each launch: its schedule, with the words on the device.
    launches: Vec<(Schedule, Arc<DeviceBuffer<i32>>)>,
    kernel: Arc<SweepKernel<T>>,
    around: Arc<Around>,
    parts: Parts<T>,
    bytes: usize,
}

impl<T: Real> Sweeps<T> {
    /// # Errors
    /// [`Error::Device`] if the device has no memory for the tasks, or fails.
    pub fn new(device: &Device, (n, k): (usize, usize), signs: Signs) -> Result<Self, Error> {
        let width = width(k, || {
            let room = || Ok(Room::<T>(has_room_for_wide::<T>(device, false)?, PhantomData));
            Ok(kept(device, 0, room)?.0)
        })?;
        let blocks = match signs {
            // One block of zeros if V has no columns.
            Signs::Plus => RankBlocks::new(width, k.max(1), 0),
            Signs::Minus => RankBlocks::new(width, 0, k.max(1)),
            Signs::Any => RankBlocks::new(width, k.max(1), k),
        };
        let variant = Variant { width, distributed: false };
        let kernel = kept(device, width, || SweepKernel::<T>::load(device, variant))?;
        let around = kept(device, size_of::<T>(), || Around::load::<T>(device))?;
        let panels = n.div_ceil(PANEL_COLS);
        let launch = |first: usize| {
            let sweeps = (blocks.count() - first).min(SWEEPS_OF_LAUNCH);
            let partition = Partition::new(panels, sweeps, device.multiprocessors());
            let schedule = Schedule::new(panels, sweeps, partition);
            Ok((schedule, tasks(device, schedule)?))
        };
        let firsts = (0..blocks.count()).step_by(SWEEPS_OF_LAUNCH);
        let launches = firsts.map(launch).collect::<Result<Vec<_>, Error>>()?;
        let most = |of: &dyn Fn(Schedule) -> usize| {
            launches.iter().map(|&(schedule, _)| of(schedule)).max().unwrap_or(0)
        };
        let mut all = Division::default();
        let copied = if is_aligned::<T>(n) { 0 } else { n * padded::<T>(n) };
        let parts = Parts {
            inverse: all.part(panels * PANEL_COLS.pow(2)),
            refine: all.part(panels),
            records: all.part(most(&|schedule| kernel.records(schedule))),
            saved_v: all.part(most(&|schedule| saved_v(schedule, width))),
            flags: all.part(most(&flags)),
            status: all.part(1),
            refused: all.part(row_parts(n) + panels),
            pivots: all.part(n),
            staged: all.part(padded::<T>(n) * blocks.columns()),
            copy: all.part(copied),
        };
        Ok(Self { n, k, blocks, launches, kernel, around, parts, bytes: all.bytes() })
    }

    /// Bytes of working memory, which begins at a multiple of 256 bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether L is swept in a copy, because its columns begin anywhere.
    pub fn is_copied(&self) -> bool {
        self.parts.copy.len() > 0
    }

    /// Enqueues the modification of one matrix.
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// Until it is done, the memory is as it is described, nothing writes to L, V or w, and nothing else uses L', its byte or the working
    /// memory.
    pub unsafe fn enqueue(&self, stream: &Stream, one: One, memory: u64) -> Result<(), Error> {
        let (n, parts) = (self.n, &self.parts);
        // SAFETY: the caller guarantees the memory, whose parts these are.
        let (copy, status, refused) =
            unsafe { (parts.copy.at(memory), parts.status.at(memory), parts.refused.at(memory)) };
        // SAFETY: the caller guarantees both matrices.
        let [l, to] = [one.l, one.to].map(|address| unsafe { DeviceSlice::<T>::at(address, n * n) });
        let is_copied = self.is_copied();
        let (source, to_sweep, stride) = if is_copied { (copy, copy, padded::<T>(n)) } else { (l, to, n) };
        for (number, (schedule, words)) in self.launches.iter().enumerate() {
            let is_first = number == 0;
            let from = if is_first { source } else { to_sweep };
            let whole_if_first = |address: u64| if is_first { address } else { 0 };
            let ((inverted, inverted_stride), row_parts) = match is_first {
                true => ((l, n), row_parts(n)),
                false => ((from, stride), 0),
            };
            let first = number * SWEEPS_OF_LAUNCH;
            // SAFETY: the caller guarantees the memory, whose parts these are.
            let sweeps = unsafe {
                let staged = parts.staged.at(memory);
                ResidentSweeps {
                    from,
                    to: to_sweep,
                    l_stride: stride,
                    v: staged.part(first * self.blocks.width * padded::<T>(n)..staged.len()),
                    v_stride: padded::<T>(n),
                    inverse: parts.inverse.at(memory),
                    refine: parts.refine.at(memory),
                    records: parts.records.at(memory).part(0..self.kernel.records(*schedule)),
                    saved_v: parts.saved_v.at(memory),
                    pivots: parts.pivots.at(memory),
                    status,
                    flags: parts.flags.at(memory),
                    n,
                    number: 0,
                    count: schedule.sweeps(),
                    blocks: self.blocks,
                    first,
                    schedule: *schedule,
                    tasks: words.slice(0..words.len()),
                    next: None,
                    peers: None,
                }
            };
            let preparation = Preparation {
                l: inverted.address(),
                l_stride: inverted_stride as i64,
                copy: whole_if_first(if is_copied { copy.address() } else { 0 }),
                copy_stride: stride as i64,
                cleared: whole_if_first(to.address()),
                v: one.v,
                v_strides: one.v_strides,
                weights: one.weights,
                staged: sweeps.v.address(),
                staged_stride: padded::<T>(n) as i64,
                inverse: sweeps.inverse.address(),
                refine: sweeps.refine.address(),
                records: sweeps.records.address(),
                record_words: sweeps.records.len() as i64,
                flags: sweeps.flags.address(),
                flag_words: flags(*schedule) as i64,
                status: whole_if_first(status.address()),
                refused: refused.address(),
                n: n as i64,
                k: self.k as i32,
                width: self.blocks.width as i32,
                plus_blocks: self.blocks.count_plus() as i32,
                blocks: self.blocks.count() as i32,
                panels: schedule.panels() as i32,
                row_parts: row_parts as i32,
            };
            // SAFETY: the caller guarantees the memory until the work is done; each launch comes after what prepares it.
            unsafe {
                self.around.prepare(stream, preparation)?;
                self.kernel.sweep(stream, &sweeps)?;
            }
        }
        let completion = Completion {
            l: l.address(),
            from: to_sweep.address(),
            from_stride: stride as i64,
            to: to.address(),
            ok: one.ok,
            status: status.address(),
            refused: refused.address(),
            n: n as i64,
            words: parts.refused.len() as i32,
            nan: i32::from(one.nan),
        };
        // SAFETY: as above.
        unsafe { self.around.finish(stream, completion) }
    }
}

/// Scalars from one column to the next that begin at multiples of 16 bytes.
fn padded<T>(n: usize) -> usize {
    n.next_multiple_of(16 / size_of::<T>())
}

/// Whether columns of packed matrices of this order begin at multiples of 16 bytes, which the sweeps need.
fn is_aligned<T>(n: usize) -> bool {
    padded::<T>(n) == n
}
