//! Arrays of NumPy, and objects that it can convert, as matrices: in place if their layout allows it, else copied.

use crate::errors::{in_use, wrong_type, wrong_value};
use crate::numbers::{Number, Real};
use crate::threads::without_gil;
use cholupdate::faer::{MatMut, MatRef, c32, c64};
use core::ops::Range;
use numpy::prelude::*;
use numpy::{BorrowError, PyArray, PyArrayDyn, PyReadonlyArrayDyn, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyComplex, PyFloat, PyInt, PyList, PyTuple};

/// An array whose entries can be used in place: native numbers, aligned.
pub type Array<'py, T> = Bound<'py, PyArrayDyn<T>>;

/// An array that a call reads. While it lives, no other extension built with the `numpy` crate writes to the array.
pub struct Read<'py, T: Number> {
    borrowed: PyReadonlyArrayDyn<'py, T>,
    layout: Layout,
}

/// Rows and columns, and their strides in entries.
#[derive(Clone, Copy)]
pub struct Layout {
    pub shape: (usize, usize),
    pub strides: (isize, isize),
}

impl<'py, T: Number> Read<'py, T> {
    /// An array of up to two dimensions.
    pub fn new(array: Array<'py, T>, name: &str) -> PyResult<Self> {
        let layout = layout(&array, name)?;
        let borrowed = array.try_into_readonly().map_err(|_| in_use(&format!("`{name}`")))?;
        Ok(Self { borrowed, layout })
    }

    /// The transpose, if `transpose`.
    pub fn transposed_if(self, transpose: bool) -> Self {
        let Layout { shape: (rows, cols), strides: (down, across) } = self.layout;
        match transpose {
            false => self,
            true => Self { layout: Layout { shape: (cols, rows), strides: (across, down) }, ..self },
        }
    }

    /// Whether the address range of the array intersects that of another array.
    pub fn overlaps(&self, other: &Array<'py, T>) -> bool {
        overlap(&self.borrowed, other)
    }

    /// A copy of the entries.
    pub fn copied(self, name: &str) -> PyResult<Self> {
        let copy = self.borrowed.call_method0("copy")?.cast_into::<PyArrayDyn<T>>()?;
        Self::new(copy, name)
    }

    /// The number of dimensions of the array.
    pub fn ndim(&self) -> usize {
        self.borrowed.ndim()
    }

    /// The entries.
    pub fn view(&self) -> MatRef<'_, T> {
        let Layout { shape: (rows, cols), strides: (row_stride, col_stride) } = self.layout;
        // SAFETY: NumPy guarantees this layout; the array is kept alive, and `usable` has checked that entries are aligned and
        // that strides are multiples of their size. The documentation requires that no thread of Python writes to the array
        // during the call, as NumPy does for its own calls that release the GIL.
        unsafe { MatRef::from_raw_parts(self.borrowed.data(), rows, cols, row_stride, col_stride) }
    }
}

/// The entries of an array that is not in use elsewhere.
pub fn view_mut<'a, T: Number>(array: &'a Array<'_, T>, name: &str) -> PyResult<MatMut<'a, T>> {
    let Layout { shape: (rows, cols), strides: (row_stride, col_stride) } = layout(array, name)?;
    // SAFETY: as in `Read::view`; the array was made by the caller, or is borrowed exclusively.
    Ok(unsafe { MatMut::from_raw_parts_mut(array.data(), rows, cols, row_stride, col_stride) })
}

/// An array as a matrix: a scalar has one entry, a vector one column.
fn layout<T: Number>(array: &Array<'_, T>, name: &str) -> PyResult<Layout> {
    let size = size_of::<T>() as isize;
    match (array.shape(), array.strides()) {
        ([], []) => Ok(Layout { shape: (1, 1), strides: (1, 1) }),
        (&[rows], &[stride]) => Ok(Layout { shape: (rows, 1), strides: (stride / size, rows as isize) }),
        (&[rows, cols], &[down, across]) => {
            Ok(Layout { shape: (rows, cols), strides: (down / size, across / size) })
        }
        (shape, _) => Err(wrong_value(format!("`{name}` has {} dimensions, expected 1 or 2", shape.len()))),
    }
}

/// Whether the address ranges of two arrays intersect.
pub fn overlap<T: Number>(one: &Array<'_, T>, other: &Array<'_, T>) -> bool {
    let (one, other) = (extent(one), extent(other));
    one.start < other.end && other.start < one.end
}

/// The address range of an array, from its first entry to the end of its last one.
fn extent<T: Number>(array: &Array<'_, T>) -> Range<usize> {
    if array.is_empty() {
        return 0..0;
    }
    let mut addresses = array.data().addr()..array.data().addr() + size_of::<T>();
    for (&len, &stride) in array.shape().iter().zip(array.strides()) {
        let last = stride * (len as isize - 1);
        addresses.start = addresses.start.wrapping_add_signed(last.min(0));
        addresses.end = addresses.end.wrapping_add_signed(last.max(0));
    }
    addresses
}

/// The array, if its entries are native numbers of type T, aligned, with strides that are multiples of their size, and not
/// masked.
pub fn usable<'a, 'py, T: Number>(object: &'a Bound<'py, PyAny>) -> Option<&'a Array<'py, T>> {
    let array = object.cast::<PyArrayDyn<T>>().ok()?;
    if !object.is_exact_instance_of::<PyUntypedArray>() && is_masked(object) {
        return None;
    }
    let whole = array.strides().iter().all(|stride| stride % size_of::<T>() as isize == 0);
    (whole && array.is_aligned()).then_some(array)
}

/// An argument of a call on a factor of T: the array itself, or a copy converted to T.
pub fn array<'py, T: Number>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Array<'py, T>> {
    array_for::<T, T>(object, name)
}

/// As `array`, of what is real also for a factor of complex numbers.
pub fn real_array<'py, T: Number>(
    object: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Array<'py, T::RealPart>> {
    array_for::<T, T::RealPart>(object, name)
}

/// An argument of a call on a factor of T, as numbers of type N.
fn array_for<'py, T: Number, N: Number>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Array<'py, N>> {
    if let Some(array) = usable(object) {
        return Ok(array.clone());
    }
    match object.cast::<PyFloat>() {
        Ok(number) => array_of(object.py(), N::of_real(N::RealPart::rounded(number.value()))),
        Err(_) => converted::<T, N>(object, name),
    }
}

/// A zero-dimensional array with this entry.
fn array_of<'py, T: Number>(py: Python<'py>, entry: T) -> PyResult<Array<'py, T>> {
    let array = zeros::<T>(py, &[], false);
    view_mut(&array, "")?[(0, 0)] = entry;
    Ok(array)
}

#[cold]
fn converted<'py, T: Number, N: Number>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Array<'py, N>> {
    let (array, has_dtype) = as_numpy(object, name)?;
    let dtype = array.dtype();
    let found = || Ok::<_, PyErr>(dtype.getattr("name")?.to_string());
    match dtype.kind() {
        b'b' | b'i' | b'u' => {}
        b'f' if !has_dtype || dtype.itemsize() == size_of::<N::RealPart>() => {}
        b'c' if N::IS_COMPLEX && (!has_dtype || dtype.itemsize() == size_of::<N>()) => {}
        _ => return Err(not_the_factors::<T, N>(name, &found()?)),
    }
    if let Some(array) = usable(&array) {
        return Ok(array.clone());
    }
    let array = array.call_method1("astype", (N::NAME,))?;
    Ok(array.cast_into::<PyArrayDyn<N>>()?)
}

/// A matrix of real numbers from which a factor is computed, in either precision.
pub enum Either<'py> {
    Single(Array<'py, f32>),
    Double(Array<'py, f64>),
}

impl<'py> Either<'py> {
    /// Single precision for float32, double precision for float64 and integers.
    pub fn new(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Some(array) = usable(object) {
            return Ok(Self::Double(array.clone()));
        }
        if let Some(array) = usable(object) {
            return Ok(Self::Single(array.clone()));
        }
        let (array, _) = as_numpy(object, name)?;
        let dtype = array.dtype();
        match (dtype.kind(), dtype.getattr("name")?.to_string().as_str()) {
            (_, f32::NAME) => Ok(Self::Single(self::array(&array, name)?)),
            (b'b' | b'i' | b'u', _) | (_, f64::NAME) => Ok(Self::Double(self::array(&array, name)?)),
            (b'c', found) => Err(wrong_type(format!(
                "`{name}` has dtype {found}, expected real numbers: only `Cholesky`, `Ldlt` and `CholeskyBatch` have complex ones"
            ))),
            (_, found) => Err(not_supported(name, found)),
        }
    }
}

/// A matrix from which a `Cholesky` or `Ldlt` is computed, or those of which a `CholeskyBatch` is made, of its own numbers.
pub enum Any<'py> {
    Real(Either<'py>),
    ComplexSingle(Array<'py, c32>),
    ComplexDouble(Array<'py, c64>),
}

impl<'py> Any<'py> {
    /// As `Either::new`, and single precision for complex64, double precision for complex128.
    pub fn new(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        let (array, _) = as_numpy(object, name)?;
        let dtype = array.dtype();
        if dtype.kind() != b'c' {
            return Either::new(&array, name).map(Self::Real);
        }
        match dtype.getattr("name")?.to_string().as_str() {
            c32::NAME => Ok(Self::ComplexSingle(self::array(&array, name)?)),
            c64::NAME => Ok(Self::ComplexDouble(self::array(&array, name)?)),
            found => Err(wrong_type(format!(
                "`{name}` has dtype {found}, expected {} or {}",
                c32::NAME,
                c64::NAME
            ))),
        }
    }
}

/// The error for a dtype that no factor supports.
fn not_supported(name: &str, found: &str) -> PyErr {
    let expected = if is_floating(found) { "float32 or float64" } else { "real numbers" };
    wrong_type(format!("`{name}` has dtype {found}, expected {expected}"))
}

/// The error for a dtype that cannot be converted to N, for a factor of T.
fn not_the_factors<T: Number, N: Number>(name: &str, found: &str) -> PyErr {
    let (has, expected) = (T::NAME, N::NAME);
    let is_complex = found.starts_with("complex");
    if !(is_floating(found) || is_complex && N::IS_COMPLEX) {
        let expected = if N::IS_COMPLEX { "real or complex numbers" } else { "real numbers" };
        return wrong_type(format!("`{name}` has dtype {found}, expected {expected}"));
    }
    wrong_type(match found {
        _ if expected != has => {
            format!("`{name}` has dtype {found}, expected {expected}: the factor has {has}")
        }
        f32::NAME | f64::NAME | c32::NAME | c64::NAME => {
            format!("`{name}` has dtype {found}, but the factor has {has}")
        }
        _ => format!(
            "`{name}` has dtype {found}, which no factor can have: convert it to {has}, which this one has"
        ),
    })
}

/// Whether a dtype is a real floating-point type, of NumPy or of an extension such as bfloat16.
fn is_floating(dtype: &str) -> bool {
    dtype.starts_with("float") || dtype.starts_with("bfloat")
}

/// Whether it is a masked array of NumPy. The conversion would drop the mask.
#[cold]
fn is_masked(array: &Bound<'_, PyAny>) -> bool {
    static MASKED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = MASKED.import(array.py(), "numpy.ma", "MaskedArray");
    class.is_ok_and(|class| array.is_instance(class).unwrap_or(false))
}

/// Whether it has the attributes of SciPy's sparse matrices.
fn is_sparse(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("nnz")? && (object.hasattr("toarray")? || object.hasattr("todense")?))
}

/// The object as an array of NumPy, and whether it has a dtype of its own. Lists and numbers have none.
fn as_numpy<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<(Bound<'py, PyUntypedArray>, bool)> {
    static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static FROM_DLPACK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        if !object.is_exact_instance_of::<PyUntypedArray>() && is_masked(object) {
            let message =
                format!("`{name}` is a masked array, whose mask would be lost: give `filled()` of it");
            return Err(wrong_type(message));
        }
        return Ok((array.clone(), true));
    }
    let py = object.py();
    let is_bare = is_bare(object);
    if !is_bare && is_sparse(object)? {
        let kind = crate::argument::kind(object);
        let message =
            format!("`{name}` is a sparse matrix ({kind}), expected a dense one: give `toarray()` of it");
        return Err(wrong_type(message));
    }
    let through_dlpack = !is_bare && !object.hasattr("__array__")? && object.hasattr("__dlpack__")?;
    let (convert, function) =
        if through_dlpack { (&FROM_DLPACK, "from_dlpack") } else { (&ASARRAY, "asarray") };
    let made = convert.import(py, "numpy", function)?.call1((object,)).map_err(|error| {
        // NumPy's message, prefixed with the name of the argument.
        let message = format!("`{name}` cannot be an array: {}", error.value(py));
        let renamed = if error.is_instance_of::<pyo3::exceptions::PyTypeError>(py) {
            wrong_type(message)
        } else {
            wrong_value(message)
        };
        renamed.set_cause(py, Some(error));
        renamed
    })?;
    Ok((made.cast_into::<PyUntypedArray>()?, !is_bare))
}

/// An array of NumPy on the memory of another library's object, if NumPy may write there.
///
/// # Errors
/// `TypeError`.
pub fn shared<'py, T: Number>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Array<'py, T>> {
    // Two copies that live at the same time have different addresses; two views have the same.
    let (first, _) = as_numpy(object, name)?;
    let (again, _) = as_numpy(object, name)?;
    match (usable::<T>(&first), usable::<T>(&again)) {
        (Some(first), Some(again)) if first.data() == again.data() && is_writeable(first) => {
            Ok(first.clone())
        }
        _ => {
            let kind = crate::argument::kind(object);
            let message =
                format!("`{name}` cannot be overwritten: NumPy has no access to the memory of this {kind}");
            Err(wrong_type(message))
        }
    }
}

/// Whether the array has NumPy's flag `WRITEABLE`.
pub fn is_writeable<T: Number>(array: &Array<'_, T>) -> bool {
    !matches!(array.try_readwrite(), Err(BorrowError::NotWriteable))
}

/// Whether the object is a list, a tuple or a number, which have no array memory.
pub fn is_bare(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyComplex>()
}

/// A new array of zeros, in Fortran or C order.
pub fn zeros<'py, T: Number>(py: Python<'py>, shape: &[usize], fortran: bool) -> Array<'py, T> {
    PyArray::zeros(py, shape, fortran)
}

/// A new array with the entries of a matrix, in Fortran order; or with those of its transpose, in C order.
pub fn to_numpy<'py, T: Number>(
    py: Python<'py>,
    matrix: MatRef<'_, T>,
    transpose: bool,
) -> PyResult<Array<'py, T>> {
    let array = match transpose {
        false => zeros(py, &[matrix.nrows(), matrix.ncols()], true),
        true => zeros(py, &[matrix.ncols(), matrix.nrows()], false),
    };
    let view = view_mut(&array, "")?;
    let mut view = if transpose { view.transpose_mut() } else { view };
    without_gil(py, || view.copy_from(matrix));
    Ok(array)
}
