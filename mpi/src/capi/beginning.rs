//! The beginning of a factor.

use super::agreement::{Call, agreed, refused};
use super::arguments::room;
use super::communicator::processes;
use super::options::{cholupdate_mpi_options, settings};
use super::status::{Refused, cholupdate_mpi_status, status_of_all};
use crate::distributed::Distributed;
use crate::network::Processes;
use cholupdate::RealScalar;
use cholupdate::distributed::{Cyclic, Network, Settings};
use core::ffi::{CStr, c_char};
use mpi::ffi::MPI_Comm;

/// Makes a factor by `make` of what `given` returns, if no process refuses its arguments.
///
/// # Safety
/// The communicator and the pointer are as the header says.
pub unsafe fn begun<T: RealScalar, M>(
    (comm, call): (MPI_Comm, Call),
    options: *const cholupdate_mpi_options,
    given: impl FnOnce(&Processes, Settings) -> Result<M, Refused>,
    make: impl FnOnce(Processes, Settings, M) -> Result<Distributed<T>, Refused>,
) -> Result<Distributed<T>, Refused> {
    // SAFETY: the caller guarantees the communicator and the pointer.
    let (net, settings) = unsafe { (processes(comm)?, settings(options)) };
    let mine = settings.and_then(|settings| Ok((settings, given(&net, settings)?)));
    let (settings, matrix) = agreed::<T, _>(&net, call, mine)?;
    make(net, settings, matrix)
}

/// The rows of this process, for which there is memory.
pub fn rows_of<T>(net: &Processes, settings: Settings, order: usize) -> Result<Cyclic, Refused> {
    let cyclic = Cyclic { order, block: settings.block, ranks: net.ranks(), rank: net.rank() };
    // L is kept up to the diagonal blocks: about half of the entries.
    let entries = cyclic.rows().max(1).checked_mul(order);
    room::<T>("n", order as i64, entries.map(|entries| entries / 2))?;
    Ok(cyclic)
}

/// Takes part in the call of the other processes that makes a factor on `comm`, as a process that cannot make it: all return
/// INVALID_ARGUMENT, with this message. For bindings, which may find an argument wrong before they can pass it.
///
/// Returns INVALID_ARGUMENT, or the status of the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_refuse(
    comm: MPI_Comm,
    message: *const c_char,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        let net = processes(comm)?;
        Err(refused(&net, said(message)))
    })
}

/// A refusal with the message of a binding.
///
/// # Safety
/// `message` is NULL, or a string that ends with a zero.
pub unsafe fn said(message: *const c_char) -> Refused {
    if message.is_null() {
        return Refused::null("message");
    }
    // SAFETY: the caller guarantees the string.
    Refused::not_so(unsafe { CStr::from_ptr(message) }.to_string_lossy())
}
