//! Settings: how a process works, and how the rows are distributed.

use super::status::{Refused, cholupdate_mpi_status, status_of};
use cholupdate::Safeguard;
use cholupdate::distributed::Settings;
use core::mem::offset_of;

/// How a modification that may break down preserves the factor. Updates cannot break down, and cost nothing more.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "values for callers; what they pass is a number")]
pub enum cholupdate_mpi_safeguard {
    /// The new factor is written to a shadow buffer: costs memory for another factor.
    CHOLUPDATE_MPI_SAFEGUARD_SHADOW_BUFFER = 0,
    /// The work is done once without storing the result, and then again: costs twice the time.
    CHOLUPDATE_MPI_SAFEGUARD_DRY_RUN = 1,
    /// No safeguard: a breakdown loses the factor, and every later call with it returns CHOLUPDATE_MPI_POISONED.
    CHOLUPDATE_MPI_SAFEGUARD_NONE = 2,
}

/// Which rows of a matrix with n rows a process gives.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "values for callers; what they pass is a number")]
pub enum cholupdate_mpi_rows {
    /// Its local rows, in order.
    CHOLUPDATE_MPI_ROWS_MINE = 0,
    /// All n rows. Every process that does so gives the same.
    CHOLUPDATE_MPI_ROWS_ALL = 1,
}

/// Settings of a factor. cholupdate_mpi_options_init() sets the defaults, which can then be changed. Functions with a pointer to
/// settings accept NULL for the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cholupdate_mpi_options {
    /// sizeof(cholupdate_mpi_options): later versions may have more settings.
    pub size: usize,
    /// The most threads of this process; 0, the default, for all available threads. Results do not depend on it.
    pub threads: i64,
    /// One of cholupdate_mpi_safeguard, the same on all processes; CHOLUPDATE_MPI_SAFEGUARD_SHADOW_BUFFER by default.
    pub safeguard: i32,
    /// Rows of a block, the same on all processes: a multiple of 16; 256 by default. With fewer rows the work is divided more
    /// evenly, and processes wait for each other more often.
    pub block: i64,
}

fn defaults() -> cholupdate_mpi_options {
    cholupdate_mpi_options {
        size: size_of::<cholupdate_mpi_options>(),
        threads: 0,
        safeguard: cholupdate_mpi_safeguard::CHOLUPDATE_MPI_SAFEGUARD_SHADOW_BUFFER as i32,
        block: Settings::default().block as i64,
    }
}

/// Sets the defaults.
///
/// Returns NULL_POINTER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_mpi_options_init(
    options: *mut cholupdate_mpi_options,
) -> cholupdate_mpi_status {
    status_of(|| {
        if options.is_null() {
            return Err(Refused::null("options"));
        }
        // SAFETY: the pointer is to settings of the caller's, which are plain numbers.
        unsafe { options.write(defaults()) };
        Ok(())
    })
}

/// The settings that the caller asks for.
///
/// # Safety
/// `options` is NULL, or points to `size` bytes of settings.
pub unsafe fn settings(options: *const cholupdate_mpi_options) -> Result<Settings, Refused> {
    if options.is_null() {
        return checked(defaults());
    }
    // Fields are only ever added at the end, so this one exists in every version.
    const { assert!(offset_of!(cholupdate_mpi_options, size) == 0) };
    // SAFETY: the caller guarantees the pointer.
    let size = unsafe { options.cast::<usize>().read() };
    let expected = size_of::<cholupdate_mpi_options>();
    if size != expected {
        return Err(Refused::invalid("options.size", size, expected));
    }
    // SAFETY: the caller guarantees the pointer, and there are as many bytes as this library reads.
    checked(unsafe { options.read() })
}

fn checked(options: cholupdate_mpi_options) -> Result<Settings, Refused> {
    let threads = match usize::try_from(options.threads) {
        Ok(threads) => (threads > 0).then_some(threads),
        Err(_) => return Err(Refused::invalid("options.threads", options.threads, "0 or more")),
    };
    let safeguard = match options.safeguard {
        0 => Safeguard::ShadowBuffer,
        1 => Safeguard::DryRun,
        2 => Safeguard::None,
        other => {
            let rule = "0, 1 or 2 (shadow buffer, dry run, none)";
            return Err(Refused::invalid("options.safeguard", other, rule));
        }
    };
    let block = match usize::try_from(options.block) {
        Ok(block) if block > 0 && block.is_multiple_of(16) => block,
        _ => return Err(Refused::invalid("options.block", options.block, "a positive multiple of 16")),
    };
    Ok(Settings { threads, safeguard, block })
}
