//! One binary for all integration tests: the specification of what a modification must get right.

#[macro_use]
mod support;

mod accuracy;
#[cfg(feature = "cuda")]
mod ahead;
mod allocation;
mod any;
mod batch;
#[cfg(feature = "cuda")]
mod batch_device;
mod batch_solutions;
mod batch_structure;
mod carried;
mod clones;
mod complex;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod current;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod device_errors;
#[cfg(feature = "cuda")]
mod distributed;
mod drift;
mod edge;
mod extents;
#[cfg(feature = "unstable")]
mod external_engine;
mod factorize;
mod failure;
#[cfg(feature = "cuda")]
mod from_the_device;
mod gradient;
mod health;
#[cfg(feature = "cuda")]
mod hybrid;
mod imports;
mod input;
mod interrupt;
mod layouts;
mod ldlt;
#[cfg(feature = "cuda")]
mod on_device;
#[cfg(feature = "cuda")]
mod on_stream;
#[cfg(feature = "opencl")]
mod opencl;
mod order;
mod out_of_place;
mod peers;
mod pivots;
mod products;
mod properties;
#[cfg(feature = "cuda")]
mod ptx;
mod published;
mod report;
#[cfg(feature = "cuda")]
mod resident;
#[cfg(feature = "cuda")]
mod rows_from_the_device;
mod shapes;
mod singular;
mod small;
#[cfg(feature = "serde")]
mod snapshot;
mod state_machine;
mod step;
#[cfg(feature = "cuda")]
mod streams;
mod structure;
mod threads;
mod words;
