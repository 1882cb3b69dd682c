//! The reports of modifications, for C.

use cholupdate::{LdltModification, Modification};

/// The report of a change of a factor, at no extra cost. Functions with a pointer to a report accept NULL. After an error the
/// report is not written.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cholupdate_report {
    /// The smallest ratio of a new squared pivot to the old one: about -log10 of it decimal digits are lost. Never below 1 for
    /// an update.
    pub min_pivot_ratio: f64,
    /// log det of the new A minus that of the old one.
    pub log_det_change: f64,
}

impl From<Modification> for cholupdate_report {
    fn from(modification: Modification) -> Self {
        let log_det_change = modification.log_det_change();
        Self { min_pivot_ratio: modification.min_pivot_ratio, log_det_change }
    }
}

/// The report of a change of a factor L S L^T, at no extra cost. Functions with a pointer to a report accept NULL. After an error
/// the report is not written.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cholupdate_ldlt_report {
    /// The smallest ratio |new pivot / old pivot|, where a pivot is an entry of D in A = L D L^T with a unit lower triangle L; of a new
    /// row, |pivot| over its diagonal entry of |L| |D| |L^T|. About -log10 of it decimal digits are lost in the worst column.
    pub min_pivot_ratio: f64,
    /// log |det| of the new A minus that of the old one.
    pub log_abs_det_change: f64,
    /// The growth of the new factor, as from cholupdate_d_ldlt_growth().
    pub growth: f64,
    /// The number of positive eigenvalues of A before.
    pub positive_before: i64,
    /// The number of negative eigenvalues of A before.
    pub negative_before: i64,
    /// The number of positive eigenvalues of the new A.
    pub positive: i64,
    /// The number of negative eigenvalues of the new A.
    pub negative: i64,
}

impl From<LdltModification> for cholupdate_ldlt_report {
    fn from(modification: LdltModification) -> Self {
        // Numbers of rows fit 63 bits, because the rows fit memory.
        let numbers = |(positive, negative): (usize, usize)| (positive as i64, negative as i64);
        let (positive_before, negative_before) = numbers(modification.inertia_before);
        let (positive, negative) = numbers(modification.inertia);
        Self {
            min_pivot_ratio: modification.min_pivot_ratio,
            log_abs_det_change: modification.log_abs_det_change,
            growth: modification.growth,
            positive_before,
            negative_before,
            positive,
            negative,
        }
    }
}
