//! One suite, every engine: a test is a function of the engine, and this is the list of engines.

/// Makes a `#[test]` of each named `fn name<T: Real, E: Engine<T> + Clone>(engine: &E)`, for every engine and
/// scalar.
///
/// A new engine joins the whole suite with one line here.
macro_rules! on_every_engine {
    ($($test:ident),+ $(,)?) => {
        on_engine!(sequential, crate::support::engines::here(cholupdate::Cpu::sequential()); $($test),+);
        on_engine!(two_threads, crate::support::engines::here(cholupdate::Cpu::threads(2)); $($test),+);
        on_engine!(eight_threads, crate::support::engines::here(cholupdate::Cpu::threads(8)); $($test),+);
        on_engine!(dry_run, crate::support::engines::dry_run(); $($test),+);
        // Its arithmetic is that of `resident`, as `distributed` tests.
        #[cfg(feature = "cuda")]
        on_engine!(distributed, crate::support::cuda::distributed(); $($test),+);
        on_gpu_engines!($($test),+);
    };
}

/// The same for suites of accuracy, which take long: threads and safeguards change no bit of a result, as `threads` and `failure`
/// test, so the engines that differ from `sequential` in these alone are left to `--include-ignored`.
macro_rules! on_every_arithmetic {
    ($($test:ident),+ $(,)?) => {
        on_engine!(sequential, crate::support::engines::here(cholupdate::Cpu::sequential()); $($test),+);
        on_engine!(#[ignore = "the same bits as `sequential`: with --include-ignored"]
            two_threads, crate::support::engines::here(cholupdate::Cpu::threads(2)); $($test),+);
        on_engine!(#[ignore = "the same bits as `sequential`: with --include-ignored"]
            eight_threads, crate::support::engines::here(cholupdate::Cpu::threads(8)); $($test),+);
        on_engine!(#[ignore = "the same bits as `sequential`: with --include-ignored"]
            dry_run, crate::support::engines::dry_run(); $($test),+);
        // With the feature `unstable`, by which a test can be an engine.
        #[cfg(feature = "unstable")]
        on_engine!(batched, crate::support::engines::here(crate::support::batched::Batched); $($test),+);
        on_gpu_engines!($($test),+);
    };
}

macro_rules! on_gpu_engines {
    ($($test:ident),+) => {
        #[cfg(feature = "cuda")]
        on_engine!(hybrid, crate::support::cuda::hybrid(); $($test),+);
        #[cfg(feature = "cuda")]
        on_engine!(resident, crate::support::cuda::resident(); $($test),+);
        #[cfg(feature = "cuda")]
        on_engine!(hybrid_dry_run, crate::support::cuda::hybrid_dry_run(); $($test),+);
        #[cfg(feature = "opencl")]
        on_engine!(opencl_hybrid, crate::support::opencl::hybrid(); $($test),+);
    };
}

macro_rules! on_engine {
    ($(#[$attribute:meta])* $name:ident, $engine:expr; $($test:ident),+) => {
        on_engine!(@ [$(#[$attribute])*] $name, $engine; $($test),+);
    };
    (@ $attributes:tt $name:ident, $engine:expr; $($test:ident),+) => {
        mod $name {
            $(on_engine!(@test $attributes $test, $engine);)+
        }
    };
    (@test [$($attributes:tt)*] $test:ident, $engine:expr) => {
        #[test]
        $($attributes)*
        fn $test() {
            // The guard of the engine outlives it.
            let Some((_turn, engine)) = $engine else { return };
            super::$test::<f64, _>(&engine);
            super::$test::<f32, _>(&engine);
        }
    };
}

use cholupdate::{Cpu, Safeguard};

/// An engine that needs nothing else.
pub fn here<E>(engine: E) -> Option<((), E)> {
    Some(((), engine))
}

pub fn dry_run() -> Option<((), Cpu)> {
    here(Cpu::default().with_safeguard(Safeguard::DryRun))
}

/// `optimized` in a release build, `debug` without optimization, where the kernels are some fifty times slower.
pub const fn sized<X: Copy>(optimized: X, debug: X) -> X {
    if cfg!(debug_assertions) { debug } else { optimized }
}

/// This number of steps with this engine, or fewer if its device is the CPU: on the fake driver one host thread runs all threads
/// of a device.
pub fn steps<E>(steps: usize) -> usize {
    match () {
        () if is::<E>("cuda::hybrid") && cuda_is_fake() => steps / 20,
        () if is::<E>("cuda") && cuda_is_fake() => steps / 100,
        () if is::<E>("opencl") && opencl_is_the_cpu() => steps / 5,
        () => steps,
    }
}

/// Whether an engine is of the module with this name.
pub fn is<E>(module: &str) -> bool {
    std::any::type_name::<E>().contains(module)
}

fn cuda_is_fake() -> bool {
    #[cfg(feature = "cuda")]
    return super::cuda::on_the_fake_driver();
    #[cfg(not(feature = "cuda"))]
    false
}

fn opencl_is_the_cpu() -> bool {
    #[cfg(feature = "opencl")]
    return super::opencl::on_the_cpu();
    #[cfg(not(feature = "opencl"))]
    false
}
