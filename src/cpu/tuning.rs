//! Panel widths, chunk heights and thread counts, from measurements.

use super::threads::Threads;
use crate::plan::Plan;

/// Columns in a panel for V with `rank` columns.
pub(crate) fn panel_cols<T>(rank: usize) -> usize {
    std::env::var("PC").ok().and_then(|s| s.parse().ok()).unwrap_or(if rank < 8 { 16 } else { 48 })
}

/// Rows in a chunk.
pub(crate) fn chunk_rows(plan: &Plan, threads: usize) -> usize {
    let rows = (plan.rows - plan.start) / (8 * threads);
    rows.max(1).next_multiple_of(plan.panel_cols)
}

/// Threads that a sweep is worth.
pub(crate) fn threads(allowed: Threads, plan: &Plan, rank: usize) -> usize {
    let order = (plan.rows - plan.start) as f64;
    let flops = order * order * (2.0 * rank as f64 + 4.0);
    let min: f64 = std::env::var("MW").ok().and_then(|s| s.parse().ok()).unwrap_or(2e6);
    let worth = (flops / min) as usize;
    if worth <= 1 { 1 } else { allowed.count().min(worth) }
}
