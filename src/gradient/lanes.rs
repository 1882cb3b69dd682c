//! What the kernels ask of a scalar: arithmetic, and registers of it under an instruction set.

use core::ops::{Add, Div, Mul, Neg, Sub};
use pulp::Simd;

/// A real number of which a register has several.
pub trait Lanes:
    Copy
    + Send
    + Sync
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + core::fmt::Debug
    + 'static
{
    /// A register.
    type Vector<S: Simd>: Copy;
    /// 0.
    const NULL: Self;
    /// 1.
    const UNIT: Self;

    /// |x|.
    fn magnitude(self) -> Self;
    /// √x.
    fn root(self) -> Self;
    /// Numbers in a register.
    fn lanes<S: Simd>() -> usize;
    /// The registers that a slice consists of; its length is a multiple of theirs.
    fn vectors<S: Simd>(x: &[Self]) -> &[Self::Vector<S>];
    /// The same, to be written.
    fn vectors_mut<S: Simd>(x: &mut [Self]) -> &mut [Self::Vector<S>];
    /// x in every lane.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// a + b.
    fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a − b.
    fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a b.
    fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a b + c.
    fn fused<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>, c: Self::Vector<S>)
    -> Self::Vector<S>;
    /// The sum of all lanes.
    fn total<S: Simd>(simd: S, x: Self::Vector<S>) -> Self;
}

macro_rules! lanes {
    ($t:ident: $v:ident $lanes:ident $as:ident $as_mut:ident $splat:ident $add:ident $sub:ident $mul:ident $fma:ident $sum:ident) => {
        impl Lanes for $t {
            type Vector<S: Simd> = S::$v;
            const NULL: Self = 0.0;
            const UNIT: Self = 1.0;

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }
            #[inline(always)]
            fn vectors<S: Simd>(x: &[Self]) -> &[S::$v] {
                S::$as(x).0
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(x: &mut [Self]) -> &mut [S::$v] {
                S::$as_mut(x).0
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> S::$v {
                simd.$splat(x)
            }
            #[inline(always)]
            fn plus<S: Simd>(simd: S, a: S::$v, b: S::$v) -> S::$v {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn minus<S: Simd>(simd: S, a: S::$v, b: S::$v) -> S::$v {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn times<S: Simd>(simd: S, a: S::$v, b: S::$v) -> S::$v {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn fused<S: Simd>(simd: S, a: S::$v, b: S::$v, c: S::$v) -> S::$v {
                simd.$fma(a, b, c)
            }
            #[inline(always)]
            fn total<S: Simd>(simd: S, x: S::$v) -> Self {
                simd.$sum(x)
            }
        }
    };
}

lanes!(f32: f32s F32_LANES as_simd_f32s as_mut_simd_f32s splat_f32s add_f32s sub_f32s mul_f32s mul_add_e_f32s reduce_sum_f32s);
lanes!(f64: f64s F64_LANES as_simd_f64s as_mut_simd_f64s splat_f64s add_f64s sub_f64s mul_f64s mul_add_e_f64s reduce_sum_f64s);
