//! Where the entries of L are.

/// The most lanes of a register.
pub(crate) const MAX_LANES: usize = 16;

/// The L of as many matrices as a register has lanes: the columns of their lower triangles one after the other, each entry as a
/// register of one scalar for each matrix.
#[derive(Clone, Copy)]
pub(crate) struct Packed<T> {
    at: *mut T,
    /// Rows for which there is room.
    capacity: usize,
    lanes: usize,
}

impl<T> Packed<T> {
    /// `at` is the first of [`entries`](entries) × `lanes` scalars.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub fn new(at: *mut T, capacity: usize, lanes: usize) -> Self {
        Self { at, capacity, lanes }
    }

    /// The register of entry (i, j), for j ≤ i.
    #[inline(always)]
    pub fn entry(self, i: usize, j: usize) -> *mut T {
        debug_assert!(j <= i && i < self.capacity);
        self.at.wrapping_add(place(self.capacity, i, j) * self.lanes)
    }

    /// The register of entry (0, 0), also if there is none.
    #[inline(always)]
    pub fn first(self) -> *mut T {
        self.at
    }

    /// The register of entry (j + 1, j + 1), after that of entry (j, j).
    #[inline(always)]
    pub fn next_pivot(self, pivot: *mut T, j: usize) -> *mut T {
        pivot.wrapping_add((self.capacity - j) * self.lanes)
    }
}

/// The number of entries of a lower triangle with this many rows.
#[inline(always)]
pub(crate) fn entries(rows: usize) -> usize {
    rows * (rows + 1) / 2
}

/// The place of entry (i, j) among the entries of a lower triangle with `rows` rows.
#[inline(always)]
pub(crate) fn place(rows: usize, i: usize, j: usize) -> usize {
    // The columns before have rows, rows − 1, … entries.
    j * (2 * rows - j - 1) / 2 + i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_one_after_the_other() {
        for rows in 1..9 {
            let all = (0..rows).flat_map(|j| (j..rows).map(move |i| (i, j)));
            let places: Vec<_> = all.map(|(i, j)| place(rows, i, j)).collect();
            assert!(places.iter().copied().eq(0..entries(rows)), "{rows} rows: {places:?}");
        }
    }
}
