//! Updates and downdates on the engines with a GPU, against the CPU engine on all threads and refactorizing on the device.
//!
//! For each order and rank, in turns: the resident engine with V on the device and with V in host memory, and the CPU engine;
//! from n = 4096 on the hybrid engine, on CUDA and on the first OpenCL device that is a GPU. By PyTorch, if it is found:
//! forming A + V Vᵀ and its factor (cuSOLVER) with everything on the device, and from n = 4096 on with L and V in host memory,
//! copies included; by JAX its `cholesky_update`, of rank 1. Then, where the ranks contain 16, updates that outweigh the
//! matrix. Without a device it prints that and ends.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench modify_device
//! ```
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders, ranks and types instead of the grid's: `4096,8192`, `1,16`, `f64` |
//! | `CHOLUPDATE_BENCH_TUNING` | `blocks,threads,elements,panel_cols,slots` instead of `Tuning::for_device`; several by `;` |
//! | `CHOLUPDATE_BENCH_CPU` | 0: without the CPU engine |
//! | `CHOLUPDATE_BENCH_CSV` | a file to which the lines are appended as CSV |
//! | `CHOLUPDATE_BENCH_PYTHON` | the Python that has PyTorch and JAX, instead of `python3` |

use cholupdate::cuda::{DeviceMatrix, Hybrid, Resident, Tuning};
use cholupdate::faer::Scale;
use cholupdate::{Cholesky, Error, opencl};
use cholupdate_bench::case::{Case, Verb};
use cholupdate_bench::competitors::ours::{Ours, factor, from_host};
use cholupdate_bench::engines::{Calls, Entrant, OnDevice};
use cholupdate_bench::limits::all_threads;
use cholupdate_bench::peers::python::{Python, Remote};
use cholupdate_bench::problem::{Problem, Sampled};
use cholupdate_bench::scalar::Real;
use cholupdate_bench::settings::{Mode, var};
use std::cell::RefCell;
use std::rc::Rc;

/// Columns of an update that outweighs the matrix.
const HEAVY_RANK: usize = 16;
/// A scalar overflows after more.
const HEAVY_SAMPLES: usize = 4;
/// The order from which the hybrid engine is measured.
const HYBRID_FROM: usize = 4096;
/// The order up to which updates that outweigh the matrix are measured, except in full: they copy L to the host.
const HEAVY_UP_TO: usize = 8192;

struct Bench {
    on: OnDevice,
    tunings: Vec<(String, Tuning)>,
    torch: Option<Python>,
    jax: Option<Python>,
    opencl: Option<opencl::Device>,
}

fn main() -> Result<(), Error> {
    let peers = ["pytorch_peer.py", "jax_peer.py"].map(Python::start);
    let Some(on) = OnDevice::new("modify_device", &peers.each_ref().map(Option::as_ref)) else {
        return Ok(());
    };
    let tunings = match var("CHOLUPDATE_BENCH_TUNING") {
        Some(text) => text.split(';').map(tuning).collect(),
        None => vec![("cholupdate hybrid".into(), Tuning::for_device(&on.device))],
    };
    let (orders, ranks) =
        on.settings.grid(&[512, 1024, 2048, 4096, 8192, 16384, 32768], &[1, 4, 16, 64, 256]);
    let [torch, jax] = peers;
    let opencl = opencl::Device::first(opencl::DeviceKind::Gpu)
        .inspect_err(|error| println!("without OpenCL: {error}"))
        .ok();
    let bench = Bench { on, tunings, torch, jax, opencl };
    for order in orders {
        bench.cells::<f64>(order, &ranks)?;
        bench.cells::<f32>(order, &ranks)?;
    }
    Ok(())
}

impl Bench {
    fn cells<T: Real>(&self, order: usize, ranks: &[usize]) -> Result<(), Error> {
        let (on, threads) = (&self.on, all_threads());
        if !on.settings.takes(T::NAME) {
            return Ok(());
        }
        let problem = Problem::<T>::from_factor(order);
        let cpu = on.on_the_cpu(&problem);
        let resident = factor(&problem, Resident::new(&on.device));
        let large = order >= HYBRID_FROM || on.settings.mode == Mode::Test;
        let hybrid = if large { &self.tunings[..] } else { &[] };
        let hybrid = hybrid.iter().map(|(name, tuning)| {
            let bound = bytes_each_way::<T>(order, tuning.panel_cols) / on.link;
            Ok((name, bound, factor(&problem, Hybrid::new(&on.device, *tuning)?)))
        });
        let hybrid: Vec<_> = hybrid.collect::<Result<_, Error>>()?;
        let on_opencl = match (large, &self.opencl) {
            (true, Some(device)) => {
                let engine = opencl::Hybrid::on(device);
                let bound = bytes_each_way::<T>(order, engine.tuning().panel_cols) / on.link;
                Some((bound, factor(&problem, engine)))
            }
            _ => None,
        };
        for &rank in ranks {
            let case = Case::modifying(&problem, rank);
            let there = DeviceMatrix::from_host(&on.device, &case.columns)?;
            let bound = on.bound::<T>(order, case.cost(0).flops);
            let on_device = move |factor: &mut Cholesky<T, Resident>, turn: usize| {
                let modified = match Verb::MODIFY[turn] {
                    Verb::Downdate => factor.downdate(there.view()),
                    _ => factor.update(there.view()),
                };
                modified.expect("the problem is well posed");
            };
            let mut entrants = vec![
                Entrant::new("cholupdate resident", 0, &[bound; 2], Ours::new(&resident, &case, on_device)),
                Entrant::new("cholupdate resident; from host", 0, &[bound; 2], from_host(&resident, &case)),
            ];
            for (name, bound, factor) in &hybrid {
                entrants.push(Entrant::new(*name, threads, &[*bound; 2], from_host(factor, &case)));
            }
            if let Some((bound, factor)) = &on_opencl {
                let calls = from_host(factor, &case);
                entrants.push(Entrant::new("cholupdate hybrid; OpenCL", threads, &[*bound; 2], calls));
            }
            if let Some(cpu) = &cpu {
                entrants.push(Entrant::new("cholupdate", threads, &[f64::NAN; 2], from_host(cpu, &case)));
            }
            let remote = |python, method, name: &str| {
                let method = Remote::new(python, method, T::NAME, (order, rank), 2);
                Entrant::new(name, 0, &[f64::NAN; 2], method)
            };
            if let Some(torch) = &self.torch {
                entrants.push(remote(torch, "device", "refactor on the device"));
                entrants.extend(large.then(|| remote(torch, "link", "refactor over the link")));
            }
            if let Some(jax) = self.jax.as_ref().filter(|_| rank == 1) {
                entrants.push(remote(jax, "update", "JAX"));
            }
            on.measure::<T>((order, rank), &[0, 1].map(|turn| case.label(turn)), entrants);
        }
        if ranks.contains(&HEAVY_RANK) && (order <= HEAVY_UP_TO || on.settings.mode == Mode::Full) {
            heavy(on, &problem, resident);
        }
        Ok(())
    }
}

/// Updates that outweigh the matrix a thousand times, so that every panel takes the Householder fallback. Each is heavier than
/// the previous one.
fn heavy<T: Real>(on: &OnDevice, problem: &Problem<T>, factor: Rc<RefCell<Cholesky<T, Resident>>>) {
    let order = problem.order();
    let (v, before) = (problem.v(HEAVY_RANK), Sampled::of_factor(problem.l.as_ref()));
    let calls = Calls {
        turns: 1,
        state: (factor, v, before),
        prepare: Box::new(|(factor, v, before), _| {
            *v = &*v * Scale(T::narrow(1e3));
            *before = Sampled::of_factor(factor.borrow().to_factor().expect("L").as_ref());
        }),
        run: Box::new(|(factor, v, _), _| {
            factor.borrow_mut().update(&*v).expect("an update");
        }),
        residual: Box::new(|(factor, v, before), _| {
            before.plus(v.as_ref()).residual(factor.borrow().to_factor().expect("L").as_ref())
        }),
    };
    let bound = on.bound::<T>(order, 0.0);
    let entrant = Entrant::new("cholupdate resident; from host", 0, &[bound], calls);
    on.measure_at_most::<T>(HEAVY_SAMPLES, (order, HEAVY_RANK), &["heavy update".into()], vec![entrant]);
}

/// Bytes of L that cross the link, each way: all below the diagonal blocks and the next diagonal rows.
fn bytes_each_way<T>(order: usize, panel_cols: usize) -> f64 {
    let panels = (0..order).step_by(panel_cols);
    let entries: usize = panels
        .map(|first| order.saturating_sub(first + 2 * panel_cols) * panel_cols.min(order - first))
        .sum();
    (entries * size_of::<T>()) as f64
}

/// A tuning and the name of its method.
fn tuning(text: &str) -> (String, Tuning) {
    let numbers: Vec<usize> =
        text.split(',').map(|number| number.trim().parse().expect("five numbers")).collect();
    let [blocks_per_kernel, threads_per_block, elements_per_thread, panel_cols, slots] = numbers[..] else {
        panic!("CHOLUPDATE_BENCH_TUNING takes five numbers");
    };
    let name = format!("cholupdate hybrid {}", text.replace(',', " "));
    (name, Tuning { blocks_per_kernel, threads_per_block, elements_per_thread, panel_cols, slots })
}
