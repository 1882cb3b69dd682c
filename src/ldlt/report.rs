//! What a modification of an indefinite matrix has done.

use cholupdate_kernels::number::Float;

/// The report of a modification of an [`Ldlt`](crate::Ldlt).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LdltModification {
    /// min over all columns of L of |new pivot / old pivot|, where a pivot is an entry of D for a unit L; 1 if L has no columns. Of a new
    /// row: its |pivot| over (|L| |D| |Lᵀ|)_ii. About −log₁₀ of it decimal digits are lost in the worst column.
    pub min_pivot_ratio: f64,
    /// log |det A'| − log |det A|.
    pub log_abs_det_change: f64,
    /// The numbers of positive and of negative eigenvalues of A before.
    pub inertia_before: (usize, usize),
    /// The same after.
    pub inertia: (usize, usize),
    /// max (|L| |D| |Lᵀ|)_ii / max |A_ii|, at least 1: by this factor rounding errors of the new factor may exceed those of a positive
    /// definite matrix. It tells when to choose another order of rows, or to factor with pivoting.
    pub growth: f64,
}

impl LdltModification {
    /// Whether some eigenvalue has changed its sign, come or gone.
    #[must_use]
    pub fn changes_inertia(&self) -> bool {
        self.inertia_before != self.inertia
    }

    /// This report and that of a later modification as one.
    pub(super) fn then(self, next: Self) -> Self {
        Self {
            min_pivot_ratio: self.min_pivot_ratio.min(next.min_pivot_ratio),
            log_abs_det_change: self.log_abs_det_change + next.log_abs_det_change,
            inertia_before: self.inertia_before,
            ..next
        }
    }
}

/// The numbers of positive and of negative pivots.
pub(super) fn inertia(negative: &[bool]) -> (usize, usize) {
    let minus = negative.iter().filter(|&&negative| negative).count();
    (negative.len() - minus, minus)
}

/// The sign of a pivot, or of a weight.
pub(super) fn sign<R: Float>(negative: bool) -> R {
    if negative { -R::ONE } else { R::ONE }
}
