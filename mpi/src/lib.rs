//! A Cholesky factor whose rows are distributed over the processes of an MPI program, kept current while its matrix changes.
//!
//! The rows of L are divided into blocks, and block i belongs to process i mod P: in ScaLAPACK's words a P × 1 process grid with square
//! blocks. Each process keeps its rows up to their diagonal blocks, n²/2P entries, and as many for the shadow buffer of downdates. A
//! modification by k columns takes 2 k n²/P flops and a broadcast of b k numbers for every b columns of L, of which two are in flight
//! while the rows below are transformed. L has the same bits as with one process of the `Cpu` engine, for any number of processes.
//!
//! Every call is made by all processes of the communicator together, and returns the same outcome on all of them: the same error, and
//! after an error L is as it was, unless a downdate breaks down without a safeguard ([`Safeguard::None`]). Arguments that must be the
//! same and are not are an error ([`Error::Differs`]), not a deadlock. A process that dies ends the program, as MPI has it.
//!
//! The shared library of this package, libcholupdate_mpi, has the same for C: `include/cholupdate_mpi.h`.
//!
//! ```no_run
//! use cholupdate_mpi::{Distributed, Rows, Settings, Weights, cholupdate::faer::Mat};
//!
//! # fn main() -> Result<(), cholupdate_mpi::Error> {
//! let universe = mpi::initialize().expect("MPI is initialized once");
//! let world = universe.world();
//! let order = 1000;
//! let cyclic = cholupdate_mpi::rows_of(&world, order, Settings::default());
//! // Each process has its rows of A = I.
//! let a = Mat::from_fn(cyclic.rows(), order, |place, j| if cyclic.row(place) == j { 1.0 } else { 0.0 });
//! let mut factor = Distributed::new(&world, Settings::default(), order, a.as_ref())?;
//! let v = Mat::from_fn(order, 1, |i, _| 1.0 / (i + 1) as f64);
//! factor.update(Rows::All(v.as_ref()))?;
//! factor.downdate(Rows::All(v.as_ref()))?;
//! # Ok(())
//! # }
//! ```

#![deny(clippy::undocumented_unsafe_blocks)]
#![warn(missing_docs)]

mod capi;
mod distributed;
mod network;
pub mod scalapack;

pub use crate::distributed::{Distributed, rows_of};
pub use crate::network::Processes;
pub use crate::scalapack::ScalapackError;
pub use cholupdate;
pub use cholupdate::distributed::{Cyclic, Rows, Settings};
pub use cholupdate::{Error, Modification, RealScalar, Safeguard, Weights};
