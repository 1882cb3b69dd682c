//! A modification that is to be repeated.

use cholupdate_kernels::number::Number;
use faer::Mat;

/// A modification as the caller asked for it: scale² (L Lᴴ + V diag(w) Vᴴ).
pub(crate) struct Given<T: Number> {
    /// (n × k)
    pub v: Mat<T>,
    /// (k)
    pub weights: Vec<T::Part>,
    /// The column of L at which the sweep begins; earlier rows of V are zero.
    pub start: usize,
    /// The number that new entries of L are multiplied by.
    pub scale: f64,
}
