//! Rᵀ p = u, by columns of R.

use crate::chain::{DOWN, ahead};
use crate::real::Real;
use crate::upper::Upper;

/// Columns whose products with p are computed together.
const TOGETHER: usize = 4;
/// Partial sums of a product.
const LANES: usize = 8;

/// p ← R⁻ᵀ p, with p (n).
///
/// # Safety
/// R has all its columns, and p has n entries, which no other code uses.
pub unsafe fn solve<T: Real>(r: Upper<T>, p: *mut T) {
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
                    *sum = (0..done).fold(T::ZERO, |sum, k| sum + r.get(k, done + column) * *p.add(k));
                }
            }
            for column in done..done + width {
                let mut sum = sums[column - done];
                for k in done..column {
                    sum += r.get(k, column) * *p.add(k);
                }
                *p.add(column) = (*p.add(column) - sum) / r.get(column, column);
            }
        }
        done += width;
    }
}

/// Products of neighbouring columns with p, over `len` rows.
///
/// # Safety
/// There are this many rows of TOGETHER columns at a distance of `stride`, and of p.
unsafe fn products<T: Real>(columns: *const T, stride: usize, p: *const T, len: usize) -> [T; TOGETHER] {
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
unsafe fn with_avx2<T: Real>(columns: *const T, stride: usize, p: *const T, len: usize) -> [T; TOGETHER] {
    // SAFETY: the caller guarantees the rows.
    unsafe { summed::<T, true>(columns, stride, p, len) }
}

#[inline(always)]
unsafe fn summed<T: Real, const FMA: bool>(
    columns: *const T,
    stride: usize,
    p: *const T,
    len: usize,
) -> [T; TOGETHER] {
    let mut lanes = [[T::ZERO; LANES]; TOGETHER];
    let whole = len / LANES * LANES;
    for row in (0..whole).step_by(LANES) {
        // SAFETY: LANES of the rows.
        let p = unsafe { p.add(row).cast::<[T; LANES]>().read() };
        for (column, lanes) in lanes.iter_mut().enumerate() {
            ahead::<T, DOWN>(columns.wrapping_add(column * stride + row));
            // SAFETY: LANES of the rows in one of the columns.
            let entries = unsafe { columns.add(column * stride + row).cast::<[T; LANES]>().read() };
            for lane in 0..LANES {
                let (x, y) = (entries[lane], p[lane]);
                lanes[lane] = if FMA { x.mul_add(y, lanes[lane]) } else { x * y + lanes[lane] };
            }
        }
    }
    core::array::from_fn(|column| {
        let sum = lanes[column].iter().fold(T::ZERO, |sum, &x| sum + x);
        // SAFETY: the other rows of one of the columns, and of p.
        (whole..len).fold(sum, |sum, row| unsafe { sum + *columns.add(column * stride + row) * *p.add(row) })
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
