//! Converts the reflectors that the CPU has computed to the device's layouts.

use super::form::{COLUMN_GROUP, reflector_stride, tensor_b};
use crate::real::Real;
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::sweep::job::Job;
use cholupdate_kernels::sweep::reflector::Reflector;

/// The reflectors of eight columns, in the CPU's layout.
pub(super) struct Group<'a, T> {
    pub job: &'a Job<T>,
    pub panel: Panel,
    /// The first of the columns, relative to the panel's first.
    pub first: usize,
}

impl<T: Real> Group<'_, T> {
    /// The micro reflector of the columns of the group from `j` on. A rank block has one sign.
    fn reflector(&self, j: usize) -> Reflector<T> {
        let [plus, minus] = self.job.signed();
        let signed = if plus.rank > 0 { plus } else { minus };
        self.job.reflector(self.panel, (self.first + j) / self.job.block, signed)
    }

    /// In the layout of `trailing.cu`.
    ///
    /// # Safety
    /// The reflectors have been computed, and nothing writes to them.
    pub unsafe fn by_column(&self, out: &mut [T], lanes: usize, elements: usize) {
        let row = reflector_stride::<T>(elements);
        for (j, out) in out.chunks_exact_mut(lanes * row).enumerate() {
            let (reflector, place) = (self.reflector(j), j % self.job.block);
            for (lane, out) in out.chunks_exact_mut(row).enumerate() {
                let (b, rest) = out.split_at_mut(elements);
                // SAFETY: the reflector has `lanes · elements` rows of b, and s and x, each with a scalar for each of its
                // columns.
                unsafe {
                    for (r, x) in b.iter_mut().enumerate() {
                        *x = *reflector.b(lane * elements + r).add(place);
                    }
                    rest.fill(T::ZERO);
                    (rest[0], rest[1]) = (*reflector.s().add(place), *reflector.x().add(place));
                }
            }
        }
    }

    /// In the layout of `interchanged.cu`, which has `width` + 2 scalars for each column.
    ///
    /// # Safety
    /// As `by_column`.
    pub unsafe fn interchanged(&self, out: &mut [T]) {
        let width = self.job.plus + self.job.minus;
        for (j, out) in out.chunks_exact_mut(width + 2).enumerate() {
            let (reflector, place) = (self.reflector(j), j % self.job.block);
            let (b, rest) = out.split_at_mut(width);
            // SAFETY: as in `by_column`; interchanges are set if the reflector has any.
            unsafe {
                for (r, x) in b.iter_mut().enumerate() {
                    *x = *reflector.b(r).add(place);
                }
                let interchange = if reflector.interchanged() { reflector.interchange(place) } else { None };
                // The column of V from 1 on, with the sign.
                let signed = interchange.map_or(T::ZERO, |(p, sign)| T::from_f64((p + 1) as f64) * sign);
                (rest[0], rest[1]) = (*reflector.x().add(place), signed);
            }
        }
    }

    /// Whether columns of L in the group are interchanged with columns of V.
    ///
    /// # Safety
    /// As `by_column`.
    pub unsafe fn has_interchanges(&self) -> bool {
        // SAFETY: the caller guarantees that the reflectors have been computed.
        (0..COLUMN_GROUP).step_by(self.job.block).any(|j| unsafe { self.reflector(j).interchanged() })
    }

    /// In the layout of `trailing_tensor.cu`.
    ///
    /// # Safety
    /// As `by_column`.
    pub unsafe fn for_tensor_cores(&self, out: &mut [T]) {
        let (job, block) = (self.job, self.job.block);
        let width = job.plus + job.minus;
        let (b, rest) = out.split_at_mut(width * COLUMN_GROUP);
        let (tau, rest) = rest.split_at_mut(COLUMN_GROUP * COLUMN_GROUP);
        let (s, x) = rest.split_at_mut(COLUMN_GROUP);
        tau.fill(T::ZERO);
        for first in (0..COLUMN_GROUP).step_by(block) {
            let reflector = self.reflector(first);
            // SAFETY: as in `by_column`; τ has a row for each column, with a scalar for each column before it.
            unsafe {
                for r in 0..width {
                    for j in 0..block {
                        b[tensor_b(first + j, r)] = *reflector.b(r).add(j);
                    }
                }
                for j in 0..block {
                    (s[first + j], x[first + j]) = (*reflector.s().add(j), *reflector.x().add(j));
                    for i in 0..j {
                        tau[COLUMN_GROUP * (first + i) + first + j] = *reflector.tau(j).add(i);
                    }
                }
            }
        }
        // The contribution of one micro reflector to the columns of a later one.
        for j in block..COLUMN_GROUP {
            for i in 0..j / block * block {
                let product = |r: usize| b[tensor_b(i, r)] * b[tensor_b(j, r)];
                tau[COLUMN_GROUP * i + j] = (0..width).fold(T::ZERO, |sum, r| sum + product(r)) * s[j];
            }
        }
    }
}
