//! Arithmetic of a scalar and of a register of scalars: what the kernels are written with.

mod registers;

use crate::host::isa::Portable;
use pulp::Simd;
#[cfg(target_arch = "aarch64")]
use registers::Lanes;
use registers::{PARTS, Registers, each, masked, repeated};

/// Arithmetic of a scalar and of a register of scalars. Private in effect: the module is not exported.
pub trait Float:
    Sized
    + Send
    + Sync
    + Copy
    + Default
    + core::fmt::Debug
    + core::fmt::Display
    + core::ops::Add<Output = Self>
    + core::ops::Sub<Output = Self>
    + core::ops::Mul<Output = Self>
    + core::ops::Div<Output = Self>
    + core::ops::Neg<Output = Self>
    + core::ops::AddAssign
    + core::ops::MulAssign
    + PartialOrd
    + 'static
{
    /// One register under the instruction set `S`.
    type Vector<S: Simd>: Copy;
    /// Which lanes of a register take part in a load or store.
    type Mask<S: Simd>: Copy;

    /// The type's name in the names of kernels: `"f32"` or `"f64"`.
    const TYPE_NAME: &'static str;
    const ZERO: Self;
    const ONE: Self;
    const TWO: Self;
    const INFINITY: Self;
    /// A sum of squares below this may have lost digits to underflow, and is computed again, scaled.
    const SMALL_SQUARE: Self;
    /// The reciprocal of a number below this may overflow, but not that of its product with `MAGNIFIER`.
    const TINY: Self;
    /// If a pivot of L is below this, entries beside it may have lost digits to underflow.
    const LEAST_PIVOT: Self;
    /// The largest finite number.
    const LARGEST: Self;
    /// A power of two.
    const MAGNIFIER: Self;
    /// u, the unit roundoff.
    const UNIT: Self;
    /// Sums of squares up to this do not overflow, also when rounded.
    const LARGE_SQUARE: Self;

    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    fn max(self, other: Self) -> Self;
    fn is_finite(self) -> bool;

    /// a b + c, fused where `S` fuses.
    fn fused<S: Simd>(a: Self, b: Self, c: Self) -> Self;

    /// Scalars in one register.
    fn lanes<S: Simd>() -> usize;
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    fn vadd<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn vsub<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn vmul<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn vdiv<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn vsqrt<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// a b + c, fused where the hardware fuses.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// c − a b, fused where the hardware fuses.
    fn neg_mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// a b + c, rounded once on every machine.
    fn exact_mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The same for scalars.
    fn exact_fused(a: Self, b: Self, c: Self) -> Self;
    /// The lanes `from..to`.
    fn mask<S: Simd>(simd: S, from: usize, to: usize) -> Self::Mask<S>;
    /// `a` where the mask is set, `b` elsewhere.
    fn select<S: Simd>(
        simd: S,
        mask: Self::Mask<S>,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// `x` where a < b, `y` elsewhere, for a pair of a and b.
    fn where_less<S: Simd>(
        simd: S,
        ab: (Self::Vector<S>, Self::Vector<S>),
        x: Self::Vector<S>,
        y: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// # Safety
    /// The lanes of `mask` at `ptr` must be readable. The other lanes are not touched and read as zero.
    unsafe fn load_masked<S: Simd>(simd: S, mask: Self::Mask<S>, ptr: *const Self) -> Self::Vector<S>;
    /// # Safety
    /// The lanes of `mask` at `ptr` must be writable. The other lanes are not touched.
    unsafe fn store_masked<S: Simd>(simd: S, mask: Self::Mask<S>, ptr: *mut Self, x: Self::Vector<S>);

    /// # Safety
    /// A whole register at `ptr` must be readable.
    #[inline(always)]
    unsafe fn load<S: Simd>(ptr: *const Self) -> Self::Vector<S> {
        // SAFETY: the caller guarantees that the memory is readable; a vector is plain data of `lanes` scalars.
        unsafe { ptr.cast::<Self::Vector<S>>().read_unaligned() }
    }
    /// # Safety
    /// A whole register at `ptr` must be writable.
    #[inline(always)]
    unsafe fn store<S: Simd>(ptr: *mut Self, x: Self::Vector<S>) {
        // SAFETY: the caller guarantees that the memory is writable; a vector is plain data of `lanes` scalars.
        unsafe { ptr.cast::<Self::Vector<S>>().write_unaligned(x) }
    }
}

/// Whether `S` is the portable fallback, whose fused operations are emulated in software.
#[inline(always)]
fn is_portable<S: Simd>() -> bool {
    core::any::TypeId::of::<S>() == core::any::TypeId::of::<Portable>()
}

macro_rules! float {
    ($t:ident, $bits:ident, $s:ident, $lanes:ident, $m:ident, $small:expr, $large:expr, $magnifier:expr,
     $splat:ident $add:ident $sub:ident $mul:ident $div:ident $sqrt:ident $fma:ident $nfma:ident $exact:ident
     $between:ident $less:ident $select:ident $load:ident $store:ident) => {
        impl Float for $t {
            type Vector<S: Simd> = Registers<S::$s>;

            const TYPE_NAME: &'static str = stringify!($t);
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
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
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $t::max(self, other)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            #[inline(always)]
            fn fused<S: Simd>(a: Self, b: Self, c: Self) -> Self {
                if is_portable::<S>() { a * b + c } else { $t::mul_add(a, b, c) }
            }
            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                PARTS * S::$lanes
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
            fn vdiv<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                each!(simd.$div(a, b))
            }
            #[inline(always)]
            fn vsqrt<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S> {
                each!(simd.$sqrt(a))
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
            fn exact_mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                each!(simd.$exact(a, b, c))
            }
            #[inline(always)]
            fn exact_fused(a: Self, b: Self, c: Self) -> Self {
                $t::mul_add(a, b, c)
            }
            masked!($bits, $s, $lanes, $m, $between $less $select $load $store);
        }
    };
}

float!(f64, u64, f64s, F64_LANES, m64s, 1e-276, 0.9 * f64::MAX, 1.2676506002282294e30,
    splat_f64s add_f64s sub_f64s mul_f64s div_f64s sqrt_f64s mul_add_e_f64s negate_mul_add_e_f64s mul_add_f64s
    mask_between_m64s less_than_f64s select_f64s mask_load_ptr_f64s mask_store_ptr_f64s);
float!(f32, u32, f32s, F32_LANES, m32s, 1e-24, 0.9 * f32::MAX, 1_073_741_824.0,
    splat_f32s add_f32s sub_f32s mul_f32s div_f32s sqrt_f32s mul_add_e_f32s negate_mul_add_e_f32s mul_add_f32s
    mask_between_m32s less_than_f32s select_f32s mask_load_ptr_f32s mask_store_ptr_f32s);
