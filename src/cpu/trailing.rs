//! The trailing step: a block reflector applied to rows of L and V, one register tile at a time.

use super::reflector::Reflector;
use super::simd::{prefetch, stream};
use crate::scalar::Scalar;
use pulp::Simd;

/// The part of L and V that one micro-kernel call works on; rows start at the tile's first.
#[derive(Clone, Copy)]
pub(crate) struct Tile<T> {
    /// The reflector's first column of L, old values. (rows × cols, column stride `src_stride`)
    pub src: *const T,
    pub src_stride: isize,
    /// Where the new values go, possibly `src` itself; null to compute V alone.
    pub dst: *mut T,
    pub dst_stride: isize,
    /// Write past the caches. Only where `dst` and its columns are aligned to cache lines and all rows are
    /// real.
    pub stream: bool,
    /// How many rows further down L is brought near meanwhile; 0 where it is in the caches.
    pub ahead: usize,
    /// These rows of V. (rows × k, column stride `v_stride`)
    pub v: *mut T,
    pub v_stride: usize,
}

/// Which lanes of each register of a tile are real rows.
pub(crate) trait Rows<T: Scalar, S: Simd>: Copy {
    /// # Safety
    /// The real lanes of register `i` at `ptr` must be readable.
    unsafe fn load(self, simd: S, i: usize, ptr: *const T) -> T::Vector<S>;
    /// # Safety
    /// The real lanes of register `i` at `ptr` must be writable.
    unsafe fn store(self, simd: S, i: usize, ptr: *mut T, x: T::Vector<S>);
}

/// Every lane.
#[derive(Clone, Copy)]
pub(crate) struct Full;

impl<T: Scalar, S: Simd> Rows<T, S> for Full {
    #[inline(always)]
    unsafe fn load(self, _: S, _: usize, ptr: *const T) -> T::Vector<S> {
        // SAFETY: forwarded; all lanes are real.
        unsafe { T::load::<S>(ptr) }
    }
    #[inline(always)]
    unsafe fn store(self, _: S, _: usize, ptr: *mut T, x: T::Vector<S>) {
        // SAFETY: forwarded; all lanes are real.
        unsafe { T::store::<S>(ptr, x) }
    }
}

/// The lanes of a mask.
#[derive(Clone, Copy)]
pub(crate) struct Masked<M, const RV: usize>(pub [M; RV]);

impl<T: Scalar, S: Simd, const RV: usize> Rows<T, S> for Masked<T::Mask<S>, RV> {
    #[inline(always)]
    unsafe fn load(self, simd: S, i: usize, ptr: *const T) -> T::Vector<S> {
        // SAFETY: forwarded; the mask names the real lanes.
        unsafe { T::load_masked(simd, self.0[i], ptr) }
    }
    #[inline(always)]
    unsafe fn store(self, simd: S, i: usize, ptr: *mut T, x: T::Vector<S>) {
        // SAFETY: forwarded; the mask names the real lanes.
        unsafe { T::store_masked(simd, self.0[i], ptr, x) }
    }
}

/// Applies `reflector`, of `cols` ≤ C columns, to RV registers of rows; the signs of V's columns are passed
/// apart, so that they can be constants.
///
/// The C × RV block U lives in registers from the first product to the second; V is read twice and written
/// once.
///
/// # Safety
/// The real rows of `tile`, over `cols` columns of L and the reflector's rank of columns of V, must be
/// readable, and nobody else may use them meanwhile. The reflector must have been made by the diagonal
/// step.
#[inline(always)]
#[allow(clippy::reversed_empty_ranges, reason = "the first column of the solve has none before it")]
pub(crate) unsafe fn apply<T: Scalar, S: Simd, A: Rows<T, S>, const RV: usize, const C: usize>(
    simd: S,
    rows: A,
    cols: usize,
    (plus, minus): (usize, usize),
    tile: Tile<T>,
    reflector: Reflector<T>,
) {
    let lanes = T::lanes::<S>();
    // SAFETY (all pointer arithmetic and accesses below): column j < cols ≤ C of L, column r < rank of V
    // and register i < RV stay inside the tile that the caller vouches for; b, tau and rho stay inside the
    // reflector.
    unsafe {
        let src = |i: usize, j: usize| tile.src.offset(j as isize * tile.src_stride).wrapping_add(i * lanes);

        // W = P + V S Bᵀ                                           (rows, cols)
        let mut u = [[T::splat(simd, T::ZERO); RV]; C];
        for j in 0..C {
            if j < cols {
                for i in 0..RV {
                    u[j][i] = rows.load(simd, i, src(i, j));
                }
                prefetch::<1, T>(src(RV, j), RV * lanes);
                if tile.ahead > 0 {
                    prefetch::<2, T>(src(0, j).wrapping_add(tile.ahead), RV * lanes);
                }
            }
        }
        let (x, b) = (tile.v.cast_const(), reflector.b(0).cast_const());
        add_products::<T, S, A, RV, C, false>(simd, rows, &mut u, x, tile.v_stride, b, plus);
        let (x, b) = (x.wrapping_add(plus * tile.v_stride), b.wrapping_add(plus * lanes));
        add_products::<T, S, A, RV, C, true>(simd, rows, &mut u, x, tile.v_stride, b, minus);

        // U T = W; P ← U − P
        macro_rules! solve {
            ($($j:literal)*) => {$(
                if $j < C {
                    let rho = T::splat(simd, *reflector.rho().add($j));
                    for i in 0..RV {
                        u[$j][i] = T::vmul(simd, u[$j][i], rho);
                    }
                    for h in 0..$j {
                        let tau = T::splat(simd, *reflector.tau($j).add(h));
                        for i in 0..RV {
                            u[$j][i] = T::neg_mul_add(simd, u[h][i], tau, u[$j][i]);
                        }
                    }
                }
            )*};
        }
        // Spelled out: a triangular nest of loops is not unrolled, and then U would live in memory.
        solve!(0 1 2 3 4 5 6 7);
        if !tile.dst.is_null() {
            for j in 0..C {
                if j < cols {
                    let dst = tile.dst.offset(j as isize * tile.dst_stride);
                    for i in 0..RV {
                        let new = T::vsub(simd, u[j][i], rows.load(simd, i, src(i, j)));
                        if tile.stream {
                            stream(dst.add(i * lanes), new);
                        } else {
                            rows.store(simd, i, dst.add(i * lanes), new);
                        }
                    }
                }
            }
        }

        // V ← V − U B
        let (mut x, mut b) = (tile.v, reflector.b(0).cast_const());
        for _ in 0..plus + minus {
            let mut column = load_rows::<T, S, A, RV>(simd, rows, x);
            for j in 0..C {
                let b = T::splat(simd, *b.add(j));
                for i in 0..RV {
                    column[i] = T::neg_mul_add(simd, u[j][i], b, column[i]);
                }
            }
            for i in 0..RV {
                rows.store(simd, i, x.add(i * lanes), column[i]);
            }
            x = x.wrapping_add(tile.v_stride);
            b = b.wrapping_add(lanes);
        }
    }
}

/// u ← u ± Σ_r x_r b_r over `rank` columns of V, with a minus where MINUS.
///
/// # Safety
/// As `apply`, for these columns of V and of B.
#[inline(always)]
unsafe fn add_products<
    T: Scalar,
    S: Simd,
    A: Rows<T, S>,
    const RV: usize,
    const C: usize,
    const MINUS: bool,
>(
    simd: S,
    rows: A,
    u: &mut [[T::Vector<S>; RV]; C],
    mut x: *const T,
    stride: usize,
    mut b: *const T,
    rank: usize,
) {
    for _ in 0..rank {
        // SAFETY: forwarded to the caller.
        unsafe {
            let column = load_rows::<T, S, A, RV>(simd, rows, x);
            for j in 0..C {
                let b = T::splat(simd, *b.add(j));
                for i in 0..RV {
                    u[j][i] = match MINUS {
                        false => T::mul_add(simd, column[i], b, u[j][i]),
                        true => T::neg_mul_add(simd, column[i], b, u[j][i]),
                    };
                }
            }
        }
        x = x.wrapping_add(stride);
        b = b.wrapping_add(T::lanes::<S>());
    }
}

/// RV registers of rows of one column of V.
///
/// # Safety
/// The real rows at `x` must be readable.
#[inline(always)]
unsafe fn load_rows<T: Scalar, S: Simd, A: Rows<T, S>, const RV: usize>(
    simd: S,
    rows: A,
    x: *const T,
) -> [T::Vector<S>; RV] {
    let mut column = [T::splat(simd, T::ZERO); RV];
    for i in 0..RV {
        // SAFETY: forwarded to the caller.
        column[i] = unsafe { rows.load(simd, i, x.add(i * T::lanes::<S>())) };
    }
    column
}
