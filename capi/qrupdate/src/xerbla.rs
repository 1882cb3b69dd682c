//! Whom LAPACK's family tells about a wrong argument.

use core::ffi::{CStr, c_char, c_void};
use std::io::{Write, stderr};

/// `xerbla_(name, info, length of the name)`. What the program has may not come back: LAPACK's ends the program, and Octave's throws an
/// exception.
type Xerbla = unsafe extern "C-unwind" fn(*const c_char, *const i64, usize);

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Tells the program's `xerbla_` that argument `number` of `routine` is wrong, or who reads the errors where it has none.
pub fn xerbla(routine: &str, number: i64) {
    match find(c"xerbla_") {
        // SAFETY: that is the type of what has this name. Where integers have 32 bits it reads the lower half, which
        // comes first on the processors that this is for.
        Some(xerbla) => unsafe { xerbla(routine.as_ptr().cast(), &raw const number, routine.len()) },
        // Nobody reads what cannot be written.
        None => drop(writeln!(stderr(), "{routine}: argument {number} is not what it can be")),
    }
}

fn find(name: &CStr) -> Option<Xerbla> {
    // SAFETY: all libraries of the program are searched for a name that ends.
    let found = unsafe { dlsym(core::ptr::null_mut(), name.as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: what has this name is a function of that type.
    Some(unsafe { core::mem::transmute::<*mut c_void, Xerbla>(found) })
}
