//! The failure contract, written once for all engines: where a modification writes, when its result becomes L, and what remains
//! after an early end.
//!
//! | | in place | shadow buffer | discard |
//! |---|---|---|---|
//! | used for | what cannot break down, or has no safeguard | what may; everything on engines that prefer it | a dry run |
//! | becomes L | as it is written | by [`Swept::commit`], when the sweep has succeeded | never |
//! | breakdown | the factor is lost | L is as it was | L is as it was |
//! | device lost | the factor is lost, if anything had been written | L is as it was | L is as it was |
//!
//! A factor that is lost is poisoned: every later call that reads it returns [`Error::Poisoned`]. A factor whose sweep in place
//! panicked is poisoned as well.

mod again;
mod change;
mod direct;
mod scaled;

use crate::element::Element;
use crate::error::{DeviceErrorKind, Error};
use crate::history::{History, VSeen};
use crate::operand::{Operand, OperandMut};
use crate::report::Modification;
use crate::storage::{Op, Room, Safeguard, Side, Staged, Storage, Swept, Target};
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::{Float, Number};
use core::marker::PhantomData;
use core::ops::Range;

/// The origin of V.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a, T: Element> {
    /// The caller, with weights.
    V(&'a Operand<'a, T>, Weights<'a, T::Part>),
    /// L.
    L,
}

/// A sweep that has been started. It writes the columns from `start` on. If it succeeds, `row_norm` bounds the rows of L.
#[derive(Debug)]
struct Started {
    target: Target,
    start: usize,
    row_norm: f64,
}

/// A modification that has been started.
#[derive(Debug)]
enum Flight {
    Sweep(Started),
    /// The modification has ended.
    Landed(Result<Modification, Error>),
}

/// A factor, and the state that the contract keeps about it.
#[derive(Debug)]
pub(crate) struct Guarded<T, F> {
    factor: F,
    /// An upper bound of the 2-norm of any row of L, from which the overflow check of a modification starts.
    row_norm: f64,
    flight: Option<Flight>,
    scalar: PhantomData<T>,
    history: History,
    poisoned: bool,
    /// The first column whose pivot is zero.
    singular: Option<usize>,
}

impl<T: Element, F: Swept<T> + Clone> Clone for Guarded<T, F> {
    /// The clone of a factor with a modification in flight is a clone of the factor before it.
    fn clone(&self) -> Self {
        let Self { factor, row_norm, history, poisoned, singular, .. } = self;
        Self {
            factor: factor.clone(),
            row_norm: *row_norm,
            flight: None,
            scalar: PhantomData,
            history: history.clone(),
            poisoned: *poisoned,
            singular: *singular,
        }
    }
}

impl<T: Element, F: Swept<T>> Guarded<T, F> {
    pub fn new(factor: F, row_norm: f64, history: History) -> Self {
        Self { factor, row_norm, flight: None, scalar: PhantomData, history, poisoned: false, singular: None }
    }

    /// The same factor, with the column of its first zero pivot, if there is one.
    pub fn with_singular(self, singular: Option<usize>) -> Self {
        Self { singular, ..self }
    }

    pub fn order(&self) -> usize {
        self.factor.order()
    }

    /// The first column whose pivot is zero.
    pub fn singular(&self) -> Option<usize> {
        self.singular
    }

    pub fn row_norm(&self) -> f64 {
        self.row_norm
    }

    pub fn history(&self) -> &History {
        &self.history
    }

    pub fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// The factor, also if it is poisoned.
    pub fn factor(&self) -> &F {
        &self.factor
    }

    pub fn into_factor(self) -> F {
        self.factor
    }

    /// The factor, for reading.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn healthy(&self) -> Result<&F, Error> {
        if self.poisoned { Err(Error::Poisoned) } else { Ok(&self.factor) }
    }

    /// The factor, for reading, if A is not singular.
    ///
    /// # Errors
    /// `Poisoned`, `Singular`.
    pub fn regular(&self) -> Result<&F, Error> {
        let factor = self.healthy()?;
        self.singular.map_or(Ok(factor), |column| Err(Error::Singular { column }))
    }

    /// L Lᴴ ← L Lᴴ + V diag(w) Vᴴ, by one sweep. A breakdown is left to `wide`.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow` of V or w; `NotPositiveDefinite`, `Device` or `Poisoned`.
    #[inline(always)]
    #[allow(unsafe_code, reason = "V is borrowed during the call")]
    pub fn modify_once(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
    ) -> Result<Modification, Error> {
        self.ready_for(v, weights)?;
        v.read_from(self.factor.traits().memory, |v| {
            // SAFETY: V is borrowed until `modify_at_once` returns, which waits for the sweep, or withdraws V.
            let stage = |factor: &mut F| unsafe { factor.stage_lent(v, weights) };
            self.modify_at_once(Source::V(v, weights), stage)
        })
    }

    /// The same with the V that `stage` stages, which may be called twice. `source` is the origin of this V.
    ///
    /// # Errors
    /// As [`modify_once`](Self::modify_once).
    pub fn modify_by(
        &mut self,
        source: Source<'_, T>,
        stage: impl Fn(&mut F) -> Result<Outline, Error>,
    ) -> Result<Modification, Error> {
        self.finish()?;
        self.modify_at_once(source, stage)
    }

    /// Starts a modification and waits for it.
    #[inline(always)]
    fn modify_at_once(
        &mut self,
        source: Source<'_, T>,
        stage: impl Fn(&mut F) -> Result<Outline, Error>,
    ) -> Result<Modification, Error> {
        match self.begin(source, stage)? {
            Some(started) => self.end(started, F::wait),
            None => Ok(Modification::identity()),
        }
    }

    /// Starts a modification. It may still be in flight after the call; V has been copied by then.
    ///
    /// # Errors
    /// As [`modify_once`](Self::modify_once), as far as they are found within the call. After an error nothing is in flight.
    pub fn submit_once(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T::Part>) -> Result<(), Error> {
        self.ready_for(v, weights)?;
        let begun = v.read_from(self.factor.traits().memory, |v| {
            self.begin(Source::V(v, weights), |factor| factor.stage(&Staged::Given(v, weights)))
        })?;
        self.flight = Some(match begun {
            None => Flight::Landed(Ok(Modification::identity())),
            // A caller that forgets it must not find half a factor, nor the old factor if the sweep is done.
            Some(started) if started.target == Target::InPlace || !self.factor.traits().asynchronous => {
                Flight::Landed(self.end(started, F::wait))
            }
            Some(started) => Flight::Sweep(started),
        });
        Ok(())
    }

    /// Starts the sweep of a modification, if it needs one.
    #[inline(always)]
    fn begin(
        &mut self,
        source: Source<'_, T>,
        stage: impl Fn(&mut F) -> Result<Outline, Error>,
    ) -> Result<Option<Started>, Error> {
        if self.order() == 0 {
            return Ok(None);
        }
        let outline = stage(&mut self.factor)?;
        let begun = self.begin_staged(source, &outline, stage);
        if !matches!(begun, Ok(Some(_))) {
            self.factor.withdraw();
        }
        begun
    }

    /// The same for a V that has been staged.
    #[inline(always)]
    fn begin_staged(
        &mut self,
        source: Source<'_, T>,
        outline: &Outline,
        stage: impl Fn(&mut F) -> Result<Outline, Error>,
    ) -> Result<Option<Started>, Error> {
        let row_norm = self.row_norm_after(outline)?;
        let Some(start) = outline.first_column::<T>(self.order()) else { return Ok(None) };
        if outline.minus > 0 {
            self.regular()?;
        }
        let columns = start..self.order();
        let mut target = self.target(outline.minus > 0)?;
        if target == Target::Discard {
            let run = self.dry(outline, columns.clone());
            if run.is_err() {
                self.expect(source, outline);
            }
            run?;
            stage(&mut self.factor)?;
            target = Target::InPlace;
        }
        self.poisoned = target == Target::InPlace;
        let started = self.factor.sweep(outline, columns, target);
        self.unpoison_unless(target, &started);
        // Done while the sweep is in flight, if it is. After a breakdown the modification may be repeated.
        self.expect(source, outline);
        started?;
        Ok(Some(Started { target, start, row_norm }))
    }

    /// Waits for a sweep with `wait`, and makes its result the factor.
    #[inline(always)]
    fn end(
        &mut self,
        Started { target, start, row_norm }: Started,
        wait: impl FnOnce(&mut F) -> Result<Modification, Stop>,
    ) -> Result<Modification, Error> {
        self.poisoned = target == Target::InPlace;
        let ended = wait(&mut self.factor);
        self.unpoison_unless(target, &ended);
        let report = ended?;
        if target == Target::Shadow {
            self.factor.commit(start);
        }
        self.row_norm = row_norm;
        self.history.note();
        if self.singular.is_some() {
            self.singular = (0..self.order()).find(|&j| self.factor.pivot(j) == T::Part::ZERO);
        }
        Ok(report)
    }

    /// Records that the expected modification has been made by other means, and the new bound on the rows of L.
    pub fn note(&mut self, row_norm: f64) {
        self.row_norm = row_norm;
        self.history.note();
    }

    /// Records that a submitted modification has been made, with this report.
    pub fn has_landed(&mut self, report: Modification) {
        self.flight = Some(Flight::Landed(Ok(report)));
    }

    /// Records in the history the modification that has been started.
    #[inline(always)]
    fn expect(&mut self, source: Source<'_, T>, outline: &Outline) {
        let Source::V(v, weights) = source else { return self.history.expect_none() };
        let seen = match v.host() {
            Some(v) => Some(VSeen::Columns(v, weights)),
            None => self.factor.row_squares().map(VSeen::Squares),
        };
        self.history.expect(seen, outline.rank());
    }

    /// Waits for the modification in flight.
    ///
    /// # Errors
    /// `NotPositiveDefinite`, with the factor as the safeguard leaves it; `Device`; `Poisoned`.
    pub fn wait(&mut self) -> Result<Modification, Error> {
        self.land(F::wait)
    }

    /// The same, with a function that waits for the sweep.
    fn land(
        &mut self,
        wait: impl FnOnce(&mut F) -> Result<Modification, Stop>,
    ) -> Result<Modification, Error> {
        match self.flight.take() {
            None => self.healthy().map(|_| Modification::identity()),
            Some(Flight::Landed(outcome)) => outcome,
            Some(Flight::Sweep(started)) => self.end(started, wait),
        }
    }

    /// Returns the outcome that [`modify_once`](Self::modify_once) would have. The factor is not changed.
    ///
    /// # Errors
    /// As [`modify_once`](Self::modify_once).
    pub fn dry_run_once(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
    ) -> Result<Modification, Error> {
        self.ready_for(v, weights)?;
        let memory = self.factor.traits().memory;
        self.dry_run_by(|factor| v.read_from(memory, |v| factor.stage(&Staged::Given(v, weights))))
    }

    /// The same with the V that `stage` stages; nothing is in flight.
    ///
    /// # Errors
    /// As [`modify_once`](Self::modify_once).
    pub fn dry_run_by(
        &mut self,
        stage: impl FnOnce(&mut F) -> Result<Outline, Error>,
    ) -> Result<Modification, Error> {
        if self.order() == 0 {
            return Ok(Modification::identity());
        }
        let outline = stage(&mut self.factor)?;
        let outcome = self.dry_run_staged(&outline);
        if outcome.is_err() {
            self.factor.withdraw();
        }
        outcome
    }

    /// The same for a V that has been staged.
    fn dry_run_staged(&mut self, outline: &Outline) -> Result<Modification, Error> {
        self.row_norm_after(outline)?;
        if outline.minus > 0 {
            self.regular()?;
        }
        match outline.first_column::<T>(self.order()) {
            Some(start) => self.dry(outline, start..self.order()),
            None => Ok(Modification::identity()),
        }
    }

    /// Waits for a modification in flight, if there is one, and discards its outcome. After success the factor is not poisoned.
    ///
    /// # Errors
    /// `Poisoned`.
    #[inline(always)]
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.flight.is_some() {
            let _ = self.wait();
        }
        self.healthy().map(|_| ())
    }

    /// Applies `change` to the factor in place; nothing is in flight. `change` may stop only before anything is written: if it
    /// stops later, or panics, the factor is lost.
    ///
    /// # Errors
    /// The error that stopped it.
    pub fn in_place<R>(&mut self, change: impl FnOnce(&mut F) -> Result<R, Stop>) -> Result<R, Error> {
        self.poisoned = true;
        let outcome = change(&mut self.factor);
        self.unpoison_unless(Target::InPlace, &outcome);
        outcome.map_err(Error::from)
    }

    /// Poisons the factor.
    pub fn lose(&mut self) {
        self.poisoned = true;
    }

    /// Sets the bound on the rows of L.
    pub fn bound_rows(&mut self, row_norm: f64) {
        self.row_norm = row_norm;
    }

    fn dry(&mut self, outline: &Outline, columns: Range<usize>) -> Result<Modification, Error> {
        self.factor.sweep(outline, columns, Target::Discard)?;
        self.factor.wait().map_err(Error::from)
    }

    /// Finishes an abandoned modification and discards its outcome; checks the shapes of V and w and the memory for V.
    #[inline(always)]
    pub fn ready_for(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T::Part>) -> Result<(), Error> {
        self.finish()?;
        weights.check(self.order(), v.shape())?;
        v.has_room_as_v()
    }

    /// Chooses where a modification writes. `Discard` stands for a dry run followed by a sweep in place.
    #[inline(always)]
    fn target(&mut self, may_break_down: bool) -> Result<Target, Error> {
        let traits = self.factor.traits();
        if !traits.prefers_shadow {
            match (may_break_down, traits.safeguard) {
                (false, _) => return Ok(Target::InPlace),
                (true, Safeguard::DryRun) => return Ok(Target::Discard),
                (true, Safeguard::None) => return Ok(Target::InPlace),
                (true, Safeguard::ShadowBuffer) => {}
            }
        }
        match self.factor.reserve(Room::Shadow) {
            Ok(()) => Ok(Target::Shadow),
            Err(Error::Device { kind: DeviceErrorKind::OutOfMemory, .. }) if !may_break_down => {
                Ok(Target::InPlace)
            }
            Err(error) => Err(error),
        }
    }

    /// After a sweep in place the factor remains poisoned, unless the sweep succeeded or stopped before anything was written.
    fn unpoison_unless<R>(&mut self, target: Target, outcome: &Result<R, Stop>) {
        let lost = matches!(outcome, Err(Stop::Breakdown { .. } | Stop::Device { written: true, .. }));
        self.poisoned = target == Target::InPlace && lost;
    }

    /// The bound on the rows of L after a modification.
    #[inline(always)]
    fn row_norm_after(&self, outline: &Outline) -> Result<f64, Error> {
        let overflows = |row_norm: f64| row_norm * row_norm > T::Part::LARGE_SQUARE.to_f64();
        let norm_of_both = |a: f64, b: f64| (a * a + b * b).sqrt();
        let mut row_norm = norm_of_both(self.row_norm, outline.row_norm);
        if overflows(row_norm) {
            // Downdates never lower the bound: compute it from L before refusing.
            row_norm = norm_of_both(self.factor.row_norm()?, outline.row_norm);
        }
        if overflows(row_norm) { Err(Error::Overflow { argument: "v" }) } else { Ok(row_norm) }
    }
}

/// Sweeps with V as it was staged, which cannot break down, to where the storage prefers to write.
fn swept<T: Element, F: Swept<T>>(
    factor: &mut F,
    outline: &Outline,
    columns: Range<usize>,
) -> Result<Modification, Stop> {
    let (start, shadow) =
        (columns.start, factor.traits().prefers_shadow && factor.reserve(Room::Shadow).is_ok());
    let target = if shadow { Target::Shadow } else { Target::InPlace };
    factor.sweep(outline, columns, target)?;
    let report = factor.wait()?;
    if shadow {
        factor.commit(start);
    }
    Ok(report)
}

impl<T: Element, F: Storage<T>> Guarded<T, F> {
    /// Waits for the modification in flight, and solves with the resulting factor. The shape of `rhs` is right.
    ///
    /// # Errors
    /// The first result as from [`wait`](Self::wait); the second as from [`Storage::apply`], or `Poisoned`.
    pub fn wait_and_solve(
        &mut self,
        sides: &[Side],
        mut rhs: OperandMut<'_, T>,
    ) -> (Result<Modification, Error>, Result<(), Error>) {
        if self.singular.is_some() {
            // Whether A is regular after the modification is known when it has ended.
            let ended = self.wait();
            return (ended, self.regular().and_then(|factor| factor.apply(Op::Solve(sides), rhs)));
        }
        let mut solved = None;
        let ended = self.land(|factor| {
            let (ended, behind) = factor.wait_and_solve(sides, &mut rhs);
            solved = behind;
            ended
        });
        let solved = solved.unwrap_or_else(|| self.regular()?.apply(Op::Solve(sides), rhs));
        (ended, solved)
    }
}
