//! Peers that the benchmarks call outside Rust, each if it is on this machine.

pub mod eigen;
pub mod python;
pub mod qrupdate;
