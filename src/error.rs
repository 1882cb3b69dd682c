//! What can go wrong, as values.

/// Why a call was refused. In every case the factor is exactly as it was before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument has the wrong extent.
    #[error("`{argument}` has {found} {extent}, expected {expected}")]
    Shape {
        /// Name of the argument.
        argument: &'static str,
        /// Which extent of it: `"rows"`, `"columns"` or `"entries"`.
        extent: &'static str,
        /// What it should have been.
        expected: usize,
        /// What it is.
        found: usize,
    },
    /// An argument holds a NaN or an infinity.
    #[error("`{argument}` is not finite at ({row}, {column})")]
    NonFinite {
        /// Name of the argument.
        argument: &'static str,
        /// Row of the first offending entry, in column-major order.
        row: usize,
        /// Column of the first offending entry, in column-major order.
        column: usize,
    },
    /// The entries of an argument are finite, but their squares could overflow the scalar type.
    #[error("`{argument}` is too large: squares of the modified rows could overflow")]
    Overflow {
        /// Name of the argument.
        argument: &'static str,
    },
    /// The matrix asked for is not positive definite (to working precision).
    #[error("not positive definite: the squared pivot of column {column} is not positive")]
    NotPositiveDefinite {
        /// First column whose squared pivot is not greater than zero.
        column: usize,
    },
}
