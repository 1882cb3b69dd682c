//! The measured experiments: each experiment of the originals as a list of cells.

use cholupdate::cuda::{ColumnKernels, Device};
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

/// All experiments; those on a GPU have no cells without one.
pub fn experiments(scale: Scale, device: Option<&Device>) -> Vec<Experiment> {
    let mut all = on_the_cpu(scale);
    all.extend(on_the_gpu(scale, device));
    all
}

fn on_the_cpu(scale: Scale) -> Vec<Experiment> {
    let all_threads = rayon::current_num_threads();
    let in_place = |threads| Method::Threads { variant: Threaded::InPlace, threads, cutoff: 0 };
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
    for &order in &orders {
        lapack.push(cell(format!("InPlace, {all_threads} threads"), order, order, in_place(all_threads)));
        lapack.push(cell(format!("faer, {all_threads} threads"), order, order, Method::Blocked));
    }

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

fn on_the_gpu(scale: Scale, device: Option<&Device>) -> Vec<Experiment> {
    const THESIS: [ColumnKernels; 3] = [ColumnKernels::Single, ColumnKernels::Two, ColumnKernels::TwoInPlace];
    let orders = scale.orders(&ORDERS);
    let all_threads = rayon::current_num_threads();
    let on = |kernels, threads_per_block, cutoff| {
        device.map(|device| Method::Cuda { device: device.clone(), kernels, threads_per_block, cutoff })
    };
    let push = |cells: &mut Vec<Cell>, series: String, x, order, method: Option<Method>| {
        cells.extend(method.map(|method| cell(series, x, order, method)));
    };

    let (mut cutoffs, mut blocks, mut variants) = (Vec::new(), Vec::new(), Vec::new());
    for kernels in THESIS {
        for (threads, cutoff) in [8, 128].into_iter().flat_map(|t| CUTOFFS.map(|c| (t, c))) {
            let order = scale.orders(&[2500])[0];
            let series = format!("{kernels:?}, {threads} threads a block");
            push(&mut cutoffs, series, cutoff, order, on(kernels, threads, cutoff));
        }
        for &order in &scale.orders(&[250, 2500, 7500]) {
            for threads in [1, 2, 4, 8, 128, 512, 1024] {
                let series = format!("{kernels:?}, n = {order}");
                push(&mut blocks, series, threads, order, on(kernels, threads, 0));
            }
        }
        for (&order, threads) in orders.iter().flat_map(|n| [8, 128].map(|t| (n, t))) {
            let series = format!("{kernels:?}, {threads} threads a block");
            push(&mut variants, series, order, order, on(kernels, threads, 0));
        }
    }

    let (mut cusolver, mut overall) = (Vec::new(), Vec::new());
    if let Some(device) = device {
        cusolver = base(&orders, |order| order);
        for &order in &orders {
            push(
                &mut cusolver,
                "Single, 128 threads a block".into(),
                order,
                order,
                on(ColumnKernels::Single, 128, 0),
            );
            let fastest = Method::fastest_on(device);
            if matches!(fastest, Method::CuSolver { .. }) {
                push(&mut cusolver, "cuSOLVER".into(), order, order, Some(fastest));
            }
            let method = Method::Threads { variant: Threaded::InPlace, threads: all_threads, cutoff: 0 };
            overall.push(cell(format!("InPlace, {all_threads} threads"), order, order, method));
            overall.push(cell(format!("faer, {all_threads} threads"), order, order, Method::Blocked));
        }
        overall.extend(cusolver.iter().cloned());
    }

    let mut sycl = Vec::new();
    for order in scale.orders(&[32, 64, 128, 256, 512, 1024]) {
        push(&mut sycl, "PivotRows".into(), order, order, on(ColumnKernels::PivotRows, 128, 0));
    }

    let mut polybench = Vec::new();
    for order in scale.orders(&[40, 120, 400, 2000, 4000]) {
        push(&mut polybench, "Tiled".into(), order, order, on(ColumnKernels::Tiled, 256, 0));
        if device.is_some() {
            polybench.extend(base(&[order], |order| order));
        }
    }

    vec![
        experiment("figure-5.10", "Ruschel, figure 5.10: cutoff", "cutoff", Quantity::Deviation, cutoffs),
        experiment(
            "figure-5.11",
            "Ruschel, figure 5.11: threads a block",
            "threads a block",
            Quantity::Deviation,
            blocks,
        ),
        experiment("figure-5.12", "Ruschel, figure 5.12: kernels", "n", Quantity::Deviation, variants),
        experiment("figure-5.13", "Ruschel, figure 5.13: cuSOLVER", "n", Quantity::Speedup, cusolver),
        experiment("figure-5.14", "Ruschel, figure 5.14: overall", "n", Quantity::Speedup, overall),
        experiment("sycl", "Pivot and pivot row, after the SYCL version", "n", Quantity::Deviation, sycl),
        Experiment {
            scalar: Type::F64,
            ..experiment("polybench", "PolyBench: tiled kernels", "n", Quantity::Speedup, polybench)
        },
    ]
}
