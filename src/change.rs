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
    /// Whether they are finite, and as many as there are columns.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `weights`.
    pub fn check(&self, columns: usize) -> Result<(), Error> {
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
    v: MatRef<'a, T>,
    weights: Weights<'a, T>,
    pub outline: Outline,
}

impl<'a, T: Scalar> Change<'a, T> {
    /// Checks the arguments, a large V on the threads of `par`.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `v` or `weights`.
    pub fn new(v: MatRef<'a, T>, weights: Weights<'a, T>, order: usize, par: Par) -> Result<Self, Error> {
        extent("v", "rows", order, v.nrows())?;
        let k = v.ncols();
        weights.check(k)?;
        let mut outline = Outline::new(order);
        let mut largest = [Ok(T::ZERO); COLUMNS_AT_ONCE];
        for (r, column) in v.col_iter().enumerate() {
            let at = r % COLUMNS_AT_ONCE;
            if at == 0 {
                largest_entries(v.subcols(r, COLUMNS_AT_ONCE.min(k - r)), &mut largest, par);
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
