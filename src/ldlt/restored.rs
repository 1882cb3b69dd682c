//! The factor of plain data.

use super::state::Indefinite;
use crate::element::Element;
use crate::error::Error;
use crate::host::threads::Threads;
use crate::snapshot::Triangle;

/// The state of checked data, with any growth.
///
/// # Errors
/// `Overflow`.
pub(super) fn restored<T: Element>(
    factor: &Triangle<T>,
    negative: &[bool],
    threads: Threads,
) -> Result<Indefinite<T>, Error> {
    Indefinite::of_l(threads, factor.to_l(), negative.to_vec())
}
