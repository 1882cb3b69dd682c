//! Creation and freeing of factors.

use super::super::agreement::{Call, refused};
use super::super::arguments::{borrow, count, matrix, place};
use super::super::beginning::{begun, rows_of, said};
use super::super::options::cholupdate_mpi_options;
use super::super::status::{Refused, cholupdate_mpi_status, status_of, status_of_all};
use crate::distributed::Distributed;
use cholupdate::distributed::{Factor, Network, Origin};
use cholupdate::faer::MatRef;
use core::ffi::c_char;
use mpi::ffi::MPI_Comm;

/// A process's part of a factor in double precision, of a matrix A (n x n).
pub struct cholupdate_mpi_d {
    pub held: Distributed<f64>,
}

/// Factors A (n x n), of which each process gives its local rows (local rows x n). The caller owns `*factor` and frees it by
/// cholupdate_mpi_d_free().
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_new(
    comm: MPI_Comm,
    n: i64,
    a: *const f64,
    lda: i64,
    options: *const cholupdate_mpi_options,
    factor: *mut *mut cholupdate_mpi_d,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe { by_rows((comm, Call::New), Origin::Matrix, (n, "a", a, lda), options, factor) })
}

/// Makes a factor of a known L (n x n), of which each process gives its local rows (local rows x n). Columns of L with a negative
/// diagonal entry are negated, which leaves L L^T as it is. With a zero on the diagonal A is singular. The caller owns `*factor` and
/// frees it by cholupdate_mpi_d_free(); `l` is copied.
///
/// Returns as cholupdate_mpi_d_new() except NOT_POSITIVE_DEFINITE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_from_factor(
    comm: MPI_Comm,
    n: i64,
    l: *const f64,
    ldl: i64,
    options: *const cholupdate_mpi_options,
    factor: *mut *mut cholupdate_mpi_d,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        by_rows((comm, Call::FromFactor), Origin::Factor, (n, "l", l, ldl), options, factor)
    })
}

/// Factors A (n x n), which process `root` has whole. On the others `a` and `lda` are not read. The caller owns `*factor` and frees
/// it by cholupdate_mpi_d_free().
///
/// Returns as cholupdate_mpi_d_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_scatter(
    comm: MPI_Comm,
    root: i64,
    n: i64,
    a: *const f64,
    lda: i64,
    options: *const cholupdate_mpi_options,
    factor: *mut *mut cholupdate_mpi_d,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        from_root((comm, Call::Scatter), (Origin::Matrix, root), (n, "a", a, lda), options, factor)
    })
}

/// Makes a factor of a known L (n x n), which process `root` has whole, as cholupdate_mpi_d_from_factor(). On the others `l` and `ldl`
/// are not read. The caller owns `*factor` and frees it by cholupdate_mpi_d_free().
///
/// Returns as cholupdate_mpi_d_from_factor().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_scatter_factor(
    comm: MPI_Comm,
    root: i64,
    n: i64,
    l: *const f64,
    ldl: i64,
    options: *const cholupdate_mpi_options,
    factor: *mut *mut cholupdate_mpi_d,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        from_root((comm, Call::ScatterFactor), (Origin::Factor, root), (n, "l", l, ldl), options, factor)
    })
}

/// Makes a factor of the rows of the processes.
///
/// # Safety
/// The communicator and pointers are as the header says.
unsafe fn by_rows(
    call: (MPI_Comm, Call),
    origin: Origin,
    (n, name, start, stride): (i64, &'static str, *const f64, i64),
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
                let cyclic = rows_of::<f64>(net, settings, order)?;
                place("factor", factor)?;
                Ok((order, matrix(name, start, (cyclic.rows(), order), stride)?))
            },
            |net, settings, (order, rows)| {
                Ok(Distributed { factor: Factor::new(net, settings, (origin, order), rows)? })
            },
        )?
    };
    // SAFETY: the pointer has been checked.
    unsafe { factor.write(Box::into_raw(Box::new(cholupdate_mpi_d { held }))) };
    Ok(())
}

/// Makes a factor of the matrix of one process.
///
/// # Safety
/// The communicator and pointers are as the header says.
unsafe fn from_root(
    call: (MPI_Comm, Call),
    (origin, root): (Origin, i64),
    (n, name, start, stride): (i64, &'static str, *const f64, i64),
    options: *const cholupdate_mpi_options,
    factor: *mut *mut cholupdate_mpi_d,
) -> Result<(), Refused> {
    // SAFETY: the caller guarantees the pointers.
    let held = unsafe {
        begun(
            call,
            options,
            |net, settings| {
                let (root, order) = (count("root", root)?, count("n", n)?);
                rows_of::<f64>(net, settings, order)?;
                place("factor", factor)?;
                let all = match net.rank() == root {
                    true => matrix(name, start, (order, order), stride)?,
                    false => MatRef::from_column_major_slice(&[], 0, 0),
                };
                Ok((order, (root, all)))
            },
            |net, settings, (order, whole)| {
                Ok(Distributed { factor: Factor::scatter(net, settings, (origin, order), whole)? })
            },
        )?
    };
    // SAFETY: the pointer has been checked.
    unsafe { factor.write(Box::into_raw(Box::new(cholupdate_mpi_d { held }))) };
    Ok(())
}

/// Takes part in the call of the other processes with this factor, whichever it is, as a process that cannot make it: all return
/// INVALID_ARGUMENT, with this message. For bindings, which may find an argument wrong before they can pass it.
///
/// Returns INVALID_ARGUMENT, or the status of the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_refuse(
    factor: *const cholupdate_mpi_d,
    message: *const c_char,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        let held = &borrow("factor", factor)?.held;
        Err(refused(held.factor.net(), said(message)))
    })
}

/// Frees a factor. All processes call it, before or after MPI is finalized. The pointer is invalid afterwards. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_free(factor: *mut cholupdate_mpi_d) {
    if factor.is_null() {
        return;
    }
    status_of(|| {
        // SAFETY: the pointer came from `Box::into_raw`, and the caller gives up ownership.
        drop(unsafe { Box::from_raw(factor) });
        Ok(())
    });
}
