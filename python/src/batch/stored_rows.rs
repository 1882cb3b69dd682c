//! Copies of a batch in either memory, and changes of its rows.

use super::stored::{Done, Stored, in_host, of_host};
use crate::numbers::Real;
use cholupdate::cuda::BatchOperand;
use cholupdate::faer::MatRef;
use cholupdate::{CholeskyBatch, Error};

impl<T: Real> Stored<T> {
    /// The batch, if it is in host memory.
    fn host(&self) -> Result<&CholeskyBatch<T>, Error> {
        match self {
            Self::Host(batch) => Ok(batch),
            Self::Gpu(_) => Err(on_the_cpu_alone()),
        }
    }

    fn host_mut(&mut self) -> Result<&mut CholeskyBatch<T>, Error> {
        match self {
            Self::Host(batch) => Ok(batch),
            Self::Gpu(_) => Err(on_the_cpu_alone()),
        }
    }

    pub fn copied(&self) -> Result<Self, Error> {
        Ok(Self::Host(self.host()?.clone()))
    }

    pub fn select(&self, matrices: &[usize]) -> Result<Self, Error> {
        Ok(Self::Host(self.host()?.select(matrices)?))
    }

    pub fn replace(&mut self, matrix: usize, a: MatRef<'_, T>) -> Result<(), Error> {
        self.host_mut()?.replace(matrix, a)
    }

    pub fn reserve(&mut self, order: usize) -> Result<(), Error> {
        self.host_mut()?.reserve(order)
    }

    pub fn append(&mut self, a: BatchOperand<'_, T>, mask: Option<&[bool]>) -> Result<Done, Error> {
        let (count, batch) = (self.count(), self.host_mut()?);
        let a = in_host(a, "a")?;
        let outcome = match mask {
            Some(mask) => batch.append_where(mask, a),
            None => batch.append(a),
        };
        Ok(of_host(count, &outcome?))
    }

    pub fn remove(&mut self, indices: &[usize], mask: Option<&[bool]>) -> Result<Done, Error> {
        let (count, batch) = (self.count(), self.host_mut()?);
        let outcome = match mask {
            Some(mask) => batch.remove_where(mask, indices),
            None => batch.remove(indices),
        };
        Ok(of_host(count, &outcome?))
    }
}

fn on_the_cpu_alone() -> Error {
    Error::OutOfRange { argument: "engine", rule: "\"cpu\" for this call" }
}
