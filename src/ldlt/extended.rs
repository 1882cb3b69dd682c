//! A bordered by rows, without a change of its factor.

use super::border::Border;
use super::growth::Growth;
use super::rows::bordering;
use super::state::Indefinite;
use super::systems::change_signs;
use crate::check::{extent, finite};
use crate::cpu::solve::solve;
use crate::element::Element;
use crate::error::Error;
use crate::host::empty::without_rows;
use crate::host::threads::where_it_pays;
use crate::operand::Operand;
use crate::storage::Side;
use cholupdate_kernels::number::{Float, Number};
use faer::reborrow::ReborrowMut;
use faer::{Accum, Conj, Mat, MatRef, Par};

/// Y = L⁻¹ B, C and which entries of S' are −1. (n × r, r × r, r)
pub(super) type Parts<T> = (Mat<T>, Mat<T>, Vec<bool>);

impl<T: Element> Indefinite<T> {
    /// The parts of an extension, from B (n × r) and K (r × r).
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming the argument; `Singular` or `Unstable`.
    pub(super) fn extension(
        &self,
        cross: &Operand<'_, T>,
        corner: &Operand<'_, T>,
    ) -> Result<Parts<T>, Error> {
        let columns = bordering(self, cross, corner)?;
        let (at, order) = (self.order(), columns.nrows());
        let border =
            Border::new((self.now.l.as_ref(), &self.now.negative), columns.as_ref(), order, self.threads)?;
        self.check_growth(&border, columns.as_ref().subrows(at, order - at))?;
        Ok((border.y, border.corner, border.negative))
    }

    /// Checks that new rows do not let the growth exceed its limit, as a change of the factor would. (r × r)
    ///
    /// # Errors
    /// `Unstable`.
    fn check_growth(&self, border: &Border<T>, k: MatRef<'_, T>) -> Result<(), Error> {
        let (mut largest, mut row) = (self.growth.largest, None);
        let mut diagonal = self.growth.largest / self.growth.growth;
        for i in 0..k.nrows() {
            let square = border.square(i);
            // NaN counts as larger than anything.
            if !(square <= largest) {
                (largest, row) = (square, Some(i));
            }
            diagonal = diagonal.max(k[(i, i)].real().abs().to_f64());
        }
        let Some(row) = row else { return Ok(()) };
        let growth = if largest.is_nan() { f64::INFINITY } else { largest / diagonal };
        Growth { largest, growth, row }.check_row(self.limit, |row| {
            let before = border.y.col(row).iter().chain(border.corner.row(row).subcols(0, row).iter());
            before.map(|entry| entry.abs().to_f64())
        })
    }

    /// Solves with A bordered, whose factor has the further rows (Yᴴ S C).
    pub(super) fn solve_extended(
        &self,
        (y, corner, negative): (MatRef<'_, T>, MatRef<'_, T>, &[bool]),
        rhs: &Operand<'_, T>,
    ) -> Result<Mat<T>, Error> {
        let (n, r) = y.shape();
        extent("rhs", "rows", n + r, rhs.shape().0)?;
        if n + r == 0 {
            return Ok(without_rows(rhs.shape().1));
        }
        rhs.has_room_on_host("rhs")?;
        let mut x = rhs.on_host()?.into_owned();
        finite("rhs", x.as_ref())?;
        let par = where_it_pays(self.threads.par(), n * r * x.ncols());
        let l = self.now.l.as_ref();
        let (mut above, mut below) = x.split_at_row_mut(n);
        solve(&l, Side::L, above.rb_mut(), self.threads);
        change_signs(&self.now.negative, above.rb_mut());
        T::matmul(below.rb_mut(), Accum::Add, (y.transpose(), Conj::Yes), above.as_ref(), -T::ONE, par);
        // r is small, so one thread suffices.
        T::solve_lower((corner, Conj::No), below.rb_mut(), Par::Seq);
        change_signs(negative, below.rb_mut());
        T::solve_upper((corner.transpose(), Conj::Yes), below.rb_mut(), Par::Seq);
        // S (S X₁ − Y X₂) is X₁ less its share of the rows below.
        change_signs(&self.now.negative, above.rb_mut());
        T::matmul(above.rb_mut(), Accum::Add, (y, Conj::No), below.as_ref(), -T::ONE, par);
        change_signs(&self.now.negative, above.rb_mut());
        solve(&l, Side::Transpose, above.rb_mut(), self.threads);
        Ok(x)
    }
}
