//! Where the entries of L are, and registers in memory.

use crate::number::Number;
use pulp::Simd;

/// The most lanes of a register.
pub const MAX_LANES: usize = 16;

/// The real numbers of a register in memory: one real part for each lane, and then, of complex numbers, as many imaginary parts.
#[inline(always)]
pub fn step<T: Number, S: Simd>() -> usize {
    T::PARTS * T::lanes::<S>()
}

/// A register.
///
/// # Safety
/// There are [`step`] real numbers.
#[inline(always)]
pub unsafe fn load<T: Number, S: Simd>(at: *const T::Part) -> T::Vector<S> {
    // SAFETY: the caller guarantees the real numbers: those of each part.
    unsafe { T::load_parts::<S>(at, T::lanes::<S>()) }
}

/// Writes a register.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn store<T: Number, S: Simd>(at: *mut T::Part, x: T::Vector<S>) {
    // SAFETY: as above.
    unsafe { T::store_parts::<S>(at, T::lanes::<S>(), x) }
}

/// One lane of a register.
///
/// # Safety
/// As [`load`]; there is this lane.
#[inline(always)]
pub unsafe fn read_lane<T: Number, S: Simd>(at: *const T::Part, lane: usize) -> T {
    // SAFETY: the caller guarantees the lane of each part.
    unsafe { T::read_parts(at.add(lane), T::lanes::<S>()) }
}

/// Writes one lane of a register.
///
/// # Safety
/// As [`read_lane`].
#[inline(always)]
pub unsafe fn write_lane<T: Number, S: Simd>(at: *mut T::Part, lane: usize, x: T) {
    for (part, &x) in T::parts(&[x]).iter().enumerate() {
        // SAFETY: the caller guarantees the lane of each part.
        unsafe { at.add(part * T::lanes::<S>() + lane).write(x) };
    }
}

/// The L of as many matrices as a register has lanes: the columns of their lower triangles one after the other, each entry as a
/// register of one scalar for each matrix. R are the real numbers of which these consist.
#[derive(Clone, Copy)]
pub struct Packed<R> {
    at: *mut R,
    /// Rows for which there is room.
    capacity: usize,
    step: usize,
}

impl<R> Packed<R> {
    /// `at` is the first of [`entries`] registers of `step` real numbers.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub fn new(at: *mut R, capacity: usize, step: usize) -> Self {
        Self { at, capacity, step }
    }

    /// The register of entry (i, j), for j ≤ i.
    #[inline(always)]
    pub fn entry(self, i: usize, j: usize) -> *mut R {
        debug_assert!(j <= i && i < self.capacity);
        self.at.wrapping_add(place(self.capacity, i, j) * self.step)
    }

    /// The register of entry (0, 0), also if there is none.
    #[inline(always)]
    pub fn first(self) -> *mut R {
        self.at
    }

    /// The register of entry (j + 1, j + 1), after that of entry (j, j).
    #[inline(always)]
    pub fn next_pivot(self, pivot: *mut R, j: usize) -> *mut R {
        pivot.wrapping_add((self.capacity - j) * self.step)
    }
}

/// The number of entries of a lower triangle with this many rows.
#[inline(always)]
pub fn entries(rows: usize) -> usize {
    rows * (rows + 1) / 2
}

/// The place of entry (i, j) among the entries of a lower triangle with `rows` rows.
#[inline(always)]
pub fn place(rows: usize, i: usize, j: usize) -> usize {
    // The columns before have rows, rows − 1, … entries.
    j * (2 * rows - j - 1) / 2 + i
}
