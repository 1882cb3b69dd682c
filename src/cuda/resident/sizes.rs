//! The parts into which L is divided.

/// Columns in a panel.
pub(in crate::cuda) const PANEL_COLS: usize = 64;
/// Panels of a row block.
pub(in crate::cuda) const ROW_BLOCK_PANELS: usize = 2;
/// Rows in a row block. Sweeps begin at the first column of one.
pub(in crate::cuda) const ROW_BLOCK: usize = ROW_BLOCK_PANELS * PANEL_COLS;
