// Products of 64 R x 64 tiles in shared memory, C += A B^T, by a block of 256 threads on tensor cores.
#pragma once
#include "common/async_copy.cuh"
#include "common/memory.cuh"
#include "common/mma.cuh"
#include "common/panel.cuh"

// Where a thread stands in its warp's products (mma.cuh): rows `row` and `row` + 8 of A and C, column q of each four
// columns of A.
struct MmaLane {
    int warp, row, q, lane;
    __device__ MmaLane()
        : warp(threadIdx.x / 32), row(threadIdx.x % 32 / 4), q(threadIdx.x % 4), lane(threadIdx.x % 32) {}
    // The columns that the thread holds of the eight columns t of C, e < 2.
    __device__ int column(int t, int e) const { return 8 * t + 2 * q + e; }
};

constexpr int GEMM_DEPTH = 16;  // columns of A and B that are copied and multiplied together

// Scalars from one column to the next of a tile of 64 R rows in shared memory; there are no bank conflicts.
template <int R, class S>
__device__ constexpr int tile_stride() {
    return R * PANEL_COLS + (sizeof(S) == 8 ? 4 : 8);
}

// Begins to copy a tile (64 R x COLS) to shared memory, by all threads; its columns begin at multiples of 16 bytes.
// Rows from `rows` on become zeros.
template <int R, int COLS, class S>
__device__ __forceinline__ void copy_tile(S* to, const S* from, long long stride, long long rows) {
    constexpr int EACH = WORD_BYTES / (int)sizeof(S), AT_ONCE = R * PANEL_COLS / EACH,
                  STEP = THREADS / AT_ONCE;
    static_assert(COLS % STEP == 0, "every thread copies as much");
    const int i = threadIdx.x % AT_ONCE * EACH, first = threadIdx.x / AT_ONCE;
    const int bytes = (int)max(0ll, min((long long)EACH, rows - i)) * (int)sizeof(S);
    to += first * tile_stride<R, S>() + i;
    from += first * stride + (bytes > 0 ? i : 0);
#pragma unroll
    for (int j = 0; j < COLS; j += STEP) {
        copy_async<WORD_BYTES>(to, from, bytes);
        to += STEP * tile_stride<R, S>();
        from += STEP * stride;
    }
}

// A warp's part of a tile C (64 R x 64) in registers: 16 R rows, and eight of each sixteen columns, so that all warps
// have as much to do where B is a triangle.
template <int R>
struct WarpTile {
    MmaLane at;
    double c[R][4][4];

    // The row and the column of entry c[r][t][e].
    __device__ __forceinline__ int row(int r, int e) const {
        return at.warp % 4 * (16 * R) + 16 * r + at.row + e / 2 * 8;
    }
    __device__ __forceinline__ int column(int t, int e) const {
        return 16 * t + at.warp / 4 * 8 + 2 * at.q + e % 2;
    }

    // One more than the warp's last row.
    __device__ __forceinline__ int end() const { return (at.warp % 4 + 1) * (16 * R); }

    // Calls change(entry, row, column) for each entry of the thread.
    template <class Change>
    __device__ __forceinline__ void each(Change change) {
#pragma unroll
        for (int t = 0; t < 4; ++t)
#pragma unroll
            for (int r = 0; r < R; ++r)
#pragma unroll
                for (int e = 0; e < 4; ++e) change(c[r][t][e], row(r, e), column(t, e));
    }

    // C += A B^T for GEMM_DEPTH columns of A (64 R x GEMM_DEPTH) and B (64 x GEMM_DEPTH). It leaves the first 16
    // `first` columns of C as they are.
    template <class A, class B>
    __device__ __forceinline__ void gemm(const A* a, const B* b, int first = 0) {
        a += at.q * tile_stride<R, A>() + row(0, 0);
        b += at.q * tile_stride<1, B>() + at.warp / 4 * 8 + at.row;
        double x[R][4][2];
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int s = 0; s < 4; ++s)
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    x[r][s][half] = (double)a[4 * s * tile_stride<R, A>() + 16 * r + 8 * half];
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            if (t < first) continue;
            double y[4];
#pragma unroll
            for (int s = 0; s < 4; ++s) y[s] = (double)b[4 * s * tile_stride<1, B>() + 16 * t];
#pragma unroll
            for (int r = 0; r < R; ++r) mma_m16n8k16_f64(c[r][t], x[r], y);
        }
    }

    // C += A B^T for 64 columns of A and a lower triangular B (64 x 64), whose entries above the diagonal are zeros.
    template <class A>
    __device__ __forceinline__ void gemm_lower(const A* a, const double* b) {
#pragma unroll
        for (int s = 0; s < PANEL_COLS / GEMM_DEPTH; ++s)
            gemm(a + s * GEMM_DEPTH * tile_stride<R, A>(), b + s * GEMM_DEPTH * tile_stride<1, double>(), s);
    }
};
