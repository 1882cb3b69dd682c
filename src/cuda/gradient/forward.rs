//! Forward mode: the order of the launches.

use super::arguments::{AlongV, Forward, Matrices, Modification, Pass, Step};
use super::given::{OnStream, RawMatrices, RawModification, RawTangents, RawVectors};
use super::kernels::Kernels;
use super::scratch::Parts;
use super::shape::{PANEL_COLS, ROWS_OF_STEP, Shape};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;

/// Working memory: V and its tangent, the steps of a panel, and what is between the stages.
struct Scratch {
    v: u64,
    dv: u64,
    steps: u64,
    rows: u64,
    between: Matrices,
    of_between: Matrices,
    end: u64,
}

impl Scratch {
    fn new<T: Real>(of: &RawModification, start: u64) -> Self {
        let RawModification { count, n, k, .. } = *of;
        let large = if n <= PANEL_COLS { 0 } else { count };
        let mut parts = Parts::from(start);
        let [v, dv] = [(); 2].map(|()| parts.take::<T>(large * k * n));
        let steps = parts.take::<Step<T>>(large * PANEL_COLS);
        let rows = parts.take::<T>(large * PANEL_COLS * ROWS_OF_STEP * Shape::of(k).rank());
        let square = if of.may_be_mixed() { count * n * n } else { 0 };
        let [between, of_between] = [(); 2].map(|()| Matrices::squares(parts.take::<T>(square), n));
        Self { v, dv, steps, rows, between, of_between, end: parts.end() }
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
    along: &RawTangents,
    to: RawMatrices,
) -> Result<(), Error> {
    of.check()?;
    if of.count == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise about the stream.
    let stream = unsafe { Stream::of_caller(on.device, on.stream) };
    let kernels = Kernels::forward::<T>(on.device, stream, [of.count, of.n, of.k])?;
    let Scratch { v, dv, steps, rows, between, of_between, .. } = Scratch::new::<T>(of, on.scratch);
    let mixed = of.may_be_mixed();
    let weights = along.weights.unwrap_or(RawVectors::NONE);
    let all = Forward {
        of: Modification::<T>::new(of),
        tangent: along.l.into(),
        along: AlongV { v: along.v.into(), weights: weights.address, of_weights: weights.vector },
        to: to.into(),
        between,
        of_between,
        v,
        dv,
        steps,
        rows,
        start: 0,
        launch: if mixed { Pass::First } else { Pass::Only },
    };
    // SAFETY: the contract of the public call is that of the kernels, the parts of the working memory are as large as they need, and the
    // launches on one stream are done in this order.
    unsafe {
        if of.n <= PANEL_COLS {
            return kernels.for_all("small_push")?.launch(&all);
        }
        kernels.for_rows("clear_above_tangent")?.launch(&all)?;
        stage(&kernels, &all)?;
        if mixed {
            stage(&kernels, &Forward { launch: Pass::Second, ..all })?;
        }
        Ok(())
    }
}

/// The launches of a stage.
///
/// # Safety
/// As [`Kernel::launch`](super::kernels::Kernel::launch), for all of them.
unsafe fn stage<T: Real>(kernels: &Kernels, all: &Forward<T>) -> Result<(), Error> {
    let (diagonal, below) = (kernels.for_blocks("push_diagonal")?, kernels.for_blocks("push_below")?);
    // SAFETY: the caller guarantees it.
    unsafe { kernels.for_rows("begin_along")?.launch(all)? };
    for start in kernels.panels() {
        let all = Forward { start: start as i64, ..*all };
        // SAFETY: as above.
        unsafe {
            diagonal.launch(&all)?;
            below.launch_blocks(kernels.parts(start), &all)?;
        }
    }
    Ok(())
}
