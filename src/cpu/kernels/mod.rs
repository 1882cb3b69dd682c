//! The micro-kernels, and the two steps of a panel that they make up.

pub mod apply;
pub mod diagonal;
pub mod job;
pub mod low_rank;
pub mod packed;
pub mod rank_one;
pub mod reflector;
pub mod scratch;
pub mod steps;
