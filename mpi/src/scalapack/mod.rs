//! L and A from and to the matrices of ScaLAPACK, on any two-dimensional process grid. ScaLAPACK's library is opened at run time.

mod grid;
mod library;

pub use self::grid::{Descriptor, Grid, Local};
pub use self::library::has_scalapack;

use self::library::{Scalapack, scalapack};
use crate::distributed::Distributed;
use crate::network::Processes;
use cholupdate::distributed::{Factor, Network, Origin, Settings};
use cholupdate::faer::{Mat, MatMut, MatRef};
use cholupdate::{Error, Scalar};
use core::ffi::c_int;
use mpi::topology::Communicator;

/// Why a matrix of ScaLAPACK was not taken or written. The same on all processes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScalapackError {
    /// There is no ScaLAPACK on one of the processes.
    #[error("ScaLAPACK's library was not found; the environment variable CHOLUPDATE_SCALAPACK can name it")]
    Missing,
    /// The descriptor is not one of a dense matrix of the right order, or the local array is too small for it.
    #[error("`descriptor`: {0}")]
    Descriptor(&'static str),
    /// An error of the factor.
    #[error(transparent)]
    Factor(#[from] Error),
}

/// The number of rows or columns of a process at position `at` of `of`, in blocks of `size` from process `first` on: ScaLAPACK's
/// `numroc`.
fn count(all: usize, size: usize, (at, first, of): (usize, usize, usize)) -> usize {
    let (blocks, distance) = (all / size, (of + at - first) % of);
    let whole = blocks / of * size;
    match distance.cmp(&(blocks % of)) {
        core::cmp::Ordering::Less => whole + size,
        core::cmp::Ordering::Equal => whole + all % size,
        core::cmp::Ordering::Greater => whole,
    }
}

/// The rules of descriptors, in the numbers by which processes tell each other which one is broken.
const RULES: [&str; 6] = [
    "is not that of a dense matrix (type 1)",
    "has other numbers of rows and columns than the order of A",
    "has a block size below 1",
    "begins at a process outside the grid",
    "has a leading dimension that is less than the number of local rows",
    "describes more entries than the local array has",
];

/// The number of entries of a local array, from its first to its last, of a matrix with this order. The error is the number of a rule.
fn described(scalapack: &Scalapack, desc: &Descriptor, order: usize) -> Result<usize, usize> {
    let [kind, context, m, n, mb, nb, rsrc, csrc, lld] = *desc;
    if kind != 1 {
        return Err(0);
    }
    if c_int::try_from(order).ok().is_none_or(|order| (m, n) != (order, order)) {
        return Err(1);
    }
    if mb < 1 || nb < 1 {
        return Err(2);
    }
    if context < 0 {
        // This process is not in the grid.
        return Ok(0);
    }
    let (mut rows, mut cols, mut row, mut col) = (0, 0, -1, -1);
    // SAFETY: the results are places of their types.
    unsafe { (scalapack.info)(context, &mut rows, &mut cols, &mut row, &mut col) };
    if row < 0 || col < 0 {
        return Ok(0);
    }
    if !(0..rows).contains(&rsrc) || !(0..cols).contains(&csrc) {
        return Err(3);
    }
    let own_rows = count(order, mb as usize, (row as usize, rsrc as usize, rows as usize));
    let own_cols = count(order, nb as usize, (col as usize, csrc as usize, cols as usize));
    if (lld as i64) < own_rows.max(1) as i64 {
        return Err(4);
    }
    Ok(if own_rows > 0 && own_cols > 0 { (own_cols - 1) * lld as usize + own_rows } else { 0 })
}

/// The number of entries that a local array must have. 0 if the descriptor is wrong, or ScaLAPACK is missing, which the call that takes
/// the array finds.
pub(crate) fn local_entries(desc: &Descriptor, order: usize) -> usize {
    scalapack().and_then(|scalapack| described(scalapack, desc, order).ok()).unwrap_or(0)
}

/// Checks a descriptor against the order and the length of the local array, and agrees on the outcome: the first rule that any process
/// breaks is the error of all. The facts must be the same on all processes, because ScaLAPACK relies on it.
fn agreed(
    net: &Processes,
    scalapack: &Scalapack,
    (desc, len): (&Descriptor, usize),
    (order, block): (usize, usize),
) -> Result<(), ScalapackError> {
    let mine = match described(scalapack, desc, order) {
        Ok(least) if least > len => Some(5),
        Ok(_) => None,
        Err(rule) => Some(rule),
    };
    let (order, block) = (order as u64, block as u64);
    let mut words = [order, !order, block, !block, mine.map_or(u64::MAX, |rule| rule as u64)];
    net.least(&mut words);
    for (at, argument) in [(0, "the order"), (2, "block")] {
        if words[at] != !words[at + 1] {
            return Err(Error::Differs { argument }.into());
        }
    }
    match RULES.get(words[4] as usize) {
        Some(rule) => Err(ScalapackError::Descriptor(rule)),
        None => Ok(()),
    }
}

/// ScaLAPACK, if all processes have it.
fn on_all(net: &Processes) -> Result<&'static Scalapack, ScalapackError> {
    let mut word = [u64::from(has_scalapack())];
    net.least(&mut word);
    scalapack().filter(|_| word[0] == 1).ok_or(ScalapackError::Missing)
}

/// Copies a matrix from one distribution to another. (n × n)
///
/// # Safety
/// The arrays have the entries that the descriptors describe, and those of `to` are borrowed exclusively. All processes of the context
/// make the call.
unsafe fn redistribute<T: Scalar>(
    scalapack: &Scalapack,
    order: usize,
    (from, from_desc): (*const T, &Descriptor),
    (to, to_desc): (*mut T, &Descriptor),
    context: c_int,
) {
    let (n, one) = (order as c_int, 1);
    let call = scalapack.redistribute[usize::from(size_of::<T>() == 8)];
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        call(
            &n,
            &n,
            from.cast(),
            &one,
            &one,
            from_desc.as_ptr(),
            to.cast(),
            &one,
            &one,
            to_desc.as_ptr(),
            &context,
        );
    }
}

impl<T: Scalar> Distributed<T> {
    /// The factor of A (n × n), or a known L if `is_factor`, from a matrix of ScaLAPACK on any process grid whose processes are those of
    /// `comm`; its lower triangle is read. Each process gives its local array. A process outside the grid has the context −1.
    ///
    /// # Errors
    /// [`ScalapackError`]; those of [`new`](Self::new) or [`from_factor`](Self::from_factor).
    ///
    /// # Cost
    /// A copy of the matrix by `pdgemr2d`, and memory for n²/P entries while it is made.
    pub fn from_scalapack(
        comm: &impl Communicator,
        settings: Settings,
        (order, is_factor): (usize, bool),
        descriptor: &Descriptor,
        local: &[T],
    ) -> Result<Self, ScalapackError> {
        // SAFETY: a `Communicator` exists only while MPI is initialized.
        let net = unsafe { Processes::of(comm.as_raw()) };
        Self::taken_from(net, settings, (order, is_factor), descriptor, local)
    }

    pub(crate) fn taken_from(
        net: Processes,
        settings: Settings,
        (order, is_factor): (usize, bool),
        descriptor: &Descriptor,
        local: &[T],
    ) -> Result<Self, ScalapackError> {
        let scalapack = on_all(&net)?;
        let block = settings.block.max(1);
        agreed(&net, scalapack, (descriptor, local.len()), (order, block))?;
        let origin = if is_factor { Origin::Factor } else { Origin::Matrix };
        let cyclic = cholupdate::distributed::Cyclic { order, block, ranks: net.ranks(), rank: net.rank() };
        let mut rows = vec![T::default(); cyclic.rows() * order];
        {
            let grid = Grid::made(scalapack, net.another(), (net.ranks(), 1));
            let own = grid.local(order, block).descriptor;
            // SAFETY: the descriptors have been checked against the arrays, and all processes are here.
            unsafe {
                let (from, to) = ((local.as_ptr(), descriptor), (rows.as_mut_ptr(), &own));
                redistribute(scalapack, order, from, to, grid.context());
            }
        }
        let rows = MatRef::from_column_major_slice(&rows, cyclic.rows(), order);
        Ok(Self { factor: Factor::new(net, settings, (origin, order), rows)? })
    }

    /// Writes L to a matrix of ScaLAPACK (n × n), zero above the diagonal.
    ///
    /// # Errors
    /// [`ScalapackError`]; `Poisoned`.
    ///
    /// # Cost
    /// As [`from_scalapack`](Self::from_scalapack).
    pub fn to_scalapack(&self, descriptor: &Descriptor, local: &mut [T]) -> Result<(), ScalapackError> {
        let (net, cyclic) = (self.factor.net(), self.cyclic());
        let scalapack = on_all(net)?;
        agreed(net, scalapack, (descriptor, local.len()), (cyclic.order, cyclic.block))?;
        let rows = contiguous(&self.to_rows()?);
        let grid = Grid::made(scalapack, net.another(), (net.ranks(), 1));
        let own = grid.local(cyclic.order, cyclic.block).descriptor;
        // SAFETY: the descriptors have been checked against the arrays, and all processes are here.
        unsafe {
            let (from, to) = ((rows.as_ptr(), &own), (local.as_mut_ptr(), descriptor));
            redistribute(scalapack, cyclic.order, from, to, grid.context());
        }
        Ok(())
    }
}

/// The entries of a matrix without space between columns.
fn contiguous<T: Scalar>(of: &Mat<T>) -> Vec<T> {
    let mut entries = vec![T::default(); of.nrows() * of.ncols()];
    MatMut::from_column_major_slice_mut(&mut entries, of.nrows(), of.ncols()).copy_from(of);
    entries
}
