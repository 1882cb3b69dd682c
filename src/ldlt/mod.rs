//! Symmetric and Hermitian indefinite matrices: a factor L S Lᴴ that is kept current.
//!
//! | file | holds |
//! |---|---|
//! | `modifying` | the calls that modify A by V diag(w) Vᵀ |
//! | `change` | the calls that change rows and columns |
//! | `solving` | the calls that solve |
//! | `carried` | right-hand sides that stay current |
//! | `extension` | A bordered, without a change of the factor |
//! | `expecting` | the calls that say what the result of others must have |
//! | `report`, `expected`, `growth` | what a call has done; what signs are expected; how large the factor is compared with A |
//! | `state` | L and S in host memory, and modifications of them |
//! | `runs` | modifications by columns of one sign |
//! | `begin`, `border`, `exchange`, `extended`, `rows`, `systems` | the steps behind the calls |
//! | `snapshot` | a factor as plain data (feature `serde`) |
//! | `restored` | the factor of such data |
//! | `verbs` | what compiles them |
//!
//! The sweep is `cpu/signature.rs`, its kernels are `sweep/signature/` of kernels/cpu; for columns of V of one sign it is `cpu/runs.rs`, with the
//! kernels of `Cholesky`.

mod begin;
mod border;
mod carried;
mod change;
mod exchange;
mod expected;
mod expecting;
mod extended;
mod extension;
mod growth;
mod modifying;
mod report;
#[cfg(feature = "serde")]
mod restored;
mod rows;
mod runs;
#[cfg(feature = "serde")]
mod snapshot;
mod solving;
#[allow(unsafe_code, reason = "loads of registers")]
mod state;
mod systems;
pub(crate) mod verbs;

pub use self::extension::LdltExtension;
pub use self::report::LdltModification;
#[cfg(feature = "serde")]
pub use self::snapshot::LdltSnapshot;

use self::report::{inertia, sign};
use self::state::Indefinite;
use crate::cpu::Cpu;
use crate::error::Error;
use crate::factor::square;
use crate::operand::Operand;
use crate::scalar::Scalar;
use cholupdate_kernels::number::Float;
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

    /// A = L S Lᵀ, both triangles. (n × n)
    ///
    /// # Cost
    /// n³/3 flops.
    #[must_use]
    pub fn reconstruct(&self) -> Mat<T> {
        T::ldlt_reconstruct(&self.state)
    }
}
