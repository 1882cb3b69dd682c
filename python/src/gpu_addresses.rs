//! Calls with addresses of memory of a GPU, for the operators of PyTorch. They enqueue work on a stream, and do not wait.

use crate::addresses::{Matrices, Rows, stack, unknown, vectors};
use crate::errors::exception;
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

/// Enqueues the computation of L' of each matrix. `shape` is (matrices, n, k). L and `to` are lower triangular by columns, without gaps;
/// `ok` has one byte for each matrix.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what describes the tensors of a call")]
pub fn modify_on_gpu(
    py: Python<'_>,
    dtype: &str,
    shape: (usize, usize, usize),
    device: usize,
    stream: u64,
    sign: i32,
    l: Rows,
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
    l: Rows,
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
        let (l, each) = self.l;
        let modify = ModifyOnGpu::<T> {
            device: &Device::kept(self.device)?,
            shape: [count, n, k],
            signs: self.signs,
            l: stack((l, each.cast_signed(), 1, n.cast_signed()), false),
            v: stack(self.v, false),
            weights: vectors(self.weights),
            to: self.to as *mut T,
            ok: self.ok as *mut u8,
            nan: self.nan,
        };
        // SAFETY: `cholupdate.torch` describes tensors that are there until the work on the stream is done, by the rules of PyTorch's
        // memory, and a stream of the device.
        unsafe { modify.enqueue(self.stream, |_| Ok(self.scratch)) }
    }
}
