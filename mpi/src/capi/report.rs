//! The report of a modification, for C.

use cholupdate::Modification;

/// The report of a change of a factor, the same on all processes. Functions with a pointer to a report accept NULL. After an error
/// the report is not written.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cholupdate_mpi_report {
    /// The smallest ratio of a new squared pivot to the old one: about -log10 of it decimal digits are lost. Never below 1 for
    /// an update.
    pub min_pivot_ratio: f64,
    /// log det of the new A minus that of the old one.
    pub log_det_change: f64,
}

impl From<Modification> for cholupdate_mpi_report {
    fn from(modification: Modification) -> Self {
        let log_det_change = modification.log_det_change();
        Self { min_pivot_ratio: modification.min_pivot_ratio, log_det_change }
    }
}
