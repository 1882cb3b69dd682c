//! The devices that methods run on, of which each may be missing.

use cholupdate::cuda;
use cholupdate::factorize::Method;
use cholupdate::opencl::{ColumnKernels, Device, DeviceKind};
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

/// Where OpenCL's kernels run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Cpu,
    Gpu,
}

pub struct Devices {
    pub cuda: Option<cuda::Device>,
    opencl: Vec<(Place, Device)>,
}

impl Devices {
    /// The first of each kind. Prints why one is missing.
    pub fn new() -> Self {
        let opencl =
            |(place, kind)| Some((place, found(format_args!("OpenCL on the {place}"), Device::first(kind))?));
        Self {
            cuda: found("CUDA", cuda::Device::new(0)),
            opencl: [(Place::Cpu, DeviceKind::Cpu), (Place::Gpu, DeviceKind::Gpu)]
                .into_iter()
                .filter_map(opencl)
                .collect(),
        }
    }

    /// OpenCL with these kernels and this cutoff, if there is a device.
    pub fn opencl(&self, place: Place, variant: ColumnKernels, cutoff: usize) -> Option<Method> {
        let (_, device) = self.opencl.iter().find(|(known, _)| *known == place)?;
        Some(Method::OpenCl { device: device.clone(), variant, cutoff })
    }

    /// OpenCL with a single kernel for each column, the best of the thesis, if there is a device.
    pub fn best_opencl(&self, place: Place, cutoff: usize) -> Option<Method> {
        self.opencl(place, ColumnKernels::Single, cutoff)
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
        })
    }
}

fn found<D>(what: impl Display, device: Result<D, cholupdate::Error>) -> Option<D> {
    device.inspect_err(|error| println!("without {what}: {error}")).ok()
}

/// The OpenCL devices of these methods and their platforms, for the head of a result.
pub fn opencl_in_short<'a>(methods: impl Iterator<Item = &'a Method>) -> BTreeSet<String> {
    let name = |method: &Method| match method {
        Method::OpenCl { device, .. } => Some(format!("OpenCL: {} ({})", device.name(), device.platform())),
        _ => None,
    };
    methods.filter_map(name).collect()
}
