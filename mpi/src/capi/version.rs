//! What the library is, and what it has found.

use crate::scalapack::has_scalapack;
use core::ffi::c_char;

/// The version of the library, as "0.1.0". The string is static.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_mpi_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns 1 if ScaLAPACK's library has been found, otherwise 0. It is opened when it is first asked for, by the name in the
/// environment variable CHOLUPDATE_SCALAPACK or else by its usual names.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_mpi_has_scalapack() -> i32 {
    has_scalapack().into()
}
