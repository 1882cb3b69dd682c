//! One suite, every engine: a test is a function of the engine, and this is the list of engines.

/// Makes a `#[test]` of each named `fn name<T: Real, E: Engine<T> + Copy>(engine: E)`, for every engine and scalar.
///
/// A new engine joins the whole suite with one line here.
macro_rules! on_every_engine {
    ($($test:ident),+ $(,)?) => {
        on_engine!(sequential, cholupdate::Cpu::sequential(); $($test),+);
        on_engine!(two_threads, cholupdate::Cpu::threads(2); $($test),+);
        on_engine!(eight_threads, cholupdate::Cpu::threads(8); $($test),+);
        on_engine!(
            rehearsal,
            cholupdate::Cpu::default().with_safeguard(cholupdate::Safeguard::Rehearsal);
            $($test),+
        );
    };
}

macro_rules! on_engine {
    ($name:ident, $engine:expr; $($test:ident),+) => {
        mod $name {
            $(
                #[test]
                fn $test() {
                    super::$test::<f64, _>($engine);
                    super::$test::<f32, _>($engine);
                }
            )+
        }
    };
}

/// `optimized` in a release build, `debug` without optimization, where the kernels are some fifty times slower.
pub const fn sized<X: Copy>(optimized: X, debug: X) -> X {
    if cfg!(debug_assertions) { debug } else { optimized }
}
