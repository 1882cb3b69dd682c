//! What the host has for every engine: threads, working memory, the layout of L and the instruction sets.

pub mod buffer;
pub mod guard;
pub mod isa;
pub mod layout;
#[cfg(feature = "cuda")]
pub mod pool;
pub mod threads;
