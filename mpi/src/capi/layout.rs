//! Which rows a process has, before there is a factor.

use super::arguments::{count, place};
use super::communicator::place_in;
use super::options::{cholupdate_mpi_options, settings};
use super::status::{Refused, cholupdate_mpi_status, status_of};
use cholupdate::distributed::Cyclic;
use mpi::ffi::MPI_Comm;

/// # Safety
/// Pointers are NULL or point to what the header says.
unsafe fn cyclic(comm: MPI_Comm, n: i64, options: *const cholupdate_mpi_options) -> Result<Cyclic, Refused> {
    // SAFETY: the caller guarantees the communicator and the pointer.
    let ((ranks, rank), settings) = unsafe { (place_in(comm)?, settings(options)?) };
    Ok(Cyclic { order: count("n", n)?, block: settings.block, ranks, rank })
}

/// Writes the number of rows that this process has of a factor of order n to `*rows`. The other processes need not call it.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_rows_of(
    comm: MPI_Comm,
    n: i64,
    options: *const cholupdate_mpi_options,
    rows: *mut i64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let cyclic = cyclic(comm, n, options)?;
        place("rows", rows)?.write(cyclic.rows() as i64);
        Ok(())
    })
}

/// Writes the row of A that is local row `local` of this process to `*row`. The other processes need not call it.
///
/// Returns NULL_POINTER or INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_row_of(
    comm: MPI_Comm,
    n: i64,
    options: *const cholupdate_mpi_options,
    local: i64,
    row: *mut i64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let cyclic = cyclic(comm, n, options)?;
        let at = usize::try_from(local).ok().filter(|&at| at < cyclic.rows());
        let Some(at) = at else {
            return Err(Refused::invalid(
                "local",
                local,
                format!("0 or more and less than {}", cyclic.rows()),
            ));
        };
        place("row", row)?.write(cyclic.row(at) as i64);
        Ok(())
    })
}
