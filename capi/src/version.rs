//! The version of the library.

use core::ffi::c_char;

/// The version of the library, as "0.1.0". The string is static.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
