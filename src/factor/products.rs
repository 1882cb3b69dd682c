//! Products with the current factor.

use super::Factor;
use crate::check::{extent, finite, room_for_copy};
use crate::element::Element;
use crate::error::Error;
use crate::host::empty::without_rows;
use crate::operand::{Operand, OperandMut};
use crate::storage::{Op, Side, Storage};
use faer::Mat;

impl<T: Element, F: Storage<T>> Factor<T, F> {
    /// Multiplies by L or Lᴴ, for these sides one after the other.
    pub(super) fn multiply(&self, sides: &[Side], x: &Operand<'_, T>) -> Result<Mat<T>, Error> {
        let factor = self.guarded.healthy()?;
        extent("x", "rows", self.order(), x.shape().0)?;
        if self.order() == 0 {
            return Ok(without_rows(x.shape().1));
        }
        room_for_copy::<T>("x", x.shape())?;
        let mut product = x.on_host()?.into_owned();
        finite("x", product.as_ref())?;
        for &side in sides {
            factor.apply(Op::Multiply(side), OperandMut::Host(product.as_mut()))?;
        }
        Ok(product)
    }

    pub(super) fn multiply_in_place(&self, sides: &[Side], x: OperandMut<'_, T>) -> Result<(), Error> {
        self.guarded.healthy()?;
        extent("x", "rows", self.order(), x.shape().0)?;
        x.change_on_host(|mut x| {
            let product = self.multiply(sides, &Operand::Host(x.as_ref()))?;
            x.copy_from(product);
            Ok(())
        })
    }
}
