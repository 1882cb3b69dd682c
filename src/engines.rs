//! The engines: what adopts an L for each, and what makes a factor of A.

use crate::cpu::{Cpu, HostFactor};
#[cfg(feature = "cuda")]
use crate::cuda::{Distributed, Hybrid, Resident};
use crate::engine::{Engine, sealed::Sealed};
#[cfg(any(feature = "cuda", feature = "opencl"))]
use crate::erased::AnyStorage;
use crate::error::Error;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use crate::host::threads::Threads;
#[cfg(feature = "opencl")]
use crate::opencl;
#[cfg(feature = "cuda")]
use crate::operand::Operand;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use crate::scalar::RealScalar;
use crate::scalar::Scalar;
#[cfg(feature = "cuda")]
use crate::storage::{Made, Origin};
use faer::{Mat, Par};

impl Sealed for Cpu {}

impl<T: Scalar> Engine<T> for Cpu {
    type Factor = HostFactor<T>;

    fn adopt(&self, l: Mat<T>) -> Result<HostFactor<T>, Error> {
        Ok(HostFactor::new(self.threads, self.safeguard, l))
    }

    fn par(&self) -> Par {
        self.threads.par()
    }
}

#[cfg(feature = "cuda")]
impl Sealed for Hybrid {}

#[cfg(feature = "cuda")]
impl<T: RealScalar> Engine<T> for Hybrid {
    type Factor = AnyStorage<T>;

    fn adopt(&self, l: Mat<T>) -> Result<AnyStorage<T>, Error> {
        T::hybrid(self, l)
    }

    fn par(&self) -> Par {
        Threads::Pool.par()
    }

    fn make(&self, what: Origin, given: &Operand<'_, T>) -> Result<Made<AnyStorage<T>>, Error> {
        T::hybrid_made(self, what, given)
    }
}

#[cfg(feature = "opencl")]
impl Sealed for opencl::Hybrid {}

#[cfg(feature = "opencl")]
impl<T: RealScalar> Engine<T> for opencl::Hybrid {
    type Factor = AnyStorage<T>;

    fn adopt(&self, l: Mat<T>) -> Result<AnyStorage<T>, Error> {
        T::opencl_hybrid(self, l)
    }

    fn par(&self) -> Par {
        Threads::Pool.par()
    }
}

#[cfg(feature = "cuda")]
impl Sealed for Resident {}

#[cfg(feature = "cuda")]
impl<T: RealScalar> Engine<T> for Resident {
    type Factor = AnyStorage<T>;

    fn adopt(&self, l: Mat<T>) -> Result<AnyStorage<T>, Error> {
        T::resident(self, l)
    }

    fn par(&self) -> Par {
        Threads::Pool.par()
    }

    fn make(&self, what: Origin, given: &Operand<'_, T>) -> Result<Made<AnyStorage<T>>, Error> {
        T::resident_made(self, what, given)
    }
}

#[cfg(feature = "cuda")]
impl Sealed for Distributed {}

#[cfg(feature = "cuda")]
impl<T: RealScalar> Engine<T> for Distributed {
    type Factor = AnyStorage<T>;

    fn adopt(&self, l: Mat<T>) -> Result<AnyStorage<T>, Error> {
        T::distributed(self, l)
    }

    fn par(&self) -> Par {
        Threads::Pool.par()
    }

    fn make(&self, what: Origin, given: &Operand<'_, T>) -> Result<Made<AnyStorage<T>>, Error> {
        T::distributed_made(self, what, given)
    }
}
