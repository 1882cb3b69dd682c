//! The class `CholeskyBatch`: construction and attributes.
//!
//! | file | contents |
//! |---|---|
//! | `choosing`, `modifying`, `rows`, `solving` | its methods |
//! | `shared` | a lock for its threads |
//! | `outcome` | the classes `BatchStatus` and `BatchOutcome` |
//! | `stacks` | arrays of NumPy as batches |
//! | `broadcasting` | `cholesky_update` with leading dimensions |

pub mod broadcasting;
mod choosing;
mod modifying;
pub mod outcome;
mod rows;
mod shared;
mod solving;
#[allow(unsafe_code, reason = "views of memory that NumPy owns")]
mod stacks;

use self::outcome::numbers;
use self::shared::Shared;
use self::stacks::{Accepted, Stack, either};
use crate::argument::{self, Argument};
use crate::arrays::{Array, Either};
use crate::errors::{exception, exception_of, wrong_type};
use crate::indices::{Counted, index_of};
use crate::numbers::Real;
use crate::threads::without_gil;
use cholupdate::{CholeskyBatch as Batch, Cpu};
use numpy::PyArray1;
use pyo3::prelude::*;

/// Cholesky factors of many small matrices, modified side by side: A = L Lᵀ for each.
///
/// For matrices of up to some hundred rows, one call on a batch takes a fraction of the time of a loop over `Cholesky`, and several
/// threads share it. Accuracy and the rules of failure are those of `Cholesky`, matrix by matrix: one that cannot be modified stays
/// as it was, the outcome names it, and the others are modified. The result of a matrix does not depend on the others or on the
/// number of threads, bit for bit.
///
/// Parameters
/// ----------
/// a : array_like, shape (count, n, n)
///     The matrices. Only lower triangles are read. The factors have its dtype, float32 or float64; integers become float64. A
///     matrix that is not positive definite, or not finite, has no factor: it is in `missing`, and fails in every call until
///     `replace`.
/// orders : array_like of int, shape (count,), optional
///     The order of each matrix, of which the leading rows and columns are read. By default n.
/// threads : int, optional
///     The maximum number of threads. By default, and with -1, the number of processors.
///
/// Raises
/// ------
/// ValueError, TypeError, IndexError
///     An argument is invalid. The message names it.
///
/// Notes
/// -----
/// The GIL is released during a call. Any number of threads may read a batch at the same time. A call that changes it raises
/// `RuntimeError` while another thread uses it, and so does any call while another thread changes it. Arguments are read during the
/// call: no other thread may write to them meanwhile. Arrays with negative strides, of lists, integers or another byte order are
/// copied. Batches are in host memory: an array in the memory of a GPU raises `TypeError`.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import cholupdate as cu
/// >>> a = np.array([[[4.0, 2.0], [2.0, 5.0]], [[9.0, 3.0], [3.0, 2.0]]])
/// >>> batch = cu.CholeskyBatch(a)
/// >>> v = np.array([[1.0, 2.0], [0.0, 1.5]])
/// >>> outcome = batch.update(v)                       # A + v vᵀ, for each
/// >>> outcome = batch.downdate(v)                     # A again
/// >>> outcome = batch.downdate(v)
/// >>> outcome.failed                                  # as it was; the other is downdated
/// array([1])
/// >>> batch.log_det().round(3)                        # log 3 and log 9
/// array([1.099, 2.197])
#[pyclass(frozen, weakref, module = "cholupdate")]
pub struct CholeskyBatch {
    kept: Kept,
}

/// The batch, in either precision.
enum Kept {
    Single(Shared<f32>),
    Double(Shared<f64>),
}

/// Evaluates the same expression in either precision.
macro_rules! with_batch {
    ($batch:expr, $shared:ident => $body:expr) => {
        match &$batch.kept {
            crate::batch::Kept::Single($shared) => $body,
            crate::batch::Kept::Double($shared) => $body,
        }
    };
}
use with_batch;

/// The number of a matrix. Negative ones count from the end.
fn number(object: &Bound<'_, PyAny>, name: &str, count: usize) -> PyResult<usize> {
    index_of(object, name, (count, Counted::Matrices))
}

fn engine(threads: &Argument<'_>) -> PyResult<Cpu> {
    Ok(threads.threads()?.map_or_else(Cpu::default, Cpu::threads))
}

/// The orders of all matrices.
fn orders(object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let entries = object.try_iter().map_err(|_| {
        let kind = argument::kind(object);
        wrong_type(format!("`orders` must be integers, one for each matrix, not {kind}"))
    })?;
    entries.map(|entry| argument::count(&entry?, "orders")).collect()
}

#[pymethods]
impl CholeskyBatch {
    #[new]
    #[pyo3(
        signature = (a, *, orders=None, threads=Argument::NONE),
        text_signature = "(a, *, orders=None, threads=None)"
    )]
    fn new<'py>(
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        orders: Option<&Bound<'py, PyAny>>,
        threads: Argument<'py>,
    ) -> PyResult<Self> {
        fn made<'py, T: Real>(
            py: Python<'py>,
            a: Array<'py, T>,
            orders: Option<&[usize]>,
            engine: Cpu,
        ) -> PyResult<Shared<T>> {
            let a = Stack::of(a, "a", Accepted::Matrices)?;
            let view = a.view();
            let batch = without_gil(py, || match orders {
                Some(orders) => Batch::with_orders(view, orders, engine),
                None => Batch::new_in(view, engine),
            });
            batch.map(Shared::new).map_err(|error| exception(py, error))
        }
        let (engine, orders) = (engine(&threads)?, orders.map(self::orders).transpose()?);
        let kept = match either(a, "a")? {
            Either::Single(a) => Kept::Single(made(py, a, orders.as_deref(), engine)?),
            Either::Double(a) => Kept::Double(made(py, a, orders.as_deref(), engine)?),
        };
        Ok(Self { kept })
    }

    /// Makes a `CholeskyBatch` from known factors.
    ///
    /// Parameters
    /// ----------
    /// l : array_like, shape (count, n, n)
    ///     L for each matrix, lower triangular. The other triangles are not read. As for `Cholesky.from_factor`, columns with a
    ///     negative diagonal entry are negated, and zeros on the diagonal are accepted. A matrix whose L is not finite has no factor.
    /// threads : int, optional
    ///     As for `CholeskyBatch`.
    ///
    /// Returns
    /// -------
    /// CholeskyBatch
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch.from_factors([[[2.0, 0.0], [1.0, 2.0]]])
    /// >>> batch.solve([[8.0, 12.0]]).round(12)
    /// array([[1., 2.]])
    #[staticmethod]
    #[pyo3(signature = (l, *, threads=Argument::NONE), text_signature = "(l, *, threads=None)")]
    fn from_factors<'py>(py: Python<'py>, l: &Bound<'py, PyAny>, threads: Argument<'py>) -> PyResult<Self> {
        fn made<'py, T: Real>(py: Python<'py>, l: Array<'py, T>, engine: Cpu) -> PyResult<Shared<T>> {
            let l = Stack::of(l, "l", Accepted::Matrices)?;
            let view = l.view();
            let batch = without_gil(py, || Batch::from_factors_in(view, engine));
            batch.map(Shared::new).map_err(|error| exception(py, error))
        }
        let engine = engine(&threads)?;
        let kept = match either(l, "l")? {
            Either::Single(l) => Kept::Single(made(py, l, engine)?),
            Either::Double(l) => Kept::Double(made(py, l, engine)?),
        };
        Ok(Self { kept })
    }

    /// The numbers of the matrices that have no factor, in order.
    #[getter]
    fn missing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<isize>>> {
        with_batch!(self, shared => Ok(numbers(py, shared.reader(py)?.missing().into_iter())))
    }

    /// The reason why a matrix has no factor.
    ///
    /// Parameters
    /// ----------
    /// matrix : int
    ///     Its number. Negative ones count from the end.
    ///
    /// Returns
    /// -------
    /// Exception or None
    ///     None if it has one.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> cu.CholeskyBatch([[[1.0]], [[-4.0]]]).status(1)
    /// NotPositiveDefiniteError('matrix 1: not positive definite: the squared pivot of column 0 is not positive')
    fn status(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>) -> PyResult<Option<PyErr>> {
        with_batch!(self, shared => {
            let batch = shared.reader(py)?;
            let matrix = number(matrix, "matrix", batch.count())?;
            Ok(batch.status(matrix).err().map(|error| exception_of(py, (matrix, error))))
        })
    }

    /// n, the largest order for which there is room: the number of rows of V and of right-hand sides.
    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<usize> {
        with_batch!(self, shared => Ok(shared.reader(py)?.order()))
    }

    /// The dtype of the factors, float32 or float64.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, numpy::PyArrayDescr> {
        match &self.kept {
            Kept::Single(_) => numpy::dtype::<f32>(py),
            Kept::Double(_) => numpy::dtype::<f64>(py),
        }
    }

    /// The number of matrices.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        with_batch!(self, shared => Ok(shared.reader(py)?.count()))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let dtype = match &self.kept {
            Kept::Single(_) => f32::NAME,
            Kept::Double(_) => f64::NAME,
        };
        let extents =
            with_batch!(self, shared => shared.reader(py).map(|batch| (batch.count(), batch.order())));
        match extents {
            Ok((count, order)) => {
                format!("<cholupdate.CholeskyBatch of {count} matrices of order {order}, {dtype}>")
            }
            Err(_) => format!("<cholupdate.CholeskyBatch (in use), {dtype}>"),
        }
    }
}
