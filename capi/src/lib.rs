//! The C library: what `include/cholupdate.h` declares, on top of the Rust library.
//!
//! `double.rs` has the functions for double precision. Those for single precision are the same text with other names, made when the
//! package is built.

#![allow(non_camel_case_types, reason = "the names that C programs see")]
#![allow(clippy::missing_safety_doc, reason = "what callers promise is said once, where the header begins")]
#![deny(clippy::undocumented_unsafe_blocks)]

mod arguments;
mod double;
mod engines;
mod held;
mod options;
mod report;
mod single {
    //! The functions for single precision.

    include!(concat!(env!("OUT_DIR"), "/single.rs"));
}
mod status;
mod version;
