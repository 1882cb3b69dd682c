//! Rows and columns of L in panels that come and go.

use super::factor::HybridFactor;
use super::panels::Panels;
use crate::check::room;
use crate::cpu::solve::solve;
use crate::engine::Side;
use crate::error::Error;
use crate::guarded::{Modifiable, Safeguard, Stop};
use crate::host::threads::Threads;
use crate::input::Operand;
use crate::scalar::Scalar;
use crate::structure::{
    Border, HostColumns, LaterV, Rearrangement, Resizable, backwards, gather_v, rearrange, write_border,
};
use crate::sweep::outline::Outline;
use faer::{Mat, MatMut};

impl<T: Scalar> Resizable<T> for HybridFactor<T> {
    fn capacity(&self) -> usize {
        self.l.capacity()
    }

    fn reserve(&mut self, capacity: usize) -> Result<(), Error> {
        let (order, panel_cols) = (self.l.order(), self.l.panel_cols());
        self.drop_shadow();
        // Half of a square, as `room` counts.
        room::<T>("additional", capacity, (capacity / 4, 0))?;
        let mut l = Panels::zeros(&self.device, order, capacity, panel_cols)?;
        l.copy_from(&self.l);
        self.take_over(l);
        match self.safeguard() {
            Safeguard::ShadowBuffer => self.reserve_shadow(),
            Safeguard::DryRun | Safeguard::None => Ok(()),
        }
    }

    fn eliminate(&self, columns: usize, rhs: MatMut<'_, T>) -> Result<(), Error> {
        solve(&self.l.leading(columns), Side::L, rhs, Threads::Pool);
        Ok(())
    }

    fn stage_columns(&mut self, v: &LaterV<'_, T>) -> Result<Outline, Error> {
        let mut scratch = core::mem::replace(&mut self.columns, Mat::new());
        let columns = gather_v(&self.l, v, (&mut scratch, self.l.capacity()));
        let staged = self.stage(&Operand::Host(columns), v.weights(&mut Vec::new()));
        self.columns = scratch;
        staged
    }

    fn rearrange(&mut self, rearrangement: &Rearrangement) -> Result<(), Stop> {
        rearrange(&mut self.l, rearrangement, &mut self.columns, Threads::Pool.par());
        Ok(())
    }

    fn backwards(&mut self, from: usize, to: usize) -> Result<(), Stop> {
        backwards(&mut self.l, (from, to), &mut self.columns, Threads::Pool.par());
        Ok(())
    }

    fn write(&mut self, at: usize, border: &Border<'_, T>) -> Result<(), Stop> {
        write_border(&mut self.l, at, border, Threads::Pool.par());
        Ok(())
    }
}
