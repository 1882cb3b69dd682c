//! The failure contract, once for all engines: where a modification writes, when what it has written becomes L, and what is
//! left where it ends early.
//!
//! | | in place | shadow buffer | discard |
//! |---|---|---|---|
//! | taken for | what cannot break down, or has no safeguard | what may; and by engines that had better write elsewhere | a dry run |
//! | becomes L | as it is written | by [`Swept::commit`], when the sweep has ended well | never |
//! | breakdown | the factor is lost | L is as it was | L is as it was |
//! | device lost | the factor is lost, if anything had been written | L is as it was | L is as it was |
//!
//! A factor that is lost is poisoned: every later call is [`Error::Poisoned`]. So is one whose sweep in place did not come
//! back, but panicked.

mod again;
mod change;
mod scaled;

use crate::check::room_for_v;
use crate::error::{DeviceErrorKind, Error};
use crate::history::History;
use crate::input::{Operand, OperandMut};
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::storage::{Op, Safeguard, Side, Stop, Storage, Swept, Target};
use crate::sweep::outline::Outline;
use crate::sweep::weights::Weights;
use core::ops::Range;

/// Where V of a modification comes from.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a, T: Scalar> {
    /// The caller, with weights.
    V(&'a Operand<'a, T>, Weights<'a, T>),
    /// L.
    L,
}

/// Hands V to `work` where it is or, for engines that do not take it from there, in host memory.
#[inline(always)]
pub(crate) fn with_v<T: Scalar, R>(
    v: &Operand<'_, T>,
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables, reason = "everything is in host memory"))]
    takes_from_device: bool,
    work: impl FnOnce(&Operand<'_, T>) -> Result<R, Error>,
) -> Result<R, Error> {
    match v {
        #[cfg(feature = "cuda")]
        Operand::Device(there) if !takes_from_device => {
            let copied = there.to_host()?;
            work(&Operand::Host(copied.as_ref()))
        }
        v => work(v),
    }
}

/// A sweep that has begun: columns from `start` on are being written; by `row_norm` the rows of L are bounded if all goes well.
#[derive(Debug)]
struct Course {
    target: Target,
    start: usize,
    row_norm: f64,
}

/// A modification that has begun.
#[derive(Debug)]
enum Flight<T> {
    Sweep(Course),
    /// It has ended.
    Landed(Result<Modification<T>, Error>),
}

/// A factor and the state that the contract keeps of it.
#[derive(Debug)]
pub(crate) struct Guarded<T, F> {
    factor: F,
    /// An upper bound of the 2-norm of any row of L: what the overflow check of a modification starts from.
    row_norm: f64,
    flight: Option<Flight<T>>,
    history: History,
    poisoned: bool,
    /// The first column whose pivot is zero.
    singular: Option<usize>,
}

impl<T: Scalar, F: Swept<T> + Clone> Clone for Guarded<T, F> {
    /// The clone of a factor with a modification in flight is of the factor as it was before.
    fn clone(&self) -> Self {
        let Self { factor, row_norm, history, poisoned, singular, .. } = self;
        Self {
            factor: factor.clone(),
            row_norm: *row_norm,
            flight: None,
            history: history.clone(),
            poisoned: *poisoned,
            singular: *singular,
        }
    }
}

impl<T: Scalar, F: Swept<T>> Guarded<T, F> {
    pub fn new(factor: F, row_norm: f64, history: History) -> Self {
        Self { factor, row_norm, flight: None, history, poisoned: false, singular: None }
    }

    /// The same of a factor whose first zero pivot, if there is one, is in this column.
    pub fn with_singular(self, singular: Option<usize>) -> Self {
        Self { singular, ..self }
    }

    pub fn order(&self) -> usize {
        self.factor.order()
    }

    pub fn row_norm(&self) -> f64 {
        self.row_norm
    }

    /// The same factor as another engine keeps it, with what has become of it.
    pub fn with<G: Swept<T>>(&self, factor: G, history: History) -> Guarded<T, G> {
        Guarded::new(factor, self.row_norm, history).with_singular(self.singular)
    }

    pub fn history(&self) -> &History {
        &self.history
    }

    pub fn factor_and_history(&mut self) -> (&F, &mut History) {
        (&self.factor, &mut self.history)
    }

    pub fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// The factor, whatever has become of it.
    pub fn factor(&self) -> &F {
        &self.factor
    }

    pub fn into_factor(self) -> F {
        self.factor
    }

    /// The factor, to be read.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn healthy(&self) -> Result<&F, Error> {
        if self.poisoned { Err(Error::Poisoned) } else { Ok(&self.factor) }
    }

    /// The factor, to be read, of an A that is not singular.
    ///
    /// # Errors
    /// `Poisoned`, `Singular`.
    pub fn regular(&self) -> Result<&F, Error> {
        let factor = self.healthy()?;
        self.singular.map_or(Ok(factor), |column| Err(Error::Singular { column }))
    }

    /// L Lᵀ ← L Lᵀ + V diag(w) Vᵀ, by one sweep; what breaks down is for `wide` to do again.
    ///
    /// # Errors
    /// What is wrong with V or w; `NotPositiveDefinite`, `Device` or `Poisoned`.
    #[inline(always)]
    pub fn modify_once(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T>,
    ) -> Result<Modification<T>, Error> {
        self.ready_for(v, weights)?;
        with_v(v, self.factor.traits().takes_from_device, |v| {
            self.modify_at_once(Source::V(v, weights), |factor| factor.stage(v, weights))
        })
    }

    /// The same with what `stage` brings to where a sweep takes it, as often as it is asked, and which comes from there.
    ///
    /// # Errors
    /// As [`modify_once`](Self::modify_once).
    pub fn modify_by(
        &mut self,
        source: Source<'_, T>,
        stage: impl Fn(&mut F) -> Result<Outline, Error>,
    ) -> Result<Modification<T>, Error> {
        self.finish()?;
        self.modify_at_once(source, stage)
    }

    /// Begins a modification and waits for it.
    #[inline(always)]
    fn modify_at_once(
        &mut self,
        source: Source<'_, T>,
        stage: impl Fn(&mut F) -> Result<Outline, Error>,
    ) -> Result<Modification<T>, Error> {
        match self.begin(source, stage)? {
            Some(course) => self.end(course, F::wait),
            None => Ok(Modification::identity()),
        }
    }

    /// Begins a modification. It may go on after the call; V has been taken over by then.
    ///
    /// # Errors
    /// As [`modify_once`](Self::modify_once), as far as is known by then. Nothing is in flight then.
    pub fn submit_once(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T>) -> Result<(), Error> {
        self.ready_for(v, weights)?;
        let begun = with_v(v, self.factor.traits().takes_from_device, |v| {
            self.begin(Source::V(v, weights), |factor| factor.stage(v, weights))
        })?;
        self.flight = Some(match begun {
            None => Flight::Landed(Ok(Modification::identity())),
            // Whoever forgets it must not find half a factor, nor miss what is done already.
            Some(course) if course.target == Target::InPlace || !self.factor.traits().asynchronous => {
                Flight::Landed(self.end(course, F::wait))
            }
            Some(course) => Flight::Sweep(course),
        });
        Ok(())
    }

    /// Starts the sweep of a modification, if it takes one.
    #[inline(always)]
    fn begin(
        &mut self,
        source: Source<'_, T>,
        stage: impl Fn(&mut F) -> Result<Outline, Error>,
    ) -> Result<Option<Course>, Error> {
        if self.order() == 0 {
            return Ok(None);
        }
        let outline = stage(&mut self.factor)?;
        let row_norm = self.row_norm_after(&outline)?;
        let Some(start) = outline.first_column::<T>(self.order()) else { return Ok(None) };
        if outline.minus > 0 {
            self.regular()?;
        }
        let columns = start..self.order();
        let mut target = self.target(outline.minus > 0)?;
        if target == Target::Discard {
            let run = self.dry(&outline, columns.clone());
            if run.is_err() {
                self.expect(source, &outline);
            }
            run?;
            stage(&mut self.factor)?;
            target = Target::InPlace;
        }
        self.poisoned = target == Target::InPlace;
        let started = self.factor.sweep(&outline, columns, target);
        self.unpoison_unless(target, &started);
        // While the sweep goes on, where it does; what breaks down may be done again.
        self.expect(source, &outline);
        started?;
        Ok(Some(Course { target, start, row_norm }))
    }

    /// Waits for a sweep that has begun, by `wait`, and makes what it has written the factor.
    #[inline(always)]
    fn end(
        &mut self,
        Course { target, start, row_norm }: Course,
        wait: impl FnOnce(&mut F) -> Result<Modification<T>, Stop>,
    ) -> Result<Modification<T>, Error> {
        self.poisoned = target == Target::InPlace;
        let ended = wait(&mut self.factor);
        self.unpoison_unless(target, &ended);
        let report = ended?;
        if target == Target::Shadow {
            self.factor.commit(start);
        }
        self.row_norm = row_norm;
        self.history.note(|column| self.factor.pivot(column));
        if self.singular.is_some() {
            self.singular = (0..self.order()).find(|&j| self.factor.pivot(j) == T::ZERO);
        }
        Ok(report)
    }

    /// The modification that was expected has been made by other means; so are the rows of L bounded now.
    pub fn note(&mut self, row_norm: f64) {
        self.row_norm = row_norm;
        self.history.note(|column| self.factor.pivot(column));
    }

    /// One that was to be submitted has been made: that is its report.
    pub fn has_landed(&mut self, report: Modification<T>) {
        self.flight = Some(Flight::Landed(Ok(report)));
    }

    /// Has the history know of the modification that has begun.
    #[inline(always)]
    fn expect(&mut self, source: Source<'_, T>, outline: &Outline) {
        let Source::V(v, weights) = source else { return self.history.expect_none() };
        let seen = match v {
            Operand::Host(v) => Some((*v, weights)),
            #[cfg(feature = "cuda")]
            Operand::Device(_) => None,
        };
        let added = if outline.minus > 0 { outline.row_norm * outline.row_norm } else { 0.0 };
        self.history.expect(seen, outline.rank(), added, |column| self.factor.pivot(column));
    }

    /// Waits for the modification in flight.
    ///
    /// # Errors
    /// `NotPositiveDefinite`, with the factor as the safeguard leaves it; `Device`; `Poisoned`.
    pub fn wait(&mut self) -> Result<Modification<T>, Error> {
        self.land(F::wait)
    }

    /// The same, with what waits for the sweep.
    fn land(
        &mut self,
        wait: impl FnOnce(&mut F) -> Result<Modification<T>, Stop>,
    ) -> Result<Modification<T>, Error> {
        match self.flight.take() {
            None => self.healthy().map(|_| Modification::identity()),
            Some(Flight::Landed(outcome)) => outcome,
            Some(Flight::Sweep(course)) => self.end(course, wait),
        }
    }

    /// The outcome that [`modify_once`](Self::modify_once) would have. The factor is untouched.
    ///
    /// # Errors
    /// As [`modify_once`](Self::modify_once).
    pub fn dry_run_once(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T>,
    ) -> Result<Modification<T>, Error> {
        self.ready_for(v, weights)?;
        if self.order() == 0 {
            return Ok(Modification::identity());
        }
        let outline = self.factor.stage(v, weights)?;
        self.row_norm_after(&outline)?;
        if outline.minus > 0 {
            self.regular()?;
        }
        match outline.first_column::<T>(self.order()) {
            Some(start) => self.dry(&outline, start..self.order()),
            None => Ok(Modification::identity()),
        }
    }

    /// Lets whatever had begun come to its end. The factor is healthy behind it.
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

    /// Has `change` work on the factor in place; nothing is in flight. Unless it stops before anything is written, it must not
    /// stop at all: the factor is lost then, or if it panics.
    ///
    /// # Errors
    /// What stopped it.
    pub fn in_place<R>(&mut self, change: impl FnOnce(&mut F) -> Result<R, Stop>) -> Result<R, Error> {
        self.poisoned = true;
        let outcome = change(&mut self.factor);
        self.unpoison_unless(Target::InPlace, &outcome);
        outcome.map_err(Error::from)
    }

    /// The factor is no use any more.
    pub fn lose(&mut self) {
        self.poisoned = true;
    }

    /// Takes another bound of the rows of L.
    pub fn bound_rows(&mut self, row_norm: f64) {
        self.row_norm = row_norm;
    }

    fn dry(&mut self, outline: &Outline, columns: Range<usize>) -> Result<Modification<T>, Error> {
        self.factor.sweep(outline, columns, Target::Discard)?;
        self.factor.wait().map_err(Error::from)
    }

    /// Ready to stage V, behind whatever had begun and was forgotten, whose outcome has nobody to go to.
    #[inline(always)]
    pub fn ready_for(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T>) -> Result<(), Error> {
        self.finish()?;
        weights.check(self.order(), v.shape())?;
        room_for_v(v)
    }

    /// Where a modification writes; `Discard` stands for a dry run and then in place.
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
        match self.factor.reserve_shadow() {
            Ok(()) => Ok(Target::Shadow),
            Err(Error::Device { kind: DeviceErrorKind::OutOfMemory, .. }) if !may_break_down => {
                Ok(Target::InPlace)
            }
            Err(error) => Err(error),
        }
    }

    /// A sweep in place poisons the factor until it has come back well, or before anything was written.
    fn unpoison_unless<R>(&mut self, target: Target, outcome: &Result<R, Stop>) {
        let lost = matches!(outcome, Err(Stop::Breakdown { .. } | Stop::Device { written: true, .. }));
        self.poisoned = target == Target::InPlace && lost;
    }

    /// The bound on the rows of L that holds after a modification.
    #[inline(always)]
    fn row_norm_after(&self, outline: &Outline) -> Result<f64, Error> {
        let overflows = |row_norm: f64| row_norm * row_norm > T::LARGE_SQUARE.to_f64();
        let norm_of_both = |a: f64, b: f64| (a * a + b * b).sqrt();
        let mut row_norm = norm_of_both(self.row_norm, outline.row_norm);
        if overflows(row_norm) {
            // The bound never shrinks with a downdate: look at L itself before refusing.
            row_norm = norm_of_both(self.factor.row_norm()?, outline.row_norm);
        }
        if overflows(row_norm) { Err(Error::Overflow { argument: "v" }) } else { Ok(row_norm) }
    }
}

impl<T: Scalar, F: Storage<T>> Guarded<T, F> {
    /// Waits for the modification in flight, and solves with the factor that is there then. The shape of `rhs` is right.
    ///
    /// # Errors
    /// Of the first, as [`wait`](Self::wait); of the second, those of [`Storage::apply`] and `Poisoned`.
    pub fn wait_and_solve(
        &mut self,
        sides: &[Side],
        mut rhs: OperandMut<'_, T>,
    ) -> (Result<Modification<T>, Error>, Result<(), Error>) {
        if self.singular.is_some() {
            // Whether it is regular behind the modification is known behind it.
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
