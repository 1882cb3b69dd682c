//! ScaLAPACK and the BLACS, opened at run time.

use core::ffi::{c_char, c_int, c_void};
use libloading::Library;
use mpi::ffi::MPI_Comm;
use std::sync::OnceLock;

/// `pdgemr2d`: the number of rows and columns, A with its first row and column and its descriptor, B with the same, and the context.
type Redistribute = unsafe extern "C" fn(
    *const c_int,
    *const c_int,
    *const c_void,
    *const c_int,
    *const c_int,
    *const c_int,
    *mut c_void,
    *const c_int,
    *const c_int,
    *const c_int,
    *const c_int,
);

/// `pdpotrf`: the triangle, the order, A with its first row and column and its descriptor, and the column of a breakdown.
type Factorize = unsafe extern "C" fn(
    *const c_char,
    *const c_int,
    *mut c_void,
    *const c_int,
    *const c_int,
    *const c_int,
    *mut c_int,
);

/// The functions that are used, those of ScaLAPACK for single and for double precision.
pub(super) struct Scalapack {
    pub handle: unsafe extern "C" fn(MPI_Comm) -> c_int,
    pub free_handle: unsafe extern "C" fn(c_int),
    pub init: unsafe extern "C" fn(*mut c_int, *const c_char, c_int, c_int),
    pub info: unsafe extern "C" fn(c_int, *mut c_int, *mut c_int, *mut c_int, *mut c_int),
    pub exit: unsafe extern "C" fn(c_int),
    pub redistribute: [Redistribute; 2],
    pub factorize: [Factorize; 2],
    _library: Library,
}

/// The names of the library; that for this MPI comes first.
fn names() -> Vec<String> {
    if let Ok(name) = std::env::var("CHOLUPDATE_SCALAPACK") {
        return vec![name];
    }
    let version = mpi::environment::library_version().unwrap_or_default();
    let of_this_mpi = if version.contains("Open MPI") { "openmpi" } else { "mpich" };
    let versions = ["", ".2.2", ".2.1", ".2"];
    let own = versions.map(|version| format!("libscalapack-{of_this_mpi}.so{version}"));
    own.into_iter().chain(versions.map(|version| format!("libscalapack.so{version}"))).collect()
}

/// The library, if this process has found it.
pub(super) fn scalapack() -> Option<&'static Scalapack> {
    static FOUND: OnceLock<Option<Scalapack>> = OnceLock::new();
    FOUND.get_or_init(|| names().iter().find_map(|name| open(name))).as_ref()
}

fn open(name: &str) -> Option<Scalapack> {
    // SAFETY: the initialization of ScaLAPACK's library does nothing. The functions have the types of its headers.
    unsafe {
        let library = Library::new(name).ok()?;
        Some(Scalapack {
            handle: *library.get(b"Csys2blacs_handle").ok()?,
            free_handle: *library.get(b"Cfree_blacs_system_handle").ok()?,
            init: *library.get(b"Cblacs_gridinit").ok()?,
            info: *library.get(b"Cblacs_gridinfo").ok()?,
            exit: *library.get(b"Cblacs_gridexit").ok()?,
            redistribute: [*library.get(b"psgemr2d_").ok()?, *library.get(b"pdgemr2d_").ok()?],
            factorize: [*library.get(b"pspotrf_").ok()?, *library.get(b"pdpotrf_").ok()?],
            _library: library,
        })
    }
}

/// Whether ScaLAPACK's library has been found.
#[must_use]
pub fn has_scalapack() -> bool {
    scalapack().is_some()
}
