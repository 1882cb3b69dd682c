//! Modifications of a small L, without what a sweep prepares for large ones.

use super::factor::HostFactor;
use super::kernels::small::{FEW, Few, MOST_ROWS, Made, Small};
use crate::host::isa::Isa;
use crate::real::Real;
use crate::storage::Direct;
use crate::sweep::weights::Weights;
use faer::MatRef;

impl<T: Real> HostFactor<T> {
    /// [`Swept::modify_directly`](crate::storage::Swept::modify_directly), for a V of one column.
    #[inline(always)]
    pub(super) fn modify_small(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T>) -> Option<Direct> {
        let l = self.l_mut();
        let order = l.nrows();
        if v.shape() != (order, 1) || !(1..=MOST_ROWS).contains(&order) {
            return None;
        }
        let (scale, sign) = match weights {
            Weights::Plus => (T::ONE, T::ONE),
            Weights::Minus => (T::ONE, -T::ONE),
            // The sum of squares is not finite if the weight is not.
            Weights::Each(&[weight]) => {
                (weight.abs().sqrt(), if weight < T::ZERO { -T::ONE } else { T::ONE })
            }
            Weights::Each(_) => return None,
        };
        let at = (l.as_ptr_mut(), l.col_stride());
        let v = (v.as_ptr(), if order == 1 { 1 } else { v.row_stride() });
        // SAFETY: L is borrowed exclusively, and zero above the diagonal. Its columns are whole cache lines apart.
        let small = unsafe { Small::new(at, v, order, (scale, sign)) };
        let made = match order {
            ..=FEW => T::modify_few(Isa::detect(), Few(small)),
            _ => T::modify_small(Isa::detect(), small),
        }?;
        let Made { report, square } = made;
        Some(Direct { report, added: if sign > T::ZERO { square } else { 0.0 } })
    }
}
