//! The micro-kernels, and the two steps of a panel that they make up.
//!
//! | file | holds |
//! |---|---|
//! | `shape` | how many columns and rows a micro-kernel call works on |
//! | `entries`, `packed` | where L and V are |
//! | `copy` | old L, to where it is worked on |
//! | `reflector` | the block reflector of a few columns of L, in memory |
//! | `diagonal` | makes it: the pivots, and the only place where a sweep can break down |
//! | `at_once` | the same for all columns of a block together, where that is accurate |
//! | `elimination` | the small factorization that this takes |
//! | `interchange` | columns of L that V outweighs: they change places with columns of V |
//! | `compensated` | sums of products as if in twice the precision |
//! | `apply` | applies it to rows below, a tile of registers at a time |
//! | `in_registers` | the same for V of three or four columns |
//! | `low_rank/` | both for V of one or two columns, and of three where L is small |
//! | `scratch` | a tile of L between the reflectors of both signs |
//! | `job` | the memory of one sweep |
//! | `reflection` | which micro-kernel takes which rows below |
//! | `steps` | the diagonal step and the trailing step of a panel |

pub mod apply;
mod at_once;
mod compensated;
pub mod copy;
pub mod diagonal;
mod elimination;
pub mod entries;
mod in_registers;
mod interchange;
pub mod job;
pub mod low_rank;
pub mod packed;
pub mod reflection;
pub mod reflector;
pub mod scratch;
pub mod shape;
pub mod steps;
