//! Checks, and the derivatives of a modification with all that they work with.

use super::modification::{Given, Memory};
use super::tangent::{CotangentsMut, Modified, Tangents};
use crate::check::{extent, room};
use crate::cpu::{Cpu, InPlace};
use crate::error::Error;
use crate::real::Real;
use cholupdate_kernels::gradient::tile::TILE;
use faer::{MatMut, MatRef};

/// As [`modify_vjp_into`](super::modify_vjp_into).
pub(super) fn pull<T: Real + InPlace>(
    of: &Modified<'_, T>,
    cotangent: MatRef<'_, T>,
    to: CotangentsMut<'_, T>,
    engine: &Cpu,
    memory: Memory<'_, T>,
) -> Result<(), Error> {
    check(of)?;
    let (n, k) = of.v.shape();
    square("cotangent", n, cotangent)?;
    square("to.l", n, to.l.as_ref())?;
    extent("to.v", "rows", n, to.v.nrows())?;
    extent("to.v", "columns", k, to.v.ncols())?;
    extent("to.weights", "entries", k, to.weights.len())?;
    Given { of, engine }.pull(cotangent, to, memory)
}

/// As [`modify_jvp_into`](super::modify_jvp_into).
pub(super) fn push<T: Real + InPlace>(
    of: &Modified<'_, T>,
    along: &Tangents<'_, T>,
    to: MatMut<'_, T>,
    engine: &Cpu,
    memory: Memory<'_, T>,
) -> Result<(), Error> {
    check(of)?;
    check_tangents(of, along)?;
    square("to", of.v.nrows(), to.as_ref())?;
    Given { of, engine }.push(along, to, memory)
}

/// Checks L, L', V and w.
pub(super) fn check<T: Real + InPlace>(of: &Modified<'_, T>) -> Result<(), Error> {
    let Modified { l, new, v, weights } = *of;
    let n = l.nrows();
    square("l", n, l)?;
    square("l_new", n, new)?;
    weights.check(n, v.shape())?;
    if n > 0 {
        // What V is copied to, its cotangent, and the sums of a group of rows.
        room::<T>("v", v.ncols(), (8 * n.max(TILE), 0))?;
    }
    for column in 0..n {
        let (old, pivot) = (l[(column, column)], new[(column, column)]);
        for (argument, x) in [("l", old), ("l_new", pivot)] {
            if !x.is_finite() {
                return Err(Error::NonFinite { argument, row: column, column });
            }
        }
        if old < T::ZERO {
            return Err(Error::OutOfRange { argument: "l", rule: "of positive pivots" });
        }
        if !(pivot > T::ZERO) {
            return Err(Error::NotPositiveDefinite { column });
        }
    }
    Ok(())
}

/// Checks the tangents of L, V and w.
pub(super) fn check_tangents<T: Real>(of: &Modified<'_, T>, along: &Tangents<'_, T>) -> Result<(), Error> {
    let (n, k) = of.v.shape();
    square("tangents.l", n, along.l)?;
    extent("tangents.v", "rows", n, along.v.nrows())?;
    extent("tangents.v", "columns", k, along.v.ncols())?;
    along.weights.map_or(Ok(()), |weights| extent("tangents.weights", "entries", k, weights.len()))
}

/// Checks that a matrix is n × n.
pub(super) fn square<T>(argument: &'static str, n: usize, a: MatRef<'_, T>) -> Result<(), Error> {
    extent(argument, "rows", n, a.nrows())?;
    extent(argument, "columns", n, a.ncols())
}
