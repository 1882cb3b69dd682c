//! L on all devices, and the state of its engine.

use super::part::Part;
use super::queue::Queue;
use super::solving::Solving;
use super::stop::WrittenByAll;
use super::transfer::Transfer;
use crate::cuda::device::Device;
use crate::cuda::operands::{MEMORY, on_device};
use crate::cuda::resident::inverses::Inverses;
use crate::cuda::resident::share::Share;
use crate::cuda::resident::sizes::{PANEL_COLS, ROW_BLOCK};
use crate::cuda::resident::take::Take;
use crate::cuda::resident::v::rank_blocks;
use crate::error::{Error, other};
use crate::host::squares::row_norm;
use crate::host::threads::Threads;
use crate::operand::{Operand, OperandMut};
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Edit, Op, Room, Safeguard, Staged, Storage, Swept, Target, Traits};
use crate::sweep::outline::Outline;
use crate::sweep::plan::Plan;
use crate::sweep::rank_blocks::RankBlocks;
use crate::sweep::signed::Signed;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use cholupdate_kernels::health::Health;
use core::ops::Range;
use faer::{MatMut, MatRef};
use std::sync::{Mutex, PoisonError};

/// L as the engine for several devices stores it.
pub(crate) struct DistributedFactor<T: Real> {
    /// Dropped first: it waits for work in flight that uses the other memory.
    pub(super) queue: Option<WrittenByAll<Queue<T>>>,
    pub(super) parts: Vec<Part<T>>,
    pub(super) order: usize,
    /// The largest order for which there is room.
    pub(super) capacity: usize,
    /// The diagonal of L, in host memory.
    pub(super) diagonal: Vec<T>,
    signed: Signed<T>,
    /// Whether all devices have the memory for wide rank blocks, once that has been queried.
    room_for_wide: Option<bool>,
    /// For a V that is already on a device, one for each.
    take: Vec<Option<Take<T>>>,
    /// The sweep in flight: its target and its first column.
    pub(super) flight: Option<(Target, usize)>,
    pub(super) solving: Mutex<Solving<T>>,
    pub(super) devices: Vec<Device>,
    pub(super) together: usize,
}

impl<T: Real> DistributedFactor<T> {
    /// Room for an L of this order, which is not initialized.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn new(devices: &[Device], together: usize, order: usize) -> Result<Self, Error> {
        let parts = parts(devices, together, order)?;
        let inverses = parts.iter().map(|part| part.inverses(order, order)).collect::<Result<_, _>>()?;
        Ok(Self {
            queue: None,
            parts,
            order,
            capacity: order,
            diagonal: vec![T::ZERO; order],
            signed: Signed::default(),
            room_for_wide: None,
            take: devices.iter().map(|_| None).collect(),
            flight: None,
            solving: Mutex::new(Solving::new(inverses)),
            devices: devices.to_vec(),
            together,
        })
    }

    /// Sets all of L, which is zero above the diagonal. (n × n)
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn write(&mut self, l: MatRef<'_, T>) -> Result<(), Error> {
        for part in &self.parts {
            Transfer::new(part, self.order)?.write((0, 0), l)?;
        }
        self.diagonal.iter_mut().zip(l.diagonal().column_vector().iter()).for_each(|(to, from)| *to = *from);
        Ok(())
    }

    /// Calls `work` with pieces of these columns of L: their rows, their columns, and the entries. All rows are in one of them,
    /// from the columns' own on.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub(super) fn each_piece(
        &self,
        columns: Range<usize>,
        mut work: impl FnMut(Range<usize>, Range<usize>, MatRef<'_, T>),
    ) -> Result<(), Error> {
        self.quiet()?;
        for part in &self.parts {
            Transfer::new(part, self.order)?.read(columns.clone(), &mut work)?;
        }
        Ok(())
    }

    /// Waits for the work that the last modification has left after its outcome.
    pub(super) fn quiet(&self) -> Result<(), Error> {
        self.queue.as_ref().map_or(Ok(()), |queue| queue.quiet())
    }

    /// Rank blocks of a width for which all devices have room.
    fn rank_blocks(&mut self) -> Result<RankBlocks, Error> {
        let Self { devices, room_for_wide, signed, .. } = self;
        if room_for_wide.is_some() {
            return rank_blocks(&devices[0], true, room_for_wide, signed);
        }
        let mut blocks = None;
        for device in devices {
            let mut room = None;
            let own = rank_blocks(device, true, &mut room, signed)?;
            if blocks.is_none_or(|blocks: RankBlocks| own.width < blocks.width) {
                blocks = Some(own);
            }
            *room_for_wide = match (*room_for_wide, room) {
                (Some(all), Some(room)) => Some(all && room),
                (known, room) => known.or(room),
            };
        }
        Ok(blocks.unwrap_or(RankBlocks::NONE))
    }

    /// The queue of a modification, with room for these rank blocks.
    fn ready<'a>(
        queue: &'a mut Option<WrittenByAll<Queue<T>>>,
        (devices, capacity): (&[Device], usize),
        blocks: RankBlocks,
    ) -> Result<&'a mut Queue<T>, Error> {
        Ok(match queue.take() {
            Some(fitting) if fitting.fits(capacity, blocks) => queue.insert(fitting),
            // The old one is freed first, because both might not fit.
            old => {
                drop(old);
                queue.insert(WrittenByAll::new(Queue::new(devices, capacity, blocks)?, devices))
            }
        })
    }

    /// Stages V in the memory of a device, from where the sweep sends it to the others.
    fn stage_in_queue(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T>) -> Result<Outline, Error> {
        let (order, columns) = v.shape();
        self.signed.order(weights, columns);
        let blocks = self.rank_blocks()?;
        let Self { queue, signed, take, devices, capacity, .. } = self;
        if let Some(v) = on_device(v) {
            let home = v.is_on_one_of(devices, "v")?;
            let queue = Self::ready(queue, (devices, *capacity), blocks)?;
            queue.home = home;
            let take = Take::ready(&mut take[home], &devices[home], columns)?;
            let own = &mut queue.queues[home];
            // SAFETY: the failure contract has waited for earlier work.
            return unsafe { own.v.stage_device((&own.stream, take), (v, weights), signed, blocks) };
        }
        let v = v.on_host()?;
        if order == 0 || blocks.count() == 0 {
            return signed.check(v.as_ref(), weights, Threads::Pool.par());
        }
        let queue = Self::ready(queue, (devices, *capacity), blocks)?;
        queue.home = 0;
        queue.queues[0].v.stage_host(&devices[0], (v.as_ref(), weights), signed, blocks)
    }

    /// Stages V and w, in host memory or on one of the devices.
    pub(super) fn stage_given(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T>,
    ) -> Result<Outline, Error> {
        let staged = self.stage_in_queue(v, weights);
        if let Err(Error::Device { .. }) = staged {
            // The contents of their memory are unknown, and a new queue may not have been initialized.
            self.queue = None;
            self.take.fill_with(|| None);
        }
        staged
    }
}

/// Room for L on each device.
pub(super) fn parts<T: Real>(
    devices: &[Device],
    together: usize,
    capacity: usize,
) -> Result<Vec<Part<T>>, Error> {
    let part = |(own, device)| Part::new(device, Share::new(devices.len(), own, together), capacity);
    devices.iter().enumerate().map(part).collect()
}

pub(super) fn lost(error: Error, written: bool) -> Stop {
    Stop::Device { error, written }
}

impl<T: Real> Swept<T> for DistributedFactor<T> {
    /// As on one device.
    fn traits(&self) -> Traits {
        let safeguard = Traits::new(Safeguard::ShadowBuffer);
        Traits { asynchronous: true, memory: Some(MEMORY), prefers_shadow: true, ..safeguard }
    }

    fn order(&self) -> usize {
        self.order
    }

    fn pivot(&self, column: usize) -> T {
        self.diagonal[column]
    }

    fn row_squares(&self) -> Option<[&[f64]; 2]> {
        let queue = self.queue.as_ref()?;
        queue.queues[queue.home].v.row_squares()
    }

    fn row_norm(&self) -> Result<f64, Error> {
        // Of each row: the norms of its pieces, by one another's.
        let mut norms = vec![0.0_f64; self.order];
        self.each_piece(0..self.order, |rows, _, piece| {
            for (norm, row) in norms[rows].iter_mut().zip(piece.row_iter()) {
                *norm = norm.hypot(row_norm(row.as_mat()));
            }
        })?;
        Ok(norms.into_iter().fold(0.0, f64::max))
    }

    fn reserve(&mut self, room: Room) -> Result<(), Error> {
        match room {
            Room::Capacity(capacity) => self.make_room(capacity),
            Room::Shadow => self.parts.iter_mut().try_for_each(Part::make_shadow),
        }
    }

    fn stage(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error> {
        match *v {
            Staged::Given(v, weights) => self.stage_given(v, weights),
            Staged::Carrying { v, weights, .. } => self.stage_given(&Operand::Host(v), weights),
            Staged::Columns(v) | Staged::Border(v) => self.stage_columns(v),
        }
    }

    fn sweep(&mut self, _: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop> {
        debug_assert!(columns.end == self.order, "the kernels take all columns");
        if target == Target::Discard {
            self.reserve(Room::Shadow).map_err(|error| lost(error, false))?;
        }
        let Self { queue, parts, solving, devices, .. } = self;
        let inverses = &mut solving.get_mut().unwrap_or_else(PoisonError::into_inner).inverses;
        for (inverses, device) in inverses.iter_mut().zip(devices) {
            inverses.make_room(device).map_err(|error| lost(error, false))?;
        }
        let Some(at_work) = queue else { return Err(lost(other("no V has been staged"), false)) };
        // Earlier rows of V are zero, so the sweep does not change their columns.
        let start = columns.start / ROW_BLOCK * ROW_BLOCK;
        let plan = Plan { rows: self.order, cols: columns.end, start, panel_cols: PANEL_COLS };
        // SAFETY: L and the shadow belong to the factor, which drops its queue first. They are exchanged, and the queue starts
        // again, only after `wait` has waited, and only if nothing broke down. After a failure the queue is dropped.
        if let Err((error, written)) = unsafe { at_work.begin(&plan, (parts, inverses), target) } {
            *queue = None;
            return Err(lost(error, written));
        }
        self.flight = Some((target, start));
        Ok(())
    }

    fn wait(&mut self) -> Result<Modification, Stop> {
        let Self { queue, parts, diagonal, solving, flight, .. } = self;
        let (Some((target, start)), Some(at_work)) = (flight.take(), &mut *queue) else {
            return Ok(Modification::identity());
        };
        let inverses = &mut solving.get_mut().unwrap_or_else(PoisonError::into_inner).inverses;
        match at_work.wait(start, (parts, inverses), target) {
            Ok(None) => {}
            Ok(Some(column)) => {
                if target != Target::Discard {
                    // The inverses are those of a factor that does not become L.
                    inverses.iter_mut().for_each(Inverses::forget);
                }
                return Err(Stop::Breakdown { column });
            }
            Err(error) => {
                inverses.iter_mut().for_each(Inverses::forget);
                *queue = None;
                return Err(lost(error, true));
            }
        }
        let new = &at_work.pivots()[start..diagonal.len()];
        let mut health = Health::default();
        health.record(&diagonal[start..], new);
        if target != Target::Discard {
            diagonal[start..].copy_from_slice(new);
        }
        Ok(Modification::of_sweep(&health, start))
    }

    fn commit(&mut self, _: usize) {
        self.parts.iter_mut().for_each(Part::exchange);
    }
}

impl<T: Real> Storage<T> for DistributedFactor<T> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn read(&self, mut to: MatMut<'_, T>) -> Result<(), Error> {
        self.each_piece(0..self.order, |rows, columns, piece| {
            to.as_mut().submatrix_mut(rows.start, columns.start, rows.len(), columns.len()).copy_from(piece);
        })
    }

    fn apply(&self, op: Op<'_>, rhs: OperandMut<'_, T>) -> Result<(), Error> {
        match op {
            Op::Solve(sides) => self.solve_systems(sides, rhs),
            Op::Multiply(side) => rhs.change_on_host(|rhs| self.multiply(side, rhs)),
            Op::Eliminate(columns) => rhs.change_on_host(|rhs| self.eliminate(columns, rhs)),
        }
    }

    fn edit(&mut self, edit: Edit<'_, T>) -> Result<(), Stop> {
        match edit {
            Edit::Rearrange(new) if !new.moves() => self.renumber(new),
            Edit::Write { at, border } => self.write_border(at, border),
            Edit::MoveUp { from, to } => self.move_up(from, to),
            Edit::Scale { .. } | Edit::Rearrange(_) => self.edit_on_host(edit),
            Edit::WriteThere { .. } | Edit::Close { .. } => Ok(()),
        }
    }
}
