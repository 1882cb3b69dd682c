//! The scalar types of the public interface.

use crate::batch::verbs::BatchVerbs;
use crate::cpu::{HostFactor, InPlace};
use crate::element::Element;
use crate::erased::{AnyStorage, Erased};
use crate::factor::verbs::Compiled;
use crate::factorize::Factorize;
use crate::gradient::verbs::Gradients;
use crate::ldlt::verbs::LdltVerbs;
use crate::real::Real;
use faer::{c32, c64};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for super::c32 {}
    impl Sealed for super::c64 {}
}

/// A scalar of [`Cholesky`](crate::Cholesky), [`Ldlt`](crate::Ldlt) and [`CholeskyBatch`](crate::CholeskyBatch). `T::Part` is the type of
/// its real part, and of all that is real: weights, a forgetting factor, log det A.
///
/// The set is closed: what depends on the scalar is compiled in this crate, once for each type.
pub trait Scalar: sealed::Sealed + Element + Compiled<HostFactor<Self>> + BatchVerbs + LdltVerbs {}

/// A real scalar, `f32` or `f64`: what the engines with a device, factors in memory of the caller and
/// [`factorize`](crate::factorize) require. `T::Part` is `T`.
///
/// The set is closed, as that of [`Scalar`].
pub trait RealScalar:
    Scalar + Real + Compiled<AnyStorage<Self>> + Erased + InPlace + Factorize + Gradients
{
}

impl Scalar for f32 {}
impl Scalar for f64 {}
impl Scalar for c32 {}
impl Scalar for c64 {}

impl RealScalar for f32 {}
impl RealScalar for f64 {}
