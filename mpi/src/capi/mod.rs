//! The C functions that `include/cholupdate_mpi.h` declares, for programs that link the shared library.
//!
//! `double/` contains the functions for double precision. The build script makes those for single precision from the same text,
//! with other names.
//!
//! Every call of all processes begins with an agreement on the arguments that this layer has checked (`agreement`). The agreement
//! of the library comes after it, and cannot replace it: a process whose size is negative has no matrix for the library to check.

#![allow(non_camel_case_types, reason = "the names that C programs see")]
#![allow(missing_docs, reason = "the documentation of each function is in the header")]
#![allow(clippy::missing_safety_doc, reason = "what callers promise is said once, where the header begins")]

mod agreement;
mod arguments;
mod beginning;
mod communicator;
mod double {
    //! The functions for double precision.

    pub mod ends;
    pub mod factor;
    pub mod known;
    pub mod modifying;
    pub mod moves;
    pub mod scalapack;
    pub mod solving;
}
mod layout;
mod options;
mod report;
mod single {
    //! The functions for single precision.

    pub mod ends {
        include!(concat!(env!("OUT_DIR"), "/single/ends.rs"));
    }
    pub mod factor {
        include!(concat!(env!("OUT_DIR"), "/single/factor.rs"));
    }
    pub mod known {
        include!(concat!(env!("OUT_DIR"), "/single/known.rs"));
    }
    pub mod modifying {
        include!(concat!(env!("OUT_DIR"), "/single/modifying.rs"));
    }
    pub mod moves {
        include!(concat!(env!("OUT_DIR"), "/single/moves.rs"));
    }
    pub mod scalapack {
        include!(concat!(env!("OUT_DIR"), "/single/scalapack.rs"));
    }
    pub mod solving {
        include!(concat!(env!("OUT_DIR"), "/single/solving.rs"));
    }
}
mod status;
mod version;
