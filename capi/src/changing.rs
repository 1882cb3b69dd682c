//! Modifications of a C program's batch of real numbers, and solves, in both memories.

use crate::batches::Results;
use crate::held::{Anywhere, by_reference, locked};
use crate::status::Refused;
use cholupdate::cuda::{self, BatchOperand, BatchOperandMut, DeviceOutcome, Status, WeightsOperand};
use cholupdate::{BatchMut, BatchRef, BatchWeights, Error, RealScalar};

/// A solve, or a half of one.
#[derive(Clone, Copy)]
pub enum Sides {
    Both,
    L,
    Transposed,
}

impl<T: RealScalar> Anywhere<T> {
    /// Modifies all matrices, and writes the outcome.
    ///
    /// # Safety
    /// As for [`Results::tell`].
    pub unsafe fn modify(
        &mut self,
        v: BatchRef<'_, T>,
        weights: BatchWeights<'_, T>,
        mask: Option<&[bool]>,
        results: &Results,
    ) -> Result<(), Refused> {
        match self {
            // SAFETY: forwarded to the caller.
            Self::Host(batch) => unsafe { batch.modify(v, weights, mask, results) },
            Self::Device(_) => {
                let outcome = modified(self.there_mut()?, v.into(), weights.into(), mask)?;
                // SAFETY: forwarded to the caller.
                unsafe { tell(&outcome, results) }
            }
        }
    }

    /// Appends a row and column to each matrix, and writes the outcome.
    ///
    /// # Safety
    /// As for [`Results::tell`].
    pub unsafe fn append(
        &mut self,
        a: BatchRef<'_, T>,
        mask: Option<&[bool]>,
        results: &Results,
    ) -> Result<(), Refused> {
        match self {
            // SAFETY: forwarded to the caller.
            Self::Host(batch) => unsafe { batch.append(a, mask, results) },
            Self::Device(_) => {
                let outcome = appended(self.there_mut()?, a.into(), mask)?;
                // SAFETY: forwarded to the caller.
                unsafe { tell(&outcome, results) }
            }
        }
    }

    /// Removes a row and column of each matrix, and writes the outcome.
    ///
    /// # Safety
    /// As for [`Results::tell`].
    pub unsafe fn remove(
        &mut self,
        indices: &[usize],
        mask: Option<&[bool]>,
        results: &Results,
    ) -> Result<(), Refused> {
        match self {
            // SAFETY: forwarded to the caller.
            Self::Host(batch) => unsafe { batch.remove(indices, mask, results) },
            Self::Device(_) => {
                let batch = self.there_mut()?;
                let outcome = match mask {
                    Some(mask) => batch.remove_where(mask, indices)?,
                    None => batch.remove(indices)?,
                };
                // SAFETY: forwarded to the caller.
                unsafe { tell(&outcome, results) }
            }
        }
    }

    /// Solves with each matrix, and writes what has failed.
    ///
    /// # Safety
    /// As for [`Results::tell_failures`].
    pub unsafe fn solve(&self, sides: Sides, b: BatchMut<'_, T>, results: &Results) -> Result<(), Refused> {
        match self {
            // SAFETY: forwarded to the caller.
            Self::Host(batch) => unsafe { batch.solve(sides, b, results) },
            Self::Device(batch) => {
                let failures = solved(&mut *locked(batch)?, sides, b.into())?.failures()?;
                // SAFETY: forwarded to the caller.
                unsafe { results.tell_failures(by_reference(&failures)) }
            }
        }
    }
}

/// Modifies a batch on a device, on the stream of V unless there are weights in host memory or a mask.
pub fn modified<'a, T: RealScalar>(
    batch: &'a mut cuda::CholeskyBatch<T>,
    v: BatchOperand<'_, T>,
    weights: WeightsOperand<'_, T>,
    mask: Option<&[bool]>,
) -> Result<DeviceOutcome<'a, T>, Error> {
    match mask {
        Some(mask) => batch.modify_where(mask, v, weights),
        None => batch.modify(v, weights),
    }
}

/// Appends a row and column to each matrix of a batch on a device, on the stream of A unless there is a mask.
pub fn appended<'a, T: RealScalar>(
    batch: &'a mut cuda::CholeskyBatch<T>,
    a: BatchOperand<'_, T>,
    mask: Option<&[bool]>,
) -> Result<DeviceOutcome<'a, T>, Error> {
    match mask {
        Some(mask) => batch.append_where(mask, a),
        None => batch.append(a),
    }
}

/// Solves with a batch on a device, on the stream of B.
pub fn solved<'a, T: RealScalar>(
    batch: &'a mut cuda::CholeskyBatch<T>,
    sides: Sides,
    b: BatchOperandMut<'_, T>,
) -> Result<Status<'a, T>, Error> {
    match sides {
        Sides::Both => batch.solve_in_place(b),
        Sides::L => batch.solve_l_in_place(b),
        Sides::Transposed => batch.solve_lt_in_place(b),
    }
}

/// Waits for a modification on a device, and writes its outcome.
///
/// # Safety
/// As for [`Results::tell`].
pub unsafe fn tell<T: RealScalar>(outcome: &DeviceOutcome<'_, T>, results: &Results) -> Result<(), Refused> {
    let failures = outcome.failures()?;
    let report = |matrix| match failures.binary_search_by_key(&matrix, |&(failed, _)| failed) {
        Ok(_) => Ok(None),
        Err(_) => outcome.report(matrix).map(Some),
    };
    // All are there before anything is written.
    let asked = if results.asks_for_reports() { results.count() } else { 0 };
    let reports = (0..asked).map(report).collect::<Result<Vec<_>, _>>()?;
    // SAFETY: forwarded to the caller.
    unsafe { results.tell(by_reference(&failures), |matrix| reports[matrix]) }
}
