//! The block reflector of a few columns of L for columns of V of one sign, as the micro-kernels read it.
//!
//! With σ the sign and, for column j, a the row of V there, l the old and α the new pivot, β = l + α:
//!
//! ```text
//! b_j = a / β,     T_jj = α / β,     T_ij = σ b_i b_jᵀ  (i < j)
//!
//! U T = P + σ V Bᵀ        P ← U − P        V ← V − U B
//! ```
//!
//! The triangular solve runs forward over columns with its divisions done once, here, and in terms of D = U − 2 P, so
//! that P is corrected by D instead of being made anew:
//!
//! ```text
//! d_j = x_j p_j + s_j w_j − Σ_{i<j} τ_ij u_i        u_j = 2 p_j + d_j        p_j ← p_j + d_j
//! ```
//!
//! where w = V Bᵀ, s_j = σ / T_jj, τ_ij = T_ij / T_jj and x_j = 1 / T_jj − 2 = (l − α) / α = −σ a aᵀ / (α β). An entry made
//! anew would be off by a rounding that is the same in every call, and a thousand of them add up.
//!
//! V with both signs goes through two reflectors, the one of its plus columns first. In one alone, with S for σ,
//! l² + a S aᵀ would cancel where plus and minus nearly do, below what it was formed from.
//!
//! Where V outweighs a column of L, the two change places ([`interchange`](super::interchange)), and b, s and x are of what is there
//! then. τ does not hold across an interchange: where a block has any, its columns are applied one by one.

use crate::scalar::Scalar;

/// Columns of V, the first, that may change places with one of L: so many are a scalar exactly.
pub(crate) const MOST_INTERCHANGED: usize = 1 << 23;

/// Columns of V of one sign, some of all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneSign {
    /// The first of them.
    pub first: usize,
    pub rank: usize,
    pub minus: bool,
}

/// Shape and place of one micro reflector of at most `width` columns; all parts are rows of `width` scalars.
#[derive(Clone, Copy)]
pub(crate) struct Reflector<T> {
    data: *mut T,
    /// Scalars from one row to the next: the lanes of a register.
    width: usize,
    /// Columns of V.
    pub rank: usize,
}

impl<T: Scalar> Reflector<T> {
    /// Scalars that one reflector takes, for `k` columns of V.
    pub fn len(k: usize, width: usize) -> usize {
        (k + width + 4) * width
    }

    /// # Safety
    /// `len(rank, width)` scalars at `data` are this reflector's for as long as it is used.
    pub unsafe fn at(data: *mut T, width: usize, rank: usize) -> Self {
        Self { data, width, rank }
    }

    /// b_{0.., r}: column r of B, one scalar for each column of L. (width)
    #[inline(always)]
    pub fn b(&self, r: usize) -> *mut T {
        // SAFETY: row r < k of the k + width + 4 rows promised to `at`.
        unsafe { self.data.add(r * self.width) }
    }

    /// τ_{0.., j}: what earlier columns contribute to column j. (width)
    #[inline(always)]
    pub fn tau(&self, j: usize) -> *mut T {
        // SAFETY: row k + j, j < width, of the k + width + 4 rows promised to `at`.
        unsafe { self.data.add((self.rank + j) * self.width) }
    }

    /// s: σ over the diagonal of T. (width)
    #[inline(always)]
    pub fn s(&self) -> *mut T {
        // SAFETY: row k + width of the k + width + 4 rows promised to `at`.
        unsafe { self.data.add((self.rank + self.width) * self.width) }
    }

    /// x: what the reciprocals of the diagonal of T exceed 2 by. (width)
    #[inline(always)]
    pub fn x(&self) -> *mut T {
        // SAFETY: row k + width + 1 of the k + width + 4 rows promised to `at`.
        unsafe { self.data.add((self.rank + self.width + 1) * self.width) }
    }

    /// For each column of L the column of V that it changes places with first: p + 1, negative where the sign changes, or 0. (width)
    #[inline(always)]
    pub fn interchanges(&self) -> *mut T {
        // SAFETY: row k + width + 2 of the k + width + 4 rows promised to `at`.
        unsafe { self.data.add((self.rank + self.width + 2) * self.width) }
    }

    /// Where it says whether there are interchanges, which are not set otherwise.
    #[inline(always)]
    fn mark(&self) -> *mut T {
        // SAFETY: the last of the k + width + 4 rows promised to `at`.
        unsafe { self.data.add((self.rank + self.width + 3) * self.width) }
    }

    /// # Safety
    /// The reflector's memory must be writable; with `true`, all interchanges are set.
    #[inline(always)]
    pub unsafe fn set_interchanged(&self, interchanged: bool) {
        // SAFETY: forwarded to the caller.
        unsafe { *self.mark() = if interchanged { T::ONE } else { T::ZERO } };
    }

    /// Whether a column of L changes places with one of V.
    ///
    /// # Safety
    /// The reflector must have been made.
    #[inline(always)]
    pub unsafe fn interchanged(&self) -> bool {
        // SAFETY: forwarded to the caller.
        unsafe { *self.mark() != T::ZERO }
    }

    /// What column `j` of L changes places with, if it does: a column of V, and the sign of that.
    ///
    /// # Safety
    /// The reflector must have been made and have interchanges.
    #[inline(always)]
    pub unsafe fn interchange(&self, j: usize) -> Option<(usize, T)> {
        // SAFETY: forwarded to the caller; j is less than width.
        let signed = unsafe { *self.interchanges().add(j) };
        let sign = if signed < T::ZERO { -T::ONE } else { T::ONE };
        (signed != T::ZERO).then(|| (signed.abs().to_f64() as usize - 1, sign))
    }
}
