//! Modifications of a small L without a sweep.

use super::factor::HostFactor;
use crate::element::Element;
use crate::host::interrupt::is_interruptible;
use crate::report::Modification;
use crate::storage::{Direct, Safeguard};
use crate::sweep::weights::Weights;
use cholupdate_kernels::health::Health;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::low_rank::together::MOST;
use cholupdate_kernels::sweep::shape::SMALL_ORDER;
use cholupdate_kernels::sweep::small::{Blocks, FEW, Few, MOST_ROWS, Made, Several, Small};
use faer::MatRef;

/// The largest order at which the chain of roots and divisions, and not the arithmetic, determines the width of registers, which
/// does not change the result.
const MOST_ROWS_NARROW: usize = 64;

impl<T: Element> HostFactor<T> {
    /// [`Swept::modify_directly`](crate::storage::Swept::modify_directly).
    #[inline(always)]
    pub(super) fn modify_small(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T::Part>) -> Option<Direct> {
        let (order, rank) = v.shape();
        let most = match rank {
            _ if T::PARTS > 1 => return None,
            1 => MOST_ROWS,
            2..=MOST => SMALL_ORDER,
            _ => return None,
        };
        if order != self.l_mut().nrows() || !(1..=most).contains(&order) {
            return None;
        }
        // Only a sweep asks whether to stop. An update is not asked.
        if !matches!(weights, Weights::Plus) && is_interruptible() {
            return None;
        }
        match rank {
            1 => self.modify_by_one(v, weights),
            _ => self.modify_by_some(v, weights),
        }
    }

    /// V has one column, and as many rows as L.
    #[inline(always)]
    fn modify_by_one(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T::Part>) -> Option<Direct> {
        let (l, order) = (self.l_mut(), v.nrows());
        let (scale, sign) = match weights {
            Weights::Plus => (T::Part::ONE, T::Part::ONE),
            Weights::Minus => (T::Part::ONE, -T::Part::ONE),
            // The sum of squares is not finite if the weight is not.
            Weights::Each(&[weight]) => {
                (weight.abs().sqrt(), if weight < T::Part::ZERO { -T::Part::ONE } else { T::Part::ONE })
            }
            Weights::Each(_) => return None,
        };
        let at = (l.as_ptr_mut(), l.col_stride());
        let v = (v.as_ptr(), if order == 1 { 1 } else { v.row_stride() });
        // SAFETY: L is borrowed exclusively, and zero above the diagonal. Its columns are whole cache lines apart.
        let small = unsafe { Small::new(at, v, order, (T::of_real(scale), T::of_real(sign))) };
        let made = match order {
            ..=FEW => T::modify_few(Isa::detect(), Few(&small)),
            _ => T::modify_small(Isa::detect(), Blocks(&small)),
        }?;
        let Made { least, product, square } = made;
        let report = Modification::of_product(least * least, product);
        Some(Direct { report, added: if sign > T::Part::ZERO { square } else { 0.0 } })
    }

    /// V has several columns, and as many rows as L. L' is written to the shadow buffer.
    #[inline(never)]
    fn modify_by_some(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T::Part>) -> Option<Direct> {
        let rank = v.ncols();
        if let Weights::Each(w) = weights
            && w.len() != rank
        {
            return None;
        }
        let mut columns = [(0, T::ONE); MOST];
        let mut count = 0;
        for r in (0..rank).filter(|&r| weights.of(r) > T::Part::ZERO) {
            columns[count] = (r, T::of_real(weights.of(r).sqrt()));
            count += 1;
        }
        let plus = count;
        // In the order of a sweep, so that a downdate undoes an update step by step.
        for r in (0..rank).rev().filter(|&r| weights.of(r) < T::Part::ZERO) {
            columns[count] = (r, T::of_real((-weights.of(r)).sqrt()));
            count += 1;
        }
        if count < rank || self.safeguard() != Safeguard::ShadowBuffer {
            return None;
        }
        // A larger shadow buffer is made only where a sweep needs it, which also skips leading zero rows.
        let zeros = || (0..rank).all(|r| v[(0, r)] == T::ZERO);
        if v.nrows() > MOST_ROWS && (!self.has_shadow() || zeros()) {
            return None;
        }
        let (src, src_stride) = (self.l_mut().as_ptr(), self.l_mut().col_stride());
        let shadow = self.make_shadow();
        let (dst, dst_stride) = (shadow.as_ptr_mut(), shadow.col_stride());
        let entries = Entries { src, src_stride, dst, dst_stride };
        let mut health = Health::default();
        // SAFETY: L and the shadow are n × n, as V has rows, zero above the diagonal and borrowed exclusively. Their columns are whole
        // cache lines apart.
        let work = unsafe { Several::new(entries, v, (&columns[..count], plus), &mut health) };
        // If it breaks down, a sweep finds it again.
        let isa = if v.nrows() <= MOST_ROWS_NARROW { Isa::detect().narrow() } else { Isa::detect() };
        let added = T::modify_by_several(isa, work)?;
        self.exchange();
        Some(Direct { report: Modification::of_sweep(&health, 0), added })
    }
}
