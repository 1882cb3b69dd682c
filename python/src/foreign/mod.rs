//! Calls from the programs of other libraries (JAX, PyTorch), on memory that these describe: without Python, the GIL or exceptions.
//!
//! | file | contents |
//! |---|---|
//! | `stack` | matrices in the memory of others |
//! | `modify` | L' of each matrix of a stack |
//! | `alone` | L' of one matrix, in row-major memory |
//! | `on_gpu` | the same in the memory of a GPU |
//! | `gradient` | its derivatives |
//! | `layout` | triangles of row-major matrices |

#[allow(unsafe_code, reason = "memory that others describe")]
mod alone;
#[allow(unsafe_code, reason = "memory that others describe")]
pub mod gradient;
#[allow(unsafe_code, reason = "memory that others describe")]
mod layout;
#[allow(unsafe_code, reason = "memory that others describe")]
pub mod modify;
#[allow(unsafe_code, reason = "memory that others describe")]
pub mod on_gpu;
#[allow(unsafe_code, reason = "memory that others describe")]
pub mod stack;
