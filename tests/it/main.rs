//! One binary for all integration tests: the specification of what a modification must get right.

#[macro_use]
mod support;

mod accuracy;
mod allocation;
mod carried;
mod clones;
mod drift;
mod extents;
mod factorize;
mod failure;
mod health;
#[cfg(feature = "cuda")]
mod hybrid;
mod input;
mod layouts;
#[cfg(feature = "cuda")]
mod on_device;
mod order;
mod peers;
mod properties;
#[cfg(feature = "cuda")]
mod ptx;
mod published;
mod report;
#[cfg(feature = "cuda")]
mod resident;
mod shapes;
mod state_machine;
mod step;
#[cfg(feature = "cuda")]
mod streams;
mod structure;
mod threads;
mod words;
