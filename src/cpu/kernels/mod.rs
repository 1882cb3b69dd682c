//! The micro-kernels, and the two steps of a panel that they make up.
//!
//! | file | holds |
//! |---|---|
//! | `shape` | how many columns and rows a micro-kernel call works on |
//! | `entries`, `packed` | where L and V are |
//! | `reflector` | the block reflector of a few columns of L, in memory |
//! | `diagonal` | makes it: the pivots, and the only place where a sweep can break down |
//! | `apply` | applies it to rows below, a tile of registers at a time |
//! | `low_rank` | the same for V of two to four columns |
//! | `rank_one/` | both for V of one column |
//! | `scratch` | a tile of L between the reflectors of both signs |
//! | `job` | the memory of one sweep |
//! | `reflection` | which micro-kernel takes which rows below |
//! | `steps` | the diagonal step and the trailing step of a panel |

pub mod apply;
pub mod diagonal;
pub mod entries;
pub mod job;
pub mod low_rank;
pub mod packed;
pub mod rank_one;
mod reflection;
pub mod reflector;
pub mod scratch;
pub mod shape;
pub mod steps;
