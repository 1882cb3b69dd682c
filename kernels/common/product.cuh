// Products C += A B^T of tiles in shared memory on tensor cores, by 256 threads: for factor.cu.
#pragma once
#include "common/panel.cuh"

constexpr int DEPTH = 16; // of a product's sum, and columns that are copied together

// From column to column of a tile of 64 R rows in shared memory: no bank conflicts.
template <int R, class S>
__device__ constexpr int ld() {
    return R * ROWS + (sizeof(S) == 8 ? 4 : 8);
}

// Asks for a tile (64 R x COLS), whose columns begin at multiples of 16 bytes; what is below `rows` are
// zeros.
template <int R, int COLS, class S>
__device__ __forceinline__ void copy(S* to, const S* from, long long stride, long long rows) {
    constexpr int EACH = WORD_BYTES / (int)sizeof(S), AT_ONCE = R * ROWS / EACH, STEP = THREADS / AT_ONCE;
    static_assert(COLS % STEP == 0, "every thread copies as much");
    const int i = threadIdx.x % AT_ONCE * EACH, first = threadIdx.x / AT_ONCE;
    const int bytes = (int)max(0ll, min((long long)EACH, rows - i)) * (int)sizeof(S);
    to += first * ld<R, S>() + i;
    from += first * stride + (bytes > 0 ? i : 0);
#pragma unroll
    for (int j = 0; j < COLS; j += STEP) {
        copy_async<WORD_BYTES>(to, from, bytes);
        to += STEP * ld<R, S>();
        from += STEP * stride;
    }
}

// A warp's part of a tile C (64 R x 64): 16 R rows, and of each sixteen columns eight, so that all warps have
// as much to do where B is a triangle.
template <int R>
struct Part {
    Lane at;
    double c[R][4][4];

    // The entry's row and column.
    __device__ __forceinline__ int row(int r, int e) const {
        return at.warp % 4 * (16 * R) + 16 * r + at.row + e / 2 * 8;
    }
    __device__ __forceinline__ int column(int t, int e) const {
        return 16 * t + at.warp / 4 * 8 + 2 * at.q + e % 2;
    }

    // Behind the warp's last row.
    __device__ __forceinline__ int end() const { return (at.warp % 4 + 1) * (16 * R); }

    // change(entry, row, column) for each entry of the thread.
    template <class Change>
    __device__ __forceinline__ void each(Change change) {
#pragma unroll
        for (int t = 0; t < 4; ++t)
#pragma unroll
            for (int r = 0; r < R; ++r)
#pragma unroll
                for (int e = 0; e < 4; ++e) change(c[r][t][e], row(r, e), column(t, e));
    }

    // C += A B^T for DEPTH columns of A (64 R x DEPTH) and B (64 x DEPTH); C's sixteens of columns from
    // `first` on.
    template <class A, class B>
    __device__ __forceinline__ void multiply(const A* a, const B* b, int first = 0) {
        a += at.q * ld<R, A>() + row(0, 0);
        b += at.q * ld<1, B>() + at.warp / 4 * 8 + at.row;
        double x[R][4][2];
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int s = 0; s < 4; ++s)
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    x[r][s][half] = (double)a[4 * s * ld<R, A>() + 16 * r + 8 * half];
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            if (t < first) continue;
            double y[4];
#pragma unroll
            for (int s = 0; s < 4; ++s) y[s] = (double)b[4 * s * ld<1, B>() + 16 * t];
#pragma unroll
            for (int r = 0; r < R; ++r) mma_m16n8k16_f64(c[r][t], x[r], y);
        }
    }

    // C += A B^T for 64 columns of A and a lower triangular B (64 x 64), zero above.
    template <class A>
    __device__ __forceinline__ void multiply_triangle(const A* a, const double* b) {
#pragma unroll
        for (int s = 0; s < ROWS / DEPTH; ++s)
            multiply(a + s * DEPTH * ld<R, A>(), b + s * DEPTH * ld<1, double>(), s);
    }
};
