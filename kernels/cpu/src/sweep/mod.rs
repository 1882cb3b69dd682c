//! The micro-kernels, and the two steps of a panel, which consist of them.
//!
//! | file | holds |
//! |---|---|
//! | `shape` | the number of columns and rows of a micro-kernel call |
//! | `entries`, `packed` | the location of L and V |
//! | `copy` | copies the old L to where the sweep works |
//! | `reflector` | the block reflector of a few columns of L, in memory |
//! | `diagonal` | computes it: the pivots, and the only step that can break down |
//! | `at_once` | the same for all columns of a block together, if that is accurate |
//! | `elimination` | the small factorization that `at_once` needs |
//! | `interchange` | interchanges columns of L with columns of V, where V is large |
//! | `compensated` | sums of products as if in twice the precision |
//! | `apply` | applies the reflector to rows below, one register tile at a time |
//! | `in_registers` | the same for V of three or four columns |
//! | `low_rank/` | both steps for a V of one or two columns, and of up to four if L is small |
//! | `small/` | a small L and up to four columns of V, without panels and tiles |
//! | `signature/` | both steps for an L S Lᵀ with S = diag(±1) |
//! | `scratch` | a tile of L between the reflectors of the two signs |
//! | `job` | the memory of one sweep |
//! | `reflection` | chooses the micro-kernel for the rows below |
//! | `part_of_tile` | the micro-kernels for the rows above and below whole tiles |
//! | `panel_steps` | the diagonal step and the trailing step of a panel |
//!
//! Everything is inlined into one function for an instruction set, so that loops over registers become its instructions. In a
//! build without optimization (`unoptimized`, from build.rs) the larger functions are not: the one function would need 18 MB of stack.

pub mod apply;
pub mod at_once;
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
pub mod panel_steps;
mod part_of_tile;
mod reflection;
pub mod reflector;
mod scratch;
pub mod shape;
pub mod signature;
pub mod small;
