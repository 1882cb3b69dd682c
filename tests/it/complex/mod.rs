//! Complex scalars: A = L Lᴴ, V complex, weights real, on the `Cpu` engine.
//!
//! With R = L'L'ᴴ − (L Lᴴ + V diag(w) Vᴴ) and M = L Lᴴ + V |diag(w)| Vᴴ the contract is that of real scalars, for all i, j:
//!
//! ```text
//! |R_ij| ≤ max(n + k, 12) · u · √(M_ii · M_jj)
//! ```

/// Makes a `#[test]` of each named `fn name<T: Complex, E: Engine<T> + Clone>(engine: &E)`, in both precisions.
macro_rules! in_both_precisions {
    ($($test:ident),+ $(,)?) => {
        in_precision!(double, cholupdate::faer::c64, cholupdate::Cpu::sequential(); $($test),+);
        in_precision!(single, cholupdate::faer::c32, cholupdate::Cpu::sequential(); $($test),+);
    };
}

/// The same with threads, and with the safeguard that needs no memory.
macro_rules! on_every_cpu {
    ($($test:ident),+ $(,)?) => {
        in_both_precisions!($($test),+);
        in_precision!(double_on_two_threads, cholupdate::faer::c64, cholupdate::Cpu::threads(2); $($test),+);
        in_precision!(single_on_eight_threads, cholupdate::faer::c32, cholupdate::Cpu::threads(8); $($test),+);
        in_precision!(dry_run, cholupdate::faer::c64,
            cholupdate::Cpu::default().with_safeguard(cholupdate::Safeguard::DryRun); $($test),+);
    };
}

macro_rules! in_precision {
    ($name:ident, $scalar:ty, $engine:expr; $($test:ident),+) => {
        mod $name {
            $(
                #[test]
                fn $test() {
                    super::$test::<$scalar, _>(&$engine);
                }
            )+
        }
    };
}

mod accuracy;
mod batch;
mod batch_calls;
mod batch_rows;
mod carried;
mod drift;
mod edge;
mod exact;
mod hard;
mod input;
mod ldlt;
mod linpack;
mod model;
mod oracle;
mod phases;
mod pivots;
mod problem;
mod refused;
mod rows;
mod scalar;
mod solves;
mod states;
mod walk;
