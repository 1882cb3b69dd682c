//! Systems of equations with a factor L S Lᴴ, and what is known about A.

use super::state::Indefinite;
use crate::check::{extent, finite};
use crate::cpu::solve::solve;
use crate::element::Element;
use crate::error::Error;
use crate::factor::condition::one_norm;
use crate::host::blocked::product;
use crate::host::empty::without_rows;
use crate::operand::{Operand, OperandMut};
use crate::storage::Side;
use cholupdate_kernels::number::{Float, Number};
use faer::linalg::matmul::triangular::BlockStructure;
use faer::reborrow::ReborrowMut;
use faer::{Accum, Conj, Mat, MatMut};

/// One of the factors of A = L S Lᴴ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// L.
    L,
    /// S.
    S,
    /// Lᴴ.
    Transpose,
}

/// The factors of A.
pub(super) const ALL: [Part; 3] = [Part::L, Part::S, Part::Transpose];

impl<T: Element> Indefinite<T> {
    /// Solves with these factors, one after the other.
    pub(super) fn solve(&self, parts: &[Part], rhs: &Operand<'_, T>) -> Result<Mat<T>, Error> {
        extent("rhs", "rows", self.order(), rhs.shape().0)?;
        if self.order() == 0 {
            return Ok(without_rows(rhs.shape().1));
        }
        rhs.has_room_on_host("rhs")?;
        let mut x = rhs.on_host()?.into_owned();
        finite("rhs", x.as_ref())?;
        self.apply_inverse(parts, x.as_mut());
        Ok(x)
    }

    pub(super) fn solve_in_place(&self, parts: &[Part], rhs: OperandMut<'_, T>) -> Result<(), Error> {
        extent("rhs", "rows", self.order(), rhs.shape().0)?;
        if self.order() == 0 {
            return Ok(());
        }
        rhs.change_on_host(|rhs| {
            finite("rhs", rhs.as_ref())?;
            self.apply_inverse(parts, rhs);
            Ok(())
        })
    }

    fn apply_inverse(&self, parts: &[Part], mut rhs: MatMut<'_, T>) {
        for part in parts {
            match part {
                Part::L => solve(&self.now.l.as_ref(), Side::L, rhs.rb_mut(), self.threads),
                Part::S => change_signs(&self.now.negative, rhs.rb_mut()),
                Part::Transpose => solve(&self.now.l.as_ref(), Side::Transpose, rhs.rb_mut(), self.threads),
            }
        }
    }

    /// X ← A X. (n × m)
    pub(super) fn multiply(&self, mut x: MatMut<'_, T>) {
        let l = self.now.l.as_ref();
        let (lower, upper) = (BlockStructure::TriangularLower, BlockStructure::TriangularUpper);
        for (l, structure, conj) in [(l.transpose(), upper, Conj::Yes), (l, lower, Conj::No)] {
            if structure == lower {
                change_signs(&self.now.negative, x.rb_mut());
            }
            let from = x.to_owned();
            T::triangular_matmul(
                (x.rb_mut(), BlockStructure::Rectangular),
                Accum::Replace,
                (l, structure, conj),
                (from.as_ref(), BlockStructure::Rectangular, Conj::No),
                T::ONE,
                self.threads.par(),
            );
        }
    }

    /// A = L S Lᴴ. (n × n)
    pub(super) fn reconstruct(&self) -> Mat<T> {
        let mut signed = self.now.l.clone();
        change_signs(&self.now.negative, signed.as_mut().transpose_mut());
        product(signed.as_ref(), self.now.l.as_ref(), self.threads.par())
    }

    /// Estimates κ₁(A).
    pub(super) fn condition(&self) -> Result<T::Part, Error> {
        if self.order() == 0 {
            return Ok(T::Part::ONE);
        }
        let norm = one_norm(self.order(), |x| {
            self.multiply(x);
            Ok(())
        })?;
        let of_inverse = one_norm(self.order(), |x| {
            self.apply_inverse(&ALL, x);
            Ok(())
        })?;
        Ok(T::Part::from_f64(norm * of_inverse))
    }
}

/// X ← S X. (n, n × m)
pub(super) fn change_signs<T: Element>(negative: &[bool], mut x: MatMut<'_, T>) {
    for (i, _) in negative.iter().enumerate().filter(|(_, negative)| **negative) {
        x.rb_mut().row_mut(i).iter_mut().for_each(|x| *x = -*x);
    }
}
