//! A lower triangle as plain data.

use super::invalid::Invalid;
use super::sequence::Sequence;
use crate::check::extent;
use crate::element::Element;
use crate::error::Error;
use crate::host::layout::zeros;
use cholupdate_kernels::number::{Float, Number};
use core::fmt;
use core::marker::PhantomData;
use faer::{Mat, MatRef};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The lower triangle of L, packed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields, expecting = "a lower triangle")]
pub(crate) struct Triangle<T: Number> {
    /// n.
    pub order: usize,
    /// The first column whose pivot is zero, if there is one. By it a zero that the factor has had differs from one of a damaged file.
    pub singular: Option<usize>,
    l: Packed<T>,
}

impl<T: Element> Triangle<T> {
    /// Copies the lower triangle of a factor. (n × n)
    pub fn of(l: MatRef<'_, T>) -> Self {
        let order = l.nrows();
        let mut entries = Vec::with_capacity(order * (order + 1) / 2);
        (0..order).for_each(|j| entries.extend((j..order).map(|i| l[(i, j)])));
        let singular = (0..order).find(|&j| l[(j, j)] == T::ZERO);
        Self { order, singular, l: Packed(entries) }
    }

    /// Checks the number of entries, that all are finite, and that pivots are real and positive, or zeros as declared.
    ///
    /// # Errors
    /// The first that is wrong.
    pub fn check(&self) -> Result<(), Invalid> {
        let (order, singular) = (self.order, self.singular);
        let entries = order as u128 * (order as u128 + 1) / 2;
        extent("l", "entries", entries.try_into().unwrap_or(usize::MAX), self.l.0.len())?;
        for (column, entries) in self.columns() {
            if let Some(below) = entries.iter().position(|entry| !entry.is_finite()) {
                return Err(Error::NonFinite { argument: "l", row: column + below, column }.into());
            }
            let pivot = entries[0].real();
            if entries[0] != T::of_real(pivot) {
                return Err(Invalid::Complex { column });
            }
            let may_be_zero = singular.is_some_and(|first| first <= column);
            if !(pivot > T::Part::ZERO || (pivot == T::Part::ZERO && may_be_zero)) {
                return Err(Invalid::Pivot { column, found: pivot.to_f64() });
            }
            if pivot != T::Part::ZERO && singular == Some(column) {
                return Err(Invalid::Singular { found: column });
            }
        }
        match singular {
            Some(found) if found >= order => Err(Invalid::Singular { found }),
            _ => Ok(()),
        }
    }

    /// Each column, from the diagonal down. The number of entries has been checked.
    pub fn columns(&self) -> impl Iterator<Item = (usize, &[T])> {
        let mut left = &self.l.0[..];
        (0..self.order).map(move |column| {
            let (entries, others) = left.split_at(self.order - column);
            left = others;
            (column, entries)
        })
    }

    /// The largest sum of squares of a row.
    pub fn largest_square(&self) -> f64 {
        let mut squares = vec![0.0f64; self.order];
        for (j, entries) in self.columns() {
            for (square, entry) in squares[j..].iter_mut().zip(entries) {
                *square += entry.square_to_f64();
            }
        }
        squares.into_iter().fold(0.0, f64::max)
    }

    /// L, zero above the diagonal, in the layout of a factor. The triangle has been checked. (n × n)
    pub fn to_l(&self) -> Mat<T> {
        let mut l = zeros(self.order);
        self.columns().for_each(|(j, entries)| l.col_as_slice_mut(j)[j..].copy_from_slice(entries));
        l
    }
}

/// Entries column by column, as in LAPACK's packed storage; of a complex one its real part and then its imaginary part.
#[derive(Clone, Debug, PartialEq)]
struct Packed<T>(Vec<T>);

impl<T: Number> Serialize for Packed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.0.len() * T::PARTS))?;
        for &part in T::parts(&self.0) {
            // The conversions are exact, and one of the two branches is compiled.
            match size_of::<T::Part>() {
                4 => sequence.serialize_element(&(part.to_f64() as f32))?,
                _ => sequence.serialize_element(&part.to_f64())?,
            }
        }
        sequence.end()
    }
}

impl<'de, T: Number> Deserialize<'de> for Packed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Parts(PhantomData))
    }
}

const ENTRIES: Sequence = Sequence::Entries("l");

struct Parts<T>(PhantomData<T>);

impl<'de, T: Number> de::Visitor<'de> for Parts<T> {
    type Value = Packed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ENTRIES}")
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        /// Entries for which memory is reserved at first, even if the data states a larger number.
        const AT_FIRST: usize = 1 << 16;
        let claimed = sequence.size_hint().unwrap_or(0) / T::PARTS;
        let mut entries = Vec::with_capacity(claimed.min(AT_FIRST));
        while let Some(re) = next::<T::Part, A>(&mut sequence, entries.len())? {
            let im = match T::PARTS {
                1 => T::Part::ZERO,
                _ => next(&mut sequence, entries.len())?
                    .ok_or_else(|| de::Error::custom("the last entry of `l` has no imaginary part"))?,
            };
            entries.push(T::of_parts([re, im]));
        }
        Ok(Packed(entries))
    }
}

/// The next number of a sequence, of the entry `entry`.
fn next<'de, R: Float, A: de::SeqAccess<'de>>(sequence: &mut A, entry: usize) -> Result<Option<R>, A::Error> {
    let number = match size_of::<R>() {
        4 => sequence.next_element::<f32>().map(|x| x.map(|x| R::from_f64(f64::from(x)))),
        _ => sequence.next_element::<f64>().map(|x| x.map(R::from_f64)),
    };
    number.map_err(|error| ENTRIES.error_at(entry, error))
}
