//! The measured experiments: each experiment of the originals as a list of cells.

mod gpu;
mod opencl;

use crate::devices::{Devices, Place};
use cholupdate::factorize::{Method, Sequential, Threaded};

/// The part of the original that is repeated.
#[derive(Clone, Copy)]
pub struct Scale {
    pub repetitions: usize,
    /// The largest order.
    pub limit: usize,
}

impl Scale {
    /// As in the thesis.
    pub const FULL: Self = Self { repetitions: 15, limit: 7500 };
    pub const QUICK: Self = Self { repetitions: 3, limit: 2500 };
    /// Whether it runs.
    pub const TEST: Self = Self { repetitions: 1, limit: 64 };

    /// Those of these orders that are not too large here; at least one.
    fn orders(self, orders: &[usize]) -> Vec<usize> {
        let mut kept: Vec<_> = orders.iter().map(|&order| order.min(self.limit)).collect();
        kept.dedup();
        kept
    }
}

/// The orders of the thesis.
const ORDERS: [usize; 6] = [250, 500, 1000, 2500, 5000, 7500];
/// The cutoffs of the thesis.
const CUTOFFS: [usize; 3] = [0, 128, 512];

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Type {
    F32,
    F64,
}

/// One method at one point of a curve.
#[derive(Clone)]
pub struct Cell {
    pub series: String,
    pub x: usize,
    pub order: usize,
    pub method: Method,
}

/// The quantity of a chart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    Seconds,
    /// Speedup over [`BASE`] at the same order.
    Speedup,
    /// Speedup over the number of threads, which is x.
    Efficiency,
    /// max |L Lᵀ − A|.
    Deviation,
}

/// The best sequential method of the thesis, the base of speedups.
pub const BASE: &str = "sequential";

pub struct Experiment {
    pub name: &'static str,
    pub title: &'static str,
    /// The meaning of x.
    pub axis: &'static str,
    pub scalar: Type,
    pub charts: [Quantity; 2],
    pub cells: Vec<Cell>,
}

fn sequential(variant: Sequential) -> Method {
    Method::Sequential(variant)
}

/// The base at these orders; x is the order, or 1 thread.
fn base(orders: &[usize], x: impl Fn(usize) -> usize) -> Vec<Cell> {
    let method = || sequential(Sequential::CroutInPlace);
    orders.iter().map(|&order| cell(BASE, x(order), order, method())).collect()
}

fn cell(series: impl Into<String>, x: usize, order: usize, method: Method) -> Cell {
    Cell { series: series.into(), x, order, method }
}

/// An experiment in single precision, with a chart of times and another chart.
fn experiment(
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    second: Quantity,
    cells: Vec<Cell>,
) -> Experiment {
    Experiment { name, title, axis, scalar: Type::F32, charts: [Quantity::Seconds, second], cells }
}

/// All experiments; cells on a device that is missing are left out.
pub fn experiments(scale: Scale, devices: &Devices) -> Vec<Experiment> {
    let mut all = on_the_cpu(scale, devices);
    all.extend(opencl::experiments(scale, devices));
    all.extend(gpu::experiments(scale, devices));
    all
}

/// The fastest methods with all threads.
fn threads_and_faer(orders: &[usize]) -> Vec<Cell> {
    let threads = rayon::current_num_threads();
    let in_place = || Method::Threads { variant: Threaded::InPlace, threads, cutoff: 0 };
    let methods = |&order: &usize| {
        [
            cell(format!("InPlace, {threads} threads"), order, order, in_place()),
            cell(format!("faer, {threads} threads"), order, order, Method::Blocked),
        ]
    };
    orders.iter().flat_map(methods).collect()
}

/// The thesis's best kernels of OpenCL at these orders, with the cutoff for each.
fn best_opencl(
    place: Place,
    orders: &[usize],
    devices: &Devices,
    cutoff: impl Fn(usize) -> usize,
) -> Vec<Cell> {
    let series = format!("OpenCL on the {place}, Single");
    let at = |&order: &usize| Some(cell(&series, order, order, devices.best_opencl(place, cutoff(order))?));
    orders.iter().filter_map(at).collect()
}

fn on_the_cpu(scale: Scale, devices: &Devices) -> Vec<Experiment> {
    let orders = scale.orders(&ORDERS);
    let largest = scale.orders(&[7500])[0];

    let table = Sequential::ALL.map(|variant| {
        let order = scale.orders(&[2500])[0];
        cell(format!("{variant:?}"), order, order, sequential(variant))
    });

    let mut cutoffs = Vec::new();
    for (variant, threads) in Threaded::ALL.into_iter().flat_map(|v| [2, 16].map(|t| (v, t))) {
        for cutoff in CUTOFFS {
            let method = Method::Threads { variant, threads, cutoff };
            cutoffs.push(cell(format!("{variant:?}, {threads} threads"), cutoff, largest, method));
        }
    }

    let sizes = scale.orders(&[250, 5000, 7500]);
    let mut threaded = base(&sizes, |_| 1);
    for (variant, &order) in Threaded::ALL.into_iter().flat_map(|v| sizes.iter().map(move |n| (v, n))) {
        for threads in [2, 8, 32] {
            let method = Method::Threads { variant, threads, cutoff: 0 };
            threaded.push(cell(format!("{variant:?}, n = {order}"), threads, order, method));
        }
    }

    let mut lapack = base(&orders, |order| order);
    lapack.extend(threads_and_faer(&orders));
    lapack.extend(best_opencl(Place::Cpu, &orders, devices, |_| 0));

    vec![
        experiment(
            "table-4.1",
            "Ruschel, table 4.1: sequential methods",
            "n",
            Quantity::Deviation,
            table.into(),
        ),
        experiment("figure-5.1", "Ruschel, figure 5.1: cutoff", "cutoff", Quantity::Deviation, cutoffs),
        Experiment {
            charts: [Quantity::Speedup, Quantity::Efficiency],
            ..experiment(
                "figure-5.2",
                "Ruschel, figures 5.2 and 5.3: speedup and efficiency",
                "threads",
                Quantity::Speedup,
                threaded,
            )
        },
        experiment(
            "figure-5.6",
            "Ruschel, figures 5.6 and 5.7: faer for LAPACK",
            "n",
            Quantity::Speedup,
            lapack,
        ),
    ]
}
