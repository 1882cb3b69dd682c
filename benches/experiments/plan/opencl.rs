//! The experiments with OpenCL, on a CPU and on a GPU.

use super::{CUTOFFS, Cell, Experiment, ORDERS, Quantity, Scale, cell, experiment};
use crate::devices::{Devices, Place};
use cholupdate::opencl::ColumnKernels;

/// Figures 5.4 and 5.5 on the CPU, 5.8 and 5.9 on the GPU.
pub fn experiments(scale: Scale, devices: &Devices) -> Vec<Experiment> {
    let cutoff = |name, title, place| {
        experiment(name, title, "cutoff", Quantity::Deviation, cutoffs(scale, place, devices))
    };
    let kernels = |name, title, place, cutoff| {
        experiment(name, title, "n", Quantity::Deviation, variants(scale, place, cutoff, devices))
    };
    vec![
        cutoff("figure-5.4", "Ruschel, figure 5.4: cutoff, OpenCL on the CPU", Place::Cpu),
        kernels("figure-5.5", "Ruschel, figure 5.5: kernels, OpenCL on the CPU", Place::Cpu, 0),
        cutoff("figure-5.8", "Ruschel, figure 5.8: cutoff, OpenCL on the GPU", Place::Gpu),
        kernels("figure-5.9", "Ruschel, figure 5.9: kernels, OpenCL on the GPU", Place::Gpu, 512),
    ]
}

fn cutoffs(scale: Scale, place: Place, devices: &Devices) -> Vec<Cell> {
    let mut cells = Vec::new();
    for variant in ColumnKernels::ALL {
        for order in scale.orders(&[250, 2500, 7500]) {
            for cutoff in CUTOFFS {
                let method = devices.opencl(place, variant, cutoff);
                let series = format!("{variant:?}, n = {order}");
                cells.extend(method.map(|method| cell(series, cutoff, order, method)));
            }
        }
    }
    cells
}

fn variants(scale: Scale, place: Place, cutoff: usize, devices: &Devices) -> Vec<Cell> {
    let mut cells = Vec::new();
    for variant in ColumnKernels::ALL {
        for order in scale.orders(&ORDERS) {
            let method = devices.opencl(place, variant, cutoff);
            cells.extend(method.map(|method| cell(format!("{variant:?}"), order, order, method)));
        }
    }
    cells
}
