//! L S Lᴴ in host memory, and modifications of it that become valid when they have succeeded.

use super::expected::Expected;
use super::growth::{Growth, Sums};
use super::report::{LdltModification, inertia};
use crate::cpu::signature::{SignatureMemory, SignedFactor, sweep};
use crate::element::Element;
use crate::error::Error;
use crate::host::layout::{copy_lower, lower, with_capacity};
use crate::host::threads::Threads;
use crate::operand::Operand;
use crate::report::Modification;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::{Float, Number};
use faer::{ColRef, Mat, MatRef};

/// L, zero above the diagonal, and which entries of S are −1. (n × n, n)
#[derive(Debug)]
pub(super) struct Stored<T> {
    pub l: Mat<T>,
    pub negative: Vec<bool>,
    /// Of the current factor.
    pub sums: Sums,
    capacity: usize,
}

impl<T: Element> Stored<T> {
    pub fn new(l: Mat<T>, negative: Vec<bool>, sums: Sums) -> Self {
        let capacity = l.nrows();
        Self { l, negative, sums, capacity }
    }

    /// Of order 0.
    pub fn empty() -> Self {
        Self::new(Mat::new(), Vec::new(), Sums::default())
    }

    /// Makes room for this order. Entries of L below the diagonal are unspecified.
    pub fn resize(&mut self, order: usize) {
        if order > self.capacity {
            // An occasional copy costs less than one for each new row.
            let capacity = order.max(self.capacity + self.capacity / 8);
            (self.l, self.negative) = (with_capacity(capacity, order), Vec::with_capacity(capacity));
            self.capacity = capacity;
        }
        self.l.resize_with(order, order, |_, _| T::ZERO);
        self.negative.resize(order, false);
    }

    /// log |det A|.
    pub fn log_abs_det(&self) -> f64 {
        2.0 * self.l.diagonal().column_vector().iter().map(|l| l.real().to_f64().ln()).sum::<f64>()
    }
}

impl<T: Element> Clone for Stored<T> {
    /// Copies L in the same layout, which `Mat::clone` would not preserve.
    fn clone(&self) -> Self {
        Self::new(lower(self.l.as_ref()), self.negative.clone(), self.sums.clone())
    }
}

/// The factor, where the next one is computed, and what is kept about it.
pub struct Indefinite<T: Element> {
    pub(super) threads: Threads,
    pub(super) now: Stored<T>,
    pub(super) next: Stored<T>,
    pub(super) memory: SignatureMemory<T>,
    pub(super) growth: Growth,
    /// The largest of the sums of rows since they were last formed from L. Sweeps over runs of columns keep them current.
    pub(super) largest: f64,
    /// The largest permitted growth.
    pub(super) limit: f64,
    pub(super) expected: Expected,
}

impl<T: Element> Clone for Indefinite<T> {
    /// Without the working memory.
    fn clone(&self) -> Self {
        let Self { threads, now, growth, largest, limit, expected, .. } = self;
        Self {
            threads: *threads,
            now: now.clone(),
            next: Stored::empty(),
            memory: SignatureMemory::default(),
            growth: *growth,
            largest: *largest,
            limit: *limit,
            expected: expected.clone(),
        }
    }
}

impl<T: Element> core::fmt::Debug for Indefinite<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (order, inertia) = (self.order(), inertia(&self.now.negative));
        f.debug_struct("Indefinite").field("order", &order).field("inertia", &inertia).finish_non_exhaustive()
    }
}

impl<T: Element> Indefinite<T> {
    /// The growth above which no digit of A would be left.
    pub(super) fn default_limit() -> f64 {
        0.25 / T::Part::UNIT.to_f64()
    }

    pub(super) fn order(&self) -> usize {
        self.now.l.nrows()
    }

    /// A ← δ A + V diag(w) Vᴴ. With `dry` the factor remains as it is.
    pub(super) fn modify(
        &mut self,
        decay: T::Part,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
        dry: bool,
    ) -> Result<LdltModification, Error> {
        let order = self.order();
        Self::check_decay(decay)?;
        weights.check(order, v.shape())?;
        v.has_room_as_v()?;
        let v = v.on_host()?;
        if order == 0 {
            return Ok(self.unchanged());
        }
        let modified = self.modify_by(decay, v.as_ref(), weights, dry);
        modified.map_err(|error| self.or_overflow(error, v.as_ref(), weights))
    }

    /// # Errors
    /// `OutOfRange`.
    pub(super) fn check_decay(decay: T::Part) -> Result<(), Error> {
        if decay > T::Part::ZERO && decay <= T::Part::ONE {
            return Ok(());
        }
        Err(Error::OutOfRange { argument: "decay", rule: "greater than 0 and at most 1" })
    }

    fn modify_by(
        &mut self,
        decay: T::Part,
        v: MatRef<'_, T>,
        weights: Weights<'_, T::Part>,
        dry: bool,
    ) -> Result<LdltModification, Error> {
        let order = self.order();
        if decay == T::Part::ONE
            && let Some(made) = self.modify_by_runs(v, weights, dry)?
        {
            return Ok(made);
        }
        let outline = self.memory.stage(v, weights, false, self.threads)?;
        let first = outline.first_column::<T>(order);
        self.next.resize(order);
        let Self { now, next, memory, threads, .. } = self;
        let report = if decay == T::Part::ONE {
            let Some(start) = first else { return Ok(self.unchanged()) };
            copy_lower(now.l.as_ref(), next.l.as_mut(), 0..start);
            next.negative[..start].copy_from_slice(&now.negative[..start]);
            let new = SignedFactor { l: next.l.as_mut(), negative: &mut next.negative };
            sweep(Some((now.l.as_ref(), &now.negative)), new, start..order, &outline, memory, *threads)
        } else {
            let root = decay.sqrt();
            for j in 0..order {
                let (from, to) = (&now.l.col_as_slice(j)[j..], &mut next.l.col_as_slice_mut(j)[j..]);
                to.iter_mut().zip(from).for_each(|(to, &from)| *to = from.times(root));
            }
            next.negative.copy_from_slice(&now.negative);
            let new = SignedFactor { l: next.l.as_mut(), negative: &mut next.negative };
            match first {
                Some(start) => sweep(None, new, start..order, &outline, memory, *threads),
                None => Ok((Modification::identity(), 0)),
            }
        };
        let (report, _) = report.map_err(refused)?;
        let least = report.min_pivot_ratio * decay.to_f64();
        let log_abs_det = report.log_det_change() + order as f64 * decay.to_f64().ln();
        let expected = if dry { None } else { Some(self.expected.clone()) };
        self.accept(least, log_abs_det, expected)
    }

    /// Why a modification by V was refused: squares of rows of the new L may have overflowed without growth.
    #[cold]
    pub(super) fn or_overflow(&self, error: Error, v: MatRef<'_, T>, weights: Weights<'_, T::Part>) -> Error {
        let square_of = |(r, column): (usize, ColRef<'_, T>)| {
            let largest = column.iter().fold(T::Part::ZERO, |largest, x| largest.max(x.abs())).to_f64();
            weights.of(r).abs().to_f64() * largest * largest
        };
        let square = self.growth.largest + v.col_iter().enumerate().map(square_of).sum::<f64>();
        match error {
            Error::Singular { .. } | Error::Unstable { .. } if square > T::Part::LARGE_SQUARE.to_f64() => {
                Error::Overflow { argument: "v" }
            }
            error => error,
        }
    }

    /// The report of a call that changes nothing.
    pub(super) fn unchanged(&self) -> LdltModification {
        let inertia = inertia(&self.now.negative);
        LdltModification {
            min_pivot_ratio: 1.0,
            log_abs_det_change: 0.0,
            inertia_before: inertia,
            inertia,
            growth: self.growth.growth,
        }
    }

    /// Makes the next factor the current one, if it is as expected; without an expectation it is only examined.
    ///
    /// # Errors
    /// `Unstable`, `Inertia` or `Sign`.
    pub(super) fn accept(
        &mut self,
        min_pivot_ratio: f64,
        log_abs_det_change: f64,
        expected: Option<Expected>,
    ) -> Result<LdltModification, Error> {
        let Self { next, threads, .. } = self;
        next.sums = Sums::of(next.l.as_ref(), &next.negative, threads.par());
        let growth = next.sums.growth();
        growth.check(next.l.as_ref(), self.limit)?;
        expected.as_ref().unwrap_or(&self.expected).check(&self.next.negative)?;
        if expected.is_some() {
            self.largest = growth.largest;
        }
        Ok(self.conclude(min_pivot_ratio, log_abs_det_change, growth, expected))
    }

    /// The report of a modification. Makes the next factor, of which nothing else is to be checked, the current one, unless the
    /// expectation is missing.
    pub(super) fn conclude(
        &mut self,
        min_pivot_ratio: f64,
        log_abs_det_change: f64,
        growth: Growth,
        expected: Option<Expected>,
    ) -> LdltModification {
        let report = LdltModification {
            min_pivot_ratio,
            log_abs_det_change,
            inertia_before: inertia(&self.now.negative),
            inertia: inertia(&self.next.negative),
            growth: growth.growth,
        };
        if let Some(expected) = expected {
            core::mem::swap(&mut self.now, &mut self.next);
            (self.growth, self.expected) = (growth, expected);
        }
        report
    }
}

/// A pivot that is zero to working precision.
pub(super) fn refused(stop: Stop) -> Error {
    match stop {
        Stop::Breakdown { column } => Error::Singular { column },
        stop => stop.into(),
    }
}
