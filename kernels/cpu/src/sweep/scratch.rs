//! Intermediate storage for a tile of L between the reflectors of the two signs.

use super::apply::Tile;
use super::reflector::OneSign;
use super::shape::{MAX_LANES, WIDE};
use crate::number::Number;
use core::mem::MaybeUninit;

/// Contains a tile of L between its two reflectors, of the plus and of the minus columns of V, and after the last one if
/// nothing is written.
#[repr(align(64))]
pub struct Scratch<T: Number>(MaybeUninit<[T; WIDE.1 * ROWS]>);

/// Rows of the tallest tile.
const ROWS: usize = WIDE.0 * MAX_LANES;

impl<T: Number> Scratch<T> {
    #[inline(always)]
    pub fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// The steps of a tile through the reflectors: for each sign that occurs, the tile of L and of these columns of V. It has
    /// at most `WIDE.1` columns and `ROWS` rows, as all tiles of the micro-kernels have.
    #[inline(always)]
    pub fn ways(
        &mut self,
        signed: [OneSign; 2],
        mut at: Tile<T>,
    ) -> impl Iterator<Item = (OneSign, Tile<T>)> {
        let (own, stride) = (self.0.as_mut_ptr().cast::<T>(), ROWS as isize);
        if at.dst.is_null() {
            (at.dst, at.dst_stride) = (own, stride);
        }
        let v = at.v;
        let both = signed[0].rank > 0 && signed[1].rank > 0;
        signed.into_iter().filter(|signed| signed.rank > 0).map(move |signed| {
            let mut way = Tile { v: v.wrapping_add(signed.first * at.v_stride), ..at };
            if both && !signed.minus {
                (way.dst, way.dst_stride, way.stream) = (own, stride, false);
            } else if both {
                (way.src, way.src_stride, way.ahead) = (own, stride, 0);
            }
            (signed, way)
        })
    }
}
