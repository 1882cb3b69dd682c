//! A modification by weights of both signs is two of one sign each, one after the other, with a factor in between.

use super::sweep::Factors;
use super::tiles::{Extents, Scratch, at_least};
use crate::error::Error;
use crate::real::Real;
use crate::sweep::weights::Weights;
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::gradient::tile::TILE;
use faer::{MatMut, MatRef};

/// Which columns of V a stage takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Weights that are not negative, or all columns if none is positive.
    First,
    /// Negative weights, if there are positive ones as well.
    Second,
}

/// What is differentiated: L Lᵀ + V diag(w) Vᵀ = L' L'ᵀ.
#[derive(Clone, Copy)]
pub(super) struct Given<'a, T> {
    pub l: MatRef<'a, T>,
    pub new: MatRef<'a, T>,
    pub v: MatRef<'a, T>,
    pub weights: Weights<'a, T>,
    /// At most this many.
    pub threads: usize,
}

/// The cotangents to be written.
pub(super) struct To<'a, T> {
    pub l: MatMut<'a, T>,
    pub v: MatMut<'a, T>,
    pub weights: &'a mut [T],
}

/// The tangents of L, V and w.
#[derive(Clone, Copy)]
pub(super) struct Along<'a, T> {
    pub l: MatRef<'a, T>,
    pub v: MatRef<'a, T>,
    pub weights: Option<&'a [T]>,
}

/// Makes the factor of L Lᵀ + V Vᵀ.
pub(super) trait Middle<T> {
    fn factor(&mut self, l: MatRef<'_, T>, v: MatRef<'_, T>, to: MatMut<'_, T>) -> Result<(), Error>;
}

impl<T: Real> Given<'_, T> {
    fn weight(&self, column: usize) -> T {
        self.weights.of(column)
    }

    fn is_mixed(&self) -> bool {
        match self.weights {
            Weights::Each(w) => w.iter().any(|&w| w > T::ZERO) && w.iter().any(|&w| w < T::ZERO),
            _ => false,
        }
    }

    fn takes(&self, stage: Stage, is_mixed: bool, column: usize) -> bool {
        !is_mixed || (self.weight(column) < T::ZERO) == (stage == Stage::Second)
    }

    fn extents(&self, stage: Stage, is_mixed: bool) -> Extents {
        let k = (0..self.v.ncols()).filter(|&c| self.takes(stage, is_mixed, c)).count();
        Extents { n: self.l.nrows(), k }
    }

    /// √|w|, by which a column of V is scaled, or 1 for a weight of 0, which is the sign of such a column.
    fn scale(&self, column: usize) -> T {
        let w = self.weight(column);
        if w == T::ZERO { T::ONE } else { w.abs().sqrt() }
    }

    /// Writes V, scaled, to the state, and the signs; what goes with it is zero.
    fn load(&self, stage: Stage, is_mixed: bool, extents: Extents, scratch: &mut Scratch<'_, T>) {
        scratch.state.fill(T::ZERO);
        let taken = (0..self.v.ncols()).filter(|&c| self.takes(stage, is_mixed, c));
        for (r, c) in taken.enumerate() {
            let (w, scale) = (self.weight(c), self.scale(c));
            scratch.signs[r] = match () {
                () if w > T::ZERO => T::ONE,
                () if w < T::ZERO => -T::ONE,
                () => w,
            };
            scratch.sign_tangents[r] = T::ZERO;
            fill(self.v, c, (2 * r, extents), scratch.state, |_, v| scale * v);
        }
    }

    /// Writes Q, the cotangent of V before its weight, as those of V and w.
    fn store(
        &self,
        stage: Stage,
        is_mixed: bool,
        extents: Extents,
        scratch: &Scratch<'_, T>,
        to: &mut To<'_, T>,
    ) {
        let half = T::ONE / T::TWO;
        let taken = (0..self.v.ncols()).filter(|&c| self.takes(stage, is_mixed, c));
        for (r, c) in taken.enumerate() {
            let inverse = T::ONE / self.scale(c);
            // w / √|w|, without its rounding.
            let signed = scratch.signs[r] * self.scale(c);
            let mut sum = T::ZERO;
            for (t, tile) in scratch.state.chunks_exact(extents.tile()).enumerate() {
                let q = &tile[(2 * r + 1) * TILE..][..TILE];
                let rows = t * TILE..((t + 1) * TILE).min(extents.n);
                for (i, &q) in rows.zip(q) {
                    sum += self.v[(i, c)] * q;
                    to.v[(i, c)] = signed * q;
                }
            }
            to.weights[c] = half * (sum * inverse);
        }
    }

    /// The cotangents of L, V and w.
    pub fn pull(
        &self,
        cotangent: MatRef<'_, T>,
        mut to: To<'_, T>,
        memory: &mut Buffer<T>,
        middle: &mut impl Middle<T>,
    ) -> Result<(), Error> {
        let n = self.l.nrows();
        if self.v.ncols() == 0 || n == 0 {
            to.weights.fill(T::ZERO);
            copy_lower(cotangent, to.l);
            return Ok(());
        }
        let (first, threads) = (self.extents(Stage::First, self.is_mixed()), self.threads);
        if !self.is_mixed() {
            let mut scratch = Scratch::new(at_least(memory, first.scratch::<T>()), first);
            self.load(Stage::First, false, first, &mut scratch);
            let factors = Factors { l: self.l, new: self.new, extents: first, threads };
            factors.eliminate(&mut scratch);
            factors.pull(cotangent, to.l.as_mut(), &mut scratch);
            self.store(Stage::First, false, first, &scratch, &mut to);
            return Ok(());
        }
        let second = self.extents(Stage::Second, true);
        let (between, memory) = self.between(memory, first, second, middle)?;
        let (factor, pulled) = between.split_at_mut(n * n);
        let factor = MatRef::from_column_major_slice(factor, n, n);
        {
            let mut scratch = Scratch::new(&mut *memory, second);
            self.load(Stage::Second, true, second, &mut scratch);
            let factors = Factors { l: factor, new: self.new, extents: second, threads };
            factors.eliminate(&mut scratch);
            factors.pull(cotangent, MatMut::from_column_major_slice_mut(pulled, n, n), &mut scratch);
            self.store(Stage::Second, true, second, &scratch, &mut to);
        }
        let mut scratch = Scratch::new(memory, first);
        self.load(Stage::First, true, first, &mut scratch);
        let factors = Factors { l: self.l, new: factor, extents: first, threads };
        factors.eliminate(&mut scratch);
        factors.pull(MatRef::from_column_major_slice(pulled, n, n), to.l.as_mut(), &mut scratch);
        self.store(Stage::First, true, first, &scratch, &mut to);
        Ok(())
    }

    /// Memory for two matrices, the first of which is the factor between the stages, and the working memory of either stage.
    fn between<'m>(
        &self,
        memory: &'m mut Buffer<T>,
        first: Extents,
        second: Extents,
        middle: &mut impl Middle<T>,
    ) -> Result<(&'m mut [T], &'m mut [T]), Error> {
        let n = first.n;
        let working = first.scratch::<T>().max(second.scratch::<T>()).max(n * first.k);
        let (between, memory) = at_least(memory, 2 * n * n + working).split_at_mut(2 * n * n);
        let v = &mut memory[..n * first.k];
        let taken = (0..self.v.ncols()).filter(|&c| self.takes(Stage::First, true, c));
        for (to, c) in v.chunks_exact_mut(n).zip(taken) {
            // The weight of a column that is 0 counts.
            let scale = if self.weight(c) == T::ZERO { T::ZERO } else { self.scale(c) };
            to.iter_mut().zip(self.v.col(c).iter()).for_each(|(to, &v)| *to = scale * v);
        }
        let v = MatRef::from_column_major_slice(v, n, first.k);
        let to = MatMut::from_column_major_slice_mut(&mut between[..n * n], n, n);
        middle.factor(self.l, v, to)?;
        Ok((between, memory))
    }

    /// The tangent of L'.
    pub fn push(
        &self,
        along: Along<'_, T>,
        to: MatMut<'_, T>,
        memory: &mut Buffer<T>,
        middle: &mut impl Middle<T>,
    ) -> Result<(), Error> {
        let n = self.l.nrows();
        if self.v.ncols() == 0 || n == 0 {
            copy_lower(along.l, to);
            return Ok(());
        }
        let (is_mixed, threads) = (self.is_mixed(), self.threads);
        let first = self.extents(Stage::First, is_mixed);
        if !is_mixed {
            let mut scratch = Scratch::new(at_least(memory, first.scratch::<T>()), first);
            self.load_tangents(Stage::First, false, first, along, &mut scratch);
            Factors { l: self.l, new: self.new, extents: first, threads }.push(along.l, to, &mut scratch);
            return Ok(());
        }
        let second = self.extents(Stage::Second, true);
        let (between, memory) = self.between(memory, first, second, middle)?;
        let (factor, pushed) = between.split_at_mut(n * n);
        let factor = MatRef::from_column_major_slice(factor, n, n);
        {
            let mut scratch = Scratch::new(&mut *memory, first);
            self.load_tangents(Stage::First, true, first, along, &mut scratch);
            let to = MatMut::from_column_major_slice_mut(pushed, n, n);
            Factors { l: self.l, new: factor, extents: first, threads }.push(along.l, to, &mut scratch);
        }
        let mut scratch = Scratch::new(memory, second);
        self.load_tangents(Stage::Second, true, second, along, &mut scratch);
        let pushed = MatRef::from_column_major_slice(pushed, n, n);
        Factors { l: factor, new: self.new, extents: second, threads }.push(pushed, to, &mut scratch);
        Ok(())
    }

    /// As [`load`](Self::load), and the tangent of the scaled V, which goes with it.
    fn load_tangents(
        &self,
        stage: Stage,
        is_mixed: bool,
        extents: Extents,
        along: Along<'_, T>,
        scratch: &mut Scratch<'_, T>,
    ) {
        self.load(stage, is_mixed, extents, scratch);
        let half = T::ONE / T::TWO;
        let taken = (0..self.v.ncols()).filter(|&c| self.takes(stage, is_mixed, c));
        for (r, c) in taken.enumerate() {
            let (w, scale) = (self.weight(c), self.scale(c));
            let dw = along.weights.map_or(T::ZERO, |dw| dw[c]);
            let mut of_scale = T::ZERO;
            if w == T::ZERO {
                // A column of weight 0 does not enter, and its tangent does by the weight alone.
                scratch.sign_tangents[r] = dw;
            } else {
                of_scale = half * (dw / w) * scale;
            }
            let v = self.v;
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
pub(super) fn copy_lower<T: Real>(from: MatRef<'_, T>, mut to: MatMut<'_, T>) {
    for j in 0..to.ncols() {
        for i in 0..to.nrows() {
            to[(i, j)] = if i < j { T::ZERO } else { from[(i, j)] };
        }
    }
}
