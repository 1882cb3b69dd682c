//! Arithmetic of a number, real or complex, and of a register of numbers: what the kernels are written with.
//!
//! | file | holds |
//! |---|---|
//! | `real` | real numbers |
//! | `complex` | complex numbers: a register of real parts and one of imaginary parts |
//! | `registers` | registers of real numbers |
//! | `parts` | from registers of complex numbers as they are in memory to registers of their parts, and back |
//!
//! A register of complex numbers has as many lanes as one of real numbers, and the shapes of the micro-kernels, their masks and their
//! loops over lanes are the same for both. L is stored as its users store it, real and imaginary part side by side; the working copy
//! of V, which the kernels read most often, has the real parts of a column in one place and the imaginary parts behind them.

mod complex;
mod parts;
mod real;
mod registers;

use crate::isa::Portable;
use pulp::Simd;

/// A register of the real numbers of a T.
pub type RealVector<T, S> = <<T as Number>::Part as Number>::Vector<S>;

/// Arithmetic of a number and of a register of numbers. Private in effect: the module is not exported.
pub trait Number:
    Sized
    + Send
    + Sync
    + Copy
    + Default
    + core::fmt::Debug
    + core::ops::Add<Output = Self>
    + core::ops::Sub<Output = Self>
    + core::ops::Mul<Output = Self>
    + core::ops::Neg<Output = Self>
    + core::ops::AddAssign
    + core::ops::MulAssign
    + PartialEq
    + 'static
{
    /// The type of its real and of its imaginary part.
    type Part: Float;
    /// One register under the instruction set `S`.
    type Vector<S: Simd>: Copy;
    /// Which lanes of a register take part in a load or store.
    type Mask<S: Simd>: Copy;

    const ZERO: Self;
    const ONE: Self;
    /// Real numbers in one of these.
    const PARTS: usize;

    fn of_real(x: Self::Part) -> Self;
    /// The number with this real and this imaginary part; a real number has no imaginary part.
    fn of_parts(parts: [Self::Part; 2]) -> Self;
    /// Its real part.
    fn real(self) -> Self::Part;
    fn conj(self) -> Self;
    /// Its product with a real number.
    fn times(self, by: Self::Part) -> Self;
    /// Its quotient by a real number.
    fn over(self, by: Self::Part) -> Self;
    /// Its magnitude.
    fn abs(self) -> Self::Part;
    /// The c whose product with it, divided by [`turn_size`](Self::turn_size) of c, is its magnitude: ±1 for a real number, and for
    /// a complex one its conjugate, as c / |c| would have rounding errors.
    fn turn(self) -> Self;
    fn turn_size(turn: Self) -> Self::Part;
    /// a b + c, fused where `S` fuses.
    fn fused<S: Simd>(a: Self, b: Self, c: Self) -> Self;
    /// x a + c for a real number x, fused where `S` fuses.
    fn fused_times<S: Simd>(x: Self::Part, a: Self, c: Self) -> Self;
    /// sum ± |x|², with a minus if so asked, fused where `S` fuses.
    fn plus_square<S: Simd>(x: Self, minus: bool, sum: Self::Part) -> Self::Part;
    fn is_finite(self) -> bool;
    /// The real numbers of which these consist, each real part before the imaginary part.
    fn parts(of: &[Self]) -> &[Self::Part];
    /// |x|², in double precision.
    #[inline(always)]
    fn square_to_f64(self) -> f64 {
        Self::parts(&[self]).iter().fold(0.0, |sum, part| sum + part.to_f64() * part.to_f64())
    }

    /// Numbers in one register.
    #[inline(always)]
    fn lanes<S: Simd>() -> usize {
        <Self::Part as Float>::register_len::<S>()
    }
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    fn vadd<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn vsub<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn vmul<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn vconj<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// The real parts.
    fn reals<S: Simd>(x: Self::Vector<S>) -> RealVector<Self, S>;
    /// The real parts and the imaginary parts; of real numbers, which have none, the real parts twice.
    fn vparts<S: Simd>(x: Self::Vector<S>) -> [RealVector<Self, S>; 2];
    /// These real numbers.
    fn vreal<S: Simd>(simd: S, x: RealVector<Self, S>) -> Self::Vector<S>;
    /// |x|² + sum, fused where the hardware fuses.
    fn plus_squares<S: Simd>(simd: S, x: Self::Vector<S>, sum: RealVector<Self, S>) -> RealVector<Self, S>;
    /// The real part of a b.
    fn real_of_product<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> RealVector<Self, S>;
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
    /// x a for real numbers x.
    fn vtimes<S: Simd>(simd: S, x: RealVector<Self, S>, a: Self::Vector<S>) -> Self::Vector<S>;
    /// a / x for real numbers x.
    fn vover<S: Simd>(simd: S, a: Self::Vector<S>, x: RealVector<Self, S>) -> Self::Vector<S>;
    /// x a + c for real numbers x, fused where the hardware fuses.
    fn times_add<S: Simd>(
        simd: S,
        x: RealVector<Self, S>,
        a: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// c − x a for real numbers x, fused where the hardware fuses.
    fn neg_times_add<S: Simd>(
        simd: S,
        x: RealVector<Self, S>,
        a: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// `whole` + `rest` + a b, where `rest` takes the rounding errors of `whole`.
    fn plus_exact_product<S: Simd>(
        simd: S,
        sum: (Self::Vector<S>, Self::Vector<S>),
        a: Self::Vector<S>,
        b: Self::Vector<S>,
    ) -> (Self::Vector<S>, Self::Vector<S>);
    /// The lanes `from..to`.
    fn mask<S: Simd>(simd: S, from: usize, to: usize) -> Self::Mask<S>;
    /// `a` where the mask is set, `b` elsewhere.
    fn select<S: Simd>(
        simd: S,
        mask: Self::Mask<S>,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// `x` where a < b, `y` elsewhere, for a pair of registers a and b of real numbers.
    fn where_less<S: Simd>(
        simd: S,
        ab: (RealVector<Self, S>, RealVector<Self, S>),
        x: Self::Vector<S>,
        y: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// One lane.
    fn lane<S: Simd>(x: Self::Vector<S>, i: usize) -> Self;
    /// # Safety
    /// The lanes of `mask` at `ptr` must be readable. The other lanes are not touched and read as zero.
    unsafe fn load_masked<S: Simd>(simd: S, mask: Self::Mask<S>, ptr: *const Self) -> Self::Vector<S>;
    /// # Safety
    /// The lanes of `mask` at `ptr` must be writable. The other lanes are not touched.
    unsafe fn store_masked<S: Simd>(simd: S, mask: Self::Mask<S>, ptr: *mut Self, x: Self::Vector<S>);
    /// # Safety
    /// A whole register at `ptr` must be readable.
    unsafe fn load<S: Simd>(ptr: *const Self) -> Self::Vector<S>;
    /// # Safety
    /// A whole register at `ptr` must be writable.
    unsafe fn store<S: Simd>(ptr: *mut Self, x: Self::Vector<S>);
    /// Writes past the caches, as [`stream`](crate::isa::stream) does.
    ///
    /// # Safety
    /// As that function, for each register of real numbers.
    unsafe fn stream<S: Simd>(ptr: *mut Self, x: Self::Vector<S>);

    /// Real parts at `ptr`, and imaginary parts `apart` real numbers behind them.
    ///
    /// # Safety
    /// A whole register of each must be readable.
    unsafe fn load_parts<S: Simd>(ptr: *const Self::Part, apart: usize) -> Self::Vector<S>;
    /// # Safety
    /// A whole register of each part must be writable.
    unsafe fn store_parts<S: Simd>(ptr: *mut Self::Part, apart: usize, x: Self::Vector<S>);
    /// # Safety
    /// The lanes of `mask` of each part must be readable. The other lanes are not touched and read as zero.
    unsafe fn load_parts_masked<S: Simd>(
        simd: S,
        mask: Self::Mask<S>,
        ptr: *const Self::Part,
        apart: usize,
    ) -> Self::Vector<S>;
    /// # Safety
    /// The lanes of `mask` of each part must be writable. The other lanes are not touched.
    unsafe fn store_parts_masked<S: Simd>(
        simd: S,
        mask: Self::Mask<S>,
        ptr: *mut Self::Part,
        apart: usize,
        x: Self::Vector<S>,
    );
    /// One number whose parts are so stored.
    ///
    /// # Safety
    /// Each part must be readable.
    unsafe fn read_parts(ptr: *const Self::Part, apart: usize) -> Self;
}

/// Arithmetic of a real number and of a register of real numbers. Private in effect: the module is not exported.
pub trait Float:
    Number<Part = Self> + core::fmt::Display + core::ops::Div<Output = Self> + PartialOrd
{
    /// The type's name in the names of kernels: `"f32"` or `"f64"`.
    const TYPE_NAME: &'static str;
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
    fn max(self, other: Self) -> Self;

    /// Numbers in one register.
    fn register_len<S: Simd>() -> usize;
    fn vdiv<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn vsqrt<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// The registers of which a slice consists; what is left at its end is not among them.
    fn registers<S: Simd>(x: &[Self]) -> &[Self::Vector<S>];
    /// The same, to be written.
    fn registers_mut<S: Simd>(x: &mut [Self]) -> &mut [Self::Vector<S>];
    /// The sum of all lanes.
    fn total<S: Simd>(simd: S, x: Self::Vector<S>) -> Self;
    /// a b + c, rounded once on every machine.
    fn exact_mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The same for scalars.
    fn exact_fused(a: Self, b: Self, c: Self) -> Self;
    /// From two neighbouring registers of complex numbers, as they are in memory, to their real and their imaginary parts.
    fn apart<S: Simd>(memory: [Self::Vector<S>; 2]) -> [Self::Vector<S>; 2];
    /// The inverse of [`apart`](Self::apart).
    fn together<S: Simd>(parts: [Self::Vector<S>; 2]) -> [Self::Vector<S>; 2];
}

/// x added to a sum whose rounding errors `rest` takes.
#[inline(always)]
pub fn plus<T: Number, S: Simd>(
    simd: S,
    (whole, rest): (T::Vector<S>, T::Vector<S>),
    x: T::Vector<S>,
) -> (T::Vector<S>, T::Vector<S>) {
    let sum = T::vadd(simd, whole, x);
    let part = T::vsub(simd, sum, whole);
    let lost = T::vadd(simd, T::vsub(simd, whole, T::vsub(simd, sum, part)), T::vsub(simd, x, part));
    (sum, T::vadd(simd, rest, lost))
}

/// Whether `S` is the portable fallback, whose fused operations are emulated in software.
#[inline(always)]
pub fn is_portable<S: Simd>() -> bool {
    core::any::TypeId::of::<S>() == core::any::TypeId::of::<Portable>()
}
