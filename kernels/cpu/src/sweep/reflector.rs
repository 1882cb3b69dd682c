//! The block reflector of a few columns of L for columns of V of one sign, in the layout that the micro-kernels read.
//!
//! With σ the sign and, for column j, a the row of V there, l the old and α the new pivot, β = l + α:
//!
//! ```text
//! b_j = a / β,     T_jj = α / β,     T_ij = σ b_i b_jᵀ  (i < j)
//!
//! U T = P + σ V Bᵀ        P ← U − P        V ← V − U B
//! ```
//!
//! The triangular solve runs forward over columns. Its divisions are done once, here, and it is written in terms of D = U − 2
//! P, so that P is corrected by D and not computed again:
//!
//! ```text
//! d_j = x_j p_j + V g_jᵀ − Σ_{i<j} τ_ij u_i        u_j = 2 p_j + d_j        p_j ← p_j + d_j
//! ```
//!
//! where g_j = s_j b_j, s_j = σ / T_jj, τ_ij = T_ij / T_jj and x_j = 1 / T_jj − 2 = (l − α) / α = −σ a aᵀ / (α β). An entry computed
//! again would have the same rounding error in every call, and a thousand of them would add up.
//!
//! A V with both signs is applied by two reflectors, that of its plus columns first. In a single reflector, with S for σ, l² +
//! a S aᵀ could cancel, and lose digits relative to its terms.
//!
//! If V is large compared with a column of L, the two are interchanged (`interchange`), and b, s and x
//! are those after the interchange. τ is not valid across an interchange, so the columns of a block with interchanges are
//! applied one by one.

use crate::number::{Float, Number};

/// Only this number of leading columns of V may be interchanged with one of L: a scalar represents such an index exactly.
pub const MOST_INTERCHANGED: usize = 1 << 23;

/// The columns of V of one sign.
#[derive(Clone, Copy, Debug)]
pub struct OneSign {
    /// Index of the first of them.
    pub first: usize,
    pub rank: usize,
    pub minus: bool,
}

/// Shape and location of one micro reflector of at most `width` columns. All its parts are rows of `width` scalars.
#[derive(Clone, Copy)]
pub struct Reflector<T> {
    data: *mut T,
    /// Distance from one row to the next: the lanes of a register.
    width: usize,
    /// Columns of V.
    pub rank: usize,
    /// The column of the micro reflector that counts as column 0 here.
    first: usize,
}

impl<T: Number> Reflector<T> {
    /// Scalars of one reflector, for `k` columns of V.
    pub fn len(k: usize, width: usize) -> usize {
        (2 * k + width + 5) * width
    }

    /// # Safety
    /// `len(rank, width)` scalars at `data` belong to this reflector for as long as it is used.
    pub unsafe fn at(data: *mut T, width: usize, rank: usize) -> Self {
        Self { data, width, rank, first: 0 }
    }

    /// The part that transforms the columns from `first` on, after those before it have been applied to V. `interchanges` and the
    /// flag belong to the whole.
    #[inline(always)]
    pub fn part_from(self, first: usize) -> Self {
        Self { data: self.data.wrapping_add(first), first: self.first + first, ..self }
    }

    /// b_{0.., r}: column r of B, one scalar for each column of L. (width)
    #[inline(always)]
    pub fn b(&self, r: usize) -> *mut T {
        // SAFETY: row r < k of the 2 k + width + 5 rows that the caller of `at` guarantees.
        unsafe { self.data.add(r * self.width) }
    }

    /// s_{0..} b_{0.., r}: what column r of V contributes to d. (width)
    #[inline(always)]
    pub fn g(&self, r: usize) -> *mut T {
        // SAFETY: row k + r, r < k, of the 2 k + width + 5 rows that the caller of `at` guarantees.
        unsafe { self.data.add((self.rank + r) * self.width) }
    }

    /// τ_{0.., j}: what earlier columns contribute to column j. (width)
    #[inline(always)]
    pub fn tau(&self, j: usize) -> *mut T {
        // SAFETY: row 2 k + j, j < width, of the 2 k + width + 5 rows that the caller of `at` guarantees.
        unsafe { self.data.add((2 * self.rank + self.first + j) * self.width) }
    }

    /// s: σ over the diagonal of T. (width)
    #[inline(always)]
    pub fn s(&self) -> *mut T {
        // SAFETY: row 2 k + width of the 2 k + width + 5 rows that the caller of `at` guarantees.
        unsafe { self.data.add((2 * self.rank + self.width) * self.width) }
    }

    /// x: the reciprocals of the diagonal of T, minus 2. (width)
    #[inline(always)]
    pub fn x(&self) -> *mut T {
        // SAFETY: row 2 k + width + 1 of the 2 k + width + 5 rows that the caller of `at` guarantees.
        unsafe { self.data.add((2 * self.rank + self.width + 1) * self.width) }
    }

    /// For each column of L the column p of V with which it is first interchanged, as p + 1, or 0. (width)
    #[inline(always)]
    pub fn interchanges(&self) -> *mut T {
        // SAFETY: row 2 k + width + 2 of the 2 k + width + 5 rows that the caller of `at` guarantees.
        unsafe { self.data.add((2 * self.rank + self.width + 2) * self.width) }
    }

    /// For each column of L that is interchanged: σ before its division by its size. (width)
    #[inline(always)]
    pub fn turns(&self) -> *mut T {
        // SAFETY: row 2 k + width + 3 of the 2 k + width + 5 rows that the caller of `at` guarantees.
        unsafe { self.data.add((2 * self.rank + self.width + 3) * self.width) }
    }

    /// Flag: whether there are interchanges. If there are none, `interchanges` is not set.
    #[inline(always)]
    fn mark(&self) -> *mut T {
        // SAFETY: the last of the 2 k + width + 5 rows that the caller of `at` guarantees.
        unsafe { self.data.add((2 * self.rank + self.width + 4) * self.width) }
    }

    /// # Safety
    /// The reflector's memory must be writable; with `true`, all interchanges are set.
    #[inline(always)]
    pub unsafe fn set_interchanged(&self, interchanged: bool) {
        // SAFETY: the caller guarantees that the memory is writable.
        unsafe { *self.mark() = if interchanged { T::ONE } else { T::ZERO } };
    }

    /// Whether a column of L is interchanged with one of V.
    ///
    /// # Safety
    /// The reflector must have been computed.
    #[inline(always)]
    pub unsafe fn interchanged(&self) -> bool {
        // SAFETY: the caller guarantees that the reflector has been computed.
        unsafe { *self.mark() != T::ZERO }
    }

    /// The interchange of column `j` of L, if there is one: the column of V, and σ before its division.
    ///
    /// # Safety
    /// The reflector must have been computed and have interchanges.
    #[inline(always)]
    pub unsafe fn interchange(&self, j: usize) -> Option<(usize, T)> {
        // SAFETY: the caller guarantees that interchanges are set; j is less than width.
        let (place, turn) = unsafe { (*self.interchanges().add(j), *self.turns().add(j)) };
        (place != T::ZERO).then(|| (place.real().to_f64() as usize - 1, turn))
    }
}
