//! The factor of A bordered by rows, without a change of the factor of A.

use super::Factor;
use crate::check::{extent, finite, room_for_copy};
use crate::element::Element;
use crate::error::Error;
use crate::host::blocked::Memory;
use crate::host::empty::without_rows;
use crate::host::threads::where_it_pays;
use crate::operand::{Operand, OperandMut};
use crate::storage::{Op, Side, Storage};
use crate::structure::schur;
use faer::{Accum, Conj, Mat, MatRef, Par};

impl<T: Element, F: Storage<T>> Factor<T, F> {
    /// S = L⁻¹ B, and C with C Cᴴ = K − Sᴴ S, from B (n × r) and K (r × r).
    pub(super) fn extension(
        &self,
        cross: &Operand<'_, T>,
        corner: &Operand<'_, T>,
        par: Par,
    ) -> Result<(Mat<T>, Mat<T>), Error> {
        let factor = self.guarded.regular()?;
        let mut columns = Mat::new();
        let columns = self.bordering(cross, corner, &mut columns)?;
        let (cross, corner) = columns.split_at_row(self.order());
        let mut s = cross.to_owned();
        factor.apply(Op::Solve(&[Side::L]), OperandMut::Host(s.as_mut()))?;
        let par = where_it_pays(par, s.nrows() * s.ncols() * s.ncols());
        let mut c = Mat::zeros(corner.nrows(), corner.nrows());
        schur(s.as_ref(), corner, c.as_mut(), &mut Memory::default(), par)
            .map_err(|row| Error::NotPositiveDefinite { column: self.order() + row })?;
        Ok((s, c))
    }

    /// Solves with A bordered, whose factor has the further rows (Sᴴ C).
    pub(super) fn solve_extended(
        &self,
        s: MatRef<'_, T>,
        corner: MatRef<'_, T>,
        rhs: &Operand<'_, T>,
        par: Par,
    ) -> Result<Mat<T>, Error> {
        let n = s.nrows();
        let order = n + s.ncols();
        extent("rhs", "rows", order, rhs.shape().0)?;
        if order == 0 {
            return Ok(without_rows(rhs.shape().1));
        }
        room_for_copy::<T>("rhs", rhs.shape())?;
        let mut x = rhs.on_host()?.into_owned();
        finite("rhs", x.as_ref())?;
        let base = self.guarded.regular()?;
        let par = where_it_pays(par, n * s.ncols() * x.ncols());
        let (mut above, mut below) = x.split_at_row_mut(n);
        base.apply(Op::Solve(&[Side::L]), OperandMut::Host(above.as_mut()))?;
        T::matmul(below.as_mut(), Accum::Add, (s.transpose(), Conj::Yes), above.as_ref(), -T::ONE, par);
        // r is small, so one thread suffices.
        T::solve_lower((corner, Conj::No), below.as_mut(), Par::Seq);
        T::solve_upper((corner.transpose(), Conj::Yes), below.as_mut(), Par::Seq);
        T::matmul(above.as_mut(), Accum::Add, (s, Conj::No), below.as_ref(), -T::ONE, par);
        base.apply(Op::Solve(&[Side::Transpose]), OperandMut::Host(above.as_mut()))?;
        Ok(x)
    }
}
