//! Calls with addresses of memory of a GPU, for the operators of PyTorch. They enqueue work on a stream, and do not wait.

use crate::addresses::{Matrices, Modified, Rows, given, stack, unknown, vectors};
use crate::errors::exception;
use crate::foreign::gradient::{Along, To};
use crate::foreign::gradient_on_gpu::{GradientOnGpu, scratch_bytes};
use crate::foreign::on_gpu::ModifyOnGpu;
use crate::numbers::Number;
use crate::threads::without_gil;
use cholupdate::cuda::{Device, Signs, StreamModification};
use cholupdate::{Error, RealScalar};
use pyo3::prelude::*;

/// 1 or −1 if all weights are that, otherwise 0.
fn signs(sign: i32) -> Signs {
    match sign {
        1.. => Signs::Plus,
        0 => Signs::Any,
        _ => Signs::Minus,
    }
}

/// The bytes of working memory of a call of `modify_on_gpu`.
#[pyfunction]
pub fn scratch_on_gpu(
    py: Python<'_>,
    dtype: &str,
    shape: (usize, usize, usize),
    device: usize,
    sign: i32,
) -> PyResult<usize> {
    fn bytes<T: RealScalar>(
        (count, n, k): (usize, usize, usize),
        device: usize,
        signs: Signs,
    ) -> Result<usize, Error> {
        let device = Device::kept(device)?;
        Ok(StreamModification::<T>::new(&device, [count, n, k], signs)?.scratch_bytes())
    }
    let bytes = match dtype {
        <f32 as Number>::NAME => bytes::<f32>,
        <f64 as Number>::NAME => bytes::<f64>,
        _ => return Err(unknown(dtype)),
    };
    without_gil(py, || bytes(shape, device, signs(sign))).map_err(|error| exception(py, error))
}

/// Enqueues the computation of L' of each matrix. `shape` is (matrices, n, k). L and `to` are lower triangular, without gaps, L by columns
/// or, where `StreamModification::takes_rows`, by rows, and `to` by columns; `ok` has one byte for each matrix.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what describes the tensors of a call")]
pub fn modify_on_gpu(
    py: Python<'_>,
    dtype: &str,
    shape: (usize, usize, usize),
    device: usize,
    stream: u64,
    sign: i32,
    l: Matrices,
    v: Matrices,
    weights: Rows,
    to: usize,
    ok: usize,
    scratch: u64,
    nan: bool,
) -> PyResult<()> {
    let call = Enqueued { shape, device, stream, signs: signs(sign), l, v, weights, to, ok, scratch, nan };
    let enqueued = match dtype {
        <f32 as Number>::NAME => without_gil(py, || call.enqueue::<f32>()),
        <f64 as Number>::NAME => without_gil(py, || call.enqueue::<f64>()),
        _ => return Err(unknown(dtype)),
    };
    enqueued.map_err(|error| exception(py, error))
}

/// The arguments of such a call.
struct Enqueued {
    shape: (usize, usize, usize),
    device: usize,
    stream: u64,
    signs: Signs,
    l: Matrices,
    v: Matrices,
    weights: Rows,
    to: usize,
    ok: usize,
    scratch: u64,
    nan: bool,
}

impl Enqueued {
    fn enqueue<T: RealScalar>(&self) -> Result<(), Error> {
        let (count, n, k) = self.shape;
        let modify = ModifyOnGpu::<T> {
            device: &Device::kept(self.device)?,
            shape: [count, n, k],
            signs: self.signs,
            l: stack(self.l, false),
            v: stack(self.v, false),
            weights: vectors(self.weights),
            to: self.to as *mut T,
            to_by_rows: false,
            ok: self.ok as *mut u8,
            nan: self.nan,
        };
        // SAFETY: `cholupdate.torch` describes tensors that are there until the work on the stream is done, by the rules of PyTorch's
        // memory, and a stream of the device.
        unsafe { modify.enqueue(self.stream, |_| Ok(self.scratch)) }
    }
}

/// The bytes of working memory of `modify_jvp_on_gpu` if `forward`, or else of `modify_vjp_on_gpu`.
#[pyfunction]
pub fn gradient_scratch_on_gpu(
    dtype: &str,
    shape: (usize, usize, usize),
    sign: i32,
    forward: bool,
) -> PyResult<usize> {
    match dtype {
        <f32 as Number>::NAME => Ok(scratch_bytes::<f32>(shape, signs(sign), forward)),
        <f64 as Number>::NAME => Ok(scratch_bytes::<f64>(shape, signs(sign), forward)),
        _ => Err(unknown(dtype)),
    }
}

/// The device, the stream, what is known about the weights, and working memory.
type Queue = (usize, u64, i32, u64);

/// Enqueues the computation of the cotangents `to` of L, V and w from that of L', for each matrix. Weights that are written are packed.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what describes the tensors of a call")]
pub fn modify_vjp_on_gpu(
    py: Python<'_>,
    dtype: &str,
    shape: (usize, usize, usize),
    queue: Queue,
    given: Modified,
    cotangent: Matrices,
    to: (Matrices, Matrices, Rows),
    upper: bool,
) -> PyResult<()> {
    let what = (shape, given, upper);
    let enqueued = match dtype {
        <f32 as Number>::NAME => without_gil(py, || pull::<f32>(queue, what, cotangent, to)),
        <f64 as Number>::NAME => without_gil(py, || pull::<f64>(queue, what, cotangent, to)),
        _ => return Err(unknown(dtype)),
    };
    enqueued.map_err(|error| exception(py, error))
}

/// Enqueues the computation of the tangent `to` of L' from those of L, V and w, for each matrix.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what describes the tensors of a call")]
pub fn modify_jvp_on_gpu(
    py: Python<'_>,
    dtype: &str,
    shape: (usize, usize, usize),
    queue: Queue,
    given: Modified,
    tangents: (Matrices, Matrices, Rows),
    to: Matrices,
    upper: bool,
) -> PyResult<()> {
    let what = (shape, given, upper);
    let enqueued = match dtype {
        <f32 as Number>::NAME => without_gil(py, || push::<f32>(queue, what, tangents, to)),
        <f64 as Number>::NAME => without_gil(py, || push::<f64>(queue, what, tangents, to)),
        _ => return Err(unknown(dtype)),
    };
    enqueued.map_err(|error| exception(py, error))
}

type What = ((usize, usize, usize), Modified, bool);

fn pull<T: RealScalar>(
    (device, stream, sign, scratch): Queue,
    what: What,
    cotangent: Matrices,
    (l, v, weights): (Matrices, Matrices, Rows),
) -> Result<(), Error> {
    let device = Device::kept(device)?;
    let on = GradientOnGpu { device: &device, stream, signs: signs(sign) };
    let to = To { l: stack(l, what.2), v: stack(v, false), weights: vectors(weights) };
    // SAFETY: `cholupdate.torch` gives tensors that are there until the work on the stream is done, as PyTorch's memory of a stream is, a
    // stream of the device, and working memory of `gradient_scratch_on_gpu` bytes.
    unsafe { on.pull::<T, Error>(&given(what), stack(cotangent, what.2), to, |_| Ok(scratch)) }
}

fn push<T: RealScalar>(
    (device, stream, sign, scratch): Queue,
    what: What,
    (l, v, weights): (Matrices, Matrices, Rows),
    to: Matrices,
) -> Result<(), Error> {
    let device = Device::kept(device)?;
    let on = GradientOnGpu { device: &device, stream, signs: signs(sign) };
    let along = Along { l: stack(l, what.2), v: stack(v, false), weights: vectors(weights) };
    // SAFETY: `cholupdate.torch` gives tensors that are there until the work on the stream is done, as PyTorch's memory of a stream is, a
    // stream of the device, and working memory of `gradient_scratch_on_gpu` bytes.
    unsafe { on.push::<T, Error>(&given(what), along, stack(to, what.2), |_| Ok(scratch)) }
}
