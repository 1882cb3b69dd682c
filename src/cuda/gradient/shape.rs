//! How rows are divided among threads.

/// The most columns of V of which there are derivatives on a device. For more, the dense formulas take as little time.
pub const MOST_COLUMNS: usize = 64;
/// Columns of a panel, and rows of a block of threads.
pub(super) const PANEL_COLS: usize = 64;
/// The largest second extent of a grid.
pub(super) const BLOCKS: usize = 65535;
pub(super) const MORE_SUMS: usize = 2;
pub(super) const ROWS_OF_STEP: usize = 3;

/// How a row of V is divided among threads: columns of each, and threads.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub columns: usize,
    pub lanes: usize,
}

impl Shape {
    pub fn of(k: usize) -> Self {
        let (columns, lanes) = match k {
            0..=1 => (1, 1),
            2..=4 => (4, 1),
            5..=16 => (8, 2),
            _ => (16, 4),
        };
        Self { columns, lanes }
    }

    /// `RANK` of the kernels.
    pub fn rank(self) -> usize {
        self.columns * self.lanes
    }

    /// Sums over rows of a column of L.
    pub fn sums(self) -> usize {
        self.rank() + MORE_SUMS
    }
}
