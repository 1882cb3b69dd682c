//! The calls that modify all matrices by columns of V.

use super::CholeskyBatch;
use super::operand::BatchRef;
use super::outcome::BatchOutcome;
use crate::check::{extent, room};
use crate::error::Error;
use crate::scalar::Scalar;
use crate::sweep::weights::Weights;
use cholupdate_kernels::batch::change::{Change, Signed};
use cholupdate_kernels::batch::packed::MAX_LANES;

/// Weights of the columns of V in a batch: w in A + V diag(w) Vᵀ. They are real, also for complex V. A column with the weight 0 may be
/// anything.
#[derive(Clone, Copy, Debug)]
pub enum BatchWeights<'a, T> {
    /// The same weights for all matrices.
    Shared(Weights<'a, T>),
    /// For each matrix one for each column, matrix by matrix. (count × k)
    OfEach(&'a [T]),
}

impl<'a, T, W: Into<Weights<'a, T>>> From<W> for BatchWeights<'a, T> {
    fn from(weights: W) -> Self {
        Self::Shared(weights.into())
    }
}

impl<T: Scalar> CholeskyBatch<T> {
    /// A_b + V_b V_bᵀ.
    ///
    /// # Shapes
    /// V (count × n × k). V is not changed.
    ///
    /// # Errors
    /// `Shape`, naming `v`; nothing is changed then. What is wrong with one matrix is in the outcome.
    ///
    /// # Cost
    /// 2 k n² flops for each matrix.
    pub fn update(&mut self, v: BatchRef<'_, T>) -> Result<BatchOutcome<'_, T>, Error> {
        self.modify(v, Weights::Plus)
    }

    /// A_b − V_b V_bᵀ.
    ///
    /// # Shapes
    /// V (count × n × k). V is not changed.
    ///
    /// # Errors
    /// As [`update`](Self::update). A matrix for which the result would not be positive definite stays as it was.
    ///
    /// # Cost
    /// As [`update`](Self::update).
    pub fn downdate(&mut self, v: BatchRef<'_, T>) -> Result<BatchOutcome<'_, T>, Error> {
        self.modify(v, Weights::Minus)
    }

    /// A_b + V_b diag(w) V_bᵀ.
    ///
    /// # Shapes
    /// V (count × n × k); w has k entries, or count × k for [`BatchWeights::OfEach`].
    ///
    /// # Errors
    /// As [`downdate`](Self::downdate); `Shape` or `NonFinite`, naming `weights`. A weight of one matrix that is not finite is in the
    /// outcome.
    ///
    /// # Cost
    /// As [`update`](Self::update); twice that with weights of both signs.
    pub fn modify<'a>(
        &mut self,
        v: BatchRef<'_, T>,
        weights: impl Into<BatchWeights<'a, T::Part>>,
    ) -> Result<BatchOutcome<'_, T>, Error> {
        self.modified(v, weights.into(), None)
    }

    /// As [`modify`](Self::modify), for the matrices with `mask[b]`. The others stay as they are.
    ///
    /// # Shapes
    /// `mask` (count entries).
    ///
    /// # Errors
    /// As [`modify`](Self::modify); `Shape`, naming `mask`.
    pub fn modify_where<'a>(
        &mut self,
        mask: &[bool],
        v: BatchRef<'_, T>,
        weights: impl Into<BatchWeights<'a, T::Part>>,
    ) -> Result<BatchOutcome<'_, T>, Error> {
        extent("mask", "entries", self.count(), mask.len())?;
        self.modified(v, weights.into(), Some(mask))
    }

    fn modified(
        &mut self,
        v: BatchRef<'_, T>,
        weights: BatchWeights<'_, T::Part>,
        mask: Option<&[bool]>,
    ) -> Result<BatchOutcome<'_, T>, Error> {
        let [count, rows, rank] = v.shape();
        extent("v", "matrices", self.count(), count)?;
        extent("v", "rows", self.order, rows)?;
        let weights = match weights {
            BatchWeights::Shared(shared) => {
                shared.check(rows, (rows, rank))?;
                match shared {
                    Weights::Plus => Signed::Plus,
                    Weights::Minus => Signed::Minus,
                    Weights::Each(each) => Signed::Each(each),
                }
            }
            BatchWeights::OfEach(each) => {
                extent("weights", "entries", count.saturating_mul(rank), each.len())?;
                Signed::OfEach(each)
            }
        };
        // Memory for V of some groups.
        room::<T>("v", rank, (rows.max(1).saturating_mul(4 * MAX_LANES), size_of::<usize>()))?;
        T::batch_modify(&mut self.tiles, &Change::new(v.view(), weights, mask));
        Ok(BatchOutcome::new(&self.tiles))
    }
}
