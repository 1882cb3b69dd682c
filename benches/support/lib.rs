//! Shared by the benchmarks. A module imports only those above it:
//!
//! | module | holds |
//! |---|---|
//! | `scalar` | the scalars, and the largest residual of a correct result |
//! | `table`, `plot` | tables and curves |
//! | `measure` | the timer of all methods |
//! | `batches` | the tables of the benchmarks of batches, and the residual of one factor |
//! | `settings` | the settings from the environment |
//! | `limits`, `link` | the limits of the machine and of the device |
//! | `about`, `csv`, `row` | the head of a result, its lines, and the results of one case |
//! | `problem`, `case` | A, L and V, and the verbs that are measured |
//! | `linpack`, `peers` | the peers that are not Rust packages |
//! | `competitors` | this crate, its peers and refactorizing on the CPU |
//! | `cells`, `crossover`, `forecast`, `engines` | what the benchmarks have in common |

pub mod about;
pub mod batches;
pub mod case;
pub mod cells;
pub mod competitors;
pub mod crossover;
pub mod csv;
#[cfg(feature = "cuda")]
pub mod engines;
pub mod forecast;
pub mod limits;
#[cfg(feature = "cuda")]
pub mod link;
#[path = "../../tests/it/support/linpack.rs"]
pub mod linpack;
pub mod measure;
pub mod peers;
pub mod plot;
pub mod problem;
pub mod row;
pub mod scalar;
pub mod settings;
pub mod table;
