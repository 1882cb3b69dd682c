//! Process grids, and matrices on them.

use super::library::{Scalapack, scalapack};
use super::{ScalapackError, on_all};
use crate::network::Processes;
use cholupdate::distributed::Network;
use cholupdate::{Error, Scalar};
use core::ffi::c_int;
use mpi::topology::Communicator;

/// A descriptor of ScaLAPACK, as `descinit` makes it: its type, the BLACS context, M, N, MB, NB, RSRC, CSRC and LLD.
pub type Descriptor = [c_int; 9];

/// A process grid of the BLACS over the processes of a communicator, for programs that have none of their own.
#[derive(Debug)]
pub struct Grid {
    processes: Processes,
    handle: c_int,
    context: c_int,
    shape: (usize, usize),
}

/// The part of a matrix that a process has.
#[derive(Clone, Debug)]
pub struct Local {
    /// For all calls of ScaLAPACK.
    pub descriptor: Descriptor,
    /// The rows of the matrix, in order.
    pub rows: Vec<usize>,
    /// The columns of the matrix, in order.
    pub columns: Vec<usize>,
}

impl Grid {
    /// A grid of that many rows and columns, whose processes are counted row by row. Those that remain are outside.
    ///
    /// # Errors
    /// [`ScalapackError::Missing`]; `Descriptor` if the communicator has fewer processes.
    pub fn new(comm: &impl Communicator, shape: (usize, usize)) -> Result<Self, ScalapackError> {
        // SAFETY: a `Communicator` exists only while MPI is initialized.
        let processes = unsafe { Processes::of(comm.as_raw()) };
        if shape.0 * shape.1 > processes.ranks() || shape.0 * shape.1 == 0 {
            return Err(ScalapackError::Descriptor("a grid of this shape needs other numbers of processes"));
        }
        let scalapack = on_all(&processes)?;
        Ok(Self::made(scalapack, processes, shape))
    }

    /// Made by all processes together.
    pub(super) fn made(scalapack: &Scalapack, processes: Processes, shape: (usize, usize)) -> Self {
        // SAFETY: the communicator exists, and all of its processes make the call.
        let (handle, context) = unsafe {
            let handle = (scalapack.handle)(processes.comm());
            let mut context = handle;
            (scalapack.init)(&mut context, c"Row".as_ptr(), shape.0 as c_int, shape.1 as c_int);
            (handle, context)
        };
        Self { processes, handle, context, shape }
    }

    /// The BLACS context.
    #[must_use]
    pub fn context(&self) -> i32 {
        self.context
    }

    /// The part of an n × n matrix in square blocks of that order that this process has.
    #[must_use]
    pub fn local(&self, order: usize, block: usize) -> Local {
        let (rank, (rows, cols)) = (self.processes.rank(), self.shape);
        let own = |at: usize, of: usize| (0..order).filter(move |i| i / block % of == at).collect::<Vec<_>>();
        let is_inside = rank < rows * cols;
        let (context, own_rows, own_columns) = match is_inside {
            true => (self.context, own(rank / cols, rows), own(rank % cols, cols)),
            false => (-1, Vec::new(), Vec::new()),
        };
        let (n, block, lld) = (order as c_int, block as c_int, own_rows.len().max(1) as c_int);
        let descriptor = [1, context, n, n, block, block, 0, 0, lld];
        Local { descriptor, rows: own_rows, columns: own_columns }
    }

    /// A ← L in the lower triangle by ScaLAPACK's `pdpotrf`. (`local`'s rows × columns, column-major)
    ///
    /// # Errors
    /// `Shape`, naming `a`, on the process where the array has another length; `NotPositiveDefinite`, on all.
    pub fn factorize<T: Scalar>(&self, a: &mut [T], local: &Local) -> Result<(), Error> {
        let (expected, found) = (local.rows.len() * local.columns.len(), a.len());
        let mut word = [if expected == found { u64::MAX } else { 0 }];
        self.processes.least(&mut word);
        if word[0] == 0 {
            return Err(Error::Shape { argument: "a", extent: "entries", expected, found });
        }
        let Some(scalapack) = scalapack() else { return Ok(()) };
        let mut column = 0;
        if local.descriptor[1] >= 0 {
            let call = scalapack.factorize[usize::from(size_of::<T>() == 8)];
            // SAFETY: the descriptor, of `Grid::local`, describes the array, whose length has been checked. All processes of the grid
            // make the call.
            unsafe {
                let (n, at) = (local.descriptor[2], a.as_mut_ptr().cast());
                call(c"L".as_ptr(), &n, at, &1, &1, local.descriptor.as_ptr(), &mut column);
            }
        }
        // On processes outside the grid it is zero.
        let mut word = [!(column.max(0) as u64)];
        self.processes.least(&mut word);
        match !word[0] {
            0 => Ok(()),
            column => Err(Error::NotPositiveDefinite { column: column as usize - 1 }),
        }
    }
}

impl Drop for Grid {
    fn drop(&mut self) {
        if let Some(scalapack) = scalapack() {
            // SAFETY: made in `made`, by all processes. The context of one outside the grid is −1, and it has none to give back.
            unsafe {
                if self.context >= 0 {
                    (scalapack.exit)(self.context);
                }
                (scalapack.free_handle)(self.handle);
            }
        }
    }
}
