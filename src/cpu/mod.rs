//! The CPU engine's sweep: from a checked change to finished columns.

mod engine;
mod in_place;
pub(crate) mod kernels;
mod serial;
mod tuning;
mod workers;

#[cfg(test)]
mod tests;

pub use self::engine::{Cpu, Safeguard};
pub use self::in_place::{Workspace, modify_in_place};
use self::kernels::job::{Columns, Job};
use self::kernels::packed::Packed;
use self::serial::Sequential;
use self::workers::{Chunk, Team};
use crate::host::buffer::Buffer;
use crate::host::isa::{Isa, Shape};
use crate::host::threads::Threads;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::plan::Plan;
use crate::sweep::signed::Change;
use crate::sweep::{Breakdown, sweep};

/// Working memory of a sweep, kept between calls.
pub(crate) struct Memory<T> {
    v: Packed<T>,
    reflectors: Buffer<T>,
    chunks: Vec<Chunk>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self { v: Packed::default(), reflectors: Buffer::default(), chunks: Vec::new() }
    }
}

impl<T> Clone for Memory<T> {
    /// Nothing in it outlives a sweep: the clone starts empty.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// One sweep over L (order × order, lower triangle).
///
/// # Errors
/// The first column whose pivot² is not greater than zero. Columns of `l.dst` may have been written by
/// then.
///
/// # Safety
/// `l` must describe memory for `order` columns of `order` rows, readable at `src`, writable at `dst`,
/// nobody else's.
unsafe fn modify<T: Scalar>(
    l: Columns<T>,
    order: usize,
    change: &Change<'_, T>,
    memory: &mut Memory<T>,
    threads: Threads,
) -> Result<Modification<T>, Breakdown> {
    let plan = plan(order, change);
    let threads = tuning::threads(threads, &plan, change.rank());
    let reflector_sets = if threads > 1 { plan.panels() } else { 1 };
    let job = prepare(Isa::detect(), l, &plan, change, memory, reflector_sets);
    let chain = if threads > 1 {
        let chunk_rows = tuning::chunk_rows(&plan, threads);
        memory.chunks.resize_with(Team::<T>::chunks(&plan, chunk_rows), Chunk::default);
        // SAFETY: L is the caller's promise; V and the reflectors, with a set for each panel, are borrowed
        // from `memory`.
        unsafe { Team::new(&job, &plan, chunk_rows, &mut memory.chunks) }.run(threads)?
    } else {
        // SAFETY: as above, with one set for the one panel that is worked on.
        let mut backend = unsafe { Sequential::new(&job) };
        sweep(&mut backend, &plan)?;
        backend.chain
    };
    Ok(chain.health.report(plan.start))
}

/// The panels of a sweep over a factor of this order.
fn plan<T: Scalar>(order: usize, change: &Change<'_, T>) -> Plan {
    let start = change.first_column(order).unwrap_or(order);
    Plan { rows: order, cols: order, start, panel_cols: tuning::panel_cols(change.rank()) }
}

/// Packs V and describes the memory of a sweep, with room for the block reflectors of `reflector_sets`
/// panels.
fn prepare<T: Scalar>(
    isa: Isa,
    l: Columns<T>,
    plan: &Plan,
    change: &Change<'_, T>,
    memory: &mut Memory<T>,
    reflector_sets: usize,
) -> Job<T> {
    let Shape { block, lanes, tile } = isa.shape::<T>(change.rank());
    memory.v.pack(change, plan.rows, plan.start, tile);
    let (plus, minus) = (change.outline.plus, change.outline.minus);
    let reflector_len = Job::<T>::reflector_len(plan.panel_cols, block, lanes, plus, minus);
    memory.reflectors.reserve(reflector_sets * reflector_len);
    Job {
        isa,
        l,
        v: memory.v.view(),
        stream: tuning::stream::<T>(isa, &l, plan),
        large: tuning::large::<T>(plan),
        reflectors: memory.reflectors.as_mut_ptr(),
        reflector_sets,
        panel_cols: plan.panel_cols,
        block,
        lanes,
        plus,
        minus,
    }
}
