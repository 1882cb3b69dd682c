//! Moves rows and columns of L within its memory, on one thread.

use crate::element::Element;
use crate::structure::{Rearrangement, Run};
use cholupdate_kernels::rotation::Rotation;
use core::ops::Range;
use faer::Mat;
use faer::reborrow::ReborrowMut;

/// Moves a range of columns to their new positions, together with their rows; entries above the diagonal of L count as zeros.
/// Columns without an old position become zero.
pub(super) fn move_columns<T: Element>(l: &mut Mat<T>, new: &Rearrangement, columns: Range<usize>) {
    if !new.moves() {
        return zero_columns(l, new, columns);
    }
    let to_the_right = new.columns.iter().any(|run| run.to > run.from);
    let count = new.columns.len();
    let places = |run: &Run| run.to.max(columns.start)..(run.to + run.len).min(columns.end);
    for at in 0..count {
        let run = &new.columns[if to_the_right { count - 1 - at } else { at }];
        let places = places(run);
        for at in 0..places.len() {
            let to = if to_the_right { places.end - 1 - at } else { places.start + at };
            let from = to + run.from - run.to;
            if from == to {
                move_rows(l.col_as_slice_mut(to), new, to);
            } else {
                move_column(l, (from, to), new);
            }
        }
    }
    zero_columns(l, new, columns);
}

/// Sets columns without an old position to zero.
fn zero_columns<T: Element>(l: &mut Mat<T>, new: &Rearrangement, columns: Range<usize>) {
    let ends = core::iter::once(0).chain(new.columns.iter().map(|run| run.to + run.len));
    let starts = new.columns.iter().map(|run| run.to).chain([new.order]);
    for (end, start) in ends.zip(starts) {
        for column in end.max(columns.start)..start.min(columns.end) {
            l.col_as_slice_mut(column)[column..new.order].fill(T::ZERO);
        }
    }
}

/// Moves rows of one column, after row `column`, within it. All move up or all move down, except in a shift, whose single row
/// moves down after the others have moved up.
fn move_rows<T: Element>(entries: &mut [T], new: &Rearrangement, column: usize) {
    let moving = |down: bool| {
        let rows = new.rows.iter().filter(move |run| run.from > column && run.from != run.to);
        rows.filter(move |run| (run.to > run.from) == down)
    };
    let shifted = moving(true).find(|run| run.len == 1).map(|run| (run.to, entries[run.from]));
    moving(false).for_each(|run| entries.copy_within(run.old_places(), run.to));
    match shifted {
        Some((to, entry)) => entries[to] = entry,
        None => moving(true).for_each(|run| entries.copy_within(run.old_places(), run.to)),
    }
}

/// Moves a column to another position.
fn move_column<T: Element>(l: &mut Mat<T>, (from, to): (usize, usize), new: &Rearrangement) {
    let (before, after) = l.as_mut().split_at_col_mut(from.max(to));
    let (before, after) = (before.col_mut(from.min(to)), after.col_mut(0));
    let (mut to_column, from_column) = if to < from { (before, after) } else { (after, before) };
    let mut end = to;
    for run in new.rows.iter().filter_map(|run| run.old_from(from)).filter(|run| run.to + run.len > to) {
        let skipped = to.saturating_sub(run.to);
        let (first, old, len) = (run.to + skipped, run.from + skipped, run.len - skipped);
        to_column.rb_mut().subrows_mut(end, first - end).fill(T::ZERO);
        to_column.rb_mut().subrows_mut(first, len).copy_from(from_column.as_ref().subrows(old, len));
        end = first + len;
    }
    to_column.subrows_mut(end, new.order - end).fill(T::ZERO);
}

/// [`backwards`](crate::structure::backwards) in place: each column is rotated while it moves. `p` is scratch memory.
pub(super) fn move_up<T: Element>(l: &mut Mat<T>, (from, to): (usize, usize), p: &mut Vec<T>) {
    let order = l.nrows();
    for column in 0..to {
        l.col_as_slice_mut(column)[to..=from].rotate_right(1);
    }
    p.clear();
    p.resize(from + 1, T::ZERO);
    p.extend_from_slice(&l.col_as_slice(from)[from + 1..]);
    let mut norm = l[(from, from)].real();
    for column in (to..from).rev() {
        let rotation;
        (rotation, norm) = Rotation::eliminating(l[(from, column)], norm);
        let (mut before, mut after) = l.as_mut().split_at_col_mut(column + 1);
        let old = before.rb_mut().col_mut(column).try_as_col_major_mut();
        let new = after.rb_mut().col_mut(0).try_as_col_major_mut();
        if let (Some(old), Some(new)) = (old, new) {
            let (old, new) = (old.as_slice_mut(), new.as_slice_mut());
            let between = column + 1..from + 1;
            rotation.apply_to(&old[column..from], &mut new[between.clone()], &mut p[between]);
            rotation.apply_to(&old[from + 1..], &mut new[from + 1..], &mut p[from + 1..]);
            new[column + 1] = rotation.pivot(old[column]);
        }
    }
    p[to] = T::of_real(norm);
    l.col_as_slice_mut(to)[to..].copy_from_slice(&p[to..order]);
}
