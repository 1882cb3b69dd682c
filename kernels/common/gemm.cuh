// Products by a warp on the double-precision tensor cores, with operands in shared memory (mma.cuh).
#pragma once
#include "common/mma.cuh"
#include "common/tile.cuh"

// A thread's position in its warp's products (mma.cuh): rows `row` and `row` + 8 of A and C, column q of each four
// columns of A.
struct MmaLane {
    int warp, row, q, lane;
    __device__ MmaLane()
        : warp(threadIdx.x / 32), row(threadIdx.x % 32 / 4), q(threadIdx.x % 4), lane(threadIdx.x % 32) {}
    // The columns that the thread holds of the eight columns t of C, e < 2.
    __device__ int column(int t, int e) const { return 8 * t + 2 * q + e; }
};

// Loads the lane's entries of A (16 x 16): entry (i, k) lies at a[i * ROW + k * COL].
template <int ROW, int COL, class S>
__device__ __forceinline__ void load_a(const MmaLane& at, const S* a, double (&x)[4][2]) {
    a += at.row * ROW + at.q * COL;
#pragma unroll
    for (int s = 0; s < 4; ++s)
#pragma unroll
        for (int half = 0; half < 2; ++half) x[s][half] = (double)a[8 * half * ROW + 4 * s * COL];
}

// Loads the lane's entries of B (16 x 8), whose rows are contiguous: entry (k, j) lies at b[k * ROW + j].
template <int ROW, class S>
__device__ __forceinline__ void load_b(const MmaLane& at, const S* b, double (&y)[4]) {
    b += at.q * ROW + at.row;
#pragma unroll
    for (int s = 0; s < 4; ++s) y[s] = (double)b[4 * s * ROW];
}

// C (16 x 8) += A (16 x 16) B (16 x 8), both in shared memory: A as load_a takes it, B as load_b does.
template <int A_ROW, int A_COL, int B_ROW, class A, class B>
__device__ __forceinline__ void gemm_16x8x16(const MmaLane& at, double (&c)[4], const A* a, const B* b) {
    double x[4][2], y[4];
    load_a<A_ROW, A_COL>(at, a, x);
    load_b<B_ROW>(at, b, y);
    mma_m16n8k16_f64(c, x, y);
}

constexpr int GEMM_DEPTH = 16;  // columns of A and B that are copied and multiplied together

// A warp's part of a tile C (64 R x 64) in registers: 16 R rows, and eight of each sixteen columns, so that all warps
// have equal work when B is a triangle.
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

    // C += A B^T for GEMM_DEPTH columns of A (64 R x GEMM_DEPTH) and B (64 x GEMM_DEPTH). The first 16 `first` columns
    // of C are not changed.
    template <class A, class B>
    __device__ __forceinline__ void gemm(const A* a, const B* b, int first = 0) {
        a += at.warp % 4 * (16 * R);
        b += at.warp / 4 * 8;
        double x[R][4][2];
#pragma unroll
        for (int r = 0; r < R; ++r) load_a<1, tile_stride<R, A>()>(at, a + 16 * r, x[r]);
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            if (t < first) continue;
            double y[4];
            load_b<tile_stride<1, B>()>(at, b + 16 * t, y);
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
