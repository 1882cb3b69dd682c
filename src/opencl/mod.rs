//! OpenCL devices: processors and graphics processors of any vendor.
//!
//! The crate builds without OpenCL, and a program that uses it also runs without: the loader is looked for when [`platforms`]
//! are requested, and an [`Error`](crate::Error) says what is missing. Users need an OpenCL 1.2 driver and its loader
//! (`libOpenCL`). The kernels are compiled by the driver when they are first used.
//!
//! The files, from the lowest layer up. Imports point down, and only this folder uses `opencl3`.
//!
//! | file | holds |
//! |---|---|
//! | `error` | OpenCL errors as errors of this library |
//! | `handle` | objects of OpenCL that this crate owns |
//! | `program` | programs, and how the driver compiles them |
//! | `device` | devices: properties, context, programs |
//! | `platform` | the platforms and devices of this machine |
//! | `memory` | device memory, and host memory that is copied at the link's rate |
//! | `queue` | command queues, events, copies and kernels |
//! | `factorize` | initial factors, column after column |
//! | `hybrid/` | the engine that streams a factor in host memory through the device |

#[allow(unsafe_code, reason = "calls into the driver")]
mod device;
mod error;
#[allow(unsafe_code, reason = "kernels on device memory")]
mod factorize;
#[allow(unsafe_code, reason = "releases objects of the driver")]
mod handle;
#[allow(unsafe_code, reason = "kernels on device memory")]
mod hybrid;
#[allow(unsafe_code, reason = "calls into the driver")]
mod memory;
mod platform;
mod program;
#[allow(unsafe_code, reason = "calls into the driver")]
mod queue;

pub use self::device::{Device, DeviceKind};
pub use self::factorize::ColumnKernels;
pub(crate) use self::factorize::by_column;
pub use self::hybrid::Hybrid;
pub use self::platform::{Platform, platforms};
pub use crate::hybrid::tuning::Tuning;
