//! Engines that use an NVIDIA GPU.
//!
//! The crate builds without CUDA, and a program that uses it also runs without a GPU: the driver is loaded when a [`Device`] is
//! requested, and an [`Error`](crate::Error) says what is missing. Users need the NVIDIA driver (570 or later) and nothing
//! else; the kernels are contained in the library.
//!
//! The files, from the lowest layer up. Imports point down, and only this folder uses `cudarc`.
//!
//! | file | holds |
//! |---|---|
//! | `error` | driver errors as errors of this library |
//! | `plain` | the types that copies and kernels may read and write |
//! | `layout` | sizes, layouts and thresholds that the kernels of a module export |
//! | `current` | the context that is current on a thread |
//! | `module` | kernels as the driver has translated them |
//! | `doubt` | whether work may still be running after a failed wait |
//! | `handles`, `block` | what a device keeps while nothing uses it: cuSOLVER's handles, page-locked memory |
//! | `ptx` | the shipped kernels |
//! | `device` | a GPU: the requirements on it, and its properties |
//! | `memory` | device memory and page-locked host memory |
//! | `stream` | streams, events and copies between the memories |
//! | `launch` | kernels, and how they are launched |
//! | `copying` | copies by a kernel |
//! | `dense` | a matrix in device memory, and its transfers |
//! | `cusolver` | cuSOLVER, if it is found at run time |
//! | `matrix` | matrices in device memory for callers |
//! | `operands` | the same as operands of the public calls |
//! | `factorize/` | initial factors on the GPU |
//! | `resident/` | the engine whose factor stays in device memory |
//! | `distributed/` | the same for several devices |
//! | `batch/` | many small factors in device memory |
//! | `on_stream/` | modifications in memory and on streams of the caller's |
//! | `gradient/` | derivatives of modifications, in memory of the caller's |
//! | `hybrid/` | the engine that streams a factor in host memory through the device: its calls of CUDA |

mod batch;
#[allow(unsafe_code, reason = "frees memory of the driver")]
mod block;
#[allow(unsafe_code, reason = "launches of a kernel")]
mod copying;
#[allow(unsafe_code, reason = "calls into the driver")]
mod current;
#[allow(unsafe_code, reason = "calls into the library")]
mod cusolver;
#[allow(unsafe_code, reason = "copies that go on after the call")]
mod dense;
#[allow(unsafe_code, reason = "calls into the driver")]
mod device;
#[allow(unsafe_code, reason = "launches and copies on device memory")]
mod distributed;
mod doubt;
pub(crate) mod error;
#[allow(unsafe_code, reason = "launches of kernels on device memory")]
mod factorize;
#[allow(unsafe_code, reason = "launches of kernels on memory of the caller's")]
pub mod gradient;
#[allow(unsafe_code, reason = "calls into the library")]
mod handles;
#[allow(unsafe_code, reason = "copies and launches on packed panels")]
mod hybrid;
#[allow(unsafe_code, reason = "launches of kernels")]
mod launch;
mod launching;
mod layout;
#[allow(unsafe_code, reason = "copies, and memory of somebody else")]
mod matrix;
#[allow(unsafe_code, reason = "device memory and copies that go on after the call")]
mod memory;
#[allow(unsafe_code, reason = "calls into the driver")]
mod module;
#[allow(unsafe_code, reason = "memory and streams of the caller's")]
mod on_stream;
#[allow(unsafe_code, reason = "views that hold on to a lifetime at run time")]
mod operands;
mod packing;
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

pub use self::batch::{
    BatchOperand, BatchOperandMut, CholeskyBatch, DeviceBatch, DeviceBatchView, DeviceBatchViewMut,
    DeviceNumbers, DeviceOutcome, Status, WeightsOperand,
};
pub use self::current::keeping_current_context;
pub use self::device::Device;
pub use self::distributed::Distributed;
pub use self::factorize::ColumnKernels;
pub(crate) use self::factorize::{By, by_column, has_cusolver, in_device_memory};
pub use self::hybrid::{Hybrid, Tuning};
pub use self::matrix::{DeviceMatrix, DeviceView, DeviceViewMut};
pub use self::on_stream::{Signs, StreamModification, StreamOperands};
pub(crate) use self::resident::DerivedMatrix;
pub use self::resident::Resident;
pub(crate) use self::resident::ResidentFactor;
