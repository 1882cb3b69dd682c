//! Rows and columns by qrupdate (Hajek, 2009), one at a time: the library of Octave's `cholinsert`, `choldelete` and
//! `cholshift`. The system's library is opened at run time, if it is installed (Debian: `apt-get install libqrupdate1`).

use crate::scalar::Real;
use cholupdate::faer::{Mat, MatRef};
use libloading::Library;
use std::ffi::c_int;

/// Names that the library may have.
const NAMES: [&str; 2] = ["libqrupdate.so.1", "libqrupdate.so"];

/// `dchinx(n, R, ldr, j, x, w, info)`: R (n + 1 × n + 1) for the matrix with row and column j, which is x (n + 1).
type Insert<T> =
    unsafe extern "C" fn(*const c_int, *mut T, *const c_int, *const c_int, *mut T, *mut T, *mut c_int);
/// `dchdex(n, R, ldr, j, w)`: R (n − 1 × n − 1) for the matrix without row and column j.
type Remove<T> = unsafe extern "C" fn(*const c_int, *mut T, *const c_int, *const c_int, *mut T);
/// `dchshx(n, R, ldr, i, j, w)`: R (n × n) for the matrix with row and column i at j.
type Shift<T> = unsafe extern "C" fn(*const c_int, *mut T, *const c_int, *const c_int, *const c_int, *mut T);

/// The routines of one type.
pub struct Qrupdate<T> {
    insert: Insert<T>,
    remove: Remove<T>,
    shift: Shift<T>,
    /// Open as long as the routines may be called.
    _library: Library,
}

impl<T: Real> Qrupdate<T> {
    /// # Errors
    /// The loader's error, if the library or a routine is missing.
    pub fn load() -> Result<Self, libloading::Error> {
        let prefix = if T::NAME == f32::NAME { 's' } else { 'd' };
        // SAFETY: the library and its BLAS and LAPACK run no initialization that depends on this program.
        let open = |name| unsafe { Library::new(name) };
        let library = open(NAMES[0]).or_else(|_| open(NAMES[1]))?;
        let name = |routine: &str| format!("{prefix}{routine}_");
        // SAFETY: the types are those that qrupdate's documentation gives to the routines of these names, with LP64 integers.
        let (insert, remove, shift) = unsafe {
            (
                *library.get::<Insert<T>>(name("chinx"))?,
                *library.get::<Remove<T>>(name("chdex"))?,
                *library.get::<Shift<T>>(name("chshx"))?,
            )
        };
        Ok(Self { insert, remove, shift, _library: library })
    }
}

/// The upper factor R = Lᵀ as qrupdate keeps it, with room for a largest order.
pub struct Upper<T> {
    /// By columns. (largest order × largest order)
    r: Vec<T>,
    largest: usize,
    order: usize,
    /// 2 n numbers, the largest need of the routines.
    work: Vec<T>,
}

impl<T: Real> Upper<T> {
    /// Room for no larger order than that of this L.
    #[must_use]
    pub fn new(l: MatRef<'_, T>) -> Self {
        let n = l.nrows();
        let r = (0..n * n).map(|at| if at % n <= at / n { l[(at / n, at % n)] } else { T::ZERO }).collect();
        Self { r, largest: n, order: n, work: vec![T::ZERO; 2 * n] }
    }

    #[must_use]
    pub fn l(&self) -> Mat<T> {
        let entry = |i: usize, j: usize| if i < j { T::ZERO } else { self.r[j + i * self.largest] };
        Mat::from_fn(self.order, self.order, entry)
    }

    /// Inserts a row and column, whose entries are overwritten.
    ///
    /// # Panics
    /// When there is no room, or x or the place does not fit, or the matrix would not be positive definite.
    pub fn insert(&mut self, library: &Qrupdate<T>, at: usize, x: &mut [T]) {
        assert!(self.order < self.largest && at <= self.order && x.len() == self.order + 1);
        let ([n, ld, j], mut info) = ([self.order, self.largest, at + 1].map(integer), 0);
        let (r, x, work) = (self.r.as_mut_ptr(), x.as_mut_ptr(), self.work.as_mut_ptr());
        // SAFETY: R has `largest` > n rows and columns, x n + 1 entries and w more than n; 1 ≤ j ≤ n + 1.
        unsafe { (library.insert)(&n, r, &ld, &j, x, work, &mut info) };
        assert_eq!(info, 0, "the problem is well posed");
        self.order += 1;
    }

    /// Removes a row and column.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn remove(&mut self, library: &Qrupdate<T>, at: usize) {
        assert!(at < self.order);
        let [n, ld, j] = [self.order, self.largest, at + 1].map(integer);
        // SAFETY: R has `largest` ≥ n rows and columns, and w at least n entries; 1 ≤ j ≤ n.
        unsafe { (library.remove)(&n, self.r.as_mut_ptr(), &ld, &j, self.work.as_mut_ptr()) };
        self.order -= 1;
    }

    /// Moves a row and column to another place.
    ///
    /// # Panics
    /// When there is no such row or place.
    pub fn shift(&mut self, library: &Qrupdate<T>, from: usize, to: usize) {
        assert!(from < self.order && to < self.order);
        let [n, ld, i, j] = [self.order, self.largest, from + 1, to + 1].map(integer);
        // SAFETY: R has `largest` ≥ n rows and columns, and w at least 2 n entries; 1 ≤ i, j ≤ n.
        unsafe { (library.shift)(&n, self.r.as_mut_ptr(), &ld, &i, &j, self.work.as_mut_ptr()) };
    }
}

fn integer(n: usize) -> c_int {
    c_int::try_from(n).expect("an order in 32 bits")
}
