//! A history as plain data.

use super::{History, Rows};
use crate::check::extent;
use crate::error::Error;
use crate::snapshot::{Sequence, read_sequence};
use serde::{Deserialize, Deserializer, Serialize};

/// The errors that modifications have left in the rows of A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the errors that modifications have left")]
pub(crate) struct Kept {
    modifications: usize,
    /// a_ii.
    #[serde(deserialize_with = "diagonal")]
    diagonal: Vec<f64>,
    /// e_i, in units of u.
    #[serde(deserialize_with = "errors")]
    errors: Vec<f64>,
}

fn diagonal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    read_sequence(deserializer, Sequence::Entries("diagonal"))
}

fn errors<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    read_sequence(deserializer, Sequence::Entries("errors"))
}

impl Kept {
    /// Of a history whose errors are estimated from the diagonal of A.
    pub fn of(mut history: History) -> Self {
        history.record();
        debug_assert!(history.rows.is_some(), "the history of a copied factor has the diagonal of A");
        let (diagonal, errors) = history.rows.map(Rows::into_parts).unwrap_or_default();
        // Without infinities, which not every format has.
        let errors = errors.into_iter().map(|error| error.min(f64::MAX)).collect();
        Self { modifications: history.modifications, diagonal, errors }
    }

    /// Checks the entries of a factor of this order.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `OutOfRange`, naming the field.
    pub fn check(&self, order: usize) -> Result<(), Error> {
        for (argument, entries) in [("diagonal", &self.diagonal), ("errors", &self.errors)] {
            extent(argument, "entries", order, entries.len())?;
            if let Some(row) = entries.iter().position(|entry| !entry.is_finite()) {
                return Err(Error::NonFinite { argument, row, column: 0 });
            }
            if entries.iter().any(|&entry| entry < 0.0) {
                return Err(Error::OutOfRange { argument, rule: "at least 0" });
            }
        }
        Ok(())
    }

    pub fn to_history(&self) -> History {
        let rows = Rows::with_errors(self.diagonal.clone(), self.errors.clone());
        History { modifications: self.modifications, rows: Some(rows), ..History::default() }
    }
}
