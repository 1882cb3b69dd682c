//! What can go wrong, as values.

/// Why a call was refused. The factor is exactly as it was before the call, except that a device that fails
/// in the middle of one poisons it, and so does a breakdown with [`Safeguard::None`](crate::Safeguard::None).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument has the wrong extent.
    #[error("`{argument}`: the number of {extent} is {found}, expected {expected}")]
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
    #[error("`{argument}` is too large: squares of the rows of the factor could overflow")]
    Overflow {
        /// Name of the argument.
        argument: &'static str,
    },
    /// An argument names a row that is not there.
    #[error("`{argument}`{} is {found}, but must be less than {limit}", place(argument, *entry))]
    Index {
        /// Name of the argument.
        argument: &'static str,
        /// Which entry of it; 0 where it has one only.
        entry: usize,
        /// What it is.
        found: usize,
        /// What it must be less than.
        limit: usize,
    },
    /// An argument names a row twice.
    #[error("`{argument}` has {found} twice, the second time at {entry}")]
    Duplicate {
        /// Name of the argument.
        argument: &'static str,
        /// The second of the two entries.
        entry: usize,
        /// What both are.
        found: usize,
    },
    /// A number is outside of what it can be.
    #[error("`{argument}` must be {rule}")]
    OutOfRange {
        /// Name of the argument.
        argument: &'static str,
        /// What it must be.
        rule: &'static str,
    },
    /// The matrix asked for is not positive definite (to working precision).
    #[error("not positive definite: the squared pivot of column {column} is not positive")]
    NotPositiveDefinite {
        /// First column whose squared pivot is not greater than zero.
        column: usize,
    },
    /// A is singular, and what is asked takes a regular one: an update by enough observations makes it so.
    #[error("singular: the pivot of column {column} is zero")]
    Singular {
        /// First column whose pivot is zero.
        column: usize,
    },
    /// A setting of an engine is outside of what it can be.
    #[error("`{field}` is {found}, but must be {rule}")]
    Tuning {
        /// Name of the setting.
        field: &'static str,
        /// What it must be.
        rule: &'static str,
        /// What it is.
        found: usize,
    },
    /// A device, or the driver that leads to it, is missing, cannot do what is asked, is out of memory or has failed.
    #[error("{message}")]
    Device {
        /// Which of these.
        kind: DeviceErrorKind,
        /// What was attempted and what came of it.
        message: String,
    },
    /// A device failed in the middle of an earlier call, or the call panicked, or it broke down with
    /// [`Safeguard::None`](crate::Safeguard::None), and the factor was lost with it.
    #[error("the factor was lost in an earlier call that failed while it worked in place")]
    Poisoned,
    /// The call was stopped from inside [`interruptible`](crate::interruptible).
    #[error("the call was interrupted")]
    Interrupted,
}

impl Error {
    /// The argument that was refused, by its name in Rust; `None` where no argument is to blame.
    #[must_use]
    pub fn argument(&self) -> Option<&'static str> {
        match self {
            Self::Shape { argument, .. }
            | Self::NonFinite { argument, .. }
            | Self::Overflow { argument }
            | Self::Index { argument, .. }
            | Self::Duplicate { argument, .. }
            | Self::OutOfRange { argument, .. } => Some(argument),
            Self::Tuning { field, .. } => Some(field),
            _ => None,
        }
    }

    /// The same error with another name for the argument that was refused, for bindings whose arguments are called otherwise.
    #[must_use]
    pub fn with_argument(mut self, name: &'static str) -> Self {
        match &mut self {
            Self::Shape { argument, .. }
            | Self::NonFinite { argument, .. }
            | Self::Overflow { argument }
            | Self::Index { argument, .. }
            | Self::Duplicate { argument, .. }
            | Self::OutOfRange { argument, .. } => *argument = name,
            Self::Tuning { field, .. } => *field = name,
            _ => {}
        }
        self
    }
}

/// Which entry of an argument that names rows, where it can have more than one.
fn place(argument: &str, entry: usize) -> String {
    match argument {
        "at" | "from" | "to" => String::new(),
        _ => format!("[{entry}]"),
    }
}

/// What is wrong with a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceErrorKind {
    /// There is no driver, no device, or none that can run this library's kernels: another engine can do the work.
    Unavailable,
    /// The device, or page-locked memory of the host, has no room: a smaller problem, or another engine, may fit.
    OutOfMemory,
    /// The device or its context has failed, and whatever was there is lost until the process begins again.
    Lost,
    /// Anything else; the message says what.
    Other,
}
