//! The block reflector of a few columns, as the micro-kernels read it.
//!
//! With S the signature and, for column j, a the row of V there, l the old and α the new pivot, β = l + α:
//!
//! ```text
//! b_j = a / β,     T_jj = α / β,     T_ij = b_i S b_jᵀ  (i < j)
//!
//! U T = P + V S Bᵀ        P ← U − P        V ← V − U B
//! ```
//!
//! Columns of V with a plus sign come first, so that S is a split point and not an array. The triangular
//! solve runs forward over columns with its divisions done once, here: u_j = ρ_j w_j − Σ_{i<j} τ_ij u_i,
//! where w = P + V S Bᵀ, ρ_j = 1 / T_jj = β / α and τ_ij = T_ij / T_jj.

use crate::scalar::Scalar;

/// Shape and place of one micro reflector of at most `width` columns; all parts are rows of `width` scalars.
#[derive(Clone, Copy)]
pub(crate) struct Reflector<T> {
    data: *mut T,
    /// Scalars from one row to the next: the lanes of a register.
    width: usize,
    /// Columns of V with a plus sign; they come first.
    pub plus: usize,
    /// Columns of V with a minus sign.
    pub minus: usize,
}

impl<T: Scalar> Reflector<T> {
    /// Scalars that one reflector takes, for V with `k` columns.
    pub fn len(k: usize, width: usize) -> usize {
        (k + width + 1) * width
    }

    /// # Safety
    /// `len(plus + minus, width)` scalars at `data` are this reflector's for as long as it is used.
    pub unsafe fn at(data: *mut T, width: usize, plus: usize, minus: usize) -> Self {
        Self { data, width, plus, minus }
    }

    pub fn rank(&self) -> usize {
        self.plus + self.minus
    }

    /// b_{0.., r}: column r of B, one scalar for each column of L. (width)
    #[inline(always)]
    pub fn b(&self, r: usize) -> *mut T {
        // SAFETY: row r < k of the k + width + 1 rows promised to `at`.
        unsafe { self.data.add(r * self.width) }
    }

    /// τ_{0.., j}: what earlier columns contribute to column j. (width)
    #[inline(always)]
    pub fn tau(&self, j: usize) -> *mut T {
        // SAFETY: row k + j, j < width, of the k + width + 1 rows promised to `at`.
        unsafe { self.data.add((self.rank() + j) * self.width) }
    }

    /// ρ: the reciprocals of the diagonal of T. (width)
    #[inline(always)]
    pub fn rho(&self) -> *mut T {
        // SAFETY: the last of the k + width + 1 rows promised to `at`.
        unsafe { self.data.add((self.rank() + self.width) * self.width) }
    }
}
