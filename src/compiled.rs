//! The macro that declares functions compiled in this crate, once for each scalar type. Generic code is compiled in the program that
//! uses it, which would take minutes.

pub(crate) use core::primitive::{f32, f64};
pub(crate) use faer::{c32, c64};

/// Declares a trait of functions of a scalar, and implements it for the real scalar types, or, if it is one `of numbers`, for the complex
/// ones as well: generic code that has the trait calls functions that are compiled in this crate. `Self` is the scalar. Private in effect:
/// the modules are not exported.
macro_rules! functions {
    ($(#[$doc:meta])* $of:ident of numbers {
        $($(#[$attribute:meta])* $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty = $function:expr;)*
    }) => {
        $(#[$doc])*
        #[allow(private_interfaces, reason = "public in name only: the module is not exported")]
        pub trait $of: crate::element::Element {
            $($(#[$attribute])* #[doc(hidden)] fn $name($($arg: $type),*) -> $result;)*
        }

        crate::compiled::functions!(f32: $of { $($(#[$attribute])* $name($($arg: $type),*) -> $result = $function;)* });
        crate::compiled::functions!(f64: $of { $($(#[$attribute])* $name($($arg: $type),*) -> $result = $function;)* });
        crate::compiled::functions!(c32: $of { $($(#[$attribute])* $name($($arg: $type),*) -> $result = $function;)* });
        crate::compiled::functions!(c64: $of { $($(#[$attribute])* $name($($arg: $type),*) -> $result = $function;)* });
    };
    ($(#[$doc:meta])* $of:ident {
        $($(#[$attribute:meta])* $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty = $function:expr;)*
    }) => {
        $(#[$doc])*
        #[allow(private_interfaces, reason = "public in name only: the module is not exported")]
        pub trait $of: crate::real::Real {
            $($(#[$attribute])* #[doc(hidden)] fn $name($($arg: $type),*) -> $result;)*
        }

        crate::compiled::functions!(f32: $of { $($(#[$attribute])* $name($($arg: $type),*) -> $result = $function;)* });
        crate::compiled::functions!(f64: $of { $($(#[$attribute])* $name($($arg: $type),*) -> $result = $function;)* });
    };
    ($scalar:ident: $of:ident {
        $($(#[$attribute:meta])* $name:ident($($arg:ident: $type:ty),*) -> $result:ty = $function:expr;)*
    }) => {
        #[allow(private_interfaces, reason = "public in name only: the module is not exported")]
        impl $of for crate::compiled::$scalar {
            $($(#[$attribute])* fn $name($($arg: $type),*) -> $result {
                $function($($arg),*)
            })*
        }
    };
}

pub(crate) use functions;
