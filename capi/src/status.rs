//! The status of a call, and the error message.

use cholupdate::{DeviceErrorKind, Error};
use core::cell::RefCell;
use core::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The status of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum cholupdate_status {
    /// Success.
    CHOLUPDATE_OK = 0,
    /// A pointer is NULL that must not be.
    CHOLUPDATE_NULL_POINTER = 1,
    /// A size, an index, a setting or `uplo` is out of range.
    CHOLUPDATE_INVALID_ARGUMENT = 2,
    /// An argument holds a NaN or an infinity.
    CHOLUPDATE_NOT_FINITE = 3,
    /// Entries of an argument are so large that their squares could overflow.
    CHOLUPDATE_OVERFLOW = 4,
    /// The matrix asked for is not positive definite. cholupdate_last_error_column() returns the column.
    CHOLUPDATE_NOT_POSITIVE_DEFINITE = 5,
    /// The factor was lost in an earlier call that failed while it worked in place. It can only be freed.
    CHOLUPDATE_POISONED = 6,
    /// There is no GPU, no driver, or none that can be used. Another engine can do the work.
    CHOLUPDATE_UNAVAILABLE = 7,
    /// The GPU, or page-locked host memory, is full.
    CHOLUPDATE_OUT_OF_DEVICE_MEMORY = 8,
    /// The GPU has failed, and what was in its memory is lost.
    CHOLUPDATE_DEVICE_LOST = 9,
    /// Any other error of a GPU or its driver.
    CHOLUPDATE_DEVICE_ERROR = 10,
    /// A defect of the library: please report it. A factor that was being changed can only be freed.
    CHOLUPDATE_INTERNAL = 11,
    /// A is singular, and the call needs a regular A. Enough updates make A regular. cholupdate_last_error_column() returns the
    /// first column whose pivot is zero.
    CHOLUPDATE_SINGULAR = 12,
    /// Some matrices of a batch have failed and are as they were; the call has processed the others. cholupdate_last_error() names
    /// the first one and says why, and the array `info` of the call has the reason for each.
    CHOLUPDATE_SOME_FAILED = 13,
}
use cholupdate_status::*;

/// Why a call failed.
pub struct Refused {
    status: cholupdate_status,
    message: String,
    /// Column of a matrix that is not positive definite, or singular.
    column: Option<usize>,
}

impl Refused {
    pub fn null(argument: &str) -> Self {
        Self { status: CHOLUPDATE_NULL_POINTER, message: format!("`{argument}` is NULL"), column: None }
    }

    pub fn invalid(argument: &str, found: impl core::fmt::Display, rule: impl core::fmt::Display) -> Self {
        Self::not_so(format!("`{argument}` is {found}, but must be {rule}"))
    }

    /// What is wrong with the first matrix of a batch that has failed.
    pub fn of_matrix(matrix: usize, error: Error) -> Self {
        let Self { message, column, .. } = error.into();
        Self { status: CHOLUPDATE_SOME_FAILED, message: format!("matrix {matrix}: {message}"), column }
    }

    /// An invalid argument, with a complete message.
    pub fn not_so(message: impl Into<String>) -> Self {
        Self { status: CHOLUPDATE_INVALID_ARGUMENT, message: message.into(), column: None }
    }
}

/// The status of an error, and the column of a matrix that is not positive definite, or singular.
fn status_and_column(error: &Error) -> (cholupdate_status, Option<usize>) {
    match error {
        Error::NonFinite { .. } => (CHOLUPDATE_NOT_FINITE, None),
        Error::Overflow { .. } => (CHOLUPDATE_OVERFLOW, None),
        Error::NotPositiveDefinite { column } => (CHOLUPDATE_NOT_POSITIVE_DEFINITE, Some(*column)),
        Error::Singular { column } => (CHOLUPDATE_SINGULAR, Some(*column)),
        Error::Poisoned => (CHOLUPDATE_POISONED, None),
        Error::Device { kind, .. } => (of_device(*kind), None),
        _ => (CHOLUPDATE_INVALID_ARGUMENT, None),
    }
}

/// What `info` says of a matrix of a batch.
pub fn info_of(error: &Error) -> i64 {
    match status_and_column(error) {
        // Less than 2³¹, as orders are.
        (_, Some(column)) => 1 + column as i64,
        (status, None) => -(status as i64),
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        let (status, column) = status_and_column(&error);
        // The argument of solves has another name here.
        let error = if error.argument() == Some("rhs") { error.with_argument("b") } else { error };
        Self { status, message: error.to_string(), column }
    }
}

fn of_device(kind: DeviceErrorKind) -> cholupdate_status {
    match kind {
        DeviceErrorKind::Unavailable => CHOLUPDATE_UNAVAILABLE,
        DeviceErrorKind::OutOfMemory => CHOLUPDATE_OUT_OF_DEVICE_MEMORY,
        DeviceErrorKind::Lost => CHOLUPDATE_DEVICE_LOST,
        _ => CHOLUPDATE_DEVICE_ERROR,
    }
}

thread_local! {
    /// The message and the column of the last call on this thread that failed.
    static LAST: RefCell<(String, Option<usize>)> = const { RefCell::new((String::new(), None)) };
}

/// Runs a call. Stores its error, and stops a panic.
pub fn status_of(call: impl FnOnce() -> Result<(), Refused>) -> cholupdate_status {
    // A factor that a panic has left half changed is poisoned, and refuses every later call.
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let message = format!("a defect of cholupdate: {said}");
        Err(Refused { status: CHOLUPDATE_INTERNAL, message, column: None })
    });
    outcome.map_or_else(remembered, |()| CHOLUPDATE_OK)
}

/// Stores an error as the last one of this thread, and returns its status.
pub fn remembered(Refused { status, message, column }: Refused) -> cholupdate_status {
    // A thread that is ending cannot ask for it any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = (message, column));
    status
}

/// Describes a status in a few words. The string is static.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_status_string(status: i32) -> *const c_char {
    let words = match status {
        0 => c"ok",
        1 => c"a pointer is NULL",
        2 => c"invalid argument",
        3 => c"an argument is not finite",
        4 => c"squares of the entries could overflow",
        5 => c"not positive definite",
        6 => c"the factor was lost in an earlier call",
        7 => c"no usable GPU",
        8 => c"out of device memory",
        9 => c"the device has failed",
        10 => c"error of a device or its driver",
        11 => c"a defect of cholupdate",
        12 => c"singular",
        13 => c"some matrices of the batch have failed",
        _ => c"not a status of cholupdate",
    };
    words.as_ptr()
}

/// Copies this thread's last error message, which names the argument, to the caller's `message` of `size` bytes, shortened to
/// fit and terminated by a zero. It is empty if no call has failed. Does nothing if `message` is NULL or `size` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_last_error(message: *mut c_char, size: usize) {
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

/// Returns the column of this thread's last error if that is CHOLUPDATE_NOT_POSITIVE_DEFINITE or CHOLUPDATE_SINGULAR, or if either is
/// what the first matrix of CHOLUPDATE_SOME_FAILED has: the first column whose squared pivot is not positive. Returns -1 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_last_error_column() -> i64 {
    let column = LAST.try_with(|last| last.borrow().1).ok().flatten();
    column.and_then(|column| i64::try_from(column).ok()).unwrap_or(-1)
}
