//! The scalar types of the public interface.

use crate::batch::verbs::BatchVerbs;
use crate::cpu::{HostFactor, InPlace};
use crate::erased::{AnyStorage, Erased};
use crate::factor::verbs::Compiled;
use crate::factorize::Factorize;
use crate::ldlt::verbs::LdltVerbs;
use crate::real::Real;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A real scalar: `f32` or `f64`.
///
/// The set is closed: what depends on the scalar is compiled in this crate, once for each type.
pub trait Scalar:
    sealed::Sealed
    + Real
    + Compiled<HostFactor<Self>>
    + Compiled<AnyStorage<Self>>
    + Erased
    + InPlace
    + Factorize
    + BatchVerbs
    + LdltVerbs
{
}

impl Scalar for f32 {}
impl Scalar for f64 {}
