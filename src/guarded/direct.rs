//! Modifications that need no sweep, under the failure contract.

use super::Guarded;
use crate::element::Element;
use crate::operand::Operand;
use crate::report::Modification;
use crate::storage::Swept;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::Float;

impl<T: Element, F: Swept<T>> Guarded<T, F> {
    /// L Lᴴ ← L Lᴴ + V diag(w) Vᴴ without a sweep, if the storage can. Returns `None`, with L as it was, if not, or if anything is
    /// to be refused: what and why [`modify`](Self::modify) finds out.
    #[inline(always)]
    pub fn modify_directly(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
    ) -> Option<Modification> {
        let &Operand::Host(v) = v else { return None };
        // V is finite, and its square far from overflow, if the modification is made. That of L must be as far before it.
        let largest = (T::Part::LARGE_SQUARE * T::Part::UNIT).to_f64();
        let ready = !self.poisoned && self.singular.is_none() && self.flight.is_none();
        if !(ready && self.row_norm * self.row_norm <= largest) {
            return None;
        }
        // A panic in the middle would lose the factor.
        self.poisoned = true;
        let made = self.factor.modify_directly(v, weights);
        self.poisoned = false;
        let made = made?;
        if made.added > 0.0 {
            self.row_norm = (self.row_norm * self.row_norm + made.added).sqrt();
        }
        self.history.made(v, weights);
        Some(made.report)
    }
}
