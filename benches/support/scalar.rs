//! The scalars that all competitors accept, and the loops with which they reach the limits of the machine.

use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;

/// Chains that hide the latency of a multiply-add and fit sixteen registers.
const CHAINS: usize = 12;
const STEPS: usize = 4096;

/// `f32` or `f64`.
pub trait Real: cholupdate::RealScalar + nalgebra::RealField {
    const NAME: &'static str;
    fn narrow(x: f64) -> Self;
    fn wide(self) -> f64;
    /// x ← c x, under the best instruction set of the machine.
    fn scale(arch: Arch, x: &mut [Self], c: Self);
    /// Independent chains of fused multiply-adds in registers; returns their number of flops.
    fn fma(arch: Arch) -> f64;
    /// Scalars in one register.
    fn lanes(arch: Arch) -> usize;
}

/// The largest residual, max |L'L'ᵀ − A'| / max |A'|, of a correct result: max(n + k, 12) u.
#[must_use]
pub fn largest_residual(scalar: &str, order: usize, rank: usize) -> f64 {
    let roundoff = if scalar == f32::NAME { f64::from(f32::EPSILON) } else { f64::EPSILON } / 2.0;
    (order + rank).max(12) as f64 * roundoff
}

macro_rules! real {
    ($t:ident, $lanes:ident, $as_simd:ident, $splat:ident, $mul:ident, $fma:ident) => {
        impl Real for $t {
            const NAME: &'static str = stringify!($t);
            fn narrow(x: f64) -> Self {
                x as $t
            }
            fn wide(self) -> f64 {
                self as f64
            }
            fn scale(arch: Arch, x: &mut [Self], c: Self) {
                struct Scale<'a>(&'a mut [$t], $t);
                impl WithSimd for Scale<'_> {
                    type Output = ();
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, simd: S) {
                        let (body, rest) = S::$as_simd(self.0);
                        let c = simd.$splat(self.1);
                        body.iter_mut().for_each(|x| *x = simd.$mul(*x, c));
                        rest.iter_mut().for_each(|x| *x *= self.1);
                    }
                }
                arch.dispatch(Scale(x, c));
            }
            fn fma(arch: Arch) -> f64 {
                struct Chains;
                impl WithSimd for Chains {
                    type Output = f64;
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, simd: S) -> f64 {
                        let (a, b) = (simd.$splat(black_box(0.5)), simd.$splat(black_box(1.0)));
                        let mut x = [b; CHAINS];
                        for _ in 0..STEPS {
                            for x in &mut x {
                                *x = simd.$fma(*x, a, b);
                            }
                        }
                        black_box(x);
                        (2 * STEPS * CHAINS * S::$lanes) as f64
                    }
                }
                arch.dispatch(Chains)
            }
            fn lanes(arch: Arch) -> usize {
                struct Lanes;
                impl WithSimd for Lanes {
                    type Output = usize;
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, _: S) -> usize {
                        S::$lanes
                    }
                }
                arch.dispatch(Lanes)
            }
        }
    };
}
real!(f32, F32_LANES, as_mut_simd_f32s, splat_f32s, mul_f32s, mul_add_e_f32s);
real!(f64, F64_LANES, as_mut_simd_f64s, splat_f64s, mul_f64s, mul_add_e_f64s);
