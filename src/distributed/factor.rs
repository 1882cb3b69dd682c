//! A process's part of a factor that is distributed over processes.

use super::agree::{BLOCK_RULE, Call, agree};
use super::factorize::factorize;
use super::moves;
use super::network::Network;
use super::rows::LocalRows;
use super::solve::{solve_lower, solve_upper};
use super::storage::LocalStorage;
use super::v::{Rows, fingerprint};
use crate::check::{extent, finite, index};
use crate::error::Error;
use crate::guarded::{Guarded, Source};
use crate::history::History;
use crate::host::squares::largest_of;
use crate::host::threads::Threads;
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Origin, Safeguard, Side, pivots};
use crate::sweep::cyclic::Cyclic;
use crate::sweep::weights::Weights;
use core::fmt;
use faer::{Mat, MatMut, MatRef};

/// How a process works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Threads of the process; `None` for those of the current rayon pool.
    pub threads: Option<usize>,
    /// The safeguard of modifications, the same on all processes.
    pub safeguard: Safeguard,
    /// Rows of a block, the same on all processes: a multiple of 16. With a multiple of 256, solves have the rounding errors of the
    /// `Cpu` engine; with fewer rows the work is divided more evenly, and processes wait for each other more often.
    pub block: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { threads: None, safeguard: Safeguard::default(), block: 256 }
    }
}

/// A process's part of L, whose rows are distributed over processes in blocks ([`Cyclic`]).
///
/// Every call is made by all processes together, and returns the same outcome on all of them. The arguments of which each process has
/// its own part are checked by it; what must be the same on all is compared.
pub struct Factor<T: Real, N: Network> {
    guarded: Guarded<T, LocalStorage<T, N>>,
}

impl<T: Real, N: Network> Factor<T, N> {
    /// The factor of A, or L, of which each process gives its rows. (local rows × n) Only the lower triangle is read.
    ///
    /// # Errors
    /// `OutOfRange` or `Differs`, naming `block`; `Shape` or `NonFinite`, naming `a` or `l`; `Overflow`; `NotPositiveDefinite`.
    pub fn new(
        net: N,
        settings: Settings,
        (origin, order): (Origin, usize),
        rows: MatRef<'_, T>,
    ) -> Result<Self, Error> {
        let (name, call) = match origin {
            Origin::Matrix => ("a", Call::FromMatrix),
            Origin::Factor => ("l", Call::FromFactor),
        };
        let cyclic = cyclic(&net, order, settings.block);
        let checked = cyclic.as_ref().map_err(Error::clone).and_then(|cyclic| {
            extent(name, "rows", cyclic.rows(), rows.nrows())?;
            extent(name, "columns", order, rows.ncols())?;
            finite_lower_rows(name, cyclic, rows)
        });
        agree(&net, call, &facts(order, settings), checked)?;
        let cyclic = cyclic?;
        let mut l = LocalRows::zeros(cyclic);
        for block in 0..cyclic.blocks() {
            let (columns, (first, mut column)) = (cyclic.rows_of(block), l.column_mut(block));
            let of_block = rows.submatrix(first, columns.start, column.nrows(), columns.len());
            column.copy_from(of_block);
        }
        l.clear_above();
        Self::begin(net, settings, origin, l)
    }

    /// The same for a matrix that process `root` has, of which the others need none. (n × n)
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn scatter(
        net: N,
        settings: Settings,
        (origin, order): (Origin, usize),
        (root, all): (usize, MatRef<'_, T>),
    ) -> Result<Self, Error> {
        let name = if origin == Origin::Matrix { "a" } else { "l" };
        let cyclic = cyclic(&net, order, settings.block);
        let checked = cyclic.as_ref().map_err(Error::clone).and_then(|cyclic| {
            index("root", root, cyclic.ranks)?;
            if cyclic.rank != root {
                return Ok(());
            }
            extent(name, "rows", order, all.nrows())?;
            extent(name, "columns", order, all.ncols())?;
            crate::check::finite_lower(name, all).map(|_| ())
        });
        let [a, b, c] = facts(order, settings);
        agree(&net, Call::Scatter, &[a, b, c, ("root", root as u64)], checked)?;
        let l = moves::scatter_l(&net, cyclic?, root, all);
        Self::begin(net, settings, origin, l)
    }

    /// Takes rows that have been checked.
    fn begin(net: N, settings: Settings, origin: Origin, mut l: LocalRows<T>) -> Result<Self, Error> {
        let threads = settings.threads.map_or(Threads::Pool, Threads::at_most);
        if origin == Origin::Matrix {
            let largest = l.diagonal().fold(0.0, |most: f64, a| most.max(a.to_f64()));
            fits(&net, largest, "a", T::LARGE_SQUARE.to_f64())?;
            factorize(&net, &mut l, threads.par())?;
        } else {
            l.make_pivots_positive(&all_pivots(&net, &l));
        }
        let square = fits(&net, largest_of(&l.squares()), "l", T::LARGE_SQUARE.to_f64())?;
        let diagonal = all_pivots(&net, &l);
        let storage = LocalStorage::new(net, (threads, settings.safeguard), l, diagonal);
        let singular = pivots(&storage).position(|pivot| pivot == T::ZERO);
        let guarded = Guarded::new(storage, square.sqrt(), History::default()).with_singular(singular);
        Ok(Self { guarded })
    }

    /// Which rows this process has.
    #[must_use]
    pub fn cyclic(&self) -> Cyclic {
        self.guarded.factor().cyclic()
    }

    /// A ← A + V diag(w) Vᵀ. (n × k, k)
    ///
    /// # Errors
    /// `Differs`, naming `v` for its number of columns, or `weights`; `Shape`, `NonFinite` or `Overflow`, naming `v` or `weights`;
    /// `Singular`; `NotPositiveDefinite`, after which L is as it was, unless there is no safeguard; `Poisoned`.
    pub fn modify(&mut self, v: Rows<'_, T>, weights: Weights<'_, T>) -> Result<Modification, Error> {
        let mine = self.agreed(Call::Modify, v, weights)?;
        let stage = |storage: &mut LocalStorage<T, N>| storage.stage_rows(mine.as_ref(), weights);
        match self.guarded.modify_by(Source::L, stage) {
            Err(Error::NotPositiveDefinite { column }) if self.guarded.healthy().is_ok() => {
                self.again(column, (mine.as_ref(), weights), true)
            }
            outcome => outcome,
        }
    }

    /// The outcome that [`modify`](Self::modify) would have. The factor is not changed.
    ///
    /// # Errors
    /// As [`modify`](Self::modify).
    pub fn dry_run(&mut self, v: Rows<'_, T>, weights: Weights<'_, T>) -> Result<Modification, Error> {
        let mine = self.agreed(Call::DryRun, v, weights)?;
        match self.guarded.dry_run_by(|storage| storage.stage_rows(mine.as_ref(), weights)) {
            Err(Error::NotPositiveDefinite { column }) => self.again(column, (mine.as_ref(), weights), false),
            outcome => outcome,
        }
    }

    /// Checks V and w, and returns the rows of V of this process.
    fn agreed(&mut self, call: Call, v: Rows<'_, T>, weights: Weights<'_, T>) -> Result<Mat<T>, Error> {
        let cyclic = self.cyclic();
        let checked = v.check("v", &cyclic).and_then(|()| weights.check(0, (0, v.ncols())));
        let facts = [("v", v.ncols() as u64), ("weights", fingerprint(weights))];
        agree(self.net(), call, &facts, checked)?;
        self.guarded.healthy()?;
        Ok(v.mine(&cyclic))
    }

    /// Solves A X = B, or one of the systems L Y = B and Lᵀ X = Y, in place. (local rows × m)
    ///
    /// # Errors
    /// `Differs`, `Shape` or `NonFinite`, naming `rhs`; then no process has written to it. `Singular`; `Poisoned`.
    pub fn solve(&self, sides: &[Side], mut rhs: MatMut<'_, T>) -> Result<(), Error> {
        let cyclic = self.cyclic();
        let checked = extent("rhs", "rows", cyclic.rows(), rhs.nrows())
            .and_then(|()| finite_rows("rhs", &cyclic, rhs.as_ref()));
        let of_sides = sides.iter().fold(1, |word, &side| 2 * word + u64::from(side == Side::Transpose));
        let facts = [("rhs", rhs.ncols() as u64), ("the system", of_sides)];
        agree(self.net(), Call::Solve, &facts, checked)?;
        self.guarded.regular()?;
        sides.iter().for_each(|&side| self.solve_side(side, rhs.as_mut()));
        Ok(())
    }

    pub(super) fn solve_side(&self, side: Side, rhs: MatMut<'_, T>) {
        let storage = self.guarded.factor();
        match side {
            Side::L => solve_lower(&storage.net, &storage.l, rhs, storage.threads),
            Side::Transpose => solve_upper(&storage.net, &storage.l, rhs, storage.threads),
        }
    }

    /// log det A. Needs no other process.
    ///
    /// # Errors
    /// `Poisoned`, `Singular`.
    pub fn log_det(&self) -> Result<T, Error> {
        let logs = pivots(self.guarded.regular()?).map(|l| l.to_f64().ln());
        Ok(T::from_f64(2.0 * logs.sum::<f64>()))
    }

    /// The diagonal of L. Needs no other process. (n)
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn pivots(&self) -> Result<&[T], Error> {
        Ok(&self.guarded.healthy()?.pivots)
    }

    /// L at process `root`, zero above the diagonal; `None` at the others. (n × n)
    ///
    /// # Errors
    /// `Differs`, naming `root`; `Poisoned`.
    pub fn gather(&self, root: usize) -> Result<Option<Mat<T>>, Error> {
        let cyclic = self.cyclic();
        let checked = index("root", root, cyclic.ranks);
        agree(self.net(), Call::Gather, &[("root", root as u64)], checked)?;
        self.guarded.healthy()?;
        let order = if cyclic.rank == root { cyclic.order } else { 0 };
        let mut all = Mat::zeros(order, order);
        moves::gather_l(self.net(), self.rows(), root, all.as_mut());
        Ok((cyclic.rank == root).then_some(all))
    }

    /// The rows of L of this process, zero above the diagonal. (local rows × n)
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn to_rows(&self) -> Result<Mat<T>, Error> {
        let l = &self.guarded.healthy()?.l;
        let cyclic = l.cyclic;
        let mut rows = Mat::zeros(cyclic.rows(), cyclic.order);
        for block in 0..cyclic.blocks() {
            let (columns, (first, column)) = (cyclic.rows_of(block), l.column(block));
            rows.submatrix_mut(first, columns.start, column.nrows(), columns.len()).copy_from(column);
        }
        Ok(rows)
    }

    /// The processes.
    #[must_use]
    pub fn net(&self) -> &N {
        &self.guarded.factor().net
    }

    pub(super) fn rows(&self) -> &LocalRows<T> {
        &self.guarded.factor().l
    }

    pub(super) fn row_norm(&self) -> f64 {
        self.guarded.row_norm()
    }

    pub(super) fn guarded(&mut self) -> &mut Guarded<T, LocalStorage<T, N>> {
        &mut self.guarded
    }

    pub(super) fn gather_rows(&self, mine: MatRef<'_, T>, to: MatMut<'_, T>) {
        moves::gather_rows(self.net(), &self.cyclic(), mine, to);
    }
}

impl<T: Real, N: Network> fmt::Debug for Factor<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factor").field("cyclic", &self.cyclic()).finish_non_exhaustive()
    }
}

/// The rows of each process.
fn cyclic(net: &impl Network, order: usize, block: usize) -> Result<Cyclic, Error> {
    if block == 0 || !block.is_multiple_of(16) {
        return Err(Error::OutOfRange { argument: "block", rule: BLOCK_RULE });
    }
    Ok(Cyclic { order, block, ranks: net.ranks(), rank: net.rank() })
}

fn facts(order: usize, settings: Settings) -> [(&'static str, u64); 3] {
    let block = ("block", settings.block as u64);
    [("the order", order as u64), block, ("safeguard", settings.safeguard as u64)]
}

/// Checks that the rows of a process are finite. The error names the row of the whole matrix.
pub(super) fn finite_rows<T: Real>(
    name: &'static str,
    cyclic: &Cyclic,
    rows: MatRef<'_, T>,
) -> Result<(), Error> {
    finite(name, rows).map(|_| ()).map_err(|error| match error {
        Error::NonFinite { argument, row, column } => {
            Error::NonFinite { argument, row: cyclic.row(row), column }
        }
        error => error,
    })
}

/// The same for the lower triangle.
fn finite_lower_rows<T: Real>(name: &'static str, cyclic: &Cyclic, rows: MatRef<'_, T>) -> Result<(), Error> {
    for j in 0..rows.ncols() {
        let first = cyclic.before(j);
        if let Some(at) = rows.col(j).iter().skip(first).position(|x| !x.is_finite()) {
            return Err(Error::NonFinite { argument: name, row: cyclic.row(first + at), column: j });
        }
    }
    Ok(())
}

/// The largest of a number that each process has, if it fits.
///
/// # Errors
/// `Overflow`, on all processes.
pub(super) fn fits(net: &impl Network, mine: f64, argument: &'static str, most: f64) -> Result<f64, Error> {
    let mut word = [!mine.to_bits()];
    net.least(&mut word);
    let largest = f64::from_bits(!word[0]);
    if largest > most { Err(Error::Overflow { argument }) } else { Ok(largest) }
}

/// The pivots of all processes. (n)
pub(super) fn all_pivots<T: Real>(net: &impl Network, l: &LocalRows<T>) -> Vec<T> {
    let (cyclic, mine) = (l.cyclic, l.diagonal().collect::<Vec<_>>());
    let mut all = Mat::zeros(cyclic.order, 1);
    moves::gather_rows(net, &cyclic, MatRef::from_column_major_slice(&mine, mine.len(), 1), all.as_mut());
    (0..cyclic.order).map(|i| all[(i, 0)]).collect()
}
