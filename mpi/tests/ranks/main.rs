//! The tests, on 1, 2, 3 and 4 processes of this machine: `cargo test -p cholupdate-mpi`.
//!
//! Run as a test, the program starts itself by `mpirun` (or `CHOLUPDATE_MPIRUN`). Every process runs all tests, each with a deadline.

mod common;
mod errors;
mod modifications;
mod moves;
mod scalapack;
mod scalapack_errors;

use cholupdate_mpi::scalapack::Grid;
use mpi::topology::Communicator;
use mpi::topology::SimpleCommunicator;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Of each test.
const DEADLINE: Duration = Duration::from_secs(60);

type Test = (&'static str, fn(&SimpleCommunicator));

const TESTS: &[Test] = &[
    ("modifications have the bits of the Cpu engine", modifications::same_bits::<f64>),
    ("also in single precision", modifications::same_bits::<f32>),
    ("many modifications in turn", modifications::many),
    ("threads of a process make no difference", modifications::threads),
    ("a breakdown leaves every process as it was", modifications::breakdown),
    ("solves", moves::solves),
    ("a factor of A, from rows and from one process", moves::beginnings),
    ("rows come and go at the end", moves::rows_at_the_end),
    ("errors of one process are those of all", errors::of_one_process),
    ("arguments and calls that differ", errors::that_differ),
    ("matrices of ScaLAPACK on other grids", scalapack::other_grids::<f64>),
    ("also in single precision", scalapack::other_grids::<f32>),
    ("panels of their columns", scalapack::panels),
    ("descriptors that are wrong", scalapack_errors::wrong_descriptors),
    ("descriptors that differ", scalapack_errors::that_differ),
    ("calls with ScaLAPACK and without it", scalapack_errors::calls_that_differ),
    ("process grids that are wrong", scalapack_errors::wrong_grids),
    ("parts of other grids", scalapack_errors::parts_of_other_grids),
    ("communicators between two groups", errors::between_two_groups),
];

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if std::env::var_os("CHOLUPDATE_IS_A_RANK").is_some() {
        return run(&arguments);
    }
    let program = std::env::current_exe().expect("the program knows its name");
    for ranks in 1..=4 {
        println!("{ranks} processes");
        let runner = std::env::var("CHOLUPDATE_MPIRUN").unwrap_or_else(|_| "mpirun".into());
        let mut command = Command::new(runner);
        // Open MPI refuses more processes than cores, and root. Others ignore these variables.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1").env("OMPI_MCA_mpi_yield_when_idle", "1");
        command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
        command.env("CHOLUPDATE_IS_A_RANK", "1");
        let status = command.args(["-n", &ranks.to_string()]).arg(&program).args(&arguments).status();
        let status = status.expect("mpirun is in the path");
        assert!(status.success(), "on {ranks} processes: {status}");
    }
}

/// Runs the tests whose names contain one of `filters` as a process of several.
fn run(filters: &[String]) {
    let (universe, _) =
        mpi::initialize_with_threading(mpi::Threading::Funneled).expect("MPI is initialized once");
    let world = universe.world();
    let (test_begins, begun) = channel::<&str>();
    std::thread::spawn(move || {
        let mut current = "the start";
        loop {
            match begun.recv_timeout(DEADLINE) {
                Ok(name) => current = name,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("{current}: not done after {DEADLINE:?}");
                    std::process::abort();
                }
            }
        }
    });
    // A process that panics must not leave the others waiting.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        hook(panic);
        std::process::abort();
    }));
    for &(name, test) in TESTS {
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter.as_str())) {
            continue;
        }
        test_begins.send(name).expect("the watch is there");
        let start = Instant::now();
        test(&world);
        if world.rank() == 0 {
            println!("    {name}: ok, {:.2} s", start.elapsed().as_secs_f64());
        }
    }
    // A grid that is dropped too late has nothing to give back, and ends no program.
    let late = Grid::new(&world, (1, 1));
    drop(universe);
    drop(late);
}
