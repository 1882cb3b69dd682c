//! The factor.

use crate::network::Processes;
use cholupdate::distributed::{Cyclic, Factor, Origin, Rows, Settings, Side};
use cholupdate::faer::{Mat, MatMut, MatRef};
use cholupdate::{Error, Modification, RealScalar, Weights};
use mpi::topology::Communicator;

/// A process's part of a factor.
///
/// The processes call the functions together, in the same order. Matrices with a row for each row of L are given by the rows of the
/// process ([`Rows::Mine`], in the order of [`Cyclic`]) or whole on every process ([`Rows::All`]).
///
/// Drop it before MPI is finalized.
#[derive(Debug)]
pub struct Distributed<T: RealScalar> {
    pub(crate) factor: Factor<T, Processes>,
}

/// The rows that this process has of a factor of that order.
#[must_use]
pub fn rows_of(comm: &impl Communicator, order: usize, settings: Settings) -> Cyclic {
    let (ranks, rank) = (comm.size() as usize, comm.rank() as usize);
    Cyclic { order, block: settings.block, ranks, rank }
}

/// A communicator of the factor's own. All processes make this call, and find the same error.
///
/// # Errors
/// `OutOfRange`, naming `comm`.
pub(crate) fn processes(comm: &impl Communicator) -> Result<Processes, Error> {
    if comm.test_inter() {
        return Err(Error::OutOfRange { argument: "comm", rule: "a communicator of one group" });
    }
    // SAFETY: a `Communicator` exists only while MPI is initialized, and this one is not between two groups.
    Ok(unsafe { Processes::of(comm.as_raw()) })
}

impl<T: RealScalar> Distributed<T> {
    /// The factor of A (n × n), of which each process gives its rows, with all n columns; the lower triangle is read. (local rows × n)
    ///
    /// # Errors
    /// `OutOfRange` or `Differs`, naming `block`; `Differs`, naming the order; `Shape`, `NonFinite` or `Overflow`, naming `a`;
    /// `NotPositiveDefinite`; `OutOfRange`, naming `comm`, if that is between two groups.
    ///
    /// # Cost
    /// n³/3P flops, and a broadcast of every entry of L.
    pub fn new(
        comm: &impl Communicator,
        settings: Settings,
        order: usize,
        a: MatRef<'_, T>,
    ) -> Result<Self, Error> {
        let factor = Factor::new(processes(comm)?, settings, (Origin::Matrix, order), a)?;
        Ok(Self { factor })
    }

    /// A known L, of which each process gives its rows. (local rows × n) Columns with a negative diagonal entry are negated.
    ///
    /// # Errors
    /// As [`new`](Self::new), naming `l`, but for `NotPositiveDefinite`.
    pub fn from_factor(
        comm: &impl Communicator,
        settings: Settings,
        order: usize,
        l: MatRef<'_, T>,
    ) -> Result<Self, Error> {
        let factor = Factor::new(processes(comm)?, settings, (Origin::Factor, order), l)?;
        Ok(Self { factor })
    }

    /// The factor of an A that process `root` has whole (n × n); what the others give is not read.
    ///
    /// # Errors
    /// As [`new`](Self::new); `Differs` or `Index`, naming `root`.
    pub fn scatter(
        comm: &impl Communicator,
        settings: Settings,
        order: usize,
        (root, a): (usize, MatRef<'_, T>),
    ) -> Result<Self, Error> {
        let factor = Factor::scatter(processes(comm)?, settings, (Origin::Matrix, order), (root, a))?;
        Ok(Self { factor })
    }

    /// The same for an L.
    ///
    /// # Errors
    /// As [`from_factor`](Self::from_factor); `Differs` or `Index`, naming `root`.
    pub fn scatter_factor(
        comm: &impl Communicator,
        settings: Settings,
        order: usize,
        (root, l): (usize, MatRef<'_, T>),
    ) -> Result<Self, Error> {
        let factor = Factor::scatter(processes(comm)?, settings, (Origin::Factor, order), (root, l))?;
        Ok(Self { factor })
    }

    /// L at process `root`, zero above the diagonal (n × n); `None` at the others.
    ///
    /// # Errors
    /// `Differs` or `Index`, naming `root`; `Poisoned`.
    pub fn gather(&self, root: usize) -> Result<Option<Mat<T>>, Error> {
        self.factor.gather(root)
    }

    /// The rows of L of this process, zero above the diagonal. (local rows × n) The other processes need not call it.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn to_rows(&self) -> Result<Mat<T>, Error> {
        self.factor.to_rows()
    }

    /// n.
    #[must_use]
    pub fn order(&self) -> usize {
        self.cyclic().order
    }

    /// Which rows this process has.
    #[must_use]
    pub fn cyclic(&self) -> Cyclic {
        self.factor.cyclic()
    }

    /// The diagonal of L, on every process. (n) The other processes need not call it.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn pivots(&self) -> Result<&[T], Error> {
        self.factor.pivots()
    }

    /// A ← A + V Vᵀ. (n × k) It works in place.
    ///
    /// # Errors
    /// `Differs`, `Shape`, `NonFinite` or `Overflow`, naming `v`; `Poisoned`.
    ///
    /// # Cost
    /// 2 k n²/P flops; L is read and written once.
    pub fn update(&mut self, v: Rows<'_, T>) -> Result<Modification, Error> {
        self.factor.modify(v, Weights::Plus)
    }

    /// A ← A − V Vᵀ. (n × k) The new L is written to the shadow buffer, unless the settings have another safeguard.
    ///
    /// # Errors
    /// As [`update`](Self::update); `Singular`; `NotPositiveDefinite` with the first column whose pivot² would not be positive: then L is
    /// as it was, on all processes, unless there is no safeguard.
    pub fn downdate(&mut self, v: Rows<'_, T>) -> Result<Modification, Error> {
        self.factor.modify(v, Weights::Minus)
    }

    /// A ← A + V diag(w) Vᵀ. (n × k, k) The weights are the same on all processes.
    ///
    /// # Errors
    /// As [`downdate`](Self::downdate); `Differs`, `Shape` or `NonFinite`, naming `weights`.
    pub fn modify<'w>(
        &mut self,
        v: Rows<'_, T>,
        weights: impl Into<Weights<'w, T>>,
    ) -> Result<Modification, Error> {
        self.factor.modify(v, weights.into())
    }

    /// Whether [`downdate`](Self::downdate) would succeed. The factor is not changed.
    ///
    /// # Errors
    /// As [`downdate`](Self::downdate), but for `NotPositiveDefinite`.
    pub fn can_downdate(&mut self, v: Rows<'_, T>) -> Result<bool, Error> {
        match self.factor.dry_run(v, Weights::Minus) {
            Ok(_) => Ok(true),
            Err(Error::NotPositiveDefinite { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Solves A X = B in place; each process gives its rows of B. (local rows × m)
    ///
    /// # Errors
    /// `Differs`, `Shape` or `NonFinite`, naming `rhs`: then no process has written to it. `Singular`; `Poisoned`.
    ///
    /// # Cost
    /// 2 m n²/P flops; every process holds B and X whole in between.
    pub fn solve_in_place(&self, rhs: MatMut<'_, T>) -> Result<(), Error> {
        self.factor.solve(&[Side::L, Side::Transpose], rhs)
    }

    /// Solves L Y = B in place; each process gives its rows of B. (local rows × m)
    ///
    /// # Errors
    /// As [`solve_in_place`](Self::solve_in_place).
    pub fn solve_l_in_place(&self, rhs: MatMut<'_, T>) -> Result<(), Error> {
        self.factor.solve(&[Side::L], rhs)
    }

    /// Solves Lᵀ X = Y in place; each process gives its rows of Y. (local rows × m)
    ///
    /// # Errors
    /// As [`solve_in_place`](Self::solve_in_place).
    pub fn solve_lt_in_place(&self, rhs: MatMut<'_, T>) -> Result<(), Error> {
        self.factor.solve(&[Side::Transpose], rhs)
    }

    /// log det A. The other processes need not call it.
    ///
    /// # Errors
    /// `Singular`; `Poisoned`.
    pub fn log_det(&self) -> Result<T, Error> {
        self.factor.log_det()
    }

    /// A ← (A B; Bᵀ K): r further rows and columns at the end. (n × r, r × r) K is the same on all processes, and its lower triangle
    /// is read.
    ///
    /// # Errors
    /// `Differs`, `Shape`, `NonFinite` or `Overflow`, naming `cross` or `corner`; `NotPositiveDefinite` with the row of the new A;
    /// `Singular`; `Poisoned`. After an error the factor is as it was.
    ///
    /// # Cost
    /// A solve with L; some memory is left for more rows, so L is rarely moved.
    pub fn append(&mut self, cross: Rows<'_, T>, corner: MatRef<'_, T>) -> Result<Modification, Error> {
        self.factor.append(cross, corner)
    }

    /// Removes the last `count` rows and columns of A.
    ///
    /// # Errors
    /// `Differs` or `OutOfRange`, naming `count`; `Singular`; `Poisoned`.
    pub fn remove_last(&mut self, count: usize) -> Result<Modification, Error> {
        self.factor.remove_last(count)
    }
}
