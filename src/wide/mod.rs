//! Repeats a modification that has broken down: the same reflections, on the host and in twice the precision.
//!
//! In working precision the last pivots have errors of about u times the condition number of L, with this method as with
//! LINPACK's. If almost nothing is left of A in a direction, or L is badly conditioned, a positive pivot² may be computed as
//! zero or less. The reflections in twice the precision, from the same L and V, decide the sign, and have an error of 2 u if A'
//! is positive definite.
//!
//! | file | holds |
//! |---|---|
//! | `given` | the modification |
//! | `certain` | refuses most modifications that are impossible, at the cost of some solves |
//! | `recurrence` | the reflections in twice the precision |
//! | `double` | the arithmetic |
//! | `number` | real and complex numbers of it, and vectors |
//!
//! A breakdown that has destroyed the factor (in place, without a safeguard) cannot be repeated, and remains a breakdown.

mod certain;
mod double;
mod given;
mod number;
pub(crate) mod recurrence;
#[cfg(test)]
mod tests;

pub(crate) use self::certain::Triangle;
#[cfg(feature = "distributed")]
pub(crate) use self::certain::indefinite;
pub(crate) use self::given::Given;
use crate::check::finite_lower;
use crate::element::Element;
use crate::error::{DeviceErrorKind, Error};
use crate::host::layout::copy_lower;
use crate::host::squares::row_norm;
use crate::operand::Operand;
use crate::report::Modification;
use crate::storage::Side;
use crate::sweep::weights::Weights;
use cholupdate_kernels::dense::Dense;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::{Accum, Conj, MatMut, MatRef, Par};

impl<T: Element> Given<T> {
    /// Copies V diag(w) Vᴴ to host memory.
    ///
    /// # Errors
    /// `Device`.
    pub fn new(v: &Operand<'_, T>, weights: Weights<'_, T::Part>) -> Result<Self, Error> {
        let v = v.on_host()?.into_owned();
        let weights = (0..v.ncols()).map(|r| weights.of(r)).collect();
        Ok(Self { v, weights, start: 0, scale: 1.0 })
    }
}

/// L in host memory; entries above the diagonal are not read.
struct Here<'a, T>(MatRef<'a, T>);

impl<T: Dense> Triangle<T> for Here<'_, T> {
    fn solve(&self, side: Side, rhs: MatMut<'_, T>) -> Result<(), Error> {
        match side {
            Side::L => T::solve_lower((self.0, Conj::No), rhs, Par::Seq),
            Side::Transpose => T::solve_upper((self.0.transpose(), Conj::Yes), rhs, Par::Seq),
        }
        Ok(())
    }

    fn multiply_transposed(&self, rhs: MatMut<'_, T>) -> Result<(), Error> {
        let (from, all) = (rhs.to_owned(), BlockStructure::Rectangular);
        let l = (self.0.transpose(), BlockStructure::TriangularUpper, Conj::Yes);
        let from = (from.as_ref(), all, Conj::No);
        T::triangular_matmul((rhs, all), Accum::Replace, l, from, T::ONE, Par::Seq);
        Ok(())
    }

    fn row_norm(&self) -> f64 {
        row_norm(self.0)
    }
}

/// Makes L in host memory, zero above the diagonal, the factor of the modified matrix, by the reflections alone. (n × n)
///
/// # Errors
/// `NotPositiveDefinite`; L is then half changed.
#[cfg(feature = "distributed")]
pub(crate) fn modify_in_memory<T: Element>(
    l: MatMut<'_, T>,
    given: &Given<T>,
) -> Result<Modification, Error> {
    recurrence::modify(l, given).map_err(Error::from)
}

/// Repeats a modification of L in host memory that broke down at `column`. Returns the new L, zero above the diagonal. (n × n,
/// by columns)
///
/// # Errors
/// `NonFinite`, naming `l`; `NotPositiveDefinite` if there is no new L, or no memory for it.
#[cold]
pub(crate) fn again_here<T: Element>(
    column: usize,
    l: MatRef<'_, T>,
    given: &Given<T>,
) -> Result<(Vec<T>, Modification), Error> {
    finite_lower("l", l)?;
    again(column, &Here(l), given, |to| {
        copy_lower(l, to, 0..l.ncols());
        Ok(())
    })
}

/// The same, with an L that `read` copies to a matrix of zeros.
pub(crate) fn again<T: Element>(
    column: usize,
    l: &impl Triangle<T>,
    given: &Given<T>,
    read: impl FnOnce(MatMut<'_, T>) -> Result<(), Error>,
) -> Result<(Vec<T>, Modification), Error> {
    let order = given.v.nrows();
    let mut memory = Vec::new();
    match certain::indefinite(l, given) {
        Ok(false) if memory.try_reserve_exact(order.saturating_mul(order)).is_ok() => {}
        Ok(_) | Err(Error::Device { kind: DeviceErrorKind::OutOfMemory, .. }) => {
            return Err(Error::NotPositiveDefinite { column });
        }
        Err(error) => return Err(error),
    }
    memory.resize(order * order, T::ZERO);
    let mut l = MatMut::from_column_major_slice_mut(&mut memory, order, order);
    read(l.as_mut())?;
    let report = recurrence::modify(l, given)?;
    Ok((memory, report))
}
