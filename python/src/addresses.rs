//! Calls with addresses of memory, for the operators of PyTorch: `cholupdate.torch` describes its tensors by them.

use crate::errors::wrong_type;
use crate::foreign::gradient::{Along, Differentiable, Given, To};
use crate::foreign::modify::{Alone, Modify, OnBreakdown};
use crate::foreign::stack::{Stack, Vectors};
use crate::numbers::Number;
use crate::threads::without_gil;
use cholupdate::faer::{c32, c64};
use pyo3::prelude::*;

/// The address of the first matrix, and the strides from matrix to matrix, row to row, and column to column, in entries.
pub type Matrices = (usize, isize, isize, isize);

/// The address of the first vector, and the stride from vector to vector. The entries of a vector are contiguous.
pub type Rows = (usize, usize);

pub fn stack<T>((at, each, row, column): Matrices, upper: bool) -> Stack<T> {
    Stack { at: at as *mut T, each, row, column }.transposed_if(upper)
}

pub fn vectors<T>((at, each): Rows) -> Vectors<T> {
    Vectors { at: at as *mut T, each }
}

pub fn unknown(dtype: &str) -> PyErr {
    wrong_type(format!("numbers of type {dtype}"))
}

/// L' of each matrix. `shape` is (matrices, n, k), `to` row-major, `ok` one byte for each matrix.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what describes the tensors of a call")]
pub fn modify_at(
    py: Python<'_>,
    dtype: &str,
    shape: (usize, usize, usize),
    l: Matrices,
    v: Matrices,
    weights: Rows,
    to: usize,
    ok: usize,
    upper: bool,
    nan: bool,
) -> PyResult<()> {
    let what = ((shape, upper), (l, v, weights), (to, ok), nan);
    match dtype {
        f32::NAME => modify::<f32>(py, what),
        f64::NAME => modify::<f64>(py, what),
        c32::NAME => modify::<c32>(py, what),
        c64::NAME => modify::<c64>(py, what),
        _ => return Err(unknown(dtype)),
    }
    Ok(())
}

/// (matrices, n, k), and whether L is upper triangular.
type Shape = ((usize, usize, usize), bool);

/// A call: its shape, the operands, where the results are, and whether NaN is written in place of a missing factor.
type Change = (Shape, (Matrices, Matrices, Rows), (usize, usize), bool);

fn modify<T: Alone>(py: Python<'_>, (((count, n, k), upper), (l, v, weights), (to, ok), nan): Change) {
    without_gil(py, || {
        let modify = Modify::<T> {
            count,
            extents: (n, k),
            l: stack(l, upper),
            v: stack(v, false),
            weights: vectors(weights),
            to: to as *mut T,
            ok: ok as *mut u8,
            upper,
            on_breakdown: if nan { OnBreakdown::Nan } else { OnBreakdown::Keep },
        };
        // SAFETY: `cholupdate.torch` describes tensors that it holds, and results that it has made.
        unsafe { modify.run() };
    });
}

/// L, L', V, w and whether L' exists.
type Modified = (Matrices, Matrices, Matrices, Rows, Rows);

/// The cotangents `to` of L, V and w from that of L', for each matrix.
#[pyfunction]
pub fn modify_vjp_at(
    py: Python<'_>,
    dtype: &str,
    shape: (usize, usize, usize),
    given: Modified,
    cotangent: Matrices,
    to: (Matrices, Matrices, Rows),
    upper: bool,
) -> PyResult<()> {
    match dtype {
        f32::NAME => pull::<f32>(py, (shape, given, upper), cotangent, to),
        f64::NAME => pull::<f64>(py, (shape, given, upper), cotangent, to),
        _ => return Err(unknown(dtype)),
    }
    Ok(())
}

/// The tangent `to` of L' from those of L, V and w, for each matrix.
#[pyfunction]
pub fn modify_jvp_at(
    py: Python<'_>,
    dtype: &str,
    shape: (usize, usize, usize),
    given: Modified,
    tangents: (Matrices, Matrices, Rows),
    to: Matrices,
    upper: bool,
) -> PyResult<()> {
    match dtype {
        f32::NAME => push::<f32>(py, (shape, given, upper), tangents, to),
        f64::NAME => push::<f64>(py, (shape, given, upper), tangents, to),
        _ => return Err(unknown(dtype)),
    }
    Ok(())
}

fn given<T>(
    ((count, n, k), (l, new, v, weights, ok), upper): ((usize, usize, usize), Modified, bool),
) -> Given<T> {
    Given {
        count,
        extents: (n, k),
        l: stack(l, upper),
        new: stack(new, upper),
        v: stack(v, false),
        weights: vectors(weights),
        ok: vectors(ok),
    }
}

fn pull<T: Differentiable>(
    py: Python<'_>,
    what: ((usize, usize, usize), Modified, bool),
    cotangent: Matrices,
    (l, v, weights): (Matrices, Matrices, Rows),
) {
    without_gil(py, || {
        let to = To { l: stack(l, what.2), v: stack(v, false), weights: vectors(weights) };
        // SAFETY: as above.
        unsafe { given::<T>(what).pull(stack(cotangent, what.2), to) };
    });
}

fn push<T: Differentiable>(
    py: Python<'_>,
    what: ((usize, usize, usize), Modified, bool),
    (l, v, weights): (Matrices, Matrices, Rows),
    to: Matrices,
) {
    without_gil(py, || {
        let along = Along { l: stack(l, what.2), v: stack(v, false), weights: vectors(weights) };
        // SAFETY: as above.
        unsafe { given::<T>(what).push(along, stack(to, what.2)) };
    });
}
