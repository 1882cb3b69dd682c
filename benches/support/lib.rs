//! Shared by the benchmarks: settings, problems and the check of a result, peers, the timer, the limits of the machine, tables
//! and plots.

pub mod about;
pub mod competitors;
pub mod crossover;
pub mod csv;
pub mod eigen;
pub mod engines;
pub mod forecast;
pub mod limits;
#[cfg(feature = "cuda")]
pub mod link;
#[path = "../../tests/it/support/linpack.rs"]
pub mod linpack;
pub mod measure;
pub mod plot;
pub mod problem;
pub mod qrupdate;
pub mod rows;
pub mod settings;
pub mod table;
