//! Modifications by a V whose columns have one sign, as long as no pivot comes near zero, and what they have in common with others.

use super::report::LdltModification;
use super::state::{Indefinite, refused};
use crate::cpu::runs::{RowSums, SweptRuns, are_long, sweep_runs};
use crate::cpu::signature::{SignedFactor, sweep};
use crate::element::Element;
use crate::error::Error;
use crate::host::layout::copy_lower;
use crate::report::Modification;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::{Float, Number};
use core::ops::Range;
use faer::MatRef;

/// The report of a sweep over some columns, and the numbers of columns of each sign in what it has left of V, if it has changed any.
pub(super) type Swept = (Modification, Option<[usize; 2]>);

/// Whether V with these weights is for a sweep over runs of columns of L that have one sign. (n × k, k)
fn is_for_runs<T: Element>(v: MatRef<'_, T>, weights: Weights<'_, T::Part>, negative: &[bool]) -> bool {
    let (rows, rank) = v.shape();
    let is_minus = |r: usize| weights.of(r) < T::Part::ZERO;
    (1..rank).all(|r| is_minus(r) == is_minus(0)) && are_long::<T>(negative, rank, rows)
}

impl<T: Element> Indefinite<T> {
    /// A ← A + V diag(w) Vᴴ, or `None` if that takes the steps for any signs. With `dry` the factor remains as it is.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`; `Inertia`, `Sign`.
    pub(super) fn modify_by_runs(
        &mut self,
        v: MatRef<'_, T>,
        weights: Weights<'_, T::Part>,
        dry: bool,
    ) -> Result<Option<LdltModification>, Error> {
        let order = v.nrows();
        if !is_for_runs(v, weights, &self.now.negative) {
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
        let old = Some((now.l.as_ref(), &now.negative[..]));
        let swept = sweep_runs(old, new, start..order, &outline, memory, (Some(sums), *threads));
        let Some(SweptRuns { report, keeps_signs }) = swept.map_err(refused)? else { return Ok(None) };
        let expected = if dry { None } else { Some(self.expected.clone()) };
        let growth = self.next.sums.growth();
        // The sums have rounding errors of the size of the largest that there has been.
        let known = keeps_signs && growth.largest >= self.largest * T::Part::UNIT.to_f64().sqrt();
        if !(known && growth.within(self.limit)) {
            return self.accept(report.min_pivot_ratio, report.log_det_change(), expected).map(Some);
        }
        self.expected.check(&self.next.negative)?;
        if !dry {
            self.largest = self.largest.max(growth.largest);
        }
        Ok(Some(self.conclude(report.min_pivot_ratio, report.log_det_change(), growth, expected)))
    }

    /// Sweeps over these columns of the next factor, in place, from the first that V changes on. Returns the report, and, if V changes one
    /// of them, how many columns of each sign there are in what is left of V. Returns `None` if `by_runs` says that V may take the
    /// steps for columns of one sign, and a pivot changes its sign; the next factor is then unspecified. (n × k, k)
    ///
    /// # Errors
    /// `Overflow`, with this name of V; `Singular`.
    pub(super) fn sweep_next(
        &mut self,
        columns: Range<usize>,
        (v, weights): (MatRef<'_, T>, Weights<'_, T::Part>),
        (argument, by_runs): (&'static str, bool),
    ) -> Result<Option<Swept>, Error> {
        let by_runs = by_runs && is_for_runs(v, weights, &self.next.negative[columns.clone()]);
        let staged = self.memory.stage(v, weights, by_runs, self.threads);
        let outline = staged.map_err(|error| error.with_argument(argument))?;
        let Some(start) = outline.first_column::<T>(v.nrows()).filter(|&start| start < columns.end) else {
            return Ok(Some((Modification::identity(), None)));
        };
        let columns = start.max(columns.start)..columns.end;
        let Self { next, memory, threads, .. } = self;
        let new = SignedFactor { l: next.l.as_mut(), negative: &mut next.negative };
        if by_runs {
            let swept =
                sweep_runs(None, new, columns, &outline, memory, (None, *threads)).map_err(refused)?;
            return Ok(swept.map(|SweptRuns { report, .. }| (report, Some([outline.plus, outline.minus]))));
        }
        let (report, plus) = sweep(None, new, columns, &outline, memory, *threads).map_err(refused)?;
        Ok(Some((report, Some([plus, outline.rank() - plus]))))
    }
}
