//! The rows of L that a process has, up to their diagonal blocks.

use crate::host::layout::stride;
use crate::host::squares::add_squares;
use crate::real::Real;
use crate::sweep::cyclic::Cyclic;
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::sweep::entries::Entries;
use core::mem::swap;
use faer::{MatMut, MatRef};

/// The columns of a block, from the rows of the diagonal block on. (m × b, column-major)
struct Column<T> {
    memory: Buffer<T>,
    /// The place of the first of these rows, and their number.
    first: usize,
    rows: usize,
    cols: usize,
    /// Columns for which there is memory.
    room: usize,
    /// Distance between columns: whole cache lines.
    stride: isize,
}

impl<T: Real> Column<T> {
    /// Zeros, with memory for so many rows and columns.
    fn with_room(first: usize, (rows, cols): (usize, usize), room: (usize, usize)) -> Self {
        let (stride, mut memory) = (stride::<T>(room.0), Buffer::default());
        memory.reserve(stride as usize * room.1);
        Self { memory, first, rows, cols, room: room.1, stride }
    }

    fn zeros(first: usize, rows: usize, cols: usize) -> Self {
        Self::with_room(first, (rows, cols), (rows, cols))
    }

    /// Changes the numbers of rows and columns, of which there are at most `most`.
    fn resize(&mut self, (rows, cols): (usize, usize), most: usize) {
        let (old_rows, old_cols) = (self.rows, self.cols);
        if rows > self.stride as usize || cols > self.room {
            let more = |count: usize| count + count / 8 + 16;
            let room = (more(rows), more(cols).min(most));
            let mut new = Self::with_room(self.first, (rows, cols), room);
            let (rows, cols) = (rows.min(old_rows), cols.min(old_cols));
            let from = self.view();
            new.view_mut().submatrix_mut(0, 0, rows, cols).copy_from(from.submatrix(0, 0, rows, cols));
            *self = new;
            return;
        }
        (self.rows, self.cols) = (rows, cols);
        // The memory may hold rows and columns that have been removed.
        if cols > old_cols {
            self.view_mut().subcols_mut(old_cols, cols - old_cols).fill(T::ZERO);
        }
        if rows > old_rows {
            self.view_mut().subrows_mut(old_rows, rows - old_rows).fill(T::ZERO);
        }
    }

    fn view(&self) -> MatRef<'_, T> {
        // SAFETY: the memory holds `cols` columns of at least `rows` scalars, this distance apart, which are initialized.
        unsafe { MatRef::from_raw_parts(self.memory.as_ptr(), self.rows, self.cols, 1, self.stride) }
    }

    fn view_mut(&mut self) -> MatMut<'_, T> {
        // SAFETY: as in `view`, and borrowed exclusively.
        unsafe { MatMut::from_raw_parts_mut(self.memory.as_mut_ptr(), self.rows, self.cols, 1, self.stride) }
    }
}

/// The rows of L that a process has, in order: n²/2P entries, and the rest of their diagonal blocks, which is zero.
pub(crate) struct LocalRows<T> {
    pub cyclic: Cyclic,
    /// By block of columns.
    columns: Vec<Column<T>>,
}

impl<T: Real> LocalRows<T> {
    /// Rows of zeros.
    pub fn zeros(cyclic: Cyclic) -> Self {
        let column = |block| {
            let (rows, first) = (cyclic.rows_of(block), cyclic.before(block * cyclic.block));
            Column::zeros(first, cyclic.rows() - first, rows.len())
        };
        Self { cyclic, columns: (0..cyclic.blocks()).map(column).collect() }
    }

    /// The columns of a block, and the place of the first row of the view.
    pub fn column(&self, block: usize) -> (usize, MatRef<'_, T>) {
        let column = &self.columns[block];
        (column.first, column.view())
    }

    /// The same for writing.
    pub fn column_mut(&mut self, block: usize) -> (usize, MatMut<'_, T>) {
        let column = &mut self.columns[block];
        (column.first, column.view_mut())
    }

    /// For each block of columns: the address that its entry in row 0 and column 0 of the whole L would have, if the rows of the
    /// process were the rows of L, and the distance between columns.
    pub fn origins(&mut self) -> Vec<(*mut T, isize)> {
        let size = self.cyclic.block;
        let origin = |(block, column): (usize, &mut Column<T>)| {
            let before = (block * size) as isize * column.stride + column.first as isize;
            (column.memory.as_mut_ptr().wrapping_offset(-before), column.stride)
        };
        self.columns.iter_mut().enumerate().map(origin).collect()
    }

    /// Exchanges the columns from `start` on with those of `other`, which has the same shape.
    pub fn exchange(&mut self, other: &mut Self, start: usize) {
        let (size, first) = (self.cyclic.block, start / self.cyclic.block);
        let within = start % size;
        for (block, (mine, theirs)) in self.columns.iter_mut().zip(&mut other.columns).enumerate().skip(first)
        {
            if block > first || within == 0 {
                swap(mine, theirs);
            } else if within < mine.cols {
                let count = mine.cols - within;
                let from = theirs.view();
                mine.view_mut().subcols_mut(within, count).copy_from(from.subcols(within, count));
            }
        }
    }

    /// Changes the number of rows and columns of L. New entries are zero; some memory is left for more.
    pub fn resize(&mut self, order: usize) {
        let cyclic = Cyclic { order, ..self.cyclic };
        self.cyclic = cyclic;
        self.columns.truncate(cyclic.blocks());
        for block in 0..cyclic.blocks() {
            let (cols, first) = (cyclic.rows_of(block).len(), cyclic.before(block * cyclic.block));
            let rows = cyclic.rows() - first;
            match self.columns.get_mut(block) {
                Some(column) => column.resize((rows, cols), cyclic.block),
                None => self.columns.push(Column::zeros(first, rows, cols)),
            }
        }
    }

    /// Writes the last rows of L: Sᵀ, and C. (n × r, r × r)
    pub fn write_last(&mut self, s: MatRef<'_, T>, c: MatRef<'_, T>) {
        let cyclic = self.cyclic;
        let above = s.nrows();
        for block in 0..cyclic.blocks() {
            let (columns, (first, mut column)) = (cyclic.rows_of(block), self.column_mut(block));
            for place in cyclic.before(above).max(first)..cyclic.rows() {
                let row = cyclic.row(place) - above;
                for (j, of_l) in columns.clone().enumerate() {
                    column[(place - first, j)] =
                        if of_l < above { s[(of_l, row)] } else { c[(row, of_l - above)] };
                }
            }
        }
    }

    /// For each row of this process the sum of its squares.
    pub fn squares(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.cyclic.rows()];
        for column in &self.columns {
            for entries in column.view().col_iter() {
                add_squares(&mut sums[column.first..], entries, 1.0);
            }
        }
        sums
    }

    /// The diagonal entries in the rows of this process.
    pub fn diagonal(&self) -> impl Iterator<Item = T> + '_ {
        self.cyclic.mine().flat_map(|block| {
            let size = self.cyclic.rows_of(block).len();
            let (_, column) = self.column(block);
            (0..size).map(move |i| column[(i, i)])
        })
    }

    /// Changes the signs of the columns whose pivot is negative.
    pub fn make_pivots_positive(&mut self, pivots: &[T]) {
        for block in 0..self.cyclic.blocks() {
            let (columns, (_, mut column)) = (self.cyclic.rows_of(block), self.column_mut(block));
            for (j, _) in columns.enumerate().filter(|&(_, column)| pivots[column] < T::ZERO) {
                column.as_mut().col_mut(j).iter_mut().for_each(|x| *x = -*x);
            }
        }
    }

    /// Writes zero above the diagonal.
    pub fn clear_above(&mut self) {
        let cyclic = self.cyclic;
        for block in cyclic.mine() {
            let (rows, (_, mut column)) = (cyclic.rows_of(block).len(), self.column_mut(block));
            for j in 1..rows {
                column.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
            }
        }
    }
}

/// The entries of a block of columns for steps whose rows are places.
pub(super) fn entries<T>(src: (*mut T, isize), dst: Option<(*mut T, isize)>) -> Entries<T> {
    let (to, dst_stride) = dst.unwrap_or((core::ptr::null_mut(), src.1));
    Entries { src: src.0.cast_const(), src_stride: src.1, dst: to, dst_stride }
}
