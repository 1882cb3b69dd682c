//! The trailing step: applies a block reflector to rows of L and V, one register tile at a time.

use super::reflector::Reflector;
use crate::isa::{prefetch, prefetch_to_write};
use crate::number::{Float, Number};
use pulp::Simd;

/// The part of L and V that one micro-kernel call processes. Its rows start at the tile's first row.
#[derive(Clone, Copy)]
pub struct Tile<T: Number> {
    /// The old values, from the reflector's first column of L on. (rows × cols, column stride `src_stride`)
    pub src: *const T,
    pub src_stride: isize,
    /// Destination of the new values; may be `src` itself.
    pub dst: *mut T,
    pub dst_stride: isize,
    /// Write past the caches. Requires that `dst` and its columns are aligned to cache lines and that all rows are real.
    pub stream: bool,
    /// The distance in rows at which L is prefetched; 0 if it is in the caches.
    pub ahead: usize,
    /// The tile's rows of V, as real numbers. (rows × k, column stride `v_stride`) The imaginary parts of a column are
    /// [`apart`](Self::apart) behind its real parts.
    pub v: *mut T::Part,
    pub v_stride: usize,
}

impl<T: Number> Tile<T> {
    /// Distance from the real to the imaginary parts of a column of V.
    #[inline(always)]
    pub fn apart(&self) -> usize {
        self.v_stride / T::PARTS
    }

    /// The next tile of V, and the rows of L beside it, for tiles of `rows` rows and `rank` columns.
    #[inline(always)]
    pub fn next(self, rows: usize, rank: usize) -> Self {
        Self { v: self.v.wrapping_add(rows * rank * T::PARTS), ..self.rows_below(rows) }
    }

    /// The tile `rows` rows further down. Without a destination it has none either.
    #[inline(always)]
    pub fn rows_below(self, rows: usize) -> Self {
        let dst = if self.dst.is_null() { self.dst } else { self.dst.wrapping_add(rows) };
        Self { src: self.src.wrapping_add(rows), dst, v: self.v.wrapping_add(rows), ..self }
    }
}

/// The lanes of a tile's registers that are real rows.
pub trait Rows<T: Number, S: Simd>: Copy {
    /// # Safety
    /// The real lanes of register `i` at `ptr` must be readable.
    unsafe fn load(self, simd: S, i: usize, ptr: *const T) -> T::Vector<S>;
    /// # Safety
    /// The real lanes of register `i` at `ptr` must be writable.
    unsafe fn store(self, simd: S, i: usize, ptr: *mut T, x: T::Vector<S>);
    /// # Safety
    /// The real lanes of register `i` of V at `ptr` must be readable.
    unsafe fn load_v(self, simd: S, i: usize, ptr: *const T::Part, apart: usize) -> T::Vector<S>;
    /// # Safety
    /// The real lanes of register `i` of V at `ptr` must be writable.
    unsafe fn store_v(self, simd: S, i: usize, ptr: *mut T::Part, apart: usize, x: T::Vector<S>);
}

/// All lanes.
#[derive(Clone, Copy)]
pub struct Full;

impl<T: Number, S: Simd> Rows<T, S> for Full {
    #[inline(always)]
    unsafe fn load(self, _: S, _: usize, ptr: *const T) -> T::Vector<S> {
        // SAFETY: the caller guarantees that all lanes are readable.
        unsafe { T::load::<S>(ptr) }
    }
    #[inline(always)]
    unsafe fn store(self, _: S, _: usize, ptr: *mut T, x: T::Vector<S>) {
        // SAFETY: the caller guarantees that all lanes are writable.
        unsafe { T::store::<S>(ptr, x) }
    }
    #[inline(always)]
    unsafe fn load_v(self, _: S, _: usize, ptr: *const T::Part, apart: usize) -> T::Vector<S> {
        // SAFETY: the caller guarantees that all lanes are readable.
        unsafe { T::load_parts::<S>(ptr, apart) }
    }
    #[inline(always)]
    unsafe fn store_v(self, _: S, _: usize, ptr: *mut T::Part, apart: usize, x: T::Vector<S>) {
        // SAFETY: the caller guarantees that all lanes are writable.
        unsafe { T::store_parts::<S>(ptr, apart, x) }
    }
}

/// The lanes of a mask.
#[derive(Clone, Copy)]
pub struct Masked<M, const RV: usize>(pub [M; RV]);

impl<T: Number, S: Simd, const RV: usize> Rows<T, S> for Masked<T::Mask<S>, RV> {
    #[inline(always)]
    unsafe fn load(self, simd: S, i: usize, ptr: *const T) -> T::Vector<S> {
        // SAFETY: the caller guarantees that the real lanes are readable, and the mask selects these.
        unsafe { T::load_masked(simd, self.0[i], ptr) }
    }
    #[inline(always)]
    unsafe fn store(self, simd: S, i: usize, ptr: *mut T, x: T::Vector<S>) {
        // SAFETY: the caller guarantees that the real lanes are writable, and the mask selects these.
        unsafe { T::store_masked(simd, self.0[i], ptr, x) }
    }
    #[inline(always)]
    unsafe fn load_v(self, simd: S, i: usize, ptr: *const T::Part, apart: usize) -> T::Vector<S> {
        // SAFETY: the caller guarantees that the real lanes are readable, and the mask selects these.
        unsafe { T::load_parts_masked(simd, self.0[i], ptr, apart) }
    }
    #[inline(always)]
    unsafe fn store_v(self, simd: S, i: usize, ptr: *mut T::Part, apart: usize, x: T::Vector<S>) {
        // SAFETY: the caller guarantees that the real lanes are writable, and the mask selects these.
        unsafe { T::store_parts_masked(simd, self.0[i], ptr, apart, x) }
    }
}

/// Columns of L that are processed together. With more, V is read and written less often, but U and the operands of a column
/// no longer fit the registers with so many rows, and the triangular solve is longer.
const TOGETHER: usize = 4;

/// Applies `reflector`, of `cols` ≤ C columns, to RV registers of rows. The rank is a separate argument, so that it can be a
/// constant.
///
/// # Safety
/// The real rows of `tile`, over `cols` columns of L and `rank` of V, must be readable and writable, and no other thread may
/// use them during the call. The reflector must have been computed by the diagonal step, and have no interchanges.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn apply<T: Number, S: Simd, A: Rows<T, S>, const RV: usize, const C: usize>(
    simd: S,
    rows: A,
    cols: usize,
    rank: usize,
    tile: Tile<T>,
    reflector: Reflector<T>,
) {
    let lanes = T::lanes::<S>();
    // A store to a line that is not in the cache waits for it, so the line is prefetched.
    let apart = !tile.stream && tile.dst.cast_const() != tile.src;
    for first in (0..C).step_by(TOGETHER) {
        if first < cols {
            let right = Tile {
                src: tile.src.wrapping_offset(first as isize * tile.src_stride),
                dst: tile.dst.wrapping_offset(first as isize * tile.dst_stride),
                ..tile
            };
            let cols = TOGETHER.min(cols - first);
            for j in 0..cols {
                let src = right.src.wrapping_offset(j as isize * tile.src_stride);
                prefetch::<1, T>(src.wrapping_add(RV * lanes), RV * lanes);
                if apart {
                    prefetch_to_write(right.dst.wrapping_offset(j as isize * tile.dst_stride), RV * lanes);
                }
                if tile.ahead > 0 {
                    prefetch::<2, T>(src.wrapping_add(tile.ahead), RV * lanes);
                }
            }
            // SAFETY: the caller guarantees these columns of L, and the reflector.
            unsafe {
                together::<T, S, A, RV>(simd, rows, cols, rank, right, reflector.part_from(first));
            }
        }
    }
}

/// The same for `cols` ≤ [`TOGETHER`] columns.
///
/// U, RV registers of rows for each column, stays in registers from the first product to the second; V is read twice and written
/// once.
///
/// # Safety
/// As [`apply`].
#[cfg_attr(not(unoptimized), inline(always))]
#[allow(clippy::reversed_empty_ranges, reason = "the first column of the solve has none before it")]
unsafe fn together<T: Number, S: Simd, A: Rows<T, S>, const RV: usize>(
    simd: S,
    rows: A,
    cols: usize,
    rank: usize,
    tile: Tile<T>,
    reflector: Reflector<T>,
) {
    let lanes = T::lanes::<S>();
    let two = T::Part::splat(simd, T::Part::TWO);
    // SAFETY: all pointer arithmetic and accesses below: column j < cols of L, column r < rank of V and register i < RV are inside
    // the tile that the caller guarantees; b, g, tau and x are inside the reflector.
    unsafe {
        let src = |i: usize, j: usize| tile.src.offset(j as isize * tile.src_stride).wrapping_add(i * lanes);

        // E = P X + V (S Bᵀ)                                       (rows, cols)
        let mut u = [[T::splat(simd, T::ZERO); RV]; TOGETHER];
        for j in 0..TOGETHER {
            if j < cols {
                let x = T::Part::splat(simd, (*reflector.x().add(j)).real());
                for i in 0..RV {
                    u[j][i] = T::vtimes(simd, x, rows.load(simd, i, src(i, j)));
                }
            }
        }
        let (mut v, mut g) = (tile.v.cast_const(), reflector.g(0).cast_const());
        for _ in 0..rank {
            let column = load_rows::<T, S, A, RV>(simd, rows, v, tile.apart());
            for j in 0..TOGETHER {
                let g = T::splat(simd, *g.add(j));
                for i in 0..RV {
                    u[j][i] = T::mul_add(simd, column[i], g, u[j][i]);
                }
            }
            v = v.wrapping_add(tile.v_stride);
            g = g.wrapping_add(lanes);
        }

        // D from E by columns; U = 2 P + D; P ← P + D
        macro_rules! solve {
            ($($j:literal)*) => {$(
                if $j < cols {
                    for h in 0..$j {
                        let tau = T::splat(simd, *reflector.tau($j).add(h));
                        for i in 0..RV {
                            u[$j][i] = T::neg_mul_add(simd, u[h][i], tau, u[$j][i]);
                        }
                    }
                    let dst = tile.dst.offset($j as isize * tile.dst_stride);
                    for i in 0..RV {
                        let (old, d) = (rows.load(simd, i, src(i, $j)), u[$j][i]);
                        u[$j][i] = T::times_add(simd, two, old, d);
                        let new = T::vadd(simd, old, d);
                        if tile.stream {
                            T::stream::<S>(dst.add(i * lanes), new);
                        } else {
                            rows.store(simd, i, dst.add(i * lanes), new);
                        }
                    }
                }
            )*};
        }
        // Written out: a triangular loop nest is not unrolled, and U would then be in memory.
        solve!(0 1 2 3);

        // V ← V − U B
        let (mut v, mut b) = (tile.v, reflector.b(0).cast_const());
        for _ in 0..rank {
            let mut column = load_rows::<T, S, A, RV>(simd, rows, v, tile.apart());
            for j in 0..TOGETHER {
                let b = T::splat(simd, *b.add(j));
                for i in 0..RV {
                    column[i] = T::neg_mul_add(simd, u[j][i], b, column[i]);
                }
            }
            for i in 0..RV {
                rows.store_v(simd, i, v.add(i * lanes), tile.apart(), column[i]);
            }
            v = v.wrapping_add(tile.v_stride);
            b = b.wrapping_add(lanes);
        }
    }
}

/// Loads RV registers of rows of one column of V.
///
/// # Safety
/// The real rows at `x` must be readable.
#[inline(always)]
unsafe fn load_rows<T: Number, S: Simd, A: Rows<T, S>, const RV: usize>(
    simd: S,
    rows: A,
    x: *const T::Part,
    apart: usize,
) -> [T::Vector<S>; RV] {
    let mut column = [T::splat(simd, T::ZERO); RV];
    for i in 0..RV {
        // SAFETY: the caller guarantees that the real rows are readable.
        column[i] = unsafe { rows.load_v(simd, i, x.add(i * T::lanes::<S>()), apart) };
    }
    column
}
