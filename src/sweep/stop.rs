//! How a sweep ends early.

use crate::error::Error;
use cholupdate_kernels::steps::Breakdown;

/// Why a sweep ended early.
#[derive(Debug)]
pub enum Stop {
    /// A pivot² is not greater than zero.
    Breakdown {
        /// The first such column of L.
        column: usize,
    },
    /// The device failed.
    Device {
        /// The error of the device.
        error: Error,
        /// Whether the target may have been written to.
        written: bool,
    },
    /// The caller of [`interruptible`](crate::interruptible) asked to stop, and the sweep did not work in place.
    Interrupted,
}

impl Stop {
    /// An error that occurred before anything was written.
    pub(crate) fn before(error: Error) -> Self {
        Self::Device { error, written: false }
    }

    /// The same error, after something has been written.
    pub(crate) fn after_a_change(self) -> Self {
        match self {
            Self::Device { error, .. } => Self::Device { error, written: true },
            stop => stop,
        }
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Breakdown { column } => Self::NotPositiveDefinite { column },
            Stop::Device { error, .. } => error,
            Stop::Interrupted => Self::Interrupted,
        }
    }
}

impl From<Breakdown> for Stop {
    fn from(Breakdown { column }: Breakdown) -> Self {
        Self::Breakdown { column }
    }
}
