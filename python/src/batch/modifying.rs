//! Rank-k modifications of the class `CholeskyBatch`.

use super::begin::Place;
use super::gpu_stacks::GpuStack;
use super::outcome::BatchOutcome;
use super::stacks::{Accepted, Given, are_of_each, in_host, is_there};
use super::stored::Stored;
use super::{CholeskyBatch, Shared, with_batch};
use crate::arrays::Array;
use crate::errors::{exception, in_use, wrong_type, wrong_value};
use crate::numbers::Real;
use crate::threads::without_gil;
use cholupdate::cuda::WeightsOperand;
use cholupdate::{BatchWeights, Weights};
use numpy::prelude::*;
use numpy::{PyArrayDyn, PyUntypedArray};
use pyo3::prelude::*;

/// Weights that were passed.
pub struct Weighted<T> {
    weights: Vec<T>,
    /// Whether there is one for each column of each matrix.
    of_each: bool,
}

impl<T: Real> Weighted<T> {
    /// Weights of `rank` columns for a batch of `count` matrices.
    pub fn new(array: &Array<'_, T>, (count, rank): (usize, usize)) -> PyResult<Self> {
        let of_each = are_of_each(array.shape(), (count, rank))?;
        Ok(Self { weights: entries(array)?, of_each })
    }

    pub fn view(&self) -> BatchWeights<'_, T> {
        match self.of_each {
            true => BatchWeights::OfEach(&self.weights),
            false => BatchWeights::Shared(Weights::Each(&self.weights)),
        }
    }
}

/// A copy of the entries, in the order of their indices.
fn entries<T: Real>(array: &Array<'_, T>) -> PyResult<Vec<T>> {
    let flat = array.call_method0("ravel")?.cast_into::<PyArrayDyn<T>>()?;
    let flat = flat.try_readonly().map_err(|_| in_use("`weights`"))?;
    Ok(flat.as_slice()?.to_vec())
}

/// Truth values for all matrices.
pub fn mask(object: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    if is_there(object, "where")? {
        return Err(wrong_type("`where` is in the memory of a GPU, expected host memory"));
    }
    let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
    let array = array.cast_into::<PyUntypedArray>()?;
    if array.dtype().kind() != b'b' {
        let found = array.dtype().getattr("name")?;
        return Err(wrong_type(format!("`where` has dtype {found}, expected bool")));
    }
    if array.ndim() != 1 {
        return Err(wrong_value(format!("`where` has {} dimensions, expected 1", array.ndim())));
    }
    array.call_method0("tolist")?.extract()
}

impl<T: Real> Shared<Stored<T>> {
    fn modified<'py>(
        &self,
        batch: &Bound<'py, CholeskyBatch>,
        v: &Bound<'py, PyAny>,
        weights: Weights<'_, T>,
    ) -> PyResult<Py<BatchOutcome>> {
        let v = Given::<T>::new(v, "v", Accepted::Vectors, batch.get().place)?;
        self.changed(batch, (&v, v.current_stream()), weights.into(), None)
    }

    fn weighted<'py>(
        &self,
        batch: &Bound<'py, CholeskyBatch>,
        (v, weights): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
        mask: Option<&[bool]>,
    ) -> PyResult<Py<BatchOutcome>> {
        let place = batch.get().place;
        let v = Given::<T>::new(v, "v", Accepted::Vectors, place)?;
        let [count, _, rank] = v.shape();
        if let Place::Gpu(device) = place
            && is_there(weights, "weights")?
        {
            let weights = GpuStack::weights::<T>(weights, (count, rank))?;
            weights.check_device(batch.py(), device, "weights")?;
            let stream = v.current_stream().filter(|_| weights.current_stream().is_some());
            let weights = weights.view(batch.py(), "weights")?.into();
            return self.changed(batch, (&v, stream), weights, mask);
        }
        let weights = Weighted::new(&in_host::<T>(weights, "weights")?, (count, rank))?;
        self.changed(batch, (&v, v.current_stream()), weights.view().into(), mask)
    }

    /// `stream` is that on which V, and weights on a GPU, are used, if the call need not wait for the device.
    fn changed(
        &self,
        batch: &Bound<'_, CholeskyBatch>,
        (v, stream): (&Given<'_, T>, Option<u64>),
        weights: WeightsOperand<'_, T>,
        mask: Option<&[bool]>,
    ) -> PyResult<Py<BatchOutcome>> {
        let py = batch.py();
        let mut guard = self.writer(py)?;
        let (stored, v) = (&mut *guard, v.operand(py, "v")?);
        let done = without_gil(py, || {
            let done = stored.modify(v, weights, mask, stream.is_none())?;
            Ok((stored.count(), done))
        });
        let (count, done) = done.map_err(|error| exception(py, error))?;
        BatchOutcome::of((batch, count), done, stream)
    }
}

#[pymethods]
impl CholeskyBatch {
    /// A ← A + V Vᵀ, for each matrix.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (count, n, k) or (count, n)
    ///     V for each matrix, or its only column. An array of the dtype of the factors is read in place, with any strides that are
    ///     not negative; so is one in the memory of the GPU, if the batch is there. Integers are converted; another floating-point
    ///     dtype raises `TypeError`.
    ///
    /// Returns
    /// -------
    /// BatchOutcome
    ///     The matrices that failed, for example with a NaN in V, and for each matrix its smallest pivot ratio and the change of
    ///     log det A.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[4.0, 2.0], [2.0, 5.0]], [[1.0, 0.0], [0.0, 1.0]]])
    /// >>> outcome = batch.update([[1.0, 2.0], [0.0, 1.0]])
    /// >>> outcome.failed
    /// array([], dtype=int64)
    /// >>> (batch.factors() @ batch.factors().transpose(0, 2, 1)).round(12)
    /// array([[[5., 4.],
    ///         [4., 9.]],
    /// <BLANKLINE>
    ///        [[1., 0.],
    ///         [0., 2.]]])
    fn update<'py>(slf: &Bound<'py, Self>, v: &Bound<'py, PyAny>) -> PyResult<Py<BatchOutcome>> {
        with_batch!(slf.get(), shared => shared.modified(slf, v, Weights::Plus))
    }

    /// A ← A − V Vᵀ, for each matrix. One for which that would not be positive definite stays as it was.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (count, n, k) or (count, n)
    ///     As for `update`.
    ///
    /// Returns
    /// -------
    /// BatchOutcome
    fn downdate<'py>(slf: &Bound<'py, Self>, v: &Bound<'py, PyAny>) -> PyResult<Py<BatchOutcome>> {
        with_batch!(slf.get(), shared => shared.modified(slf, v, Weights::Minus))
    }

    /// A ← A + V diag(w) Vᵀ, for each matrix, with any mix of signs.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (count, n, k) or (count, n)
    ///     As for `update`. Columns with the weight 0 may be anything.
    /// weights : array_like, shape (k,) or (count, k)
    ///     w, the same for all matrices or one for each. On a GPU they are read in place as V is; the call waits for the GPU if they
    ///     are in host memory and the batch is there.
    /// where : array_like of bool, shape (count,), optional
    ///     The matrices to modify. The others stay as they are, and do not fail.
    ///
    /// Returns
    /// -------
    /// BatchOutcome
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[4.0]], [[9.0]]])
    /// >>> outcome = batch.modify([[1.0], [1.0]], [[5.0], [-5.0]])
    /// >>> batch.factors().ravel()
    /// array([3., 2.])
    /// >>> outcome = batch.modify([[1.0], [1.0]], [7.0], where=[True, False])
    /// >>> batch.factors().ravel()
    /// array([4., 2.])
    #[pyo3(signature = (v, weights, *, r#where=None), text_signature = "($self, v, weights, *, where=None)")]
    fn modify<'py>(
        slf: &Bound<'py, Self>,
        v: &Bound<'py, PyAny>,
        weights: &Bound<'py, PyAny>,
        r#where: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<BatchOutcome>> {
        let mask = r#where.map(mask).transpose()?;
        with_batch!(slf.get(), shared => shared.weighted(slf, (v, weights), mask.as_deref()))
    }
}
