//! What every sweep is about, whoever does it: which columns it goes over, and V as it takes it. Data and geometry alone:
//! an engine has its own schedule, one screen each (`cpu/serial.rs`, `cpu/workers.rs`, `cuda/hybrid/schedule.rs`,
//! `cuda/resident/schedule.rs`).

pub mod outline;
pub mod plan;
#[cfg(feature = "cuda")]
pub mod rank_blocks;
pub mod signed;
pub mod weights;

/// The first pivot² that is not greater than zero, by column of L.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Breakdown {
    pub column: usize,
}
