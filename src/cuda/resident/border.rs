//! The border for new rows and columns of A that are on the device. It is computed there, and kept until it is part of L.
//!
//! The steps are those on the host (`structure::Border`), each after the previous one. Only status and diagonals are copied
//! back.

use super::border_launch::BorderKernels;
use super::device_border::DeviceBorder;
use super::factor::ResidentFactor;
use super::rearrange::{Columns, Rearranger};
use super::take::Take;
use super::triangle::{TakeLower, To};
use super::triangular_solver::Work;
use crate::cuda::dense::Dense;
use crate::cuda::factorize::{By, Means};
use crate::cuda::matrix::{DeviceView, DeviceViewMut};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use crate::structure::{BorderThere, Part, Parts};
use faer::Mat;
use std::sync::PoisonError;

/// The error for the first entry, in column-major order, that is not finite.
fn refuse<T: Real>(
    found: impl IntoIterator<Item = Option<(usize, usize)>>,
    part: &Part<'_, T>,
) -> Option<Error> {
    let first = found.into_iter().flatten().min_by_key(|&(row, column)| (column, row));
    first.map(|(row, column)| Error::NonFinite { argument: part.argument, row, column })
}

impl<T: Real> ResidentFactor<T> {
    /// As [`Storage::border_there`](crate::storage::Storage::border_there), with all three parts on the factor's device.
    ///
    /// # Errors
    /// As [`Storage::border_there`](crate::storage::Storage::border_there).
    pub(super) fn make_border(
        &mut self,
        at: usize,
        (parts, [above, corner, below]): (&Parts<'_, T>, [&DeviceView<'_, T>; 3]),
        skipped: usize,
    ) -> Result<BorderThere<T>, Error> {
        self.quiet()?;
        let device = self.device.clone();
        let (rank, rows) = (corner.shape().0, at + skipped + below.shape().0);
        let stream = Stream::new(&device)?;
        let c = Dense::aligned(&device, rank, rank)?;
        let rhs = DeviceBuffer::new(&device, rows * rank)?;
        let mut border = DeviceBorder { rhs, rows, at, skipped, corner: c, diagonal: Vec::new() };

        // SAFETY: `border` belongs to this call; the views are borrowed, and read after the work of their streams. Each is
        // waited for before the next.
        let (found, largest) = unsafe {
            stream.clear(border.rhs.slice(0..border.rhs.len()))?;
            let mut kept = None;
            let take = Take::ready(&mut kept, &device, rank)?;
            let mut rows_of = |view: &DeviceView<'_, T>, to: Columns<'_, T>, row: usize| {
                if view.shape().0 == 0 {
                    return Ok(Vec::new());
                }
                let from = view.slice_on(&stream)?;
                let places = (0..rank).map(|column| Some((column, T::ONE)));
                let found = take.copy_and_check(&stream, from, to, view.shape(), places)?.iter().enumerate();
                let bad = found.filter_map(|(column, found)| Some((row + found.not_finite?, column)));
                Ok::<Vec<_>, Error>(bad.map(Some).collect())
            };
            let bad_above = rows_of(above, border.left(), parts.above.row)?;
            if let Some(error) = refuse(bad_above, &parts.above) {
                return Err(error);
            }
            let mut bad = rows_of(below, border.below().0, parts.below.row)?;
            let lower = TakeLower::load::<T>(&device)?;
            let from = corner.slice_on(&stream)?;
            let to = To { columns: Some(border.corner()), as_factor: false };
            let found = lower.copy_and_check(&stream, from, to, rank)?;
            bad.push(found.not_finite.map(|(row, column)| (row + parts.corner.row, column)));
            (bad, found.largest_diagonal)
        };
        if let Some(error) = refuse(found, &parts.corner) {
            return Err(error);
        }
        if largest > T::LARGE_SQUARE.to_f64() {
            return Err(Error::Overflow { argument: parts.corner.argument });
        }
        let old = border.corner.diagonal(&stream)?;
        self.solve_border(&border, &stream)?;
        let factored = Means::new(&device, By::Blocked)?.factorize(&border.corner);
        factored.map_err(|error| match error {
            Error::NotPositiveDefinite { column } => Error::NotPositiveDefinite { column: at + column },
            error => error,
        })?;
        border.diagonal = border.corner.diagonal(&stream)?;
        self.divide_border(&border, &stream)?;

        let ratios = border.diagonal.iter().zip(&old).map(|(&c, &k)| c * (c / k));
        let least_ratio = ratios.fold(T::ONE, |least, ratio| if ratio < least { ratio } else { least });
        let log_det = 2.0 * border.diagonal.iter().map(|c| c.to_f64().ln()).sum::<f64>();
        self.border = Some(border);
        Ok(BorderThere { least_ratio, log_det, largest })
    }

    /// B₁ ← S, B₂ ← B₂ − L₂₁ S, and K ← K − Sᵀ S.
    fn solve_border(&self, border: &DeviceBorder<T>, stream: &Stream) -> Result<(), Error> {
        let (at, rows, rank) = (border.at, border.rows, border.rank());
        if at == 0 {
            return Ok(());
        }
        let address = border.rhs.slice(0..border.rhs.len()).address();
        // SAFETY: the memory has this size, and nothing else uses it during the solve.
        let mut rhs = unsafe { DeviceViewMut::from_raw(&self.device, address, (rows, rank), rows)? };
        self.with_solver(|triangle, solver| solver.solve_there(triangle, Work::Eliminate(at), &mut rhs))?;
        let kernels = BorderKernels::load(&self.device)?;
        // SAFETY: all of it is memory of `border`, and is waited for here.
        let enqueued = unsafe { kernels.schur(stream, border.left(), border.corner(), (at, rank)) };
        stream.synchronize().and(enqueued)
    }

    /// B₂ ← X. Checks that the squares of X are finite.
    fn divide_border(&self, border: &DeviceBorder<T>, stream: &Stream) -> Result<(), Error> {
        let (below, rows) = border.below();
        let (first, rank) = (border.at + border.rank(), border.rank());
        if rows == 0 {
            return Ok(());
        }
        let kernels = BorderKernels::load(&self.device)?;
        let mut kept = None;
        let take = Take::ready(&mut kept, &self.device, rank)?;
        // SAFETY: all of it is memory of `border`, which nothing else uses; both are waited for before anything does.
        let found = unsafe {
            kernels.below(stream, border.corner(), below, (rows, rank))?;
            take.copy_and_check(stream, below, below, (rows, rank), (0..rank).map(|_| None))?
        };
        let most = T::LARGE_SQUARE.to_f64() / rank as f64;
        let large = |x: f64| !(x * x <= most);
        if !found.iter().any(|found| found.not_finite.is_some() || large(found.largest.to_f64())) {
            return Ok(());
        }
        // The host finds the row.
        let x: Mat<T> = DeviceView::new(below.0, (rows, rank), below.1, &self.device).to_host()?;
        let row = (0..rows).find(|&i| x.row(i).iter().any(|x| large(x.to_f64()))).unwrap_or(0);
        Err(Error::NotPositiveDefinite { column: first + row })
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
        let (below, rows) = border.below();
        // SAFETY: the caller guarantees the memory; X is only read.
        unsafe {
            stream.clear(others)?;
            stream.move_columns(below, (rows, border.rank()), (others.part(row..others.len()), order))
        }
    }

    /// Writes the computed border over the rows and columns from `at` on.
    pub(super) fn write_device_border(&mut self, at: usize) -> Result<(), Error> {
        let Some(border) = self.border.take() else { return Ok(()) };
        self.quiet()?;
        self.solving.get_mut().unwrap_or_else(PoisonError::into_inner).0.forget();
        self.diagonal[at..at + border.rank()].copy_from_slice(&border.diagonal);
        let kernels = BorderKernels::load(&self.device)?;
        let Self { l, resizing, device, .. } = self;
        let stream = &Rearranger::<T>::ready(resizing, device)?.stream;
        let (all, stride, rank) = (l.slice(), l.stride(), border.rank());
        let from = |row: usize, column: usize| (all.part(column * stride + row..all.len()), stride);
        let (below, rows) = border.below();
        // SAFETY: L has these rows and columns, and nothing is in flight; all work is waited for here.
        let enqueued = unsafe {
            let write = || {
                kernels.left(stream, border.left(), from(at, 0), (at, rank))?;
                stream.move_columns(border.corner(), (rank, rank), from(at, at))?;
                match rows {
                    0 => Ok(()),
                    _ => stream.move_columns(below, (rows, rank), from(at + rank, at)),
                }
            };
            write()
        };
        stream.synchronize().and(enqueued)
    }
}
