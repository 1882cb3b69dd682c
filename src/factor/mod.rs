//! A factor in its storage, and the verbs on it. The public front, [`Cholesky`](crate::Cholesky), adds the engine and converts
//! arguments; everything else is here, and is compiled in this crate ([`verbs`]).
//!
//! | file | holds |
//! |---|---|
//! | `begin` | how a factor begins: from A, from L, or as a copy |
//! | `solve` | solves, and their two halves |
//! | `products` | products with L, Lᴴ and A |
//! | `rows` | insertion, removal and reordering of rows and columns |
//! | `carried` | least squares with carried right-hand sides; a forgetting factor |
//! | `extension` | A bordered, without a change of the factor |
//! | `condition` | the condition number |
//! | `verbs` | the list of the verbs, and what compiles them |

mod begin;
mod carried;
pub(crate) mod condition;
mod extension;
mod products;
mod rows;
mod solve;
pub mod verbs;

pub(crate) use self::begin::{Start, square};

use crate::element::Element;
use crate::error::Error;
use crate::guarded::Guarded;
use crate::host::blocked;
use crate::operand::Operand;
use crate::report::Modification;
use crate::storage::{Storage, pivots};
use crate::structure::Scratch;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::Float;
use faer::{Mat, Par};

/// L in its storage, under the failure contract.
#[derive(Debug)]
pub struct Factor<T: Element, F> {
    pub(crate) guarded: Guarded<T, F>,
    /// Working memory of insertions, removals and shifts.
    scratch: Scratch<T>,
}

impl<T: Element, F: Storage<T> + Clone> Clone for Factor<T, F> {
    fn clone(&self) -> Self {
        Self { guarded: self.guarded.clone(), scratch: Scratch::default() }
    }
}

impl<T: Element, F: Storage<T>> Factor<T, F> {
    pub(crate) fn order(&self) -> usize {
        self.guarded.order()
    }

    #[inline(always)]
    fn modify(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T::Part>) -> Result<Modification, Error> {
        self.guarded.modify(v, weights)
    }

    fn submit(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T::Part>) -> Result<(), Error> {
        self.guarded.submit(v, weights)
    }

    fn wait(&mut self) -> Result<Modification, Error> {
        self.guarded.wait()
    }

    fn can_downdate(&mut self, v: &Operand<'_, T>) -> Result<bool, Error> {
        match self.guarded.dry_run(v, Weights::Minus) {
            Ok(_) => Ok(true),
            Err(Error::NotPositiveDefinite { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn log_det(&self) -> Result<T::Part, Error> {
        let logs = pivots(self.guarded.regular()?).map(|l| l.to_f64().ln());
        // The empty sum is −0.
        Ok(T::Part::from_f64(0.0 + 2.0 * logs.sum::<f64>()))
    }

    fn to_l(&self) -> Result<Mat<T>, Error> {
        let factor = self.guarded.healthy()?;
        let mut l = Mat::zeros(self.order(), self.order());
        factor.read(l.as_mut())?;
        Ok(l)
    }

    fn reconstruct(&self, par: Par) -> Result<Mat<T>, Error> {
        Ok(blocked::reconstruct(self.to_l()?.as_ref(), par))
    }
}
