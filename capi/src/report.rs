//! What a modification says about itself, for C.

use cholupdate::{Modification, Scalar};

/// What a change of a factor learned on its way, at no extra cost. Functions that take one also take NULL. After an error it is as it was.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cholupdate_report {
    /// The smallest ratio of a new squared pivot to the old one: about -log10 of it decimal digits are lost. Never below 1 for an update.
    pub min_pivot_ratio: f64,
    /// log det of the new A less that of the old one.
    pub log_det_change: f64,
}

impl cholupdate_report {
    pub fn new<T: Scalar + Into<f64>>(modification: Modification<T>) -> Self {
        Self {
            min_pivot_ratio: modification.min_pivot_ratio.into(),
            log_det_change: modification.log_det_change.into(),
        }
    }
}
