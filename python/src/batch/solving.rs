//! Solves, determinants and copies of factors, for the class `CholeskyBatch`.

use super::begin::Place;
use super::gpu_numbers::Call;
use super::gpu_stacks::GpuStack;
use super::outcome::BatchStatus;
use super::stacks::{Accepted, StackMut, fetched, in_host, is_there};
use super::stored::{Done, Stored};
use super::{CholeskyBatch, Shared, number, with_batch};
use crate::arrays::{Array, to_numpy, zeros};
use crate::device::DeviceArray;
use crate::errors::{exception, exception_of};
use crate::numbers::{Number, Real};
use crate::operands::like;
use crate::settings::device_for;
use crate::threads::without_gil;
use cholupdate::BatchMut;
use cholupdate::cuda::{DeviceBatch, DeviceMatrix};
use numpy::PyArray1;
use pyo3::prelude::*;

/// A copy of an array, in C order.
fn copied<'py, T: Number>(array: &Array<'py, T>) -> PyResult<Array<'py, T>> {
    Ok(array.call_method0("copy")?.cast_into()?)
}

/// Solutions in host memory, by a call that returns the matrices for which there are none.
pub fn solved_in<'py, T: Number>(
    object: &Bound<'py, PyAny>,
    solve: impl FnOnce(BatchMut<'_, T>) -> PyResult<Vec<usize>>,
) -> PyResult<Bound<'py, PyAny>> {
    let x = copied(&in_host::<T>(object, "b")?)?;
    {
        let mut stack = StackMut::of(&x, "b", Accepted::Vectors)?;
        let failed = match stack.view() {
            Some(b) => solve(b)?,
            None => Vec::new(),
        };
        stack.fill_with_nan(failed.into_iter());
    }
    like(x.into_any(), object)
}

/// Solutions in place of right-hand sides in host memory.
pub fn solved_in_place_in<'py, T: Number>(
    object: &Bound<'py, PyAny>,
    solve: impl Fn(BatchMut<'_, T>) -> PyResult<Done>,
) -> PyResult<Done> {
    let mut stack = StackMut::<T>::given(object, "b", Accepted::Vectors)?;
    if let Some(b) = stack.view() {
        return solve(b);
    }
    let x = copied(&in_host::<T>(object, "b")?)?;
    let done = match StackMut::of(&x, "b", Accepted::Vectors)?.view() {
        Some(b) => solve(b)?,
        None => Done::nothing(),
    };
    object.py().import("numpy")?.call_method1("copyto", (object, x))?;
    Ok(done)
}

/// Factors in an array of NumPy, by a call that returns the matrices that have none.
pub fn all_in<'py, T: Number>(
    py: Python<'py>,
    (count, order): (usize, usize),
    copy: impl FnOnce(BatchMut<'_, T>) -> PyResult<Vec<usize>>,
) -> PyResult<Bound<'py, PyAny>> {
    let l = zeros::<T>(py, &[count, order, order], false);
    let mut stack = StackMut::of(&l, "l", Accepted::Matrices)?;
    let missing = match stack.view() {
        Some(view) => copy(view)?,
        None => Vec::new(),
    };
    stack.fill_with_nan(missing.into_iter());
    drop(stack);
    Ok(l.into_any())
}

impl<T: Real> Shared<Stored<T>> {
    fn solved<'py>(
        &self,
        batch: &Bound<'py, CholeskyBatch>,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = batch.py();
        if let (Place::Gpu(device), true) = (batch.get().place, is_there(object, "b")?) {
            return solved_on_gpu(py, self, object, device);
        }
        solved_in::<T>(object, |b| self.look(py, |stored| stored.solve(b.into())))
    }

    fn solved_in_place<'py>(
        &self,
        batch: &Bound<'py, CholeskyBatch>,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<BatchStatus> {
        let py = batch.py();
        let of = (batch, self.reader(py)?.count());
        if let (Place::Gpu(device), true) = (batch.get().place, is_there(object, "b")?) {
            let mut b = GpuStack::to_write::<T>(object, "b", Accepted::Vectors)?;
            b.check_device(py, device, "b")?;
            let stream = b.current_stream();
            let view = b.view_mut::<T>(py, "b")?;
            let done = self.look(py, |stored| stored.solve_in_place(view.into(), stream.is_none()))?;
            return Ok(BatchStatus::new(of, Call::Solve, done, stream));
        }
        let solve = |b: BatchMut<'_, T>| self.look(py, |stored| stored.solve_in_place(b.into(), true));
        Ok(BatchStatus::new(of, Call::Solve, solved_in_place_in::<T>(object, solve)?, None))
    }

    /// A copy of the factor of a matrix.
    fn factor<'py>(
        &self,
        py: Python<'py>,
        batch: &CholeskyBatch,
        matrix: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let guard = self.reader(py)?;
        let stored = &*guard;
        let l =
            without_gil(py, || stored.factor(matrix)).map_err(|error| exception_of(py, (matrix, error)))?;
        let (Some(library), Place::Gpu(ordinal)) = (&batch.library, batch.place) else {
            return Ok(to_numpy(py, l.as_ref(), false)?.into_any());
        };
        let device = device_for(py, ordinal)?;
        let l =
            without_gil(py, || DeviceMatrix::from_host(&device, &l)).map_err(|error| exception(py, error))?;
        library.bind(py).call1((Py::new(py, DeviceArray::new(l, ordinal, false))?,))
    }

    /// Copies of all factors.
    fn factors<'py>(&self, py: Python<'py>, batch: &CholeskyBatch) -> PyResult<Bound<'py, PyAny>> {
        if let (Some(library), Place::Gpu(device)) = (&batch.library, batch.place) {
            let l = all_on_gpu(py, self, device)?;
            return library.bind(py).call1((Py::new(py, l)?,));
        }
        let extents = self.look(py, |stored| Ok((stored.count(), stored.order())))?;
        all_in::<T>(py, extents, |l| {
            self.look(py, |stored| {
                stored.copy_factors(l.into())?;
                stored.missing()
            })
        })
    }

    /// An argument that is used in host memory.
    pub fn fetched<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        name: &str,
        place: Place,
    ) -> PyResult<Array<'py, T>> {
        fetched(object, name, place)
    }
}

/// The solutions in the memory of this GPU, as an array of the library of the right-hand sides.
fn solved_on_gpu<'py, T: Real>(
    py: Python<'py>,
    shared: &Shared<Stored<T>>,
    object: &Bound<'py, PyAny>,
    device: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let b = GpuStack::new::<T>(object, "b", Accepted::Vectors)?;
    b.check_device(py, device, "b")?;
    let b = b.packed::<T>("b", Accepted::Vectors)?;
    let view = b.view::<T>(py, "b")?.transposed();
    let x = shared.look(py, |stored| {
        let mut x: DeviceBatch<T> = view.to_batch()?;
        let failed = stored.solve(x.view_mut().transposed().into())?;
        x.fill_with_nan(&failed)?;
        Ok(x)
    })?;
    DeviceArray::of_transposes(x, device, b.dimensions().to_vec()).like(object)
}

#[pymethods]
impl CholeskyBatch {
    /// Solves A X = B, for each matrix.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (count, n, m) or (count, n)
    ///     B for each matrix.
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    ///     NaN for every matrix for which there is no solution: it has no factor, it is singular, or its B is not finite. An array
    ///     of the library of `b` if that has ``__dlpack__``, on its device, else a NumPy array. In C order.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[4.0, 2.0], [2.0, 5.0]], [[1.0, 0.0], [0.0, -1.0]]])
    /// >>> batch.solve([[8.0, 12.0], [1.0, 1.0]]).round(12)
    /// array([[ 1.,  2.],
    ///        [nan, nan]])
    fn solve<'py>(slf: &Bound<'py, Self>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_batch!(slf.get(), shared => shared.solved(slf, b))
    }

    /// Solves A X = B in place, for each matrix.
    ///
    /// Parameters
    /// ----------
    /// b : array, shape (count, n, m) or (count, n)
    ///     B for each matrix, overwritten by X. A NumPy array of the dtype of the factors that is not read-only; or, for a batch on a
    ///     GPU, an array of another library there, with any strides that are not negative.
    ///
    /// Returns
    /// -------
    /// BatchStatus
    ///     The matrices for which there is no solution. Their right-hand sides stay as they were. Of a batch on a GPU the numbers are
    ///     there until the next solve: `solve`, `replace` and `reserve` end them too.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[4.0]], [[-1.0]]])
    /// >>> b = np.array([[8.0], [3.0]])
    /// >>> batch.solve_in_place(b)
    /// <cholupdate.BatchStatus of 2 matrices, 1 failed>
    /// >>> b.ravel()
    /// array([2., 3.])
    fn solve_in_place<'py>(slf: &Bound<'py, Self>, b: &Bound<'py, PyAny>) -> PyResult<BatchStatus> {
        with_batch!(slf.get(), shared => shared.solved_in_place(slf, b))
    }

    /// The logarithms of det A.
    ///
    /// Returns
    /// -------
    /// ndarray of float64, shape (count,)
    ///     NaN for a matrix that has no factor or is singular.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> cu.CholeskyBatch([[[1.0]], [[-1.0]]]).log_det()
    /// array([ 0., nan])
    fn log_det<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let logarithms = with_batch!(self, shared => shared.look(py, |stored| stored.log_dets()));
        Ok(PyArray1::from_vec(py, logarithms?))
    }

    /// A copy of the factor L of a matrix.
    ///
    /// Parameters
    /// ----------
    /// matrix : int
    ///     Its number. Negative ones count from the end.
    ///
    /// Returns
    /// -------
    /// array, shape (n, n), or of the order of this matrix
    ///     L in Fortran order, zero above the diagonal. An array of the library of the matrices on the GPU of which the batch was
    ///     made; else a NumPy array.
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError, ValueError
    ///     The matrix has no factor.
    fn factor<'py>(&self, py: Python<'py>, matrix: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_batch!(self, shared => {
            let matrix = number(matrix, "matrix", shared.reader(py)?.count())?;
            shared.factor(py, self, matrix)
        })
    }

    /// Copies of all factors.
    ///
    /// Returns
    /// -------
    /// array, shape (count, n, n)
    ///     L of each matrix, zero above the diagonal and in rows and columns that a matrix of a smaller order does not have. NaN
    ///     for a matrix that has no factor. In C order. Of a batch that was made from an array on the GPU, an array of its library
    ///     there; else a NumPy array.
    fn factors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        with_batch!(self, shared => shared.factors(py, self))
    }
}

/// The factors in the memory of the batch's GPU.
fn all_on_gpu<T: Real>(py: Python<'_>, shared: &Shared<Stored<T>>, ordinal: usize) -> PyResult<DeviceArray> {
    let device = device_for(py, ordinal)?;
    let l = shared.look(py, |stored| {
        let mut l = DeviceBatch::<T>::zeros(&device, [stored.count(), stored.order(), stored.order()])?;
        stored.copy_factors(l.view_mut().transposed().into())?;
        l.fill_with_nan(&stored.missing()?)?;
        Ok(l)
    })?;
    let shape = l.shape().to_vec();
    Ok(DeviceArray::of_transposes(l, ordinal, shape))
}
