//! A and L from and to matrices of ScaLAPACK.

use super::super::agreement::{Call, agreed};
use super::super::arguments::{array, array_mut, borrow, count, place};
use super::super::beginning::{begun, rows_of};
use super::super::options::cholupdate_mpi_options;
use super::super::status::{Refused, cholupdate_mpi_status, status_of_all};
use super::factor::cholupdate_mpi_d;
use crate::distributed::Distributed;
use crate::scalapack::{Descriptor, local_entries};
use core::ffi::c_int;
use mpi::ffi::MPI_Comm;

/// Factors a matrix A (n x n) of ScaLAPACK, on any process grid whose processes are among those of `comm`. Each process gives the
/// descriptor (9 numbers) and its local array, which may be NULL if it has no entries of A. A process outside the grid has the context
/// -1 in the descriptor, and the same M, N, MB, NB, RSRC and CSRC as the others. The caller owns `*factor` and frees it by
/// cholupdate_mpi_d_free().
///
/// Returns as cholupdate_mpi_d_new(), and SCALAPACK_MISSING.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_from_scalapack(
    comm: MPI_Comm,
    n: i64,
    descriptor: *const c_int,
    a: *const f64,
    options: *const cholupdate_mpi_options,
    factor: *mut *mut cholupdate_mpi_d,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        taken((comm, Call::FromScalapack), (n, false), (descriptor, "a", a), options, factor)
    })
}

/// Makes a factor of a known L (n x n) in a matrix of ScaLAPACK, as cholupdate_mpi_d_from_factor() and
/// cholupdate_mpi_d_from_scalapack(). The caller owns `*factor` and frees it by cholupdate_mpi_d_free().
///
/// Returns as cholupdate_mpi_d_from_factor(), and SCALAPACK_MISSING.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_from_scalapack_factor(
    comm: MPI_Comm,
    n: i64,
    descriptor: *const c_int,
    l: *const f64,
    options: *const cholupdate_mpi_options,
    factor: *mut *mut cholupdate_mpi_d,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        taken((comm, Call::FromScalapackFactor), (n, true), (descriptor, "l", l), options, factor)
    })
}

/// Makes a factor of a matrix of ScaLAPACK.
///
/// # Safety
/// The communicator and pointers are as the header says.
unsafe fn taken(
    call: (MPI_Comm, Call),
    (n, is_factor): (i64, bool),
    (descriptor, name, start): (*const c_int, &'static str, *const f64),
    options: *const cholupdate_mpi_options,
    factor: *mut *mut cholupdate_mpi_d,
) -> Result<(), Refused> {
    // SAFETY: the caller guarantees the pointers.
    let held = unsafe {
        begun(
            call,
            options,
            |net, settings| {
                let order = count("n", n)?;
                rows_of::<f64>(net, settings, order)?;
                place("factor", factor)?;
                let descriptor = described(descriptor)?;
                Ok((order, descriptor, array(name, start, local_entries(&descriptor, order))?))
            },
            |net, settings, (order, descriptor, local)| {
                Ok(Distributed::taken_from(net, settings, (order, is_factor), &descriptor, local)?)
            },
        )?
    };
    // SAFETY: the pointer has been checked.
    unsafe { factor.write(Box::into_raw(Box::new(cholupdate_mpi_d { held }))) };
    Ok(())
}

/// Copies L to a matrix of ScaLAPACK (n x n). Each process gives the descriptor (9 numbers) and its local array `l`, as with
/// cholupdate_mpi_d_from_scalapack().
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, POISONED or SCALAPACK_MISSING.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_to_scalapack(
    factor: *const cholupdate_mpi_d,
    descriptor: *const c_int,
    l: *mut f64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        let held = &borrow("factor", factor)?.held;
        let mine = described(descriptor).and_then(|descriptor| {
            let len = local_entries(&descriptor, held.order());
            Ok((descriptor, array_mut("l", l, len)?))
        });
        let (descriptor, local) = agreed::<f64, _>(held.factor.net(), Call::ToScalapack, mine)?;
        Ok(held.to_scalapack(&descriptor, local)?)
    })
}

/// The numbers of a descriptor.
///
/// # Safety
/// `descriptor` is NULL, or has 9 numbers.
unsafe fn described(descriptor: *const c_int) -> Result<Descriptor, Refused> {
    // SAFETY: the caller guarantees the numbers.
    let given = unsafe { array("descriptor", descriptor, size_of::<Descriptor>() / size_of::<c_int>())? };
    let mut numbers = Descriptor::default();
    numbers.copy_from_slice(given);
    Ok(numbers)
}
