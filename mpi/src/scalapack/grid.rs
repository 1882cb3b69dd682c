//! Process grids, and matrices on them.

use super::agree::{Call, agree, argument, entries};
use super::descriptor::{Descriptor, broken};
use super::library::{Scalapack, scalapack};
use super::{ScalapackError, countable};
use crate::distributed::processes;
use crate::network::Processes;
use cholupdate::distributed::Network;
use cholupdate::{Error, RealScalar};
use core::ffi::c_int;
use mpi::ffi;
use mpi::topology::Communicator;

/// A process grid of the BLACS over the processes of a communicator, for programs that have none of their own.
///
/// Drop it before MPI is finalized. After that nothing is given back.
#[derive(Debug)]
pub struct Grid {
    processes: Processes,
    handle: c_int,
    context: c_int,
    shape: (usize, usize),
}

/// The part of a matrix that a process has, on one grid.
#[derive(Clone, Debug)]
pub struct Local {
    descriptor: Descriptor,
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// Of the grid.
    shape: (usize, usize),
    rank: usize,
    /// Of the matrix: the order, and that of its blocks.
    order: (usize, usize),
}

impl Local {
    /// For all calls of ScaLAPACK.
    #[must_use]
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// The rows of the matrix, in order.
    #[must_use]
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The columns of the matrix, in order.
    #[must_use]
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }
}

/// The descriptor of an n × n matrix in square blocks, whose first one is at the first process.
pub(super) fn descriptor_on(context: c_int, (order, block): (usize, usize), lld: usize) -> Descriptor {
    let [n, block, lld] = [order, block, lld].map(|size| size as c_int);
    [1, context, n, n, block, block, 0, 0, lld]
}

impl Grid {
    /// A grid of that many rows and columns, whose processes are counted row by row. Those that remain are outside.
    ///
    /// # Errors
    /// `Differs`, naming the shape; [`ScalapackError::Missing`]; `Descriptor` if the communicator has fewer processes, or the grid none;
    /// `OutOfRange`, naming `comm`, if that is between two groups.
    pub fn new(comm: &impl Communicator, shape: (usize, usize)) -> Result<Self, ScalapackError> {
        let processes = processes(comm)?;
        let fits = |size: usize| (1..=processes.ranks()).contains(&size);
        let mine = match scalapack() {
            _ if !shape.0.checked_mul(shape.1).is_some_and(fits) => Err(broken(6)),
            None => Err(ScalapackError::Missing),
            Some(scalapack) => Ok(scalapack),
        };
        let facts = [argument("the shape", shape.0), argument("the shape", shape.1)];
        agree(&processes, (Call::Grid, 0), &facts, mine.clone().map(|_| ()))?;
        Ok(Self::made(mine?, processes, shape))
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

    /// The part of an n × n matrix in square blocks of that order that this process has. The other processes need not call it.
    ///
    /// # Errors
    /// `OutOfRange`, naming the order or `block`.
    pub fn local(&self, order: usize, block: usize) -> Result<Local, ScalapackError> {
        countable("the order", order)?;
        if countable("block", block)? == 0 {
            return Err(Error::OutOfRange { argument: "block", rule: "positive" }.into());
        }
        let (rank, shape) = (self.processes.rank(), self.shape);
        let own = |at: usize, of: usize| (0..order).filter(move |i| i / block % of == at).collect::<Vec<_>>();
        let (rows, columns) = match rank < shape.0 * shape.1 {
            true => (own(rank / shape.1, shape.0), own(rank % shape.1, shape.1)),
            false => (Vec::new(), Vec::new()),
        };
        let descriptor = descriptor_on(self.context, (order, block), rows.len().max(1));
        Ok(Local { descriptor, rows, columns, shape, rank, order: (order, block) })
    }

    /// A ← L in the lower triangle by ScaLAPACK's `pdpotrf`. (`local`'s rows × columns, column-major)
    ///
    /// # Errors
    /// `Differs`, naming the order, `block` or the call; `Descriptor` if `local` is of another grid; `Shape`, naming `a`, if an array has
    /// another length; `NotPositiveDefinite`. The same on all processes.
    pub fn factorize<T: RealScalar>(&self, a: &mut [T], local: &Local) -> Result<(), ScalapackError> {
        let (expected, found) = (local.rows.len() * local.columns.len(), a.len());
        let of_this_grid = (self.context, self.shape, self.processes.rank());
        let mine = if (local.descriptor[1], local.shape, local.rank) != of_this_grid {
            Err(broken(7))
        } else if expected != found {
            Err(entries(expected, found))
        } else {
            Ok(())
        };
        let facts = [argument("the order", local.order.0), argument("block", local.order.1)];
        agree(&self.processes, (Call::Factorize, size_of::<T>()), &facts, mine)?;
        let Some(scalapack) = scalapack() else { return Ok(()) };
        let mut column = 0;
        if local.descriptor[1] >= 0 {
            let call = scalapack.factorize[usize::from(size_of::<T>() == 8)];
            // SAFETY: the descriptor, of `local` for this grid, describes the array, whose length has been checked. All processes of
            // the grid make the call.
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
            column => Err(Error::NotPositiveDefinite { column: column as usize - 1 }.into()),
        }
    }
}

impl Drop for Grid {
    fn drop(&mut self) {
        let mut finalized = 0;
        // SAFETY: may be called at any time.
        unsafe { ffi::MPI_Finalized(&mut finalized) };
        if let (Some(scalapack), 0) = (scalapack(), finalized) {
            // SAFETY: made in `made`, by all processes, and MPI is not finalized. The context of one outside the grid is −1, and it has
            // none to give back.
            unsafe {
                if self.context >= 0 {
                    (scalapack.exit)(self.context);
                }
                (scalapack.free_handle)(self.handle);
            }
        }
    }
}
