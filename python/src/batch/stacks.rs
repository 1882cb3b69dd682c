//! Arrays of NumPy, and arguments in either memory, as batches of matrices.

use super::begin::Place;
use super::gpu_stacks::{GpuArray, GpuStack};
use crate::arrays::{self, Array, is_writeable, usable};
use crate::device::{self, is_on_device};
use crate::errors::{in_use, wrong_type, wrong_value};
use crate::numbers::{Number, Real};
use cholupdate::cuda::BatchOperand;
use cholupdate::faer::{c32, c64};
use cholupdate::{BatchMut, BatchRef, Error};
use numpy::prelude::*;
use numpy::{PyArray1, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// How a batch lies in an array: matrices, rows and columns, and their strides in entries.
#[derive(Clone, Copy)]
pub struct Layout {
    pub shape: [usize; 3],
    pub strides: [usize; 3],
}

impl Layout {
    /// That of the transposes of all matrices.
    pub fn transposed(mut self) -> Self {
        self.shape.swap(1, 2);
        self.strides.swap(1, 2);
        self
    }
}

/// Arrays that are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// (count × rows × columns).
    Matrices,
    /// These, or (count × rows): one column each.
    Vectors,
}

/// The layout of an array of this shape with a stride for each axis, or `None` if there is none for one of them.
pub fn laid(
    shape: &[usize],
    stride: impl Fn(usize) -> Option<usize>,
    name: &str,
    accepted: Accepted,
) -> PyResult<Option<Layout>> {
    let (shape, strides) = match (shape, accepted) {
        (&[count, rows, columns], _) => ([count, rows, columns], [stride(0), stride(1), stride(2)]),
        (&[count, rows], Accepted::Vectors) => ([count, rows, 1], [stride(0), stride(1), Some(1)]),
        (shape, _) => {
            let expected = if accepted == Accepted::Vectors { "2 or 3" } else { "3" };
            let found = shape.len();
            return Err(wrong_value(format!("`{name}` has {found} dimensions, expected {expected}")));
        }
    };
    let [Some(matrix), Some(row), Some(column)] = strides else { return Ok(None) };
    Ok(Some(Layout { shape, strides: [matrix, row, column] }))
}

/// The layout of an array, or `None` if a stride is negative.
fn layout<T: Number>(array: &Array<'_, T>, name: &str, accepted: Accepted) -> PyResult<Option<Layout>> {
    let (strides, size) = (array.strides(), size_of::<T>() as isize);
    laid(array.shape(), |axis| usize::try_from(strides[axis] / size).ok(), name, accepted)
}

/// A batch that a call reads, in either memory.
pub enum Given<'py, T: Real> {
    Host(Stack<'py, T>),
    Gpu(GpuStack<'py>),
}

impl<'py, T: Real> Given<'py, T> {
    /// An argument of a call on a batch of T at this place.
    pub fn new(object: &Bound<'py, PyAny>, name: &str, accepted: Accepted, place: Place) -> PyResult<Self> {
        match place {
            Place::Gpu(device) if is_there(object, name)? => {
                let stack = GpuStack::new::<T>(object, name, accepted)?;
                stack.check_device(object.py(), device, name)?;
                Ok(Self::Gpu(stack))
            }
            _ => Ok(Self::Host(Stack::new(object, name, accepted)?)),
        }
    }

    /// The transposes of all matrices, if `transpose`.
    pub fn transposed_if(self, transpose: bool) -> Self {
        match self {
            Self::Host(stack) => Self::Host(stack.transposed_if(transpose)),
            Self::Gpu(stack) => Self::Gpu(stack.transposed_if(transpose)),
        }
    }

    /// Matrices, rows and columns.
    pub fn shape(&self) -> [usize; 3] {
        match self {
            Self::Host(stack) => stack.shape(),
            Self::Gpu(stack) => stack.shape(),
        }
    }

    /// The operand for the library.
    pub fn operand(&self, py: Python<'_>, name: &'static str) -> PyResult<BatchOperand<'_, T>> {
        Ok(match self {
            Self::Host(stack) => stack.view().into(),
            Self::Gpu(stack) => stack.view(py, name)?.into(),
        })
    }

    /// The stream on which the argument is used, if a call need not wait for the device.
    pub fn current_stream(&self) -> Option<u64> {
        match self {
            Self::Host(_) => None,
            Self::Gpu(stack) => stack.current_stream(),
        }
    }
}

/// Matrices of which a batch is made, of their own numbers.
pub enum Any<'py> {
    Single(Given<'py, f32>),
    Double(Given<'py, f64>),
    ComplexSingle(Stack<'py, c32>),
    ComplexDouble(Stack<'py, c64>),
}

impl<'py> Any<'py> {
    pub fn new(object: &Bound<'py, PyAny>, name: &str, place: Place) -> PyResult<Self> {
        let accepted = Accepted::Matrices;
        let refused = |found: &str| {
            wrong_type(format!(
                "`{name}` has dtype {found}, expected float32 or float64 for a batch on a GPU"
            ))
        };
        if matches!(place, Place::Gpu(_)) && is_there(object, name)? {
            return match device::dtype(object)?.as_str() {
                f32::NAME => Ok(Self::Single(Given::new(object, name, accepted, place)?)),
                f64::NAME => Ok(Self::Double(Given::new(object, name, accepted, place)?)),
                found => Err(refused(found)),
            };
        }
        refuse_device(object, name)?;
        Ok(match (arrays::Any::new(object, name)?, place) {
            (arrays::Any::Real(arrays::Either::Single(a)), _) => {
                Self::Single(Given::Host(Stack::of(a, name, accepted)?))
            }
            (arrays::Any::Real(arrays::Either::Double(a)), _) => {
                Self::Double(Given::Host(Stack::of(a, name, accepted)?))
            }
            (arrays::Any::ComplexSingle(_), Place::Gpu(_)) => return Err(refused(c32::NAME)),
            (arrays::Any::ComplexDouble(_), Place::Gpu(_)) => return Err(refused(c64::NAME)),
            (arrays::Any::ComplexSingle(a), Place::Host) => {
                Self::ComplexSingle(Stack::of(a, name, accepted)?)
            }
            (arrays::Any::ComplexDouble(a), Place::Host) => {
                Self::ComplexDouble(Stack::of(a, name, accepted)?)
            }
        })
    }
}

/// Whether an argument is in the memory of a GPU. NumPy arrays also implement DLPack, but never are.
pub fn is_there(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    Ok(!object.is_instance_of::<PyUntypedArray>() && is_on_device(object, name)?)
}

/// A batch that a call reads. While it lives, no other extension built with the `numpy` crate writes to the array.
pub struct Stack<'py, T: Number> {
    borrowed: PyReadonlyArrayDyn<'py, T>,
    layout: Layout,
}

impl<'py, T: Number> Stack<'py, T> {
    /// An argument of a call on a batch of T.
    pub fn new(object: &Bound<'py, PyAny>, name: &str, accepted: Accepted) -> PyResult<Self> {
        Self::of(in_host(object, name)?, name, accepted)
    }

    /// An array. One with negative strides is copied.
    pub fn of(array: Array<'py, T>, name: &str, accepted: Accepted) -> PyResult<Self> {
        match layout(&array, name, accepted)? {
            Some(layout) => {
                let borrowed = array.try_into_readonly().map_err(|_| in_use(&format!("`{name}`")))?;
                Ok(Self { borrowed, layout })
            }
            None => Self::of(array.call_method0("copy")?.cast_into()?, name, accepted),
        }
    }

    /// The transposes of all matrices, if `transpose`.
    pub fn transposed_if(mut self, transpose: bool) -> Self {
        if transpose {
            self.layout = self.layout.transposed();
        }
        self
    }

    /// Matrices, rows and columns.
    pub fn shape(&self) -> [usize; 3] {
        self.layout.shape
    }

    /// The matrices.
    pub fn view(&self) -> BatchRef<'_, T> {
        let Layout { shape, strides } = self.layout;
        // SAFETY: NumPy guarantees this layout; the array is kept alive, and `usable` has checked that entries are aligned and
        // that strides are multiples of their size. The documentation requires that no thread of Python writes to the array
        // during the call.
        unsafe { BatchRef::from_raw_parts(self.borrowed.data(), shape, strides) }
    }
}

/// A batch that a call writes. While it lives, no other extension built with the `numpy` crate uses the array.
pub struct StackMut<'py, T: Number> {
    borrowed: PyReadwriteArrayDyn<'py, T>,
    layout: Option<Layout>,
}

impl<'py, T: Number> StackMut<'py, T> {
    /// An array of the caller's, which must be writable and of dtype T.
    pub fn given(object: &Bound<'py, PyAny>, name: &str, accepted: Accepted) -> PyResult<Self> {
        if !object.is_instance_of::<PyUntypedArray>() {
            let kind = crate::argument::kind(object);
            return Err(wrong_type(format!("`{name}` must be an ndarray, not {kind}")));
        }
        let Some(array) = usable::<T>(object) else {
            let dtype = T::NAME;
            let message =
                format!("`{name}` must be an aligned array of {dtype} in native order, as the batch has");
            return Err(wrong_type(message));
        };
        if !is_writeable(array) {
            return Err(wrong_value(format!("`{name}` is read-only")));
        }
        Self::of(array, name, accepted)
    }

    /// An array that is not read-only.
    pub fn of(array: &Array<'py, T>, name: &str, accepted: Accepted) -> PyResult<Self> {
        let layout = layout(array, name, accepted)?;
        let borrowed = array.try_readwrite().map_err(|_| in_use(&format!("`{name}`")))?;
        Ok(Self { borrowed, layout })
    }

    /// The transposes of all matrices, if `transpose`.
    pub fn transposed_if(mut self, transpose: bool) -> Self {
        if transpose {
            self.layout = self.layout.map(Layout::transposed);
        }
        self
    }

    /// The matrices, or `None` where strides are negative or entries could share memory.
    pub fn view(&mut self) -> Option<BatchMut<'_, T>> {
        let Layout { shape, strides } = self.layout?;
        // SAFETY: as in `Stack::view`, and the array is writable and borrowed exclusively.
        let made: Result<_, Error> =
            unsafe { BatchMut::from_raw_parts(self.borrowed.data(), shape, strides) };
        made.ok()
    }

    /// Sets the entries of some matrices of an array in C order to NaN.
    pub fn fill_with_nan(&mut self, matrices: impl Iterator<Item = usize>) {
        let Some(Layout { shape: [_, rows, columns], .. }) = self.layout else { return };
        let Ok(entries) = self.borrowed.as_slice_mut() else { return };
        let nan = T::of_parts([T::RealPart::rounded(f64::NAN); 2]);
        for matrix in matrices {
            entries[matrix * rows * columns..(matrix + 1) * rows * columns].fill(nan);
        }
    }
}

/// An argument of a call on factors of T in host memory: the array itself, or a copy converted to T.
pub fn in_host<'py, T: Number>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Array<'py, T>> {
    refuse_device(object, name)?;
    arrays::array(object, name)
}

/// As `in_host`, of what is real also for factors of complex numbers.
pub fn real_in_host<'py, T: Number>(
    object: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Array<'py, T::RealPart>> {
    refuse_device(object, name)?;
    arrays::real_array::<T>(object, name)
}

/// Whether weights of this shape are those of each matrix, and not the same for all.
pub fn are_of_each(shape: &[usize], (count, rank): (usize, usize)) -> PyResult<bool> {
    match shape {
        [] | [_] => Ok(false),
        &[matrices, columns] if (matrices, columns) == (count, rank) => Ok(true),
        [_, _] => {
            let message =
                format!("`weights` has shape {shape:?}, expected {:?} or {:?}", [rank], [count, rank]);
            Err(wrong_value(message))
        }
        _ => Err(wrong_value(format!("`weights` has {} dimensions, expected 1 or 2", shape.len()))),
    }
}

/// An argument of a call on factors of T at this place that is used in host memory: the array itself, or a copy converted to T.
pub fn fetched<'py, T: Real>(
    object: &Bound<'py, PyAny>,
    name: &str,
    place: Place,
) -> PyResult<Array<'py, T>> {
    if place == Place::Host || !is_there(object, name)? {
        return in_host(object, name);
    }
    let (py, array) = (object.py(), GpuArray::new::<T>(object, name)?);
    let entries = PyArray1::from_vec(py, array.to_host::<T>(py, name)?);
    Ok(entries.call_method1("reshape", (PyTuple::new(py, array.shape())?,))?.cast_into()?)
}

fn refuse_device(object: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    if is_there(object, name)? {
        let message = format!("`{name}` is in the memory of a GPU, but the factors are in host memory");
        return Err(wrong_type(message));
    }
    Ok(())
}
