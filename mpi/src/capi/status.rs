//! The status of a call, and the error message.

use crate::scalapack::ScalapackError;
use cholupdate_ffi::status::{self, last_column, last_message, remembered};
pub use cholupdate_ffi::status::{Refused, Status};
use core::ffi::c_char;
use mpi::ffi;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The status of a call. The numbers are those of cholupdate_status; 7 to 10 are for devices, and not used here.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum cholupdate_mpi_status {
    /// Success.
    CHOLUPDATE_MPI_OK = 0,
    /// A pointer is NULL that must not be.
    CHOLUPDATE_MPI_NULL_POINTER = 1,
    /// A size, an index, a setting or a descriptor is out of range, or MPI is not initialized.
    CHOLUPDATE_MPI_INVALID_ARGUMENT = 2,
    /// An argument holds a NaN or an infinity.
    CHOLUPDATE_MPI_NOT_FINITE = 3,
    /// Entries of an argument are so large that their squares could overflow.
    CHOLUPDATE_MPI_OVERFLOW = 4,
    /// The matrix asked for is not positive definite. cholupdate_mpi_last_error_column() returns the column.
    CHOLUPDATE_MPI_NOT_POSITIVE_DEFINITE = 5,
    /// The factor was lost in an earlier call that failed while it worked in place. It can only be freed.
    CHOLUPDATE_MPI_POISONED = 6,
    /// A defect of the library: please report it. In a call of all processes a defect ends the program, since the others would wait.
    CHOLUPDATE_MPI_INTERNAL = 11,
    /// A is singular, and the call needs a regular A. Enough updates make A regular. cholupdate_mpi_last_error_column() returns the
    /// first column whose pivot is zero.
    CHOLUPDATE_MPI_SINGULAR = 12,
    /// The processes have made different calls, or an argument differs between them that must be the same.
    CHOLUPDATE_MPI_DIFFERENT_ARGUMENTS = 13,
    /// ScaLAPACK's library was not found on one of the processes.
    CHOLUPDATE_MPI_SCALAPACK_MISSING = 14,
}
use cholupdate_mpi_status::*;

impl From<Status> for cholupdate_mpi_status {
    fn from(status: Status) -> Self {
        match status {
            Status::Ok => CHOLUPDATE_MPI_OK,
            Status::NullPointer => CHOLUPDATE_MPI_NULL_POINTER,
            Status::NotFinite => CHOLUPDATE_MPI_NOT_FINITE,
            Status::Overflow => CHOLUPDATE_MPI_OVERFLOW,
            Status::NotPositiveDefinite => CHOLUPDATE_MPI_NOT_POSITIVE_DEFINITE,
            Status::Poisoned => CHOLUPDATE_MPI_POISONED,
            Status::Internal => CHOLUPDATE_MPI_INTERNAL,
            Status::Singular => CHOLUPDATE_MPI_SINGULAR,
            Status::DifferentArguments => CHOLUPDATE_MPI_DIFFERENT_ARGUMENTS,
            Status::ScalapackMissing => CHOLUPDATE_MPI_SCALAPACK_MISSING,
            // With the statuses that are of devices, and not used here.
            _ => CHOLUPDATE_MPI_INVALID_ARGUMENT,
        }
    }
}

impl From<ScalapackError> for Refused {
    fn from(error: ScalapackError) -> Self {
        match error {
            ScalapackError::Factor(error) => error.into(),
            ScalapackError::Missing => Self::new(Status::ScalapackMissing, error.to_string()),
            ScalapackError::Descriptor(_) => Self::not_so(error.to_string()),
        }
    }
}

/// Runs a call of this process alone. Stores its error, and stops a panic.
pub fn status_of(call: impl FnOnce() -> Result<(), Refused>) -> cholupdate_mpi_status {
    status::status_of(call).into()
}

/// Runs a call of all processes. A panic ends the program: the others may be waiting for messages of this one.
pub fn status_of_all(call: impl FnOnce() -> Result<(), Refused>) -> cholupdate_mpi_status {
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        // SAFETY: only a call whose communicator exists can panic, so MPI is initialized. The panic's message has been printed.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
        std::process::abort()
    });
    outcome.map_or_else(|refused| remembered(refused).into(), |()| CHOLUPDATE_MPI_OK)
}

/// Describes a status in a few words. The string is static.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_mpi_status_string(status: i32) -> *const c_char {
    let words = match status {
        0 => c"ok",
        1 => c"a pointer is NULL",
        2 => c"invalid argument",
        3 => c"an argument is not finite",
        4 => c"squares of the entries could overflow",
        5 => c"not positive definite",
        6 => c"the factor was lost in an earlier call",
        11 => c"a defect of cholupdate",
        12 => c"singular",
        13 => c"arguments differ between the processes",
        14 => c"ScaLAPACK was not found",
        _ => c"not a status of cholupdate_mpi",
    };
    words.as_ptr()
}

/// Copies this thread's last error message, which names the argument, to the caller's `message` of `size` bytes, shortened to
/// fit and terminated by a zero. It is empty if no call has failed. Does nothing if `message` is NULL or `size` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_last_error(message: *mut c_char, size: usize) {
    // SAFETY: the header requires that the pointer is NULL or has so many bytes.
    unsafe { last_message(message, size) }
}

/// Returns the column of this thread's last error if that is CHOLUPDATE_MPI_NOT_POSITIVE_DEFINITE or CHOLUPDATE_MPI_SINGULAR: the
/// first column whose squared pivot is not positive. Returns -1 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_mpi_last_error_column() -> i64 {
    last_column()
}
