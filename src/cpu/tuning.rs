//! Panel widths, chunk heights and thread counts, from measurements.

use super::kernels::entries::Entries;
use super::kernels::low_rank::PANEL_COLS;
use super::kernels::shape::{IN_REGISTERS, IN_REGISTERS_COLS, by_column};
use crate::host::caches::last_level;
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

/// Threads that a sweep is worth.
#[inline]
pub(crate) fn threads(allowed: Threads, plan: &Plan, rank: usize) -> usize {
    let order = (plan.rows - plan.start) as f64;
    // The time of reading and writing L, and that of the arithmetic.
    worthwhile(allowed, order * order * (0.08 + 0.055 * rank as f64))
}

/// Threads that a triangular solve is worth, with the first columns of L and so many right-hand sides.
pub(crate) fn solve_threads(allowed: Threads, rows: usize, columns: usize, rhs: usize) -> usize {
    let entries = columns as f64 * (rows as f64 - 0.5 * columns as f64);
    worthwhile(allowed, entries * (0.3 + 0.035 * rhs as f64))
}

/// Threads for what takes one of them so many nanoseconds: it must be worth waking any, and then each of them. The benchmark
/// `threads` shows how near the best that comes.
#[inline]
fn worthwhile(allowed: Threads, nanoseconds: f64) -> usize {
    const WAKING: f64 = 200e3;
    const EACH: f64 = 25e3;
    match allowed {
        Threads::Fixed(1) => 1,
        _ if nanoseconds < WAKING => 1,
        _ => allowed.count().min((nanoseconds / EACH) as usize),
    }
}

/// Whether L is larger than the caches, with some room for what else is in them. One that is very large has others to serve.
#[inline]
pub(crate) fn large<T>(plan: &Plan) -> bool {
    const SHARE: usize = 48 << 20;
    bytes::<T>(plan) > (last_level() / 4 * 3).min(SHARE)
}

/// Of the square that the rows and columns of the sweep lie in.
#[inline]
fn bytes<T>(plan: &Plan) -> usize {
    (plan.rows - plan.start) * (plan.rows - plan.start) * size_of::<T>()
}

/// Whether to write the new L past the caches: where it is other memory than the old one and laid out in cache lines. That spares
/// reading what is overwritten, for which each store waits. With a few columns of V the next sweep would rather find L in
/// the caches, if it fits; with more, arithmetic hides where L comes from.
#[inline]
pub(crate) fn stream<T>(isa: Isa, l: &Entries<T>, plan: &Plan, rank: usize) -> bool {
    /// From here on, bytes.
    const WORTH_STREAMING: usize = 7 << 20;
    const HIDES: usize = 8;
    let line = 64;
    let apart = !l.dst.is_null() && l.dst.cast_const() != l.src;
    let lines = l.dst.addr().is_multiple_of(line)
        && (l.dst_stride.unsigned_abs() * size_of::<T>()).is_multiple_of(line);
    let pays = large::<T>(plan) || (rank >= HIDES && bytes::<T>(plan) > WORTH_STREAMING);
    apart && pays && lines && !matches!(isa, Isa::Portable)
}
