//! The numbers of a factor, under their names in Python and Rust: real or complex, in single or double precision.

use crate::device::OnDevice;
use crate::remote::{Refused, Remote};
use cholupdate::faer::{c32, c64};
use cholupdate::{AnyEngine, Cpu, Engine, EngineSpec, Error, RealScalar, Scalar, Workspace};
use core::cell::RefCell;
use numpy::Element;

/// `float32`, `float64`, `complex64` or `complex128`.
pub trait Number: Scalar<Part = <Self as Number>::RealPart> + Element {
    /// The NumPy name.
    const NAME: &'static str;
    /// Whether they are complex.
    const IS_COMPLEX: bool;
    /// What is real also of a factor of complex numbers: weights, sums of squares, log det A.
    type RealPart: Real;
    /// What a factor of them is modified by.
    type Engine: Engine<Self> + Send + Sync;
    /// An argument in the memory of a GPU.
    type Remote<'py>: Remote<'py, Self>;

    /// Makes the engine of these settings. For complex numbers it is the CPU; other engines have been refused.
    ///
    /// # Errors
    /// Those of `AnyEngine::new`.
    fn engine(settings: &EngineSpec) -> Result<Self::Engine, Error>;
}

/// `float32` or `float64`.
pub trait Real: RealScalar + Number<RealPart = Self, Engine = AnyEngine> {
    /// The number of bits, for DLPack.
    const BITS: u8;

    /// Calls `call` with the working memory of this thread, for factors in memory that the caller owns.
    fn with_workspace<R>(call: impl FnOnce(&mut Workspace<Self>) -> R) -> R;

    /// Converts to double precision, exactly.
    fn double(self) -> f64;

    /// Rounds a number of double precision.
    fn rounded(x: f64) -> Self;
}

macro_rules! real {
    ($type:ty, $name:literal) => {
        impl Number for $type {
            const NAME: &'static str = $name;
            const IS_COMPLEX: bool = false;
            type RealPart = Self;
            type Engine = AnyEngine;
            type Remote<'py> = OnDevice<'py>;

            fn engine(settings: &EngineSpec) -> Result<AnyEngine, Error> {
                AnyEngine::new(settings)
            }
        }

        impl Real for $type {
            const BITS: u8 = 8 * size_of::<$type>() as u8;

            fn with_workspace<R>(call: impl FnOnce(&mut Workspace<Self>) -> R) -> R {
                thread_local! {
                    static WORKSPACE: RefCell<Workspace<$type>> = RefCell::default();
                }
                // A pool thread that waits for other threads may start another call, which finds the memory borrowed.
                WORKSPACE.with(|workspace| match workspace.try_borrow_mut() {
                    Ok(mut workspace) => call(&mut workspace),
                    Err(_) => call(&mut Workspace::new()),
                })
            }

            fn double(self) -> f64 {
                self.into()
            }

            fn rounded(x: f64) -> Self {
                x as Self
            }
        }
    };
}

macro_rules! complex {
    ($type:ty, $name:literal, $real:ty) => {
        impl Number for $type {
            const NAME: &'static str = $name;
            const IS_COMPLEX: bool = true;
            type RealPart = $real;
            type Engine = Cpu;
            type Remote<'py> = Refused;

            fn engine(settings: &EngineSpec) -> Result<Cpu, Error> {
                let cpu = settings.threads.map_or_else(Cpu::default, Cpu::threads);
                Ok(cpu.with_safeguard(settings.safeguard))
            }
        }
    };
}

real!(f32, "float32");
real!(f64, "float64");
complex!(c32, "complex64", f32);
complex!(c64, "complex128", f64);
