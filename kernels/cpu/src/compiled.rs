//! The macro that declares functions compiled in this crate, once for each scalar type and instruction set. Generic code is compiled
//! in the program that uses it, which would take minutes.

pub use core::primitive::{f32, f64};
pub use faer::{c32, c64};

/// Declares a trait whose functions run work under an instruction set, and implements it for the real scalar types, or,
/// if it is one `of numbers`, for the complex ones as well. Generic code that has the trait calls the compiled functions. Private in effect: the modules are not exported.
#[macro_export]
macro_rules! compiled {
    ($(#[$doc:meta])* $kernel:ident of numbers { $($name:ident: $work:ty => $output:ty,)* }) => {
        $(#[$doc])*
        #[allow(private_interfaces, reason = "public in name only: the module is not exported")]
        pub trait $kernel: $crate::number::Number {
            $(#[doc(hidden)] fn $name(isa: $crate::isa::Isa, work: $work) -> $output;)*
        }

        $crate::compiled!(f32: $kernel { $($name: $work => $output,)* });
        $crate::compiled!(f64: $kernel { $($name: $work => $output,)* });
        $crate::compiled!(c32: $kernel { $($name: $work => $output,)* });
        $crate::compiled!(c64: $kernel { $($name: $work => $output,)* });
    };
    ($(#[$doc:meta])* $kernel:ident { $($name:ident: $work:ty => $output:ty,)* }) => {
        $(#[$doc])*
        #[allow(private_interfaces, reason = "public in name only: the module is not exported")]
        pub trait $kernel: $crate::number::Float {
            $(#[doc(hidden)] fn $name(isa: $crate::isa::Isa, work: $work) -> $output;)*
        }

        $crate::compiled!(f32: $kernel { $($name: $work => $output,)* });
        $crate::compiled!(f64: $kernel { $($name: $work => $output,)* });
    };
    ($scalar:ident: $kernel:ident { $($name:ident: $work:ty => $output:ty,)* }) => {
        #[allow(private_interfaces, reason = "public in name only: the module is not exported")]
        impl $kernel for $crate::compiled::$scalar {
            $(fn $name(isa: $crate::isa::Isa, work: $work) -> $output {
                isa.run(work)
            })*
        }
    };
}
