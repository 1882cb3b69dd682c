//! Modifications by a V of few columns that have one sign, as long as no pivot comes near zero, and what they have in common with others.

use super::report::LdltModification;
use super::state::{Indefinite, refused};
use crate::cpu::runs::{RowSums, are_few, sweep_runs};
use crate::cpu::signature::{SignedFactor, sweep};
use crate::element::Element;
use crate::error::Error;
use crate::host::layout::copy_lower;
use crate::report::Modification;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::Float;
use core::ops::Range;
use faer::MatRef;

/// The report of a sweep over some columns, and the numbers of columns of each sign in what it has left of V, if it has changed any.
pub(super) type Swept = (Modification, Option<[usize; 2]>);

/// Whether these weights have one sign. (k)
fn have_one_sign<R: Float>(weights: Weights<'_, R>, rank: usize) -> bool {
    (1..rank).all(|r| (weights.of(r) < R::ZERO) == (weights.of(0) < R::ZERO))
}

impl<T: Element> Indefinite<T> {
    /// A ← A + V diag(w) Vᴴ, or `None` if that takes block reflectors. With `dry` the factor remains as it is.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`; `Inertia`, `Sign`.
    pub(super) fn modify_by_few(
        &mut self,
        v: MatRef<'_, T>,
        weights: Weights<'_, T::Part>,
        dry: bool,
    ) -> Result<Option<LdltModification>, Error> {
        let (order, rank) = v.shape();
        if !(are_few(rank, order) && have_one_sign(weights, rank)) {
            return Ok(None);
        }
        let outline = self.memory.stage(v, weights, true, self.threads)?;
        let Some(start) = outline.first_column::<T>(order) else { return Ok(Some(self.unchanged())) };
        self.next.resize(order);
        let Self { now, next, memory, threads, .. } = self;
        copy_lower(now.l.as_ref(), next.l.as_mut(), 0..start);
        next.negative.copy_from_slice(&now.negative);
        next.sums.copy_from(&now.sums);
        let sums = RowSums { squares: &mut next.sums.squares, diagonal: &mut next.sums.diagonal };
        let new = SignedFactor { l: next.l.as_mut(), negative: &mut next.negative };
        let old = Some(now.l.as_ref());
        let Some(report) = sweep_runs(old, new, start..order, &outline, memory, (Some(sums), *threads))?
        else {
            return Ok(None);
        };
        let growth = next.sums.growth();
        // The sums have rounding errors of the size of the largest that there has been.
        let known = growth.largest >= self.largest * T::Part::UNIT.to_f64().sqrt();
        if !(known && growth.within(self.limit)) {
            return Ok(None);
        }
        self.expected.check(&self.next.negative)?;
        let expected = if dry { None } else { Some(self.expected.clone()) };
        if !dry {
            self.largest = self.largest.max(growth.largest);
        }
        Ok(Some(self.conclude(report.min_pivot_ratio, report.log_det_change(), growth, expected)))
    }

    /// Sweeps over these columns of the next factor, in place, from the first that V changes on. Returns the report, and, if V changes one
    /// of them, how many columns of each sign there are in what is left of V. Returns `None` if `by_few` says that few columns of V take no
    /// block reflectors, and they do; the next factor is then unspecified. (n × k, k)
    ///
    /// # Errors
    /// `Overflow`, with this name of V; `Singular`.
    pub(super) fn sweep_next(
        &mut self,
        columns: Range<usize>,
        (v, weights): (MatRef<'_, T>, Weights<'_, T::Part>),
        (argument, by_few): (&'static str, bool),
    ) -> Result<Option<Swept>, Error> {
        let by_few = by_few && are_few(v.ncols(), v.nrows()) && have_one_sign(weights, v.ncols());
        let staged = self.memory.stage(v, weights, by_few, self.threads);
        let outline = staged.map_err(|error| error.with_argument(argument))?;
        let Some(start) = outline.first_column::<T>(v.nrows()).filter(|&start| start < columns.end) else {
            return Ok(Some((Modification::identity(), None)));
        };
        let columns = start.max(columns.start)..columns.end;
        let Self { next, memory, threads, .. } = self;
        let new = SignedFactor { l: next.l.as_mut(), negative: &mut next.negative };
        if by_few {
            let swept = sweep_runs(None, new, columns, &outline, memory, (None, *threads))?;
            return Ok(swept.map(|report| (report, Some([outline.plus, outline.minus]))));
        }
        let (report, plus) = sweep(None, new, columns, &outline, memory, *threads).map_err(refused)?;
        Ok(Some((report, Some([plus, outline.rank() - plus]))))
    }
}
