//! How V, its cotangent or tangent, and the working memory are laid out: tiles of rows, groups of tiles.

use crate::real::Real;
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::gradient::tile::{LINE, MORE_SUMS, TILE};

/// Tiles of a group. A group is one thread's part, and its sums are added up by themselves, so that the result does not depend on the
/// number of threads.
pub(super) const GROUP: usize = 8;

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
            + self.sums::<T>()
            + self.k
            + MORE_SUMS
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
    /// The sums of all groups.
    pub all_sums: &'a mut [T],
    /// The sums of one column, added up. (k + 2)
    pub totals: &'a mut [T],
    /// Signs of the columns of V, and what the tangents of weights of zero add to them.
    pub signs: &'a mut [T],
    pub sign_tangents: &'a mut [T],
}

impl<'a, T: Real> Scratch<'a, T> {
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
            all_sums: take(extents.sums::<T>()),
            packed: take(groups * 4 * extents.packed()),
            diagonal: take(4 * extents.packed()),
            coefficients: [take(panel), take(panel), take(panel), take(panel)],
            // Last, as these are no multiples of a register.
            totals: take(extents.k + MORE_SUMS),
            signs: take(extents.k),
            sign_tangents: take(extents.k),
        }
    }
}

/// This many scalars of the working memory, of any value.
pub(super) fn at_least<T: Real>(memory: &mut Buffer<T>, len: usize) -> &mut [T] {
    memory.reserve(len);
    &mut memory.as_mut_slice()[..len]
}
