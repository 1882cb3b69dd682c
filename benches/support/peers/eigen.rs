//! Eigen's rank-1 updates, compiled on first use (Debian: `apt-get install g++ libeigen3-dev`), if the compiler and Eigen are
//! installed.

use crate::scalar::Real;
use crate::settings::var;
use cholupdate::faer::{Mat, MatRef, c64};
use libloading::Library;
use std::ffi::c_int;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// From the root of the repository.
const SOURCE: &str = "benches/support/peers/eigen.cpp";

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
        let name = format!("eigen_{}", T::NAME);
        // SAFETY: `eigen.cpp` gives the routines of these names this type.
        let modify = unsafe { library()?.get::<Modify<T>>(name) };
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

/// L (n × n) column-major with this stride, V (n × k) column-major, and the sign; returns 0 unless it breaks down.
type ModifyComplex = unsafe extern "C" fn(*mut c64, isize, isize, *const c64, isize, f64) -> c_int;

/// The routine of complex numbers.
pub struct EigenComplex {
    modify: ModifyComplex,
}

impl EigenComplex {
    /// `None` without the compiler or Eigen.
    #[must_use]
    pub fn load() -> Option<Self> {
        // SAFETY: `eigen.cpp` gives the routine of this name this type.
        let modify = unsafe { library()?.get::<ModifyComplex>("eigen_c64") };
        modify.ok().map(|modify| Self { modify: *modify })
    }

    /// L Lᴴ ← L Lᴴ ± V Vᴴ. V has columns of n entries, one after the other.
    ///
    /// # Panics
    /// When it breaks down.
    pub fn modify(&self, l: &mut Mat<c64>, v: &[c64], sign: f64) {
        let (n, stride) = (l.nrows(), l.col_stride());
        let k = v.len() / n.max(1);
        // SAFETY: L is n × n with this stride, V has k columns of n entries, and the library stays open.
        let broken =
            unsafe { (self.modify)(l.as_ptr_mut(), n as isize, stride, v.as_ptr(), k as isize, sign) };
        assert_eq!(broken, 0, "the problem is well posed");
    }
}

/// L D Lᵀ (n × n) column-major with this stride, V (n × k) column-major, which is overwritten, and the sign; returns 0 on success.
type ModifyLdlt = unsafe extern "C" fn(*mut f64, isize, isize, *mut f64, isize, f64) -> c_int;

/// The routine of LDLᵀ.
pub struct EigenLdlt {
    modify: ModifyLdlt,
}

impl EigenLdlt {
    /// `None` without the compiler or Eigen.
    #[must_use]
    pub fn load() -> Option<Self> {
        // SAFETY: `eigen.cpp` gives the routine of this name this type.
        let modify = unsafe { library()?.get::<ModifyLdlt>("eigen_ldlt_f64") };
        modify.ok().map(|modify| Self { modify: *modify })
    }

    /// L D Lᵀ ← L D Lᵀ ± V Vᵀ. V is column-major, and is overwritten.
    ///
    /// # Panics
    /// When it fails.
    pub fn modify(&self, ld: &mut Mat<f64>, v: &mut [f64], sign: f64) {
        let (n, stride) = (ld.nrows(), ld.col_stride());
        let k = v.len() / n.max(1);
        // SAFETY: L D Lᵀ is n × n with this stride, V has k columns of n entries, and the library stays open.
        let broken =
            unsafe { (self.modify)(ld.as_ptr_mut(), n as isize, stride, v.as_mut_ptr(), k as isize, sign) };
        assert_eq!(broken, 0, "the problem is well posed");
    }
}

/// Its name and version.
#[must_use]
pub fn version() -> Option<String> {
    // SAFETY: `eigen.cpp` gives the routine of this name this type, and nothing is required of its caller.
    let number = unsafe { library()?.get::<unsafe extern "C" fn() -> c_int>("eigen_version").ok()?() };
    Some(format!("Eigen {}.{}.{}", number / 10_000, number / 100 % 100, number % 100))
}

fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    LIBRARY.get_or_init(|| open().inspect_err(|why| println!("without Eigen: {why}")).ok()).as_ref()
}

fn open() -> Result<Library, String> {
    let include = var("CHOLUPDATE_BENCH_EIGEN").unwrap_or_else(|| "/usr/include/eigen3".into());
    let to: PathBuf = std::env::temp_dir().join(format!("cholupdate-eigen-{}.so", std::process::id()));
    let native = var("CHOLUPDATE_ISA").is_none_or(|isa| isa != "avx2");
    let machine = if native { "-march=native" } else { "-march=haswell" };
    let compiled = Command::new("g++")
        .args(["-O3", machine, "-DNDEBUG", "-shared", "-fPIC", &format!("-I{include}"), SOURCE, "-o"])
        .arg(&to)
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
