//! How a call ended, and the sentence that goes with it.

use cholupdate::{DeviceErrorKind, Error};
use core::cell::RefCell;
use core::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum cholupdate_status {
    /// All is well.
    CHOLUPDATE_OK = 0,
    /// A pointer is NULL that must not be.
    CHOLUPDATE_NULL_POINTER = 1,
    /// A size, an index, a setting or `uplo` is not what it can be.
    CHOLUPDATE_INVALID_ARGUMENT = 2,
    /// An argument holds a NaN or an infinity.
    CHOLUPDATE_NOT_FINITE = 3,
    /// Entries of an argument are so large that their squares could overflow.
    CHOLUPDATE_OVERFLOW = 4,
    /// The matrix asked for is not positive definite. cholupdate_last_error_column() has the column.
    CHOLUPDATE_NOT_POSITIVE_DEFINITE = 5,
    /// The factor was lost in an earlier call that failed while it worked in place. It can only be freed.
    CHOLUPDATE_POISONED = 6,
    /// There is no GPU, no driver, or none that can be used: another engine can do the work.
    CHOLUPDATE_UNAVAILABLE = 7,
    /// The GPU, or page-locked memory of the host, has no room.
    CHOLUPDATE_OUT_OF_DEVICE_MEMORY = 8,
    /// The GPU has failed, and what was in its memory is lost.
    CHOLUPDATE_DEVICE_LOST = 9,
    /// Anything else that a GPU or its driver reports.
    CHOLUPDATE_DEVICE_ERROR = 10,
    /// A defect of the library: please report it. A factor that was being changed can only be freed.
    CHOLUPDATE_INTERNAL = 11,
    /// A is singular, and what is asked takes a regular one: enough updates make it so. cholupdate_last_error_column() has the first column whose
    /// pivot is zero.
    CHOLUPDATE_SINGULAR = 12,
}
use cholupdate_status::*;

/// Why a call was refused.
pub struct Refused {
    status: cholupdate_status,
    message: String,
    /// Of a matrix that is not positive definite, or singular.
    column: Option<usize>,
}

impl Refused {
    pub fn null(argument: &str) -> Self {
        Self { status: CHOLUPDATE_NULL_POINTER, message: format!("`{argument}` is NULL"), column: None }
    }

    pub fn invalid(argument: &str, found: impl core::fmt::Display, rule: impl core::fmt::Display) -> Self {
        Self::not_so(format!("`{argument}` is {found}, but must be {rule}"))
    }

    /// In words of its own.
    pub fn not_so(message: impl Into<String>) -> Self {
        Self { status: CHOLUPDATE_INVALID_ARGUMENT, message: message.into(), column: None }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        let (status, column) = match &error {
            Error::NonFinite { .. } => (CHOLUPDATE_NOT_FINITE, None),
            Error::Overflow { .. } => (CHOLUPDATE_OVERFLOW, None),
            Error::NotPositiveDefinite { column } => (CHOLUPDATE_NOT_POSITIVE_DEFINITE, Some(*column)),
            Error::Singular { column } => (CHOLUPDATE_SINGULAR, Some(*column)),
            Error::Poisoned => (CHOLUPDATE_POISONED, None),
            Error::Device { kind, .. } => (of_device(*kind), None),
            _ => (CHOLUPDATE_INVALID_ARGUMENT, None),
        };
        // What solves take has another name here.
        Self { status, message: error.to_string().replace("`rhs`", "`b`"), column }
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
    /// The sentence and the column of the last call on this thread that was refused.
    static LAST: RefCell<(String, Option<usize>)> = const { RefCell::new((String::new(), None)) };
}

/// Runs a call; what it is refused for is remembered, and a panic goes no further.
pub fn status_of(call: impl FnOnce() -> Result<(), Refused>) -> cholupdate_status {
    // A factor that a panic has left half changed knows it, and refuses every later call.
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let message = format!("a defect of cholupdate: {said}");
        Err(Refused { status: CHOLUPDATE_INTERNAL, message, column: None })
    });
    outcome.map_or_else(remembered, |()| CHOLUPDATE_OK)
}

/// The status of what was refused, whose sentence is the last one from now on.
pub fn remembered(Refused { status, message, column }: Refused) -> cholupdate_status {
    // A thread that is ending has no program left to ask for it.
    let _ = LAST.try_with(|last| *last.borrow_mut() = (message, column));
    status
}

/// What a status means, in a few words. The string is the library's, and never goes away.
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
        _ => c"not a status of cholupdate",
    };
    words.as_ptr()
}

/// Copies the sentence of the last call on this thread that returned another status than CHOLUPDATE_OK, which names the argument, into the
/// caller's `message`, of `size` bytes, shortened to fit and ended by a zero. It is empty before any. Nothing is done where
/// `message` is NULL or `size` 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_last_error(message: *mut c_char, size: usize) {
    if message.is_null() || size == 0 {
        return;
    }
    let _ = LAST.try_with(|last| {
        let last = last.borrow();
        // Never in the middle of a character.
        let fits = |&length: &usize| last.0.is_char_boundary(length);
        let length = (0..=last.0.len().min(size - 1)).rev().find(fits).unwrap_or(0);
        // SAFETY: `message` has `size` bytes, more than `length`, and is nobody's but the caller's.
        unsafe {
            core::ptr::copy_nonoverlapping(last.0.as_ptr(), message.cast(), length);
            *message.add(length) = 0;
        }
    });
}

/// The first column whose squared pivot was not positive, if the last call on this thread that was refused returned
/// CHOLUPDATE_NOT_POSITIVE_DEFINITE or CHOLUPDATE_SINGULAR; else -1.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_last_error_column() -> i64 {
    let column = LAST.try_with(|last| last.borrow().1).ok().flatten();
    column.and_then(|column| i64::try_from(column).ok()).unwrap_or(-1)
}
