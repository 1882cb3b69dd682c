//! A modification by columns of V of one sign, differentiated: the schedule over panels.

use super::pack::{clear, contiguous, pack, pack_diagonal, unpack};
use super::parts::{Part, Whole, for_each_part, in_runs};
use super::tiles::{Extents, GROUP, Scratch};
use crate::cpu::tuning::WORTH_STREAMING;
use crate::real::Real;
use cholupdate_kernels::gradient::columns::{Columns, ColumnsMut};
use cholupdate_kernels::gradient::diagonal::{EliminateDiagonal, PullDiagonal};
use cholupdate_kernels::gradient::eliminate::Eliminate;
use cholupdate_kernels::gradient::pull::{AddUp, Pull};
use cholupdate_kernels::gradient::step::{Step, row, signed};
use cholupdate_kernels::gradient::tile::TILE;
use cholupdate_kernels::isa::Isa;
use core::ops::Range;
use faer::{MatMut, MatRef};

/// L and L', of which the lower triangles are read.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a, T> {
    pub l: MatRef<'a, T>,
    pub new: MatRef<'a, T>,
    pub extents: Extents,
    /// At most this many threads.
    pub threads: usize,
}

/// Multiply-adds below a diagonal block from which on other threads are woken.
const WORTH_SHARING: usize = 1 << 18;

impl<T: Real> Factors<'_, T> {
    /// The columns of the panel that begins with column `start`.
    pub fn panel(&self, start: usize) -> Range<usize> {
        start..start + self.extents.panel_cols(start)
    }

    /// The number of threads for the rows below this panel.
    pub fn threads(&self, panel: &Range<usize>) -> usize {
        let Extents { n, k } = self.extents;
        let work = (n - panel.end) * panel.len() * (k + 4);
        if work < WORTH_SHARING { 1 } else { self.threads }
    }

    /// Whether the result is written past the caches: then what is overwritten is not read first.
    pub fn past(&self) -> bool {
        let Extents { n, .. } = self.extents;
        Isa::detect().streams() && n * n * size_of::<T>() > WORTH_STREAMING
    }

    /// The pivots of L and L' in a panel.
    pub fn pivots(&self, panel: &Range<usize>) -> [(T, T); TILE] {
        let mut pivots = [(T::ONE, T::ONE); TILE];
        let all = panel.clone().zip(&mut pivots);
        all.for_each(|(at, pivots)| *pivots = (self.l[(at, at)], self.new[(at, at)]));
        pivots
    }

    /// Takes V through all columns of L: each row of V is left as it is when its step comes.
    pub fn eliminate(&self, scratch: &mut Scratch<'_, T>) {
        for start in (0..self.extents.n).step_by(TILE) {
            self.eliminate_panel(self.panel(start), scratch);
        }
    }

    fn eliminate_panel(&self, panel: Range<usize>, scratch: &mut Scratch<'_, T>) {
        let Self { l, new, extents: Extents { n, k }, .. } = *self;
        let (state, live) = (&mut *scratch.state, [T::ONE; TILE]);
        let (mut steps, a) = ([Step::none(); TILE], &mut scratch.coefficients[0][..panel.len() * k]);
        let [packed_l, packed_new] = two(scratch.diagonal, self.extents.packed());
        let work = EliminateDiagonal {
            pivots: &self.pivots(&panel)[..panel.len()],
            signs: scratch.signs,
            k,
            l: pack_diagonal(square(l, &panel), packed_l),
            new: pack_diagonal(square(new, &panel), packed_new),
            tile: &mut state[panel.start / TILE * self.extents.tile()..][..self.extents.tile()],
            steps: &mut steps[..panel.len()],
            a,
        };
        T::eliminate_diagonal(Isa::detect(), work);
        if panel.end == n {
            return;
        }
        let whole = Whole {
            state,
            sums: scratch.sums,
            packed: scratch.packed,
            to: MatMut::from_column_major_slice_mut(&mut [], n, 0),
        };
        let (steps, a) = (&steps[..panel.len()], &*a);
        for_each_part(whole, self.extents, self.threads(&panel), |part| {
            let rows = part.rows(self.extents, panel.end);
            let Part { index, state, packed, .. } = part;
            let first = index * GROUP * TILE;
            in_runs(rows, contiguous(l) && contiguous(new), |rows, is_packed| {
                let state = tiles(state, &rows, first, self.extents);
                let [packed_l, packed_new] = two(packed, self.extents.packed());
                let work = Eliminate {
                    steps,
                    a,
                    k,
                    l: columns(l, &rows, &panel, is_packed, packed_l),
                    new: columns(new, &rows, &panel, is_packed, packed_new),
                    state,
                    live: &live,
                };
                T::eliminate(Isa::detect(), work);
            });
        });
    }

    /// Pulls the cotangent of L' back to that of L, which is written to `to` with zeros above the diagonal, and to Q in the second
    /// half of the state, which is zero before. V has been eliminated.
    pub fn pull(&self, cotangent: MatRef<'_, T>, mut to: MatMut<'_, T>, scratch: &mut Scratch<'_, T>) {
        for start in (0..self.extents.n).step_by(TILE).rev() {
            let panel = self.panel(start);
            let to = to.as_mut().subcols_mut(panel.start, panel.len());
            self.pull_panel(panel, cotangent, to, scratch);
        }
    }

    fn pull_panel(
        &self,
        panel: Range<usize>,
        cotangent: MatRef<'_, T>,
        mut to: MatMut<'_, T>,
        scratch: &mut Scratch<'_, T>,
    ) {
        let Self { l, new, extents: Extents { k, .. }, .. } = *self;
        let diagonal_tile = panel.start / TILE * self.extents.tile();
        let mut steps = [Step::none(); TILE];
        let [a, with_signs, ..] = &mut scratch.coefficients;
        for (j, at) in panel.clone().enumerate() {
            let (a, with_signs) = (&mut a[j * k..][..k], &mut with_signs[j * k..][..k]);
            row(&scratch.state[diagonal_tile..][..self.extents.tile()], 0, j, a);
            steps[j] = Step::new(self.l[(at, at)], self.new[(at, at)], a, scratch.signs);
            signed(a, scratch.signs, with_signs);
        }
        let (a, with_signs) = (&a[..panel.len() * k], &with_signs[..panel.len() * k]);
        self.pull_below(
            &panel,
            (&steps[..panel.len()], a, with_signs),
            cotangent,
            to.as_mut(),
            Whole {
                state: scratch.state,
                sums: scratch.sums,
                packed: scratch.packed,
                to: MatMut::from_column_major_slice_mut(&mut [], 0, 0),
            },
        );
        let sums = &mut scratch.all_sums[..panel.len() * self.extents.sums_each::<T>()];
        sums.fill(T::ZERO);
        if panel.end < self.extents.n {
            let first = panel.end / (GROUP * TILE);
            for of_group in scratch.sums.chunks_exact(self.extents.sums::<T>()).skip(first) {
                T::add_up(Isa::detect(), AddUp { sums: of_group, to: sums });
            }
        }
        let tile = &mut scratch.state[diagonal_tile..][..self.extents.tile()];
        let [packed_l, packed_new, packed_cotangent, packed_to] =
            four(scratch.diagonal, self.extents.packed());
        let l = pack_diagonal(square(l, &panel), packed_l);
        let new = pack_diagonal(square(new, &panel), packed_new);
        let below_diagonal = pack_diagonal(square(cotangent, &panel), packed_cotangent);
        let mut pivots = [T::ZERO; TILE];
        panel.clone().zip(&mut pivots).for_each(|(at, pivot)| *pivot = cotangent[(at, at)]);
        let work = PullDiagonal {
            steps: &steps[..panel.len()],
            a,
            signed: with_signs,
            k,
            l,
            new,
            cotangent: below_diagonal,
            pivots: &mut pivots[..panel.len()],
            to: packed_to,
            tile,
            sums,
            totals: scratch.totals,
        };
        T::pull_diagonal(Isa::detect(), work);
        finish_diagonal(packed_to, &pivots[..panel.len()]);
        unpack(packed_to, to.subrows_mut(panel.start, panel.len()));
    }

    /// The rows below the diagonal block; above it, zeros are written.
    fn pull_below(
        &self,
        panel: &Range<usize>,
        (steps, a, with_signs): (&[Step<T>], &[T], &[T]),
        cotangent: MatRef<'_, T>,
        to: MatMut<'_, T>,
        whole: Whole<'_, T>,
    ) {
        let Self { l, new, extents, .. } = *self;
        let in_place = [l, new, cotangent, to.as_ref()].into_iter().all(contiguous);
        let live = [T::ONE; TILE];
        for_each_part(Whole { to, ..whole }, extents, self.threads(panel), |part| {
            let rows = part.rows(extents, panel.end);
            let Part { index, state, sums, packed, mut to } = part;
            let first = index * GROUP * TILE;
            let above = panel.start.saturating_sub(first).min(to.nrows());
            clear(to.as_mut().subrows_mut(0, above), self.past());
            if !rows.is_empty() {
                sums[..panel.len() * extents.sums_each::<T>()].fill(T::ZERO);
            }
            in_runs(rows, in_place, |rows, is_packed| {
                let state = tiles(state, &rows, first, extents);
                let [packed_l, packed_new, packed_cotangent, packed_to] = four(packed, extents.packed());
                let mut to = to.as_mut().subrows_mut(rows.start - first, rows.len());
                let work = Pull {
                    steps,
                    a,
                    signed: with_signs,
                    k: extents.k,
                    l: columns(l, &rows, panel, is_packed, packed_l),
                    new: columns(new, &rows, panel, is_packed, packed_new),
                    cotangent: columns(cotangent, &rows, panel, is_packed, packed_cotangent),
                    to: match is_packed {
                        true => ColumnsMut::Packed(packed_to),
                        false => ColumnsMut::View(to.as_mut()),
                    },
                    past: self.past() && !is_packed,
                    state,
                    sums,
                    live: &live,
                };
                T::pull(Isa::detect(), work);
                if is_packed {
                    unpack(packed_to, to);
                }
            });
        });
    }
}

/// The diagonal block of a panel.
pub(super) fn square<'a, T>(a: MatRef<'a, T>, panel: &Range<usize>) -> MatRef<'a, T> {
    a.submatrix(panel.start, panel.start, panel.len(), panel.len())
}

/// Rows of a panel, for a kernel.
pub(super) fn columns<'a, T: Real>(
    a: MatRef<'a, T>,
    rows: &Range<usize>,
    panel: &Range<usize>,
    is_packed: bool,
    packed: &'a mut [T],
) -> Columns<'a, T> {
    let view = a.submatrix(rows.start, panel.start, rows.len(), panel.len());
    if is_packed { Columns::Packed(pack(view, packed)) } else { Columns::View(view) }
}

/// The tiles of these rows; `first` is the first row of the group.
pub(super) fn tiles<'a, T>(
    state: &'a mut [T],
    rows: &Range<usize>,
    first: usize,
    extents: Extents,
) -> &'a mut [T] {
    let range = (rows.start - first) / TILE..(rows.end - first).div_ceil(TILE);
    &mut state[range.start * extents.tile()..range.end * extents.tile()]
}

/// The first two parts of this length.
pub(super) fn two<T>(all: &mut [T], each: usize) -> [&mut [T]; 2] {
    let (first, rest) = all.split_at_mut(each);
    [first, &mut rest[..each]]
}

/// The first four parts of this length.
pub(super) fn four<T>(all: &mut [T], each: usize) -> [&mut [T]; 4] {
    let (first, rest) = all.split_at_mut(2 * each);
    let ([a, b], [c, d]) = (two(first, each), two(rest, each));
    [a, b, c, d]
}

/// Writes the diagonal of a packed diagonal block, and zeros above.
pub(super) fn finish_diagonal<T: Real>(packed: &mut [T], pivots: &[T]) {
    for (j, (column, &pivot)) in packed.chunks_exact_mut(TILE).zip(pivots).enumerate() {
        column[..j].fill(T::ZERO);
        column[j] = pivot;
    }
}
