//! What all engines use on the host: threads, working memory, the layout of L and the instruction sets.

pub mod blocked;
pub mod caches;
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub mod crout;
#[allow(unsafe_code, reason = "sets the extents of matrices of no entries")]
pub mod empty;
#[allow(unsafe_code, reason = "asks to hear of a fork")]
mod fork;
pub mod interrupt;
pub mod layout;
#[allow(unsafe_code, reason = "advice about memory")]
mod pages;
pub mod pool;
#[cfg(any(feature = "cuda", feature = "opencl"))]
#[allow(unsafe_code, reason = "a task on the caller's stack, shared by its workers")]
pub mod region;
#[allow(unsafe_code, reason = "items that threads share one by one")]
pub mod share;
pub mod squares;
pub mod threads;
#[allow(unsafe_code, reason = "a task on the caller's stack, shared by its workers")]
pub mod workers;
