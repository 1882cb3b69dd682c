//! How a distributed factor begins.

use super::agree::{BLOCK_RULE, Call, agree};
use super::checks::{all_pivots, finite_lower_rows, fits};
use super::factor::Factor;
use super::factorize::factorize;
use super::moves;
use super::network::Network;
use super::rows::LocalRows;
use super::storage::LocalStorage;
use crate::check::{extent, index};
use crate::error::Error;
use crate::guarded::Guarded;
use crate::history::History;
use crate::host::squares::largest_of;
use crate::host::threads::Threads;
use crate::real::Real;
use crate::storage::{Origin, Safeguard, pivots};
use crate::sweep::cyclic::Cyclic;
use cholupdate_kernels::isa::Isa;
use faer::MatRef;

/// How a process works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Threads of the process; `None` for those of the current rayon pool.
    pub threads: Option<usize>,
    /// The safeguard of modifications, the same on all processes.
    pub safeguard: Safeguard,
    /// Rows of a block, the same on all processes: a multiple of 16. With a multiple of 256, solves have the rounding errors of the
    /// `Cpu` engine; with fewer rows the work is divided more evenly, and processes wait for each other more often.
    pub block: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { threads: None, safeguard: Safeguard::default(), block: 256 }
    }
}

impl<T: Real, N: Network> Factor<T, N> {
    /// The factor of A, or L, of which each process gives its rows. (local rows × n) Only the lower triangle is read.
    ///
    /// # Errors
    /// `OutOfRange` or `Differs`, naming `block`; `Shape` or `NonFinite`, naming `a` or `l`; `Overflow`; `NotPositiveDefinite`.
    pub fn new(
        net: N,
        settings: Settings,
        (origin, order): (Origin, usize),
        rows: MatRef<'_, T>,
    ) -> Result<Self, Error> {
        let (name, call) = match origin {
            Origin::Matrix => ("a", Call::FromMatrix),
            Origin::Factor => ("l", Call::FromFactor),
        };
        let cyclic = cyclic(&net, order, settings.block);
        let checked = cyclic.as_ref().map_err(Error::clone).and_then(|cyclic| {
            extent(name, "rows", cyclic.rows(), rows.nrows())?;
            extent(name, "columns", order, rows.ncols())?;
            finite_lower_rows(name, cyclic, rows)
        });
        agree(&net, call, &facts::<T>(order, settings), checked)?;
        let cyclic = cyclic?;
        let mut l = LocalRows::zeros(cyclic);
        for block in 0..cyclic.blocks() {
            let (columns, (first, mut column)) = (cyclic.rows_of(block), l.column_mut(block));
            let of_block = rows.submatrix(first, columns.start, column.nrows(), columns.len());
            column.copy_from(of_block);
        }
        l.clear_above();
        Self::begin(net, settings, origin, l)
    }

    /// The same for a matrix that process `root` has, of which the others need none. (n × n)
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn scatter(
        net: N,
        settings: Settings,
        (origin, order): (Origin, usize),
        (root, all): (usize, MatRef<'_, T>),
    ) -> Result<Self, Error> {
        let (name, call) = match origin {
            Origin::Matrix => ("a", Call::ScatterMatrix),
            Origin::Factor => ("l", Call::ScatterFactor),
        };
        let cyclic = cyclic(&net, order, settings.block);
        let checked = cyclic.as_ref().map_err(Error::clone).and_then(|cyclic| {
            index("root", root, cyclic.ranks)?;
            if cyclic.rank != root {
                return Ok(());
            }
            extent(name, "rows", order, all.nrows())?;
            extent(name, "columns", order, all.ncols())?;
            crate::check::finite_lower(name, all).map(|_| ())
        });
        let [a, b, c, d, e] = facts::<T>(order, settings);
        agree(&net, call, &[a, b, c, d, e, ("root", root as u64)], checked)?;
        let l = moves::scatter_l(&net, cyclic?, root, all);
        Self::begin(net, settings, origin, l)
    }

    /// Takes rows that have been checked.
    fn begin(net: N, settings: Settings, origin: Origin, mut l: LocalRows<T>) -> Result<Self, Error> {
        let threads = settings.threads.map_or(Threads::Pool, Threads::at_most);
        if origin == Origin::Matrix {
            let largest = l.diagonal().fold(0.0, |most: f64, a| most.max(a.to_f64()));
            fits(&net, largest, "a", T::LARGE_SQUARE.to_f64())?;
            factorize(&net, &mut l, threads.par())?;
        } else {
            l.make_pivots_positive(&all_pivots(&net, &l));
        }
        let square = fits(&net, largest_of(&l.squares()), "l", T::LARGE_SQUARE.to_f64())?;
        let diagonal = all_pivots(&net, &l);
        let storage = LocalStorage::new(net, (threads, settings.safeguard), l, diagonal);
        let singular = pivots(&storage).position(|pivot| pivot == T::ZERO);
        let guarded = Guarded::new(storage, square.sqrt(), History::default()).with_singular(singular);
        Ok(Self { guarded })
    }
}

/// The rows of each process.
fn cyclic(net: &impl Network, order: usize, block: usize) -> Result<Cyclic, Error> {
    assert!(net.rank() < net.ranks(), "a process is one of its network");
    if block == 0 || !block.is_multiple_of(16) {
        return Err(Error::OutOfRange { argument: "block", rule: BLOCK_RULE });
    }
    Ok(Cyclic { order, block, ranks: net.ranks(), rank: net.rank() })
}

fn facts<T: Real>(order: usize, settings: Settings) -> [(&'static str, u64); 5] {
    [
        ("the order", order as u64),
        ("block", settings.block as u64),
        ("safeguard", settings.safeguard as u64),
        ("the scalar type", size_of::<T>() as u64),
        // Block reflectors are laid out by lanes of registers.
        ("the instruction set (CHOLUPDATE_ISA limits it)", Isa::detect().number()),
    ]
}
