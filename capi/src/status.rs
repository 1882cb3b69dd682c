//! The status of a call, and the error message.

use cholupdate::cuda::keeping_current_context;
use cholupdate_ffi::status::{self, last_column, last_message};
pub use cholupdate_ffi::status::{Refused, Status, info_of};
use core::ffi::c_char;

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
    /// A is singular, and the call needs a regular A. Enough updates make A regular. Of an indefinite matrix, as in
    /// cholupdate_d_ldlt: a leading minor of the A asked for is zero to working precision. cholupdate_last_error_column() returns the
    /// first column whose pivot is zero.
    CHOLUPDATE_SINGULAR = 12,
    /// Some matrices of a batch have failed and are as they were; the call has processed the others. cholupdate_last_error() names
    /// the first one and says why, and the array `info` of the call has the reason for each.
    CHOLUPDATE_SOME_FAILED = 15,
    /// The indefinite matrix asked for is so close to one without a factor that its factor would have lost its digits: the growth
    /// would be above its limit. cholupdate_last_error() has the growth, and cholupdate_last_error_column() returns the column of L with
    /// the largest entry in the row that has grown most.
    CHOLUPDATE_UNSTABLE = 16,
    /// The indefinite matrix asked for has other numbers of positive and negative eigenvalues than cholupdate_d_ldlt_expect_inertia()
    /// has set. cholupdate_last_error() has the numbers.
    CHOLUPDATE_UNEXPECTED_INERTIA = 17,
    /// A pivot of the indefinite matrix asked for has another sign than cholupdate_d_ldlt_expect_signs() has set.
    /// cholupdate_last_error_column() returns the first such column.
    CHOLUPDATE_UNEXPECTED_SIGN = 18,
}
use cholupdate_status::*;

impl From<Status> for cholupdate_status {
    fn from(status: Status) -> Self {
        match status {
            Status::Ok => CHOLUPDATE_OK,
            Status::NullPointer => CHOLUPDATE_NULL_POINTER,
            Status::NotFinite => CHOLUPDATE_NOT_FINITE,
            Status::Overflow => CHOLUPDATE_OVERFLOW,
            Status::NotPositiveDefinite => CHOLUPDATE_NOT_POSITIVE_DEFINITE,
            Status::Poisoned => CHOLUPDATE_POISONED,
            Status::Unavailable => CHOLUPDATE_UNAVAILABLE,
            Status::OutOfDeviceMemory => CHOLUPDATE_OUT_OF_DEVICE_MEMORY,
            Status::DeviceLost => CHOLUPDATE_DEVICE_LOST,
            Status::DeviceError => CHOLUPDATE_DEVICE_ERROR,
            Status::Internal => CHOLUPDATE_INTERNAL,
            Status::Singular => CHOLUPDATE_SINGULAR,
            Status::SomeFailed => CHOLUPDATE_SOME_FAILED,
            Status::Unstable => CHOLUPDATE_UNSTABLE,
            Status::UnexpectedInertia => CHOLUPDATE_UNEXPECTED_INERTIA,
            Status::UnexpectedSign => CHOLUPDATE_UNEXPECTED_SIGN,
            // With the statuses that are of several processes, and not used here.
            _ => CHOLUPDATE_INVALID_ARGUMENT,
        }
    }
}

/// Runs a call. Stores its error, stops a panic, and leaves the CUDA context current that is so, which the program may work on.
pub fn status_of(call: impl FnOnce() -> Result<(), Refused>) -> cholupdate_status {
    keeping_current_context(|| status::status_of(call)).into()
}

/// Stores an error as the last one of this thread, and returns its status.
pub fn remembered(refused: Refused) -> cholupdate_status {
    status::remembered(refused).into()
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
        15 => c"some matrices of the batch have failed",
        16 => c"unstable: the factor grows too large",
        17 => c"not the expected inertia",
        18 => c"a pivot does not have the expected sign",
        _ => c"not a status of cholupdate",
    };
    words.as_ptr()
}

/// Copies this thread's last error message, which names the argument, to the caller's `message` of `size` bytes, shortened to
/// fit and terminated by a zero. It is empty if no call has failed. Does nothing if `message` is NULL or `size` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_last_error(message: *mut c_char, size: usize) {
    // SAFETY: the header requires that the pointer is NULL or has so many bytes.
    unsafe { last_message(message, size) }
}

/// Returns the column of this thread's last error if that is CHOLUPDATE_NOT_POSITIVE_DEFINITE or CHOLUPDATE_SINGULAR, or if either is
/// what the first matrix of CHOLUPDATE_SOME_FAILED has: the first column whose squared pivot is not positive. The column of
/// CHOLUPDATE_UNSTABLE and CHOLUPDATE_UNEXPECTED_SIGN is the one that they describe. Returns -1 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_last_error_column() -> i64 {
    last_column()
}
