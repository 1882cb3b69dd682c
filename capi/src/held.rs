//! The state of a C program's batch between calls, in both precisions: factors in host memory, or in that of a GPU.

use crate::batches::Results;
use crate::options::BatchEngine;
use crate::status::Refused;
use cholupdate::cuda::{self, BatchOperand, BatchOperandMut, DeviceOutcome, Status};
use cholupdate::faer::Mat;
use cholupdate::{BatchMut, BatchRef, BatchWeights, CholeskyBatch, Error, Scalar};
use std::sync::{Mutex, MutexGuard};

/// What has failed, by number.
type Failures = Vec<(usize, Error)>;

/// A batch of a C program.
pub enum Held<T: Scalar> {
    Host(CholeskyBatch<T>),
    /// Locked because solves, which several threads of the program may ask for at once, use memory of the batch.
    Device(Box<Mutex<cuda::CholeskyBatch<T>>>),
}

const fn goes_anywhere<T: Send + Sync>() {}
const _: () = goes_anywhere::<Held<f64>>();

/// The matrices that a batch is made of.
pub enum Given<'a, T> {
    /// A, and their orders unless all are n.
    A(BatchRef<'a, T>, Option<Vec<usize>>),
    L(BatchRef<'a, T>),
}

/// A solve, or a half of one.
#[derive(Clone, Copy)]
pub enum Sides {
    Both,
    L,
    Transposed,
}

impl<T: Scalar> Held<T> {
    /// Factors matrices, or takes factors.
    pub fn new(given: Given<'_, T>, engine: BatchEngine) -> Result<Self, Error> {
        Ok(match (engine, given) {
            (BatchEngine::Host(engine), Given::A(a, None)) => Self::Host(CholeskyBatch::new_in(a, engine)?),
            (BatchEngine::Host(engine), Given::A(a, Some(orders))) => {
                Self::Host(CholeskyBatch::with_orders(a, &orders, engine)?)
            }
            (BatchEngine::Host(engine), Given::L(l)) => {
                Self::Host(CholeskyBatch::from_factors_in(l, engine)?)
            }
            (BatchEngine::Device(device), Given::A(a, None)) => {
                Self::on_device(cuda::CholeskyBatch::new(&device, a)?)
            }
            (BatchEngine::Device(device), Given::A(a, Some(orders))) => {
                Self::on_device(cuda::CholeskyBatch::with_orders(&device, a, &orders)?)
            }
            (BatchEngine::Device(device), Given::L(l)) => {
                Self::on_device(cuda::CholeskyBatch::from_factors(&device, l)?)
            }
        })
    }

    pub fn on_device(batch: cuda::CholeskyBatch<T>) -> Self {
        Self::Device(Box::new(Mutex::new(batch)))
    }

    /// The number of matrices, and n.
    pub fn extents(&self) -> Result<(usize, usize), Refused> {
        match self {
            Self::Host(batch) => Ok((batch.count(), batch.order())),
            Self::Device(batch) => locked(batch).map(|batch| (batch.count(), batch.order())),
        }
    }

    /// The batch of a function that is for batches in host memory.
    pub fn here(&self) -> Result<&CholeskyBatch<T>, Refused> {
        match self {
            Self::Host(batch) => Ok(batch),
            Self::Device(_) => Err(misplaced("the memory of a GPU", "in host memory")),
        }
    }

    /// The same for changes.
    pub fn here_mut(&mut self) -> Result<&mut CholeskyBatch<T>, Refused> {
        match self {
            Self::Host(batch) => Ok(batch),
            Self::Device(_) => Err(misplaced("the memory of a GPU", "in host memory")),
        }
    }

    /// The batch of a function that is for batches in the memory of a GPU.
    pub fn there(&self) -> Result<MutexGuard<'_, cuda::CholeskyBatch<T>>, Refused> {
        match self {
            Self::Host(_) => Err(misplaced("host memory", "in that of a GPU")),
            Self::Device(batch) => locked(batch),
        }
    }

    /// The same for changes.
    pub fn there_mut(&mut self) -> Result<&mut cuda::CholeskyBatch<T>, Refused> {
        match self {
            Self::Host(_) => Err(misplaced("host memory", "in that of a GPU")),
            Self::Device(batch) => Ok(batch.get_mut().map_err(|_| Error::Poisoned)?),
        }
    }

    /// The matrices that have no factor, and why.
    pub fn missing(&self) -> Result<Failures, Refused> {
        match self {
            Self::Host(batch) => {
                let reason = |matrix: usize| batch.status(matrix).err().map(|error| (matrix, error));
                Ok(batch.missing().into_iter().filter_map(reason).collect())
            }
            Self::Device(batch) => Ok(locked(batch)?.why_missing()?),
        }
    }

    /// The order of each matrix, 0 for one without a factor.
    pub fn orders(&self) -> Result<Vec<usize>, Refused> {
        match self {
            Self::Host(batch) => {
                Ok((0..batch.count()).map(|matrix| batch.order_of(matrix).unwrap_or(0)).collect())
            }
            Self::Device(batch) => {
                let orders = locked(batch)?.orders()?;
                Ok(orders.into_iter().map(|order| order.unwrap_or(0)).collect())
            }
        }
    }

    /// A copy of the factor of a matrix.
    pub fn factor(&self, matrix: usize) -> Result<Mat<T>, Refused> {
        match self {
            Self::Host(batch) => Ok(batch.factor(matrix)?),
            Self::Device(batch) => Ok(locked(batch)?.factor(matrix)?),
        }
    }

    /// Copies all factors.
    pub fn copy_factors(&self, l: BatchMut<'_, T>) -> Result<(), Refused> {
        match self {
            Self::Host(batch) => Ok(batch.copy_factors(l)?),
            Self::Device(batch) => Ok(locked(batch)?.copy_factors(l)?),
        }
    }

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
            Self::Host(batch) => {
                let outcome = match mask {
                    Some(mask) => batch.modify_where(mask, v, weights)?,
                    None => batch.modify(v, weights)?,
                };
                // SAFETY: forwarded to the caller.
                unsafe { results.tell(outcome.failures(), |matrix| outcome.report(matrix).ok()) }
            }
            Self::Device(_) => {
                let outcome = modified(self.there_mut()?, v.into(), weights, mask)?;
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
        let failures = match self {
            Self::Host(batch) => match sides {
                Sides::Both => batch.solve_in_place(b)?,
                Sides::L => batch.solve_l_in_place(b)?,
                Sides::Transposed => batch.solve_lt_in_place(b)?,
            },
            Self::Device(batch) => solved(&mut *locked(batch)?, sides, b.into())?.failures()?,
        };
        // SAFETY: forwarded to the caller.
        unsafe { results.tell_failures(by_reference(&failures)) }
    }

    /// log det A of each matrix, NaN where there is none, and why.
    pub fn log_dets(&self) -> Result<(Vec<f64>, Failures), Refused> {
        match self {
            Self::Host(batch) => {
                let mut failures = Failures::new();
                let number = |matrix| {
                    batch.log_det(matrix).unwrap_or_else(|error| {
                        failures.push((matrix, error));
                        f64::NAN
                    })
                };
                Ok(((0..batch.count()).map(number).collect(), failures))
            }
            Self::Device(batch) => {
                let batch = locked(batch)?;
                let (mut numbers, mut failures) = (batch.log_dets()?, batch.why_missing()?);
                for (matrix, number) in numbers.iter_mut().enumerate() {
                    if *number == f64::NEG_INFINITY {
                        let l = batch.factor(matrix)?;
                        let column = (0..l.nrows()).find(|&j| !(l[(j, j)] > T::ZERO)).unwrap_or(0);
                        failures.push((matrix, Error::Singular { column }));
                        *number = f64::NAN;
                    }
                }
                failures.sort_unstable_by_key(|&(matrix, _)| matrix);
                Ok((numbers, failures))
            }
        }
    }
}

/// Modifies a batch on a device, on the stream of V unless there are weights or a mask.
pub fn modified<'a, T: Scalar>(
    batch: &'a mut cuda::CholeskyBatch<T>,
    v: BatchOperand<'_, T>,
    weights: BatchWeights<'_, T>,
    mask: Option<&[bool]>,
) -> Result<DeviceOutcome<'a, T>, Error> {
    match mask {
        Some(mask) => batch.modify_where(mask, v, weights),
        None => batch.modify(v, weights),
    }
}

/// Solves with a batch on a device, on the stream of B.
pub fn solved<'a, T: Scalar>(
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
pub unsafe fn tell<T: Scalar>(outcome: &DeviceOutcome<'_, T>, results: &Results) -> Result<(), Refused> {
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

pub fn by_reference(failures: &Failures) -> impl Iterator<Item = (usize, &Error)> {
    failures.iter().map(|(matrix, error)| (*matrix, error))
}

fn locked<T: Scalar>(
    batch: &Mutex<cuda::CholeskyBatch<T>>,
) -> Result<MutexGuard<'_, cuda::CholeskyBatch<T>>, Refused> {
    // A call that has panicked may have left anything.
    Ok(batch.lock().map_err(|_| Error::Poisoned)?)
}

fn misplaced(found: &str, rule: &str) -> Refused {
    Refused::invalid("batch", format!("in {found}"), format!("{rule} for this function"))
}
