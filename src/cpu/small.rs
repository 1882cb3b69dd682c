//! Modifications of a small L, without what a sweep prepares for large ones.

use super::factor::HostFactor;
use super::kernels::entries::Entries;
use super::kernels::low_rank::{BLOCK, Coefficients, Diagonal, LowRank};
use super::kernels::small::{Blocks, FEW, Few, MOST_ROWS, Made, Small};
use crate::host::interrupt::is_interruptible;
use crate::host::isa::Isa;
use crate::real::Real;
use crate::report::{Health, Modification};
use crate::storage::{Direct, Safeguard};
use crate::sweep::weights::Weights;
use core::mem::MaybeUninit;
use faer::MatRef;

/// The largest number of columns of V, and those of which the sweep also applies each separately.
const MOST_COLUMNS: usize = 3;

impl<T: Real> HostFactor<T> {
    /// [`Swept::modify_directly`](crate::storage::Swept::modify_directly).
    #[inline(always)]
    pub(super) fn modify_small(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T>) -> Option<Direct> {
        let (order, rank) = v.shape();
        if order != self.l_mut().nrows() || !(1..=MOST_ROWS).contains(&order) {
            return None;
        }
        // Only a sweep asks whether to stop. An update is not asked.
        if !matches!(weights, Weights::Plus) && is_interruptible() {
            return None;
        }
        match rank {
            1 => self.modify_by_one(v, weights),
            2..=MOST_COLUMNS => self.modify_by_some(v, weights),
            _ => None,
        }
    }

    /// V has one column, and as many rows as L.
    #[inline(always)]
    fn modify_by_one(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T>) -> Option<Direct> {
        let (l, order) = (self.l_mut(), v.nrows());
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
            ..=FEW => T::modify_few(Isa::detect(), Few(&small)),
            _ => T::modify_small(Isa::detect(), Blocks(&small)),
        }?;
        let Made { least, product, square } = made;
        let report = Modification::of_product(least * least, product);
        Some(Direct { report, added: if sign > T::ZERO { square } else { 0.0 } })
    }

    /// V has two or three columns, and as many rows as L: the diagonal step of a sweep, with all columns in one panel. L' is written
    /// to the shadow buffer.
    #[inline(never)]
    fn modify_by_some(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T>) -> Option<Direct> {
        let (order, rank) = v.shape();
        if let Weights::Each(w) = weights
            && w.len() != rank
        {
            return None;
        }
        let mut staged = Staged { columns: [[T::ZERO; MOST_ROWS]; MOST_COLUMNS], count: 0, square: 0.0 };
        for r in (0..rank).filter(|&r| weights.of(r) > T::ZERO) {
            staged.take(v, r, weights.of(r))?;
        }
        let (plus, added) = (staged.count, staged.square);
        // In the order of a sweep, so that a downdate undoes an update step by step.
        for r in (0..rank).rev().filter(|&r| weights.of(r) < T::ZERO) {
            staged.take(v, r, -weights.of(r))?;
        }
        let far_from_overflow = staged.square <= (T::LARGE_SQUARE * T::UNIT).to_f64();
        if staged.count < rank || !far_from_overflow || self.safeguard() != Safeguard::ShadowBuffer {
            return None;
        }
        let (l, stride) = (self.l_mut().as_ptr(), self.l_mut().col_stride());
        let shadow = self.make_shadow();
        let (dst, dst_stride) = (shadow.as_ptr_mut(), shadow.col_stride());
        const SETS: usize = MOST_ROWS / BLOCK * MOST_COLUMNS;
        let mut coefficients = MaybeUninit::<[Coefficients<T>; SETS]>::uninit();
        let mut health = Health::default();
        let low_rank = LowRank {
            l: Entries { src: l, src_stride: stride, dst, dst_stride },
            v: staged.columns.as_mut_ptr().cast(),
            v_stride: MOST_ROWS,
            rank,
            plus,
            stream: false,
            large: false,
        };
        // SAFETY: L and the shadow are n × n and borrowed exclusively, V and the coefficients are here, with a set for each block of
        // columns and column of V.
        let step =
            unsafe { Diagonal::new(low_rank, 0..order, coefficients.as_mut_ptr().cast(), &mut health) };
        // If it breaks down, a sweep finds it again.
        T::low_rank_diagonal(Isa::detect(), step).ok()?;
        self.exchange();
        Some(Direct { report: health.report(0), added })
    }
}

/// Columns of V, scaled, those with a plus sign first.
struct Staged<T> {
    columns: [[T; MOST_ROWS]; MOST_COLUMNS],
    count: usize,
    /// The sum of their squares.
    square: f64,
}

impl<T: Real> Staged<T> {
    /// Adds column `r` of V times √w. Returns `None` if a sweep would leave it out, since it is zero, or refuse it.
    #[inline(always)]
    fn take(&mut self, v: MatRef<'_, T>, r: usize, weight: T) -> Option<()> {
        let (scale, to) = (weight.sqrt(), &mut self.columns[self.count]);
        let mut square = T::ZERO;
        for (to, &x) in to.iter_mut().zip(v.col(r).iter()) {
            *to = scale * x;
            square += *to * *to;
        }
        self.count += 1;
        self.square += square.to_f64();
        // False for NaN.
        (square > T::ZERO).then_some(())
    }
}
