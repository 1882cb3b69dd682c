//! The matrices of a batch of factors as plain data, and back.

use super::tiles::{Extent, Tiles};
use crate::element::Element;
use crate::error::Error;
use crate::snapshot::Triangle;
use cholupdate_kernels::number::Number;
use serde::{Deserialize, Serialize};

/// What a snapshot has of a matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) enum Matrix<T: Number> {
    Factor(Triangle<T>),
    /// Why there is none.
    Missing(Why),
}

/// The errors of [`Cholesky::new`](crate::Cholesky::new) and [`Cholesky::from_factor`](crate::Cholesky::from_factor).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Why {
    NonFinite { argument: Argument, row: usize, column: usize },
    Overflow { argument: Argument },
    NotPositiveDefinite { column: usize },
    Poisoned,
}

/// What the batch was made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Argument {
    A,
    L,
}

impl Argument {
    fn of(name: &str) -> Self {
        if name == "l" { Self::L } else { Self::A }
    }

    fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::L => "l",
        }
    }
}

impl Why {
    fn of(error: &Error) -> Self {
        match *error {
            Error::NonFinite { argument, row, column } => {
                Self::NonFinite { argument: Argument::of(argument), row, column }
            }
            Error::Overflow { argument } => Self::Overflow { argument: Argument::of(argument) },
            Error::NotPositiveDefinite { column } => Self::NotPositiveDefinite { column },
            // Not among the errors of a matrix that could not be factored.
            _ => Self::Poisoned,
        }
    }

    fn error(self) -> Error {
        match self {
            Self::NonFinite { argument, row, column } => {
                Error::NonFinite { argument: argument.name(), row, column }
            }
            Self::Overflow { argument } => Error::Overflow { argument: argument.name() },
            Self::NotPositiveDefinite { column } => Error::NotPositiveDefinite { column },
            Self::Poisoned => Error::Poisoned,
        }
    }
}

/// All factors, or why there are none, in order.
pub(super) fn saved<T: Element>(tiles: &Tiles<T>) -> Vec<Matrix<T>> {
    let of = |matrix: usize| {
        let (tile, at) = tiles.of(matrix);
        match tile.missing(at) {
            Some(error) => Matrix::Missing(Why::of(error)),
            None => Matrix::Factor(Triangle::of(tile.factor(tiles.extent, at).as_ref())),
        }
    };
    (0..tiles.extent.count).map(of).collect()
}

/// The factors of checked data.
pub(super) fn restored<T: Element>(extent: Extent, matrices: &[Matrix<T>]) -> Tiles<T> {
    let mut tiles = Tiles::new(extent);
    tiles.each(0, |t, tile, _| {
        for (at, matrix) in extent.matrices(t).enumerate() {
            let factor = match &matrices[matrix] {
                Matrix::Factor(factor) => factor,
                Matrix::Missing(why) => {
                    tile.missing.push((at, why.error()));
                    continue;
                }
            };
            tile.orders[at] = u32::try_from(factor.order).unwrap_or(u32::MAX);
            // Entry by entry, because `Tile::write` would turn negative zeros.
            for (j, column) in factor.columns() {
                for (i, &entry) in (j..).zip(column) {
                    extent.set_entry(tile.l.as_mut_slice(), at, (i, j), entry);
                }
            }
        }
    });
    tiles
}
