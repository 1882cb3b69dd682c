//! Reverse mode: the order of the launches.

use super::arguments::{Matrices, Modification, Pass, Reverse, Step};
use super::given::{OnStream, RawCotangents, RawMatrices, RawModification};
use super::kernels::Kernels;
use super::scratch::Parts;
use super::shape::{PANEL_COLS, Shape};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use core::ffi::c_int;

/// Working memory: V, Q and the steps of the stages, and what is between them.
struct Scratch {
    /// v, q, steps and a of the first stage or the only one, and of the second.
    stages: [[u64; 4]; 2],
    partial: u64,
    totals: u64,
    between: Matrices,
    of_between: Matrices,
    end: u64,
}

impl Scratch {
    fn new<T: Real>(of: &RawModification, start: u64) -> Self {
        let RawModification { count, n, k, .. } = *of;
        let (shape, mixed, small) = (Shape::of(k), of.may_be_mixed(), n <= PANEL_COLS);
        let mut parts = Parts::from(start);
        let mut stage = |wanted: bool| {
            let count = if wanted && !small { count } else { 0 };
            [
                parts.take::<T>(count * k * n),
                parts.take::<T>(count * k * n),
                parts.take::<Step<T>>(count * n),
                parts.take::<T>(count * n * shape.rank()),
            ]
        };
        let stages = [stage(true), stage(mixed)];
        let blocks = n.saturating_sub(PANEL_COLS).div_ceil(PANEL_COLS);
        let sums = count * PANEL_COLS * shape.sums();
        let partial = parts.take::<T>(blocks * sums);
        let totals = parts.take::<T>(if blocks > 1 { sums } else { 0 });
        let square = if mixed { count * n * n } else { 0 };
        let [between, of_between] = [(); 2].map(|()| Matrices::squares(parts.take::<T>(square), n));
        Self { stages, partial, totals, between, of_between, end: parts.end() }
    }
}

pub(super) fn scratch_bytes<T: Real>(of: &RawModification) -> u64 {
    Scratch::new::<T>(of, 0).end
}

/// # Errors
/// `OutOfRange`; [`Error::Device`].
///
/// # Safety
/// As the public call.
pub(super) unsafe fn enqueue<T: Real>(
    on: OnStream<'_>,
    of: &RawModification,
    cotangent: RawMatrices,
    to: &RawCotangents,
) -> Result<(), Error> {
    of.check()?;
    if of.count == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise about the stream.
    let stream = unsafe { Stream::of_caller(on.device, on.stream) };
    let kernels = Kernels::reverse::<T>(on.device, stream, [of.count, of.n, of.k])?;
    let scratch = Scratch::new::<T>(of, on.scratch);
    let mixed = of.may_be_mixed();
    let all = Reverse {
        of: Modification::<T>::new(of),
        cotangent: cotangent.into(),
        to: to.l.into(),
        to_v: to.v.into(),
        to_weights: to.weights,
        between: scratch.between,
        of_between: scratch.of_between,
        v: 0,
        q: 0,
        steps: 0,
        a: 0,
        partial: scratch.partial,
        totals: 0,
        start: 0,
        parts: 0,
        launch: if mixed { Pass::First } else { Pass::Only },
    };
    if of.n <= PANEL_COLS {
        // SAFETY: the contract of the public call is that of the kernel, and the working memory is as large as it needs.
        return unsafe { kernels.for_all("small_pull")?.launch(&all) };
    }
    let [first, second] = scratch.stages;
    let run = Run { kernels, totals: scratch.totals };
    // SAFETY: the contract of the public call is that of the kernels, the parts of the working memory are as large as they need, and the
    // launches on one stream are done in this order.
    unsafe {
        run.kernels.for_rows("clear_above")?.launch(&all)?;
        let all = of_stage(all, first);
        if !mixed {
            run.forward(&all)?;
            return run.back(&all);
        }
        run.forward(&all)?;
        let last = of_stage(Reverse { launch: Pass::Second, ..all }, second);
        run.forward(&last)?;
        run.back(&last)?;
        run.back(&all)
    }
}

/// With the working memory of a stage.
fn of_stage<T>(all: Reverse<T>, [v, q, steps, a]: [u64; 4]) -> Reverse<T> {
    Reverse { v, q, steps, a, ..all }
}

/// The launches of a stage.
struct Run {
    kernels: Kernels,
    totals: u64,
}

impl Run {
    /// V through all panels.
    ///
    /// # Safety
    /// As [`Kernel::launch`](super::kernels::Kernel::launch), for all launches.
    unsafe fn forward<T: Real>(&self, all: &Reverse<T>) -> Result<(), Error> {
        let kernels = &self.kernels;
        let (diagonal, below) =
            (kernels.for_blocks("eliminate_diagonal")?, kernels.for_blocks("eliminate_below")?);
        // SAFETY: the caller guarantees it.
        unsafe { kernels.for_rows("begin")?.launch(all)? };
        for start in kernels.panels() {
            let all = Reverse { start: start as i64, ..*all };
            // SAFETY: as above.
            unsafe {
                diagonal.launch(&all)?;
                below.launch_blocks(kernels.parts(start), &all)?;
            }
        }
        Ok(())
    }

    /// V and Q back, and the cotangents.
    ///
    /// # Safety
    /// As [`forward`](Self::forward).
    unsafe fn back<T: Real>(&self, all: &Reverse<T>) -> Result<(), Error> {
        let kernels = &self.kernels;
        let (diagonal, below) = (kernels.for_blocks("pull_diagonal")?, kernels.for_blocks("pull_below")?);
        let add_up = kernels.for_sums("add_up")?;
        for start in kernels.panels().rev() {
            let parts = kernels.parts(start);
            let totals = match parts {
                0 => 0,
                1 => all.partial,
                _ => self.totals,
            };
            let all = Reverse { start: start as i64, parts: parts as c_int, totals, ..*all };
            // SAFETY: the caller guarantees it.
            unsafe {
                below.launch_blocks(parts, &all)?;
                if parts > 1 {
                    add_up.launch(&all)?;
                }
                diagonal.launch(&all)?;
            }
        }
        // SAFETY: as above.
        unsafe { kernels.for_columns("end")?.launch(all) }
    }
}
