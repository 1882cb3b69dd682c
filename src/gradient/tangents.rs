//! The tangent of a modification by columns of V of one sign: the schedule over panels.

use super::pack::{clear, contiguous, pack_diagonal, unpack};
use super::parts::{Part, Whole, for_each_part, in_runs};
use super::sweep::{Factors, columns, finish_diagonal, four, square, tiles};
use super::tiles::{GROUP, Scratch};
use crate::real::Real;
use cholupdate_kernels::gradient::columns::ColumnsMut;
use cholupdate_kernels::gradient::diagonal::PushDiagonal;
use cholupdate_kernels::gradient::push::Push;
use cholupdate_kernels::gradient::step::Step;
use cholupdate_kernels::gradient::tile::TILE;
use cholupdate_kernels::isa::Isa;
use core::ops::Range;
use faer::{MatMut, MatRef};

/// The steps of a panel and their tangents.
struct Steps<'a, T> {
    steps: &'a [Step<T>],
    pivots: &'a [(T, T)],
    /// As in [`Push`].
    a: &'a [T],
    signed: &'a [T],
    tangents: &'a [T],
    signed_tangents: &'a [T],
}

impl<T: Real> Factors<'_, T> {
    /// Pushes the tangent of L forward to that of L', which is written to `to` with zeros above the diagonal. The state holds V and its
    /// tangent.
    pub fn push(&self, tangent: MatRef<'_, T>, mut to: MatMut<'_, T>, scratch: &mut Scratch<'_, T>) {
        for start in (0..self.extents.n).step_by(TILE) {
            let panel = self.panel(start);
            let to = to.as_mut().subcols_mut(panel.start, panel.len());
            self.push_panel(panel, tangent, to, scratch);
        }
    }

    fn push_panel(
        &self,
        panel: Range<usize>,
        tangent: MatRef<'_, T>,
        mut to: MatMut<'_, T>,
        scratch: &mut Scratch<'_, T>,
    ) {
        let Self { l, new, extents, .. } = *self;
        let k = extents.k;
        let (mut steps, mut pivots) = ([Step::none(); TILE], [(T::ZERO, T::ZERO); TILE]);
        panel.clone().zip(&mut pivots).for_each(|(at, pivot)| pivot.0 = tangent[(at, at)]);
        let [a, with_signs, tangents, signed_tangents] =
            scratch.coefficients.each_mut().map(|all| &mut all[..panel.len() * k]);
        let [packed_l, packed_new, packed_tangent, packed_to] = four(scratch.diagonal, extents.packed());
        let work = PushDiagonal {
            pivots: &self.pivots(&panel)[..panel.len()],
            pivot_tangents: &mut pivots[..panel.len()],
            signs: scratch.signs,
            sign_tangents: scratch.sign_tangents,
            k,
            l: pack_diagonal(square(l, &panel), packed_l),
            new: pack_diagonal(square(new, &panel), packed_new),
            tangent: pack_diagonal(square(tangent, &panel), packed_tangent),
            to: packed_to,
            tile: &mut scratch.state[panel.start / TILE * extents.tile()..][..extents.tile()],
            steps: &mut steps[..panel.len()],
            a,
            signed: with_signs,
            tangents,
            signed_tangents,
        };
        T::push_diagonal(Isa::detect(), work);
        finish_diagonal(packed_to, &pivots.map(|(_, alpha)| alpha)[..panel.len()]);
        unpack(packed_to, to.as_mut().subrows_mut(panel.start, panel.len()));
        let whole = Whole { state: scratch.state, sums: scratch.sums, packed: scratch.packed, to };
        let len = panel.len();
        let steps = Steps {
            steps: &steps[..len],
            pivots: &pivots[..len],
            a,
            signed: with_signs,
            tangents,
            signed_tangents,
        };
        self.push_below(&panel, &steps, tangent, whole);
    }

    /// The rows below the diagonal block; above it, zeros are written.
    fn push_below(
        &self,
        panel: &Range<usize>,
        steps: &Steps<'_, T>,
        tangent: MatRef<'_, T>,
        whole: Whole<'_, T>,
    ) {
        let Self { l, new, extents, .. } = *self;
        let in_place = [l, new, tangent, whole.to.as_ref()].into_iter().all(contiguous);
        for_each_part(whole, extents, self.threads(panel), |part| {
            let rows = part.rows(extents, panel.end);
            let Part { index, state, packed, mut to, .. } = part;
            let first = index * GROUP * TILE;
            let above = panel.start.saturating_sub(first).min(to.nrows());
            clear(to.as_mut().subrows_mut(0, above), self.past());
            in_runs(rows, in_place, |rows, is_packed| {
                let state = tiles(state, &rows, first, extents);
                let [packed_l, packed_new, packed_tangent, packed_to] = four(packed, extents.packed());
                let mut to = to.as_mut().subrows_mut(rows.start - first, rows.len());
                let work = Push {
                    steps: steps.steps,
                    pivots: steps.pivots,
                    a: steps.a,
                    signed: steps.signed,
                    tangents: steps.tangents,
                    signed_tangents: steps.signed_tangents,
                    k: extents.k,
                    l: columns(l, &rows, panel, is_packed, packed_l),
                    new: columns(new, &rows, panel, is_packed, packed_new),
                    tangent: columns(tangent, &rows, panel, is_packed, packed_tangent),
                    to: match is_packed {
                        true => ColumnsMut::Packed(packed_to),
                        false => ColumnsMut::View(to.as_mut()),
                    },
                    past: self.past() && !is_packed,
                    state,
                };
                T::push(Isa::detect(), work);
                if is_packed {
                    unpack(packed_to, to);
                }
            });
        });
    }
}
