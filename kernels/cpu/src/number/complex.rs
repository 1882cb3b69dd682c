//! Complex numbers. A register of them is a register of their real parts and one of their imaginary parts.

use super::Number;
use crate::number::Float;
use faer::{c32, c64};
use pulp::Simd;

/// A register of real parts, and one of imaginary parts.
type Pair<R, S> = [<R as Number>::Vector<S>; 2];

/// Lanes of a register of complex numbers: those of each part, and of the two registers of which they consist in memory.
#[derive(Clone, Copy)]
pub struct Lanes<M> {
    parts: M,
    memory: [M; 2],
}

macro_rules! complex {
    ($t:ident of $r:ident) => {
        impl Number for $t {
            type Part = $r;
            type Vector<S: Simd> = Pair<$r, S>;
            type Mask<S: Simd> = Lanes<<$r as Number>::Mask<S>>;

            const ZERO: Self = Self { re: 0.0, im: 0.0 };
            const ONE: Self = Self { re: 1.0, im: 0.0 };
            const PARTS: usize = 2;

            #[inline(always)]
            fn of_real(x: $r) -> Self {
                Self { re: x, im: 0.0 }
            }
            #[inline(always)]
            fn of_parts([re, im]: [$r; 2]) -> Self {
                Self { re, im }
            }
            #[inline(always)]
            fn real(self) -> $r {
                self.re
            }
            #[inline(always)]
            fn conj(self) -> Self {
                Self { re: self.re, im: -self.im }
            }
            #[inline(always)]
            fn times(self, by: $r) -> Self {
                Self { re: self.re * by, im: self.im * by }
            }
            #[inline(always)]
            fn over(self, by: $r) -> Self {
                Self { re: self.re / by, im: self.im / by }
            }
            #[inline(always)]
            fn abs(self) -> $r {
                self.re.hypot(self.im)
            }
            #[inline(always)]
            fn turn(self) -> Self {
                self.conj()
            }
            #[inline(always)]
            fn turn_size(turn: Self) -> $r {
                turn.abs()
            }
            #[inline(always)]
            fn fused<S: Simd>(a: Self, b: Self, c: Self) -> Self {
                let re =
                    <$r as Number>::fused::<S>(-a.im, b.im, <$r as Number>::fused::<S>(a.re, b.re, c.re));
                let im = <$r as Number>::fused::<S>(a.im, b.re, <$r as Number>::fused::<S>(a.re, b.im, c.im));
                Self { re, im }
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }
            #[inline(always)]
            fn parts(of: &[Self]) -> &[$r] {
                // SAFETY: a complex number is a structure in C's layout of two real numbers.
                unsafe { core::slice::from_raw_parts(of.as_ptr().cast(), 2 * of.len()) }
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S> {
                [$r::splat(simd, x.re), $r::splat(simd, x.im)]
            }
            #[inline(always)]
            fn vadd<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                [$r::vadd(simd, a[0], b[0]), $r::vadd(simd, a[1], b[1])]
            }
            #[inline(always)]
            fn vsub<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                [$r::vsub(simd, a[0], b[0]), $r::vsub(simd, a[1], b[1])]
            }
            #[inline(always)]
            fn vmul<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                let re = $r::neg_mul_add(simd, a[1], b[1], $r::vmul(simd, a[0], b[0]));
                [re, <$r as Number>::mul_add(simd, a[1], b[0], $r::vmul(simd, a[0], b[1]))]
            }
            #[inline(always)]
            fn vconj<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S> {
                [a[0], $r::vsub(simd, $r::splat(simd, 0.0), a[1])]
            }
            #[inline(always)]
            fn fused_times<S: Simd>(x: $r, a: Self, c: Self) -> Self {
                let part = |a: $r, c: $r| <$r as Number>::fused::<S>(x, a, c);
                Self { re: part(a.re, c.re), im: part(a.im, c.im) }
            }
            #[inline(always)]
            fn plus_square<S: Simd>(x: Self, minus: bool, sum: $r) -> $r {
                let sum = <$r as Number>::plus_square::<S>(x.re, minus, sum);
                <$r as Number>::plus_square::<S>(x.im, minus, sum)
            }
            #[inline(always)]
            fn reals<S: Simd>(x: Self::Vector<S>) -> <$r as Number>::Vector<S> {
                x[0]
            }
            #[inline(always)]
            fn vparts<S: Simd>(x: Self::Vector<S>) -> [<$r as Number>::Vector<S>; 2] {
                x
            }
            #[inline(always)]
            fn vreal<S: Simd>(simd: S, x: <$r as Number>::Vector<S>) -> Self::Vector<S> {
                [x, $r::splat(simd, 0.0)]
            }
            #[inline(always)]
            fn plus_squares<S: Simd>(
                simd: S,
                x: Self::Vector<S>,
                sum: <$r as Number>::Vector<S>,
            ) -> <$r as Number>::Vector<S> {
                <$r as Number>::mul_add(simd, x[1], x[1], <$r as Number>::mul_add(simd, x[0], x[0], sum))
            }
            #[inline(always)]
            fn real_of_product<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
            ) -> <$r as Number>::Vector<S> {
                $r::neg_mul_add(simd, a[1], b[1], $r::vmul(simd, a[0], b[0]))
            }
            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                let re = $r::neg_mul_add(simd, a[1], b[1], <$r as Number>::mul_add(simd, a[0], b[0], c[0]));
                [
                    re,
                    <$r as Number>::mul_add(
                        simd,
                        a[1],
                        b[0],
                        <$r as Number>::mul_add(simd, a[0], b[1], c[1]),
                    ),
                ]
            }
            #[inline(always)]
            fn neg_mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                let re = <$r as Number>::mul_add(simd, a[1], b[1], $r::neg_mul_add(simd, a[0], b[0], c[0]));
                [re, $r::neg_mul_add(simd, a[1], b[0], $r::neg_mul_add(simd, a[0], b[1], c[1]))]
            }
            #[inline(always)]
            fn vtimes<S: Simd>(simd: S, x: <$r as Number>::Vector<S>, a: Self::Vector<S>) -> Self::Vector<S> {
                [$r::vmul(simd, x, a[0]), $r::vmul(simd, x, a[1])]
            }
            #[inline(always)]
            fn vover<S: Simd>(simd: S, a: Self::Vector<S>, x: <$r as Number>::Vector<S>) -> Self::Vector<S> {
                [$r::vdiv(simd, a[0], x), $r::vdiv(simd, a[1], x)]
            }
            #[inline(always)]
            fn times_add<S: Simd>(
                simd: S,
                x: <$r as Number>::Vector<S>,
                a: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                [<$r as Number>::mul_add(simd, x, a[0], c[0]), <$r as Number>::mul_add(simd, x, a[1], c[1])]
            }
            #[inline(always)]
            fn neg_times_add<S: Simd>(
                simd: S,
                x: <$r as Number>::Vector<S>,
                a: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                [$r::neg_mul_add(simd, x, a[0], c[0]), $r::neg_mul_add(simd, x, a[1], c[1])]
            }
            #[inline(always)]
            fn plus_exact_product<S: Simd>(
                simd: S,
                sum: (Self::Vector<S>, Self::Vector<S>),
                a: Self::Vector<S>,
                b: Self::Vector<S>,
            ) -> (Self::Vector<S>, Self::Vector<S>) {
                let minus = $r::vsub(simd, $r::splat(simd, 0.0), a[1]);
                let (re, im) = ((sum.0[0], sum.1[0]), (sum.0[1], sum.1[1]));
                let re = $r::plus_exact_product(simd, re, a[0], b[0]);
                let re = $r::plus_exact_product(simd, re, minus, b[1]);
                let im = $r::plus_exact_product(simd, im, a[0], b[1]);
                let im = $r::plus_exact_product(simd, im, a[1], b[0]);
                ([re.0, im.0], [re.1, im.1])
            }
            #[inline(always)]
            fn mask<S: Simd>(simd: S, from: usize, to: usize) -> Self::Mask<S> {
                let lanes = Self::lanes::<S>();
                // A range that begins behind the last lane is no mask.
                let within = |first: usize| {
                    let (from, to) = ((2 * from).max(first) - first, (2 * to).max(first) - first);
                    if from < lanes { $r::mask(simd, from, to.min(lanes)) } else { $r::mask(simd, 0, 0) }
                };
                Lanes { parts: $r::mask(simd, from, to), memory: [within(0), within(lanes)] }
            }
            #[inline(always)]
            fn select<S: Simd>(
                simd: S,
                mask: Self::Mask<S>,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
            ) -> Self::Vector<S> {
                [$r::select(simd, mask.parts, a[0], b[0]), $r::select(simd, mask.parts, a[1], b[1])]
            }
            #[inline(always)]
            fn where_less<S: Simd>(
                simd: S,
                ab: (<$r as Number>::Vector<S>, <$r as Number>::Vector<S>),
                x: Self::Vector<S>,
                y: Self::Vector<S>,
            ) -> Self::Vector<S> {
                [$r::where_less(simd, ab, x[0], y[0]), $r::where_less(simd, ab, x[1], y[1])]
            }
            #[inline(always)]
            fn lane<S: Simd>(x: Self::Vector<S>, i: usize) -> Self {
                Self { re: $r::lane::<S>(x[0], i), im: $r::lane::<S>(x[1], i) }
            }
            #[inline(always)]
            unsafe fn load_masked<S: Simd>(
                simd: S,
                mask: Self::Mask<S>,
                ptr: *const Self,
            ) -> Self::Vector<S> {
                let (ptr, lanes) = (ptr.cast::<$r>(), Self::lanes::<S>());
                // SAFETY: the caller guarantees the lanes of `mask`, whose parts those of `memory` are.
                $r::apart::<S>(unsafe {
                    [
                        $r::load_masked(simd, mask.memory[0], ptr),
                        $r::load_masked(simd, mask.memory[1], ptr.wrapping_add(lanes)),
                    ]
                })
            }
            #[inline(always)]
            unsafe fn store_masked<S: Simd>(
                simd: S,
                mask: Self::Mask<S>,
                ptr: *mut Self,
                x: Self::Vector<S>,
            ) {
                let (ptr, [lower, upper]) = (ptr.cast::<$r>(), $r::together::<S>(x));
                // SAFETY: as in `load_masked`.
                unsafe {
                    $r::store_masked(simd, mask.memory[0], ptr, lower);
                    $r::store_masked(simd, mask.memory[1], ptr.wrapping_add(Self::lanes::<S>()), upper);
                }
            }
            #[inline(always)]
            unsafe fn load<S: Simd>(ptr: *const Self) -> Self::Vector<S> {
                let ptr = ptr.cast::<$r>();
                // SAFETY: the caller guarantees a whole register, which is two of the real numbers.
                $r::apart::<S>(unsafe { [$r::load::<S>(ptr), $r::load::<S>(ptr.add(Self::lanes::<S>()))] })
            }
            #[inline(always)]
            unsafe fn store<S: Simd>(ptr: *mut Self, x: Self::Vector<S>) {
                let (ptr, [lower, upper]) = (ptr.cast::<$r>(), $r::together::<S>(x));
                // SAFETY: as in `load`.
                unsafe {
                    $r::store::<S>(ptr, lower);
                    $r::store::<S>(ptr.add(Self::lanes::<S>()), upper);
                }
            }
            #[inline(always)]
            unsafe fn stream<S: Simd>(ptr: *mut Self, x: Self::Vector<S>) {
                let (ptr, [lower, upper]) = (ptr.cast::<$r>(), $r::together::<S>(x));
                // SAFETY: a register of complex numbers is two of real numbers, one behind the other.
                unsafe {
                    $r::stream::<S>(ptr, lower);
                    $r::stream::<S>(ptr.add(Self::lanes::<S>()), upper);
                }
            }
            #[inline(always)]
            unsafe fn load_parts<S: Simd>(ptr: *const $r, apart: usize) -> Self::Vector<S> {
                // SAFETY: the caller guarantees a register of each part.
                unsafe { [$r::load::<S>(ptr), $r::load::<S>(ptr.add(apart))] }
            }
            #[inline(always)]
            unsafe fn store_parts<S: Simd>(ptr: *mut $r, apart: usize, x: Self::Vector<S>) {
                // SAFETY: the caller guarantees a register of each part.
                unsafe {
                    $r::store::<S>(ptr, x[0]);
                    $r::store::<S>(ptr.add(apart), x[1]);
                }
            }
            #[inline(always)]
            unsafe fn load_parts_masked<S: Simd>(
                simd: S,
                mask: Self::Mask<S>,
                ptr: *const $r,
                apart: usize,
            ) -> Self::Vector<S> {
                // SAFETY: the caller guarantees these lanes of each part.
                unsafe {
                    [
                        $r::load_masked(simd, mask.parts, ptr),
                        $r::load_masked(simd, mask.parts, ptr.wrapping_add(apart)),
                    ]
                }
            }
            #[inline(always)]
            unsafe fn store_parts_masked<S: Simd>(
                simd: S,
                mask: Self::Mask<S>,
                ptr: *mut $r,
                apart: usize,
                x: Self::Vector<S>,
            ) {
                // SAFETY: the caller guarantees these lanes of each part.
                unsafe {
                    $r::store_masked(simd, mask.parts, ptr, x[0]);
                    $r::store_masked(simd, mask.parts, ptr.wrapping_add(apart), x[1]);
                }
            }
            #[inline(always)]
            unsafe fn read_parts(ptr: *const $r, apart: usize) -> Self {
                // SAFETY: the caller guarantees both.
                unsafe { Self { re: *ptr, im: *ptr.add(apart) } }
            }
        }
    };
}

complex!(c32 of f32);
complex!(c64 of f64);
