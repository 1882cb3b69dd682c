//! Symmetric and Hermitian indefinite matrices: a factor L S Lᴴ that is kept current.
//!
//! | file | holds |
//! |---|---|
//! | `change` | the calls that change rows and columns |
//! | `solving` | the calls that solve |
//! | `carried` | right-hand sides that stay current |
//! | `extension` | A bordered, without a change of the factor |
//! | `expecting` | the calls that say what the result of others must have |
//! | `report`, `expected`, `growth` | what a call has done; what signs are expected; how large the factor is compared with A |
//! | `state` | L and S in host memory, and modifications of them |
//! | `few` | modifications of few columns |
//! | `begin`, `border`, `exchange`, `extended`, `rows`, `systems` | the steps behind the calls |
//! | `verbs` | what compiles them |
//!
//! The sweep is `cpu/signature.rs`, its kernels are `cpu/kernels/signature/`; for few columns of V it is `cpu/runs.rs`, with the kernels of
//! `Cholesky`.

mod begin;
mod border;
mod carried;
mod change;
mod exchange;
mod expected;
mod expecting;
mod extended;
mod extension;
mod few;
mod growth;
mod report;
mod rows;
mod solving;
#[allow(unsafe_code, reason = "loads of registers")]
mod state;
mod systems;
pub(crate) mod verbs;

pub use self::extension::LdltExtension;
pub use self::report::LdltModification;

use self::report::{inertia, sign};
use self::state::Indefinite;
use crate::cpu::Cpu;
use crate::error::Error;
use crate::factor::square;
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::{Float, Number};
use faer::{Mat, MatRef};

/// The factor L of a symmetric, possibly indefinite matrix A = L S Lᵀ, where S is diagonal with entries ±1, kept current while A
/// changes.
///
/// For complex scalars A = L S Lᴴ is Hermitian, and every transpose in the documentation of this type is a conjugate transpose; the
/// imaginary part of A's diagonal is not read. D, weights, log |det A|, the condition number and all reports are real.
///
/// L is lower triangular with a positive diagonal. With D = diag(l_jj² s_j) and a unit lower triangle this is LDLᵀ without pivoting. The
/// form with S is stored because its modification is that of a Cholesky factor, with its rounding errors, as long as no pivot changes
/// its sign; the factor of a positive definite matrix is its Cholesky factor. The numbers of entries of either sign are the inertia of A.
///
/// **When there is one.** For every order of the rows exactly if A is quasi-definite: up to a permutation (H Aᵀ; A −G) with H and G positive
/// definite, as a regularized KKT matrix is. Otherwise as long as no leading minor of A is zero. Close to that the factor loses digits:
/// [`growth`](Self::growth) says how many, and a call whose result would have lost all is refused ([`Error::Unstable`], [`Error::Singular`]).
/// Every call that is refused leaves the factor bit for bit as it was. Every call writes to a shadow buffer, of the size of L.
///
/// The factor is in host memory, and is modified by the CPU.
///
/// ```
/// use cholupdate::{Error, Ldlt, faer::mat};
///
/// # fn main() -> Result<(), Error> {
/// // The KKT matrix of: minimize x₁² + x₂² subject to x₁ + x₂ = 2.
/// let kkt = mat![[2.0_f64, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 1.0, 0.0]];
/// let mut factor = Ldlt::new(&kkt)?;
/// assert_eq!(factor.inertia(), (2, 1));                    // as for every strictly convex problem
/// let x = factor.solve(&[0.0, 0.0, 2.0])?;
/// assert!((x[(0, 0)] - 1.0).abs() < 1e-15 && (x[(1, 0)] - 1.0).abs() < 1e-15);
///
/// factor.append(&[1.0, 0.0, 0.0], &[0.0])?;                // a second constraint: x₁ = …
/// assert_eq!(factor.inertia(), (2, 2));
/// factor.remove(&[2])?;                                    // … instead of the first
/// let report = factor.modify(&[0.0, 1.0, 0.0], &[-3.0])?;  // x₂² becomes −x₂²/2: not convex
/// assert_eq!((report.inertia_before, report.inertia), ((2, 1), (1, 2)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Ldlt<T: Scalar> {
    engine: Cpu,
    state: Indefinite<T>,
}

impl<T: Scalar> Ldlt<T> {
    /// The factor of A, by faer's blocked LDLᵀ without pivoting, on the default [`Cpu`] engine.
    ///
    /// # Shapes
    /// A (n × n); only its lower triangle is read.
    ///
    /// # Errors
    /// `Shape`, `NonFinite`, `Overflow`; `Singular` with the first column whose pivot is less than n u of (|L| |D| |Lᵀ|)_ii; `Unstable`.
    ///
    /// # Cost
    /// n³/3 flops.
    pub fn new<'a>(a: impl Into<Operand<'a, T>>) -> Result<Self, Error> {
        Self::new_in(a, Cpu::default())
    }

    /// As [`new`](Self::new), with the threads of `engine`. Its safeguard is not used.
    ///
    /// # Shapes, errors, cost
    /// As [`new`](Self::new).
    pub fn new_in<'a>(a: impl Into<Operand<'a, T>>, engine: Cpu) -> Result<Self, Error> {
        let a = a.into();
        square("a", &a)?;
        Ok(Self { engine, state: T::ldlt_of_matrix(&a, engine.threads)? })
    }

    /// Makes a factor of known L and D: A = L diag(d) Lᵀ, on the default [`Cpu`] engine.
    ///
    /// # Shapes
    /// L (n × n), of which the lower triangle is read, with any diagonal that is not zero; d (n). Columns are multiplied by the signs, or
    /// for complex scalars the phases, that make the diagonal positive.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `l` or `d`; `Singular` if an entry of d or of the diagonal is zero. Any growth is taken.
    ///
    /// # Cost
    /// One copy, scaled.
    ///
    /// ```
    /// use cholupdate::{Error, Ldlt, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Ldlt::from_factor(&mat![[1.0, 0.0], [3.0, 1.0]], &[4.0, -1.0])?;
    /// assert_eq!(factor.l(), mat![[2.0, 0.0], [6.0, 1.0]]);
    /// assert_eq!(factor.signs(), [1.0, -1.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_factor<'a>(l: impl Into<Operand<'a, T>>, d: &[T::Part]) -> Result<Self, Error> {
        Self::from_factor_in(l, d, Cpu::default())
    }

    /// As [`from_factor`](Self::from_factor), with the threads of `engine`.
    ///
    /// # Shapes, errors, cost
    /// As [`from_factor`](Self::from_factor).
    pub fn from_factor_in<'a>(
        l: impl Into<Operand<'a, T>>,
        d: &[T::Part],
        engine: Cpu,
    ) -> Result<Self, Error> {
        let l = l.into();
        square("l", &l)?;
        Ok(Self { engine, state: T::ldlt_of_factor(&l, d, engine.threads)? })
    }

    /// L, zero above the diagonal. (n × n)
    #[must_use]
    pub fn l(&self) -> MatRef<'_, T> {
        self.state.now.l.as_ref()
    }

    /// The diagonal of S: 1 or −1. (n)
    #[must_use]
    pub fn signs(&self) -> Vec<T::Part> {
        self.state.now.negative.iter().map(|&negative| sign(negative)).collect()
    }

    /// n, the number of rows of A.
    #[must_use]
    pub fn order(&self) -> usize {
        self.state.order()
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Cpu {
        &self.engine
    }

    /// The numbers of positive and of negative eigenvalues of A: those of the entries of S (Sylvester's law of inertia).
    ///
    /// # Cost
    /// n comparisons.
    #[must_use]
    pub fn inertia(&self) -> (usize, usize) {
        inertia(&self.state.now.negative)
    }

    /// log |det A|. Its sign is that of (−1) to the number of negative eigenvalues.
    ///
    /// # Cost
    /// n logarithms.
    #[must_use]
    pub fn log_abs_det(&self) -> T::Part {
        // The empty sum is −0.
        T::Part::from_f64(0.0 + self.state.now.log_abs_det())
    }

    /// max (|L| |D| |Lᵀ|)_ii / max |A_ii|, at least 1; 1 for order 0. Rounding errors of the factor, and of solutions, are larger by up to
    /// this factor than those of a positive definite matrix.
    ///
    /// # Cost
    /// None: every call that changes the factor computes it, in one pass over L.
    #[must_use]
    pub fn growth(&self) -> f64 {
        self.state.growth.growth
    }

    /// The growth above which the result of a call is refused as [`Error::Unstable`]; at the beginning 1 / (4 u), where no digit is left.
    #[must_use]
    pub fn growth_limit(&self) -> f64 {
        self.state.limit
    }

    /// Sets the [limit of the growth](Self::growth_limit) for later calls.
    ///
    /// # Errors
    /// `OutOfRange`, naming `limit`, if it is less than 1 or NaN.
    pub fn set_growth_limit(&mut self, limit: f64) -> Result<(), Error> {
        if !(limit >= 1.0) {
            return Err(Error::OutOfRange { argument: "limit", rule: "at least 1" });
        }
        self.state.limit = limit;
        Ok(())
    }

    /// A ← A + V Vᵀ.
    ///
    /// # Shapes, errors, cost
    /// As [`modify`](Self::modify).
    pub fn update<'a>(&mut self, v: impl Into<Operand<'a, T>>) -> Result<LdltModification, Error> {
        T::ldlt_modify(&mut self.state, T::Part::ONE, &v.into(), Weights::Plus, false)
    }

    /// A ← A − V Vᵀ.
    ///
    /// # Shapes, errors, cost
    /// As [`modify`](Self::modify).
    pub fn downdate<'a>(&mut self, v: impl Into<Operand<'a, T>>) -> Result<LdltModification, Error> {
        T::ldlt_modify(&mut self.state, T::Part::ONE, &v.into(), Weights::Minus, false)
    }

    /// A ← A + V diag(w) Vᵀ, with any mix of signs in one call. Whether it succeeds depends on the leading minors of the result alone, not
    /// on the order of the columns.
    ///
    /// # Shapes
    /// V (n × k), any layout, a slice, array or vector for k = 1; w (k). Columns of weight zero are checked to be finite, and then skipped.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `v` or `weights`; `Singular` with the first column whose pivot would be zero to working
    /// precision: less than (n + k) u of the terms of which it is the sum; `Unstable`; `Inertia` or `Sign`, if these are
    /// [expected](Self::expect_inertia).
    ///
    /// # Cost
    /// 2 k (n − r)² flops, where r is the number of leading zero rows of V, and a pass over L for the growth.
    ///
    /// # Source
    /// C. M. Rader, A. O. Steinhardt, *Hyperbolic Householder transformations*, IEEE Trans. ASSP 34 (1986), with a change of places of a
    /// column of L and one of V where a pivot changes its sign (`docs/accuracy.md`).
    pub fn modify<'a, 'w>(
        &mut self,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T::Part>>,
    ) -> Result<LdltModification, Error> {
        T::ldlt_modify(&mut self.state, T::Part::ONE, &v.into(), weights.into(), false)
    }

    /// A ← δ A + V diag(w) Vᵀ.
    ///
    /// # Shapes
    /// 0 < δ ≤ 1, `decay`; V (n × k), w (k), as for [`modify`](Self::modify).
    ///
    /// # Errors
    /// As [`modify`](Self::modify), and `OutOfRange` naming `decay`.
    ///
    /// # Cost
    /// As [`modify`](Self::modify), and one more pass over L.
    pub fn modify_scaled<'a, 'w>(
        &mut self,
        decay: T::Part,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T::Part>>,
    ) -> Result<LdltModification, Error> {
        T::ldlt_modify(&mut self.state, decay, &v.into(), weights.into(), false)
    }

    /// Whether [`downdate`](Self::downdate) would accept V, without the downdate.
    ///
    /// # Shapes
    /// V (n × k).
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `v`.
    ///
    /// # Cost
    /// That of a downdate.
    pub fn can_downdate<'a>(&mut self, v: impl Into<Operand<'a, T>>) -> Result<bool, Error> {
        match T::ldlt_modify(&mut self.state, T::Part::ONE, &v.into(), Weights::Minus, true) {
            Ok(_) => Ok(true),
            Err(
                Error::Singular { .. } | Error::Unstable { .. } | Error::Inertia { .. } | Error::Sign { .. },
            ) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A = L S Lᵀ, both triangles. (n × n)
    ///
    /// # Cost
    /// n³/3 flops.
    #[must_use]
    pub fn reconstruct(&self) -> Mat<T> {
        T::ldlt_reconstruct(&self.state)
    }
}
