//! A batch of real numbers in host memory or in that of a GPU, and its calls.

use super::gpu_numbers::{Call, Numbers};
use super::on_gpu::OnGpu;
use super::on_host::OnHost;
use crate::numbers::Real;
use cholupdate::cuda::{
    self, BatchOperand, BatchOperandMut, Device, DeviceNumbers, DeviceOutcome, WeightsOperand,
};
use cholupdate::faer::Mat;
use cholupdate::{BatchMut, BatchRef, BatchWeights, Cpu, Error, Modification};

/// A batch in either memory.
pub enum Stored<T: Real> {
    Host(OnHost<T>),
    Gpu(OnGpu<T>),
}

/// What a call has found: its numbers, or which call it was if they are on a GPU.
pub enum Done {
    Here(Numbers),
    There(u64),
}

impl Done {
    /// Of a call that has found nothing.
    pub fn nothing() -> Self {
        Self::Here(Numbers { failures: Vec::new(), reports: Vec::new() })
    }
}

/// An operand of a batch in host memory.
pub fn in_host<'a, T>(
    operand: BatchOperand<'a, T>,
    argument: &'static str,
) -> Result<BatchRef<'a, T>, Error> {
    match operand {
        BatchOperand::Host(a) => Ok(a),
        BatchOperand::Device(_) => Err(in_wrong_memory(argument)),
    }
}

/// As `in_host`, for writing.
fn in_host_mut<'a, T>(
    operand: BatchOperandMut<'a, T>,
    argument: &'static str,
) -> Result<BatchMut<'a, T>, Error> {
    match operand {
        BatchOperandMut::Host(a) => Ok(a),
        BatchOperandMut::Device(_) => Err(in_wrong_memory(argument)),
    }
}

fn in_wrong_memory(argument: &'static str) -> Error {
    Error::OutOfRange { argument, rule: "in host memory, as the batch" }
}

impl<T: Real> Stored<T> {
    /// Factors matrices in host memory, or, with the device, in that of a GPU.
    pub fn new(
        a: BatchOperand<'_, T>,
        orders: Option<&[usize]>,
        (engine, device): (Cpu, Option<&Device>),
    ) -> Result<Self, Error> {
        Ok(match (device, orders) {
            (None, orders) => Self::Host(OnHost::new(in_host(a, "a")?, orders, engine)?),
            (Some(device), Some(orders)) => Self::on(cuda::CholeskyBatch::with_orders(device, a, orders)?),
            (Some(device), None) => Self::on(cuda::CholeskyBatch::new(device, a)?),
        })
    }

    /// A batch of known factors.
    pub fn from_factors(
        l: BatchOperand<'_, T>,
        (engine, device): (Cpu, Option<&Device>),
    ) -> Result<Self, Error> {
        Ok(match device {
            None => Self::Host(OnHost::from_factors(in_host(l, "l")?, engine)?),
            Some(device) => Self::on(cuda::CholeskyBatch::from_factors(device, l)?),
        })
    }

    /// A batch on a GPU.
    pub fn on(batch: cuda::CholeskyBatch<T>) -> Self {
        Self::Gpu(OnGpu::new(batch))
    }

    pub fn count(&self) -> usize {
        match self {
            Self::Host(batch) => batch.count(),
            Self::Gpu(gpu) => gpu.count(),
        }
    }

    pub fn order(&self) -> usize {
        match self {
            Self::Host(batch) => batch.order(),
            Self::Gpu(gpu) => gpu.order(),
        }
    }

    /// The orders of all matrices, 0 for one that has no factor.
    pub fn orders(&self) -> Result<Vec<usize>, Error> {
        match self {
            Self::Host(batch) => batch.orders(),
            Self::Gpu(gpu) => {
                let orders = gpu.locked().batch.orders()?;
                Ok(orders.into_iter().map(Option::unwrap_or_default).collect())
            }
        }
    }

    pub fn missing(&self) -> Result<Vec<usize>, Error> {
        match self {
            Self::Host(batch) => batch.missing(),
            Self::Gpu(gpu) => gpu.locked().batch.missing(),
        }
    }

    /// The reason why a matrix has no factor.
    pub fn reason(&self, matrix: usize) -> Result<Option<Error>, Error> {
        match self {
            Self::Host(batch) => batch.reason(matrix),
            Self::Gpu(gpu) => match gpu.locked().batch.status_of(matrix) {
                Err(error @ Error::Device { .. }) => Err(error),
                status => Ok(status.err()),
            },
        }
    }

    /// NaN for a matrix that has no factor or is singular.
    pub fn log_dets(&self) -> Result<Vec<f64>, Error> {
        match self {
            Self::Host(batch) => batch.log_dets(),
            Self::Gpu(gpu) => {
                let numbers = gpu.locked().batch.log_dets()?;
                Ok(numbers
                    .into_iter()
                    .map(|number| if number.is_finite() { number } else { f64::NAN })
                    .collect())
            }
        }
    }

    pub fn factor(&self, matrix: usize) -> Result<Mat<T>, Error> {
        match self {
            Self::Host(batch) => batch.factor(matrix),
            Self::Gpu(gpu) => gpu.locked().batch.factor(matrix),
        }
    }

    pub fn copy_factors(&self, l: BatchOperandMut<'_, T>) -> Result<(), Error> {
        match self {
            Self::Host(batch) => batch.copy_factors(in_host_mut(l, "l")?),
            Self::Gpu(gpu) => {
                let gpu = gpu.locked();
                gpu.batch.copy_factors(l)?;
                gpu.batch.wait()
            }
        }
    }

    /// Solves in place. On a GPU, `waits` is whether the call waits for it.
    pub fn solve_in_place(&self, b: BatchOperandMut<'_, T>, waits: bool) -> Result<Done, Error> {
        match self {
            Self::Host(batch) => batch.solve_in_place(in_host_mut(b, "rhs")?),
            Self::Gpu(gpu) => {
                let mut gpu = gpu.locked();
                gpu.batch.solve_in_place(b)?;
                gpu.solved(waits)
            }
        }
    }

    /// Solves in place, and returns the numbers of the matrices for which there is no solution.
    pub fn solve(&self, b: BatchOperandMut<'_, T>) -> Result<Vec<usize>, Error> {
        match self {
            Self::Host(batch) => batch.solve(in_host_mut(b, "rhs")?),
            Self::Gpu(gpu) => {
                let gpu = &mut *gpu.locked();
                let status = gpu.batch.solve_in_place(b)?;
                gpu.solves += 1;
                status.failed()
            }
        }
    }

    /// A + V diag(w) Vᵀ. On a GPU, `waits` is whether the call waits for it.
    pub fn modify(
        &mut self,
        v: BatchOperand<'_, T>,
        weights: WeightsOperand<'_, T>,
        mask: Option<&[bool]>,
        waits: bool,
    ) -> Result<Done, Error> {
        match self {
            Self::Host(batch) => {
                let WeightsOperand::Host(weights) = weights else { return Err(in_wrong_memory("weights")) };
                batch.modify(in_host(v, "v")?, weights, mask)
            }
            Self::Gpu(gpu) => {
                let mut gpu = gpu.locked();
                match mask {
                    Some(mask) => gpu.batch.modify_where(mask, v, weights)?,
                    None => gpu.batch.modify(v, weights)?,
                };
                gpu.modified(waits)
            }
        }
    }

    /// A + V diag(w) Vᵀ; or the first matrix that could not be modified, and why.
    pub fn modify_all(
        &mut self,
        v: BatchOperand<'_, T>,
        weights: BatchWeights<'_, T>,
    ) -> Result<Result<(), (usize, Error)>, Error> {
        match self {
            Self::Host(batch) => batch.modify_all(in_host(v, "v")?, weights),
            Self::Gpu(gpu) => {
                let failures = gpu.locked().batch.modify(v, weights)?.failures()?;
                Ok(failures.into_iter().next().map_or(Ok(()), Err))
            }
        }
    }

    /// The numbers of a call on a GPU; none if a later call has overwritten them.
    pub fn numbers(&self, (call, number): (Call, u64)) -> Result<Option<Numbers>, Error> {
        let Self::Gpu(gpu) = self else { return Ok(None) };
        let gpu = gpu.locked();
        match call {
            Call::Modification => {
                let outcome = gpu.outcome(number);
                let read = |outcome: DeviceOutcome<'_, T>| {
                    Ok(Numbers { failures: outcome.failures()?, reports: outcome.reports()? })
                };
                outcome.map(read).transpose()
            }
            Call::Solve => {
                let status = gpu.batch.solve_status().filter(|_| gpu.solves == number);
                let read = |status: cuda::Status<'_, T>| {
                    Ok(Numbers { failures: status.failures()?, reports: Vec::<Option<Modification>>::new() })
                };
                status.map(read).transpose()
            }
        }
    }

    /// The numbers of a modification in the memory of the GPU; none if a later one has overwritten them.
    pub fn on_device(&self, number: u64) -> Option<DeviceNumbers<T>> {
        let Self::Gpu(gpu) = self else { return None };
        gpu.locked().outcome(number).map(|outcome| outcome.on_device())
    }

    /// Waits until all calls so far are done.
    pub fn wait(&self) -> Result<(), Error> {
        match self {
            Self::Host(_) => Ok(()),
            Self::Gpu(gpu) => gpu.locked().batch.wait(),
        }
    }
}
