//! Modification of a factor in memory that the caller owns.

use super::kernels::job::Columns;
use super::{Cpu, Memory, Safeguard};
use crate::check::extent;
use crate::engine::EngineCore;
use crate::error::Error;
use crate::host::layout::{copy_lower, zeros};
use crate::input::AsMatrix;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::signed::{Change, Weights};
use faer::{Mat, MatMut};

/// Working memory of [`modify_in_place`]: grows to what the calls so far needed, never shrinks.
#[derive(Clone)]
pub struct Workspace<T> {
    memory: Memory<T>,
    second: Option<Mat<T>>,
}

impl<T: Scalar> Default for Workspace<T> {
    fn default() -> Self {
        Self { memory: Memory::default(), second: None }
    }
}

impl<T> core::fmt::Debug for Workspace<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Workspace").finish_non_exhaustive()
    }
}

impl<T: Scalar> Workspace<T> {
    /// No memory yet: the first call of a shape allocates, later ones do not.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A buffer for another lower triangle.
    fn second(&mut self, order: usize) -> (MatMut<'_, T>, &mut Memory<T>) {
        if self.second.as_ref().is_some_and(|second| second.nrows() < order) {
            self.second = None;
        }
        let second = self.second.get_or_insert_with(|| zeros(order));
        (second.as_mut().submatrix_mut(0, 0, order, order), &mut self.memory)
    }
}

/// L Lᵀ ← L Lᵀ + V diag(w) Vᵀ on a factor in memory that the caller owns.
///
/// The strict upper triangle of L is neither read nor written. Entries below the diagonal are trusted to be
/// finite and far from overflow: looking at them would cost as much as a rank-1 update. Where it cannot be
/// trusted, [`Cholesky`](crate::Cholesky) checks once and keeps it true.
///
/// Shapes: L (n × n), V (n × k), w (k). A column-major L (row stride 1) is worked on where it lies; any
/// other layout goes through a copy in `workspace`.
///
/// # Errors
/// `Shape`, `NonFinite`, `Overflow`, and `NotPositiveDefinite` at the first diagonal entry of L that is not
/// positive or whose pivot² would not be. With such an L it is bit for bit as it was on every error, by
/// `engine`'s [`Safeguard`]; with [`Safeguard::SecondBuffer`] the finished columns are copied back from
/// `workspace`. Cost: 2 k (n − r)² flops for r leading zero rows of V; no allocation after the first call
/// of a shape.
pub fn modify_in_place<T: Scalar>(
    mut l: MatMut<'_, T>,
    v: &(impl AsMatrix<T> + ?Sized),
    weights: &[T],
    engine: &Cpu,
    workspace: &mut Workspace<T>,
) -> Result<Modification<T>, Error> {
    let order = l.nrows();
    extent("l", "columns", order, l.ncols())?;
    let change = Change::new(v.as_matrix(), Weights::Each(weights), order, EngineCore::<T>::par(engine))?;
    for (column, &pivot) in l.as_ref().diagonal().column_vector().iter().enumerate() {
        if !pivot.is_finite() {
            return Err(Error::NonFinite { argument: "l", row: column, column });
        }
        if pivot <= T::ZERO {
            return Err(Error::NotPositiveDefinite { column });
        }
    }
    let Some(first) = change.first_column(order) else { return Ok(Modification::identity()) };

    let column_major = l.row_stride() == 1 || order == 1;
    let through_copy =
        !column_major || (change.outline.minus > 0 && engine.safeguard == Safeguard::SecondBuffer);
    if !through_copy {
        let at = l.as_ptr_mut();
        let stride = l.col_stride();
        let columns = |dst| Columns { src: at.cast_const(), src_stride: stride, dst, dst_stride: stride };
        if change.outline.minus > 0 {
            // SAFETY: L is n × n at `at` and borrowed exclusively; a null `dst` is not written.
            unsafe { engine.sweep(columns(core::ptr::null_mut()), order, &change, &mut workspace.memory)? };
        }
        // SAFETY: as above, with `dst` the same memory as `src`.
        return unsafe { engine.sweep(columns(at), order, &change, &mut workspace.memory) };
    }

    let (mut second, memory) = workspace.second(order);
    let (dst, dst_stride) = (second.as_ptr_mut(), second.col_stride());
    let columns = if column_major {
        Columns { src: l.as_ptr(), src_stride: l.col_stride(), dst, dst_stride }
    } else {
        copy_lower(l.as_ref(), second.as_mut(), first..order);
        Columns { src: dst.cast_const(), src_stride: dst_stride, dst, dst_stride }
    };
    // SAFETY: source and destination are n × n, borrowed exclusively, and the same or disjoint.
    let report = unsafe { engine.sweep(columns, order, &change, memory)? };
    copy_lower(second.as_ref(), l.as_mut(), first..order);
    Ok(report)
}
