//! The class `CholeskyBatch`: construction and attributes.
//!
//! | file | contents |
//! |---|---|
//! | `choosing`, `modifying`, `rows`, `solving` | its methods |
//! | `begin` | where a batch is, and how it begins |
//! | `stored`, `stored_rows` | a batch of real numbers in either memory |
//! | `on_host`, `on_host_calls` | a batch in host memory, and the calls on one of complex numbers |
//! | `on_gpu` | a batch on a GPU, whose readers take turns |
//! | `shared` | a lock for its threads |
//! | `outcome`, `gpu_numbers` | the classes `BatchStatus` and `BatchOutcome`; their numbers on a GPU |
//! | `stacks`, `gpu_stacks` | arrays of NumPy, and arrays on a GPU, as batches |
//! | `broadcasting`, `led`, `gpu_broadcasting` | `cholesky_update` with leading dimensions, in host memory and on a GPU |

mod begin;
pub mod broadcasting;
mod choosing;
pub mod gpu_broadcasting;
mod gpu_numbers;
#[allow(unsafe_code, reason = "views of memory that other libraries own")]
mod gpu_stacks;
mod led;
mod modifying;
#[allow(unsafe_code, reason = "a batch that is dropped without the GIL")]
mod on_gpu;
mod on_host;
mod on_host_calls;
pub mod outcome;
mod rows;
mod shared;
mod solving;
#[allow(unsafe_code, reason = "views of memory that NumPy owns")]
mod stacks;
mod stored;
mod stored_rows;

use self::begin::{Begin, Of, Place};
use self::on_host::OnHost;
use self::outcome::numbers;
use self::shared::Shared;
use self::stored::Stored;
use crate::argument::Argument;
use crate::errors::{exception, exception_of};
use crate::indices::{Counted, index_of};
use crate::numbers::Number;
use crate::threads::without_gil;
use cholupdate::EngineKind;
use cholupdate::faer::{c32, c64};
use numpy::PyArray1;
use pyo3::prelude::*;

/// Cholesky factors of many small matrices, modified side by side: A = L Lᵀ for each. If they are complex, every transpose here and in
/// the methods is a conjugate transpose: A = L Lᴴ, and L has a real positive diagonal. Weights are real.
///
/// For matrices of up to some hundred rows, one call on a batch takes a fraction of the time of a loop over `Cholesky`, and several
/// threads share it. Accuracy and the rules of failure are those of `Cholesky`, matrix by matrix: one that cannot be modified stays
/// as it was, the outcome names it, and the others are modified. The result of a matrix does not depend on the others or on the
/// number of threads, bit for bit.
///
/// Parameters
/// ----------
/// a : array_like, shape (count, n, n)
///     The matrices. Only lower triangles are read, and no imaginary parts of the diagonals. The factors have its dtype, float32 or
///     float64 or, in host memory, complex64 or complex128; integers become float64. A matrix that is not positive definite, or not finite, has no factor: it is in `missing`, and fails in every call until
///     `replace`.
/// orders : array_like of int, shape (count,), optional
///     The order of each matrix, of which the leading rows and columns are read. By default n.
/// engine : {"cpu", "cuda"}, default "cpu"
///     Where the factors are stored: in host memory ("cpu"), or in the memory of an NVIDIA GPU ("cuda"), for orders up to 4096.
///     ``"cuda:1"`` selects the second GPU.
/// threads : int, optional
///     The maximum number of threads of the engine "cpu". By default, and with -1, the number of processors.
///
/// Raises
/// ------
/// ValueError, TypeError, IndexError
///     An argument is invalid. The message names it.
/// DeviceError
///     The engine finds no GPU, the GPU fails, or an array is on another one.
///
/// Notes
/// -----
/// The GIL is released during a call. Any number of threads may read a batch at the same time. A call that changes it raises
/// `RuntimeError` while another thread uses it, and so does any call while another thread changes it. Arguments are read during the
/// call: no other thread may write to them meanwhile. Arrays with negative strides, of lists, integers or another byte order are
/// copied.
///
/// A batch in host memory refuses arrays in the memory of a GPU by `TypeError`. With the engine "cuda", matrices, V and right-hand
/// sides are in host memory, from where a call copies them, or in the memory of the same GPU (any object with ``__dlpack__``), where they
/// are read in place. An array of PyTorch or CuPy there is used on the current stream of its library: `update`, `downdate`, `modify` with
/// weights on the GPU, `append` and `solve_in_place`, without `where`, do not wait for the GPU, their work comes after what is on the
/// stream, and later work on the stream comes after it. All other calls wait. As with the functions of these libraries, other streams must
/// not write to the array meanwhile, and the caller keeps an array that is used on another stream than that of its allocation until the
/// work is done, or has its library do so (``torch.Tensor.record_stream``).
///
/// A CUDA graph can capture the calls that do not wait, after one such call before. Before any call whose arrays are not on the stream of
/// the replay, wait for that stream, also to read factors and outcomes. After `reserve`, or when the batch is gone, do not replay the
/// graph.
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
    place: Place,
    /// The function that converts to arrays of the library of A, if A was in the memory of a GPU and the batch is.
    library: Option<Py<PyAny>>,
}

/// The batch, of its numbers.
enum Kept {
    Single(Shared<Stored<f32>>),
    Double(Shared<Stored<f64>>),
    ComplexSingle(Shared<OnHost<c32>>),
    ComplexDouble(Shared<OnHost<c64>>),
}

/// Evaluates the same expression for all numbers.
macro_rules! with_batch {
    ($batch:expr, $shared:ident => $body:expr) => {
        match &$batch.kept {
            crate::batch::Kept::Single($shared) => $body,
            crate::batch::Kept::Double($shared) => $body,
            crate::batch::Kept::ComplexSingle($shared) => $body,
            crate::batch::Kept::ComplexDouble($shared) => $body,
        }
    };
}
use with_batch;

/// Makes another batch of the same numbers.
macro_rules! another {
    ($batch:expr, $shared:ident => $body:expr) => {
        match &$batch.kept {
            crate::batch::Kept::Single($shared) => crate::batch::Kept::Single(Shared::new($body)),
            crate::batch::Kept::Double($shared) => crate::batch::Kept::Double(Shared::new($body)),
            crate::batch::Kept::ComplexSingle($shared) => {
                crate::batch::Kept::ComplexSingle(Shared::new($body))
            }
            crate::batch::Kept::ComplexDouble($shared) => {
                crate::batch::Kept::ComplexDouble(Shared::new($body))
            }
        }
    };
}
use another;

/// The number of a matrix. Negative ones count from the end.
fn number(object: &Bound<'_, PyAny>, name: &str, count: usize) -> PyResult<usize> {
    index_of(object, name, (count, Counted::Matrices))
}

impl CholeskyBatch {
    /// Another batch at the same place, of which factors are returned in the same library.
    fn beside(&self, py: Python<'_>, kept: Kept) -> Self {
        let library = self.library.as_ref().map(|library| library.clone_ref(py));
        Self { kept, place: self.place, library }
    }

    /// The number of the GPU, if the batch is on one.
    fn ordinal(&self) -> usize {
        match self.place {
            Place::Host => 0,
            Place::Gpu(ordinal) => ordinal,
        }
    }
}

#[pymethods]
impl CholeskyBatch {
    #[new]
    #[pyo3(
        signature = (a, *, orders=None, engine=Argument::NONE, threads=Argument::NONE),
        text_signature = "(a, *, orders=None, engine='cpu', threads=None)"
    )]
    fn new<'py>(
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        orders: Option<&Bound<'py, PyAny>>,
        engine: Argument<'py>,
        threads: Argument<'py>,
    ) -> PyResult<Self> {
        let orders = orders.map(begin::orders).transpose()?;
        Begin::new(py, &engine, &threads)?.made(py, (a, "a"), Of::Matrices(orders.as_deref()))
    }

    /// Makes a `CholeskyBatch` from known factors.
    ///
    /// Parameters
    /// ----------
    /// l : array_like, shape (count, n, n)
    ///     L for each matrix, lower triangular. The other triangles are not read. As for `Cholesky.from_factor`, columns with a
    ///     negative diagonal entry are negated, those with a complex one turned, and zeros on the diagonal are accepted. A matrix whose L is not finite has no factor.
    /// engine, threads
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
    #[pyo3(
        signature = (l, *, engine=Argument::NONE, threads=Argument::NONE),
        text_signature = "(l, *, engine='cpu', threads=None)"
    )]
    fn from_factors<'py>(
        py: Python<'py>,
        l: &Bound<'py, PyAny>,
        engine: Argument<'py>,
        threads: Argument<'py>,
    ) -> PyResult<Self> {
        Begin::new(py, &engine, &threads)?.made(py, (l, "l"), Of::Factors)
    }

    /// The numbers of the matrices that have no factor, in order.
    #[getter]
    fn missing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<isize>>> {
        let missing = with_batch!(self, shared => shared.look(py, |stored| stored.missing()))?;
        Ok(numbers(py, missing.into_iter()))
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
            let guard = shared.reader(py)?;
            let stored = &*guard;
            let matrix = number(matrix, "matrix", stored.count())?;
            let reason = without_gil(py, || stored.reason(matrix)).map_err(|error| exception(py, error))?;
            Ok(reason.map(|error| exception_of(py, (matrix, error))))
        })
    }

    /// n, the largest order for which there is room: the number of rows of V and of right-hand sides.
    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<usize> {
        with_batch!(self, shared => Ok(shared.reader(py)?.order()))
    }

    /// The dtype of the factors: float32, float64, complex64 or complex128.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, numpy::PyArrayDescr> {
        match &self.kept {
            Kept::Single(_) => numpy::dtype::<f32>(py),
            Kept::Double(_) => numpy::dtype::<f64>(py),
            Kept::ComplexSingle(_) => numpy::dtype::<c32>(py),
            Kept::ComplexDouble(_) => numpy::dtype::<c64>(py),
        }
    }

    /// The name of the engine.
    #[getter]
    fn engine(&self) -> String {
        match self.place {
            Place::Host => EngineKind::Cpu,
            Place::Gpu(device) => EngineKind::Cuda { device },
        }
        .to_string()
    }

    /// The number of matrices.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        with_batch!(self, shared => Ok(shared.reader(py)?.count()))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let dtype = match &self.kept {
            Kept::Single(_) => f32::NAME,
            Kept::Double(_) => f64::NAME,
            Kept::ComplexSingle(_) => c32::NAME,
            Kept::ComplexDouble(_) => c64::NAME,
        };
        let engine = match self.place {
            Place::Host => String::new(),
            Place::Gpu(_) => format!(", engine '{}'", self.engine()),
        };
        let extents =
            with_batch!(self, shared => shared.reader(py).map(|batch| (batch.count(), batch.order())));
        match extents {
            Ok((count, order)) => {
                format!("<cholupdate.CholeskyBatch of {count} matrices of order {order}, {dtype}{engine}>")
            }
            Err(_) => format!("<cholupdate.CholeskyBatch (in use), {dtype}{engine}>"),
        }
    }
}
