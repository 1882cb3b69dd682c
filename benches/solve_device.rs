//! Solves with a factor on the device, against PyTorch's `cholesky_solve` there and the CPU engine on all threads; and a
//! modification and a solve in one step.
//!
//! For each order: `solve` with 1 to 1024 right-hand sides on the device and in host memory; then `submit` and
//! `solve_in_place` with V of 16 columns and one right-hand side, both on the device. Without a device it prints that and ends.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench solve_device
//! ```
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders, numbers of right-hand sides and types instead of the grid's |
//! | `CHOLUPDATE_BENCH_CPU` | 0: without the CPU engine |
//! | `CHOLUPDATE_BENCH_CSV` | a file to which the lines are appended as CSV |
//! | `CHOLUPDATE_BENCH_PYTHON` | the Python that has PyTorch, instead of `python3` |

use cholupdate::cuda::{DeviceMatrix, Resident};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Engine, Error, Weights};
use cholupdate_bench::competitors::ours::factor;
use cholupdate_bench::engines::{Calls, Entrant, OnDevice, residual_of_solution};
use cholupdate_bench::limits::all_threads;
use cholupdate_bench::peers::python::{Python, Remote};
use cholupdate_bench::problem::Problem;
use cholupdate_bench::scalar::Real;

/// Columns of V in a step.
const RANK: usize = 16;

fn main() -> Result<(), Error> {
    let torch = Python::start("pytorch_peer.py");
    let Some(on) = OnDevice::new("solve_device", &[torch.as_ref()]) else { return Ok(()) };
    let (orders, columns) = on.settings.grid(&[256, 1024, 4096, 16384, 32768], &[1, 4, 16, 64, 256, 1024]);
    for order in orders {
        of_order::<f64>(&on, torch.as_ref(), order, &columns)?;
        of_order::<f32>(&on, torch.as_ref(), order, &columns)?;
    }
    Ok(())
}

fn of_order<T: Real>(
    on: &OnDevice,
    torch: Option<&Python>,
    order: usize,
    columns: &[usize],
) -> Result<(), Error> {
    if !on.settings.takes(T::NAME) {
        return Ok(());
    }
    let problem = Problem::<T>::from_factor(order);
    let resident = factor(&problem, Resident::new(&on.device));
    let cpu = on.on_the_cpu(&problem);
    for &columns in columns {
        let (resident, rhs) = (resident.borrow(), problem.v(columns));
        // L is read twice.
        let bound = on.bound::<T>(order, 2.0 * columns as f64 * (order as f64).powi(2));
        let there = on_device(&problem, &resident, &rhs)?;
        let cpu = cpu.as_ref().map(|cpu| cpu.borrow());
        let mut entrants = vec![
            Entrant::new("cholupdate resident", 0, &[bound], there),
            Entrant::new("cholupdate resident; from host", 0, &[bound], from_host(&problem, &resident, &rhs)),
        ];
        if let Some(cpu) = &cpu {
            entrants.push(Entrant::new(
                "cholupdate",
                all_threads(),
                &[f64::NAN],
                from_host(&problem, cpu, &rhs),
            ));
        }
        if let Some(torch) = torch {
            let solve = Remote::new(torch, "solve", T::NAME, (order, columns), 1);
            entrants.push(Entrant::new("cholesky_solve", 0, &[f64::NAN], solve));
        }
        on.measure::<T>((order, columns), &["solve".into()], entrants);
    }
    step(on, &problem, &mut resident.borrow_mut())
}

/// B is restored before each call.
fn from_host<'a, T: Real, E: Engine<T>>(
    problem: &'a Problem<T>,
    factor: &'a Cholesky<T, E>,
    rhs: &'a Mat<T>,
) -> Calls<'a, Mat<T>> {
    Calls {
        turns: 1,
        state: rhs.clone(),
        prepare: Box::new(move |b, _| b.copy_from(rhs)),
        run: Box::new(move |b, _| factor.solve_in_place(b).expect("a solution")),
        residual: Box::new(move |b, _| residual_of_solution(&problem.l, None, b, rhs)),
    }
}

fn on_device<'a, T: Real>(
    problem: &'a Problem<T>,
    factor: &'a Cholesky<T, Resident>,
    rhs: &'a Mat<T>,
) -> Result<Calls<'a, DeviceMatrix<T>>, Error> {
    Ok(Calls {
        turns: 1,
        state: DeviceMatrix::from_host(factor.engine().device(), rhs)?,
        prepare: Box::new(move |b, _| b.copy_from_host(rhs).expect("B on the device")),
        run: Box::new(move |b, _| factor.solve_in_place(b.view_mut()).expect("a solution")),
        residual: Box::new(move |b, _| {
            residual_of_solution(&problem.l, None, &b.to_host().expect("the solution"), rhs)
        }),
    })
}

/// A modification and a solve with one right-hand side in one step of a loop, V and B on the device.
fn step<T: Real>(
    on: &OnDevice,
    problem: &Problem<T>,
    factor: &mut Cholesky<T, Resident>,
) -> Result<(), Error> {
    let (order, v, rhs) = (problem.order(), problem.v(RANK), problem.v(1));
    let there = DeviceMatrix::from_host(&on.device, &v)?;
    let b = DeviceMatrix::from_host(&on.device, &rhs)?;
    let calls = Calls {
        turns: 2,
        state: (b, factor),
        prepare: Box::new(|(b, _), _| b.copy_from_host(&rhs).expect("B on the device")),
        run: Box::new(|(b, factor), turn| {
            let pending =
                factor.submit(&there, [Weights::Plus, Weights::Minus][turn]).expect("a modification");
            let (modified, solved) = pending.solve_in_place(b);
            modified.and(solved).expect("a step");
        }),
        residual: Box::new(|(b, _), turn| {
            let v = (turn == 0).then_some(&v);
            residual_of_solution(&problem.l, v, &b.to_host().expect("the solution"), &rhs)
        }),
    };
    let bound = on.bound::<T>(order, 0.0);
    let verbs = ["update", "downdate"].map(|verb| format!("{verb} and solve"));
    let entrant = Entrant::new("cholupdate resident", 0, &[2.0 * bound; 2], calls);
    on.measure::<T>((order, RANK), &verbs, vec![entrant]);
    Ok(())
}
