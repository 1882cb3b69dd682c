//! The calls that differentiate a modification, and the change of log det A that it makes.

use super::tangent::{Cotangents, CotangentsMut, Modified, Tangents};
use super::workspace::GradientWorkspace;
use crate::check::room_for_copy;
use crate::cpu::Cpu;
use crate::error::Error;
use crate::operand::Operand;
use crate::scalar::RealScalar;
use crate::sweep::weights::Weights;
use faer::{Mat, MatMut, MatRef};

/// Reverse mode of a modification: the cotangents of L, V and w from that of L'.
///
/// # Shapes
/// L, L' and the cotangent of L' (n × n), of which the lower triangles are read; V (n × k), w (k). L' must be the factor of
/// L Lᵀ + V diag(w) Vᵀ, as the modification has left it.
///
/// # Errors
/// `Shape`; `NonFinite` for a pivot of L or L', or a weight; `OutOfRange`, naming `l`, if it has a negative pivot, and
/// `NotPositiveDefinite` if L' has one that is not positive. With weights of both signs also the errors of
/// [`modify_into`](crate::modify_into). `Device` if an operand is in the memory of a device that fails.
///
/// # Cost
/// 6 k n² flops, and one pass over L and L' and one over L, L', the cotangent and the result, on the threads of the current rayon pool;
/// the result does not depend on their number. With weights of both signs an update by the positive ones, and two further n × n
/// matrices, are added.
///
/// # Source
/// The [module](super)'s documentation.
pub fn modify_vjp<'a, 'w, T: RealScalar>(
    l: impl Into<Operand<'a, T>>,
    l_new: impl Into<Operand<'a, T>>,
    v: impl Into<Operand<'a, T>>,
    weights: impl Into<Weights<'w, T>>,
    cotangent: impl Into<Operand<'a, T>>,
) -> Result<Cotangents<T>, Error> {
    let [l, new, v, cotangent] = [l.into(), l_new.into(), v.into(), cotangent.into()];
    room_for_copy::<T>("v", v.shape())?;
    room_for_copy::<T>("l", l.shape())?;
    let [l, new, v, cotangent] = [l.on_host()?, new.on_host()?, v.on_host()?, cotangent.on_host()?];
    let modified = Modified { l: l.as_ref(), new: new.as_ref(), v: v.as_ref(), weights: weights.into() };
    let mut to = zeros(&modified);
    let into = CotangentsMut::from(&mut to);
    modify_vjp_into(&modified, cotangent.as_ref(), into, &Cpu::default(), &mut GradientWorkspace::new())?;
    Ok(to)
}

/// As [`modify_vjp`], into memory of the caller.
///
/// # Shapes
/// As [`modify_vjp`]; `to` as what it returns, in any layout. Column-major matrices (row stride 1) are read and written where they are,
/// others are copied tile by tile. All of `to.l` is written, zeros above the diagonal.
///
/// # Errors
/// As [`modify_vjp`], and `Shape`, naming a part of `to`. After an error `to` may have been written in part.
///
/// # Cost
/// As [`modify_vjp`], with the threads of `engine`. No allocation after the first call of a shape.
pub fn modify_vjp_into<T: RealScalar>(
    modified: &Modified<'_, T>,
    cotangent: MatRef<'_, T>,
    to: CotangentsMut<'_, T>,
    engine: &Cpu,
    workspace: &mut GradientWorkspace<T>,
) -> Result<(), Error> {
    T::pull_modification(modified, cotangent, to, engine, workspace.parts())
}

/// Forward mode of a modification: the tangent of L' from those of L, V and w. (n × n, zero above the diagonal)
///
/// # Shapes
/// L, L', V and w as for [`modify_vjp`]; `tangents` as L, V and w.
///
/// # Errors
/// As [`modify_vjp`].
///
/// # Cost
/// 5 k n² flops, and one pass over L, L', the tangent of L and the result; otherwise as [`modify_vjp`].
///
/// ```
/// use cholupdate::faer::mat;
/// use cholupdate::gradient::{Tangents, modify_jvp};
/// use cholupdate::{Cholesky, Error};
///
/// # fn main() -> Result<(), Error> {
/// let (l, v) = (mat![[2.0, 0.0], [1.0, 2.0]], mat![[3.0], [0.5]]);
/// let mut factor = Cholesky::from_factor(&l)?;
/// factor.update(&v)?;
/// let (dl, dv) = (mat![[1.0, 0.0], [0.0, 0.0]], mat![[1.0], [0.0]]);
/// let tangents = Tangents { l: dl.as_ref(), v: dv.as_ref(), weights: None };
/// let tangent = modify_jvp(&l, factor.l(), &v, &[1.0], &tangents)?;
/// assert!((tangent[(0, 0)] - 5.0 / 13.0_f64.sqrt()).abs() < 1e-15); // (l dl + v dv) / l'
/// # Ok(())
/// # }
/// ```
pub fn modify_jvp<'a, 'w, T: RealScalar>(
    l: impl Into<Operand<'a, T>>,
    l_new: impl Into<Operand<'a, T>>,
    v: impl Into<Operand<'a, T>>,
    weights: impl Into<Weights<'w, T>>,
    tangents: &Tangents<'_, T>,
) -> Result<Mat<T>, Error> {
    let [l, new, v] = [l.into(), l_new.into(), v.into()];
    room_for_copy::<T>("l", l.shape())?;
    let [l, new, v] = [l.on_host()?, new.on_host()?, v.on_host()?];
    let modified = Modified { l: l.as_ref(), new: new.as_ref(), v: v.as_ref(), weights: weights.into() };
    let mut to = Mat::zeros(modified.l.nrows(), modified.l.nrows());
    modify_jvp_into(&modified, tangents, to.as_mut(), &Cpu::default(), &mut GradientWorkspace::new())?;
    Ok(to)
}

/// As [`modify_jvp`], into memory of the caller.
///
/// # Shapes
/// As [`modify_jvp`]; `to` (n × n) in any layout, of which all is written, zeros above the diagonal.
///
/// # Errors
/// As [`modify_jvp`], and `Shape`, naming `to`. After an error `to` may have been written in part.
///
/// # Cost
/// As [`modify_jvp`], with the threads of `engine`. No allocation after the first call of a shape.
pub fn modify_jvp_into<T: RealScalar>(
    modified: &Modified<'_, T>,
    tangents: &Tangents<'_, T>,
    to: MatMut<'_, T>,
    engine: &Cpu,
    workspace: &mut GradientWorkspace<T>,
) -> Result<(), Error> {
    T::push_modification(modified, tangents, to, engine, workspace.parts())
}

/// Reverse mode of log det A' − log det A, which a modification reports: the cotangents of L, V and w.
///
/// # Shapes
/// As [`modify_vjp`]; the cotangent is that of the change.
///
/// # Errors
/// As [`modify_vjp`], and `Singular` if a pivot of L is zero.
///
/// # Cost
/// 4 k n² flops, on one thread. L̄ = −2 tril(A'⁻¹ V diag(w) Vᵀ L⁻ᵀ): what the two logarithms have in common has cancelled before it is
/// rounded, so that the gradient of a small change is as accurate as that of a large one.
pub fn log_det_change_vjp<T: RealScalar>(
    modified: &Modified<'_, T>,
    cotangent: T,
) -> Result<Cotangents<T>, Error> {
    room_for_copy::<T>("v", modified.v.shape())?;
    room_for_copy::<T>("l", modified.l.shape())?;
    let mut to = zeros(modified);
    T::pull_log_det(modified, cotangent, CotangentsMut::from(&mut to))?;
    Ok(to)
}

/// Forward mode of log det A' − log det A: its tangent.
///
/// # Shapes
/// As [`modify_jvp`].
///
/// # Errors
/// As [`log_det_change_vjp`].
///
/// # Cost
/// 4 k n² flops, on one thread.
pub fn log_det_change_jvp<T: RealScalar>(
    modified: &Modified<'_, T>,
    tangents: &Tangents<'_, T>,
) -> Result<T, Error> {
    room_for_copy::<T>("v", modified.v.shape())?;
    T::push_log_det(modified, tangents)
}

/// Cotangents of the shapes of L, V and w.
fn zeros<T: RealScalar>(modified: &Modified<'_, T>) -> Cotangents<T> {
    let (l, v) = (modified.l, modified.v);
    Cotangents {
        l: Mat::zeros(l.nrows(), l.nrows()),
        v: Mat::zeros(v.nrows(), v.ncols()),
        weights: vec![T::ZERO; v.ncols()],
    }
}
