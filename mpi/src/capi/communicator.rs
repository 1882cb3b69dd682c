//! Communicators of the caller.

use super::status::Refused;
use crate::network::Processes;
use mpi::ffi::{self, MPI_Comm};

/// The number of processes of a communicator, and which of them this is.
///
/// # Safety
/// If MPI is initialized, `comm` is a communicator or MPI_COMM_NULL.
pub unsafe fn place_in(comm: MPI_Comm) -> Result<(usize, usize), Refused> {
    let (mut initialized, mut finalized) = (0, 0);
    // SAFETY: both may be called at any time.
    unsafe {
        ffi::MPI_Initialized(&mut initialized);
        ffi::MPI_Finalized(&mut finalized);
    }
    if initialized == 0 {
        return Err(Refused::not_so("MPI is not initialized"));
    }
    if finalized != 0 {
        return Err(Refused::not_so("MPI is finalized"));
    }
    // SAFETY: a constant of MPI, which is initialized.
    if comm == unsafe { ffi::RSMPI_COMM_NULL } {
        return Err(Refused::not_so("`comm` is MPI_COMM_NULL"));
    }
    let (mut between_groups, mut ranks, mut rank) = (0, 0, 0);
    // SAFETY: the caller guarantees the communicator; the results are places of their types.
    unsafe {
        ffi::MPI_Comm_test_inter(comm, &mut between_groups);
        ffi::MPI_Comm_size(comm, &mut ranks);
        ffi::MPI_Comm_rank(comm, &mut rank);
    }
    if between_groups != 0 {
        return Err(Refused::not_so("`comm` is a communicator between two groups"));
    }
    Ok((ranks as usize, rank as usize))
}

/// The processes of a communicator, in a copy of it. All of them make this call, and find the same errors.
///
/// # Safety
/// As for [`place_in`].
pub unsafe fn processes(comm: MPI_Comm) -> Result<Processes, Refused> {
    // SAFETY: the caller guarantees the communicator, and MPI is initialized if it has been checked.
    unsafe {
        place_in(comm)?;
        Ok(Processes::of(comm))
    }
}
