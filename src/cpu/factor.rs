//! L in host memory, as the CPU engine stores it.

use super::carried::CarriedZ;
use super::moves::move_up;
use super::solve::solve;
use super::staged::{SweepMemory, plan};
use super::sweep::{sweep, sweep_on_its_way};
use super::tuning;
use crate::check::finite;
use crate::element::Element;
use crate::error::Error;
use crate::host::layout::{copy_lower, lower, stride, with_capacity};
use crate::host::squares::{add_squares, largest_of, row_norm};
use crate::host::threads::Threads;
use crate::operand::{Operand, OperandMut};
use crate::report::Modification;
use crate::storage::{Direct, Edit, Op, Room, Safeguard, Side, Staged, Storage, Swept, Target, Traits};
use crate::structure::{Rearrangement, each_column, write_border};
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::{Float, Number};
use cholupdate_kernels::sweep::entries::Entries;
use core::ops::Range;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::reborrow::ReborrowMut;
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};

/// L, and the working memory of modifications.
pub struct HostFactor<T: Number> {
    threads: Threads,
    safeguard: Safeguard,
    /// Zero above the diagonal. (n × n)
    l: Mat<T>,
    /// The largest order for which there is room.
    capacity: usize,
    /// As L, once it has been allocated; its strict upper triangle is zero as well.
    shadow: Option<Mat<T>>,
    sweep: SweepMemory<T>,
    /// Working memory of insertions, removals and shifts.
    scratch: Mat<T>,
    column: Vec<T>,
    /// Working memory for the signs of columns of V.
    signs: Vec<T::Part>,
    pub(super) carried: CarriedZ<T>,
}

impl<T: Element> Clone for HostFactor<T> {
    /// Copies L in the same layout, which `Mat::clone` would not preserve, without the working memory.
    fn clone(&self) -> Self {
        Self::new(self.threads, self.safeguard, lower(self.l.as_ref()))
    }
}

impl<T: Element> core::fmt::Debug for HostFactor<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HostFactor").field("order", &self.l.nrows()).finish_non_exhaustive()
    }
}

impl<T: Element> HostFactor<T> {
    /// Makes a factor of L, which is zero above the diagonal. (n × n)
    pub(crate) fn new(threads: Threads, safeguard: Safeguard, l: Mat<T>) -> Self {
        let well_laid_out = l.col_stride() == stride::<T>(l.nrows());
        let l = if well_laid_out { l } else { lower(l.as_ref()) };
        let capacity = l.nrows();
        Self {
            threads,
            safeguard,
            l,
            capacity,
            shadow: None,
            sweep: SweepMemory::default(),
            scratch: Mat::new(),
            column: Vec::new(),
            signs: Vec::new(),
            carried: CarriedZ::default(),
        }
    }

    pub(crate) fn l(&self) -> &Mat<T> {
        &self.l
    }

    pub(crate) fn into_l(self) -> Mat<T> {
        self.l
    }

    pub(super) fn safeguard(&self) -> Safeguard {
        self.safeguard
    }

    pub(super) fn has_shadow(&self) -> bool {
        self.shadow.is_some()
    }

    /// Exchanges L and the shadow buffer, all of which has been written.
    pub(super) fn exchange(&mut self) {
        if let Some(shadow) = &mut self.shadow {
            core::mem::swap(&mut self.l, shadow);
        }
    }

    pub(super) fn l_mut(&mut self) -> &mut Mat<T> {
        &mut self.l
    }

    pub(super) fn par(&self) -> Par {
        self.threads.par()
    }

    /// L, with room for `capacity` rows and columns, and scratch memory.
    pub(super) fn l_and_scratch(&mut self) -> (&mut Mat<T>, &mut Mat<T>, &mut Vec<T::Part>) {
        (&mut self.l, &mut self.scratch, &mut self.signs)
    }

    /// Replaces L by a copy in memory with more room, and allocates a shadow buffer of that size; the old one has been dropped.
    pub(super) fn move_to(&mut self, l: Mat<T>, capacity: usize) {
        (self.l, self.capacity) = (l, capacity);
        if self.safeguard == Safeguard::ShadowBuffer {
            self.make_shadow();
        }
    }

    pub(super) fn drop_shadow(&mut self) {
        self.shadow = None;
    }

    /// The number of threads for a sweep over these columns of a factor of that order.
    pub(super) fn threads_for(&self, outline: &Outline, order: usize, columns: &Range<usize>) -> usize {
        tuning::threads(self.threads, &plan(order, columns.clone(), outline), outline.rank())
    }

    /// Stages columns of L as V, from row `start` on; earlier rows of V are zero.
    pub(super) fn stage_from(&mut self, start: usize, v: MatRef<'_, T>) -> Result<Outline, Error> {
        self.carried.count = 0;
        self.sweep.expect(self.capacity);
        self.sweep.stage_from(start, v, self.threads)
    }

    /// Makes the residual of the only column of V a column of L. If its diagonal entry is zero, it becomes `pivot`.
    pub(super) fn column_of_v(&mut self, column: usize, pivot: T::Part) {
        let (order, to) = (self.l.nrows(), self.l.col_as_slice_mut(column));
        self.sweep.take_column(column..order, &mut to[column..]);
        let (first, turn) = (to[column].abs(), to[column].turn());
        if turn != T::ONE && first > T::Part::ZERO {
            to[column..].iter_mut().for_each(|entry| *entry = (*entry * turn).over(T::turn_size(turn)));
        }
        let pivot = if first == T::Part::ZERO { pivot.max(T::Part::TINY) } else { first };
        to[column] = T::of_real(pivot);
    }

    /// Sweeps over these columns of L, which are read `distance` rows and columns after the position to which they are written,
    /// on one thread.
    pub(super) fn sweep_on_its_way(
        &mut self,
        outline: &Outline,
        (order, distance): (usize, usize),
        columns: Range<usize>,
    ) -> Result<Modification, Stop> {
        debug_assert!(order + distance <= self.l.nrows());
        let (at, stride) = (self.l.as_ptr_mut(), self.l.col_stride());
        let src = at.cast_const().wrapping_offset(distance as isize * (stride + 1));
        let entries = Entries { src, src_stride: stride, dst: at, dst_stride: stride };
        // SAFETY: L has at least `distance` more rows and columns, and is borrowed exclusively.
        unsafe { sweep_on_its_way(entries, order, columns, outline, &mut self.sweep)? };
        self.wait()
    }

    /// A shadow buffer with the order and the capacity of L.
    pub(super) fn make_shadow(&mut self) -> &mut Mat<T> {
        let (order, capacity) = (self.l.nrows(), self.capacity);
        let shadow = self.shadow.get_or_insert_with(|| with_capacity(capacity, order));
        shadow.resize_with(order, order, |_, _| T::ZERO);
        shadow
    }
}

impl<T: Element> Swept<T> for HostFactor<T> {
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits { tall: true, scales: true, carries: true, ..Traits::new(self.safeguard) }
    }

    fn order(&self) -> usize {
        self.l.nrows()
    }

    fn pivot(&self, column: usize) -> T::Part {
        self.l[(column, column)].real()
    }

    fn row_norm(&self) -> Result<f64, Error> {
        Ok(row_norm(self.l.as_ref()))
    }

    fn reserve(&mut self, room: Room) -> Result<(), Error> {
        match room {
            Room::Capacity(capacity) => self.make_room(capacity),
            Room::Shadow => {
                self.make_shadow();
                Ok(())
            }
        }
    }

    #[inline(always)]
    fn modify_directly(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T::Part>) -> Option<Direct> {
        self.modify_small(v, weights)
    }

    #[inline(always)]
    fn stage(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error> {
        match *v {
            Staged::Given(v, weights) => self.stage_given(v, weights),
            Staged::Carrying { v, weights, z, y } => self.stage_carrying((v, weights), (z, y)),
            Staged::Columns(v) | Staged::Border(v) => self.stage_columns(v),
        }
    }

    #[inline(always)]
    fn sweep(&mut self, outline: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop> {
        let order = self.l.nrows();
        let (l, src_stride) = (self.l.as_ptr_mut(), self.l.col_stride());
        let (dst, dst_stride) = match target {
            Target::InPlace => (l, src_stride),
            Target::Shadow => {
                let shadow = self.make_shadow();
                (shadow.as_ptr_mut(), shadow.col_stride())
            }
            Target::Discard => (core::ptr::null_mut(), src_stride),
        };
        let entries = Entries { src: l.cast_const(), src_stride, dst, dst_stride };
        let rows = (order + self.carried.count, self.carried.rows(order, target));
        // SAFETY: L and the shadow are n × n, each with its own stride; z has a row for each carried right-hand side and n
        // columns; all are borrowed exclusively.
        unsafe { sweep(entries, rows, columns, outline, &mut self.sweep, self.threads) }
    }

    #[inline(always)]
    fn wait(&mut self) -> Result<Modification, Stop> {
        Ok(self.sweep.take_report())
    }

    /// By exchange or by copying, whichever moves fewer entries.
    #[inline(always)]
    fn commit(&mut self, start: usize) {
        let Self { l, shadow: Some(shadow), .. } = self else { return };
        let order = l.nrows();
        let entries = |columns: usize| columns * (columns + 1) / 2;
        let (changed, all) = (entries(order - start), entries(order));
        if changed < all - changed {
            copy_lower(shadow.as_ref(), l.as_mut(), start..order);
        } else {
            copy_lower(l.as_ref(), shadow.as_mut(), 0..start);
            core::mem::swap(l, shadow);
        }
    }
}

impl<T: Element> Storage<T> for HostFactor<T> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn read(&self, mut to: MatMut<'_, T>) -> Result<(), Error> {
        copy_lower(self.l.as_ref(), to.rb_mut(), 0..self.l.ncols());
        Ok(())
    }

    fn apply(&self, op: Op<'_>, rhs: OperandMut<'_, T>) -> Result<(), Error> {
        rhs.change_on_host(|mut rhs| {
            match op {
                Op::Solve(sides) => {
                    finite("rhs", rhs.as_ref())?;
                    sides.iter().for_each(|&side| solve(&self.l.as_ref(), side, rhs.rb_mut(), self.threads));
                }
                Op::Multiply(side) => self.multiply(side, rhs),
                Op::Eliminate(columns) => solve(&self.l.subcols(0, columns), Side::L, rhs, self.threads),
            }
            Ok(())
        })
    }

    fn carried(
        &mut self,
        (y, weights): (MatRef<'_, T>, &[T::Part]),
        start: usize,
        z: MatMut<'_, T>,
    ) -> Vec<f64> {
        let (order, count) = (z.nrows(), z.ncols());
        if start == order {
            let sum = |c: usize| {
                let rows = weights.iter().enumerate();
                rows.map(|(r, w)| w.to_f64() * y[(r, c)].square_to_f64()).sum()
            };
            return (0..count).map(sum).collect();
        }
        self.carried.put(start, z);
        self.sweep.residuals(order, count)
    }

    fn edit(&mut self, edit: Edit<'_, T>) -> Result<(), Stop> {
        match edit {
            Edit::Scale { columns, by } => self.scale(columns, by),
            Edit::Rearrange(new) => self.rearrange(new),
            Edit::Close { column, pivot } => self.column_of_v(column, pivot),
            Edit::MoveUp { from, to } => move_up(&mut self.l, (from, to), &mut self.column),
            Edit::Write { at, border } => write_border(&mut self.l, at, border, self.threads.par()),
            Edit::WriteThere { .. } => {}
        }
        Ok(())
    }

    fn rearrange_and_sweep(
        &mut self,
        new: &Rearrangement,
        outline: &Outline,
        columns: Range<usize>,
    ) -> Result<Option<Modification>, Stop> {
        self.sweep_closing_a_gap(new, outline, columns)
    }
}

impl<T: Element> HostFactor<T> {
    fn multiply(&self, side: Side, rhs: MatMut<'_, T>) {
        let (l, structure, conj) = match side {
            Side::L => (self.l.as_ref(), BlockStructure::TriangularLower, Conj::No),
            Side::Transpose => (self.l.transpose(), BlockStructure::TriangularUpper, Conj::Yes),
        };
        let from = rhs.to_owned();
        let (rhs, from, par) = (rhs, from.as_ref(), self.threads.par());
        let rectangular = BlockStructure::Rectangular;
        T::triangular_matmul(
            (rhs, rectangular),
            Accum::Replace,
            (l, structure, conj),
            (from, rectangular, Conj::No),
            T::ONE,
            par,
        );
    }

    fn scale(&mut self, columns: usize, by: T::Part) {
        let columns = self.l.as_mut().subcols_mut(0, columns);
        each_column(columns, self.threads.par(), |j, column| {
            let rows = column.nrows() - j;
            column.subrows_mut(j, rows).iter_mut().for_each(|entry| *entry = entry.times(by));
        });
    }

    #[inline(always)]
    pub(super) fn stage_given(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
    ) -> Result<Outline, Error> {
        self.carried.count = 0;
        self.sweep.expect(self.capacity);
        self.sweep.stage(v, weights, self.threads)
    }

    /// Stages V and w, with the columns of z as further rows of L and those of y as further rows of V.
    fn stage_carrying(
        &mut self,
        (v, weights): (MatRef<'_, T>, Weights<'_, T::Part>),
        (z, y): (MatRef<'_, T>, MatRef<'_, T>),
    ) -> Result<Outline, Error> {
        let (order, rank, count) = (v.nrows(), v.ncols(), z.ncols());
        let mut all = Mat::zeros(order + count, rank);
        all.subrows_mut(0, order).copy_from(v);
        all.subrows_mut(order, count).copy_from(y.adjoint());
        let staged = self.stage_given(&Operand::Host(all.as_ref()), weights)?;
        self.carried.copy_from(z);
        // The bound is on rows of L, to which only V adds.
        let mut squares = vec![0.0; order];
        for (r, column) in v.col_iter().enumerate().filter(|&(r, _)| weights.of(r) > T::Part::ZERO) {
            add_squares(&mut squares, column, weights.of(r).to_f64());
        }
        Ok(Outline { row_norm: staged.row_norm.min(largest_of(&squares).sqrt()), ..staged })
    }
}
