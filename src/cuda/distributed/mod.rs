//! The engine whose factor is in the memory of several GPUs of one host.
//!
//! | file | holds |
//! |---|---|
//! | `factor` | L on all devices, and the state of its engine |
//! | `intake` | makes a factor from A or L |
//! | `part` | L on one device |
//! | `transfer` | copies of row blocks from and to host memory |
//! | `edits` | changes of L other than sweeps |
//! | `queue` | the work of a modification on all devices |
//! | `device_queue` | the memory of a modification on one device, and the work that it enqueues there |
//! | `stop` | how launches end: by themselves, or by a word in host memory |
//! | `turns` | the launches of one factor after those of another |
//! | `solve` | triangular systems, for right-hand sides in host memory or on a device |
//! | `solver` | the work of a solve on all devices |
//! | `solving` | what solves use besides L |
//!
//! Kernels, their launches, and which device has which row blocks are the resident engine's (`resident/`).

mod device_queue;
mod edits;
mod factor;
mod intake;
mod part;
mod queue;
mod solve;
mod solver;
mod solving;
mod stop;
mod transfer;
mod turns;

pub(crate) use self::factor::DistributedFactor;
use super::device::Device;
use super::resident::sizes::ROW_BLOCK;
use super::resident::sweep_launch::MAX_PEERS;
use crate::error::Error;
use crate::real::Real;
use faer::Mat;

/// An engine for several GPUs of one host: the rows of L are distributed over their memories.
///
/// The results are those of [`Resident`](super::Resident), bit for bit, for any number of devices. Each device has blocks of
/// rows in turn, and stores each up to its diagonal: L takes n²/2P entries on each of P devices, and as many again from the
/// first modification on. The other memory is as on one device, O(n) entries on each.
///
/// The devices work on a modification at the same time. Each computes the diagonal steps of its own rows, and writes what the
/// rows below need to the memory of all devices, so they must be able to access each other's memory: over NVLink, or over PCIe
/// if the driver allows that.
///
/// ```
/// use cholupdate::cuda::{Device, Distributed};
/// use cholupdate::{Cholesky, Error, faer::mat};
///
/// fn on_two_gpus() -> Result<(), Error> {
///     let engine = Distributed::new(&[Device::new(0)?, Device::new(1)?])?;
///     let mut factor = Cholesky::new_in(&mat![[4.0, 2.0], [2.0, 5.0]], engine)?;
///     factor.update(&[1.0, 2.0])?;
///     let _x = factor.solve(&[1.0, 0.0])?;
///     Ok(())
/// }
/// # match on_two_gpus() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
///
/// If a device fails, the call returns its error after the work on all others has ended. The factor is then as it was, or
/// poisoned if the modification worked in place, as on one device.
#[derive(Clone, Debug)]
pub struct Distributed {
    devices: Vec<Device>,
    /// Row blocks that a device has at a time.
    together: usize,
}

/// Row blocks that a device has at a time, unless the caller says otherwise: passing from device to device takes longer than
/// passing from thread block to thread block.
const TOGETHER: usize = 8;

impl Distributed {
    /// An engine on these devices.
    ///
    /// # Errors
    /// `OutOfRange`, naming `devices`, if there are none, more than 16, or one of them twice; [`Error::Device`] if one cannot
    /// access the memory of another.
    pub fn new(devices: &[Device]) -> Result<Self, Error> {
        let twice = |(at, device): (usize, &Device)| {
            devices[..at].iter().any(|other| other.ordinal() == device.ordinal())
        };
        if devices.is_empty() || devices.len() > MAX_PEERS + 1 || devices.iter().enumerate().any(twice) {
            return Err(Error::OutOfRange { argument: "devices", rule: "1 to 16 different devices" });
        }
        for (at, device) in devices.iter().enumerate() {
            for (_, other) in devices.iter().enumerate().filter(|&(other, _)| other != at) {
                device.access(other)?;
            }
        }
        Ok(Self { devices: devices.to_vec(), together: TOGETHER })
    }

    /// The same engine with this number of rows in each block that a device has in turn; 1024 by default. Results do not depend
    /// on it.
    ///
    /// # Errors
    /// `OutOfRange`, naming `rows`, unless it is a multiple of 128 and positive.
    pub fn with_block_rows(self, rows: usize) -> Result<Self, Error> {
        if rows == 0 || !rows.is_multiple_of(ROW_BLOCK) {
            return Err(Error::OutOfRange { argument: "rows", rule: "a positive multiple of 128" });
        }
        Ok(Self { together: rows / ROW_BLOCK, ..self })
    }

    /// The devices.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// A factor from L. (n × n)
    pub(crate) fn factor<T: Real>(&self, l: Mat<T>) -> Result<DistributedFactor<T>, Error> {
        let mut factor = DistributedFactor::new(&self.devices, self.together, l.nrows())?;
        factor.write(l.as_ref())?;
        Ok(factor)
    }
}
