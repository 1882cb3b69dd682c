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
//! | `modify` | the calls that differentiate a modification |
//! | `factor` | those for solves with a factor, and for appended rows and columns |
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
mod factor;
mod given;
mod log_det;
mod modification;
mod modify;
mod pack;
mod parts;
mod solve;
mod sweep;
mod tangent;
mod tangents;
mod tiles;
pub(crate) mod verbs;
mod workspace;

pub use self::factor::{append_jvp, append_vjp, solve_jvp, solve_vjp};
pub use self::modify::{
    log_det_change_jvp, log_det_change_vjp, modify_jvp, modify_jvp_into, modify_vjp, modify_vjp_into,
};
pub use self::tangent::{AppendCotangents, Cotangents, CotangentsMut, Modified, SolveCotangents, Tangents};
pub use self::workspace::GradientWorkspace;
