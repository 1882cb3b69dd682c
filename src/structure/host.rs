//! Rearrangement of rows and columns of L in host memory, for the engines that store it there.

use super::scratch::room;
use super::{Border, ColumnsAsV, Rearrangement, Run};
use crate::element::Element;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use crate::real::Real;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use cholupdate_kernels::rotation::Rotation;
use core::ops::Range;
use faer::reborrow::{IntoConst, ReborrowMut};
use faer::{ColMut, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// From this number of scalars on, waking other threads pays.
const WORTH_SHARING: usize = 1 << 17;

/// L in host memory, by columns. Entries above the diagonal count as zeros, and are not stored.
pub trait HostColumns<T: Element>: Sync {
    /// Rows of L.
    fn order(&self) -> usize;

    /// Sets the order. New entries are unspecified. There is room for them.
    fn set_order(&mut self, order: usize);

    /// Copies these rows of a column. They are on or below the diagonal.
    fn get(&self, column: usize, rows: Range<usize>, to: ColMut<'_, T>);

    /// Writes rows of neighbouring columns, from `row` on. Entries above the diagonal are ignored.
    fn set(&mut self, row: usize, columns: Range<usize>, from: MatRef<'_, T>, par: Par);
}

/// Copies rows of a column, with zeros for those above the diagonal.
fn gather<T: Element>(
    l: &impl HostColumns<T>,
    column: usize,
    rows: impl Iterator<Item = Run>,
    mut to: ColMut<'_, T>,
) {
    let mut end = 0;
    for run in rows.filter_map(|run| run.old_from(column)) {
        to.rb_mut().subrows_mut(end, run.to - end).fill(T::ZERO);
        l.get(column, run.old_places(), to.rb_mut().subrows_mut(run.to, run.len));
        end = run.to + run.len;
    }
    let rest = to.nrows() - end;
    to.subrows_mut(end, rest).fill(T::ZERO);
}

/// Forms V from the columns of L, in memory for up to `most` rows.
pub fn gather_v<'a, T: Element>(
    l: &impl HostColumns<T>,
    v: &ColumnsAsV<'_, T>,
    (scratch, most): (&'a mut Mat<T>, usize),
) -> MatRef<'a, T> {
    let (row, minus) = v.minus;
    let mut all = room(scratch, (v.order, most), v.columns.len() + minus.ncols());
    let (mut plus, mut others) = all.rb_mut().split_at_col_mut(v.columns.len());
    for (r, &column) in v.columns.iter().enumerate() {
        gather(l, column, v.rows.iter().copied(), plus.rb_mut().col_mut(r));
    }
    let (mut zeros, below) = others.rb_mut().split_at_row_mut(row);
    zeros.fill(T::ZERO);
    below.subrows_mut(0, minus.nrows()).copy_from(minus);
    all.into_const()
}

/// Rearranges rows and columns of L in place. Some columns at a time are copied to `scratch` and from there to their new
/// positions, which no later copy reads.
pub fn rearrange<T: Element>(
    l: &mut impl HostColumns<T>,
    new: &Rearrangement,
    scratch: &mut Mat<T>,
    par: Par,
) {
    rearrange_with(l, new, scratch, par, |_, _, _| {});
}

/// The same. `change` is applied to each block of columns in `scratch`, with the block's first row and column in the new L.
fn rearrange_with<T: Element>(
    l: &mut impl HostColumns<T>,
    new: &Rearrangement,
    scratch: &mut Mat<T>,
    par: Par,
    change: impl FnMut(usize, usize, MatMut<'_, T>),
) {
    l.set_order(l.order().max(new.order));
    rearrange_columns(l, new, scratch, par, change);
    l.set_order(new.order);
}

/// The same, in an L with room for both orders. Columns that move left are copied from the left on, those that move right from
/// the right on.
fn rearrange_columns<T: Element>(
    l: &mut impl HostColumns<T>,
    new: &Rearrangement,
    scratch: &mut Mat<T>,
    par: Par,
    mut change: impl FnMut(usize, usize, MatMut<'_, T>),
) {
    // With one thread, a column at a time, so that it stays in the first-level cache.
    let shared = !matches!(par, Par::Seq) && new.order * new.order >= 8 * WORTH_SHARING;
    let together = if shared { (8 * WORTH_SHARING).div_ceil(new.order).max(16 * par.degree()) } else { 1 };
    let first = new.unchanged();
    let mut block = |to: usize, cols: usize, from: Option<usize>| {
        // Earlier rows belong to other columns, or do not move.
        let row = first.max(to.min(from.unwrap_or(to)));
        let mut block = room(scratch, (new.order - row, new.order), cols);
        match from {
            Some(from) => each_column(block.rb_mut(), par, |j, column| {
                let rows = new.rows.iter().filter_map(|run| run.new_from(row));
                gather(l, from + j, rows, column);
            }),
            None => block.fill(T::ZERO),
        }
        change(row, to, block.rb_mut());
        l.set(row, to..to + cols, block.as_ref(), par);
    };
    let mut some = |places: Range<usize>, from: Option<usize>, to_the_right: bool| {
        let blocks = places.len().div_ceil(together);
        for at in 0..blocks {
            let at = if to_the_right { blocks - 1 - at } else { at };
            let to = places.start + at * together;
            block(to, together.min(places.end - to), from.map(|from| from + at * together));
        }
    };
    // A column that keeps its position is processed if some of its rows move.
    let moving_rows = new.rows.iter().filter(|run| run.to != run.from);
    let last_moving_row = moving_rows.map(|run| run.old_places().end).max().unwrap_or(0);
    let to_the_right = new.columns.iter().any(|run| run.to > run.from);
    let place = |at: usize| if to_the_right { new.columns.len() - 1 - at } else { at };
    for run in (0..new.columns.len()).map(|at| new.columns[place(at)]) {
        if run.to != run.from || run.from < last_moving_row {
            some(run.new_places(), Some(run.from), to_the_right);
        }
    }
    let ends = core::iter::once(0).chain(new.columns.iter().map(|run| run.to + run.len));
    let starts = new.columns.iter().map(|run| run.to).chain([new.order]);
    for (end, start) in ends.zip(starts) {
        some(end..start, None, false);
    }
}

/// Moves row `from` of A up to row `to` < from.
///
/// Its entries in L between the two are rotated into its column, the last one first. The rotations are orthogonal and cannot
/// break down. With z the row, τ_j = ‖z_{j..}‖ and p the column as far as it has been computed,
///
/// ```text
/// l'_ij = (τ_{j+1} l_ij − z_j p_i) / τ_j          p_i ← (z_j l_ij + τ_{j+1} p_i) / τ_j
/// ```
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub fn backwards<T: Real>(
    l: &mut impl HostColumns<T>,
    (from, to): (usize, usize),
    scratch: &mut Mat<T>,
    par: Par,
) {
    let mut new = Rearrangement::default();
    let new = new.backwards(from, to, l.order());
    let mut z = Mat::zeros(1, from - to + 1);
    (to..=from).for_each(|j| l.get(j, from..from + 1, z.col_mut(j - to)));
    let mut column = Mat::zeros(new.order, 1);
    gather(l, from, new.rows.iter().copied(), column.col_mut(0));
    let mut norm = z[(0, from - to)];
    rearrange_with(l, new, scratch, par, |row, first, mut block| {
        for j in (0..block.ncols()).rev().filter(|j| (to + 1..=from).contains(&(first + j))) {
            let z = z[(0, first + j - 1 - to)];
            let rotation;
            (rotation, norm) = Rotation::eliminating(z, norm);
            let below = first + j - row;
            let old = block.rb_mut().col_mut(j).try_as_col_major_mut();
            let p = column.col_as_slice_mut(0);
            if let Some(old) = old {
                let old = &mut old.as_slice_mut()[below..];
                let pivot = rotation.pivot(old[0]);
                rotation.apply(old, &mut p[first + j..]);
                old[0] = pivot;
            }
        }
    });
    column[(to, 0)] = norm;
    l.set(to, to..to + 1, column.as_ref().subrows(to, new.order - to), Par::Seq);
}

/// Applies `work` to each column, on several threads if there is enough work.
pub fn each_column<'a, T: Element>(
    mut columns: MatMut<'a, T>,
    par: Par,
    work: impl Fn(usize, ColMut<'_, T>) + Sync,
) {
    if matches!(par, Par::Seq) || columns.nrows() * columns.ncols() < WORTH_SHARING {
        for j in 0..columns.ncols() {
            work(j, columns.rb_mut().col_mut(j));
        }
    } else {
        columns.par_col_iter_mut().enumerate().for_each(|(j, column)| work(j, column));
    }
}

/// Writes the rows and columns of a border to L, from row and column `at` on.
pub fn write_border<T: Element>(l: &mut impl HostColumns<T>, at: usize, border: &Border<'_, T>, par: Par) {
    let rank = border.rows();
    l.set(at, 0..at, border.left.transpose(), par);
    l.set(at, at..at + rank, border.corner, par);
    l.set(at + rank, at..at + rank, border.below, par);
}
