//! Insertion, removal and reordering of rows and columns of L in device memory.

use super::factor::{ResidentFactor, Way, lost};
use super::inverses::Inverses;
use super::places::{Direction, Places};
use super::queue::{Queue, When};
use super::rearrange::Rearranger;
use super::sizes::ROW_BLOCK;
use super::triangular_solver::Work;
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::matrix::{DeviceView, DeviceViewMut};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice};
use crate::cuda::stream::Stream;
use crate::error::{Error, other};
use crate::operand::Operand;
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Room, Swept, Target};
use crate::structure::{Border, ColumnsAsV, Rearrangement, Run};
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use cholupdate_kernels::rotation::Rotation;
use core::ops::Range;
use faer::{Mat, MatMut};
use std::sync::PoisonError;

impl<T: Real> ResidentFactor<T> {
    /// As [`Storage::reserve`](crate::storage::Storage::reserve).
    pub(super) fn make_room(&mut self, capacity: usize) -> Result<(), Error> {
        self.quiet()?;
        let order = self.l.order();
        // Memory as large as the old L is freed before the new one is allocated.
        (self.queue, self.shadow) = (None, None);
        let l = Dense::aligned(&self.device, order, capacity)?;
        let inverses = Inverses::new::<T>(&self.device, order, capacity)?;
        let (from, to) = ((self.l.slice(), self.l.stride()), (l.slice(), l.stride()));
        let stream = &Rearranger::<T>::ready(&mut self.resizing, &self.device)?.stream;
        // SAFETY: both matrices belong to this factor, and nothing is in flight; the stream is waited for here.
        let enqueued = unsafe { stream.move_columns(from, (order, order), to) };
        stream.synchronize().and(enqueued)?;
        self.l = l;
        self.solving.get_mut().unwrap_or_else(PoisonError::into_inner).0 = inverses;
        // If there is no room for it, updates work in place.
        self.shadow = DeviceBuffer::new(&self.device, self.l.slice().len()).ok();
        Ok(())
    }

    /// Solves with leading columns of L, the first half of a solve.
    pub(super) fn eliminate(&self, columns: usize, rhs: MatMut<'_, T>) -> Result<(), Error> {
        if columns == 0 || rhs.ncols() == 0 {
            return Ok(());
        }
        self.with_solver(|triangle, solver| solver.solve(triangle, Work::Eliminate(columns), rhs))
    }

    /// Stages columns of L, and other columns, as V.
    pub(super) fn stage_columns(&mut self, v: &ColumnsAsV<'_, T>) -> Result<Outline, Error> {
        let (row, minus) = v.minus;
        let mut signs = Vec::new();
        let (weights, device) = (v.weights(&mut signs), self.device.clone());
        if v.columns.is_empty() {
            let mut all = Mat::zeros(v.order, minus.ncols());
            all.subrows_mut(row, minus.nrows()).copy_from(minus);
            return self.stage_given(&Operand::Host(all.as_ref()), weights, When::Later);
        }
        self.stage_later(v, minus.ncols(), |stream, others| {
            if minus.ncols() == 0 {
                return Ok(());
            }
            let mut all = Mat::zeros(v.order, minus.ncols());
            all.subrows_mut(row, minus.nrows()).copy_from(minus);
            // SAFETY: the memory belongs to columns of V, which nothing else uses; work on the stream has been waited for.
            let put = unsafe {
                DeviceViewMut::from_raw(&device, others.address(), (v.order, minus.ncols()), v.order)
            };
            stream.synchronize()?;
            put?.write(all.as_ref())
        })
    }

    /// The same, where X of the border gives the columns with a minus sign.
    pub(super) fn stage_border(&mut self, v: &ColumnsAsV<'_, T>) -> Result<Outline, Error> {
        let Some(border) = self.border.take() else { return Err(other("there is no border")) };
        let staged = self.stage_later(v, border.shape.rank, |stream, others| {
            // SAFETY: the memory belongs to columns of V, which nothing else uses before work on this stream is done.
            unsafe { Self::put_below(stream, &border, others, (v.order, v.minus.0)) }
        });
        self.border = Some(border);
        // What the sweep leaves is rearranged, or completed, before L is read.
        self.splits_at = staged.is_ok().then_some(v.minus.0);
        staged
    }

    /// Moves row and column `from` of A before row `to`.
    pub(super) fn move_up(&mut self, from: usize, to: usize) -> Result<(), Stop> {
        let row = self.row(from, to..from + 1).map_err(Stop::before)?;
        let mut new = Rearrangement::default();
        self.gather(new.backwards(from, to, self.l.order())).map_err(Stop::before)?;
        // The old L is now in the shadow buffer.
        self.rotate((from, to), &row).map_err(|error| Stop::Device { error, written: true })
    }

    /// Waits for the work that earlier calls have left after their outcome.
    pub(super) fn quiet(&self) -> Result<(), Error> {
        self.queue.as_ref().map_or(Ok(()), |queue| queue.stream().synchronize())?;
        self.resizing.as_ref().map_or(Ok(()), |rearranger| rearranger.stream.synchronize())
    }

    /// Stages columns of L with a plus sign, and `minus` others with a minus sign, which `put` writes or enqueues to their
    /// place.
    fn stage_later(
        &mut self,
        v: &ColumnsAsV<'_, T>,
        minus: usize,
        put: impl FnOnce(&Stream, DeviceSlice<'_, T>) -> Result<(), Error>,
    ) -> Result<Outline, Error> {
        let mut signs = Vec::new();
        let (order, plus, device) = (v.order, v.columns.len(), self.device.clone());
        let (weights, count) = (v.weights(&mut signs), plus + minus);
        let len = order * count;
        let buffer = match self.columns.take() {
            Some(fitting) if fitting.len() >= len => fitting,
            old => {
                drop(old);
                DeviceBuffer::new(&device, len)?
            }
        };
        let memory = buffer.slice(0..len);
        let columns: Vec<Run> =
            v.columns.iter().enumerate().map(|(to, &from)| Run { from, to, len: 1 }).collect();
        let places = Places { rows: v.rows, order, columns: &columns, cols: plus, triangle: false };
        let Self { queue, l, resizing, .. } = self;
        let rearranger = behind_sweeps(resizing, queue.as_ref(), &device)?;
        // SAFETY: the memory belongs to this factor and is as large as the view, whose lifetime ends before the memory is used
        // again; L is only read, and the view is used behind the rearranger's stream.
        let staged = unsafe {
            let enqueued = rearranger
                .gather((l.slice(), l.stride()), (memory, order), &places)
                .and_then(|()| put(&rearranger.stream, memory.part(order * plus..memory.len())));
            if enqueued.is_err() {
                rearranger.stream.synchronize().and(enqueued)?;
            }
            let stream = rearranger.stream.handle();
            let all =
                DeviceView::from_raw(&device, memory.address(), (order, count), order)?.on_stream(stream);
            self.stage_given(&all.into(), weights, When::Later)
        };
        self.columns = Some(buffer);
        staged
    }

    /// Enqueues a rearrangement of L. Unless the last sweep has split L, the old L is then in the shadow buffer.
    pub(super) fn gather(&mut self, new: &Rearrangement) -> Result<(), Error> {
        let split = self.split.take();
        if split.is_none() {
            if !new.moves() {
                // The caller writes rows and columns at the end.
                self.renumber(new);
                return Ok(());
            }
            self.reserve(Room::Shadow)?;
        }
        let Self { queue, l, shadow: Some(shadow), resizing, device, .. } = self else {
            return Err(other("there is no shadow"));
        };
        let rearranger = behind_sweeps(resizing, queue.as_ref(), device)?;
        let there = shadow.slice(0..shadow.len());
        match (split, Direction::of(new)) {
            (Some(start), Some(direction)) => {
                rearranger.send(new)?;
                // SAFETY: L and its shadow are of the same capacity, and what reads or writes them comes before or after this.
                unsafe {
                    rearranger.rearrange(
                        (l.slice(), l.stride()),
                        (there, l.slice()),
                        (new, direction, start),
                    )?;
                }
            }
            (Some(_), None) => return Err(other("rows before those that have been swept move both ways")),
            (None, _) => {
                let (rows, columns) = (&new.rows, &new.columns);
                let places = Places { rows, order: new.order, columns, cols: new.order, triangle: true };
                // SAFETY: as above.
                unsafe { rearranger.gather((l.slice(), l.stride()), (there, l.stride()), &places)? };
                l.exchange(shadow);
            }
        }
        self.renumber(new);
        Ok(())
    }

    /// Rearranges L, and sweeps its columns from the first on that moves, or that is one of `columns`, to their new places; `None` if its
    /// rows move both ways.
    pub(super) fn move_and_sweep(
        &mut self,
        new: &Rearrangement,
        columns: Range<usize>,
    ) -> Result<Option<Modification>, Stop> {
        let Some(direction) = Direction::of(new).filter(|_| !columns.is_empty()) else { return Ok(None) };
        self.reserve(Room::Shadow).map_err(Stop::before)?;
        let start = columns.start.min(new.unchanged()) / ROW_BLOCK * ROW_BLOCK;
        let Self { queue, l, shadow: Some(shadow), resizing, device, .. } = self else {
            return Err(Stop::before(other("there is no shadow")));
        };
        let rearranger = behind_sweeps(resizing, queue.as_ref(), device).map_err(Stop::before)?;
        rearranger.send(new).map_err(Stop::before)?;
        let moved = (l.slice(), shadow.slice(0..shadow.len()));
        // SAFETY: L and its shadow are of the same capacity, and what reads or writes them comes before or after this.
        let enqueued =
            unsafe { rearranger.rearrange((l.slice(), l.stride()), moved, (new, direction, start)) };
        enqueued.map_err(|error| lost(error, true))?;
        self.renumber(new);
        let swept = self.begin_sweep(start, Way::FromShadow, Target::InPlace).and_then(|()| self.wait());
        swept.map(Some).map_err(Stop::after_a_change)
    }

    /// Updates the order and the diagonal; the diagonal and the inverses of new rows are not yet those of L.
    fn renumber(&mut self, new: &Rearrangement) {
        let mut diagonal = vec![T::ZERO; new.order];
        for run in &new.columns {
            diagonal[run.new_places()].copy_from_slice(&self.diagonal[run.old_places()]);
        }
        self.diagonal = diagonal;
        self.l.set_order(new.order);
        self.solving.get_mut().unwrap_or_else(PoisonError::into_inner).0.set_order(new.order);
    }

    /// Returns some entries of a row of L.
    fn row(&mut self, row: usize, columns: Range<usize>) -> Result<Vec<T>, Error> {
        self.quiet()?;
        let rearranger = Rearranger::<T>::ready(&mut self.resizing, &self.device)?;
        self.l.row(&rearranger.stream, row, columns)
    }

    /// Rotates row `from`, whose entries from column `to` on were these, into a column before it.
    fn rotate(&mut self, (from, to): (usize, usize), row: &[T]) -> Result<(), Error> {
        let (order, stride) = (self.l.order(), self.l.stride());
        let mut norm = row[from - to].to_f64();
        let mut rotations = Vec::with_capacity(from - to);
        for z in row[..from - to].iter().rev() {
            let rotation;
            (rotation, norm) = Rotation::eliminating(z.to_f64(), norm);
            rotations.push(rotation);
        }
        rotations.reverse();
        for (pivot, rotation) in self.diagonal[to + 1..=from].iter_mut().zip(&rotations) {
            *pivot = T::from_f64(rotation.pivot(pivot.to_f64())).max(T::TINY);
        }
        self.diagonal[to] = T::from_f64(norm);
        let Self { l, shadow: Some(old), resizing, device, diagonal, .. } = self else {
            return Err(other("there is no shadow"));
        };
        let rearranger = Rearranger::ready(resizing, device)?;
        let below = from * (stride + 1) + 1;
        let old = old.slice(below..below + order - from - 1);
        // SAFETY: L and the old L belong to this factor, and what reads or writes them comes before, on the same stream.
        unsafe { rearranger.rotate((l.slice(), l.stride()), old, (from, to, order), (&rotations, diagonal)) }
    }

    pub(super) fn write_border(&mut self, at: usize, border: &Border<'_, T>) -> Result<(), Error> {
        self.quiet()?;
        let rank = border.rows();
        self.solving.get_mut().unwrap_or_else(PoisonError::into_inner).0.forget();
        for (pivot, new) in
            self.diagonal[at..].iter_mut().zip(border.corner.diagonal().column_vector().iter())
        {
            *pivot = *new;
        }
        let Self { l, resizing, device, .. } = self;
        let stream = &Rearranger::<T>::ready(resizing, device)?.stream;
        l.write(stream, (at, 0), border.left.transpose())?;
        l.write(stream, (at, at), border.corner)?;
        l.write(stream, (at + rank, at), border.below)
    }
}

/// The existing rearranger, or a new one, whose later work comes after the last sweep.
pub(super) fn behind_sweeps<'a, T: Real>(
    resizing: &'a mut Option<Rearranger<T>>,
    queue: Option<&Queue<T>>,
    device: &Device,
) -> Result<&'a mut Rearranger<T>, Error> {
    let rearranger = Rearranger::ready(resizing, device)?;
    if let Some(queue) = queue {
        queue.order_before(&rearranger.stream)?;
    }
    Ok(rearranger)
}
