// Inverts a diagonal block D of L, with a block of 256 threads. Each of 64 threads inverts a column of a block of sixteen.
// Then pairs of inverted blocks are merged by matrix products: with D = [A; B C], D^-1 = [A^-1; -C^-1 B A^-1 C^-1].
//
// Shapes, column-major:
//     D        64 x 64, the last one perhaps smaller; entry (i, j), i >= j, at l + j * l_stride + i; read
//     inverse  64 x 64 doubles; zeros above the diagonal, and the identity where L has no rows; written
//     refine   one int: whether products with the inverse lose digits of T, so that they need a correction; those of a
//              modification or a factorization (REFINE_PRODUCTS) and of triangular solves (REFINE_SOLUTIONS); written
#pragma once
#include "common/gemm.cuh"
#include "common/panel.cuh"

constexpr int INVERSE_BASE = 16;  // order of the blocks that threads invert column by column

constexpr int REFINE_PRODUCTS = 1, REFINE_SOLUTIONS = 2;  // bits of `refine`

// The residual of a product with D^-1 is larger than that of a triangular solve by the largest row sum of
// |D| |D^-1|, and with D^-T by that of |D^T| |D^-T|. Above these factors the product is corrected: in a modification or a
// factorization, which multiply by D^-1 alone, and in solves, which multiply by both.
constexpr double MAX_INVERSE_LOSS = 16.0, MAX_SOLUTION_LOSS = 4.0;

// D and D^-1 in one array: D below the diagonal by columns, entry (i, j) at [j][i], and D^-1 on and below it by rows,
// entry (i, j) at [i][j]. The 65th column avoids bank conflicts.
constexpr int TRIANGLES_ROW = PANEL_COLS + 1;
typedef double TwoTriangles[PANEL_COLS][TRIANGLES_ROW];

// Computes one column of the inverse of its block of sixteen, by 64 threads. The diagonal of D lies where that of D^-1 will.
__device__ __forceinline__ void invert_small(TwoTriangles& d, int column) {
    const int first = column / INVERSE_BASE * INVERSE_BASE;
    const double reciprocal = 1.0 / d[column][column];
    double x[INVERSE_BASE];
#pragma unroll
    for (int i = 0; i < INVERSE_BASE; ++i) x[i] = first + i == column ? 1.0 : 0.0;
#pragma unroll
    for (int j = 0; j < INVERSE_BASE; ++j) {
        x[j] *= __shfl_sync(ALL_LANES, reciprocal, j, INVERSE_BASE);
#pragma unroll
        for (int i = j + 1; i < INVERSE_BASE; ++i) x[i] = fma(-d[first + j][first + i], x[j], x[i]);
    }
#pragma unroll
    for (int i = 0; i < INVERSE_BASE; ++i)
        if (first + i >= column) d[first + i][column] = x[i];
}

// The rows of B A^-1 in a merge are this many doubles apart: no bank conflicts when they are read.
__device__ constexpr int merge_stride(int size) { return size + 4; }

// Merges pairs of inverted blocks of order SIZE. A warp computes 16 x 8 entries of a pair; `product` has room for B A^-1.
template <int SIZE>
__device__ __forceinline__ void merge(TwoTriangles& d, double* product) {
    constexpr int ROW = TRIANGLES_ROW, STRIDE = merge_stride(SIZE);
    constexpr int TILES = SIZE / 16 * (SIZE / 8), PAIRS = PANEL_COLS / (2 * SIZE);
    const MmaLane at;
    const int pair = at.warp / TILES, i = at.warp % TILES / (SIZE / 8) * 16, j = at.warp % (SIZE / 8) * 8;
    double* const a = &d[2 * SIZE * pair][2 * SIZE * pair];
    double* const c = a + SIZE * (ROW + 1);
    product += pair * SIZE * STRIDE;
    double x[4][2], y[4];
    if (pair < PAIRS) {
        double sum[4] = {};
#pragma unroll
        for (int k = 0; k < SIZE; k += 16) {
            load_a<1, ROW>(at, a + k * ROW + SIZE + i, x);
            load_b<ROW>(at, a + k * ROW + j, y);
#pragma unroll
            for (int s = 0; s < 4; ++s)
                if (k + at.q + 4 * s < j + at.row) y[s] = 0;
            mma_m16n8k16_f64(sum, x, y);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) product[(i + at.row + e / 2 * 8) * STRIDE + j + at.column(0, e % 2)] = sum[e];
    }
    __syncthreads();
    if (pair < PAIRS) {
        double sum[4] = {};
#pragma unroll
        for (int k = 0; k < SIZE; k += 16) {
            load_a<ROW, 1>(at, c + i * ROW + k, x);
            load_b<STRIDE>(at, product + k * STRIDE + j, y);
#pragma unroll
            for (int s = 0; s < 4; ++s)
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    x[s][half] = k + at.q + 4 * s <= i + at.row + 8 * half ? -x[s][half] : 0.0;
            mma_m16n8k16_f64(sum, x, y);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) c[(i + at.row + e / 2 * 8) * ROW - SIZE + j + at.column(0, e % 2)] = sum[e];
    }
    __syncthreads();
}

// Shared memory of `invert`.
struct InverseShared {
    TwoTriangles d;
    double product[PANEL_COLS / 2 * merge_stride(PANEL_COLS / 2)];
    double sums[2][2][PANEL_COLS], losses[2][PANEL_COLS];  // of halves of rows, and of rows
};

// Adds up half a row, in sums that do not wait for each other: term(j, sum) adds the term of column j.
template <class Term>
__device__ __forceinline__ double sum_of_half(int half, Term term) {
    constexpr int SUMS = 4, HALF = PANEL_COLS / 2;
    double sums[SUMS] = {};
#pragma unroll 2
    for (int j = 0; j < HALF; j += SUMS)
#pragma unroll
        for (int s = 0; s < SUMS; ++s) sums[s] = term(half * HALF + j + s, sums[s]);
    return sums[0] + sums[1] + (sums[2] + sums[3]);
}

// Inverts the block at l; L has `height` rows from there on; the first 64 are used.
template <class T>
__device__ __forceinline__ void invert(InverseShared& shared, const T* l, long long l_stride, double* inverse,
                                       int* refine, long long height) {
    constexpr int ENTRIES = PANEL_COLS * PANEL_COLS / THREADS;
    TwoTriangles& d = shared.d;
    const int i = threadIdx.x % PANEL_COLS, first = threadIdx.x / PANEL_COLS;
    // All loads are in flight at once.
    T entry[ENTRIES];
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) {
        const int j = first + e * (THREADS / PANEL_COLS);
        entry[e] = j <= i && i < height ? l[j * l_stride + i] : T(i == j);
    }
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) {
        const int j = first + e * (THREADS / PANEL_COLS);
        if (j <= i) d[j][i] = (double)entry[e];
    }
    __syncthreads();
    if (threadIdx.x < PANEL_COLS) invert_small(d, threadIdx.x);
    __syncthreads();
    merge<INVERSE_BASE>(d, shared.product);
    merge<2 * INVERSE_BASE>(d, shared.product);
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) {
        const int j = first + e * (THREADS / PANEL_COLS);
        inverse[j * PANEL_COLS + i] = j <= i ? d[i][j] : 0.0;
    }
    if (sizeof(T) < 8) {
        if (threadIdx.x == 0) *refine = 0;
        return;
    }
    // Row sums of |D| |D^-1| and of |D^T| |D^-T|, half a row by each thread.
    const int which = first % 2, half = first / 2;
    shared.sums[half][which][i] = sum_of_half(half, [&](int j, double sum) {
        const double x = fabs(which == 0 ? d[i][j] : d[j][i]);
        return sum + ((which == 0 ? j <= i : j >= i) ? x : 0.0);
    });
    __syncthreads();
    const auto& sums = shared.sums;
    double loss = sum_of_half(half, [&](int j, double sum) {
        const double x = fabs(which == 0 ? d[j][i] : d[i][j]);
        return fma((which == 0 ? j < i : j > i) ? x : 0.0, sums[0][which][j] + sums[1][which][j], sum);
    });
    if (half == 1) shared.losses[which][i] = loss;
    __syncthreads();
    if (half == 0) loss += shared.losses[which][i] + (sums[0][which][i] + sums[1][which][i]) / fabs(d[i][i]);
    const int products = __syncthreads_or(which == 0 && half == 0 && !(loss <= MAX_INVERSE_LOSS));
    const int solutions = __syncthreads_or(half == 0 && !(loss <= MAX_SOLUTION_LOSS));
    if (threadIdx.x == 0) *refine = (products ? REFINE_PRODUCTS : 0) | (solutions ? REFINE_SOLUTIONS : 0);
}
