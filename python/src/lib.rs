//! The Python package `cholupdate`: the library's factors as a class, and functions on arrays.
//!
//! | file | holds |
//! |---|---|
//! | `factor` | the class `Cholesky`: how it is made, and who may use it when |
//! | `modifying`, `rows`, `solving` | its methods |
//! | `extension`, `report` | the classes `Extension` and `Modification` |
//! | `functions`, `triangle` | functions on arrays |
//! | `held`, `settings`, `numbers` | a factor on any engine, engines by name, the two kinds of numbers |
//! | `operands` | arguments that are matrices, wherever they are |
//! | `arrays`, `device`, `dlpack` | those of NumPy; those in the memory of a GPU; DLPack's structures |
//! | `indices`, `errors` | numbers of rows; exceptions |
//! | `threads` | calls into the library without the GIL |

#![deny(unsafe_code)]
#![deny(clippy::undocumented_unsafe_blocks)]

#[allow(unsafe_code, reason = "views of memory that NumPy owns")]
mod arrays;
#[allow(unsafe_code, reason = "views of memory that other libraries own")]
mod device;
#[allow(unsafe_code, reason = "memory that others describe")]
mod dlpack;
mod errors;
mod extension;
mod factor;
mod functions;
mod held;
mod indices;
mod modifying;
mod numbers;
mod operands;
mod report;
mod rows;
mod settings;
mod solving;
mod there;
mod threads;
mod triangle;

/// Rank-k up- and downdates of Cholesky factors.
#[pyo3::pymodule(gil_used = false)]
mod _cholupdate {
    #[pymodule_export]
    use crate::device::DeviceArray;
    #[pymodule_export]
    use crate::extension::Extension;
    #[pymodule_export]
    use crate::factor::{Cholesky, restore};
    #[pymodule_export]
    use crate::functions::{cholesky_update, scipy_cholesky_update};
    #[pymodule_export]
    use crate::report::Modification;

    #[pymodule_export]
    use crate::threads::forked;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        pyo3::types::PyModuleMethods::add(module, "__version__", env!("CARGO_PKG_VERSION"))
    }
}
