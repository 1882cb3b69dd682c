//! Changes of L other than sweeps. Rows at the end are written in place; a change that moves rows copies L through host memory.

use super::factor::{DistributedFactor, lost, parts};
use super::solving::Solving;
use super::transfer::Transfer;
use crate::cpu::HostFactor;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::host::threads::Threads;
use crate::operand::Operand;
use crate::real::Real;
use crate::storage::{Edit, Room, Safeguard, Side, Storage, Swept};
use crate::structure::{Border, ColumnsAsV, Rearrangement, Run};
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use cholupdate_kernels::rotation::Rotation;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::{Accum, Conj, Mat, MatMut, MatRef};
use std::sync::PoisonError;

impl<T: Real> DistributedFactor<T> {
    /// As [`Swept::reserve`]. The rows that there are keep their places.
    pub(super) fn make_room(&mut self, capacity: usize) -> Result<(), Error> {
        self.quiet()?;
        // Memory as large as the old L is freed before the new one is allocated.
        self.queue = None;
        self.parts.iter_mut().for_each(|part| part.shadow = None);
        let mut new = parts(&self.devices, self.together, capacity)?;
        for (old, new) in self.parts.iter().zip(&new) {
            let stream = Stream::new(&new.device)?;
            // SAFETY: both belong to this factor, and nothing is in flight; the stream is waited for here.
            let copied = unsafe { stream.copy(old.slice(), new.slice().part(0..old.l.len())) };
            stream.synchronize().and(copied)?;
        }
        let inverses =
            new.iter().map(|part| part.inverses(self.order, capacity)).collect::<Result<_, _>>()?;
        core::mem::swap(&mut self.parts, &mut new);
        drop(new);
        self.capacity = capacity;
        // Tables of row blocks lead to the old memory.
        *self.solving() = Solving::new(inverses);
        // If there is no room for it, updates work in place.
        if self.reserve(Room::Shadow).is_err() {
            self.parts.iter_mut().for_each(|part| part.shadow = None);
        }
        Ok(())
    }

    fn solving(&mut self) -> &mut Solving<T> {
        self.solving.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_order(&mut self, order: usize) {
        self.diagonal.resize(order, T::ZERO);
        self.order = order;
        self.solving().inverses.iter_mut().for_each(|inverses| inverses.set_order(order));
    }

    /// Changes the order of L where no row moves: rows at the end go, or come, and are written later.
    pub(super) fn renumber(&mut self, new: &Rearrangement) -> Result<(), Stop> {
        self.quiet().map_err(Stop::before)?;
        self.set_order(new.order);
        Ok(())
    }

    /// Writes the rows of a border, and its columns below them. An error comes after others have made room for them.
    pub(super) fn write_border(&mut self, at: usize, border: &Border<'_, T>) -> Result<(), Stop> {
        self.quiet().map_err(|error| lost(error, true))?;
        let rank = border.corner.nrows();
        self.solving().forget();
        let pivots = border.corner.diagonal().column_vector();
        self.diagonal[at..].iter_mut().zip(pivots.iter()).for_each(|(to, from)| *to = *from);
        let write = || {
            for part in &self.parts {
                let mut transfer = Transfer::new(part, self.order)?;
                transfer.write((at, 0), border.left.transpose())?;
                transfer.write((at, at), border.corner)?;
                transfer.write((at + rank, at), border.below)?;
            }
            Ok(())
        };
        write().map_err(|error| lost(error, true))
    }

    /// Changes L in host memory.
    fn change_on_host(
        &mut self,
        change: impl FnOnce(HostFactor<T>) -> Result<Mat<T>, Stop>,
    ) -> Result<(), Stop> {
        let mut l = Mat::zeros(self.order, self.order);
        self.read(l.as_mut()).map_err(Stop::before)?;
        let mut host = HostFactor::new(Threads::Pool, Safeguard::None, l);
        host.reserve(Room::Capacity(self.capacity)).map_err(Stop::before)?;
        let new = change(host)?;
        // The inverses are no longer valid either.
        self.set_order(new.nrows());
        self.write(new.as_ref()).map_err(|error| lost(error, true))
    }

    /// Makes an edit in host memory.
    pub(super) fn edit_on_host(&mut self, edit: Edit<'_, T>) -> Result<(), Stop> {
        self.change_on_host(|mut host| {
            host.edit(edit)?;
            Ok(host.into_l())
        })
    }

    /// Moves row and column `from` of A before row `to`, with the roundings of the resident engine
    /// (`kernels/resident/rearrange.cu`).
    pub(super) fn move_up(&mut self, from: usize, to: usize) -> Result<(), Stop> {
        self.change_on_host(|host| {
            let old = host.l();
            let (order, mut norm) = (old.nrows(), old[(from, from)].to_f64());
            let mut p: Vec<f64> =
                (0..order).map(|i| if i > from { old[(i, from)].to_f64() } else { 0.0 }).collect();
            let mut rotations = Vec::with_capacity(from - to);
            for j in (to..from).rev() {
                let rotation;
                (rotation, norm) = Rotation::eliminating(old[(from, j)].to_f64(), norm);
                rotations.push(rotation);
            }
            let mut new = Rearrangement::default();
            let mut l = rearranged(old.as_ref(), new.backwards(from, to, order));
            for (j, rotation) in (to + 1..=from).rev().zip(rotations) {
                let Rotation { x, s, .. } = rotation;
                let pivot = T::from_f64(rotation.pivot(l[(j, j)].to_f64())).max(T::TINY);
                for (entry, p) in l.col_mut(j).subrows_mut(j, order - j).iter_mut().zip(&mut p[j..]) {
                    let old = entry.to_f64();
                    *entry = T::from_f64(old + x.mul_add(old, -(s * *p)));
                    *p += s.mul_add(old, x * *p);
                }
                l[(j, j)] = pivot;
            }
            let column = l.col_mut(to).subrows_mut(to, order - to);
            column.iter_mut().zip(&p[to..]).for_each(|(entry, p)| *entry = T::from_f64(*p));
            l[(to, to)] = T::from_f64(norm);
            Ok(l)
        })
    }

    /// Stages columns of L, and other columns, as V.
    pub(super) fn stage_columns(&mut self, v: &ColumnsAsV<'_, T>) -> Result<Outline, Error> {
        let (row, minus) = v.minus;
        let plus = v.columns.len();
        let mut all = Mat::zeros(v.order, plus + minus.ncols());
        all.submatrix_mut(row, plus, minus.nrows(), minus.ncols()).copy_from(minus);
        for (r, &column) in v.columns.iter().enumerate() {
            let mut entries = vec![T::ZERO; self.order];
            self.each_piece(column..column + 1, |rows, _, piece| {
                entries[rows].iter_mut().zip(piece.col(0).iter()).for_each(|(to, from)| *to = *from);
            })?;
            for run in v.rows.iter().filter_map(|run| run.old_from(column)) {
                let to = all.col_mut(r).subrows_mut(run.to, run.len);
                to.iter_mut().zip(&entries[run.old_places()]).for_each(|(to, from)| *to = *from);
            }
        }
        let mut signs = Vec::new();
        self.stage_given(&Operand::Host(all.as_ref()), v.weights(&mut signs))
    }

    /// B ← L B, or Lᵀ B. (n × m)
    pub(super) fn multiply(&self, side: Side, rhs: MatMut<'_, T>) -> Result<(), Error> {
        let (from, mut product) = (rhs.to_owned(), Mat::zeros(rhs.nrows(), rhs.ncols()));
        let add = |to: MatMut<'_, T>, l: MatRef<'_, T>, b: MatRef<'_, T>| {
            let all = BlockStructure::Rectangular;
            T::triangular_matmul(
                (to, all),
                Accum::Add,
                (l, all, Conj::No),
                (b, all, Conj::No),
                T::ONE,
                Threads::Pool.par(),
            );
        };
        self.each_piece(0..self.order, |rows, columns, piece| match side {
            Side::L => add(
                product.subrows_mut(rows.start, rows.len()),
                piece,
                from.subrows(columns.start, columns.len()),
            ),
            Side::Transpose => add(
                product.subrows_mut(columns.start, columns.len()),
                piece.transpose(),
                from.subrows(rows.start, rows.len()),
            ),
        })?;
        let mut rhs = rhs;
        rhs.copy_from(product);
        Ok(())
    }
}

/// Rows and columns of L as the map says, which need not move the same way.
fn rearranged<T: Real>(l: MatRef<'_, T>, new: &Rearrangement) -> Mat<T> {
    let places = |runs: &[Run]| {
        let mut from = vec![None; new.order];
        for run in runs {
            from[run.new_places()].iter_mut().zip(run.old_places()).for_each(|(to, from)| *to = Some(from));
        }
        from
    };
    let (rows, columns) = (places(&new.rows), places(&new.columns));
    Mat::from_fn(new.order, new.order, |i, j| match (rows[i], columns[j]) {
        (Some(row), Some(column)) if row >= column => l[(row, column)],
        _ => T::ZERO,
    })
}
