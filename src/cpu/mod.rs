//! The CPU engine's sweep: from a checked change to finished columns.

mod backend;
mod buffer;
mod diagonal;
mod engine;
mod in_place;
mod packed;
mod reflector;
mod simd;
mod storage;
mod threads;
mod trailing;
mod worker;

use self::backend::Sequential;
use self::buffer::Buffer;
pub use self::engine::{Cpu, Safeguard};
pub use self::in_place::{Workspace, modify_in_place};
use self::packed::Packed;
use self::simd::Isa;
pub(crate) use self::storage::lower;
use self::threads::Threads;
use self::trailing::TILE_VECTORS;
use self::worker::Columns;
use self::worker::Job;
use crate::change::Change;
use crate::plan::Plan;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::{Breakdown, sweep};

/// Working memory of a sweep, kept between calls.
#[derive(Clone)]
pub(crate) struct Memory<T> {
    v: Packed<T>,
    reflectors: Buffer<T>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self { v: Packed::default(), reflectors: Buffer::default() }
    }
}

/// One sweep over L (order × order, lower triangle) on one or several threads.
///
/// # Errors
/// The first column whose pivot² is not greater than zero. Columns of `l.dst` have been written by then.
///
/// # Safety
/// `l` must describe memory for `order` columns of `order` rows, readable at `src`, writable at `dst`, nobody else's.
unsafe fn modify<T: Scalar>(
    l: Columns<T>,
    order: usize,
    change: &Change<'_, T>,
    memory: &mut Memory<T>,
    threads: Threads,
) -> Result<Modification<T>, Breakdown> {
    let _ = threads;
    let isa = Isa::detect();
    let shape = isa.shape::<T>();
    let rank = change.rank();
    let start = change.first_column(order).unwrap_or(order);
    let panel_cols = panel_cols::<T>(rank);
    let plan = Plan { rows: order, cols: order, start, panel_cols };
    let slots = 1;
    memory.v.pack(change, order, start, TILE_VECTORS * shape.lanes);
    memory.reflectors.reserve(slots * Job::<T>::reflector_len(panel_cols, shape.block, shape.lanes, rank));
    let job = Job {
        isa,
        l,
        v: memory.v.view(),
        reflectors: memory.reflectors.as_mut_ptr(),
        slots,
        panel_cols,
        block: shape.block,
        lanes: shape.lanes,
        plus: change.plus,
        minus: change.minus,
    };
    // SAFETY: L is the caller's promise, V and the reflectors are borrowed from `memory` until the sweep is over.
    let mut backend = unsafe { Sequential::new(&job) };
    sweep(&mut backend, &plan)?;
    Ok(backend.health.report())
}

fn panel_cols<T>(rank: usize) -> usize {
    std::env::var("PC").ok().and_then(|s| s.parse().ok()).unwrap_or(if rank < 8 { 16 } else { 48 })
}
