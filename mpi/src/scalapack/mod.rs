//! L and A from and to the matrices of ScaLAPACK, on any two-dimensional process grid. ScaLAPACK's library is opened at run time.

mod agree;
mod descriptor;
mod grid;
mod library;
mod panels;

pub use self::descriptor::Descriptor;
pub(crate) use self::descriptor::local_entries;
pub use self::grid::{Grid, Local};
pub use self::library::has_scalapack;
#[doc(hidden)]
pub use self::panels::PANEL_BYTES;

use self::agree::{Call, agree, argument};
use self::descriptor::{broken, described};
use self::grid::descriptor_on;
use self::library::{Scalapack, scalapack};
use self::panels::{Panels, Way};
use crate::distributed::{Distributed, processes};
use crate::network::Processes;
use cholupdate::distributed::{Cyclic, Factor, Network, Origin, Settings};
use cholupdate::faer::Mat;
use cholupdate::{Error, RealScalar};
use core::ffi::c_int;
use mpi::topology::Communicator;

/// Why a matrix of ScaLAPACK was not taken or written. The same on all processes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScalapackError {
    /// There is no ScaLAPACK on one of the processes.
    #[error("ScaLAPACK's library was not found; the environment variable CHOLUPDATE_SCALAPACK can name it")]
    Missing,
    /// The descriptor is not one of a dense matrix of the right order, the local array is too small for it, or the descriptors of two
    /// processes do not belong together.
    #[error("`descriptor`: {0}")]
    Descriptor(&'static str),
    /// An error of the factor.
    #[error(transparent)]
    Factor(#[from] Error),
}

/// Checks that ScaLAPACK can count a size.
///
/// # Errors
/// `OutOfRange`.
fn countable(argument: &'static str, size: usize) -> Result<c_int, Error> {
    c_int::try_from(size).map_err(|_| Error::OutOfRange { argument, rule: "below 2^31 with ScaLAPACK" })
}

/// Checks a descriptor against the order and the length of the local array, and agrees on the outcome. What is compared must be the
/// same on all processes, because ScaLAPACK relies on it.
fn agreed(
    net: &Processes,
    call: (Call, usize),
    (desc, len): (&Descriptor, usize),
    (order, block): (usize, usize),
) -> Result<&'static Scalapack, ScalapackError> {
    let counted = countable("the order", order).and_then(|_| countable("block", block));
    let mine = scalapack().ok_or(ScalapackError::Missing).and_then(|scalapack| {
        // Sizes that cannot be counted are an error of all processes, which follows.
        let least = if counted.is_ok() { described(scalapack, desc, order)? } else { 0 };
        if least > len { Err(broken(5)) } else { Ok(scalapack) }
    });
    let [.., mb, nb, rsrc, csrc, _] = *desc;
    let field = |differs, value: c_int| (ScalapackError::Descriptor(differs), u64::from(value as u32));
    let facts = [
        argument("the order", order),
        argument("block", block),
        field("MB differs between the processes", mb),
        field("NB differs between the processes", nb),
        field("RSRC differs between the processes", rsrc),
        field("CSRC differs between the processes", csrc),
    ];
    agree(net, call, &facts, mine.clone().map(|_| ()))?;
    counted?;
    mine
}

impl<T: RealScalar> Distributed<T> {
    /// The factor of A (n × n), or a known L if `is_factor`, from a matrix of ScaLAPACK on any process grid whose processes are those of
    /// `comm`; its lower triangle is read. Each process gives its local array. A process outside the grid has the context −1, and gives
    /// the same numbers M to CSRC of the descriptor as the others.
    ///
    /// # Errors
    /// [`ScalapackError`]; those of [`new`](Self::new) or [`from_factor`](Self::from_factor); `OutOfRange` if the order or `block` is
    /// 2³¹ or more.
    ///
    /// # Cost
    /// A copy of the matrix by `pdgemr2d`, in panels of at most 1 GiB of each process, and memory for n²/P entries while the factor is
    /// made.
    pub fn from_scalapack(
        comm: &impl Communicator,
        settings: Settings,
        (order, is_factor): (usize, bool),
        descriptor: &Descriptor,
        local: &[T],
    ) -> Result<Self, ScalapackError> {
        Self::taken_from(processes(comm)?, settings, (order, is_factor), descriptor, local)
    }

    pub(crate) fn taken_from(
        net: Processes,
        settings: Settings,
        (order, is_factor): (usize, bool),
        descriptor: &Descriptor,
        local: &[T],
    ) -> Result<Self, ScalapackError> {
        let (origin, call) = match is_factor {
            true => (Origin::Factor, Call::FromFactor),
            false => (Origin::Matrix, Call::FromMatrix),
        };
        let array = (descriptor, local.len());
        let scalapack = agreed(&net, (call, size_of::<T>()), array, (order, settings.block))?;
        // Blocks of 0 rows are an error that the factor finds.
        let block = settings.block.max(1);
        let cyclic = Cyclic { order, block, ranks: net.ranks(), rank: net.rank() };
        let mut rows = Mat::<T>::zeros(cyclic.rows(), order);
        let lld = column_stride(&rows);
        let panels = Panels::agreed::<T>(&net, scalapack, descriptor, lld)?;
        {
            let grid = Grid::made(scalapack, net.another(), (net.ranks(), 1));
            let own = descriptor_on(grid.context(), (order, block), lld);
            let arrays = ((rows.as_ptr_mut(), &own), (local.as_ptr().cast_mut(), descriptor));
            // SAFETY: the descriptors have been checked against the arrays, of which `local` is not written. All processes are here.
            unsafe { panels.copy(scalapack, arrays, Way::ToOwn, grid.context()) };
        }
        Ok(Self { factor: Factor::new(net, settings, (origin, order), rows.as_ref())? })
    }

    /// Writes L to a matrix of ScaLAPACK (n × n), zero above the diagonal.
    ///
    /// # Errors
    /// [`ScalapackError`]; `Poisoned`; `OutOfRange` if the order or `block` is 2³¹ or more.
    ///
    /// # Cost
    /// A copy of L by `pdgemr2d`, in panels of at most 1 GiB of each process, and memory for n²/P entries while it is made.
    pub fn to_scalapack(&self, descriptor: &Descriptor, local: &mut [T]) -> Result<(), ScalapackError> {
        let (net, cyclic) = (self.factor.net(), self.cyclic());
        let (call, array) = ((Call::ToScalapack, size_of::<T>()), (descriptor, local.len()));
        let scalapack = agreed(net, call, array, (cyclic.order, cyclic.block))?;
        let rows = self.to_rows()?;
        let lld = column_stride(&rows);
        let panels = Panels::agreed::<T>(net, scalapack, descriptor, lld)?;
        let grid = Grid::made(scalapack, net.another(), (net.ranks(), 1));
        let own = descriptor_on(grid.context(), (cyclic.order, cyclic.block), lld);
        let arrays = ((rows.as_ptr().cast_mut(), &own), (local.as_mut_ptr(), descriptor));
        // SAFETY: the descriptors have been checked against the arrays, of which `rows` is not written. All processes are here.
        unsafe { panels.copy(scalapack, arrays, Way::FromOwn, grid.context()) };
        Ok(())
    }
}

/// The distance between two columns of a matrix: its leading dimension, which is positive also without rows.
fn column_stride<T>(of: &Mat<T>) -> usize {
    of.nrows().max(of.col_stride().unsigned_abs()).max(1)
}
