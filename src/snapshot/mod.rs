//! Factors as plain data in host memory, which serde writes and reads.
//!
//! | file | holds |
//! |---|---|
//! | `format` | what all data begins with: the type of the factor, and of its numbers |
//! | `triangle` | L, packed |
//! | `sequence` | sequences of which an error names the element |
//! | `invalid` | what can be wrong with data |
//!
//! What a snapshot of each type of factor has is beside that type: `cholesky/snapshot.rs`, `ldlt/snapshot.rs`, `batch/snapshot.rs`. The
//! errors of a factor are in `history/kept.rs`.
//!
//! Sizes are checked before they are used, against the number of entries or the available memory, and so are the entries of L: data may be
//! damaged, or come from another program. Estimates of errors are not compared with L.

mod format;
mod invalid;
mod sequence;
mod triangle;

pub(crate) use self::format::{Format, OfBatch, OfCholesky, OfLdlt};
pub(crate) use self::invalid::{Invalid, refused};
pub(crate) use self::sequence::{Sequence, read_sequence};
pub(crate) use self::triangle::Triangle;
