//! The calls that modify all matrices of a batch on a device.

use super::CholeskyBatch;
use super::arguments::{Given, Modification, address};
use super::device_batch::DeviceBatchView;
use super::operand::{BatchOperand, WeightsOperand, begin_behind, end_before};
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
    /// 2 k n² flops for each matrix; each L is read and written once up to order 32, and once for every four columns of V beyond.
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

    /// A_b + V_b diag(w) V_bᵀ. The call waits for the device if the weights are in host memory.
    ///
    /// # Shapes
    /// V (count × n × k); w has k entries, or count × k for [`BatchWeights::OfEach`], or (count × k × 1) on the device. With weights of
    /// 0, k differs from matrix to matrix, and a matrix all of whose weights are 0 is left out.
    ///
    /// # Errors
    /// As [`downdate`](Self::downdate); `Shape`, or `NonFinite` for the same weights of all matrices in host memory, naming `weights`.
    /// Otherwise a weight that is not finite is in the outcome.
    pub fn modify<'a, 'w>(
        &mut self,
        v: impl Into<BatchOperand<'a, T>>,
        weights: impl Into<WeightsOperand<'w, T>>,
    ) -> Result<DeviceOutcome<'_, T>, Error> {
        self.modified(&v.into(), &weights.into(), None)
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
        weights: impl Into<WeightsOperand<'w, T>>,
    ) -> Result<DeviceOutcome<'_, T>, Error> {
        extent("mask", "entries", self.count, mask.len())?;
        self.modified(&v.into(), &weights.into(), Some(mask))
    }

    fn modified(
        &mut self,
        v: &BatchOperand<'_, T>,
        weights: &WeightsOperand<'_, T>,
        mask: Option<&[bool]>,
    ) -> Result<DeviceOutcome<'_, T>, Error> {
        let [count, rows, rank] = v.shape();
        extent("v", "matrices", self.count, count)?;
        extent("v", "rows", self.order, rows)?;
        let (sign, each, strides) = match *weights {
            WeightsOperand::Host(BatchWeights::Shared(shared)) => {
                shared.check(rows, (rows, rank))?;
                match shared {
                    Weights::Plus => (1, None, [0, 0]),
                    Weights::Minus => (-1, None, [0, 0]),
                    Weights::Each(each) => (1, Some(each), [0, 1]),
                }
            }
            WeightsOperand::Host(BatchWeights::OfEach(each)) => {
                extent("weights", "entries", count.saturating_mul(rank), each.len())?;
                (1, Some(each), [i64::try_from(rank).unwrap_or(0), 1])
            }
            WeightsOperand::Device(ref there) => {
                there.is_on(&self.device, "weights")?;
                let [matrices, entries, columns] = there.shape();
                extent("weights", "matrices", count, matrices)?;
                extent("weights", "entries", rank, entries)?;
                extent("weights", "columns", 1, columns)?;
                let [matrix, column, _] = there.strides();
                (1, None, [matrix, column])
            }
        };
        let there = if let WeightsOperand::Device(there) = weights { Some(there) } else { None };
        // Columns are counted up to the next four.
        let most = (i32::MAX.unsigned_abs() as usize - 4) / rows.max(1);
        if rank >= most {
            return Err(Error::OutOfRange { argument: "v", rule: "of less than 2³¹ entries for a matrix" });
        }
        if count == 0 {
            return Ok(self.with_outcome("v"));
        }
        if rows * rank == 0 {
            let stream = if let BatchOperand::Device(v) = v { v.stream() } else { None };
            self.unchanged(mask, stream)?;
            return Ok(self.with_outcome("v"));
        }
        let wide = self.kernels.wide_room(count, rank);
        if self.wide.last().is_none_or(|last| last.len() < wide) {
            self.wide.push(DeviceBuffer::new(&self.device, wide)?);
        }
        let v = v.take(&self.device, "v")?;
        let weights = each.map(|each| self.staged(each)).transpose()?;
        let mask: Option<Vec<u8>> = mask.map(|mask| mask.iter().map(|&one| u8::from(one)).collect());
        let mask = mask.map(|mask| self.staged(&mask)).transpose()?;
        // Of weights on the device; those of others are V's.
        let beside = there.map_or(v.stream, DeviceBatchView::stream);
        self.outcome_of = None;
        begin_behind(&self.stream, &[v.stream, beside])?;
        let on_host = weights.as_ref().map(|(_, weights)| address(weights));
        let given = Given {
            v: v.address,
            v_strides: v.strides,
            weights: there.map(DeviceBatchView::address).or(on_host).unwrap_or(0),
            weights_strides: strides,
            mask: mask.as_ref().map_or(0, |(_, mask)| address(mask)),
            rank: i32::try_from(rank).unwrap_or(0),
            sign,
        };
        let all = Modification { factors: self.factors(), given, results: self.results.argument() };
        let wide = self.wide.last().map_or(0, address);
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
                self.kernels.modify::<T>(&self.stream, all, wide)
            }
        };
        let enqueued = enqueue();
        if enqueued.is_err() {
            // What has been left undecided stays so.
            // SAFETY: the memory belongs to the batch, whose stream alone uses it.
            let _ = unsafe { self.stream.clear(self.results.pending.slice(0..2)) };
        }
        // What has been copied for the call must outlive the work.
        let streams = [v.stream.filter(|_| weights.is_none() && mask.is_none()), beside];
        end_before(&self.stream, &self.device, &streams).and(enqueued)?;
        Ok(self.with_outcome("v"))
    }

    /// Sets the results of a call that changes nothing, after the work on this stream, and waits for them.
    fn unchanged(&mut self, mask: Option<&[bool]>, stream: Option<u64>) -> Result<(), Error> {
        begin_behind(&self.stream, &[stream])?;
        let orders = self.fetch(&self.orders)?;
        let wanted = |matrix: usize| mask.is_none_or(|mask| mask[matrix]);
        let status = |(matrix, &order): (usize, &i32)| if wanted(matrix) { order.min(0) } else { 0 };
        let status: Vec<i32> = orders.iter().enumerate().map(status).collect();
        let ones = vec![T::ONE; self.count];
        let (status, ones) = (self.staged(&status)?.0, self.staged(&ones)?.0);
        let all = 0..self.count;
        self.outcome_of = None;
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
