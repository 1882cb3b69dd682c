//! Reports a wrong argument, as LAPACK does.

use core::ffi::{CStr, c_char, c_void};
use std::io::{Write, stderr};

/// `xerbla_(name, info, length of the name)`. The program's function may not return: LAPACK's ends the program, and Octave's
/// throws an exception.
type Xerbla = unsafe extern "C-unwind" fn(*const c_char, *const i64, usize);

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Reports to the program's `xerbla_` that argument `number` of `routine` is wrong, or to standard error if the program has
/// none.
pub fn xerbla(routine: &str, number: i64) {
    match find(c"xerbla_") {
        // SAFETY: functions with this name have this type. With 32-bit integers they read the lower half, which comes first on
        // the processors that are supported.
        Some(xerbla) => unsafe { xerbla(routine.as_ptr().cast(), &raw const number, routine.len()) },
        // An error that cannot be written is ignored.
        None => drop(writeln!(stderr(), "{routine}: argument {number} is not what it can be")),
    }
}

fn find(name: &CStr) -> Option<Xerbla> {
    // SAFETY: searches all libraries of the program for a name that ends in a zero byte.
    let found = unsafe { dlsym(core::ptr::null_mut(), name.as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: functions with this name have this type.
    Some(unsafe { core::mem::transmute::<*mut c_void, Xerbla>(found) })
}
