//! Arguments in the memory of a GPU: of a factor of real numbers `OnDevice`, of one of complex numbers none.

use crate::device::{DeviceArray, OnDevice};
use crate::errors::{exception, wrong_type};
use crate::numbers::{Number, Real};
use crate::settings::device_for;
use crate::threads::without_gil;
use cholupdate::cuda::DeviceMatrix;
use cholupdate::faer::Mat;
use cholupdate::{Error, Operand, OperandMut};
use pyo3::prelude::*;

/// A matrix in the memory of a GPU that a call on a factor of T reads. (rows × columns)
pub trait Remote<'py, T: Number>: Sized {
    /// The matrix, or its transpose, in place or as a copy on the device.
    ///
    /// # Errors
    /// `TypeError` if the dtype is not that of the factor, or if such a factor takes none.
    fn new(object: &Bound<'py, PyAny>, name: &str, transpose: bool) -> PyResult<Self>;

    /// The number of dimensions of the array.
    fn ndim(&self) -> usize;

    /// The operand for the library.
    fn operand(&self, py: Python<'py>) -> PyResult<Operand<'_, T>>;

    /// Applies `solve`, without the GIL, to a copy on the device, and converts that to the library of `b`.
    fn solved(
        &self,
        b: &Bound<'py, PyAny>,
        solve: impl FnOnce(OperandMut<'_, T>) -> Result<(), Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>>;

    /// Converts X from host memory to the library, device and shape of `b`, which is this matrix.
    fn returned(&self, x: Mat<T>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>;
}

impl<'py, T: Real> Remote<'py, T> for OnDevice<'py> {
    fn new(object: &Bound<'py, PyAny>, name: &str, transpose: bool) -> PyResult<Self> {
        Self::new::<T>(object, name, transpose)
    }

    fn ndim(&self) -> usize {
        self.ndim()
    }

    fn operand(&self, py: Python<'py>) -> PyResult<Operand<'_, T>> {
        Ok(self.view(py)?.into())
    }

    fn solved(
        &self,
        b: &Bound<'py, PyAny>,
        solve: impl FnOnce(OperandMut<'_, T>) -> Result<(), Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, view, is_vector) = (b.py(), self.view::<T>(b.py())?, self.ndim() < 2);
        let x = without_gil(py, || {
            let mut x: DeviceMatrix<T> = view.to_matrix()?;
            solve(x.view_mut().into())?;
            Ok(x)
        });
        let x = x.map_err(|error| exception(py, error))?;
        DeviceArray::new(x, self.ordinal(), is_vector).like(b)
    }

    fn returned(&self, x: Mat<T>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = b.py();
        let device = device_for(py, self.ordinal())?;
        let x =
            without_gil(py, || DeviceMatrix::from_host(&device, &x)).map_err(|error| exception(py, error))?;
        DeviceArray::new(x, self.ordinal(), self.ndim() < 2).like(b)
    }
}

/// An argument of a factor of complex numbers. There is none.
pub enum Refused {}

impl<'py, T: Number> Remote<'py, T> for Refused {
    fn new(_object: &Bound<'py, PyAny>, name: &str, _transpose: bool) -> PyResult<Self> {
        Err(wrong_type(format!(
            "`{name}` is in the memory of a GPU, expected host memory: the factor has {}",
            T::NAME
        )))
    }

    fn ndim(&self) -> usize {
        match *self {}
    }

    fn operand(&self, _py: Python<'py>) -> PyResult<Operand<'_, T>> {
        match *self {}
    }

    fn solved(
        &self,
        _b: &Bound<'py, PyAny>,
        _solve: impl FnOnce(OperandMut<'_, T>) -> Result<(), Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        match *self {}
    }

    fn returned(&self, _x: Mat<T>, _b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match *self {}
    }
}
