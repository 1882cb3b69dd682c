//! Insertion, removal and reordering of rows and columns of L in panels.

use super::api::Api;
use super::factor::HybridFactor;
use super::panels::Panels;
use crate::check::room;
use crate::error::Error;
use crate::real::Real;
use crate::storage::{Room, Safeguard, Swept};
use crate::structure::{ColumnsAsV, HostColumns, gather_v};
use crate::sweep::outline::Outline;
use faer::Mat;

impl<T: Real, A: Api> HybridFactor<T, A> {
    /// As [`Storage::reserve`](crate::storage::Storage::reserve).
    pub(super) fn make_room(&mut self, capacity: usize) -> Result<(), Error> {
        let (order, panel_cols) = (self.l.order(), self.l.panel_cols());
        self.drop_shadow();
        // Half of a square, in the way that `room` counts.
        room::<T>("additional", capacity, (capacity / 4, 0))?;
        let mut l = Panels::zeros(&self.device, order, capacity, panel_cols)?;
        l.copy_from(&self.l);
        self.take_over(l);
        match self.safeguard {
            Safeguard::ShadowBuffer => self.reserve(Room::Shadow),
            Safeguard::DryRun | Safeguard::None => Ok(()),
        }
    }

    /// Stages columns of L, and other columns, as V.
    pub(super) fn stage_columns(&mut self, v: &ColumnsAsV<'_, T>) -> Result<Outline, Error> {
        let mut scratch = core::mem::replace(&mut self.columns, Mat::new());
        let columns = gather_v(&self.l, v, (&mut scratch, self.l.capacity()));
        let staged = self.stage_on_host(columns, v.weights(&mut Vec::new()));
        self.columns = scratch;
        staged
    }
}
