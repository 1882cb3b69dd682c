//! The columns of a block of L one by one: where they have both signs, or a pivot changes its sign.

use super::change::{Exchange, OneColumn, groups};
use crate::number::{Float, Number};
use crate::sweep::apply::{Rows, Tile};
use crate::sweep::diagonal::{Pivot, pivot};
use crate::sweep::interchange::OUTWEIGHS;
use crate::sweep::reflector::Reflector;
use crate::sweep::shape::MAX_LANES;
use core::ops::Range;
use pulp::Simd;

/// The lower triangle of a block of L, by columns.
pub type Triangle<T> = [[T; MAX_LANES]; MAX_LANES];

/// The columns of one block while they are eliminated: rows of L, and of V in the b of a reflector.
pub struct Block<'a, T> {
    pub l: &'a mut Triangle<T>,
    pub v: Reflector<T>,
    pub cols: usize,
}

impl<T: Number> Block<'_, T> {
    /// Entry (i, r) of V.
    ///
    /// # Safety
    /// It is one of V, whose memory this block owns.
    #[inline(always)]
    unsafe fn v(&self, i: usize, r: usize) -> *mut T {
        // SAFETY: the caller guarantees the entry.
        unsafe { self.v.b(r).add(i) }
    }

    /// The column of V among these with the largest entry in row `j`, and its magnitude.
    ///
    /// # Safety
    /// As `v`.
    unsafe fn largest(&self, j: usize, columns: Range<usize>) -> (usize, T::Part) {
        columns.fold((0, T::Part::ZERO), |(p, largest), r| {
            // SAFETY: the caller guarantees the entries.
            let size = unsafe { *self.v(j, r) }.abs();
            if size > largest { (r, size) } else { (p, largest) }
        })
    }

    /// The 2-norm of row `j` of these columns of V, without overflow or underflow.
    ///
    /// # Safety
    /// As `v`.
    unsafe fn norm(&self, j: usize, columns: Range<usize>) -> T::Part {
        // SAFETY: the caller guarantees the entries.
        let (_, largest) = unsafe { self.largest(j, columns.clone()) };
        if largest == T::Part::ZERO {
            return T::Part::ZERO;
        }
        let sum = columns.fold(T::Part::ZERO, |sum, r| {
            // SAFETY: as above.
            let share = unsafe { *self.v(j, r) }.over(largest);
            plus_square(sum, share)
        });
        largest * sum.sqrt()
    }

    /// # Safety
    /// As `v`.
    unsafe fn exchange(&mut self, j: usize, Exchange { with, to, turn, size }: Exchange<T>) {
        for i in j..self.cols {
            // SAFETY: the caller guarantees the entries.
            unsafe {
                let (l, v, at_boundary) = (self.l[j][i], *self.v(i, with), *self.v(i, to));
                self.l[j][i] = if T::PARTS == 1 { turn * v } else { (turn * v).over(size) };
                *self.v(i, with) = at_boundary;
                *self.v(i, to) = l;
            }
        }
        // The imaginary part is what rounding has left.
        self.l[j][j] = T::of_real(self.l[j][j].real());
    }

    /// Eliminates these columns of V, and writes the coefficients. Returns x; `None` if the pivot would not be positive.
    ///
    /// # Safety
    /// As `v`.
    unsafe fn reflect(&mut self, j: usize, columns: Range<usize>, minus: bool) -> Option<T::Part> {
        // SAFETY: the caller guarantees the entries.
        unsafe {
            let one = T::Part::ONE;
            let (l, sign) = (self.l[j][j].real(), if minus { -one } else { one });
            let a = |r: usize| *self.v(j, columns.start + r);
            let squares = (0..columns.len()).fold(T::Part::ZERO, |sum, r| plus_square(sum, a(r)));
            let Pivot { alpha, x, new } = pivot(l, sign * squares, columns.len(), minus, |r| a(r).abs())?;
            let beta = l + alpha;
            for r in columns.clone() {
                let a = *self.v(j, r);
                *self.v.b(r).add(j) = a.over(beta);
                *self.v.g(r).add(j) = a.conj().over(alpha).times(sign);
            }
            self.l[j][j] = T::of_real(new);
            for i in j + 1..self.cols {
                let old = self.l[j][i];
                let start = old.times(x);
                let d = columns.clone().fold(start, |d, r| d + *self.v(i, r) * *self.v.g(r).add(j));
                let u = old.times(T::Part::TWO) + d;
                self.l[j][i] = old + d;
                for r in columns.clone() {
                    *self.v(i, r) = *self.v(i, r) - u * *self.v.b(r).add(j);
                }
            }
            Some(x)
        }
    }

    /// Eliminates V from column `j`, of this sign; `plus` columns of V have a plus sign. Returns the sign of the new pivot.
    ///
    /// # Errors
    /// The pivot is zero to working precision, or not finite.
    ///
    /// # Safety
    /// As `v`.
    pub unsafe fn eliminate(
        &mut self,
        j: usize,
        (negative, plus): (bool, &mut usize),
        tolerance: T::Part,
    ) -> Result<(OneColumn<T>, bool), ()> {
        let (same, other) = groups(negative, *plus, self.v.rank);
        let mut made = OneColumn::default();
        // SAFETY: the caller guarantees the entries.
        unsafe {
            let (with, size) = self.largest(j, same.clone());
            if size > T::Part::from_f64(OUTWEIGHS) * self.l[j][j].real() {
                let exchange = Exchange::new((with, with), *self.v(j, with));
                self.exchange(j, exchange);
                made.before = Some(exchange);
            }
            made.x[0] = self.reflect(j, same.clone(), false).ok_or(())?;
            made.same = (same.start, same.end);
            let (l, norm) = (self.l[j][j].real(), self.norm(j, other.clone()));
            // The comparison is false for NaN.
            if !((l - norm).abs() > tolerance * (l + norm)) {
                return Err(());
            }
            if l > norm {
                made.x[1] = self.reflect(j, other.clone(), true).ok_or(())?;
                made.other = (other.start, other.end);
                return Ok((made, negative));
            }
            let (with, _) = self.largest(j, other.clone());
            let (to, rest) = match negative {
                false => (other.start, other.start + 1..other.end),
                true => (other.end - 1, other.start..other.end - 1),
            };
            let crossing = Exchange::new((with, to), *self.v(j, with));
            self.exchange(j, crossing);
            made.crossing = Some(crossing);
            made.x[1] = self.reflect(j, rest.clone(), false).ok_or(())?;
            made.other = (rest.start, rest.end);
            made.x[2] = self.reflect(j, to..to + 1, true).ok_or(())?;
            *plus = if negative { *plus - 1 } else { *plus + 1 };
            Ok((made, !negative))
        }
    }
}

/// sum + |x|²
#[inline(always)]
fn plus_square<T: Number>(sum: T::Part, x: T) -> T::Part {
    T::parts(&[x]).iter().fold(sum, |sum, &part| sum + part * part)
}

/// RV registers of rows of V, and of a column of L, under one instruction set.
struct Registers<T: Number, S: Simd, A, const RV: usize> {
    simd: S,
    rows: A,
    v: *mut T::Part,
    v_stride: usize,
    l: [T::Vector<S>; RV],
}

impl<T: Number, S: Simd, A: Rows<T, S>, const RV: usize> Registers<T, S, A, RV> {
    #[inline(always)]
    fn at(&self, r: usize, i: usize) -> *mut T::Part {
        self.v.wrapping_add(r * self.v_stride + i * T::lanes::<S>())
    }

    /// # Safety
    /// As [`through_columns`].
    #[inline(always)]
    unsafe fn v(&self, r: usize, i: usize) -> T::Vector<S> {
        // SAFETY: the caller guarantees the real rows of V.
        unsafe { self.rows.load_v(self.simd, i, self.at(r, i), self.v_stride / T::PARTS) }
    }

    /// # Safety
    /// As [`through_columns`].
    #[inline(always)]
    unsafe fn set_v(&self, r: usize, i: usize, x: T::Vector<S>) {
        // SAFETY: the caller guarantees the real rows of V.
        unsafe { self.rows.store_v(self.simd, i, self.at(r, i), self.v_stride / T::PARTS, x) };
    }

    /// # Safety
    /// As [`through_columns`].
    #[inline(always)]
    unsafe fn exchange(&mut self, Exchange { with, to, turn, size }: Exchange<T>) {
        let simd = self.simd;
        let turn = T::splat(simd, turn);
        for i in 0..RV {
            // SAFETY: the caller guarantees the real rows of V.
            unsafe {
                let mut new = T::vmul(simd, turn, self.v(with, i));
                if T::PARTS > 1 {
                    new = T::vover(simd, new, T::Part::splat(simd, size));
                }
                self.set_v(with, i, self.v(to, i));
                self.set_v(to, i, self.l[i]);
                self.l[i] = new;
            }
        }
    }

    /// Applies the reflection of these columns of V at column `j`.
    ///
    /// # Safety
    /// As [`through_columns`].
    #[inline(always)]
    unsafe fn reflect(
        &mut self,
        coefficients: Reflector<T>,
        j: usize,
        (first, end): (usize, usize),
        x: T::Part,
    ) {
        let simd = self.simd;
        let (x, two) = (T::Part::splat(simd, x), T::Part::splat(simd, T::Part::TWO));
        let mut d = self.l;
        // SAFETY: the caller guarantees the real rows of V, and the coefficients.
        unsafe {
            for i in 0..RV {
                d[i] = T::vtimes(simd, x, self.l[i]);
            }
            for r in first..end {
                let g = T::splat(simd, *coefficients.g(r).add(j));
                for i in 0..RV {
                    d[i] = T::mul_add(simd, self.v(r, i), g, d[i]);
                }
            }
            for i in 0..RV {
                let u = T::times_add(simd, two, self.l[i], d[i]);
                self.l[i] = T::vadd(simd, self.l[i], d[i]);
                d[i] = u;
            }
            for r in first..end {
                let b = T::splat(simd, *coefficients.b(r).add(j));
                for i in 0..RV {
                    self.set_v(r, i, T::neg_mul_add(simd, d[i], b, self.v(r, i)));
                }
            }
        }
    }
}

/// Changes RV registers of rows by these columns, one after the other.
///
/// # Safety
/// The real rows of `tile`, over these columns of L and all of V, must be readable and writable, and no other thread may use them during
/// the call. The coefficients are those of the columns.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn through_columns<T: Number, S: Simd, A: Rows<T, S>, const RV: usize>(
    simd: S,
    rows: A,
    columns: &[OneColumn<T>],
    coefficients: Reflector<T>,
    tile: Tile<T>,
) {
    let lanes = T::lanes::<S>();
    let l = [T::splat(simd, T::ZERO); RV];
    let mut of = Registers { simd, rows, v: tile.v, v_stride: tile.v_stride, l };
    for (j, column) in columns.iter().enumerate() {
        let src = tile.src.wrapping_offset(j as isize * tile.src_stride);
        let dst = tile.dst.wrapping_offset(j as isize * tile.dst_stride);
        // SAFETY: column j of L and all of V are inside the tile that the caller guarantees, and the coefficients inside the reflector.
        unsafe {
            for i in 0..RV {
                of.l[i] = rows.load(simd, i, src.add(i * lanes));
            }
            if let Some(before) = column.before {
                of.exchange(before);
            }
            of.reflect(coefficients, j, column.same, column.x[0]);
            if let Some(crossing) = column.crossing {
                of.exchange(crossing);
            }
            of.reflect(coefficients, j, column.other, column.x[1]);
            if let Some(Exchange { to, .. }) = column.crossing {
                of.reflect(coefficients, j, (to, to + 1), column.x[2]);
            }
            for i in 0..RV {
                rows.store(simd, i, dst.add(i * lanes), of.l[i]);
            }
        }
    }
}
