//! Copies of a batch of real numbers in either memory, and changes of its rows.

use super::stored::{Done, Stored, in_host};
use crate::numbers::Real;
use cholupdate::Error;
use cholupdate::cuda::BatchOperand;
use cholupdate::faer::MatRef;

impl<T: Real> Stored<T> {
    pub fn copied(&self) -> Result<Self, Error> {
        Ok(match self {
            Self::Host(batch) => Self::Host(batch.copied()?),
            Self::Gpu(gpu) => Self::on(gpu.locked().batch.try_clone()?),
        })
    }

    pub fn select(&self, matrices: &[usize]) -> Result<Self, Error> {
        Ok(match self {
            Self::Host(batch) => Self::Host(batch.select(matrices)?),
            Self::Gpu(gpu) => Self::on(gpu.locked().batch.select(matrices)?),
        })
    }

    pub fn replace(&mut self, matrix: usize, a: MatRef<'_, T>) -> Result<(), Error> {
        match self {
            Self::Host(batch) => batch.replace(matrix, a),
            Self::Gpu(gpu) => gpu.locked().replace(matrix, a),
        }
    }

    pub fn reserve(&mut self, order: usize) -> Result<(), Error> {
        match self {
            Self::Host(batch) => batch.reserve(order),
            Self::Gpu(gpu) => gpu.reserve(order),
        }
    }

    /// Appends a row and column to each matrix. On a GPU, `waits` is whether the call waits for it.
    pub fn append(
        &mut self,
        a: BatchOperand<'_, T>,
        mask: Option<&[bool]>,
        waits: bool,
    ) -> Result<Done, Error> {
        match self {
            Self::Host(batch) => batch.append(in_host(a, "a")?, mask),
            Self::Gpu(gpu) => {
                let mut gpu = gpu.locked();
                match mask {
                    Some(mask) => gpu.batch.append_where(mask, a)?,
                    None => gpu.batch.append(a)?,
                };
                gpu.modified(waits)
            }
        }
    }

    pub fn remove(&mut self, indices: &[usize], mask: Option<&[bool]>) -> Result<Done, Error> {
        match self {
            Self::Host(batch) => batch.remove(indices, mask),
            Self::Gpu(gpu) => {
                let mut gpu = gpu.locked();
                match mask {
                    Some(mask) => gpu.batch.remove_where(mask, indices)?,
                    None => gpu.batch.remove(indices)?,
                };
                gpu.modified(false)
            }
        }
    }
}
