//! The status of a call, and the error message.

use crate::scalapack::ScalapackError;
use cholupdate::Error;
use core::cell::RefCell;
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

/// Why a call failed.
#[derive(Debug)]
pub struct Refused {
    pub status: cholupdate_mpi_status,
    pub message: String,
    /// Column of a matrix that is not positive definite, or singular.
    column: Option<usize>,
}

impl Refused {
    pub fn null(argument: &str) -> Self {
        Self::new(CHOLUPDATE_MPI_NULL_POINTER, format!("`{argument}` is NULL"))
    }

    pub fn invalid(argument: &str, found: impl core::fmt::Display, rule: impl core::fmt::Display) -> Self {
        Self::not_so(format!("`{argument}` is {found}, but must be {rule}"))
    }

    /// An invalid argument, with a complete message.
    pub fn not_so(message: impl Into<String>) -> Self {
        Self::new(CHOLUPDATE_MPI_INVALID_ARGUMENT, message)
    }

    pub fn new(status: cholupdate_mpi_status, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), column: None }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        let (status, column) = match &error {
            Error::NonFinite { .. } => (CHOLUPDATE_MPI_NOT_FINITE, None),
            Error::Overflow { .. } => (CHOLUPDATE_MPI_OVERFLOW, None),
            Error::NotPositiveDefinite { column } => (CHOLUPDATE_MPI_NOT_POSITIVE_DEFINITE, Some(*column)),
            Error::Singular { column } => (CHOLUPDATE_MPI_SINGULAR, Some(*column)),
            Error::Poisoned => (CHOLUPDATE_MPI_POISONED, None),
            Error::Differs { .. } => (CHOLUPDATE_MPI_DIFFERENT_ARGUMENTS, None),
            _ => (CHOLUPDATE_MPI_INVALID_ARGUMENT, None),
        };
        // The argument of solves has another name here.
        let error = if error.argument() == Some("rhs") { error.with_argument("b") } else { error };
        Self { status, message: error.to_string(), column }
    }
}

impl From<ScalapackError> for Refused {
    fn from(error: ScalapackError) -> Self {
        match error {
            ScalapackError::Factor(error) => error.into(),
            ScalapackError::Missing => Self::new(CHOLUPDATE_MPI_SCALAPACK_MISSING, error.to_string()),
            ScalapackError::Descriptor(_) => Self::not_so(error.to_string()),
        }
    }
}

thread_local! {
    /// The message and the column of the last call on this thread that failed.
    static LAST: RefCell<(String, Option<usize>)> = const { RefCell::new((String::new(), None)) };
}

/// Runs a call of this process alone. Stores its error, and stops a panic.
pub fn status_of(call: impl FnOnce() -> Result<(), Refused>) -> cholupdate_mpi_status {
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Refused::new(CHOLUPDATE_MPI_INTERNAL, format!("a defect of cholupdate: {said}")))
    });
    outcome.map_or_else(remembered, |()| CHOLUPDATE_MPI_OK)
}

/// Runs a call of all processes. A panic ends the program: the others may be waiting for messages of this one.
pub fn status_of_all(call: impl FnOnce() -> Result<(), Refused>) -> cholupdate_mpi_status {
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        // SAFETY: only a call whose communicator exists can panic, so MPI is initialized. The panic's message has been printed.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
        std::process::abort()
    });
    outcome.map_or_else(remembered, |()| CHOLUPDATE_MPI_OK)
}

/// Stores an error as the last one of this thread, and returns its status.
fn remembered(Refused { status, message, column }: Refused) -> cholupdate_mpi_status {
    // A thread that is ending cannot ask for it any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = (message, column));
    status
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
    if message.is_null() || size == 0 {
        return;
    }
    let _ = LAST.try_with(|last| {
        let last = last.borrow();
        // Not in the middle of a character.
        let fits = |&length: &usize| last.0.is_char_boundary(length);
        let length = (0..=last.0.len().min(size - 1)).rev().find(fits).unwrap_or(0);
        // SAFETY: `message` has `size` bytes, more than `length`, and belongs to the caller.
        unsafe {
            core::ptr::copy_nonoverlapping(last.0.as_ptr(), message.cast(), length);
            *message.add(length) = 0;
        }
    });
}

/// Returns the column of this thread's last error if that is CHOLUPDATE_MPI_NOT_POSITIVE_DEFINITE or CHOLUPDATE_MPI_SINGULAR: the
/// first column whose squared pivot is not positive. Returns -1 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_mpi_last_error_column() -> i64 {
    let column = LAST.try_with(|last| last.borrow().1).ok().flatten();
    column.and_then(|column| i64::try_from(column).ok()).unwrap_or(-1)
}
