//! Modifications of a factor in memory that the caller owns.

use crate::cpu::{Cpu, Workspace};
use crate::error::Error;
use crate::operand::Operand;
use crate::report::Modification;
use crate::scalar::RealScalar;
use crate::sweep::weights::Weights;
use faer::{MatMut, MatRef};

/// L Lᵀ ← L Lᵀ + V diag(w) Vᵀ, for a factor in memory that the caller owns.
///
/// The strict upper triangle of L is neither read nor written. Entries below the diagonal must be finite and far from overflow;
/// this is not checked, because a check would cost as much as a rank-1 update. [`modify_checked_in_place`] detects entries that
/// are not finite; [`Cholesky`](crate::Cholesky) checks them once.
///
/// # Shapes
/// L (n × n), V (n × k), w (k) as for [`modify`](crate::Cholesky::modify). A column-major L (row stride 1) is modified in
/// place; with any other layout the sweep writes to `workspace`, and the result is copied back.
///
/// # Errors
/// `Shape`, `NonFinite`, `Overflow`, and `NotPositiveDefinite` at the first diagonal entry of L that is negative or whose
/// pivot² would not be positive; `Singular` if an entry is zero and a weight negative. After any error an L as
/// required is bit for bit as it was, by the [`Safeguard`](crate::Safeguard) of `engine`; with the shadow buffer, finished
/// columns are copied back from `workspace`. Without a safeguard a breakdown leaves a column-major L half changed.
///
/// # Cost
/// 2 k (n − r)² flops for r leading zero rows of V; no allocation after the first call of a shape, unless it breaks down.
///
/// ```
/// use cholupdate::{Cpu, Error, Workspace, faer::mat, modify_in_place};
///
/// # fn main() -> Result<(), Error> {
/// let mut l = mat![[2.0, f64::NAN], [1.0, 2.0]]; // of A = (4 2; 2 5)
/// let mut workspace = Workspace::new();
/// modify_in_place(l.as_mut(), &[1.0, 1.0], &[1.0], &Cpu::sequential(), &mut workspace)?;
/// assert!((l[(1, 0)] - 3.0 / 5.0_f64.sqrt()).abs() < 1e-15); // of (5 3; 3 6)
/// # Ok(())
/// # }
/// ```
pub fn modify_in_place<'a, 'w, T: RealScalar>(
    l: MatMut<'_, T>,
    v: impl Into<Operand<'a, T>>,
    weights: impl Into<Weights<'w, T>>,
    engine: &Cpu,
    workspace: &mut Workspace<T>,
) -> Result<Modification, Error> {
    T::modify_in_place((l, false), &v.into(), weights.into(), engine, workspace)
}

/// As [`modify_in_place`], for an L that may have entries that are not finite.
///
/// # Shapes
/// As [`modify_in_place`].
///
/// # Errors
/// As [`modify_in_place`], and `NonFinite`, naming `l`, for any entry of the lower triangle. If the modification works in
/// place, as one that cannot break down does, L may then have been written in part; with a shadow buffer or a dry run it is as
/// it was.
///
/// # Cost
/// As [`modify_in_place`]: an entry that is not finite is detected by its effect on its row. In addition the columns of L that
/// V does not change are read, and all of L if V is zero.
///
/// ```
/// use cholupdate::{Cpu, Error, Workspace, faer::mat, modify_checked_in_place};
///
/// let mut l = mat![[2.0, 0.0], [f64::NAN, 2.0]];
/// let (cpu, mut workspace) = (Cpu::sequential(), Workspace::new());
/// let refused = modify_checked_in_place(l.as_mut(), &[1.0, 1.0], &[1.0], &cpu, &mut workspace);
/// assert_eq!(refused, Err(Error::NonFinite { argument: "l", row: 1, column: 0 }));
/// ```
pub fn modify_checked_in_place<'a, 'w, T: RealScalar>(
    l: MatMut<'_, T>,
    v: impl Into<Operand<'a, T>>,
    weights: impl Into<Weights<'w, T>>,
    engine: &Cpu,
    workspace: &mut Workspace<T>,
) -> Result<Modification, Error> {
    T::modify_in_place((l, true), &v.into(), weights.into(), engine, workspace)
}

/// Writes the factor of L Lᵀ + V diag(w) Vᵀ to `to`. L is in memory that the caller owns, and is only read.
///
/// The strict upper triangles are neither read nor written. Columns of L with a negative diagonal entry are negated, which
/// leaves L Lᵀ as it is. Entries of L must be far from overflow; this is not checked. If the call succeeds, they are finite.
///
/// # Shapes
/// L and `to` (n × n), V (n × k), w (k). `to` is column-major (row stride 1). L may have any layout; if it is column-major, it
/// is not copied.
///
/// # Errors
/// `Shape`; `OutOfRange`, naming `to`, if it is not column-major; `NonFinite`, naming the first such entry of L, or `Overflow`;
/// `NotPositiveDefinite` at the first column whose pivot² would not be positive; `Singular` if a diagonal entry of L is zero
/// and a weight negative. After an error the lower triangle of `to` may have been written in part.
///
/// # Cost
/// 2 k (n − r)² flops for r leading zero rows of V; no allocation after the first call of a shape.
///
/// ```
/// use cholupdate::{Cpu, Error, Workspace, faer::mat, modify_into};
///
/// # fn main() -> Result<(), Error> {
/// let l = mat![[2.0, f64::NAN], [1.0, 2.0]]; // of A = (4 2; 2 5)
/// let mut new = mat![[0.0, 0.0], [0.0, 0.0]];
/// modify_into(l.as_ref(), &[1.0, 1.0], &[1.0], new.as_mut(), &Cpu::sequential(), &mut Workspace::new())?;
/// assert!((new[(1, 0)] - 3.0 / 5.0_f64.sqrt()).abs() < 1e-15); // of (5 3; 3 6)
/// # Ok(())
/// # }
/// ```
pub fn modify_into<'a, 'w, T: RealScalar>(
    l: MatRef<'_, T>,
    v: impl Into<Operand<'a, T>>,
    weights: impl Into<Weights<'w, T>>,
    to: MatMut<'_, T>,
    engine: &Cpu,
    workspace: &mut Workspace<T>,
) -> Result<Modification, Error> {
    T::modify_into(l, &v.into(), weights.into(), to, engine, workspace)
}
