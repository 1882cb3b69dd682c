//! The status of a call, and the error message.

use cholupdate::{DeviceErrorKind, Error};
use core::cell::RefCell;
use core::ffi::c_char;
use core::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The statuses of all libraries. Each has those that its calls return, and describes them in its header, with these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok = 0,
    NullPointer = 1,
    InvalidArgument = 2,
    NotFinite = 3,
    Overflow = 4,
    NotPositiveDefinite = 5,
    Poisoned = 6,
    Unavailable = 7,
    OutOfDeviceMemory = 8,
    DeviceLost = 9,
    DeviceError = 10,
    Internal = 11,
    Singular = 12,
    DifferentArguments = 13,
    ScalapackMissing = 14,
    SomeFailed = 15,
    Unstable = 16,
    UnexpectedInertia = 17,
    UnexpectedSign = 18,
}

/// Why a call failed.
#[derive(Debug)]
pub struct Refused {
    pub status: Status,
    pub message: String,
    /// The column that the status is about.
    column: Option<usize>,
}

impl Refused {
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), column: None }
    }

    pub fn null(argument: &str) -> Self {
        Self::new(Status::NullPointer, format!("`{argument}` is NULL"))
    }

    pub fn invalid(argument: &str, found: impl Display, rule: impl Display) -> Self {
        Self::not_so(format!("`{argument}` is {found}, but must be {rule}"))
    }

    /// What is wrong with the first matrix of a batch that has failed.
    pub fn of_matrix(matrix: usize, error: Error) -> Self {
        let Self { message, column, .. } = error.into();
        Self { status: Status::SomeFailed, message: format!("matrix {matrix}: {message}"), column }
    }

    /// An invalid argument, with a complete message.
    pub fn not_so(message: impl Into<String>) -> Self {
        Self::new(Status::InvalidArgument, message)
    }
}

/// The status of an error, and the column that it is about.
fn status_and_column(error: &Error) -> (Status, Option<usize>) {
    match error {
        Error::NonFinite { .. } => (Status::NotFinite, None),
        Error::Overflow { .. } => (Status::Overflow, None),
        Error::NotPositiveDefinite { column } => (Status::NotPositiveDefinite, Some(*column)),
        Error::Singular { column } => (Status::Singular, Some(*column)),
        Error::Unstable { column, .. } => (Status::Unstable, Some(*column)),
        Error::Inertia { .. } => (Status::UnexpectedInertia, None),
        Error::Sign { column } => (Status::UnexpectedSign, Some(*column)),
        Error::Poisoned => (Status::Poisoned, None),
        Error::Device { kind, .. } => (of_device(*kind), None),
        Error::Differs { .. } => (Status::DifferentArguments, None),
        _ => (Status::InvalidArgument, None),
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
        // The argument of solves has another name in C.
        let error = if error.argument() == Some("rhs") { error.with_argument("b") } else { error };
        Self { status, message: error.to_string(), column }
    }
}

fn of_device(kind: DeviceErrorKind) -> Status {
    match kind {
        DeviceErrorKind::Unavailable => Status::Unavailable,
        DeviceErrorKind::OutOfMemory => Status::OutOfDeviceMemory,
        DeviceErrorKind::Lost => Status::DeviceLost,
        _ => Status::DeviceError,
    }
}

thread_local! {
    /// The message and the column of the last call on this thread that failed.
    static LAST: RefCell<(String, Option<usize>)> = const { RefCell::new((String::new(), None)) };
}

/// Runs a call. Stores its error, and stops a panic.
pub fn status_of(call: impl FnOnce() -> Result<(), Refused>) -> Status {
    // A factor that a panic has left half changed is poisoned, and refuses every later call.
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Refused::new(Status::Internal, format!("a defect of cholupdate: {said}")))
    });
    outcome.map_or_else(remembered, |()| Status::Ok)
}

/// Stores an error as the last one of this thread, and returns its status.
pub fn remembered(Refused { status, message, column }: Refused) -> Status {
    // A thread that is ending cannot ask for it any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = (message, column));
    status
}

/// Copies this thread's last message to `message`, shortened to fit and terminated by a zero.
///
/// # Safety
/// `message` is NULL, or points to `size` bytes of the caller's.
pub unsafe fn last_message(message: *mut c_char, size: usize) {
    if message.is_null() || size == 0 {
        return;
    }
    let _ = LAST.try_with(|last| {
        let last = last.borrow();
        let text = shortened(&last.0, size - 1);
        // SAFETY: `message` has `size` bytes, more than the text, and belongs to the caller.
        unsafe {
            core::ptr::copy_nonoverlapping(text.as_ptr(), message.cast(), text.len());
            *message.add(text.len()) = 0;
        }
    });
}

/// At most so many bytes of a text, cut between two characters.
pub fn shortened(text: &str, most: usize) -> &str {
    let length = (0..=text.len().min(most)).rev().find(|&length| text.is_char_boundary(length));
    &text[..length.unwrap_or(0)]
}

/// The column of this thread's last error, or -1.
pub fn last_column() -> i64 {
    let column = LAST.try_with(|last| last.borrow().1).ok().flatten();
    column.and_then(|column| i64::try_from(column).ok()).unwrap_or(-1)
}
