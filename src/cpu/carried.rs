//! Right-hand sides that are carried through a sweep as rows below L.

use crate::element::Element;
use crate::storage::Target;
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::job::CarriedRows;
use faer::{Mat, MatMut, MatRef};

/// z of the modification that was staged last, as rows: its conjugate transpose. The caller receives the new z if the sweep succeeds.
pub(super) struct CarriedZ<T> {
    /// (m × n, if m > 0)
    rows: Mat<T>,
    /// m.
    pub count: usize,
}

impl<T: Element> Default for CarriedZ<T> {
    fn default() -> Self {
        Self { rows: Mat::new(), count: 0 }
    }
}

impl<T: Element> CarriedZ<T> {
    /// Copies z. (n × m)
    pub fn copy_from(&mut self, z: MatRef<'_, T>) {
        self.count = z.ncols();
        self.rows.resize_with(z.ncols(), z.nrows(), |_, _| T::ZERO);
        self.rows.copy_from(z.adjoint());
    }

    /// Copies z back, from row `start` on. (n × m)
    pub fn put(&self, start: usize, z: MatMut<'_, T>) {
        let rows = z.nrows() - start;
        z.subrows_mut(start, rows).copy_from(self.rows.subcols(start, rows).adjoint());
    }

    /// Their position below a factor of this order.
    pub fn rows(&mut self, order: usize, target: Target) -> Option<CarriedRows<T>> {
        let (stride, start) = (self.rows.col_stride(), self.rows.as_ptr_mut().wrapping_sub(order));
        let dst = if target == Target::Discard { core::ptr::null_mut() } else { start };
        let entries = Entries { src: start.cast_const(), src_stride: stride, dst, dst_stride: stride };
        (self.count > 0).then_some(CarriedRows { first: order, entries })
    }
}
