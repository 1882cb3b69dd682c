//! Registers of several numbers, one from each of as many columns.

use crate::number::Number;

/// W numbers. Methods that access memory, or that need instructions that not every processor has, are unsafe.
pub trait Lanes<T: Number, const W: usize>: Copy {
    /// A rotation, for all lanes.
    type Rotation: Copy;

    /// # Safety
    /// The processor has the instructions, and W entries are readable.
    unsafe fn load(from: *const T) -> Self;
    /// # Safety
    /// The processor has the instructions, and W entries are writable.
    unsafe fn store(self, to: *mut T);
    /// # Safety
    /// The processor has the instructions.
    unsafe fn rotation(c: T::Real, s: T) -> Self::Rotation;
    /// c a + s b.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn sum(q: Self::Rotation, a: Self, b: Self) -> Self;
    /// c a − s̄ b.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn difference(q: Self::Rotation, a: Self, b: Self) -> Self;
    /// Transposes a tile: W columns of W entries become W rows.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn transposed(tile: [Self; W]) -> [Self; W];
}

/// c a + s b.
#[inline(always)]
pub fn sum<T: Number>((c, s): (T::Real, T), a: T, b: T) -> T {
    a.scale(c) + s * b
}

/// c a − s̄ b.
#[inline(always)]
pub fn difference<T: Number>((c, s): (T::Real, T), a: T, b: T) -> T {
    a.scale(c) - s.conj() * b
}

impl<T: Number, const W: usize> Lanes<T, W> for [T; W] {
    type Rotation = (T::Real, T);

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller guarantees the entries.
        unsafe { from.cast::<[T; W]>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller guarantees the entries.
        unsafe { to.cast::<[T; W]>().write(self) }
    }

    #[inline(always)]
    unsafe fn rotation(c: T::Real, s: T) -> (T::Real, T) {
        (c, s)
    }

    #[inline(always)]
    unsafe fn sum(q: (T::Real, T), a: Self, b: Self) -> Self {
        core::array::from_fn(|lane| sum(q, a[lane], b[lane]))
    }

    #[inline(always)]
    unsafe fn difference(q: (T::Real, T), a: Self, b: Self) -> Self {
        core::array::from_fn(|lane| difference(q, a[lane], b[lane]))
    }

    #[inline(always)]
    unsafe fn transposed(tile: [Self; W]) -> [Self; W] {
        core::array::from_fn(|row| core::array::from_fn(|column| tile[column][row]))
    }
}
