//! An engine that is chosen at run time, for bindings to other languages and programs with settings.

use crate::cpu::Cpu;
#[cfg(feature = "cuda")]
use crate::cuda::{Device, Distributed, Hybrid, Resident, Tuning};
use crate::engine::{Engine, sealed::Sealed};
use crate::erased::AnyStorage;
use crate::error::Error;
#[cfg(not(all(feature = "cuda", feature = "opencl")))]
use crate::error::unavailable;
#[cfg(feature = "opencl")]
use crate::opencl;
use crate::operand::Operand;
use crate::scalar::RealScalar;
use crate::storage::{Made, Origin, Safeguard};
use core::fmt;
use core::str::FromStr;
use faer::{Mat, Par};

/// Which engine, and on which device.
///
/// As text: `cpu`, `hybrid`, `cuda`, `opencl`; `hybrid:1`, `cuda:1` and `opencl:1` select another device than the first, and `cuda:0-3`
/// distributes the factor over devices 0 to 3.
///
/// ```
/// use cholupdate::EngineKind;
///
/// # fn main() -> Result<(), cholupdate::Error> {
/// assert_eq!("cuda:1".parse::<EngineKind>()?, EngineKind::Cuda { device: 1 });
/// assert_eq!("cuda:0-3".parse::<EngineKind>()?, EngineKind::Distributed { first: 0, last: 3 });
/// assert_eq!(EngineKind::Hybrid { device: 0 }.to_string(), "hybrid");
/// assert!("gpu".parse::<EngineKind>().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineKind {
    /// [`Cpu`].
    #[default]
    Cpu,
    /// `cuda::Hybrid`, tuned for the device.
    Hybrid {
        /// Number of the device.
        device: usize,
    },
    /// `cuda::Resident`.
    Cuda {
        /// Number of the device.
        device: usize,
    },
    /// `cuda::Distributed`, on consecutive devices.
    Distributed {
        /// Number of the first device.
        first: usize,
        /// Number of the last device.
        last: usize,
    },
    /// `opencl::Hybrid`, tuned for the device.
    OpenCl {
        /// Number of the device, as for `opencl::Device::new`: GPUs first.
        device: usize,
    },
}

impl FromStr for EngineKind {
    type Err = Error;

    /// # Errors
    /// `OutOfRange`, naming `engine`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let rule = "\"cpu\", \"hybrid\", \"cuda\", \"opencl\", or \"cuda:1\" or \"opencl:1\" for another device, \"cuda:0-1\" for several";
        let unknown = Error::OutOfRange { argument: "engine", rule };
        if let Some((first, last)) = text.strip_prefix("cuda:").and_then(|devices| devices.split_once('-')) {
            let [first, last] = [first, last].map(|device| device.parse().map_err(|_| unknown.clone()));
            return match (first?, last?) {
                (first, last) if first <= last => Ok(Self::Distributed { first, last }),
                _ => Err(unknown),
            };
        }
        let (name, device) = match text.split_once(':') {
            Some((name, device)) => (name, Some(device.parse().map_err(|_| unknown.clone())?)),
            None => (text, None),
        };
        match (name, device) {
            ("cpu", None) => Ok(Self::Cpu),
            ("hybrid", device) => Ok(Self::Hybrid { device: device.unwrap_or(0) }),
            ("cuda", device) => Ok(Self::Cuda { device: device.unwrap_or(0) }),
            ("opencl", device) => Ok(Self::OpenCl { device: device.unwrap_or(0) }),
            _ => Err(unknown),
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Hybrid { device: 0 } => f.write_str("hybrid"),
            Self::Cuda { device: 0 } => f.write_str("cuda"),
            Self::OpenCl { device: 0 } => f.write_str("opencl"),
            Self::Hybrid { device } => write!(f, "hybrid:{device}"),
            Self::Cuda { device } => write!(f, "cuda:{device}"),
            Self::OpenCl { device } => write!(f, "opencl:{device}"),
            Self::Distributed { first, last } => write!(f, "cuda:{first}-{last}"),
        }
    }
}

/// Settings of an engine, from which [`AnyEngine::new`] makes one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineSpec {
    /// Which engine.
    pub kind: EngineKind,
    /// The most threads of the CPU engine, as for [`Cpu::threads`]; `None` for as many as the current rayon pool has.
    pub threads: Option<usize>,
    /// As for [`Cpu::with_safeguard`].
    pub safeguard: Safeguard,
}

impl EngineSpec {
    /// Checks that the settings can be combined.
    ///
    /// # Errors
    /// `OutOfRange`, naming `threads` or `safeguard`.
    pub fn validate(&self) -> Result<(), Error> {
        if self.threads.is_some() && self.kind != EngineKind::Cpu {
            return Err(Error::OutOfRange {
                argument: "threads",
                rule: "left out except for the engine \"cpu\"",
            });
        }
        if matches!(self.kind, EngineKind::Cuda { .. } | EngineKind::Distributed { .. })
            && self.safeguard != Safeguard::ShadowBuffer
        {
            let rule = "the shadow buffer for the engine \"cuda\"";
            return Err(Error::OutOfRange { argument: "safeguard", rule });
        }
        Ok(())
    }
}

/// An engine that is chosen at run time. Factors on all engines are of one type.
///
/// A call costs a few virtual calls more than the same call on [`Cpu`].
///
/// ```
/// use cholupdate::{AnyEngine, Cholesky, EngineSpec, Error, faer::mat};
///
/// # fn main() -> Result<(), Error> {
/// let spec = EngineSpec { kind: "cpu".parse()?, threads: Some(1), ..EngineSpec::default() };
/// let mut factor = Cholesky::new_in(&mat![[4.0, 2.0], [2.0, 5.0]], AnyEngine::new(&spec)?)?;
/// factor.update(&[1.0, 2.0])?;
/// assert_eq!(factor.engine().spec(), spec);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AnyEngine {
    spec: EngineSpec,
    chosen: Chosen,
}

#[derive(Clone, Debug)]
enum Chosen {
    Cpu(Cpu),
    #[cfg(feature = "cuda")]
    Hybrid(Hybrid),
    #[cfg(feature = "cuda")]
    Resident(Resident),
    #[cfg(feature = "cuda")]
    Distributed(Distributed),
    #[cfg(feature = "opencl")]
    OpenCl(opencl::Hybrid),
}

impl AnyEngine {
    /// Makes the engine of these settings. Devices are kept until the process ends
    /// ([`cuda::Device::kept`](crate::cuda::Device::kept)).
    ///
    /// # Errors
    /// `OutOfRange`, as [`EngineSpec::validate`]; `Device` if there is no such device, or if the feature `cuda` or `opencl` is off.
    pub fn new(spec: &EngineSpec) -> Result<Self, Error> {
        spec.validate()?;
        let chosen = match spec.kind {
            EngineKind::Cpu => Chosen::Cpu(
                spec.threads.map_or_else(Cpu::default, Cpu::threads).with_safeguard(spec.safeguard),
            ),
            #[cfg(feature = "cuda")]
            EngineKind::Hybrid { device } => {
                let device = Device::kept(device)?;
                let engine = Hybrid::new(&device, Tuning::for_device(&device))?;
                Chosen::Hybrid(engine.with_safeguard(spec.safeguard))
            }
            #[cfg(feature = "cuda")]
            EngineKind::Cuda { device } => Chosen::Resident(Resident::new(&Device::kept(device)?)),
            #[cfg(feature = "cuda")]
            EngineKind::Distributed { first, last } => {
                let devices = (first..=last).map(Device::kept).collect::<Result<Vec<_>, _>>()?;
                Chosen::Distributed(Distributed::new(&devices)?)
            }
            #[cfg(not(feature = "cuda"))]
            EngineKind::Hybrid { .. } | EngineKind::Cuda { .. } | EngineKind::Distributed { .. } => {
                return Err(unavailable("this library was built without the feature `cuda`"));
            }
            #[cfg(feature = "opencl")]
            EngineKind::OpenCl { device } => {
                let engine = opencl::Hybrid::on(&opencl::Device::new(device)?);
                Chosen::OpenCl(engine.with_safeguard(spec.safeguard))
            }
            #[cfg(not(feature = "opencl"))]
            EngineKind::OpenCl { .. } => {
                return Err(unavailable("this library was built without the feature `opencl`"));
            }
        };
        Ok(Self { spec: *spec, chosen })
    }

    /// The settings that it was made from.
    #[must_use]
    pub fn spec(&self) -> EngineSpec {
        self.spec
    }
}

impl Sealed for AnyEngine {}

impl<T: RealScalar> Engine<T> for AnyEngine {
    type Factor = AnyStorage<T>;

    fn adopt(&self, l: Mat<T>) -> Result<AnyStorage<T>, Error> {
        match &self.chosen {
            Chosen::Cpu(engine) => Ok(T::on_host(engine.adopt(l)?)),
            #[cfg(feature = "cuda")]
            Chosen::Hybrid(engine) => T::hybrid(engine, l),
            #[cfg(feature = "cuda")]
            Chosen::Resident(engine) => T::resident(engine, l),
            #[cfg(feature = "cuda")]
            Chosen::Distributed(engine) => T::distributed(engine, l),
            #[cfg(feature = "opencl")]
            Chosen::OpenCl(engine) => T::opencl_hybrid(engine, l),
        }
    }

    fn par(&self) -> Par {
        match &self.chosen {
            Chosen::Cpu(engine) => Engine::<T>::par(engine),
            #[cfg(feature = "cuda")]
            Chosen::Hybrid(engine) => Engine::<T>::par(engine),
            #[cfg(feature = "cuda")]
            Chosen::Resident(engine) => Engine::<T>::par(engine),
            #[cfg(feature = "cuda")]
            Chosen::Distributed(engine) => Engine::<T>::par(engine),
            #[cfg(feature = "opencl")]
            Chosen::OpenCl(engine) => Engine::<T>::par(engine),
        }
    }

    #[cfg_attr(not(feature = "cuda"), allow(unused_variables, reason = "the CPU engine makes none"))]
    fn make(&self, what: Origin, given: &Operand<'_, T>) -> Result<Made<AnyStorage<T>>, Error> {
        match &self.chosen {
            Chosen::Cpu(_) => Ok(None),
            #[cfg(feature = "cuda")]
            Chosen::Hybrid(engine) => T::hybrid_made(engine, what, given),
            #[cfg(feature = "cuda")]
            Chosen::Resident(engine) => T::resident_made(engine, what, given),
            #[cfg(feature = "cuda")]
            Chosen::Distributed(engine) => T::distributed_made(engine, what, given),
            #[cfg(feature = "opencl")]
            Chosen::OpenCl(_) => Ok(None),
        }
    }
}
