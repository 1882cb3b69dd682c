//! How the hybrid engine keeps L in host memory: packed, a panel at a time.

use crate::cuda::device::Device;
use crate::cuda::memory::Pinned;
use crate::error::Error;
use crate::host::buffer::Buffer;
use crate::host::layout::stride;
use crate::scalar::Scalar;
use crate::sweep::plan::Panel;
use core::ops::Range;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// L (n × n), lower triangle, in panels of `panel_cols` columns.
pub(super) struct Panels<T> {
    order: usize,
    panel_cols: usize,
    panels: Vec<Parts<T>>,
}

/// One panel of b columns: what the CPU works on, and what goes through the device.
struct Parts<T> {
    /// The diagonal block and the head below it, column-major. (2 b × b, or what there is of it)
    top: Buffer<T>,
    /// The rows below, column-major and contiguous, so that one copy moves them. (rows × b)
    tail: Pinned<T>,
}

/// The rows of a panel that are its top, by absolute row.
pub(super) fn top_rows(panel: Panel, order: usize) -> Range<usize> {
    panel.first..order.min(panel.end() + panel.cols)
}

/// The rows below them.
pub(super) fn tail_rows(panel: Panel, order: usize) -> Range<usize> {
    top_rows(panel, order).end..order
}

/// Scalars from one column of a tail to the next: whole lines of 128 bytes.
pub(super) fn tail_stride<T>(rows: usize) -> usize {
    rows.next_multiple_of(128 / size_of::<T>())
}

impl<T: Scalar> Panels<T> {
    /// # Errors
    /// [`Error::Device`] where the host has not that much memory that can be locked.
    pub fn zeros(device: &Device, order: usize, panel_cols: usize) -> Result<Self, Error> {
        let mut all = Self { order, panel_cols, panels: Vec::new() };
        for index in 0..order.div_ceil(panel_cols) {
            let panel = all.panel(index);
            let mut top = Buffer::default();
            top.reserve(stride::<T>(top_rows(panel, order).len()) as usize * panel.cols);
            let tail = tail_stride::<T>(tail_rows(panel, order).len()) * panel.cols;
            all.panels.push(Parts { top, tail: Pinned::new(device, tail)? });
        }
        Ok(all)
    }

    /// # Errors
    /// As [`zeros`](Self::zeros).
    pub fn from_factor(device: &Device, l: MatRef<'_, T>, panel_cols: usize) -> Result<Self, Error> {
        let mut all = Self::zeros(device, l.nrows(), panel_cols)?;
        for index in 0..all.panels.len() {
            let panel = all.panel(index);
            for (rows, mut part) in all.parts_mut(index) {
                for j in 0..panel.cols {
                    let column = panel.first + j;
                    let from = rows.start.max(column)..rows.end;
                    let (skipped, len) = (from.start - rows.start, from.len());
                    let entries = l.col(column).subrows(from.start, len);
                    part.rb_mut().col_mut(j).subrows_mut(skipped, len).copy_from(entries);
                }
            }
        }
        Ok(all)
    }

    pub fn order(&self) -> usize {
        self.order
    }

    pub fn panel_cols(&self) -> usize {
        self.panel_cols
    }

    /// Panel `index`, counted from column 0.
    fn panel(&self, index: usize) -> Panel {
        let first = index * self.panel_cols;
        Panel { index, first, cols: self.panel_cols.min(self.order - first) }
    }

    /// Where the top of `panel` is, as seen from entry (0, 0) of L, and its column stride. The address lies
    /// outside the memory.
    pub fn top(&mut self, panel: Panel) -> (*mut T, isize) {
        let stride = stride::<T>(top_rows(panel, self.order).len());
        let start = self.panels[panel.first / self.panel_cols].top.as_mut_ptr();
        let first = panel.first as isize;
        (start.wrapping_offset(-first * stride - first), stride)
    }

    /// The memory of a panel's tail.
    pub fn tail(&self, panel: Panel) -> &Pinned<T> {
        &self.panels[panel.first / self.panel_cols].tail
    }

    /// Exchanges the panels from column `start` on, which begins a panel.
    pub fn exchange(&mut self, other: &mut Self, start: usize) {
        let from = start / self.panel_cols;
        self.panels[from..].swap_with_slice(&mut other.panels[from..]);
    }

    /// Top and tail of a panel, each with its rows.
    fn parts(&self, index: usize) -> [(Range<usize>, MatRef<'_, T>); 2] {
        let panel = self.panel(index);
        let Parts { top, tail } = &self.panels[index];
        let (top_rows, tail_rows) = (top_rows(panel, self.order), tail_rows(panel, self.order));
        let (top_stride, tail_stride) = (stride::<T>(top_rows.len()), tail_stride::<T>(tail_rows.len()));
        // SAFETY: `zeros` made both parts of these shapes, and no copy is under way while a factor is looked
        // at: a sweep borrows it exclusively and waits for its copies.
        unsafe {
            let top = MatRef::from_raw_parts(top.as_ptr(), top_rows.len(), panel.cols, 1, top_stride);
            let tail = tail.as_ptr().cast_const();
            let tail = MatRef::from_raw_parts(tail, tail_rows.len(), panel.cols, 1, tail_stride as isize);
            [(top_rows, top), (tail_rows, tail)]
        }
    }

    fn parts_mut(&mut self, index: usize) -> [(Range<usize>, MatMut<'_, T>); 2] {
        let panel = self.panel(index);
        let (top_rows, tail_rows) = (top_rows(panel, self.order), tail_rows(panel, self.order));
        let (top_stride, tail_stride) = (stride::<T>(top_rows.len()), tail_stride::<T>(tail_rows.len()));
        let Parts { top, tail } = &mut self.panels[index];
        // SAFETY: as in `parts`, borrowed exclusively; the two parts are apart.
        unsafe {
            let top = MatMut::from_raw_parts_mut(top.as_mut_ptr(), top_rows.len(), panel.cols, 1, top_stride);
            let tail = tail.as_ptr();
            let tail = MatMut::from_raw_parts_mut(tail, tail_rows.len(), panel.cols, 1, tail_stride as isize);
            [(top_rows, top), (tail_rows, tail)]
        }
    }

    /// L, zero above the diagonal. (n × n)
    pub fn to_factor(&self) -> Mat<T> {
        let mut l = Mat::zeros(self.order, self.order);
        for index in 0..self.panels.len() {
            let first = self.panel(index).first;
            for (rows, part) in self.parts(index) {
                for j in 0..part.ncols() {
                    let column = first + j;
                    let to = rows.start.max(column)..rows.end;
                    let entries = part.col(j).subrows(to.start - rows.start, to.len());
                    l.col_mut(column).subrows_mut(to.start, to.len()).copy_from(entries);
                }
            }
        }
        l
    }

    /// The diagonal entries of L.
    pub fn pivots(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.panels.len()).flat_map(|index| {
            let [(_, top), _] = self.parts(index);
            (0..top.ncols()).map(move |j| top[(j, j)])
        })
    }

    /// The largest magnitude in L.
    pub fn norm_max(&self) -> T {
        let parts = (0..self.panels.len()).flat_map(|index| self.parts(index));
        parts.fold(T::ZERO, |largest, (_, part)| largest.max(part.norm_max()))
    }

    /// B ← A⁻¹ B. (n × m)
    pub fn solve_in_place(&self, mut rhs: MatMut<'_, T>, par: Par) {
        for index in 0..self.panels.len() {
            let Panel { first, cols, .. } = self.panel(index);
            let [(_, top), (_, tail)] = self.parts(index);
            let (x, mut below) = rhs.rb_mut().subrows_mut(first, self.order - first).split_at_row_mut(cols);
            let (diagonal, head) = top.split_at_row(cols);
            let (mut below_head, mut below_tail) = below.rb_mut().split_at_row_mut(head.nrows());
            let mut x = x;
            solve_lower_triangular_in_place(diagonal, x.rb_mut(), par);
            matmul(below_head.rb_mut(), Accum::Add, head, x.rb(), -T::ONE, par);
            matmul(below_tail.rb_mut(), Accum::Add, tail, x.rb(), -T::ONE, par);
        }
        for index in (0..self.panels.len()).rev() {
            let Panel { first, cols, .. } = self.panel(index);
            let [(_, top), (_, tail)] = self.parts(index);
            let (mut x, below) = rhs.rb_mut().subrows_mut(first, self.order - first).split_at_row_mut(cols);
            let (diagonal, head) = top.split_at_row(cols);
            let (below_head, below_tail) = below.rb().split_at_row(head.nrows());
            matmul(x.rb_mut(), Accum::Add, head.transpose(), below_head, -T::ONE, par);
            matmul(x.rb_mut(), Accum::Add, tail.transpose(), below_tail, -T::ONE, par);
            solve_upper_triangular_in_place(diagonal.transpose(), x.rb_mut(), par);
        }
    }
}
