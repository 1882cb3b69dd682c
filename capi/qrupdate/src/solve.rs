//! Rᴴ p = u, by columns of R.

use crate::chain::{DOWN, ahead};
use crate::number::Number;
use crate::real::Real;
use crate::upper::Upper;

/// Columns whose products with p are computed together.
const TOGETHER: usize = 4;
/// Real numbers that are multiplied together: entries of p, or their parts.
const LANES: usize = 8;

/// p ← R⁻ᴴ p, with p (n).
///
/// # Safety
/// R has all its columns, and p has n entries, which no other code uses.
pub unsafe fn solve<T: Number>(r: Upper<T>, p: *mut T) {
    let mut done = 0;
    while done < r.order {
        let width = (r.order - done).min(TOGETHER);
        let mut sums = [T::ZERO; TOGETHER];
        // SAFETY: `done` rows of columns of R, and as many entries of p; there are `width` columns from `done` on.
        unsafe {
            if width == TOGETHER {
                sums = products(r.at(0, done), r.stride(), p, done);
            } else {
                for (column, sum) in sums[..width].iter_mut().enumerate() {
                    *sum = (0..done).fold(T::ZERO, |sum, k| sum + r.get(k, done + column).conj() * *p.add(k));
                }
            }
            for column in done..done + width {
                let mut sum = sums[column - done];
                for k in done..column {
                    sum = sum + r.get(k, column).conj() * *p.add(k);
                }
                *p.add(column) = (*p.add(column) - sum) / r.get(column, column).conj();
            }
        }
        done += width;
    }
}

/// Products of neighbouring columns, conjugated, with p, over `len` rows.
///
/// # Safety
/// There are this many rows of TOGETHER columns at a distance of `stride`, and of p.
unsafe fn products<T: Number>(columns: *const T, stride: usize, p: *const T, len: usize) -> [T; TOGETHER] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has the instructions, and the caller guarantees the rest.
        return unsafe { with_avx2(columns, stride, p, len) };
    }
    // SAFETY: the caller guarantees the rows.
    unsafe { summed::<T, false>(columns, stride, p, len) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn with_avx2<T: Number>(columns: *const T, stride: usize, p: *const T, len: usize) -> [T; TOGETHER] {
    // SAFETY: the caller guarantees the rows.
    unsafe { summed::<T, true>(columns, stride, p, len) }
}

/// As [`products`]; complex columns two by two, because they take twice as many registers for their sums.
///
/// # Safety
/// As for [`products`].
#[inline(always)]
unsafe fn summed<T: Number, const FMA: bool>(
    columns: *const T,
    stride: usize,
    p: *const T,
    len: usize,
) -> [T; TOGETHER] {
    // SAFETY: the caller guarantees the rows.
    unsafe {
        if !T::COMPLEX {
            return beside::<T, TOGETHER, FMA>(columns, stride, p, len);
        }
        let [a, b] = beside::<T, 2, FMA>(columns, stride, p, len);
        let [c, d] = beside::<T, 2, FMA>(columns.add(2 * stride), stride, p, len);
        [a, b, c, d]
    }
}

/// As [`products`], of fewer columns. Parts of a column are multiplied by parts of p as they lie in memory, which gives the real
/// part, and by exchanged parts of p, which gives the imaginary part.
///
/// # Safety
/// As for [`products`].
#[inline(always)]
unsafe fn beside<T: Number, const COLUMNS: usize, const FMA: bool>(
    columns: *const T,
    stride: usize,
    p: *const T,
    len: usize,
) -> [T; COLUMNS] {
    let zero = T::Real::ZERO;
    let (mut real, mut imaginary) = ([[zero; LANES]; COLUMNS], [[zero; LANES]; COLUMNS]);
    let together = if T::COMPLEX { LANES / 2 } else { LANES };
    let whole = len / together * together;
    let add = |lanes: &mut [T::Real; LANES], x: [T::Real; LANES], y: [T::Real; LANES]| {
        for ((sum, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *sum = if FMA { x.mul_add(y, *sum) } else { x * y + *sum };
        }
    };
    for row in (0..whole).step_by(together) {
        // SAFETY: `together` of the rows.
        let p = unsafe { p.add(row).cast::<[T::Real; LANES]>().read() };
        let exchanged = core::array::from_fn(|lane| p[lane ^ 1]);
        for column in 0..COLUMNS {
            ahead::<T, DOWN>(columns.wrapping_add(column * stride + row));
            // SAFETY: `together` of the rows in one of the columns.
            let entries = unsafe { columns.add(column * stride + row).cast::<[T::Real; LANES]>().read() };
            add(&mut real[column], entries, p);
            if T::COMPLEX {
                add(&mut imaginary[column], entries, exchanged);
            }
        }
    }
    core::array::from_fn(|column| {
        let sum = T::from_sums(real[column], imaginary[column]);
        // SAFETY: the other rows of one of the columns, and of p.
        (whole..len)
            .fold(sum, |sum, row| unsafe { sum + (*columns.add(column * stride + row)).conj() * *p.add(row) })
    })
}

/// ‖p‖, with p (n).
///
/// # Safety
/// There are this many entries.
pub unsafe fn norm<T: Real>(p: *const T, n: usize) -> T {
    // SAFETY: the caller guarantees the entries.
    let entries = || (0..n).map(|k| unsafe { *p.add(k) });
    let squares = entries().fold(T::ZERO, |sum, x| sum + x * x);
    // Zero, tiny, too large, or NaN: computed with a scale.
    if squares > T::SMALL && squares < T::LARGE {
        return squares.sqrt();
    }
    let largest = entries().fold(T::ZERO, |largest, x| if x.abs() > largest { x.abs() } else { largest });
    if !(largest > T::ZERO && largest < T::ONE / T::ZERO) {
        // All zero, or not finite: the result is infinite or NaN as the sum of squares is.
        return squares.sqrt();
    }
    largest * entries().fold(T::ZERO, |sum, x| sum + (x / largest) * (x / largest)).sqrt()
}
