//! Weights of the columns of V in a batch, which are real for all numbers.

use crate::arguments::{array, room};
use crate::status::Refused;
use cholupdate::{BatchWeights, RealScalar, Weights};

/// Weights of the caller's, for `count` matrices and `rank` columns. They are copied if those of different matrices are not
/// neighbours.
///
/// # Safety
/// `weights` is NULL or points to what the header says.
pub unsafe fn weighted<'a, R: RealScalar>(
    weights: *const R,
    stride: i64,
    (count, rank): (usize, usize),
    copied: &'a mut Vec<R>,
) -> Result<BatchWeights<'a, R>, Refused> {
    let distance = between(stride, rank)?;
    if weights.is_null() {
        return Ok(Weights::Plus.into());
    }
    if distance == 0 {
        // SAFETY: the caller guarantees the entries.
        return Ok(Weights::Each(unsafe { array("weights", weights, rank)? }).into());
    }
    let before = count.saturating_sub(1).checked_mul(distance);
    let len = if count == 0 { Some(0) } else { before.and_then(|before| before.checked_add(rank)) };
    // SAFETY: the caller guarantees the entries; an extent that overflows is refused.
    let all = unsafe { array("weights", weights, len.unwrap_or(usize::MAX))? };
    if distance == rank {
        return Ok(BatchWeights::OfEach(all));
    }
    room::<R>("weights_stride", stride, count.checked_mul(rank))?;
    copied.extend((0..count).flat_map(|matrix| &all[matrix * distance..matrix * distance + rank]));
    Ok(BatchWeights::OfEach(copied))
}

/// The distance between the weights of neighbouring matrices for `rank` columns; 0 if all have the same.
pub fn between(stride: i64, rank: usize) -> Result<usize, Refused> {
    let distance = usize::try_from(stride).ok().filter(|&distance| distance == 0 || distance >= rank);
    distance.ok_or_else(|| Refused::invalid("weights_stride", stride, format!("0, or {rank} or more")))
}
