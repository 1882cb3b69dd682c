//! The CPU engine: L in host memory, one sweep per modification, and the failure contract.

use super::kernels::job::Columns;
use super::{Memory, modify};
use crate::engine::{Engine, EngineCore, sealed::Sealed};
use crate::error::Error;
use crate::host::layout::{copy_lower, lower, stride, zeros};
use crate::host::threads::Threads;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::Breakdown;
use crate::sweep::signed::Change;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, Par};

/// How a modification that may break down keeps its promise to leave the factor as it was.
///
/// Modifications whose weights are all positive cannot break down and work in place at no cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Safeguard {
    /// The new factor is written to a second n × n buffer, and the two change places on success. The buffer
    /// is allocated by the first modification that needs it and kept. Costs memory, and no additional
    /// arithmetic.
    #[default]
    SecondBuffer,
    /// The sweep is run once without storing L and, if it succeeds, once more in place. Costs twice the
    /// time and no memory.
    Rehearsal,
}

/// The CPU engine: the factor in host memory, SIMD micro-kernels, threads of the current rayon pool.
///
/// While a modification waits for its threads, rayon may have the waiting thread take up another task, as it may in any
/// library that uses it. A task that holds a lock during a call (a `Mutex<Cholesky<_>>`) may so be made to run another
/// that wants the same lock, and wait for itself for ever. Where tasks of a pool share a factor behind a lock, give it
/// [`Cpu::sequential`], which never leaves its thread, or have the calls made in a pool of their own
/// ([`rayon::ThreadPool::install`]).
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    threads: Threads,
    pub(super) safeguard: Safeguard,
}

impl Default for Cpu {
    fn default() -> Self {
        Self { threads: Threads::Pool, safeguard: Safeguard::default() }
    }
}

impl Cpu {
    /// One thread: the caller's.
    pub fn sequential() -> Self {
        Self { threads: Threads::Fixed(1), ..Self::default() }
    }

    /// At most `threads` threads of the current rayon pool, the caller's among them; 0 is taken for 1.
    pub fn threads(threads: usize) -> Self {
        Self { threads: Threads::Fixed(threads.max(1)), ..Self::default() }
    }

    /// The same engine with another safeguard.
    #[must_use]
    pub fn with_safeguard(self, safeguard: Safeguard) -> Self {
        Self { safeguard, ..self }
    }
}

/// L and what a modification needs beside it.
pub struct HostFactor<T> {
    /// Zero above the diagonal. (n × n)
    l: Mat<T>,
    /// Where the next risky modification is written to; its strict upper triangle is zero as well.
    spare: Option<Mat<T>>,
    memory: Memory<T>,
}

impl<T: Scalar> Clone for HostFactor<T> {
    /// A copy of L in the same layout, which `Mat::clone` would not keep, without the working memory.
    fn clone(&self) -> Self {
        Self { l: lower(self.l.as_ref()), spare: None, memory: Memory::default() }
    }
}

impl<T: Scalar> core::fmt::Debug for HostFactor<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HostFactor").field("order", &self.l.nrows()).finish_non_exhaustive()
    }
}

impl<T: Scalar> HostFactor<T> {
    pub(crate) fn l(&self) -> &Mat<T> {
        &self.l
    }
    pub(crate) fn into_l(self) -> Mat<T> {
        self.l
    }
}

impl Sealed for Cpu {}
impl<T: Scalar> Engine<T> for Cpu {}

impl<T: Scalar> EngineCore<T> for Cpu {
    type Factor = HostFactor<T>;

    fn adopt(&self, l: Mat<T>) -> Result<HostFactor<T>, Error> {
        let well_laid_out = l.col_stride() == stride::<T>(l.nrows());
        let l = if well_laid_out { l } else { lower(l.as_ref()) };
        Ok(HostFactor { l, spare: None, memory: Memory::default() })
    }

    fn par(&self) -> Par {
        self.threads.par()
    }

    fn order(&self, factor: &HostFactor<T>) -> usize {
        factor.l.nrows()
    }

    fn modify(&self, factor: &mut HostFactor<T>, change: &Change<'_, T>) -> Result<Modification<T>, Error> {
        if change.outline.minus == 0 {
            return self.sweep_factor(factor, change, Sink::InPlace);
        }
        match self.safeguard {
            Safeguard::SecondBuffer => self.sweep_factor(factor, change, Sink::Spare),
            Safeguard::Rehearsal => {
                self.sweep_factor(factor, change, Sink::Nowhere)?;
                self.sweep_factor(factor, change, Sink::InPlace)
            }
        }
    }

    fn rehearse(&self, factor: &mut HostFactor<T>, change: &Change<'_, T>) -> Result<Modification<T>, Error> {
        self.sweep_factor(factor, change, Sink::Nowhere)
    }

    fn solve_in_place(&self, factor: &HostFactor<T>, mut rhs: MatMut<'_, T>) -> Result<(), Error> {
        let par = self.threads.par();
        solve_lower_triangular_in_place(factor.l.as_ref(), rhs.rb_mut(), par);
        solve_upper_triangular_in_place(factor.l.transpose(), rhs, par);
        Ok(())
    }

    fn log_det(&self, factor: &HostFactor<T>) -> Result<T, Error> {
        let diagonal = factor.l.diagonal().column_vector();
        // The empty sum is −0.
        Ok(T::from_f64(0.0 + 2.0 * diagonal.iter().map(|l| l.to_f64().ln()).sum::<f64>()))
    }

    fn row_norm(&self, factor: &HostFactor<T>) -> Result<f64, Error> {
        Ok(factor.l.norm_max().to_f64() * (factor.l.nrows() as f64).sqrt())
    }

    fn to_factor(&self, factor: &HostFactor<T>) -> Result<Mat<T>, Error> {
        Ok(factor.l.clone())
    }
}

/// Where the new columns of L go.
#[derive(Clone, Copy)]
enum Sink {
    InPlace,
    Spare,
    Nowhere,
}

impl Cpu {
    /// One sweep over `l`, with breakdown as an error.
    ///
    /// # Safety
    /// As [`modify`].
    pub(super) unsafe fn sweep<T: Scalar>(
        &self,
        l: Columns<T>,
        order: usize,
        change: &Change<'_, T>,
        memory: &mut Memory<T>,
    ) -> Result<Modification<T>, Error> {
        // SAFETY: forwarded to the caller.
        unsafe { modify(l, order, change, memory, self.threads) }
            .map_err(|Breakdown { column }| Error::NotPositiveDefinite { column })
    }

    fn sweep_factor<T: Scalar>(
        &self,
        factor: &mut HostFactor<T>,
        change: &Change<'_, T>,
        sink: Sink,
    ) -> Result<Modification<T>, Error> {
        let order = factor.l.nrows();
        let Some(first) = change.first_column(order) else { return Ok(Modification::identity()) };
        let HostFactor { l, spare, memory } = factor;
        let src_stride = l.col_stride();
        let (src, (dst, dst_stride)) = match sink {
            Sink::InPlace => {
                let l = l.as_ptr_mut();
                (l.cast_const(), (l, src_stride))
            }
            Sink::Spare => {
                let spare = spare.get_or_insert_with(|| zeros(order));
                (l.as_ptr(), (spare.as_ptr_mut(), spare.col_stride()))
            }
            Sink::Nowhere => (l.as_ptr(), (core::ptr::null_mut(), src_stride)),
        };
        let columns = Columns { src, src_stride, dst, dst_stride };
        // SAFETY: L and the spare are n × n, each with its own stride, and borrowed exclusively.
        let report = unsafe { self.sweep(columns, order, change, memory)? };
        if let (Sink::Spare, Some(spare)) = (sink, spare) {
            settle(l, spare, first);
        }
        Ok(report)
    }
}

/// Makes `l` the new factor, of which `spare` has the columns from `first` on: by exchange or by copying,
/// whichever moves less.
fn settle<T: Scalar>(l: &mut Mat<T>, spare: &mut Mat<T>, first: usize) {
    let order = l.nrows();
    let entries = |columns: usize| columns * (columns + 1) / 2;
    let (changed, all) = (entries(order - first), entries(order));
    if changed < all - changed {
        copy_lower(spare.as_ref(), l.as_mut(), first..order);
    } else {
        copy_lower(l.as_ref(), spare.as_mut(), 0..first);
        core::mem::swap(l, spare);
    }
}
