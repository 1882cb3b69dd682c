//! Eigen's rank-1 updates, compiled on first use (Debian: `apt-get install g++ libeigen3-dev`), if the compiler and Eigen are
//! installed.

use crate::problem::Real;
use cholupdate::faer::{Mat, MatRef};
use libloading::Library;
use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// L (n × n) column-major with this stride, V (n × k) column-major, and the sign; returns 0 unless it breaks down.
type Modify<T> = unsafe extern "C" fn(*mut T, isize, isize, *const T, isize, T) -> c_int;

/// The routine of one type.
pub struct Eigen<T> {
    modify: Modify<T>,
}

impl<T: Real> Eigen<T> {
    /// `None` without the compiler or Eigen.
    #[must_use]
    pub fn load() -> Option<Self> {
        static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
        let library = LIBRARY.get_or_init(|| open().inspect_err(|why| println!("without Eigen: {why}")).ok());
        let name = format!("eigen_{}", T::NAME);
        // SAFETY: `eigen.cpp` gives the routines of these names this type.
        let modify = unsafe { library.as_ref()?.get::<Modify<T>>(name) };
        modify.ok().map(|modify| Self { modify: *modify })
    }

    /// L Lᵀ ← L Lᵀ ± V Vᵀ.
    ///
    /// # Panics
    /// When it breaks down, or V is not stored by columns one after the other.
    pub fn modify(&self, l: &mut Mat<T>, v: MatRef<'_, T>, sign: T) {
        let (n, stride) = (l.nrows(), l.col_stride());
        assert!(v.nrows() == n && v.row_stride() == 1 && (v.ncols() < 2 || v.col_stride() == n as isize));
        // SAFETY: L and V are n × n and n × k with these strides, as asserted, and the library stays open.
        let broken = unsafe {
            (self.modify)(l.as_ptr_mut(), n as isize, stride, v.as_ptr(), v.ncols() as isize, sign)
        };
        assert_eq!(broken, 0, "the problem is well posed");
    }
}

fn open() -> Result<Library, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("support/eigen.cpp");
    let to: PathBuf = std::env::temp_dir().join(format!("cholupdate-eigen-{}.so", std::process::id()));
    let compiled = Command::new("g++")
        .args(["-O3", "-march=native", "-DNDEBUG", "-shared", "-fPIC", "-I/usr/include/eigen3", "-o"])
        .args([&to, &source])
        .output()
        .map_err(|error| format!("g++: {error}"))?;
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr);
        return Err(said.lines().next().unwrap_or("g++ fails").to_owned());
    }
    // SAFETY: it initializes nothing.
    let library = unsafe { Library::new(&to) }.map_err(|error| error.to_string());
    let _ = std::fs::remove_file(&to);
    library
}
