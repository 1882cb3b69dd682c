//! V diag(w) Vᴴ as a sweep reads it: checked, scaled by √|w|, columns with a plus sign first.

use super::outline::{Outline, Seen, outline};
#[cfg(any(feature = "cuda", feature = "opencl"))]
use super::rank_blocks::RankBlocks;
use super::weights::Weights;
use crate::check::{largest_entries, largest_entry};
use crate::error::Error;
use crate::host::share::Share;
use cholupdate_kernels::number::{Float, Number};
#[cfg(any(feature = "cuda", feature = "opencl"))]
use core::ops::Range;
use faer::{ColRef, MatRef, Par};
#[cfg(any(feature = "cuda", feature = "opencl"))]
use rayon::prelude::*;

/// The order of the columns of one V, and data about them, where R is the type of its real numbers. The memory is kept, so later
/// calls allocate nothing.
#[derive(Clone, Debug)]
pub(crate) struct Signed<R> {
    /// For each column of the signed V: the index of its column of V, and the factor √|w|.
    sources: Vec<(usize, R)>,
    plus: usize,
    seen: Vec<Seen<R>>,
    /// For each column of V: its place in the rank blocks, and the scale with the sign of its weight.
    #[cfg(feature = "cuda")]
    places: Vec<Option<(usize, R)>>,
}

impl<R> Default for Signed<R> {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            plus: 0,
            seen: Vec::new(),
            #[cfg(feature = "cuda")]
            places: Vec::new(),
        }
    }
}

impl<R: Float> Signed<R> {
    /// Reserves room for `columns` columns.
    #[inline(always)]
    pub fn reserve(&mut self, columns: usize) {
        self.sources.clear();
        self.sources.reserve(columns);
        self.seen.clear();
        self.seen.reserve(columns);
    }

    /// Orders this number of columns: those with a plus sign come before those with a minus sign, and those of weight zero are
    /// left out. All other calls refer to this order.
    #[inline(always)]
    pub fn order(&mut self, weights: Weights<'_, R>, columns: usize) {
        self.sources.clear();
        let of_sign = |sign: R| {
            (0..columns).filter_map(move |r| {
                let weight = weights.of(r) * sign;
                (weight > R::ZERO).then(|| (r, weight.sqrt()))
            })
        };
        self.sources.extend(of_sign(R::ONE));
        self.plus = self.sources.len();
        self.sources.extend(of_sign(-R::ONE));
    }

    /// Removes the columns that consist of zeros, and updates the outline. They change nothing, but as part of a block of
    /// columns they would change its rounding errors.
    #[inline(always)]
    pub fn leave_out_zeros(&mut self, outline: &mut Outline) {
        let Self { sources, plus, seen, .. } = self;
        let not_zero = |&(r, _): &(usize, R)| seen[r].largest > R::ZERO;
        *plus = sources[..*plus].iter().filter(|source| not_zero(source)).count();
        sources.retain(not_zero);
        (outline.plus, outline.minus) = (*plus, sources.len() - *plus);
    }

    /// The numbers of columns of each sign.
    #[cfg(feature = "cuda")]
    pub fn signs(&self) -> (usize, usize) {
        (self.plus, self.sources.len() - self.plus)
    }

    /// For each column of the signed V: the index of its column of V, and the factor √|w|.
    #[cfg(feature = "cuda")]
    pub fn sources(&self) -> &[(usize, R)] {
        &self.sources
    }

    /// The columns of the signed V, each with the factor √|w| by which it has not been scaled. Those with a minus sign are in
    /// reverse order, so that a downdate undoes an update by the same V step by step.
    #[inline(always)]
    pub fn columns<'a, T: Number<Part = R>>(
        &'a self,
        v: MatRef<'a, T>,
    ) -> impl Iterator<Item = (ColRef<'a, T>, R)> + 'a {
        let (plus, minus) = self.sources.split_at(self.plus);
        plus.iter().chain(minus.iter().rev()).map(move |&(r, scale)| (v.col(r), scale))
    }

    /// Checks V, on the threads of `par` if it is large.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`.
    #[inline(always)]
    pub fn check<T: Number<Part = R>>(
        &mut self,
        v: MatRef<'_, T>,
        weights: Weights<'_, R>,
        par: Par,
    ) -> Result<Outline, Error> {
        self.seen.clear();
        self.seen.resize(v.ncols(), Seen::NOTHING);
        largest_entries(v, par, &mut self.seen, |seen, found| *seen = Seen::new(found));
        self.outline(v, weights)
    }

    /// The same on several threads.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_on<T: Number<Part = R>>(
        &mut self,
        share: &Share,
        v: MatRef<'_, T>,
        weights: Weights<'_, R>,
    ) -> Result<Outline, Error> {
        self.seen.clear();
        self.seen.resize(v.ncols(), Seen::NOTHING);
        share.each_of(&mut self.seen, &|r, seen| *seen = Seen::new(largest_entry(v.col(r))));
        self.outline(v, weights)
    }

    /// Looks at some rows of V, and returns the data about its columns.
    #[cfg(feature = "distributed")]
    pub fn look<T: Number<Part = R>>(&mut self, v: MatRef<'_, T>, par: Par) -> &mut [Seen<R>] {
        self.seen.clear();
        self.seen.resize(v.ncols(), Seen::NOTHING);
        largest_entries(v, par, &mut self.seen, |seen, found| *seen = Seen::new(found));
        &mut self.seen
    }

    /// The outline of a V (`order` rows) of which [`look`](Self::look) has seen some rows, after the data about its columns have been
    /// completed. `first` has the first row of each column that is not zero.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    #[cfg(feature = "distributed")]
    pub fn outline_of_all(
        &self,
        order: usize,
        weights: Weights<'_, R>,
        first: &[usize],
    ) -> Result<Outline, Error> {
        outline(order, weights, self.seen.iter().copied(), |column, end| {
            (first[column] < end).then_some(first[column])
        })
    }

    /// Computes the outline of V from the data about all columns.
    #[inline(always)]
    fn outline<T: Number<Part = R>>(
        &self,
        v: MatRef<'_, T>,
        weights: Weights<'_, R>,
    ) -> Result<Outline, Error> {
        let first_not_zero = |column: usize, end| (0..end).find(|&i| v[(i, column)] != T::ZERO);
        outline(v.nrows(), weights, self.seen.iter().copied(), first_not_zero)
    }
}

/// y ← scale x, for the entries of x.
#[cfg(any(feature = "cuda", feature = "opencl"))]
#[inline(always)]
pub(crate) fn copy_scaled<T: Number>(y: &mut [T], x: ColRef<'_, T>, scale: T::Part) {
    match x.try_as_col_major() {
        Some(x) => y.iter_mut().zip(x.as_slice()).for_each(|(y, &x)| *y = x.times(scale)),
        None => y.iter_mut().zip(x.iter()).for_each(|(y, &x)| *y = x.times(scale)),
    }
}

/// V in rank blocks, column-major, as devices read it.
#[cfg(any(feature = "cuda", feature = "opencl"))]
impl<R: Float> Signed<R> {
    /// The rank blocks of the columns in the current order.
    #[cfg(feature = "cuda")]
    pub fn blocks(&self, width: usize) -> RankBlocks {
        let (plus, minus) = self.signs();
        RankBlocks::new(width, plus, minus)
    }

    /// For each column of V: its place in the blocks and the scale √|w|, with the sign of w; `None` if w is 0.
    #[cfg(feature = "cuda")]
    pub fn places(&mut self, blocks: &RankBlocks, columns: usize) -> &[Option<(usize, R)>] {
        self.places.clear();
        self.places.resize(columns, None);
        for (at, &(r, scale)) in self.sources.iter().enumerate() {
            let signed = if at < self.plus { scale } else { -scale };
            self.places[r] = Some((blocks.place_of(at), signed));
        }
        &self.places
    }

    /// Whether the blocks have these columns of V in their order, each with the factor 1.
    #[cfg(feature = "cuda")]
    pub fn are_as_given(&self, blocks: &RankBlocks, columns: usize) -> bool {
        let is_as_given =
            |(at, &(r, scale)): (usize, &(usize, R))| blocks.place_of(at) == r && scale == R::ONE;
        self.sources.len() == columns && self.sources.iter().enumerate().all(is_as_given)
    }

    /// Writes `rows` of V diag(√|w|) in its blocks, with columns `stride` apart. Columns of zeros are not written.
    pub fn pack<T: Number<Part = R>>(
        &mut self,
        v: MatRef<'_, T>,
        blocks: &RankBlocks,
        rows: Range<usize>,
        (to, stride): (&mut [T], usize),
    ) {
        self.each_column(v, blocks, (to, stride), |to, column, scale| {
            copy_scaled(&mut to[rows.clone()], column.subrows(rows.start, rows.len()), scale);
            Seen::NOTHING
        });
    }

    /// Checks V and packs all of its rows, reading it once.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    #[cfg(feature = "cuda")]
    pub fn check_and_pack<T: Number<Part = R>>(
        &mut self,
        (v, weights): (MatRef<'_, T>, Weights<'_, R>),
        blocks: &RankBlocks,
        (to, stride): (&mut [T], usize),
    ) -> Result<Outline, Error> {
        self.each_column(v, blocks, (to, stride), |to, column, scale| {
            Seen::new(copy_and_find_largest(&mut to[..v.nrows()], column, scale))
        });
        // From places to columns of V; those of weight zero have no place.
        self.seen.resize(blocks.columns() + v.ncols(), Seen::NOTHING);
        for (at, &(r, _)) in self.sources.iter().enumerate() {
            self.seen[blocks.columns() + r] = self.seen[blocks.place_of(at)];
        }
        self.seen.drain(..blocks.columns());
        for r in (0..v.ncols()).filter(|&r| weights.of(r) == R::ZERO) {
            self.seen[r] = Seen::new(largest_entry(v.col(r)));
        }
        self.outline(v, weights)
    }

    /// Calls `copy` for each column of V that has a place, with the column's factor and its `stride` scalars of memory, and
    /// stores the returned data by place. Runs on the threads of the current rayon pool if V is large.
    fn each_column<T: Number<Part = R>>(
        &mut self,
        v: MatRef<'_, T>,
        blocks: &RankBlocks,
        (to, stride): (&mut [T], usize),
        copy: impl Fn(&mut [T], ColRef<'_, T>, R) -> Seen<R> + Sync,
    ) {
        /// Bytes from which on waking threads pays.
        const WORTH_SHARING: usize = 1 << 20;
        let Self { sources, seen, .. } = self;
        seen.clear();
        seen.resize(blocks.columns(), Seen::NOTHING);
        let one = |(place, (to, seen)): (usize, (&mut [T], &mut Seen<R>))| {
            if let Some(at) = blocks.column_at(place) {
                let (r, scale) = sources[at];
                *seen = copy(to, v.col(r), scale);
            }
        };
        let to = &mut to[..blocks.columns() * stride];
        if sources.len() * v.nrows() * size_of::<T>() < WORTH_SHARING {
            to.chunks_exact_mut(stride).zip(seen.iter_mut()).enumerate().for_each(one);
        } else {
            to.par_chunks_exact_mut(stride).zip(seen.par_iter_mut()).enumerate().for_each(one);
        }
    }
}

/// y ← scale x. Returns the largest magnitude in x, or its first row that is not finite.
#[cfg(feature = "cuda")]
fn copy_and_find_largest<T: Number>(y: &mut [T], x: ColRef<'_, T>, scale: T::Part) -> Result<T::Part, usize> {
    /// Scalars that are read a second time while they are in the cache.
    const BLOCK: usize = 256;
    y.chunks_mut(BLOCK).enumerate().try_fold(T::Part::ZERO, |largest, (number, y)| {
        let first = number * BLOCK;
        let x = x.subrows(first, y.len());
        copy_scaled(y, x, scale);
        largest_entry(x).map(|entry| largest.max(entry)).map_err(|row| first + row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "cuda")]
    use faer::Mat;

    #[test]
    fn columns_come_by_sign_and_without_weights_of_zero() {
        let least = f64::from_bits(1);
        let w = [-2.0, 3.0, 0.0, -least, least, 1e300, -0.0, -1e-300];
        let mut signed = Signed::default();
        signed.order(Weights::Each(&w), w.len());
        let columns: Vec<_> = signed.sources.iter().map(|&(r, _)| r).collect();
        assert_eq!((signed.plus, columns), (3, vec![1, 4, 5, 0, 3, 7]));
        assert!(signed.sources.iter().all(|&(r, scale)| scale == w[r].abs().sqrt()));
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn v_is_packed_in_its_blocks_and_seen_on_the_way() {
        let (n, w) = (700, [1.0, -4.0, 0.0, 9.0, 1.0, -1.0, -1.0]);
        let mut v = Mat::from_fn(n, w.len(), |i, r| (i * 7 + r) as f64 / 100.0 - 1.0);
        let weights = Weights::Each(&w);
        let (mut signed, stride) = (Signed::default(), n + 3);
        signed.order(weights, w.len());
        let blocks = signed.blocks(2);
        let mut packed = vec![f64::NAN; blocks.columns() * stride];
        let seen = signed.check_and_pack((v.as_ref(), weights), &blocks, (&mut packed, stride)).unwrap();
        let checked = signed.check(v.as_ref(), weights, Par::Seq).unwrap();
        assert_eq!(format!("{seen:?}"), format!("{checked:?}"));
        for place in 0..blocks.columns() {
            let found = &packed[place * stride..][..n];
            match blocks.column_at(place).map(|at| signed.sources[at]) {
                Some((r, scale)) => assert!((0..n).all(|i| found[i] == scale * v[(i, r)])),
                None => assert!(found.iter().all(|x| x.is_nan())),
            }
        }
        // A column of weight zero is checked too, and the first of several columns is reported.
        (v[(600, 2)], v[(5, 6)]) = (f64::NAN, f64::INFINITY);
        let refused = signed.check_and_pack((v.as_ref(), weights), &blocks, (&mut packed, stride));
        assert_eq!(refused.unwrap_err(), Error::NonFinite { argument: "v", row: 600, column: 2 });
        assert!(signed.check(v.as_ref(), weights, Par::Seq).is_err());
    }
}
