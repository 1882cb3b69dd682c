//! Errors of the public calls.

/// Why a call failed. The factor is exactly as it was before the call, with two exceptions: a device that fails in the middle
/// of a call poisons the factor, and so does a breakdown with [`Safeguard::None`](crate::Safeguard::None).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument has the wrong extent.
    #[error("`{argument}`: the number of {extent} is {found}, expected {expected}")]
    Shape {
        /// Name of the argument.
        argument: &'static str,
        /// Which extent of it: `"rows"`, `"columns"` or `"entries"`.
        extent: &'static str,
        /// The expected extent.
        expected: usize,
        /// The extent found.
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
    #[error("`{argument}` is too large: squares of the rows of the factor could overflow")]
    Overflow {
        /// Name of the argument.
        argument: &'static str,
    },
    /// An argument names a row that does not exist.
    #[error("`{argument}`{} is {found}, but must be less than {limit}", place(argument, *entry))]
    Index {
        /// Name of the argument.
        argument: &'static str,
        /// Position in the argument; 0 if it is a single index.
        entry: usize,
        /// The index found.
        found: usize,
        /// The index must be less than this.
        limit: usize,
    },
    /// An argument contains a row index twice.
    #[error("`{argument}` has {found} twice, the second time at {entry}")]
    Duplicate {
        /// Name of the argument.
        argument: &'static str,
        /// Position of the second of the two entries.
        entry: usize,
        /// The index that occurs twice.
        found: usize,
    },
    /// An argument has a value that is not permitted.
    #[error("`{argument}` must be {rule}")]
    OutOfRange {
        /// Name of the argument.
        argument: &'static str,
        /// The rule that it violates.
        rule: &'static str,
    },
    /// The matrix asked for is not positive definite to working precision.
    #[error("not positive definite: the squared pivot of column {column} is not positive")]
    NotPositiveDefinite {
        /// First column whose squared pivot is not greater than zero.
        column: usize,
    },
    /// A is singular, and the call needs a regular A. Updates by enough observations make A regular.
    #[error("singular: the pivot of column {column} is zero")]
    Singular {
        /// First column whose pivot is zero.
        column: usize,
    },
    /// A is so close to a matrix without a factor L D Lᵀ that the factor would have lost its digits.
    #[error("unstable: the factor grows to {growth:e} times the diagonal of A, most in column {column}")]
    Unstable {
        /// The column of L with the largest entry, left of the diagonal, of the row that has grown most: its pivot is small.
        column: usize,
        /// max (|L| |D| |Lᵀ|)_ii / max |A_ii|.
        growth: f64,
    },
    /// The inertia of A would not be the expected one.
    #[error(
        "the inertia would be {} positive and {} negative, but {} and {} are expected",
        found.0, found.1, expected.0, expected.1
    )]
    Inertia {
        /// The expected numbers of positive and of negative eigenvalues.
        expected: (usize, usize),
        /// Those that A would have.
        found: (usize, usize),
    },
    /// A pivot would not have the expected sign.
    #[error("the pivot of column {column} would not have the expected sign")]
    Sign {
        /// The first such column.
        column: usize,
    },
    /// A setting of an engine is out of range.
    #[error("`{field}` is {found}, but must be {rule}")]
    Tuning {
        /// Name of the setting.
        field: &'static str,
        /// The rule that it violates.
        rule: &'static str,
        /// The value found.
        found: usize,
    },
    /// A device or its driver is missing, cannot do what is asked, is out of memory, or has failed.
    #[error("{message}")]
    Device {
        /// Which of these.
        kind: DeviceErrorKind,
        /// What was attempted, and what the result was.
        message: String,
    },
    /// The processes of a distributed factor have made different calls, or calls with different arguments.
    #[error("{argument} differs between the processes")]
    Differs {
        /// Name of the argument, or what else differs: `"the call"`, `"the order"`, `"the system"` that is solved, `"the scalar type"`.
        argument: &'static str,
    },
    /// The factor was lost in an earlier call: a device failed in the middle of it, it panicked, or it broke down with
    /// [`Safeguard::None`](crate::Safeguard::None).
    #[error("the factor was lost in an earlier call that failed while it worked in place")]
    Poisoned,
    /// The call was stopped from inside [`interruptible`](crate::interruptible).
    #[error("the call was interrupted")]
    Interrupted,
}

impl Error {
    /// The argument that was refused, by its name in Rust; `None` if the error is not about an argument.
    #[must_use]
    pub fn argument(&self) -> Option<&'static str> {
        match self {
            Self::Shape { argument, .. }
            | Self::NonFinite { argument, .. }
            | Self::Overflow { argument }
            | Self::Index { argument, .. }
            | Self::Differs { argument }
            | Self::Duplicate { argument, .. }
            | Self::OutOfRange { argument, .. } => Some(argument),
            Self::Tuning { field, .. } => Some(field),
            _ => None,
        }
    }

    /// Returns the same error with another name for the argument, for bindings whose arguments have other names.
    #[must_use]
    pub fn with_argument(mut self, name: &'static str) -> Self {
        match &mut self {
            Self::Shape { argument, .. }
            | Self::NonFinite { argument, .. }
            | Self::Overflow { argument }
            | Self::Index { argument, .. }
            | Self::Differs { argument }
            | Self::Duplicate { argument, .. }
            | Self::OutOfRange { argument, .. } => *argument = name,
            Self::Tuning { field, .. } => *field = name,
            _ => {}
        }
        self
    }
}

/// Position in an argument that holds several row indices; empty for a single index.
fn place(argument: &str, entry: usize) -> String {
    match argument {
        "at" | "from" | "to" | "matrix" => String::new(),
        _ => format!("[{entry}]"),
    }
}

/// Kinds of device errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceErrorKind {
    /// There is no driver, no device, or none that can run this library's kernels. Another engine can do the work.
    Unavailable,
    /// The device, or page-locked host memory, is full. A smaller problem, or another engine, may fit.
    OutOfMemory,
    /// The device or its context has failed. What was in its memory is lost, and it cannot be used again in this process.
    Lost,
    /// Any other error, described by the message.
    Other,
}

/// An [`Error::Device`] for a machine that cannot do what is asked.
pub(crate) fn unavailable(message: impl Into<String>) -> Error {
    Error::Device { kind: DeviceErrorKind::Unavailable, message: message.into() }
}

/// An [`Error::Device`] for memory that is not available.
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) fn out_of_memory(message: impl Into<String>) -> Error {
    Error::Device { kind: DeviceErrorKind::OutOfMemory, message: message.into() }
}

/// An [`Error::Device`] of no other kind.
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) fn other(message: impl Into<String>) -> Error {
    Error::Device { kind: DeviceErrorKind::Other, message: message.into() }
}
