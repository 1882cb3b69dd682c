//! The C library: the functions that `include/cholupdate.h` declares, implemented by the Rust library.
//!
//! `double/` contains the functions for double precision. The build script makes those for single precision and for complex numbers
//! from the same text, with other names.

#![allow(non_camel_case_types, reason = "the names that C programs see")]
#![allow(clippy::missing_safety_doc, reason = "what callers promise is said once, where the header begins")]
#![deny(clippy::undocumented_unsafe_blocks)]

mod arguments;
mod awake;
mod batch_weights;
mod batches;
mod changing;
mod complex_double {
    //! The functions for complex numbers in double precision.

    pub mod batch {
        include!(concat!(env!("OUT_DIR"), "/complex_double/batch.rs"));
    }
    pub mod batch_rows {
        include!(concat!(env!("OUT_DIR"), "/complex_double/batch_rows.rs"));
    }
    pub mod batch_verbs {
        include!(concat!(env!("OUT_DIR"), "/complex_double/batch_verbs.rs"));
    }
    pub mod carried {
        include!(concat!(env!("OUT_DIR"), "/complex_double/carried.rs"));
    }
    pub mod extension {
        include!(concat!(env!("OUT_DIR"), "/complex_double/extension.rs"));
    }
    pub mod factor {
        include!(concat!(env!("OUT_DIR"), "/complex_double/factor.rs"));
    }
    pub mod known {
        include!(concat!(env!("OUT_DIR"), "/complex_double/known.rs"));
    }
    pub mod ldlt {
        include!(concat!(env!("OUT_DIR"), "/complex_double/ldlt.rs"));
    }
    pub mod ldlt_extension {
        include!(concat!(env!("OUT_DIR"), "/complex_double/ldlt_extension.rs"));
    }
    pub mod ldlt_known {
        include!(concat!(env!("OUT_DIR"), "/complex_double/ldlt_known.rs"));
    }
    pub mod ldlt_modifying {
        include!(concat!(env!("OUT_DIR"), "/complex_double/ldlt_modifying.rs"));
    }
    pub mod ldlt_rows {
        include!(concat!(env!("OUT_DIR"), "/complex_double/ldlt_rows.rs"));
    }
    pub mod ldlt_solving {
        include!(concat!(env!("OUT_DIR"), "/complex_double/ldlt_solving.rs"));
    }
    pub mod modifying {
        include!(concat!(env!("OUT_DIR"), "/complex_double/modifying.rs"));
    }
    pub mod pending {
        include!(concat!(env!("OUT_DIR"), "/complex_double/pending.rs"));
    }
    pub mod rows {
        include!(concat!(env!("OUT_DIR"), "/complex_double/rows.rs"));
    }
    pub mod solving {
        include!(concat!(env!("OUT_DIR"), "/complex_double/solving.rs"));
    }
}
mod complex_single {
    //! The functions for complex numbers in single precision.

    pub mod batch {
        include!(concat!(env!("OUT_DIR"), "/complex_single/batch.rs"));
    }
    pub mod batch_rows {
        include!(concat!(env!("OUT_DIR"), "/complex_single/batch_rows.rs"));
    }
    pub mod batch_verbs {
        include!(concat!(env!("OUT_DIR"), "/complex_single/batch_verbs.rs"));
    }
    pub mod carried {
        include!(concat!(env!("OUT_DIR"), "/complex_single/carried.rs"));
    }
    pub mod extension {
        include!(concat!(env!("OUT_DIR"), "/complex_single/extension.rs"));
    }
    pub mod factor {
        include!(concat!(env!("OUT_DIR"), "/complex_single/factor.rs"));
    }
    pub mod known {
        include!(concat!(env!("OUT_DIR"), "/complex_single/known.rs"));
    }
    pub mod ldlt {
        include!(concat!(env!("OUT_DIR"), "/complex_single/ldlt.rs"));
    }
    pub mod ldlt_extension {
        include!(concat!(env!("OUT_DIR"), "/complex_single/ldlt_extension.rs"));
    }
    pub mod ldlt_known {
        include!(concat!(env!("OUT_DIR"), "/complex_single/ldlt_known.rs"));
    }
    pub mod ldlt_modifying {
        include!(concat!(env!("OUT_DIR"), "/complex_single/ldlt_modifying.rs"));
    }
    pub mod ldlt_rows {
        include!(concat!(env!("OUT_DIR"), "/complex_single/ldlt_rows.rs"));
    }
    pub mod ldlt_solving {
        include!(concat!(env!("OUT_DIR"), "/complex_single/ldlt_solving.rs"));
    }
    pub mod modifying {
        include!(concat!(env!("OUT_DIR"), "/complex_single/modifying.rs"));
    }
    pub mod pending {
        include!(concat!(env!("OUT_DIR"), "/complex_single/pending.rs"));
    }
    pub mod rows {
        include!(concat!(env!("OUT_DIR"), "/complex_single/rows.rs"));
    }
    pub mod solving {
        include!(concat!(env!("OUT_DIR"), "/complex_single/solving.rs"));
    }
}
mod double {
    //! The functions for double precision.

    pub mod array;
    pub mod batch;
    pub mod batch_on_device;
    pub mod batch_outcome;
    pub mod batch_rows;
    pub mod batch_verbs;
    pub mod carried;
    pub mod extension;
    pub mod factor;
    pub mod gradient;
    pub mod known;
    pub mod ldlt;
    pub mod ldlt_extension;
    pub mod ldlt_known;
    pub mod ldlt_modifying;
    pub mod ldlt_rows;
    pub mod ldlt_solving;
    pub mod modifying;
    pub mod on_device;
    pub mod pending;
    pub mod rows;
    pub mod solving;
}
mod held;
mod kept;
mod number;
mod on_host;
mod options;
mod report;
mod single {
    //! The functions for single precision.

    pub mod array {
        include!(concat!(env!("OUT_DIR"), "/single/array.rs"));
    }
    pub mod batch {
        include!(concat!(env!("OUT_DIR"), "/single/batch.rs"));
    }
    pub mod batch_on_device {
        include!(concat!(env!("OUT_DIR"), "/single/batch_on_device.rs"));
    }
    pub mod batch_outcome {
        include!(concat!(env!("OUT_DIR"), "/single/batch_outcome.rs"));
    }
    pub mod batch_rows {
        include!(concat!(env!("OUT_DIR"), "/single/batch_rows.rs"));
    }
    pub mod batch_verbs {
        include!(concat!(env!("OUT_DIR"), "/single/batch_verbs.rs"));
    }
    pub mod carried {
        include!(concat!(env!("OUT_DIR"), "/single/carried.rs"));
    }
    pub mod extension {
        include!(concat!(env!("OUT_DIR"), "/single/extension.rs"));
    }
    pub mod factor {
        include!(concat!(env!("OUT_DIR"), "/single/factor.rs"));
    }
    pub mod gradient {
        include!(concat!(env!("OUT_DIR"), "/single/gradient.rs"));
    }
    pub mod known {
        include!(concat!(env!("OUT_DIR"), "/single/known.rs"));
    }
    pub mod ldlt {
        include!(concat!(env!("OUT_DIR"), "/single/ldlt.rs"));
    }
    pub mod ldlt_extension {
        include!(concat!(env!("OUT_DIR"), "/single/ldlt_extension.rs"));
    }
    pub mod ldlt_known {
        include!(concat!(env!("OUT_DIR"), "/single/ldlt_known.rs"));
    }
    pub mod ldlt_modifying {
        include!(concat!(env!("OUT_DIR"), "/single/ldlt_modifying.rs"));
    }
    pub mod ldlt_rows {
        include!(concat!(env!("OUT_DIR"), "/single/ldlt_rows.rs"));
    }
    pub mod ldlt_solving {
        include!(concat!(env!("OUT_DIR"), "/single/ldlt_solving.rs"));
    }
    pub mod modifying {
        include!(concat!(env!("OUT_DIR"), "/single/modifying.rs"));
    }
    pub mod on_device {
        include!(concat!(env!("OUT_DIR"), "/single/on_device.rs"));
    }
    pub mod pending {
        include!(concat!(env!("OUT_DIR"), "/single/pending.rs"));
    }
    pub mod rows {
        include!(concat!(env!("OUT_DIR"), "/single/rows.rs"));
    }
    pub mod solving {
        include!(concat!(env!("OUT_DIR"), "/single/solving.rs"));
    }
}
mod status;
mod version;
