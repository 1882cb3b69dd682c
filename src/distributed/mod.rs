//! A factor whose rows are distributed over processes.
//!
//! | file | holds |
//! |---|---|
//! | `plan` | the panels of a sweep, and the rows of a process below them |
//! | `network` | what is needed of the processes |
//! | `agree` | the agreement with which every call begins |
//! | `broadcasts` | the messages of a sweep or a solve |
//! | `rows` | the rows of a process in memory |
//! | `v` | V, checked by all processes together |
//! | `sweep` | the steps of a sweep, and their messages |
//! | `storage` | L, and a sweep over it |
//! | `begin`, `checks` | a factor from A or L; checks of what each process has |
//! | `factor` | the factor and its modifications |
//! | `again` | repeats a modification that broke down, in twice the precision |
//! | `factorize` | the factor of A |
//! | `moves` | L from and to one process |
//! | `end` | rows and columns at the end |
//! | `solve` | triangular solves |

mod again;
mod agree;
mod begin;
#[allow(unsafe_code, reason = "messages in raw memory")]
mod broadcasts;
mod checks;
mod end;
mod factor;
mod factorize;
#[allow(unsafe_code, reason = "messages from memory")]
mod moves;
#[allow(unsafe_code, reason = "bytes of numbers")]
mod network;
mod plan;
#[allow(unsafe_code, reason = "views of memory")]
mod rows;
#[allow(unsafe_code, reason = "threads share the right-hand sides row by row")]
mod solve;
#[allow(unsafe_code, reason = "hands memory of L to the sweep")]
mod storage;
#[allow(unsafe_code, reason = "steps on raw memory")]
mod sweep;
#[cfg(test)]
mod tests;
mod v;

// The calls that cholupdate-mpi adds begin in the same way.
#[doc(hidden)]
pub use self::agree::{Compared, compare};
pub use self::begin::Settings;
pub use self::factor::Factor;
pub use self::network::Network;
pub use self::v::Rows;
pub use crate::storage::{Origin, Side};
pub use crate::sweep::cyclic::Cyclic;
