//! The state of a C program's batch between calls, of every type of numbers: factors in host memory or, of real numbers, in that of a GPU.

use crate::number::Number;
use crate::on_host::OnHost;
use crate::options::{BatchEngine, engine_of_batch};
use crate::status::Refused;
use cholupdate::cuda;
use cholupdate::faer::Mat;
use cholupdate::{BatchMut, BatchRef, EngineSpec, Error, Operand, RealScalar};
use std::sync::{Mutex, MutexGuard};

/// What has failed, by number.
pub type Failures = Vec<(usize, Error)>;

/// A batch of a C program.
pub type Held<T> = <T as Number>::Batch;

/// A batch of real numbers, in either memory. `changing` has the calls that modify it, and that solve.
pub enum Anywhere<T: RealScalar> {
    Host(OnHost<T>),
    /// Locked because solves, which several threads of the program may ask for at once, use memory of the batch.
    Device(Box<Mutex<cuda::CholeskyBatch<T>>>),
}

const fn goes_anywhere<T: Send + Sync>() {}
const _: () = goes_anywhere::<Anywhere<f64>>();

/// The matrices that a batch is made of.
pub enum Given<'a, T> {
    /// A, and their orders unless all are n.
    A(BatchRef<'a, T>, Option<Vec<usize>>),
    L(BatchRef<'a, T>),
}

impl<T: RealScalar> Anywhere<T> {
    /// A batch with these settings.
    pub fn new(given: Given<'_, T>, settings: &EngineSpec) -> Result<Self, Refused> {
        Ok(match (engine_of_batch(settings)?, given) {
            (BatchEngine::Host(engine), given) => Self::Host(OnHost::with(given, engine)?),
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
            Self::Host(batch) => batch.extents(),
            Self::Device(batch) => locked(batch).map(|batch| (batch.count(), batch.order())),
        }
    }

    /// A copy of the batch.
    pub fn copied(&self) -> Result<Self, Refused> {
        match self {
            Self::Host(batch) => batch.copied().map(Self::Host),
            Self::Device(batch) => Ok(Self::on_device(locked(batch)?.try_clone()?)),
        }
    }

    /// Copies of some matrices.
    pub fn select(&self, indices: &[usize]) -> Result<Self, Refused> {
        match self {
            Self::Host(batch) => batch.select(indices).map(Self::Host),
            Self::Device(batch) => {
                let selected = locked(batch)?.select(indices).map(Self::on_device);
                Ok(selected.map_err(|error| error.with_argument("indices"))?)
            }
        }
    }

    /// Factors another matrix in place of one.
    pub fn replace(&mut self, matrix: usize, a: Operand<'_, T>) -> Result<(), Refused> {
        match self {
            Self::Host(batch) => batch.replace(matrix, a),
            Self::Device(_) => Ok(self.there_mut()?.replace(matrix, a)?),
        }
    }

    /// Makes room for matrices of this order.
    pub fn reserve(&mut self, n: usize) -> Result<(), Refused> {
        match self {
            Self::Host(batch) => batch.reserve(n),
            Self::Device(_) => Ok(self.there_mut()?.reserve(n).map_err(|error| error.with_argument("n"))?),
        }
    }

    /// The batch of a function that is for batches in the memory of a GPU.
    pub fn there(&self) -> Result<MutexGuard<'_, cuda::CholeskyBatch<T>>, Refused> {
        match self {
            Self::Host(_) => Err(in_host_memory()),
            Self::Device(batch) => locked(batch),
        }
    }

    /// The same for changes.
    pub fn there_mut(&mut self) -> Result<&mut cuda::CholeskyBatch<T>, Refused> {
        match self {
            Self::Host(_) => Err(in_host_memory()),
            Self::Device(batch) => Ok(batch.get_mut().map_err(|_| Error::Poisoned)?),
        }
    }

    /// The matrices that have no factor, and why.
    pub fn missing(&self) -> Result<Failures, Refused> {
        match self {
            Self::Host(batch) => batch.missing(),
            Self::Device(batch) => Ok(locked(batch)?.why_missing()?),
        }
    }

    /// The order of each matrix, 0 for one without a factor.
    pub fn orders(&self) -> Result<Vec<usize>, Refused> {
        match self {
            Self::Host(batch) => batch.orders(),
            Self::Device(batch) => {
                let orders = locked(batch)?.orders()?;
                Ok(orders.into_iter().map(|order| order.unwrap_or(0)).collect())
            }
        }
    }

    /// A copy of the factor of a matrix.
    pub fn factor(&self, matrix: usize) -> Result<Mat<T>, Refused> {
        match self {
            Self::Host(batch) => batch.factor(matrix),
            Self::Device(batch) => Ok(locked(batch)?.factor(matrix)?),
        }
    }

    /// Copies all factors.
    pub fn copy_factors(&self, l: BatchMut<'_, T>) -> Result<(), Refused> {
        match self {
            Self::Host(batch) => batch.copy_factors(l),
            Self::Device(batch) => Ok(locked(batch)?.copy_factors(l)?),
        }
    }

    /// log det A of each matrix, NaN where there is none, and why.
    pub fn log_dets(&self) -> Result<(Vec<f64>, Failures), Refused> {
        match self {
            Self::Host(batch) => batch.log_dets(),
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

/// Failures as calls on the CPU give them.
pub fn by_reference(failures: &Failures) -> impl Iterator<Item = (usize, &Error)> {
    failures.iter().map(|(matrix, error)| (*matrix, error))
}

/// The batch, used by this thread alone.
pub fn locked<T: RealScalar>(
    batch: &Mutex<cuda::CholeskyBatch<T>>,
) -> Result<MutexGuard<'_, cuda::CholeskyBatch<T>>, Refused> {
    // A call that has panicked may have left anything.
    Ok(batch.lock().map_err(|_| Error::Poisoned)?)
}

fn in_host_memory() -> Refused {
    Refused::invalid("batch", "in host memory", "in that of a GPU for this function")
}
