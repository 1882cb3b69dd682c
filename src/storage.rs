//! What an engine supplies: L in memory of its own, and sweeps over it. The failure contract, in `guarded.rs`, is written once above it.

use crate::error::Error;
use crate::input::{Operand, OperandMut};
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::structure::{Border, BorderThere, ColumnsAsV, Parts, Rearrangement};
use crate::sweep::Breakdown;
use crate::sweep::outline::Outline;
use crate::sweep::weights::Weights;
use core::any::Any;
use core::fmt;
use core::ops::Range;
use core::str::FromStr;
use faer::{MatMut, MatRef};

/// How a modification that may break down leaves the factor as it was.
///
/// Modifications whose weights are all positive cannot break down. They work in place at no cost, except on `cuda::Resident`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Safeguard {
    /// The new factor is written to a shadow buffer, which becomes the factor on success. The buffer is allocated by the first
    /// modification that needs it, or with room for more rows, and kept. Costs memory, and no additional arithmetic.
    #[default]
    ShadowBuffer,
    /// The sweep is run once without storing L and, if it succeeds, once more in place. Costs twice the
    /// time and no memory.
    DryRun,
    /// None: for modifications that are known not to break down, and factors that can be made anew. The modification works in
    /// place. A breakdown is `NotPositiveDefinite` as ever, but half of the factor is lost by then, and every later call is
    /// [`Error::Poisoned`]. It is not done again in twice the precision, as with the other two, so rounding errors decide where
    /// next to nothing is left of a direction. Costs neither time nor memory. `cuda::Resident` keeps its shadow buffer.
    None,
}

impl Safeguard {
    const NAMES: [(&'static str, Self); 3] =
        [("shadow_buffer", Self::ShadowBuffer), ("dry_run", Self::DryRun), ("none", Self::None)];
}

impl FromStr for Safeguard {
    type Err = Error;

    /// `shadow_buffer`, `dry_run` or `none`.
    ///
    /// # Errors
    /// `OutOfRange`, naming `safeguard`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Self::NAMES.iter().find(|(name, _)| *name == text);
        let rule = "\"shadow_buffer\", \"dry_run\" or \"none\"";
        found.map(|&(_, safeguard)| safeguard).ok_or(Error::OutOfRange { argument: "safeguard", rule })
    }
}

impl fmt::Display for Safeguard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Self::NAMES.iter().find(|(_, safeguard)| safeguard == self);
        f.write_str(found.map_or("", |(name, _)| name))
    }
}

/// Where a sweep writes the new columns of L.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Over the old ones.
    InPlace,
    /// To the other buffer.
    Shadow,
    /// Nowhere.
    Discard,
}

/// What ends a sweep early.
#[derive(Debug)]
pub enum Stop {
    /// The first pivot² that is not greater than zero, by column of L.
    Breakdown {
        /// Column of L.
        column: usize,
    },
    /// The device failed; whether anything may have been written to the target by then.
    Device {
        /// In what way.
        error: Error,
        /// Whether the target is not as it was.
        written: bool,
    },
    /// The caller of [`interruptible`](crate::interruptible) asked for it, of a sweep that does not work in place.
    Interrupted,
}

impl Stop {
    /// An error before anything was written.
    pub(crate) fn before(error: Error) -> Self {
        Self::Device { error, written: false }
    }

    /// The same after something has been written.
    pub(crate) fn after_a_change(self) -> Self {
        match self {
            Self::Device { error, .. } => Self::Device { error, written: true },
            stop => stop,
        }
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Breakdown { column } => Self::NotPositiveDefinite { column },
            Stop::Device { error, .. } => error,
            Stop::Interrupted => Self::Interrupted,
        }
    }
}

impl From<Breakdown> for Stop {
    fn from(Breakdown { column }: Breakdown) -> Self {
        Self::Breakdown { column }
    }
}

/// What the sweeps of a storage can do, and where they had better write.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// [`sweep`](Swept::sweep) may return before the work is done.
    pub asynchronous: bool,
    /// The columns of a [`sweep`](Swept::sweep) may end before the rows do.
    pub tall: bool,
    /// V in the memory of a device is taken from there; otherwise it is copied to the host first.
    pub takes_from_device: bool,
    /// A sweep multiplies the new entries of L by the scale of its outline; otherwise that must be 1.
    pub scales: bool,
    /// Rows below L can go through a sweep with it ([`Staged::Carrying`]).
    pub carries: bool,
    /// Even a sweep that cannot break down writes to the shadow buffer where there is room for one.
    pub prefers_shadow: bool,
    /// What keeps L as it was where a sweep may break down.
    pub safeguard: Safeguard,
}

impl Traits {
    /// Those of a sweep that works in place in host memory, and takes V alone.
    pub(crate) const fn new(safeguard: Safeguard) -> Self {
        Self {
            asynchronous: false,
            tall: false,
            takes_from_device: false,
            scales: false,
            carries: false,
            prefers_shadow: false,
            safeguard,
        }
    }
}

/// L and a sweep over it: all that a modification takes, also of L in memory of the caller's.
///
/// Only the failure contract (`guarded/`) calls `stage`, `sweep`, `wait` and `commit`, in this order.
pub trait Swept<T: Scalar> {
    /// What its sweeps can do.
    fn traits(&self) -> Traits;

    /// Rows of A.
    fn order(&self) -> usize;

    /// A diagonal entry of L.
    fn pivot(&self, column: usize) -> T;

    /// The largest 2-norm of a row of L.
    ///
    /// # Errors
    /// `Device`.
    fn row_norm(&self) -> Result<f64, Error>;

    /// Makes room for another L, unless it is there.
    ///
    /// # Errors
    /// `Device`, of the kind `OutOfMemory` where there is none.
    fn reserve_shadow(&mut self) -> Result<(), Error>;

    /// Brings V diag(√|w|) to where the next sweep takes it, and says what it is. V and w have the right shapes, and w is
    /// finite. (n × k, k) L is left alone.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`; `Device`.
    fn stage(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T>) -> Result<Outline, Error>;

    /// Starts [L V] → [L' V'] over some columns of L and all rows from the first of them on, with V as it was staged last,
    /// which is of this outline. Rows before the columns are zero in V. Where the columns end before the rows do, which
    /// [`tall`](Traits::tall) allows, V there is the residual.
    ///
    /// # Errors
    /// As [`wait`](Self::wait); nothing is in flight then.
    fn sweep(&mut self, outline: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop>;

    /// Waits for the sweep in flight.
    ///
    /// # Errors
    /// What ended it early. Nothing is in flight when this returns, whatever it returns.
    fn wait(&mut self) -> Result<Modification<T>, Stop>;

    /// Makes the shadow, to which a sweep has written the columns from `start` on, L.
    fn commit(&mut self, start: usize);
}

/// The diagonal of L. (n)
pub(crate) fn pivots<'a, T: Scalar, F: Swept<T> + ?Sized>(factor: &'a F) -> impl Iterator<Item = T> + 'a {
    (0..factor.order()).map(|column| factor.pivot(column))
}

/// One of the two triangular systems that A X = B is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// L Y = B.
    L,
    /// Lᵀ X = Y.
    Transpose,
}

/// What L does to right-hand sides B. (n × m)
#[derive(Clone, Copy, Debug)]
pub enum Op<'a> {
    /// Solves the systems of these sides, one after the other.
    Solve(&'a [Side]),
    /// B ← L B, or Lᵀ B.
    Multiply(Side),
    /// Takes so many leading columns of L through the first half of a solve: B₁ ← L₁₁⁻¹ B₁, B₂ ← B₂ − L₂₁ B₁.
    Eliminate(usize),
}

/// What else than V of the caller's a sweep takes.
#[derive(Clone, Copy)]
pub enum Staged<'a, T: Scalar> {
    /// V and w in host memory, with the columns of z (n × m) as rows below L and those of y (k × m) below V. Where
    /// [`carries`](Traits::carries) says so.
    Carrying {
        /// (n × k)
        v: MatRef<'a, T>,
        /// (k)
        weights: Weights<'a, T>,
        /// (n × m)
        z: MatRef<'a, T>,
        /// (k × m)
        y: MatRef<'a, T>,
    },
    /// Columns of L.
    Columns(&'a ColumnsAsV<'a, T>),
    /// The same, with what the border that was made last has below the diagonal for the columns with a minus sign.
    Border(&'a ColumnsAsV<'a, T>),
}

/// A change of L that is no sweep. There is room for it, and nothing in flight.
#[derive(Clone, Copy, Debug)]
pub enum Edit<'a, T> {
    /// Multiplies leading columns by a positive number.
    Scale {
        /// So many.
        columns: usize,
        /// The number.
        by: T,
    },
    /// Other rows and columns.
    Rearrange(&'a Rearrangement),
    /// Makes what the last sweep, of one column of V and up to this column, has left of V column `column` of L. Where nothing
    /// is left on the diagonal, for want of digits, the entry there is `pivot`. Where [`tall`](Traits::tall) says so.
    Close {
        /// Column of L.
        column: usize,
        /// Its diagonal entry, if it has none.
        pivot: T,
    },
    /// Row and column `from` of A move up before row `to` ≤ `from`, by orthogonal transformations.
    MoveUp {
        /// The old place.
        from: usize,
        /// The new one.
        to: usize,
    },
    /// Writes a border over as many rows and columns from `at` on.
    Write {
        /// The first row.
        at: usize,
        /// What is written.
        border: &'a Border<'a, T>,
    },
    /// The same with the border that [`border_there`](Storage::border_there) has made.
    WriteThere {
        /// The first row.
        at: usize,
    },
}

/// The outcome of a solve; `None` if it is yet to be done.
pub type Solved = Option<Result<(), Error>>;

/// L as an engine keeps it: a factor whose rows and columns come and go. Shapes and indices have been checked.
pub trait Storage<T: Scalar>: Swept<T> + Any + Send + Sync {
    /// The largest order that needs no other memory.
    fn capacity(&self) -> usize;

    /// Makes room for a factor of that order, and for its shadow where the safeguard has one. L stays as it is.
    ///
    /// # Errors
    /// `Device`; L is where it was.
    fn reserve(&mut self, capacity: usize) -> Result<(), Error>;

    /// Copies L to host memory of zeros. (n × n)
    ///
    /// # Errors
    /// `Device`.
    fn read(&self, to: MatMut<'_, T>) -> Result<(), Error>;

    /// Applies L, or its inverse, to right-hand sides. (n × m)
    ///
    /// # Errors
    /// `NonFinite`, naming `rhs`, from a solve, whose `rhs` is untouched then; `Device`.
    fn apply(&self, op: Op<'_>, rhs: OperandMut<'_, T>) -> Result<(), Error>;

    /// Waits for the sweep in flight, as [`wait`](Swept::wait) does, and solves the systems with what it has written, without the
    /// host in between. `None` where that is yet to be done, if it can be done at all: `rhs` is untouched then.
    ///
    /// # Errors
    /// Those of [`wait`](Swept::wait), and of [`apply`](Self::apply) after it.
    fn wait_and_solve(
        &mut self,
        _sides: &[Side],
        _rhs: &mut OperandMut<'_, T>,
    ) -> (Result<Modification<T>, Stop>, Solved) {
        (self.wait(), None)
    }

    /// As [`stage`](Swept::stage), with something else than V of the caller's.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`; `Device`.
    fn stage_other(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error>;

    /// The rows that were carried, from column `start` on, as the last sweep has left them, which began there; and for each of them
    /// Σ ± y'², where y' is the residual of y. (z: n × m, y: k × m) Where [`carries`](Traits::carries) says so.
    fn carried(
        &mut self,
        (_y, _weights): (MatRef<'_, T>, &[T]),
        _start: usize,
        _z: MatMut<'_, T>,
    ) -> Vec<f64> {
        Vec::new()
    }

    /// Changes L by something else than a sweep.
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn edit(&mut self, edit: Edit<'_, T>) -> Result<(), Stop>;

    /// An edit [`Rearrange`](Edit::Rearrange) and a sweep over these columns after it, with V as it was staged, of this outline, in
    /// one pass over L; `None` where it takes two, and nothing has been done. The sweep cannot break down.
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn rearrange_and_sweep(
        &mut self,
        _rearrangement: &Rearrangement,
        _outline: &Outline,
        _columns: Range<usize>,
    ) -> Result<Option<Modification<T>>, Stop> {
        Ok(None)
    }

    /// Makes the border of new columns of A at row `at`, as [`Border::new`] does, where they are, and keeps it; `None` where the engine
    /// cannot use them there. Shapes are right, and nothing else is known. L stays as it is.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming the argument; `NotPositiveDefinite` with the row of the new A; `Device`.
    fn border_there(
        &mut self,
        _at: usize,
        _parts: &Parts<'_, T>,
        _skipped: usize,
    ) -> Result<Option<BorderThere<T>>, Error> {
        Ok(None)
    }
}
