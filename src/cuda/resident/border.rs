//! The border for new rows and columns of A, computed on the device, and kept until it is part of L.
//!
//! The steps are those on the host (`structure::Border`). All are enqueued before the host waits; only facts and diagonals are
//! copied back.

use super::border_launch::Fact;
use super::device_border::{BorderShape, DeviceBorder};
use super::factor::ResidentFactor;
use super::resize::behind_sweeps;
use crate::cuda::matrix::DeviceView;
use crate::cuda::memory::DeviceSlice;
use crate::cuda::operands::on_device;
use crate::cuda::stream::Stream;
use crate::error::{Error, other};
use crate::operand::Operand;
use crate::real::Real;
use crate::structure::{BorderThere, Part, Parts};
use faer::Mat;
use std::sync::PoisonError;

/// The error for the first entry, in column-major order, that is not finite, of parts of an argument.
fn refuse<const PARTS: usize, T: Real>(
    border: &DeviceBorder<T>,
    parts: [(Fact, &Part<'_, T>); PARTS],
) -> Result<(), Error> {
    let found = parts.iter().filter_map(|&(fact, part)| {
        let (found, rows) = (border.found(fact), part.entries.shape().0);
        (found > 0).then(|| (!found as usize / rows, !found as usize % rows + part.row, part.argument))
    });
    match found.min_by_key(|&(column, row, _)| (column, row)) {
        Some((column, row, argument)) => Err(Error::NonFinite { argument, row, column }),
        None => Ok(()),
    }
}

impl<T: Real> ResidentFactor<T> {
    /// As [`Storage::border_there`](crate::storage::Storage::border_there).
    ///
    /// # Errors
    /// As [`Storage::border_there`](crate::storage::Storage::border_there).
    pub(super) fn make_border(
        &mut self,
        at: usize,
        parts: &Parts<'_, T>,
        skipped: usize,
    ) -> Result<Option<BorderThere<T>>, Error> {
        let all = [&parts.above, &parts.below, &parts.corner];
        let takes = |part: &Part<'_, T>| match &part.entries {
            Operand::Host(_) => true,
            there => on_device(there).is_some_and(|view| view.is_on(&self.device, part.argument).is_ok()),
        };
        if !all.iter().all(|part| takes(part)) {
            return Ok(None);
        }
        let (rank, below) = (parts.corner.entries.shape().0, parts.below.entries.shape().0);
        let shape = BorderShape { at, skipped, rows: at + skipped + below, rank };
        let mut border = DeviceBorder::ready(self.border.take(), &self.device, self.l.capacity(), shape)?;
        let made = self.compute_border(&mut border, all.map(|part| &part.entries));
        let outcome = made.and_then(|()| outcome_of(&border, parts));
        border.is_there = outcome.is_ok();
        self.border = Some(border);
        outcome.map(Some)
    }

    /// Computes the border, and waits.
    fn compute_border(&self, border: &mut DeviceBorder<T>, parts: [&Operand<'_, T>; 3]) -> Result<(), Error> {
        let offsets = border.pack(&self.device, parts)?;
        let border = &*border;
        self.with_solver(|triangle, solver| {
            let BorderShape { at, rank, .. } = border.shape;
            let stream = solver.stream();
            // SAFETY: the border belongs to this call, the operands are borrowed, L is written only by calls that borrow the
            // factor exclusively, and all work is waited for here.
            let begun = unsafe {
                let taken = border.parts(stream, parts, offsets).and_then(|parts| border.take(stream, parts));
                let eliminated = match at {
                    0 => taken.map(|()| 0),
                    _ => taken.and_then(|()| solver.eliminate(triangle, at, border.sides(), rank)),
                };
                eliminated.and_then(|used| {
                    border.finish(solver.stream())?;
                    solver.finish(used)
                })
            };
            solver.wait(begun)
        })
    }

    /// Copies X of the border to the host.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub(super) fn read_below(&self) -> Result<Option<Mat<T>>, Error> {
        let Some(border) = self.border.as_ref().filter(|border| border.is_there) else { return Ok(None) };
        let (below, stride) = border.below();
        let shape = (border.shape.below(), border.shape.rank);
        DeviceView::new(below, shape, stride, &self.device).to_host().map(Some)
    }

    /// Writes X, with zeros above it, to the columns of V with a minus sign. (order × r, packed)
    ///
    /// # Safety
    /// Nothing else uses the memory, which is large enough.
    pub(super) unsafe fn put_below(
        stream: &Stream,
        border: &DeviceBorder<T>,
        others: DeviceSlice<'_, T>,
        (order, row): (usize, usize),
    ) -> Result<(), Error> {
        let shape = (border.shape.below(), border.shape.rank);
        // SAFETY: the caller guarantees the memory; X is only read.
        unsafe {
            stream.clear(others)?;
            stream.move_columns(border.below(), shape, (others.part(row..others.len()), order))
        }
    }

    /// Writes the computed border over the rows and columns from `at` on.
    pub(super) fn write_device_border(&mut self, at: usize) -> Result<(), Error> {
        let Some(mut border) = self.border.take().filter(|border| border.is_there) else {
            return Err(other("there is no border"));
        };
        border.is_there = false;
        self.solving.get_mut().unwrap_or_else(PoisonError::into_inner).0.forget();
        let [_, pivots] = border.pivots();
        self.diagonal[at..].iter_mut().zip(pivots).for_each(|(to, pivot)| *to = T::from_f64(*pivot));
        let Self { queue, l, shadow, resizing, device, .. } = self;
        let rearranger = behind_sweeps(resizing, queue.as_ref(), device)?;
        let (all, order, stride) = (l.slice(), l.order(), l.stride());
        let (stream, BorderShape { rank, .. }) = (&rearranger.stream, border.shape);
        let from = |row: usize, column: usize| (all.part(column * stride + row..all.len()), stride);
        // SAFETY: L has these rows and columns; what uses it comes before or after this, and so does what uses the border.
        unsafe {
            if let (Some(start), Some(shadow)) = (self.split.take(), shadow) {
                let corner = start * (stride + 1);
                let swept = (shadow.slice(corner..shadow.len()), stride);
                stream.move_columns(swept, (order - start, order - start), from(start, start))?;
            }
            border.kernels.left(stream, border.left(), from(at, 0), (at, rank))?;
            stream.move_columns(border.corner(), (rank, rank), from(at, at))?;
            match border.shape.below() {
                0 => {}
                rows => stream.move_columns(border.below(), (rows, rank), from(at + rank, at))?,
            }
        }
        rearranger.ended()?;
        self.border = border.kept();
        Ok(())
    }
}

/// What has been found about the border, which has been waited for.
fn outcome_of<T: Real>(border: &DeviceBorder<T>, parts: &Parts<'_, T>) -> Result<BorderThere<T>, Error> {
    refuse(border, [(Fact::Above, &parts.above)])?;
    refuse(border, [(Fact::Below, &parts.below), (Fact::Corner, &parts.corner)])?;
    let largest = f64::from_bits(border.found(Fact::Largest));
    if largest > T::LARGE_SQUARE.to_f64() {
        return Err(Error::Overflow { argument: parts.corner.argument });
    }
    let BorderShape { at, rank, .. } = border.shape;
    border.factored().map_err(|error| match error {
        Error::NotPositiveDefinite { column } => Error::NotPositiveDefinite { column: at + column },
        error => error,
    })?;
    let lost = border.found(Fact::LostRow);
    if lost > 0 {
        return Err(Error::NotPositiveDefinite { column: at + rank + !lost as usize });
    }
    let ratio = |c: T, k: T| c * (c / k);
    let [before, after] = border.pivots();
    let ratios = after.iter().zip(before).map(|(&c, &k)| ratio(T::from_f64(c), T::from_f64(k)));
    let least_ratio = ratios.fold(T::ONE, |least, ratio| if ratio < least { ratio } else { least });
    let log_det = 2.0 * after.iter().map(|c| c.ln()).sum::<f64>();
    Ok(BorderThere { least_ratio, log_det, largest, diagonal: before.to_vec() })
}
