//! The calls that modify all matrices of a batch on a device.

use super::CholeskyBatch;
use super::arguments::{Given, Modification, address};
use super::operand::{BatchOperand, begin_behind, end_before};
use super::outcome::DeviceOutcome;
use crate::batch::BatchWeights;
use crate::check::extent;
use crate::cuda::memory::DeviceBuffer;
use crate::error::Error;
use crate::real::Real;
use crate::sweep::weights::Weights;

impl<T: Real> CholeskyBatch<T> {
    /// A_b + V_b V_bᵀ.
    ///
    /// # Shapes
    /// V (count × n × k). V is not changed.
    ///
    /// # Errors
    /// `Shape`, or `OutOfRange` for too many columns, naming `v`, and nothing is changed; [`Error::Device`]. What is wrong with one
    /// matrix is in the outcome.
    ///
    /// # Cost
    /// 2 k n² flops for each matrix; each L is read and written once, up to order 256.
    pub fn update<'a>(&mut self, v: impl Into<BatchOperand<'a, T>>) -> Result<DeviceOutcome<'_, T>, Error> {
        self.modify(v, Weights::Plus)
    }

    /// A_b − V_b V_bᵀ.
    ///
    /// # Shapes
    /// V (count × n × k). V is not changed.
    ///
    /// # Errors
    /// As [`update`](Self::update). A matrix for which the result would not be positive definite stays as it was.
    pub fn downdate<'a>(&mut self, v: impl Into<BatchOperand<'a, T>>) -> Result<DeviceOutcome<'_, T>, Error> {
        self.modify(v, Weights::Minus)
    }

    /// A_b + V_b diag(w) V_bᵀ. Weights are in host memory, and the call waits for the device if there are any.
    ///
    /// # Shapes
    /// V (count × n × k); w has k entries, or count × k for [`BatchWeights::OfEach`].
    ///
    /// # Errors
    /// As [`downdate`](Self::downdate); `Shape` or `NonFinite`, naming `weights`. A weight of one matrix that is not finite is in the
    /// outcome.
    pub fn modify<'a, 'w>(
        &mut self,
        v: impl Into<BatchOperand<'a, T>>,
        weights: impl Into<BatchWeights<'w, T>>,
    ) -> Result<DeviceOutcome<'_, T>, Error> {
        self.modified(&v.into(), weights.into(), None)
    }

    /// As [`modify`](Self::modify), for the matrices with `mask[b]`. The others stay as they are, and cost nothing but the reading of
    /// the mask.
    ///
    /// # Shapes
    /// `mask` (count entries).
    ///
    /// # Errors
    /// As [`modify`](Self::modify); `Shape`, naming `mask`.
    pub fn modify_where<'a, 'w>(
        &mut self,
        mask: &[bool],
        v: impl Into<BatchOperand<'a, T>>,
        weights: impl Into<BatchWeights<'w, T>>,
    ) -> Result<DeviceOutcome<'_, T>, Error> {
        extent("mask", "entries", self.count, mask.len())?;
        self.modified(&v.into(), weights.into(), Some(mask))
    }

    fn modified(
        &mut self,
        v: &BatchOperand<'_, T>,
        weights: BatchWeights<'_, T>,
        mask: Option<&[bool]>,
    ) -> Result<DeviceOutcome<'_, T>, Error> {
        let [count, rows, rank] = v.shape();
        extent("v", "matrices", self.count, count)?;
        extent("v", "rows", self.order, rows)?;
        let (sign, each, of_matrix) = match weights {
            BatchWeights::Shared(shared) => {
                shared.check(rows, (rows, rank))?;
                match shared {
                    Weights::Plus => (1, None, 0),
                    Weights::Minus => (-1, None, 0),
                    Weights::Each(each) => (1, Some(each), 0),
                }
            }
            BatchWeights::OfEach(each) => {
                extent("weights", "entries", count.saturating_mul(rank), each.len())?;
                (1, Some(each), rank)
            }
        };
        let most = i32::MAX.unsigned_abs() as usize / rows.max(1);
        if rank >= most {
            return Err(Error::OutOfRange { argument: "v", rule: "of less than 2³¹ entries for a matrix" });
        }
        self.modified_by = None;
        if count == 0 {
            return Ok(self.outcome_of("v"));
        }
        if rows * rank == 0 {
            self.unchanged(mask)?;
            return Ok(self.outcome_of("v"));
        }
        let wide = self.kernels.wide_room(count, rank);
        if self.wide.last().is_none_or(|last| last.len() < wide) {
            self.wide.push(DeviceBuffer::new(&self.device, wide)?);
        }
        let v = v.take(&self.device, "v")?;
        let weights = each.map(|each| self.staged(each)).transpose()?;
        let mask: Option<Vec<u8>> = mask.map(|mask| mask.iter().map(|&one| u8::from(one)).collect());
        let mask = mask.map(|mask| self.staged(&mask)).transpose()?;
        let streams = [v.stream];
        begin_behind(&self.stream, &streams)?;
        let given = Given {
            v: v.address,
            v_strides: v.strides,
            weights: weights.as_ref().map_or(0, |(_, weights)| address(weights)),
            weights_matrix: i64::try_from(of_matrix).unwrap_or(0),
            mask: mask.as_ref().map_or(0, |(_, mask)| address(mask)),
            rank: i32::try_from(rank).unwrap_or(0),
            sign,
        };
        let all = Modification { factors: self.factors(), given, results: self.results.argument() };
        let working = (address(&self.room), self.wide.last().map_or(0, address));
        let enqueue = || {
            // SAFETY: all memories exist until the work has been waited for, below; the operand has these entries, and is
            // used on its stream otherwise.
            unsafe {
                if let Some((staged, to)) = &weights {
                    self.stream.upload(staged, 0..to.len(), to.slice(0..to.len()))?;
                }
                if let Some((staged, to)) = &mask {
                    self.stream.upload(staged, 0..to.len(), to.slice(0..to.len()))?;
                }
                self.kernels.modify::<T>(&self.stream, all, working)
            }
        };
        let enqueued = enqueue();
        if enqueued.is_err() {
            // What has been left undecided stays so.
            // SAFETY: the memory belongs to the batch, whose stream alone uses it.
            let _ = unsafe { self.stream.clear(self.results.pending.slice(0..2)) };
        }
        // What has been copied for the call must outlive the work.
        let streams = [v.stream.filter(|_| weights.is_none() && mask.is_none())];
        end_before(&self.stream, &self.device, &streams).and(enqueued)?;
        Ok(self.outcome_of("v"))
    }

    /// Sets the results of a call that changes nothing.
    fn unchanged(&mut self, mask: Option<&[bool]>) -> Result<(), Error> {
        let orders = self.fetch(&self.orders)?;
        let wanted = |matrix: usize| mask.is_none_or(|mask| mask[matrix]);
        let status = |(matrix, &order): (usize, &i32)| if wanted(matrix) { order.min(0) } else { 0 };
        let status: Vec<i32> = orders.iter().enumerate().map(status).collect();
        let ones = vec![T::ONE; self.count];
        let (status, ones) = (self.staged(&status)?.0, self.staged(&ones)?.0);
        let all = 0..self.count;
        // SAFETY: all memories exist until the work has been waited for.
        let enqueued = unsafe {
            let upload = || {
                self.stream.upload(&status, all.clone(), self.results.status.slice(all.clone()))?;
                self.stream.upload(&ones, all.clone(), self.results.ratio.slice(all.clone()))?;
                self.stream.clear(self.results.log_det.slice(all.clone()))
            };
            upload()
        };
        self.stream.synchronize().and(enqueued)
    }
}
