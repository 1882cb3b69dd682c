//! Panel widths, chunk heights and thread counts, from measurements.

use crate::host::caches::last_level;
use crate::host::threads::Threads;
use crate::host::workers;
use crate::sweep::plan::{Panels, Plan};
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::low_rank::PANEL_COLS;
use cholupdate_kernels::sweep::shape::{IN_REGISTERS, IN_REGISTERS_COLS, by_column};

/// Columns in a panel, for a V with `rank` columns and this many rows: a multiple of every micro-kernel's block.
///
/// With wider panels V is read less often. With narrower ones fewer streams of L are in flight, and a reflector fits the
/// first-level cache.
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

/// Rows in a chunk: a multiple of the panel width, with four chunks for each thread. More chunks would balance better and
/// interrupt the streams of L.
pub(crate) fn chunk_rows(plan: &impl Panels, threads: usize) -> usize {
    let rows = plan.all_rows().len() / (4 * threads);
    rows.max(1).next_multiple_of(plan.unit())
}

/// The number of threads that pays for a sweep.
#[inline]
pub(crate) fn threads(allowed: Threads, plan: &Plan, rank: usize) -> usize {
    worthwhile(allowed, sweep_nanoseconds(plan.rows - plan.start, rank))
}

/// The time to read and write L, and the time of the arithmetic, on one thread.
#[inline]
fn sweep_nanoseconds(order: usize, rank: usize) -> f64 {
    let order = order as f64;
    order * order * (0.08 + 0.055 * rank as f64)
}

/// The number of threads that pays for checking and copying V (rows × rank) before a sweep. It wakes only threads that the sweep
/// uses as well, unless V has columns, or begins with rows, of zeros.
pub(crate) fn staging_threads(allowed: Threads, rows: usize, rank: usize) -> usize {
    /// Entries from which on it pays, and entries for each thread.
    const WORTH_SHARING: usize = 1 << 14;
    const EACH: usize = 1 << 12;
    match rows * rank {
        ..WORTH_SHARING => 1,
        entries => worthwhile(allowed, sweep_nanoseconds(rows, rank)).min(entries / EACH),
    }
}

/// The number of threads that pays for a triangular solve with the leading columns of L and this many right-hand sides.
pub(crate) fn solve_threads(allowed: Threads, rows: usize, columns: usize, rhs: usize) -> usize {
    let entries = columns as f64 * (rows as f64 - 0.5 * columns as f64);
    worthwhile(allowed, entries * (0.3 + 0.035 * rhs as f64))
}

/// The number of threads for work that takes one thread this many nanoseconds. Waking any thread must pay, and then waking
/// each; threads that are awake join sooner, but they wait for each other as often. The benchmark `threads` compares the result
/// with the best number.
#[inline]
fn worthwhile(allowed: Threads, nanoseconds: f64) -> usize {
    /// For all, and for each thread.
    const ASLEEP: (f64, f64) = (200e3, 25e3);
    const AWAKE: (f64, f64) = (100e3, 15e3);
    if allowed == Threads::Fixed(1) || nanoseconds < AWAKE.0 {
        return 1;
    }
    let (all, each) = if workers::are_awake() { AWAKE } else { ASLEEP };
    if nanoseconds < all { 1 } else { allowed.count().min((nanoseconds / each) as usize) }
}

/// Whether L is larger than the caches, less some space for other data. Of a very large cache, other programs need a part.
#[inline]
pub(crate) fn large<T>(plan: &Plan) -> bool {
    const SHARE: usize = 48 << 20;
    bytes::<T>(plan) > (last_level() / 4 * 3).min(SHARE)
}

/// Bytes of the square that contains the rows and columns of the sweep.
#[inline]
fn bytes<T>(plan: &Plan) -> usize {
    (plan.rows - plan.start) * (plan.rows - plan.start) * size_of::<T>()
}

/// Bytes of a result from which on it may pay to write it past the caches.
pub(crate) const WORTH_STREAMING: usize = 7 << 20;

/// Whether to write the new L past the caches: if it is in other memory than the old one, laid out in cache lines. Then the
/// lines that are overwritten are not read first, for which each store would wait. With few columns of V it is better for the
/// next sweep to find L in the caches, if it fits; with more columns, arithmetic hides the time to read L.
#[inline]
pub(crate) fn stream<T>(isa: Isa, l: &Entries<T>, plan: &Plan, rank: usize) -> bool {
    const HIDES: usize = 8;
    let line = 64;
    let apart = !l.dst.is_null() && l.dst.cast_const() != l.src;
    let lines = l.dst.addr().is_multiple_of(line)
        && (l.dst_stride.unsigned_abs() * size_of::<T>()).is_multiple_of(line);
    let pays = large::<T>(plan) || (rank >= HIDES && bytes::<T>(plan) > WORTH_STREAMING);
    apart && pays && lines && isa.streams()
}
