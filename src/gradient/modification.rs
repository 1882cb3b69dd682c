//! A modification by weights of both signs is two of one sign each, one after the other, with a factor in between.

use super::pack::zero;
use super::sweep::Factors;
use super::tangent::{CotangentsMut, Modified, Tangents};
use super::tiles::{Extents, Scratch, at_least};
use crate::cpu::{Cpu, InPlace, Workspace};
use crate::error::Error;
use crate::host::layout::copy_lower;
use crate::operand::Operand;
use crate::real::Real;
use crate::sweep::weights::Weights;
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::gradient::tile::TILE;
use faer::{MatMut, MatRef};

/// Which columns of V a stage takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// All, whose weights have one sign.
    Only,
    /// Weights that are not negative.
    First,
    /// Negative weights.
    Second,
}

/// L and L' of a stage.
type Pair<'a, T> = (MatRef<'a, T>, MatRef<'a, T>);

/// The factor between the stages (n × n), memory for another matrix of this size, and the working memory of either stage.
struct Between<'m, T> {
    factor: MatRef<'m, T>,
    other: &'m mut [T],
    memory: &'m mut [T],
}

/// Working memory: of the stages, and of the modification between them.
pub(super) type Memory<'a, T> = (&'a mut Buffer<T>, &'a mut Workspace<T>);

/// What is differentiated, and on which threads.
#[derive(Clone, Copy)]
pub(super) struct Given<'a, T> {
    pub of: &'a Modified<'a, T>,
    pub engine: &'a Cpu,
}

impl<T: Real + InPlace> Given<'_, T> {
    fn weight(&self, column: usize) -> T {
        self.of.weights.of(column)
    }

    fn is_mixed(&self) -> bool {
        match self.of.weights {
            Weights::Each(w) => w.iter().any(|&w| w > T::ZERO) && w.iter().any(|&w| w < T::ZERO),
            _ => false,
        }
    }

    /// The columns that a stage takes.
    fn taken(&self, stage: Stage) -> impl Iterator<Item = usize> {
        let takes =
            move |c: usize| stage == Stage::Only || (self.weight(c) < T::ZERO) == (stage == Stage::Second);
        (0..self.of.v.ncols()).filter(move |&c| takes(c))
    }

    fn extents(&self, stage: Stage) -> Extents {
        Extents { n: self.of.l.nrows(), k: self.taken(stage).count() }
    }

    fn factors<'b>(&self, (l, new): Pair<'b, T>, extents: Extents) -> Factors<'b, T> {
        Factors { l, new, extents, threads: self.engine.threads.par().degree() }
    }

    /// √|w|, by which a column of V is scaled, or 1 for a weight of 0, which is the sign of such a column.
    fn scale(&self, column: usize) -> T {
        let w = self.weight(column);
        if w == T::ZERO { T::ONE } else { w.abs().sqrt() }
    }

    /// Writes V, scaled, to the state, and the signs; what goes with it is zero.
    fn load(&self, stage: Stage, extents: Extents, scratch: &mut Scratch<'_, T>) {
        scratch.state.fill(T::ZERO);
        for (r, c) in self.taken(stage).enumerate() {
            let (w, scale) = (self.weight(c), self.scale(c));
            scratch.signs[r] = match () {
                () if w > T::ZERO => T::ONE,
                () if w < T::ZERO => -T::ONE,
                () => w,
            };
            scratch.sign_tangents[r] = T::ZERO;
            fill(self.of.v, c, (2 * r, extents), scratch.state, |_, v| scale * v);
        }
    }

    /// Writes Q, the cotangent of V before its weight, as those of V and w.
    fn store(
        &self,
        stage: Stage,
        extents: Extents,
        scratch: &Scratch<'_, T>,
        to: (&mut MatMut<'_, T>, &mut [T]),
    ) {
        let (of_v, of_weights) = to;
        let half = T::ONE / T::TWO;
        for (r, c) in self.taken(stage).enumerate() {
            let inverse = T::ONE / self.scale(c);
            // w / √|w|, without its rounding.
            let signed = scratch.signs[r] * self.scale(c);
            let mut sum = T::ZERO;
            for (t, tile) in scratch.state.chunks_exact(extents.tile()).enumerate() {
                let q = &tile[(2 * r + 1) * TILE..][..TILE];
                let rows = t * TILE..((t + 1) * TILE).min(extents.n);
                for (i, &q) in rows.zip(q) {
                    sum += self.of.v[(i, c)] * q;
                    of_v[(i, c)] = signed * q;
                }
            }
            of_weights[c] = half * (sum * inverse);
        }
    }

    /// The cotangents of L, V and w.
    pub fn pull(
        &self,
        cotangent: MatRef<'_, T>,
        to: CotangentsMut<'_, T>,
        (memory, workspace): Memory<'_, T>,
    ) -> Result<(), Error> {
        let CotangentsMut { l: of_l, v: mut of_v, weights: of_weights } = to;
        let (l, new, n) = (self.of.l, self.of.new, self.of.l.nrows());
        if self.of.v.ncols() == 0 || n == 0 {
            of_weights.fill(T::ZERO);
            copy_triangle(cotangent, of_l);
        } else if !self.is_mixed() {
            let memory = at_least(memory, self.extents(Stage::Only).scratch::<T>());
            self.pull_stage(Stage::Only, (l, new), cotangent, (of_l, &mut of_v, of_weights), memory);
        } else {
            let Between { factor, other: pulled, memory } = self.between(memory, workspace)?;
            let to = MatMut::from_column_major_slice_mut(pulled, n, n);
            self.pull_stage(Stage::Second, (factor, new), cotangent, (to, &mut of_v, of_weights), memory);
            let pulled = MatRef::from_column_major_slice(pulled, n, n);
            self.pull_stage(Stage::First, (l, factor), pulled, (of_l, &mut of_v, of_weights), memory);
        }
        Ok(())
    }

    /// The cotangents of the L of a stage, and of its columns of V and w.
    fn pull_stage(
        &self,
        stage: Stage,
        pair: Pair<'_, T>,
        cotangent: MatRef<'_, T>,
        (of_l, of_v, of_weights): (MatMut<'_, T>, &mut MatMut<'_, T>, &mut [T]),
        memory: &mut [T],
    ) {
        let extents = self.extents(stage);
        let (factors, mut scratch) = (self.factors(pair, extents), Scratch::new(memory, extents));
        self.load(stage, extents, &mut scratch);
        factors.eliminate(&mut scratch);
        factors.pull(cotangent, of_l, &mut scratch);
        self.store(stage, extents, &scratch, (of_v, of_weights));
    }

    /// What stands between the stages.
    fn between<'m>(
        &self,
        memory: &'m mut Buffer<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<Between<'m, T>, Error> {
        let [first, second] = [Stage::First, Stage::Second].map(|stage| self.extents(stage));
        let n = first.n;
        let working = first.scratch::<T>().max(second.scratch::<T>()).max(n * first.k);
        let (factor, rest) = at_least(memory, 2 * n * n + working).split_at_mut(n * n);
        let (other, memory) = rest.split_at_mut(n * n);
        let v = &mut memory[..n * first.k];
        for (to, c) in v.chunks_exact_mut(n).zip(self.taken(Stage::First)) {
            // The weight of a column that is 0 counts.
            let scale = if self.weight(c) == T::ZERO { T::ZERO } else { self.scale(c) };
            to.iter_mut().zip(self.of.v.col(c).iter()).for_each(|(to, &v)| *to = scale * v);
        }
        let v = Operand::Host(MatRef::from_column_major_slice(v, n, first.k));
        let to = MatMut::from_column_major_slice_mut(factor, n, n);
        T::modify_into(self.of.l, &v, Weights::Plus, to, self.engine, workspace)?;
        let factor = MatRef::from_column_major_slice(factor, n, n);
        Ok(Between { factor, other, memory })
    }

    /// The tangent of L'.
    pub fn push(
        &self,
        along: &Tangents<'_, T>,
        to: MatMut<'_, T>,
        (memory, workspace): Memory<'_, T>,
    ) -> Result<(), Error> {
        let (l, new, n) = (self.of.l, self.of.new, self.of.l.nrows());
        if self.of.v.ncols() == 0 || n == 0 {
            copy_triangle(along.l, to);
        } else if !self.is_mixed() {
            let memory = at_least(memory, self.extents(Stage::Only).scratch::<T>());
            self.push_stage(Stage::Only, (l, new), along, to, memory);
        } else {
            let Between { factor, other: pushed, memory } = self.between(memory, workspace)?;
            let middle = MatMut::from_column_major_slice_mut(pushed, n, n);
            self.push_stage(Stage::First, (l, factor), along, middle, memory);
            let along = Tangents { l: MatRef::from_column_major_slice(pushed, n, n), ..*along };
            self.push_stage(Stage::Second, (factor, new), &along, to, memory);
        }
        Ok(())
    }

    /// The tangent of the L' of a stage.
    fn push_stage(
        &self,
        stage: Stage,
        pair: Pair<'_, T>,
        along: &Tangents<'_, T>,
        to: MatMut<'_, T>,
        memory: &mut [T],
    ) {
        let extents = self.extents(stage);
        let (factors, mut scratch) = (self.factors(pair, extents), Scratch::new(memory, extents));
        self.load_tangents(stage, extents, along, &mut scratch);
        factors.push(along.l, to, &mut scratch);
    }

    /// As [`load`](Self::load), and the tangent of the scaled V, which goes with it.
    fn load_tangents(
        &self,
        stage: Stage,
        extents: Extents,
        along: &Tangents<'_, T>,
        scratch: &mut Scratch<'_, T>,
    ) {
        self.load(stage, extents, scratch);
        let half = T::ONE / T::TWO;
        for (r, c) in self.taken(stage).enumerate() {
            let (w, scale) = (self.weight(c), self.scale(c));
            let dw = along.weights.map_or(T::ZERO, |dw| dw[c]);
            let mut of_scale = T::ZERO;
            if w == T::ZERO {
                // A column of weight 0 does not enter, and its tangent does by the weight alone.
                scratch.sign_tangents[r] = dw;
            } else {
                of_scale = half * (dw / w) * scale;
            }
            let v = self.of.v;
            fill(along.v, c, (2 * r + 1, extents), scratch.state, |i, dv| scale * dv + of_scale * v[(i, c)]);
        }
    }
}

/// Writes a function of column `c` of a matrix to column `r` of each tile, of which V and what goes with it have two for each of theirs.
fn fill<T: Real>(
    from: MatRef<'_, T>,
    c: usize,
    (r, extents): (usize, Extents),
    state: &mut [T],
    entry: impl Fn(usize, T) -> T,
) {
    let column = from.col(c);
    for (t, tile) in state.chunks_exact_mut(extents.tile()).enumerate() {
        let rows = t * TILE..((t + 1) * TILE).min(extents.n);
        for (i, to) in rows.zip(&mut tile[r * TILE..][..TILE]) {
            *to = entry(i, column[i]);
        }
    }
}

/// Copies a lower triangle; zeros above it.
fn copy_triangle<T: Real>(from: MatRef<'_, T>, mut to: MatMut<'_, T>) {
    zero(to.as_mut());
    let columns = 0..to.ncols();
    copy_lower(from, to, columns);
}
