//! Engines that use an NVIDIA GPU.
//!
//! Nothing of CUDA is needed to build this, and a program built with it runs where there is no GPU: the
//! driver is looked for when a [`Device`] is asked for, and what is missing comes back as an
//! [`Error`](crate::Error). A user needs the NVIDIA driver (570 or later) and nothing else; the kernels
//! travel inside the library.
//!
//! The files, from the floor up; imports point down, and `cudarc` is named in this folder alone.
//!
//! | file | holds |
//! |---|---|
//! | `error` | what the driver says, as errors of this library |
//! | `plain` | what copies and kernels may read and write |
//! | `layout` | what the kernels of a module export of their sizes, layouts and thresholds |
//! | `module` | kernels as the driver has translated them |
//! | `doubt` | what is known of work that a failed wait was for |
//! | `device` | the one GPU: what it must be able to do, what it is |
//! | `memory` | device memory and page-locked host memory |
//! | `stream` | streams, events and the copies between the memories |
//! | `ptx` | the kernels as they ship |
//! | `launch` | kernels, and how they are launched |
//! | `dense` | a matrix in device memory, and its way there and back |
//! | `cusolver` | cuSOLVER, where it is found at run time |
//! | `matrix` | matrices in device memory that callers have |
//! | `operands` | the same as operands of the public calls |
//! | `factorize/` | initial factors on the GPU |
//! | `resident/` | the engine whose factor stays in device memory |
//! | `hybrid/` | the engine that streams a factor in host memory through the device |

#[allow(unsafe_code, reason = "calls into the library")]
mod cusolver;
#[allow(unsafe_code, reason = "copies that go on after the call")]
mod dense;
#[allow(unsafe_code, reason = "calls into the driver")]
mod device;
mod doubt;
mod error;
#[allow(unsafe_code, reason = "launches of kernels on device memory")]
mod factorize;
#[allow(unsafe_code, reason = "packed panels, and copies and launches on them")]
mod hybrid;
#[allow(unsafe_code, reason = "launches of kernels")]
mod launch;
mod layout;
#[allow(unsafe_code, reason = "copies, and memory of somebody else")]
mod matrix;
#[allow(unsafe_code, reason = "device memory and copies that go on after the call")]
mod memory;
#[allow(unsafe_code, reason = "calls into the driver")]
mod module;
mod operands;
#[allow(unsafe_code, reason = "a promise about bits")]
mod plain;
mod ptx;
#[allow(unsafe_code, reason = "launches and copies on device memory")]
mod resident;
#[allow(unsafe_code, reason = "copies that go on after the call")]
mod stream;

#[cfg(test)]
#[allow(unsafe_code, reason = "launches and copies are unsafe to ask for")]
mod tests;

pub use self::device::Device;
pub use self::factorize::ColumnKernels;
pub(crate) use self::factorize::{By, by_column, has_cusolver, in_device_memory};
pub use self::hybrid::{Hybrid, HybridFactor, Tuning};
pub use self::matrix::{DeviceMatrix, DeviceView, DeviceViewMut};
pub use self::resident::{Resident, ResidentFactor};
