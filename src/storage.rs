//! What an engine supplies: storage of L, and sweeps over it. The failure contract is written once for all engines, in
//! `guarded/`.

use crate::element::Element;
use crate::error::Error;
use crate::operand::{Operand, OperandMut};
use crate::report::Modification;
use crate::structure::{Border, BorderThere, ColumnsAsV, Parts, Rearrangement};
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::Number;
use core::any::Any;
use core::fmt;
use core::ops::Range;
use core::str::FromStr;
use faer::{Mat, MatMut, MatRef};

/// What a factor is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A.
    Matrix,
    /// L.
    Factor,
}

/// A factor's storage that an engine has made, with the diagonal of A. (n)
pub type Made<F> = Option<(F, Vec<f64>)>;

/// How a modification that may break down preserves the factor.
///
/// Modifications whose weights are all positive cannot break down. They work in place at no cost, except on `cuda::Resident`, and
/// on `Cpu` for two to four columns of V where L is small, or has a shadow buffer and at most 128 rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Safeguard {
    /// The new factor is written to a shadow buffer, which becomes the factor on success. The buffer is allocated by the first
    /// modification that needs it, or when room for more rows is reserved, and kept. Costs memory, and no additional
    /// arithmetic.
    #[default]
    ShadowBuffer,
    /// The sweep is run once without storing L and, if it succeeds, a second time in place. Costs twice the time and no memory.
    DryRun,
    /// No safeguard: for modifications that are known not to break down, and for factors that can be computed again. The
    /// modification works in place. A breakdown returns `NotPositiveDefinite`, but half of the factor is lost, and every later
    /// call returns [`Error::Poisoned`]. The modification is not repeated in twice the precision, as it is with the other two;
    /// so if almost nothing is left of A in some direction, rounding errors decide whether it breaks down. Costs neither time
    /// nor memory. `cuda::Resident` keeps its shadow buffer.
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
    /// To the shadow buffer.
    Shadow,
    /// Nowhere.
    Discard,
}

/// What the sweeps of a storage can do, and where they should write.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// [`sweep`](Swept::sweep) may return before the work is done.
    pub asynchronous: bool,
    /// The columns of a [`sweep`](Swept::sweep) may end before its rows do.
    pub tall: bool,
    /// The kind of device memory ([`RemoteMatrix::memory`](crate::operand::RemoteMatrix::memory)) from which V is read where it
    /// is; from every other it is first copied to the host. [`row_squares`](Swept::row_squares) then returns the squares of its
    /// rows.
    pub memory: Option<&'static str>,
    /// A sweep multiplies the new entries of L by the scale of its outline; otherwise that must be 1.
    pub scales: bool,
    /// Rows can be carried through a sweep below L ([`Staged::Carrying`]).
    pub carries: bool,
    /// A sweep that cannot break down writes to the shadow buffer too, if there is memory for one.
    pub prefers_shadow: bool,
    /// What preserves L if a sweep may break down.
    pub safeguard: Safeguard,
}

impl Traits {
    /// The traits of a storage that sweeps in place, in host memory, and reads V alone.
    pub(crate) const fn new(safeguard: Safeguard) -> Self {
        Self {
            asynchronous: false,
            tall: false,
            memory: None,
            scales: false,
            carries: false,
            prefers_shadow: false,
            safeguard,
        }
    }
}

/// L and a sweep over it: what a modification needs. Also implemented for an L in the caller's memory.
///
/// Of other code only the failure contract (`guarded/`) calls `stage` or `stage_lent`, and then `sweep`, `wait` and `commit`, in this
/// order, or `withdraw`; and `modify_directly`.
pub trait Swept<T: Element> {
    /// What the sweeps can do.
    fn traits(&self) -> Traits;

    /// Rows of A.
    fn order(&self) -> usize;

    /// A diagonal entry of L, which is real.
    fn pivot(&self, column: usize) -> T::Part;

    /// The squared norms of the rows of V diag(√|w|), of its columns with a plus and with a minus sign, for the V that was staged
    /// last, if it was in [`memory`](Traits::memory) that the host does not read. (n, n) Asked for once the sweep has been started,
    /// for [`error_estimate`](crate::Cholesky::error_estimate), which without them counts V as small.
    fn row_squares(&self) -> Option<[&[f64]; 2]> {
        None
    }

    /// The largest 2-norm of a row of L.
    ///
    /// # Errors
    /// `Device`.
    fn row_norm(&self) -> Result<f64, Error>;

    /// Allocates memory, unless it exists. L is not changed.
    ///
    /// # Errors
    /// `OutOfRange`, naming `additional`; `Device`, of the kind `OutOfMemory` if there is no room on a device.
    fn reserve(&mut self, room: Room) -> Result<(), Error>;

    /// Modifies L without a sweep, if it is so small that to prepare one would take longer: L Lᴴ ← L Lᴴ + V diag(w) Vᴴ. Returns
    /// `None`, with L as it was, if a sweep must make the modification, or refuse it. Nothing has been checked; L has no zero
    /// pivots.
    fn modify_directly(&mut self, _v: MatRef<'_, T>, _weights: Weights<'_, T::Part>) -> Option<Direct> {
        None
    }

    /// Copies V diag(√|w|) to where the next sweep reads it, and returns its outline. V and w have the right shapes, and w is
    /// finite. (n × k, k) L is not changed.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`; `Device`.
    fn stage(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error>;

    /// The same for V and w as the caller gives them, where the sweep may read V where it is.
    ///
    /// # Errors
    /// As [`stage`](Self::stage). Nothing reads V after an error.
    ///
    /// # Safety
    /// V exists and is not written until [`wait`](Self::wait) or [`withdraw`](Self::withdraw) has returned.
    #[allow(unsafe_code, reason = "a contract")]
    unsafe fn stage_lent(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
    ) -> Result<Outline, Error> {
        self.stage(&Staged::Given(v, weights))
    }

    /// Ensures that nothing reads the V that was staged last, with which no sweep starts.
    fn withdraw(&mut self) {}

    /// Starts [L V] → [L' V'] over a range of columns of L and all rows from the first of these columns on, with the V that was
    /// staged last. `outline` is the outline of that V. The rows of V before the range are zero. If the columns end before the
    /// rows do, which [`tall`](Traits::tall) allows, the remaining rows of V are the residual.
    ///
    /// # Errors
    /// As [`wait`](Self::wait). After an error nothing is in flight.
    fn sweep(&mut self, outline: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop>;

    /// Waits for the sweep in flight.
    ///
    /// # Errors
    /// What ended the sweep early. Nothing is in flight when this returns, also after an error.
    fn wait(&mut self) -> Result<Modification, Stop>;

    /// Makes the shadow buffer L. A sweep has written its columns from `start` on.
    fn commit(&mut self, start: usize);
}

/// The diagonal of L. (n)
pub(crate) fn pivots<'a, T: Element, F: Swept<T> + ?Sized>(
    factor: &'a F,
) -> impl Iterator<Item = T::Part> + 'a {
    (0..factor.order()).map(|column| factor.pivot(column))
}

/// A modification that has been made without a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    /// Its report.
    pub report: Modification,
    /// An upper bound of the squared 2-norm of any row of V diag(√|w|) that has a plus sign.
    pub added: f64,
}

/// One of the two triangular systems of A X = B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// L Y = B.
    L,
    /// Lᴴ X = Y.
    Transpose,
}

/// An operation of L on right-hand sides B. (n × m)
#[derive(Clone, Copy, Debug)]
pub enum Op<'a> {
    /// Solves the systems of these sides, one after the other.
    Solve(&'a [Side]),
    /// B ← L B, or Lᴴ B.
    Multiply(Side),
    /// Solves with this many leading columns of L, the first half of a solve: B₁ ← L₁₁⁻¹ B₁, B₂ ← B₂ − L₂₁ B₁.
    Eliminate(usize),
}

/// Memory for L.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// For the shadow buffer.
    Shadow,
    /// For a factor of this order, and for its shadow buffer if the safeguard has one. Only asked of a [`Storage`].
    Capacity(usize),
}

/// Input of a sweep. Only a [`Storage`] is given another one than [`Given`](Self::Given).
#[derive(Clone, Copy)]
pub enum Staged<'a, T: Element> {
    /// V and w as the caller gives them. (n × k, k)
    Given(&'a Operand<'a, T>, Weights<'a, T::Part>),
    /// V and w in host memory, with the columns of z (n × m) as further rows of L and those of y (k × m) as further rows of V.
    /// Requires [`carries`](Traits::carries).
    Carrying {
        /// (n × k)
        v: MatRef<'a, T>,
        /// (k)
        weights: Weights<'a, T::Part>,
        /// (n × m)
        z: MatRef<'a, T>,
        /// (k × m)
        y: MatRef<'a, T>,
    },
    /// Columns of L as V.
    Columns(&'a ColumnsAsV<'a, T>),
    /// The same. The columns with a minus sign are X, the part below the diagonal, of the border that was computed last.
    Border(&'a ColumnsAsV<'a, T>),
}

/// A change of L other than a sweep. There is room for it, and nothing is in flight.
#[derive(Clone, Copy, Debug)]
pub enum Edit<'a, T: Number> {
    /// Multiplies leading columns by a positive number.
    Scale {
        /// Number of columns.
        columns: usize,
        /// The positive number.
        by: T::Part,
    },
    /// Rearranges rows and columns.
    Rearrange(&'a Rearrangement),
    /// Makes column `column` of L from the residual of V. The last sweep had one column of V and ended before this column. If
    /// the residual on the diagonal is zero, for lack of digits, the diagonal entry becomes `pivot`. Requires
    /// [`tall`](Traits::tall).
    Close {
        /// Column of L.
        column: usize,
        /// Its diagonal entry, if the residual there is zero.
        pivot: T::Part,
    },
    /// Moves row and column `from` of A before row `to` ≤ `from`, by orthogonal transformations.
    MoveUp {
        /// The old position.
        from: usize,
        /// The new position.
        to: usize,
    },
    /// Writes a border over its rows and columns, from `at` on.
    Write {
        /// The first row.
        at: usize,
        /// The border.
        border: &'a Border<'a, T>,
    },
    /// Writes the border that [`border_there`](Storage::border_there) has computed.
    WriteThere {
        /// The first row.
        at: usize,
    },
}

/// The outcome of a solve; `None` if it has not been done.
pub type Solved = Option<Result<(), Error>>;

impl<T: Element> fmt::Debug for dyn Storage<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (order, capacity) = (self.order(), self.capacity());
        f.debug_struct("Storage").field("order", &order).field("capacity", &capacity).finish_non_exhaustive()
    }
}

/// L as an engine stores it: a factor whose rows and columns can be inserted, removed and moved. Shapes and indices have been
/// checked.
pub trait Storage<T: Element>: Swept<T> + Any + Send + Sync {
    /// The largest order that fits the memory allocated.
    fn capacity(&self) -> usize;

    /// Copies L to a matrix of zeros in host memory. (n × n)
    ///
    /// # Errors
    /// `Device`.
    fn read(&self, to: MatMut<'_, T>) -> Result<(), Error>;

    /// Applies L, or its inverse, to right-hand sides. (n × m) They may be in memory that the storage does not know; then it
    /// applies L to a copy in host memory, by `RemoteViewMut::to_host` and `write`.
    ///
    /// # Errors
    /// `NonFinite`, naming `rhs`, from a solve, which then has not written to `rhs`; `Device`.
    fn apply(&self, op: Op<'_>, rhs: OperandMut<'_, T>) -> Result<(), Error>;

    /// Waits for the sweep in flight, as [`wait`](Swept::wait) does, and solves the systems with the new L, without a return to
    /// the host in between. The second result is `None` if the solve has not been done; then `rhs` is unchanged.
    ///
    /// # Errors
    /// Those of [`wait`](Swept::wait), and of [`apply`](Self::apply) after it.
    fn wait_and_solve(
        &mut self,
        _sides: &[Side],
        _rhs: &mut OperandMut<'_, T>,
    ) -> (Result<Modification, Stop>, Solved) {
        (self.wait(), None)
    }

    /// Writes z from row `start` on, where the last sweep began, and returns Σ ± |y'|² for each right-hand side, where y' is the
    /// residual of y. (z: n × m, y: k × m) Requires [`carries`](Traits::carries).
    fn carried(
        &mut self,
        (_y, _weights): (MatRef<'_, T>, &[T::Part]),
        _start: usize,
        _z: MatMut<'_, T>,
    ) -> Vec<f64> {
        Vec::new()
    }

    /// Changes L other than by a sweep.
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn edit(&mut self, edit: Edit<'_, T>) -> Result<(), Stop>;

    /// An edit [`Rearrange`](Edit::Rearrange), and a sweep over these columns with the staged V of this outline, in one pass
    /// over L. `None` if the storage needs two passes; then nothing has been done. The sweep cannot break down.
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn rearrange_and_sweep(
        &mut self,
        _rearrangement: &Rearrangement,
        _outline: &Outline,
        _columns: Range<usize>,
    ) -> Result<Option<Modification>, Stop> {
        Ok(None)
    }

    /// Computes the border of new columns of A at row `at`, as [`Border::new`] does, in the engine's memory, and keeps it; `None`
    /// if the host is to compute it. The shapes are right; entries have not been checked. L is not changed.
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

    /// Copies X of the border that [`border_there`](Self::border_there) has computed, if there is one.
    ///
    /// # Errors
    /// `Device`.
    fn border_below(&self) -> Result<Option<Mat<T>>, Error> {
        Ok(None)
    }
}
