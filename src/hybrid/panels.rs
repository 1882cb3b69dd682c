//! The layout of L in host memory in the hybrid engine: packed, by panels.

use super::api::{Api, LockedMemory};
use crate::cpu::solve::Blocks;
use crate::error::Error;
use crate::host::layout::{stride, whole_lines};
use crate::real::Real;
use crate::storage::Side;
use crate::structure::{HostColumns, each_column};
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::panel::Panel;
use core::ops::Range;
use faer::reborrow::ReborrowMut;
use faer::{Accum, ColMut, ColRef, Conj, MatMut, MatRef, Par};

/// L (n × n), lower triangle, in panels of `panel_cols` columns. There is room for a factor of order `capacity`, both in the
/// number of panels and in their rows.
pub(super) struct Panels<T: Real, A: Api> {
    order: usize,
    capacity: usize,
    panel_cols: usize,
    panels: Vec<Parts<T, A>>,
}

/// One panel of b columns: the part that the CPU processes, and the part that is streamed through the device.
struct Parts<T: Real, A: Api> {
    /// The host part: the diagonal block and the next diagonal rows, column-major. (2 b × b, or less at the end)
    host: Buffer<T>,
    /// The trailing rows, column-major and contiguous, so that one copy moves them; the column stride is a multiple of whole
    /// lines. (rows × b)
    trailing: A::Locked<T>,
}

/// The rows of a panel's host part, by absolute row.
pub(super) fn host_rows(panel: Panel, order: usize) -> Range<usize> {
    panel.first..order.min(panel.end() + panel.cols)
}

/// The trailing rows below the host part.
pub(super) fn trailing_rows(panel: Panel, order: usize) -> Range<usize> {
    host_rows(panel, order).end..order
}

impl<T: Real, A: Api> Panels<T, A> {
    /// # Errors
    /// [`Error::Device`] if the host does not have that much memory that can be locked.
    pub fn zeros(device: &A, order: usize, capacity: usize, panel_cols: usize) -> Result<Self, Error> {
        let mut all = Self { order, capacity, panel_cols, panels: Vec::new() };
        for index in 0..capacity.div_ceil(panel_cols) {
            let (panel, [host_stride, stride]) = (all.of_order(index, capacity), all.strides(index));
            let mut host = Buffer::default();
            host.reserve(host_stride * panel.cols);
            all.panels.push(Parts { host, trailing: device.locked(stride * panel.cols)? });
        }
        Ok(all)
    }

    /// # Errors
    /// As [`zeros`](Self::zeros).
    pub fn from_factor(device: &A, l: MatRef<'_, T>, panel_cols: usize) -> Result<Self, Error> {
        let order = l.nrows();
        let mut all = Self::zeros(device, order, order, panel_cols)?;
        all.set(0, 0..order, l, Par::Seq);
        Ok(all)
    }

    /// Copies the entries of another L of this order.
    pub fn copy_from(&mut self, other: &Self) {
        for index in other.indices() {
            let first = other.panel(index).first;
            for (rows, part) in other.parts(index) {
                self.set(rows.start, first..first + part.ncols(), part, Par::Seq);
            }
        }
    }

    pub fn panel_cols(&self) -> usize {
        self.panel_cols
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Panel `index`, counted from column 0.
    fn panel(&self, index: usize) -> Panel {
        self.of_order(index, self.order)
    }

    /// The same for a factor of this order.
    fn of_order(&self, index: usize, order: usize) -> Panel {
        let first = index * self.panel_cols;
        Panel { index, first, cols: self.panel_cols.min(order - first) }
    }

    /// Indices of the panels of L.
    fn indices(&self) -> Range<usize> {
        0..self.order.div_ceil(self.panel_cols)
    }

    /// The column strides of a panel, in its host part and its trailing rows.
    fn strides(&self, index: usize) -> [usize; 2] {
        let panel = self.of_order(index, self.capacity);
        let (host, trailing) = (host_rows(panel, self.capacity), trailing_rows(panel, self.capacity));
        [stride::<T>(host.len()) as usize, whole_lines::<T>(trailing.len())]
    }

    /// Scalars of the largest host part.
    pub fn host_len(&self) -> usize {
        if self.order == 0 { 0 } else { self.strides(0)[0] * self.panel(0).cols }
    }

    /// The address of the host part of `panel` relative to entry (0, 0) of L, and its column stride. The address is outside the
    /// memory.
    pub fn host_part(&mut self, panel: Panel) -> (*mut T, isize) {
        let index = panel.first / self.panel_cols;
        let stride = self.strides(index)[0] as isize;
        let start = self.panels[index].host.as_mut_ptr();
        let first = panel.first as isize;
        (start.wrapping_offset(-first * stride - first), stride)
    }

    /// The memory of a panel's trailing rows, and its column stride.
    pub fn trailing(&self, panel: Panel) -> (&A::Locked<T>, usize) {
        let index = panel.first / self.panel_cols;
        (&self.panels[index].trailing, self.strides(index)[1])
    }

    /// Exchanges the panels from column `start` on, which is the first of a panel.
    pub fn exchange(&mut self, other: &mut Self, start: usize) {
        let from = start / self.panel_cols;
        self.panels[from..].swap_with_slice(&mut other.panels[from..]);
    }

    /// The host part and the trailing rows of a panel, each with its rows.
    fn parts(&self, index: usize) -> [(Range<usize>, MatRef<'_, T>); 2] {
        let panel = self.panel(index);
        let Parts { host, trailing } = &self.panels[index];
        let (of_host, below) = (host_rows(panel, self.order), trailing_rows(panel, self.order));
        let [host_stride, stride] = self.strides(index).map(|stride| stride as isize);
        // SAFETY: `zeros` made both parts with at least these shapes, and no copy is in flight while a factor is read: a sweep
        // borrows it exclusively and waits for its copies.
        unsafe {
            let host = MatRef::from_raw_parts(host.as_ptr(), of_host.len(), panel.cols, 1, host_stride);
            let trailing = trailing.as_ptr().cast_const();
            let trailing = MatRef::from_raw_parts(trailing, below.len(), panel.cols, 1, stride);
            [(of_host, host), (below, trailing)]
        }
    }

    fn parts_mut(&mut self, index: usize) -> [(Range<usize>, MatMut<'_, T>); 2] {
        let panel = self.panel(index);
        let (of_host, below) = (host_rows(panel, self.order), trailing_rows(panel, self.order));
        let [host_stride, stride] = self.strides(index).map(|stride| stride as isize);
        let Parts { host, trailing } = &mut self.panels[index];
        // SAFETY: as in `parts`, borrowed exclusively; the two parts are disjoint.
        unsafe {
            let host =
                MatMut::from_raw_parts_mut(host.as_mut_ptr(), of_host.len(), panel.cols, 1, host_stride);
            let trailing = trailing.as_ptr();
            let trailing = MatMut::from_raw_parts_mut(trailing, below.len(), panel.cols, 1, stride);
            [(of_host, host), (below, trailing)]
        }
    }

    /// Copies L to a matrix of zeros. (n × n)
    pub fn read(&self, mut l: MatMut<'_, T>) {
        for index in self.indices() {
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

    /// A diagonal entry of L.
    pub fn pivot(&self, column: usize) -> T {
        let [(_, host), _] = self.parts(column / self.panel_cols);
        host[(column % self.panel_cols, column % self.panel_cols)]
    }

    /// The leading columns of L, for a solve.
    pub fn leading(&self, columns: usize) -> Leading<'_, T, A> {
        Leading { panels: self, columns }
    }

    /// B ← L B, or Lᵀ B. (n × m)
    pub fn multiply(&self, side: Side, mut rhs: MatMut<'_, T>, par: Par) {
        let from = rhs.to_owned();
        rhs.fill(T::ZERO);
        for index in self.indices() {
            let Panel { first, cols, .. } = self.panel(index);
            for (rows, part) in self.parts(index) {
                let (to, source, part) = match side {
                    Side::L => (rows, first..first + cols, part),
                    Side::Transpose => (first..first + cols, rows, part.transpose()),
                };
                let to = rhs.rb_mut().subrows_mut(to.start, to.len());
                T::matmul(
                    to,
                    Accum::Add,
                    (part, Conj::No),
                    from.subrows(source.start, source.len()),
                    T::ONE,
                    par,
                );
            }
        }
    }

    /// Multiplies leading columns by a number.
    pub fn scale(&mut self, columns: usize, by: T, par: Par) {
        for index in 0..columns.div_ceil(self.panel_cols) {
            let Panel { first, cols, .. } = self.panel(index);
            for (_, part) in self.parts_mut(index) {
                let part = part.subcols_mut(0, cols.min(columns - first));
                each_column(part, par, |_, column| column.iter_mut().for_each(|entry| *entry *= by));
            }
        }
    }
}

/// The leading columns of L.
pub(super) struct Leading<'a, T: Real, A: Api> {
    panels: &'a Panels<T, A>,
    columns: usize,
}

impl<T: Real, A: Api> Blocks<T> for Leading<'_, T, A> {
    fn shape(&self) -> (usize, usize) {
        (self.panels.order, self.columns)
    }

    fn panel_cols(&self) -> usize {
        self.panels.panel_cols
    }

    fn each_part(
        &self,
        rows: &Range<usize>,
        columns: &Range<usize>,
        mut work: impl FnMut(Range<usize>, Range<usize>, MatRef<'_, T>),
    ) {
        let panel_cols = self.panels.panel_cols;
        for index in columns.start / panel_cols..columns.end.div_ceil(panel_cols) {
            let panel = self.panels.panel(index);
            let Some(some) = common(&panel.block(), columns) else { continue };
            for (own, part) in self.panels.parts(index) {
                if let Some(both) = common(&own, rows) {
                    let part = part.subcols(some.start - panel.first, some.len());
                    let part = part.subrows(both.start - own.start, both.len());
                    work(both, some.clone(), part);
                }
            }
        }
    }
}

impl<T: Real, A: Api> HostColumns<T> for Panels<T, A> {
    fn order(&self) -> usize {
        self.order
    }

    fn set_order(&mut self, order: usize) {
        debug_assert!(order <= self.capacity);
        self.order = order;
    }

    fn get(&self, column: usize, rows: Range<usize>, mut to: ColMut<'_, T>) {
        let index = column / self.panel_cols;
        for (own, part) in self.parts(index) {
            if let Some(both) = common(&own, &rows) {
                let entries = part.col(column - index * self.panel_cols);
                let to = to.rb_mut().subrows_mut(both.start - rows.start, both.len());
                copy(entries.subrows(both.start - own.start, both.len()), to);
            }
        }
    }

    fn set(&mut self, row: usize, columns: Range<usize>, from: MatRef<'_, T>, par: Par) {
        let panels = columns.start / self.panel_cols..columns.end.div_ceil(self.panel_cols);
        for index in panels.filter(|_| !columns.is_empty()) {
            let panel = self.panel(index);
            let some = columns.start.max(panel.first)..columns.end.min(panel.end());
            let from = from.subcols(some.start - columns.start, some.len());
            for (own, part) in self.parts_mut(index) {
                let part = part.subcols_mut(some.start - panel.first, some.len());
                each_column(part, par, |j, to| {
                    let rows = row.max(some.start + j)..row + from.nrows();
                    if let Some(both) = common(&own, &rows) {
                        let entries = from.col(j).subrows(both.start - row, both.len());
                        copy(entries, to.subrows_mut(both.start - own.start, both.len()));
                    }
                });
            }
        }
    }
}

fn common(a: &Range<usize>, b: &Range<usize>) -> Option<Range<usize>> {
    let both = a.start.max(b.start)..a.end.min(b.end);
    (!both.is_empty()).then_some(both)
}

fn copy<T: Real>(from: ColRef<'_, T>, mut to: ColMut<'_, T>) {
    to.copy_from(from);
}
