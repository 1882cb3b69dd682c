//! The Python package `cholupdate`: the library's factors as a class, and functions on arrays.
//!
//! | file | contents |
//! |---|---|
//! | `factor` | the class `Cholesky`: construction, copies, attributes |
//! | `shared`, `interrupts` | locks for its threads; Control-C |
//! | `modifying`, `rows`, `solving` | its methods |
//! | `extension`, `report`, `pending`, `carried` | the classes `Extension`, `Modification`, `Pending` and `Carried` |
//! | `batch/` | the class `CholeskyBatch`, and functions on stacks of matrices |
//! | `ldlt/` | the class `Ldlt` of symmetric indefinite matrices |
//! | `functions`, `triangle` | functions on arrays |
//! | `settings`, `numbers` | engines by name; real and complex numbers, in single and double precision |
//! | `operands`, `there` | arguments that are matrices, in host or device memory; results of the same kind |
//! | `remote` | what an argument in device memory must be able to, and that complex numbers have none there |
//! | `arrays`, `device`, `dlpack` | NumPy's arrays; arrays in the memory of a GPU; DLPack's structures |
//! | `argument`, `indices`, `errors` | scalar arguments; indices; exceptions |
//! | `threads`, `awake` | calls into the library without the GIL; the context `keep_awake` |
//! | `foreign/` | calls from the programs of JAX and PyTorch, on memory that these describe |
//! | `addresses`, `gpu_addresses` | calls with addresses of memory, for PyTorch |
//! | `xla/` | handlers of XLA's custom calls, for JAX |
//! | `current` | values whose end leaves the CUDA context as it is |

#![deny(unsafe_code)]
#![deny(clippy::undocumented_unsafe_blocks)]

#[allow(unsafe_code, reason = "memory that `cholupdate.torch` describes")]
mod addresses;
mod argument;
#[allow(unsafe_code, reason = "views of memory that NumPy owns")]
mod arrays;
mod awake;
mod batch;
mod carried;
#[allow(unsafe_code, reason = "drops a value by hand")]
mod current;
#[allow(unsafe_code, reason = "views of memory that other libraries own")]
mod device;
#[allow(unsafe_code, reason = "memory that others describe")]
mod dlpack;
mod errors;
mod extension;
mod factor;
mod foreign;
mod functions;
#[allow(unsafe_code, reason = "memory that `cholupdate.torch` describes")]
mod gpu_addresses;
mod indices;
mod interrupts;
mod ldlt;
mod modifying;
mod numbers;
mod operands;
mod pending;
mod remote;
mod report;
mod rows;
mod settings;
mod shared;
mod solving;
mod there;
mod threads;
mod triangle;
mod xla;

/// Rank-k updates and downdates of Cholesky factors.
#[pyo3::pymodule(gil_used = false)]
mod _cholupdate {
    #[pymodule_export]
    use crate::addresses::{modify_at, modify_jvp_at, modify_vjp_at};
    #[pymodule_export]
    use crate::awake::KeepAwake;
    #[pymodule_export]
    use crate::batch::CholeskyBatch;
    #[pymodule_export]
    use crate::batch::outcome::{BatchOutcome, BatchStatus};
    #[pymodule_export]
    use crate::carried::{Carried, restore_carried};
    #[pymodule_export]
    use crate::device::DeviceArray;
    #[pymodule_export]
    use crate::extension::{Extension, restore_extension};
    #[pymodule_export]
    use crate::factor::{Cholesky, restore};
    #[pymodule_export]
    use crate::functions::{
        cholesky_update, cholesky_update_jvp, cholesky_update_vjp, scipy_cholesky_update,
    };
    #[pymodule_export]
    use crate::gpu_addresses::{modify_on_gpu, scratch_on_gpu};
    #[pymodule_export]
    use crate::ldlt::extension::{LdltExtension, restore_ldlt_extension};
    #[pymodule_export]
    use crate::ldlt::report::{LdltModification, restore_ldlt_modification};
    #[pymodule_export]
    use crate::ldlt::{Ldlt, restore_ldlt};
    #[pymodule_export]
    use crate::pending::Pending;
    #[pymodule_export]
    use crate::report::{Modification, restore_modification};

    #[pymodule_export]
    use crate::threads::forked;
    #[pymodule_export]
    use crate::xla::{xla_handlers, xla_handlers_on_cuda};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        pyo3::types::PyModuleMethods::add(module, "__version__", env!("CARGO_PKG_VERSION"))
    }
}
