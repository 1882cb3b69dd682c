//! L to arrays of the caller.

use super::super::agreement::{Call, agreed};
use super::super::arguments::{borrow, count, matrix_mut};
use super::super::status::{cholupdate_mpi_status, status_of, status_of_all};
use super::factor::cholupdate_mpi_d;
use cholupdate::distributed::Network;
use cholupdate::faer::MatMut;

/// Copies L (n x n) to the array `l` of process `root`. On the others `l` and `ldl` are not used.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_gather(
    factor: *const cholupdate_mpi_d,
    root: i64,
    l: *mut f64,
    ldl: i64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of_all(|| unsafe {
        let held = &borrow("factor", factor)?.held;
        let (net, order) = (held.factor.net(), held.order());
        let mine = count("root", root).and_then(|root| {
            let all = match root == net.rank() {
                true => matrix_mut("l", l, (order, order), ldl)?,
                false => MatMut::from_column_major_slice_mut(&mut [], 0, 0),
            };
            Ok((root, all))
        });
        let (root, mut all) = agreed::<f64, _>(net, Call::Gather, mine)?;
        if let Some(gathered) = held.gather(root)? {
            all.copy_from(gathered);
        }
        Ok(())
    })
}

/// Copies the local rows of L to the caller's array `l` (local rows x n). The other processes need not call it.
///
/// Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_d_to_rows(
    factor: *const cholupdate_mpi_d,
    l: *mut f64,
    ldl: i64,
) -> cholupdate_mpi_status {
    // SAFETY: the header requires that pointers are NULL or point to what it says.
    status_of(|| unsafe {
        let held = &borrow("factor", factor)?.held;
        let mut l = matrix_mut("l", l, (held.cyclic().rows(), held.order()), ldl)?;
        l.copy_from(held.to_rows()?);
        Ok(())
    })
}
