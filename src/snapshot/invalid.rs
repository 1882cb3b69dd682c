//! What can be wrong with data.

use crate::error::Error;
use core::fmt;
use serde::de;

/// Why data is not that of a factor.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Invalid {
    /// A field is not what the others require.
    #[error(transparent)]
    Field(#[from] Error),
    #[error("the pivot of column {column} of `l` is {found}, but must be positive")]
    Pivot { column: usize, found: f64 },
    #[error("the pivot of column {column} of `l` is not real")]
    Complex { column: usize },
    #[error("`singular` is {found}, but must be the first column of `l` whose pivot is zero")]
    Singular { found: usize },
    #[error("its order is {found}, but the largest order of the batch is {largest}")]
    Order { found: usize, largest: usize },
    #[error("matrix {matrix}: {why}")]
    Matrix { matrix: usize, why: Box<Invalid> },
}

impl Invalid {
    /// As an error of a deserializer, for the data of a factor of this type.
    pub fn of<E: de::Error>(&self, kind: impl fmt::Display) -> E {
        E::custom(format_args!("not a valid {kind}: {self}"))
    }
}

/// Why a factor could not be made of data that has been checked, as an error of a deserializer. `Overflow` is a property of the data;
/// other errors, such as too little memory, are not.
pub(crate) fn refused<E: de::Error>(error: Error, kind: impl fmt::Display) -> E {
    match error {
        Error::Overflow { .. } => Invalid::from(error).of(kind),
        error => E::custom(error),
    }
}
