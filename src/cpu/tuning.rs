//! Panel widths, chunk heights and thread counts, from measurements.

use super::kernels::entries::Entries;
use super::kernels::low_rank::PANEL_COLS;
use super::kernels::shape::{IN_REGISTERS, IN_REGISTERS_COLS, by_column};
use crate::host::isa::Isa;
use crate::host::threads::Threads;
use crate::sweep::plan::Plan;

/// Columns in a panel for V with `rank` columns and so many rows: a multiple of every micro-kernel's block.
///
/// Wider panels read V less often; narrower ones keep fewer streams of L in flight and a reflector that
/// fits the first-level cache.
#[inline]
pub(crate) fn panel_cols(rank: usize, rows: usize) -> usize {
    if by_column(rank, rows) {
        return PANEL_COLS;
    }
    match rank {
        ..=IN_REGISTERS => IN_REGISTERS_COLS,
        5..8 => 16,
        _ => 48,
    }
}

/// Rows in a chunk: a multiple of the panel width, four chunks a thread. More would balance better and
/// break up the streams of L.
pub(crate) fn chunk_rows(plan: &Plan, threads: usize) -> usize {
    let rows = (plan.rows - plan.start) / (4 * threads);
    rows.max(1).next_multiple_of(plan.panel_cols)
}

/// Threads that a sweep is worth: each must have enough to do to be worth waking.
#[inline]
pub(crate) fn threads(allowed: Threads, plan: &Plan, rank: usize) -> usize {
    const WORTHWHILE_NANOSECONDS: f64 = 300e3;
    if allowed == Threads::Fixed(1) {
        return 1;
    }
    let order = (plan.rows - plan.start) as f64;
    // Of one thread with AVX2: the time of reading and writing L, and that of the arithmetic.
    let nanoseconds = order * order * (0.08 + 0.055 * rank as f64);
    match (nanoseconds / WORTHWHILE_NANOSECONDS) as usize {
        0 | 1 => 1,
        worthwhile => allowed.count().min(worthwhile),
    }
}

/// Whether L is larger than the caches.
#[inline]
pub(crate) fn large<T>(plan: &Plan) -> bool {
    const CACHES: usize = 24 << 20;
    (plan.rows - plan.start) * (plan.rows - plan.start) * size_of::<T>() > CACHES
}

/// Whether to write the new L past the caches: where it is other memory than the old one, larger than the
/// caches, and laid out in cache lines. That spares reading what is overwritten.
#[inline]
pub(crate) fn stream<T>(isa: Isa, l: &Entries<T>, plan: &Plan) -> bool {
    let line = 64;
    let apart = !l.dst.is_null() && l.dst.cast_const() != l.src;
    let lines = l.dst.addr().is_multiple_of(line)
        && (l.dst_stride.unsigned_abs() * size_of::<T>()).is_multiple_of(line);
    apart && large::<T>(plan) && lines && !matches!(isa, Isa::Portable)
}
