//! Real numbers. A register of them is one of the instruction set, or on 64-bit Arm a pair.

#[cfg(target_arch = "aarch64")]
use super::registers::Lanes;
use super::registers::{PARTS, Registers, compared, each, grouped, masked, repeated, total};
use super::{Float, Number, is_portable, parts, plus};
use crate::isa::stream;
use pulp::Simd;

macro_rules! float {
    ($t:ident, $bits:ident, $s:ident, $lanes:ident, $m:ident, $small:expr, $large:expr, $magnifier:expr,
     $splat:ident $add:ident $sub:ident $mul:ident $div:ident $sqrt:ident $fma:ident $nfma:ident $exact:ident
     $between:ident $less:ident $select:ident $load:ident $store:ident
     $sum:ident $registers:ident $registers_mut:ident) => {
        impl Number for $t {
            type Part = Self;
            type Vector<S: Simd> = Registers<S::$s>;

            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const PARTS: usize = 1;

            #[inline(always)]
            fn of_real(x: Self) -> Self {
                x
            }
            #[inline(always)]
            fn of_parts([x, _]: [Self; 2]) -> Self {
                x
            }
            #[inline(always)]
            fn real(self) -> Self {
                self
            }
            #[inline(always)]
            fn conj(self) -> Self {
                self
            }
            #[inline(always)]
            fn times(self, by: Self) -> Self {
                self * by
            }
            #[inline(always)]
            fn over(self, by: Self) -> Self {
                self / by
            }
            #[inline(always)]
            fn parts(of: &[Self]) -> &[Self] {
                of
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S> {
                repeated!(simd.$splat(x))
            }
            #[inline(always)]
            fn vadd<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                each!(simd.$add(a, b))
            }
            #[inline(always)]
            fn vsub<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                each!(simd.$sub(a, b))
            }
            #[inline(always)]
            fn vmul<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                each!(simd.$mul(a, b))
            }
            #[inline(always)]
            fn turn(self) -> Self {
                if self < 0.0 { -1.0 } else { 1.0 }
            }
            #[inline(always)]
            fn turn_size(_: Self) -> Self {
                1.0
            }
            #[inline(always)]
            fn fused<S: Simd>(a: Self, b: Self, c: Self) -> Self {
                if is_portable::<S>() { a * b + c } else { $t::mul_add(a, b, c) }
            }
            #[inline(always)]
            fn real_of_product<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                Self::vmul(simd, a, b)
            }
            #[inline(always)]
            fn fused_times<S: Simd>(x: Self, a: Self, c: Self) -> Self {
                <Self as Number>::fused::<S>(x, a, c)
            }
            #[inline(always)]
            fn plus_square<S: Simd>(x: Self, minus: bool, sum: Self) -> Self {
                <Self as Number>::fused::<S>(if minus { -x } else { x }, x, sum)
            }
            #[inline(always)]
            fn reals<S: Simd>(x: Self::Vector<S>) -> Self::Vector<S> {
                x
            }
            #[inline(always)]
            fn vparts<S: Simd>(x: Self::Vector<S>) -> [Self::Vector<S>; 2] {
                [x, x]
            }
            #[inline(always)]
            fn vreal<S: Simd>(_: S, x: Self::Vector<S>) -> Self::Vector<S> {
                x
            }
            #[inline(always)]
            fn plus_squares<S: Simd>(simd: S, x: Self::Vector<S>, sum: Self::Vector<S>) -> Self::Vector<S> {
                <Self as Number>::mul_add(simd, x, x, sum)
            }
            #[inline(always)]
            fn vconj<S: Simd>(_: S, a: Self::Vector<S>) -> Self::Vector<S> {
                a
            }
            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                if is_portable::<S>() {
                    let product = each!(simd.$mul(a, b));
                    each!(simd.$add(product, c))
                } else {
                    each!(simd.$fma(a, b, c))
                }
            }
            #[inline(always)]
            fn neg_mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                if is_portable::<S>() {
                    let product = each!(simd.$mul(a, b));
                    each!(simd.$sub(c, product))
                } else {
                    each!(simd.$nfma(a, b, c))
                }
            }
            #[inline(always)]
            fn vtimes<S: Simd>(simd: S, x: Self::Vector<S>, a: Self::Vector<S>) -> Self::Vector<S> {
                Self::vmul(simd, x, a)
            }
            #[inline(always)]
            fn vover<S: Simd>(simd: S, a: Self::Vector<S>, x: Self::Vector<S>) -> Self::Vector<S> {
                Self::vdiv(simd, a, x)
            }
            #[inline(always)]
            fn times_add<S: Simd>(
                simd: S,
                x: Self::Vector<S>,
                a: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                <Self as Number>::mul_add(simd, x, a, c)
            }
            #[inline(always)]
            fn neg_times_add<S: Simd>(
                simd: S,
                x: Self::Vector<S>,
                a: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                Self::neg_mul_add(simd, x, a, c)
            }
            #[inline(always)]
            fn plus_exact_product<S: Simd>(
                simd: S,
                (whole, rest): (Self::Vector<S>, Self::Vector<S>),
                a: Self::Vector<S>,
                b: Self::Vector<S>,
            ) -> (Self::Vector<S>, Self::Vector<S>) {
                let product = Self::vmul(simd, a, b);
                let minus = Self::vsub(simd, Self::splat(simd, 0.0), product);
                let (whole, rest) = plus::<Self, S>(simd, (whole, rest), product);
                (whole, Self::vadd(simd, rest, Self::exact_mul_add(simd, a, b, minus)))
            }
            #[inline(always)]
            fn lane<S: Simd>(x: Self::Vector<S>, i: usize) -> Self {
                debug_assert!(i < Self::lanes::<S>());
                let x = [x];
                // SAFETY: a register is `lanes` scalars, and i is one of them.
                unsafe { *x.as_ptr().cast::<Self>().add(i) }
            }
            compared!($s, $less $select);
            masked!($bits, $s, $lanes, $m, $between $select $load $store);
            #[inline(always)]
            unsafe fn load<S: Simd>(ptr: *const Self) -> Self::Vector<S> {
                // SAFETY: the caller guarantees that the memory is readable; a vector is plain data of `lanes` scalars.
                unsafe { ptr.cast::<Self::Vector<S>>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store<S: Simd>(ptr: *mut Self, x: Self::Vector<S>) {
                // SAFETY: the caller guarantees that the memory is writable; a vector is plain data of `lanes` scalars.
                unsafe { ptr.cast::<Self::Vector<S>>().write_unaligned(x) }
            }
            #[inline(always)]
            unsafe fn stream<S: Simd>(ptr: *mut Self, x: Self::Vector<S>) {
                // SAFETY: the same contract.
                unsafe { stream(ptr, x) }
            }
            #[inline(always)]
            unsafe fn load_parts<S: Simd>(ptr: *const Self, _: usize) -> Self::Vector<S> {
                // SAFETY: the same contract.
                unsafe { Self::load::<S>(ptr) }
            }
            #[inline(always)]
            unsafe fn store_parts<S: Simd>(ptr: *mut Self, _: usize, x: Self::Vector<S>) {
                // SAFETY: the same contract.
                unsafe { Self::store::<S>(ptr, x) }
            }
            #[inline(always)]
            unsafe fn load_parts_masked<S: Simd>(
                simd: S,
                mask: Self::Mask<S>,
                ptr: *const Self,
                _: usize,
            ) -> Self::Vector<S> {
                // SAFETY: the same contract.
                unsafe { Self::load_masked(simd, mask, ptr) }
            }
            #[inline(always)]
            unsafe fn store_parts_masked<S: Simd>(
                simd: S,
                mask: Self::Mask<S>,
                ptr: *mut Self,
                _: usize,
                x: Self::Vector<S>,
            ) {
                // SAFETY: the same contract.
                unsafe { Self::store_masked(simd, mask, ptr, x) }
            }
            #[inline(always)]
            unsafe fn read_parts(ptr: *const Self, _: usize) -> Self {
                // SAFETY: the caller guarantees that it is readable.
                unsafe { *ptr }
            }
        }

        impl Float for $t {
            const TYPE_NAME: &'static str = stringify!($t);
            const TWO: Self = 2.0;
            const INFINITY: Self = $t::INFINITY;
            const SMALL_SQUARE: Self = $small;
            const TINY: Self = 4.0 * $t::MIN_POSITIVE;
            const LEAST_PIVOT: Self = Self::TINY / Self::UNIT;
            const LARGEST: Self = $t::MAX;
            const UNIT: Self = $t::EPSILON / 2.0;
            const MAGNIFIER: Self = $magnifier;
            const LARGE_SQUARE: Self = $large;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $t::max(self, other)
            }
            #[inline(always)]
            fn register_len<S: Simd>() -> usize {
                PARTS * S::$lanes
            }
            #[inline(always)]
            fn vdiv<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                each!(simd.$div(a, b))
            }
            #[inline(always)]
            fn vsqrt<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S> {
                each!(simd.$sqrt(a))
            }
            #[inline(always)]
            fn exact_mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                each!(simd.$exact(a, b, c))
            }
            #[inline(always)]
            fn registers<S: Simd>(x: &[Self]) -> &[Self::Vector<S>] {
                grouped!(S::$registers(x).0, as_chunks)
            }
            #[inline(always)]
            fn registers_mut<S: Simd>(x: &mut [Self]) -> &mut [Self::Vector<S>] {
                grouped!(S::$registers_mut(x).0, as_chunks_mut)
            }
            #[inline(always)]
            fn total<S: Simd>(simd: S, x: Self::Vector<S>) -> Self {
                total!(simd.$sum(x), $add)
            }
            #[inline(always)]
            fn exact_fused(a: Self, b: Self, c: Self) -> Self {
                $t::mul_add(a, b, c)
            }
            #[inline(always)]
            fn apart<S: Simd>(memory: [Self::Vector<S>; 2]) -> [Self::Vector<S>; 2] {
                parts::apart::<Self, S>(memory)
            }
            #[inline(always)]
            fn together<S: Simd>(parts: [Self::Vector<S>; 2]) -> [Self::Vector<S>; 2] {
                parts::together::<Self, S>(parts)
            }
        }
    };
}

float!(f64, u64, f64s, F64_LANES, m64s, 1e-276, 0.9 * f64::MAX, 1.2676506002282294e30,
    splat_f64s add_f64s sub_f64s mul_f64s div_f64s sqrt_f64s mul_add_e_f64s negate_mul_add_e_f64s mul_add_f64s
    mask_between_m64s less_than_f64s select_f64s mask_load_ptr_f64s mask_store_ptr_f64s
    reduce_sum_f64s as_simd_f64s as_mut_simd_f64s);
float!(f32, u32, f32s, F32_LANES, m32s, 1e-24, 0.9 * f32::MAX, 1_073_741_824.0,
    splat_f32s add_f32s sub_f32s mul_f32s div_f32s sqrt_f32s mul_add_e_f32s negate_mul_add_e_f32s mul_add_f32s
    mask_between_m32s less_than_f32s select_f32s mask_load_ptr_f32s mask_store_ptr_f32s
    reduce_sum_f32s as_simd_f32s as_mut_simd_f32s);
