//! Matrices in memory of every layout, with padding that must not be written.

use super::real::Real;
use cholupdate::faer::{MatMut, MatRef};

/// The layout of a matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Columns one after the other.
    ColumnMajor,
    /// Columns with a gap after each.
    Padded,
    /// Rows one after the other.
    RowMajor,
    /// A gap after every entry and every column.
    Strided,
    /// A gap after every entry and every row.
    StridedRows,
    /// Both strides negative, columns contiguous but for the sign.
    Reversed,
    /// Both strides negative, rows contiguous but for the sign.
    ReversedRows,
    /// Only the column stride negative: rows contiguous upwards in memory.
    ReversedColumns,
}

impl Layout {
    pub const ALL: [Self; 8] = [
        Self::ColumnMajor,
        Self::Padded,
        Self::RowMajor,
        Self::Strided,
        Self::StridedRows,
        Self::Reversed,
        Self::ReversedRows,
        Self::ReversedColumns,
    ];

    fn strides(self, rows: usize, cols: usize) -> (isize, isize) {
        let (rows, cols) = (rows.max(1) as isize, cols.max(1) as isize);
        match self {
            Self::ColumnMajor => (1, rows),
            Self::Padded => (1, rows + 3),
            Self::RowMajor => (cols, 1),
            Self::Strided => (2, 2 * rows + 5),
            Self::StridedRows => (3 * cols + 1, 3),
            Self::Reversed => (-1, -(rows + 2)),
            Self::ReversedRows => (-(cols + 2), -1),
            Self::ReversedColumns => (1, -(rows + 1)),
        }
    }
}

/// A matrix in its own memory, with NaN between and around the entries.
#[derive(Clone)]
pub struct Laid<T> {
    memory: Vec<T>,
    first: usize,
    shape: (usize, usize),
    strides: (isize, isize),
}

impl<T: Real> Laid<T> {
    pub fn new(a: MatRef<'_, T>, layout: Layout) -> Self {
        const MARGIN: usize = 7;
        let (rows, cols) = a.shape();
        let strides = layout.strides(rows, cols);
        let reach = |count: usize, stride: isize| (count.max(1) - 1) * stride.unsigned_abs();
        let back = |count: usize, stride: isize| if stride < 0 { reach(count, stride) } else { 0 };
        let memory = vec![T::of(f64::NAN); reach(rows, strides.0) + reach(cols, strides.1) + 1 + 2 * MARGIN];
        let first = MARGIN + back(rows, strides.0) + back(cols, strides.1);
        let mut laid = Self { memory, first, shape: (rows, cols), strides };
        laid.as_mut().copy_from(a);
        laid
    }

    pub fn as_ref(&self) -> MatRef<'_, T> {
        // SAFETY: `new` allocated and initialized every entry from `first` on, forwards and backwards.
        unsafe {
            let first = self.memory.as_ptr().add(self.first);
            MatRef::from_raw_parts(first, self.shape.0, self.shape.1, self.strides.0, self.strides.1)
        }
    }

    pub fn as_mut(&mut self) -> MatMut<'_, T> {
        // SAFETY: as for reading; no two entries share a place, and the memory is borrowed exclusively.
        unsafe {
            let first = self.memory.as_mut_ptr().add(self.first);
            MatMut::from_raw_parts_mut(first, self.shape.0, self.shape.1, self.strides.0, self.strides.1)
        }
    }

    /// Every bit of the memory, padding and margins included.
    pub fn bits(&self) -> Vec<u64> {
        self.memory.iter().map(|x| x.bits()).collect()
    }

    /// NaN above the diagonal.
    pub fn spoil_upper_triangle(&mut self) {
        let mut a = self.as_mut();
        for j in 0..a.ncols() {
            a.as_mut().col_mut(j).subrows_mut(0, j).fill(T::of(f64::NAN));
        }
    }

    /// The lower triangle becomes that of `from`.
    pub fn overwrite_lower_triangle(&mut self, from: MatRef<'_, T>) {
        let mut a = self.as_mut();
        for j in 0..from.ncols() {
            for i in j..from.nrows() {
                a[(i, j)] = from[(i, j)];
            }
        }
    }
}
