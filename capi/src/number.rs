//! The numbers that a C program's factors are of.

use crate::held::Anywhere;
use crate::on_host::OnHost;
use crate::options::cpu_alone;
use crate::status::Refused;
use cholupdate::faer::{c32, c64};
use cholupdate::{AnyEngine, Cpu, Engine, EngineSpec, Scalar};

/// A number, and the engines that modify factors of such numbers: all for a real one, the CPU for a complex one.
pub trait Number: Scalar {
    type Engine: Engine<Self> + Clone;
    /// A batch of factors of such numbers.
    type Batch;

    /// The engine with these settings.
    fn engine(settings: &EngineSpec) -> Result<Self::Engine, Refused>;
}

impl Number for f32 {
    type Engine = AnyEngine;
    type Batch = Anywhere<Self>;

    fn engine(settings: &EngineSpec) -> Result<AnyEngine, Refused> {
        Ok(AnyEngine::new(settings)?)
    }
}

impl Number for f64 {
    type Engine = AnyEngine;
    type Batch = Anywhere<Self>;

    fn engine(settings: &EngineSpec) -> Result<AnyEngine, Refused> {
        Ok(AnyEngine::new(settings)?)
    }
}

impl Number for c32 {
    type Engine = Cpu;
    type Batch = OnHost<Self>;

    fn engine(settings: &EngineSpec) -> Result<Cpu, Refused> {
        cpu_alone(settings, "complex numbers")
    }
}

impl Number for c64 {
    type Engine = Cpu;
    type Batch = OnHost<Self>;

    fn engine(settings: &EngineSpec) -> Result<Cpu, Refused> {
        cpu_alone(settings, "complex numbers")
    }
}
