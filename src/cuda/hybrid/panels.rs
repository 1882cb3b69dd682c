//! How the hybrid engine keeps L in host memory: packed, a panel at a time.

use crate::cuda::device::Device;
use crate::cuda::memory::{Pinned, whole_lines};
use crate::error::Error;
use crate::host::buffer::Buffer;
use crate::host::layout::stride;
use crate::scalar::Scalar;
use crate::sweep::plan::Panel;
use core::ops::Range;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par};

/// L (n × n), lower triangle, in panels of `panel_cols` columns.
pub(super) struct Panels<T> {
    order: usize,
    panel_cols: usize,
    panels: Vec<Parts<T>>,
}

/// One panel of b columns: what the CPU works on, and what goes through the device.
struct Parts<T> {
    /// The host part: the diagonal block and the next diagonal rows, column-major. (2 b × b, or what there is of it)
    host: Buffer<T>,
    /// The trailing rows, column-major and contiguous, so that one copy moves them; columns are whole lines apart. (rows × b)
    trailing: Pinned<T>,
}

/// The rows of a panel that are its host part, by absolute row.
pub(super) fn host_rows(panel: Panel, order: usize) -> Range<usize> {
    panel.first..order.min(panel.end() + panel.cols)
}

/// The trailing rows below them.
pub(super) fn trailing_rows(panel: Panel, order: usize) -> Range<usize> {
    host_rows(panel, order).end..order
}

impl<T: Scalar> Panels<T> {
    /// # Errors
    /// [`Error::Device`] where the host has not that much memory that can be locked.
    pub fn zeros(device: &Device, order: usize, panel_cols: usize) -> Result<Self, Error> {
        let mut all = Self { order, panel_cols, panels: Vec::new() };
        for index in 0..order.div_ceil(panel_cols) {
            let panel = all.panel(index);
            let mut host = Buffer::default();
            host.reserve(stride::<T>(host_rows(panel, order).len()) as usize * panel.cols);
            let trailing = whole_lines::<T>(trailing_rows(panel, order).len()) * panel.cols;
            all.panels.push(Parts { host, trailing: Pinned::new(device, trailing)? });
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

    /// Where the host part of `panel` is, as seen from entry (0, 0) of L, and its column stride. The address lies
    /// outside the memory.
    pub fn host_part(&mut self, panel: Panel) -> (*mut T, isize) {
        let stride = stride::<T>(host_rows(panel, self.order).len());
        let start = self.panels[panel.first / self.panel_cols].host.as_mut_ptr();
        let first = panel.first as isize;
        (start.wrapping_offset(-first * stride - first), stride)
    }

    /// The memory of a panel's trailing rows.
    pub fn trailing(&self, panel: Panel) -> &Pinned<T> {
        &self.panels[panel.first / self.panel_cols].trailing
    }

    /// Exchanges the panels from column `start` on, which begins a panel.
    pub fn exchange(&mut self, other: &mut Self, start: usize) {
        let from = start / self.panel_cols;
        self.panels[from..].swap_with_slice(&mut other.panels[from..]);
    }

    /// Host part and trailing rows of a panel, each with its rows.
    fn parts(&self, index: usize) -> [(Range<usize>, MatRef<'_, T>); 2] {
        let panel = self.panel(index);
        let Parts { host, trailing } = &self.panels[index];
        let (of_host, below) = (host_rows(panel, self.order), trailing_rows(panel, self.order));
        let (host_stride, stride) = (stride::<T>(of_host.len()), whole_lines::<T>(below.len()));
        // SAFETY: `zeros` made both parts of these shapes, and no copy is in flight while a factor is looked
        // at: a sweep borrows it exclusively and waits for its copies.
        unsafe {
            let host = MatRef::from_raw_parts(host.as_ptr(), of_host.len(), panel.cols, 1, host_stride);
            let trailing = trailing.as_ptr().cast_const();
            let trailing = MatRef::from_raw_parts(trailing, below.len(), panel.cols, 1, stride as isize);
            [(of_host, host), (below, trailing)]
        }
    }

    fn parts_mut(&mut self, index: usize) -> [(Range<usize>, MatMut<'_, T>); 2] {
        let panel = self.panel(index);
        let (of_host, below) = (host_rows(panel, self.order), trailing_rows(panel, self.order));
        let (host_stride, stride) = (stride::<T>(of_host.len()), whole_lines::<T>(below.len()));
        let Parts { host, trailing } = &mut self.panels[index];
        // SAFETY: as in `parts`, borrowed exclusively; the two parts are apart.
        unsafe {
            let host =
                MatMut::from_raw_parts_mut(host.as_mut_ptr(), of_host.len(), panel.cols, 1, host_stride);
            let trailing = trailing.as_ptr();
            let trailing = MatMut::from_raw_parts_mut(trailing, below.len(), panel.cols, 1, stride as isize);
            [(of_host, host), (below, trailing)]
        }
    }

    /// Copies L to a matrix of zeros. (n × n)
    pub fn read(&self, mut l: MatMut<'_, T>) {
        for index in 0..self.panels.len() {
            let first = self.panel(index).first;
            for (rows, part) in self.parts(index) {
                for j in 0..part.ncols() {
                    let column = first + j;
                    let to = rows.start.max(column)..rows.end;
                    let entries = part.col(j).subrows(to.start - rows.start, to.len());
                    l.rb_mut().col_mut(column).subrows_mut(to.start, to.len()).copy_from(entries);
                }
            }
        }
    }

    /// The diagonal entries of L.
    pub fn diagonal(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.panels.len()).flat_map(|index| {
            let [(_, host), _] = self.parts(index);
            (0..host.ncols()).map(move |j| host[(j, j)])
        })
    }

    /// The largest magnitude in L.
    pub fn norm_max(&self) -> T {
        let parts = (0..self.panels.len()).flat_map(|index| self.parts(index));
        parts.fold(T::ZERO, |largest, (_, part)| largest.max(part.norm_max()))
    }

    /// Solves L Y = B. (n × m)
    pub fn solve_lower(&self, mut rhs: MatMut<'_, T>, par: Par) {
        for index in 0..self.panels.len() {
            let Panel { first, cols, .. } = self.panel(index);
            let [(_, host), (_, trailing)] = self.parts(index);
            let (mut x, below) = rhs.rb_mut().subrows_mut(first, self.order - first).split_at_row_mut(cols);
            let (diagonal, next) = host.split_at_row(cols);
            let (mut below_next, mut below_trailing) = below.split_at_row_mut(next.nrows());
            solve_lower_triangular_in_place(diagonal, x.rb_mut(), par);
            matmul(below_next.rb_mut(), Accum::Add, next, x.rb(), -T::ONE, par);
            matmul(below_trailing.rb_mut(), Accum::Add, trailing, x.rb(), -T::ONE, par);
        }
    }

    /// Solves Lᵀ X = Y. (n × m)
    pub fn solve_transpose(&self, mut rhs: MatMut<'_, T>, par: Par) {
        for index in (0..self.panels.len()).rev() {
            let Panel { first, cols, .. } = self.panel(index);
            let [(_, host), (_, trailing)] = self.parts(index);
            let (mut x, below) = rhs.rb_mut().subrows_mut(first, self.order - first).split_at_row_mut(cols);
            let (diagonal, next) = host.split_at_row(cols);
            let (below_next, below_trailing) = below.rb().split_at_row(next.nrows());
            matmul(x.rb_mut(), Accum::Add, next.transpose(), below_next, -T::ONE, par);
            matmul(x.rb_mut(), Accum::Add, trailing.transpose(), below_trailing, -T::ONE, par);
            solve_upper_triangular_in_place(diagonal.transpose(), x.rb_mut(), par);
        }
    }
}
