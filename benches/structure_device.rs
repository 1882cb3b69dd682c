//! Insertion and removal of rows and columns on the engines with a GPU, against the CPU engine on all threads and refactorizing
//! there.
//!
//! For each order: sixteen rows in the middle are removed and inserted, 64 rows at the end are removed and appended, and a row
//! is shifted across half of the order, and back. Operands are in host memory. Without a device it prints that and ends.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench structure_device
//! ```
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_TYPES` | orders and types instead of the grid's |
//! | `CHOLUPDATE_BENCH_CPU` | 0: without the CPU engine |
//! | `CHOLUPDATE_BENCH_CSV` | a file to which the lines are appended as CSV |

use cholupdate::cuda::{Hybrid, Resident, Tuning};
use cholupdate::faer::Par;
use cholupdate::{Engine, Error};
use cholupdate_bench::case::{Case, Verb};
use cholupdate_bench::competitors::ours::{factor, from_host};
use cholupdate_bench::competitors::refactor::Refactor;
use cholupdate_bench::engines::{Entrant, OnDevice};
use cholupdate_bench::limits::all_threads;
use cholupdate_bench::problem::Problem;
use cholupdate_bench::scalar::Real;

const RANK: usize = 16;
const APPENDED: usize = 64;

fn main() -> Result<(), Error> {
    let Some(on) = OnDevice::new("structure_device", &[]) else { return Ok(()) };
    let (orders, _) = on.settings.grid(&[1024, 4096, 16384], &[RANK]);
    for order in orders {
        of_order::<f64>(&on, order)?;
        of_order::<f32>(&on, order)?;
    }
    Ok(())
}

fn of_order<T: Real>(on: &OnDevice, order: usize) -> Result<(), Error> {
    if !on.settings.takes(T::NAME) {
        return Ok(());
    }
    let problem = Problem::<T>::new(order + RANK);
    measure(on, &Case::coming(&problem, Verb::Insert, ("middle", order / 2), RANK))?;
    let problem = Problem::<T>::new(order + APPENDED);
    measure(on, &Case::coming(&problem, Verb::Append, ("end", order), APPENDED))?;
    let problem = Problem::<T>::new(order + 1);
    measure(on, &Case::shifting(&problem, ("middle", order / 4), order / 4 + order / 2))
}

fn measure<T: Real>(on: &OnDevice, case: &Case<'_, T>) -> Result<(), Error> {
    let bounds = [0, 1].map(|turn| {
        let cost = case.cost(turn);
        (cost.moved * size_of::<T>() as f64 / on.memory).max(cost.flops / on.flops)
    });
    let hybrid = Hybrid::new(&on.device, Tuning::for_device(&on.device))?;
    let mut entrants = vec![
        entrant("cholupdate resident", 0, &bounds, Resident::new(&on.device), case),
        entrant("cholupdate hybrid", all_threads(), &[f64::NAN; 2], hybrid, case),
    ];
    if on.settings.with_cpu {
        let cpu = cholupdate::Cpu::default();
        entrants.push(entrant("cholupdate", all_threads(), &[f64::NAN; 2], cpu, case));
        let refactor = Refactor::new(case, Par::rayon(0));
        entrants.push(Entrant::new("refactor", all_threads(), &[f64::NAN; 2], refactor));
    }
    on.measure::<T>((case.order(), case.rank), &[0, 1].map(|turn| case.label(turn)), entrants);
    Ok(())
}

fn entrant<'a, T: Real, E: Engine<T> + 'a>(
    method: &str,
    threads: usize,
    bounds: &[f64],
    engine: E,
    case: &'a Case<'a, T>,
) -> Entrant<'a> {
    Entrant::new(method, threads, bounds, from_host(&factor(case.problem, engine), case))
}
