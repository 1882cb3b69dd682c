//! Arrays of NumPy as batches of matrices.

use crate::arrays::{self, Array, Either, is_writeable, usable};
use crate::device::is_on_device;
use crate::errors::{in_use, wrong_type, wrong_value};
use crate::numbers::Real;
use cholupdate::{BatchMut, BatchRef, Error};
use numpy::prelude::*;
use numpy::{PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArray};
use pyo3::prelude::*;

/// How a batch lies in an array: matrices, rows and columns, and their strides in entries.
#[derive(Clone, Copy)]
struct Layout {
    shape: [usize; 3],
    strides: [usize; 3],
}

/// Arrays that are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// (count × rows × columns).
    Matrices,
    /// These, or (count × rows): one column each.
    Vectors,
}

/// The layout of an array, or `None` if a stride is negative.
fn layout<T: Real>(array: &Array<'_, T>, name: &str, accepted: Accepted) -> PyResult<Option<Layout>> {
    let size = size_of::<T>() as isize;
    let stride = |stride: isize| usize::try_from(stride / size).ok();
    let (shape, strides) = match (array.shape(), array.strides(), accepted) {
        (&[count, rows, columns], &[matrix, row, column], _) => {
            ([count, rows, columns], [stride(matrix), stride(row), stride(column)])
        }
        (&[count, rows], &[matrix, row], Accepted::Vectors) => {
            ([count, rows, 1], [stride(matrix), stride(row), Some(1)])
        }
        (shape, _, _) => {
            let expected = if accepted == Accepted::Vectors { "2 or 3" } else { "3" };
            let found = shape.len();
            return Err(wrong_value(format!("`{name}` has {found} dimensions, expected {expected}")));
        }
    };
    let [Some(matrix), Some(row), Some(column)] = strides else { return Ok(None) };
    Ok(Some(Layout { shape, strides: [matrix, row, column] }))
}

/// A batch that a call reads. While it lives, no other extension built with the `numpy` crate writes to the array.
pub struct Stack<'py, T: Real> {
    borrowed: PyReadonlyArrayDyn<'py, T>,
    layout: Layout,
}

impl<'py, T: Real> Stack<'py, T> {
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
            self.layout.shape.swap(1, 2);
            self.layout.strides.swap(1, 2);
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
pub struct StackMut<'py, T: Real> {
    borrowed: PyReadwriteArrayDyn<'py, T>,
    layout: Option<Layout>,
}

impl<'py, T: Real> StackMut<'py, T> {
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
        if let (true, Some(layout)) = (transpose, &mut self.layout) {
            layout.shape.swap(1, 2);
            layout.strides.swap(1, 2);
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
        let nan = T::from_f64(f64::NAN);
        for matrix in matrices {
            entries[matrix * rows * columns..(matrix + 1) * rows * columns].fill(nan);
        }
    }
}

/// An argument of a call on factors of T in host memory: the array itself, or a copy converted to T.
pub fn in_host<'py, T: Real>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Array<'py, T>> {
    refuse_device(object, name)?;
    arrays::array(object, name)
}

/// Matrices of which a batch is made, in their own precision.
pub fn either<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Either<'py>> {
    refuse_device(object, name)?;
    Either::new(object, name)
}

fn refuse_device(object: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    if !object.is_instance_of::<PyUntypedArray>() && is_on_device(object, name)? {
        let message = format!("`{name}` is in the memory of a GPU, but batches are in host memory");
        return Err(wrong_type(message));
    }
    Ok(())
}
