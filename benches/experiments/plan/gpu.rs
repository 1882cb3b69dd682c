//! The experiments on a GPU, by CUDA and, where they are compared, by OpenCL.

use super::{BASE, CUTOFFS, Cell, Experiment, ORDERS, Quantity, Scale, Type};
use super::{base, best_opencl, cell, experiment, threads_and_faer};
use crate::devices::{Devices, Place};
use cholupdate::cuda::ColumnKernels;
use cholupdate::factorize::Method;

/// Figures 5.10 to 5.14, and the experiments of other systems.
pub fn experiments(scale: Scale, devices: &Devices) -> Vec<Experiment> {
    const THESIS: [ColumnKernels; 3] = [ColumnKernels::Single, ColumnKernels::Two, ColumnKernels::TwoInPlace];
    let orders = scale.orders(&ORDERS);
    let device = devices.cuda.as_ref();
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

    let mut cuda = Vec::new();
    for &order in &orders {
        let series = "Single, 128 threads a block".into();
        push(&mut cuda, series, order, order, on(ColumnKernels::Single, 128, 0));
        let fastest = device.map(Method::fastest_on);
        let cusolver = fastest.filter(|method| matches!(method, Method::CuSolver { .. }));
        push(&mut cuda, "cuSOLVER".into(), order, order, cusolver);
    }
    let [cusolver, overall] = comparisons(&orders, cuda, devices);

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

/// The cells of figures 5.13 and 5.14, from those on a GPU by CUDA; none without any GPU.
fn comparisons(orders: &[usize], cuda: Vec<Cell>, devices: &Devices) -> [Vec<Cell>; 2] {
    // The best cutoffs of the thesis.
    let cutoffs: [fn(usize) -> usize; 2] = [|order| if order <= 500 { 128 } else { 512 }, |_| 512];
    let [cusolver, mut overall] = cutoffs.map(|cutoff| {
        let mut cells = base(orders, |order| order);
        cells.extend(cuda.iter().cloned());
        cells.extend(best_opencl(Place::Gpu, orders, devices, cutoff));
        cells
    });
    if cusolver.iter().all(|cell| cell.series == BASE) {
        return [Vec::new(), Vec::new()];
    }
    overall.extend(best_opencl(Place::Cpu, orders, devices, |_| 0));
    overall.extend(threads_and_faer(orders));
    [cusolver, overall]
}
