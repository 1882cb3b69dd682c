//! Derivatives of what is done with a factor, without a new factorization.
//!
//! A program that modifies a factor can be differentiated without a factorization, whose derivative takes O(n³). For
//! L' L'ᵀ = L Lᵀ + V diag(w) Vᵀ with V (n × k), [`modify_vjp`] takes the cotangent of L' to those of L, V and w (reverse mode), and
//! [`modify_jvp`] the tangents of L, V and w to that of L' (forward mode), in O(k n²). There are the same for a solve, for the change of
//! log det A, and for appended rows and columns.
//!
//! ```
//! use cholupdate::faer::mat;
//! use cholupdate::gradient::modify_vjp;
//! use cholupdate::{Cholesky, Error};
//!
//! # fn main() -> Result<(), Error> {
//! let (l, v) = (mat![[2.0, 0.0], [1.0, 2.0]], [3.0, 0.5]);
//! let mut factor = Cholesky::from_factor(&l)?;
//! factor.modify(&v, &[1.0])?;
//!
//! // f = l'_00 = √(l_00² + w v_0²)
//! let bar = mat![[1.0, f64::NAN], [0.0, 0.0]]; // what is above the diagonal is not read
//! let gradient = modify_vjp(&l, factor.l(), &v, &[1.0], &bar)?;
//! let pivot = 13.0_f64.sqrt();
//! assert!((gradient.l[(0, 0)] - 2.0 / pivot).abs() < 1e-15);
//! assert!((gradient.v[(0, 0)] - 3.0 / pivot).abs() < 1e-15);
//! assert!((gradient.weights[0] - 4.5 / pivot).abs() < 1e-15);
//! assert_eq!(gradient.l[(0, 1)], 0.0);
//! # Ok(())
//! # }
//! ```
//!
//! # Convention
//!
//! The cotangent x̄ of x is the derivative of the result by x, entry by entry; L̄ has n (n + 1) / 2 entries, those of the lower triangle.
//! Tangents and cotangents of a triangle are read in this triangle only, and are exactly zero above it where they are written. Scalars
//! are real. An entry that is not finite makes the entries that depend on it NaN or infinite; this is no error, except on the diagonals
//! of L and L'.
//!
//! For upper triangular factors, U = Lᵀ, pass and write transposed views (`u.transpose()`); they are copied tile by tile.
//!
//! # Method
//!
//! Column j of L eliminates row a of V by a reflection, as in the modification itself (`docs/accuracy.md`), with l the pivot of L,
//! α that of L', and S the signs of the weights, whose square roots V is scaled by:
//!
//! ```text
//! l'_i = (l l_i + V_i S aᵀ) / α      β_i = (l_i + l'_i) / (l + α)      V_i ← V_i − β_i a
//! ```
//!
//! Both factors are known, so a pass forward over L and L' gives the rows a, and a pass back undoes the reflections and pulls the
//! cotangents l̄ and Q (V̄ = Q S) through each of them:
//!
//! ```text
//! d_i = Q_i S aᵀ      m_i = (l̄'_i − d_i / (l + α)) / α      l̄_i = l m_i − d_i / (l + α)
//! V_i ← V_i + β_i a      g = Σ m_i V_i − β_i Q_i      Q_i ← Q_i + m_i a
//! ᾱ = l̄'_j − Σ m_i l'_i + Σ β_i d_i / (l + α)      l̄_j = Σ m_i l_i + (Σ β_i d_i) / (l + α) + ᾱ l / α      Q_j = g + ᾱ a / α
//! ```
//!
//! Where a column of V outweighs that of L, the two are interchanged first, as in the modification. Forward mode differentiates the same
//! formulas in one pass. `docs/gradient.md` derives them, and has their accuracy and their cost.
//!
//! # Source
//!
//! The reverse mode of the elimination in the module's own formulas; for whole factorizations, S. P. Smith, *Differentiation of the
//! Cholesky algorithm*, J. Comput. Graph. Stat. 4 (1995), and I. Murray,
//! [arXiv 1602.07527](https://arxiv.org/abs/1602.07527).
//!
//! | file | holds |
//! |---|---|
//! | `tangent` | what the calls take and return |
//! | `given` | checks of arguments, and threads |
//! | `modification` | stages of one sign each, V in tiles, and the cotangents and tangents of V and w |
//! | `sweep`, `tangents` | the schedules over the panels of L, for reverse and for forward mode |
//! | `parts`, `tiles` | rows divided among threads; the working memory |
//! | `pack` | rows of a panel that are not contiguous |
//! | `solve`, `log_det`, `append` | the other derivatives |
//!
//! The kernels are in `kernels/cpu/src/gradient/`.

mod append;
mod given;
mod log_det;
mod modification;
mod pack;
mod parts;
mod solve;
mod sweep;
mod tangent;
mod tangents;
mod tiles;
pub(crate) mod verbs;
mod workspace;

pub use self::tangent::{AppendCotangents, Cotangents, CotangentsMut, Modified, SolveCotangents, Tangents};
pub use self::workspace::GradientWorkspace;

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
/// The [module](self)'s documentation.
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

/// Reverse mode of a solve, X = A⁻¹ B with A = L Lᵀ: the cotangents of L and B from that of X.
///
/// # Shapes
/// L (n × n), of which the lower triangle is read; X and its cotangent (n × m).
///
/// # Errors
/// `Shape`, or `Singular` if a pivot of L is zero.
///
/// # Cost
/// 5 m n² flops, on one thread.
pub fn solve_vjp<'a, T: RealScalar>(
    l: impl Into<Operand<'a, T>>,
    x: impl Into<Operand<'a, T>>,
    cotangent: impl Into<Operand<'a, T>>,
) -> Result<SolveCotangents<T>, Error> {
    let [l, x, cotangent] = [l.into(), x.into(), cotangent.into()];
    room_for_copy::<T>("l", l.shape())?;
    room_for_copy::<T>("x", x.shape())?;
    let [l, x, cotangent] = [l.on_host()?, x.on_host()?, cotangent.on_host()?];
    let (l, b) = T::pull_solve(l.as_ref(), x.as_ref(), cotangent.as_ref())?;
    Ok(SolveCotangents { l, b })
}

/// Forward mode of a solve, X = A⁻¹ B with A = L Lᵀ: the tangent of X from those of L and B. (n × m)
///
/// # Shapes
/// L and its tangent (n × n), of which the lower triangles are read; X and the tangent of B (n × m).
///
/// # Errors
/// As [`solve_vjp`].
///
/// # Cost
/// 5 m n² flops, on one thread.
pub fn solve_jvp<'a, T: RealScalar>(
    l: impl Into<Operand<'a, T>>,
    x: impl Into<Operand<'a, T>>,
    tangent_l: impl Into<Operand<'a, T>>,
    tangent_b: impl Into<Operand<'a, T>>,
) -> Result<Mat<T>, Error> {
    let [l, x, of_l, of_b] = [l.into(), x.into(), tangent_l.into(), tangent_b.into()];
    room_for_copy::<T>("x", x.shape())?;
    let [l, x, of_l, of_b] = [l.on_host()?, x.on_host()?, of_l.on_host()?, of_b.on_host()?];
    T::push_solve(l.as_ref(), x.as_ref(), (of_l.as_ref(), of_b.as_ref()))
}

/// Reverse mode of [`append`](crate::Cholesky::append): the cotangents of L and of the new rows and columns from that of L'.
///
/// # Shapes
/// L' and its cotangent ((n + m) × (n + m)), of which the lower triangles are read; `order` is n. The leading n × n entries of L' are L.
///
/// # Errors
/// `Shape`, `OutOfRange`, naming `order`, or `Singular` if a pivot of L' is zero.
///
/// # Cost
/// 2 m n² + O(m² n + m³) flops, on one thread.
pub fn append_vjp<'a, T: RealScalar>(
    l_new: impl Into<Operand<'a, T>>,
    order: usize,
    cotangent: impl Into<Operand<'a, T>>,
) -> Result<AppendCotangents<T>, Error> {
    let [new, cotangent] = [l_new.into(), cotangent.into()];
    room_for_copy::<T>("l_new", new.shape())?;
    let [new, cotangent] = [new.on_host()?, cotangent.on_host()?];
    let [l, cross, corner] = T::pull_append(new.as_ref(), order, cotangent.as_ref())?;
    Ok(AppendCotangents { l, cross, corner })
}

/// Forward mode of [`append`](crate::Cholesky::append): the tangent of L' from those of L and of the new rows and columns.
/// ((n + m) × (n + m), zero above the diagonal)
///
/// # Shapes
/// L' ((n + m) × (n + m)), `order` is n; the tangents of L (n × n), of the new columns beside A (n × m), and of the corner (m × m). Of L',
/// L and the corner the lower triangles are read.
///
/// # Errors
/// As [`append_vjp`].
///
/// # Cost
/// 2 m n² + O(m² n + m³) flops, on one thread.
pub fn append_jvp<'a, T: RealScalar>(
    l_new: impl Into<Operand<'a, T>>,
    order: usize,
    tangent_l: impl Into<Operand<'a, T>>,
    tangent_cross: impl Into<Operand<'a, T>>,
    tangent_corner: impl Into<Operand<'a, T>>,
) -> Result<Mat<T>, Error> {
    let [new, of_l, cross, corner] =
        [l_new.into(), tangent_l.into(), tangent_cross.into(), tangent_corner.into()];
    room_for_copy::<T>("l_new", new.shape())?;
    let [new, of_l, cross, corner] = [new.on_host()?, of_l.on_host()?, cross.on_host()?, corner.on_host()?];
    T::push_append(new.as_ref(), order, [of_l.as_ref(), cross.as_ref(), corner.as_ref()])
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
