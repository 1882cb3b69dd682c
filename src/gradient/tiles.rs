//! How V, its cotangent or tangent, and the working memory are laid out: tiles of rows, groups of tiles.

use super::lanes::Lanes;

/// Rows of a tile, and columns of L in a panel: the diagonal block of a panel lies in one tile.
pub(super) const TILE: usize = 32;
/// Tiles of a group. A group is one thread's part, and its sums are added up by themselves, so that the result does not depend on the
/// number of threads.
pub(super) const GROUP: usize = 8;
/// Sums over rows for each column, besides one for each column of V.
pub(super) const MORE_SUMS: usize = 3;

/// Bytes of the largest register, and of a line of the cache.
pub(super) const LINE: usize = 64;

/// Shapes of the working memory for a sweep over L (n × n) with V (n × k).
#[derive(Clone, Copy)]
pub(super) struct Extents {
    pub n: usize,
    pub k: usize,
}

impl Extents {
    pub fn tiles(self) -> usize {
        self.n.div_ceil(TILE)
    }
    pub fn groups(self) -> usize {
        self.tiles().div_ceil(GROUP)
    }
    /// Columns of the panel that begins with column `start`.
    pub fn panel_cols(self, start: usize) -> usize {
        TILE.min(self.n - start)
    }
    /// Scalars of a tile: V and what goes with it, each column of a tile contiguous.
    pub fn tile(self) -> usize {
        2 * self.k * TILE
    }
    /// Scalars of the sums of a group over a panel: a register for each.
    pub fn sums<T>(self) -> usize {
        TILE.min(self.n) * self.sums_each::<T>()
    }
    /// Scalars of the sums of one column.
    pub fn sums_each<T>(self) -> usize {
        (self.k + MORE_SUMS) * (LINE / size_of::<T>())
    }
    /// Scalars of a packed tile of a panel of one matrix.
    pub fn packed(self) -> usize {
        TILE.min(self.n) * TILE
    }
    /// Scalars of all working memory of a sweep.
    pub fn scratch<T>(self) -> usize {
        self.tiles() * self.tile()
            + self.groups() * (self.sums::<T>() + 4 * self.packed())
            + 4 * self.packed()
            + 4 * TILE * self.k
            + self.sums_each::<T>()
            + TILE * (self.k + MORE_SUMS)
            + 2 * self.k
    }
}

/// The working memory of a sweep, divided.
pub(super) struct Scratch<'a, T> {
    /// V and what goes with it. (tiles, k, 2, TILE)
    pub state: &'a mut [T],
    /// For each group.
    pub sums: &'a mut [T],
    /// Packed tiles, for each group.
    pub packed: &'a mut [T],
    /// The packed diagonal block of each matrix.
    pub diagonal: &'a mut [T],
    /// Four numbers for each column of the panel and of V.
    pub coefficients: [&'a mut [T]; 4],
    /// The sums of one column.
    pub column: &'a mut [T],
    /// The sums of all columns of the panel, added up. (TILE × (k + 3))
    pub totals: &'a mut [T],
    /// Signs of the columns of V, and what the tangents of weights of zero add to them.
    pub signs: &'a mut [T],
    pub sign_tangents: &'a mut [T],
}

impl<'a, T: Lanes> Scratch<'a, T> {
    /// Divides memory of at least [`Extents::scratch`] scalars.
    pub fn new(memory: &'a mut [T], extents: Extents) -> Self {
        let mut rest = memory;
        let mut take = |len: usize| {
            let (taken, others) = core::mem::take(&mut rest).split_at_mut(len);
            rest = others;
            taken
        };
        let (panel, groups) = (TILE * extents.k, extents.groups());
        Self {
            state: take(extents.tiles() * extents.tile()),
            sums: take(groups * extents.sums::<T>()),
            column: take(extents.sums_each::<T>()),
            totals: take(TILE * (extents.k + MORE_SUMS)),
            packed: take(groups * 4 * extents.packed()),
            diagonal: take(4 * extents.packed()),
            coefficients: [take(panel), take(panel), take(panel), take(panel)],
            signs: take(extents.k),
            sign_tangents: take(extents.k),
        }
    }
}

/// Memory that grows to the largest size that was asked for, and begins at a line of the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory<T>(Vec<T>);

impl<T> Memory<T> {
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// This many scalars, of any value.
    pub fn at_least(&mut self, len: usize) -> &mut [T]
    where
        T: Lanes,
    {
        let line = LINE / size_of::<T>();
        if self.0.len() < len + line {
            self.0.clear();
            self.0.resize(len + line, T::NULL);
        }
        let past = self.0.as_ptr().addr() % LINE / size_of::<T>();
        let start = if past == 0 { 0 } else { line - past };
        &mut self.0[start..start + len]
    }
}
