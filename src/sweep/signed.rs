//! A modification as asked for: V and its weights, checked before anything is touched.

use crate::check::{COLUMNS_AT_ONCE, extent, largest_entries};
use crate::error::Error;
use crate::scalar::Scalar;
use faer::{MatRef, Par};

/// Weights of the columns of V.
#[derive(Clone, Copy)]
pub enum Weights<'a, T> {
    /// All 1: an update.
    Plus,
    /// All −1: a downdate.
    Minus,
    /// One a column.
    Each(&'a [T]),
}

impl<T: Scalar> Weights<'_, T> {
    /// Whether they go with V of that shape, and V with A of that order; and whether they are finite.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `v` or `weights`.
    pub fn check(&self, order: usize, (rows, columns): (usize, usize)) -> Result<(), Error> {
        extent("v", "rows", order, rows)?;
        let Self::Each(w) = self else { return Ok(()) };
        extent("weights", "entries", columns, w.len())?;
        match w.iter().position(|w| !w.is_finite()) {
            Some(row) => Err(Error::NonFinite { argument: "weights", row, column: 0 }),
            None => Ok(()),
        }
    }

    pub fn of(&self, column: usize) -> T {
        match self {
            Self::Plus => T::ONE,
            Self::Minus => -T::ONE,
            Self::Each(w) => w[column],
        }
    }

    /// How many of so many columns have a plus sign, and how many a minus.
    #[cfg(feature = "cuda")]
    pub fn signs(&self, columns: usize) -> (usize, usize) {
        let count = |sign: T| (0..columns).filter(|&r| self.of(r) * sign > T::ZERO).count();
        (count(T::ONE), count(-T::ONE))
    }

    /// For each of so many columns, from the first on: which column of the signed V it becomes, those with a plus sign
    /// first, and the factor √|w| it is scaled by; none where w is 0.
    #[cfg(feature = "cuda")]
    pub fn places(&self, columns: usize) -> impl Iterator<Item = Option<(usize, T)>> {
        let mut next = [0, self.signs(columns).0];
        (0..columns).map(move |r| {
            let weight = self.of(r);
            let next = &mut next[usize::from(weight < T::ZERO)];
            (weight != T::ZERO).then(|| {
                *next += 1;
                (*next - 1, weight.abs().sqrt())
            })
        })
    }
}

/// What V diag(w) Vᵀ with V (n × k) is to a factor, wherever V may be.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    /// Columns with a positive weight.
    pub plus: usize,
    /// Columns with a negative weight.
    pub minus: usize,
    /// The first row of V that is not zero, n if there is none.
    pub first_row: usize,
    /// An upper bound of the 2-norm of any row of V diag(√|w|) that has a plus sign.
    pub row_norm: f64,
}

impl Outline {
    /// Of no columns.
    pub fn new(order: usize) -> Self {
        Self { plus: 0, minus: 0, first_row: order, row_norm: 0.0 }
    }

    /// Takes note of a column of V: its weight, the magnitude of its largest entry, and its first row before the one
    /// given that is not zero; k is the number of columns.
    ///
    /// # Errors
    /// `Overflow`: V and w are finite, but √|w| v and its square must be as well.
    pub fn add<T: Scalar>(
        &mut self,
        (weight, largest): (T, T),
        k: usize,
        first_row: impl FnOnce(usize) -> Option<usize>,
    ) -> Result<(), Error> {
        let square = weight.abs().to_f64().sqrt() * largest.to_f64();
        let square = square * square * k as f64;
        if !(square <= T::LARGE_SQUARE.to_f64()) {
            return Err(Error::Overflow { argument: "v" });
        }
        if weight == T::ZERO {
            return Ok(());
        }
        if weight > T::ZERO {
            self.plus += 1;
            self.row_norm = self.row_norm.max(square.sqrt());
        } else {
            self.minus += 1;
        }
        self.first_row = first_row(self.first_row).unwrap_or(self.first_row);
        Ok(())
    }

    /// The first column of L (n × n) to work on, or `None` where nothing changes.
    ///
    /// Rounded down to where a cache line of L starts; the columns between are transformed by the identity,
    /// which is exact.
    pub fn first_column<T>(&self, order: usize) -> Option<usize> {
        let line = 64 / size_of::<T>();
        (self.rank() > 0 && self.first_row < order).then_some(self.first_row / line * line)
    }

    /// Columns of V that count: those whose weight is not zero.
    pub fn rank(&self) -> usize {
        self.plus + self.minus
    }
}

/// A + V diag(w) Vᵀ with V (n × k) and w (k) known to be finite and of the right shape.
#[derive(Clone, Copy)]
pub struct Change<'a, T> {
    pub v: MatRef<'a, T>,
    pub weights: Weights<'a, T>,
    pub outline: Outline,
}

impl<'a, T: Scalar> Change<'a, T> {
    /// Checks the arguments, a large V on the threads of `par`.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `v` or `weights`.
    pub fn new(v: MatRef<'a, T>, weights: Weights<'a, T>, order: usize, par: Par) -> Result<Self, Error> {
        weights.check(order, v.shape())?;
        Self::scanned(v, weights, |_, columns, largest| largest_entries(columns, largest, par))
    }

    /// As [`new`](Self::new), of what fits together. `scan` gets some columns of V, and the first one's number, and has
    /// the largest magnitude in each, or its first row that is not finite.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`.
    pub fn scanned(
        v: MatRef<'a, T>,
        weights: Weights<'a, T>,
        mut scan: impl FnMut(usize, MatRef<'a, T>, &mut [Result<T, usize>]),
    ) -> Result<Self, Error> {
        let (order, k) = v.shape();
        let mut outline = Outline::new(order);
        let mut largest = [Ok(T::ZERO); COLUMNS_AT_ONCE];
        for (r, column) in v.col_iter().enumerate() {
            let at = r % COLUMNS_AT_ONCE;
            if at == 0 {
                let together = COLUMNS_AT_ONCE.min(k - r);
                scan(r, v.subcols(r, together), &mut largest[..together]);
            }
            let largest = largest[at].map_err(|row| Error::NonFinite { argument: "v", row, column: r })?;
            outline.add((weights.of(r), largest), k, |end| (0..end).find(|&i| column[i] != T::ZERO))?;
        }
        Ok(Self { v, weights, outline })
    }

    /// As [`Outline::first_column`].
    pub fn first_column(&self, order: usize) -> Option<usize> {
        self.outline.first_column::<T>(order)
    }

    /// As [`Outline::rank`].
    pub fn rank(&self) -> usize {
        self.outline.rank()
    }

    /// The column of V that becomes column `r` < rank of the signed V, with the factor √|w| it is scaled
    /// by: plus signs first.
    pub fn columns(&self) -> impl Iterator<Item = (MatRef<'a, T>, T)> + '_ {
        let pick = |sign: T| {
            (0..self.v.ncols()).filter_map(move |r| {
                let weight = self.weights.of(r) * sign;
                (weight > T::ZERO).then(|| (self.v.subcols(r, 1), weight.sqrt()))
            })
        };
        pick(T::ONE).chain(pick(-T::ONE))
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn columns_have_the_places_in_which_they_are_listed() {
        let least = f64::from_bits(1);
        let w = [-2.0, 3.0, 0.0, -least, least, 1e300, -0.0, -1e-300];
        let weights = Weights::Each(&w);
        let v = Mat::from_fn(1, w.len(), |_, r| (1 + r) as f64 * 1e-160);
        let change = Change::new(v.as_ref(), weights, 1, Par::Seq).unwrap();
        let (plus, minus) = weights.signs(w.len());
        assert_eq!((plus, minus), (change.outline.plus, change.outline.minus));
        let mut listed: Vec<_> = change.columns().map(|(column, scale)| (column[(0, 0)], scale)).collect();
        for (entry, place) in v.row(0).iter().zip(weights.places(w.len())) {
            if let Some((at, scale)) = place {
                assert_eq!(listed[at], (*entry, scale));
                listed[at].0 = 0.0;
            }
        }
        assert!(listed.len() == 6 && listed.iter().all(|&(entry, _)| entry == 0.0));
    }
}
