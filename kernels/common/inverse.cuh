// Inverts a diagonal block D of L, with a block of 256 threads. Each thread inverts a column of a block of eight. Then
// pairs of inverted blocks are merged: with D = [A; B C], D^-1 = [A^-1; -C^-1 B A^-1 C^-1].
//
// Shapes, column-major:
//     D        64 x 64, the last one perhaps smaller; entry (i, j), i >= j, at l + j * l_stride + i; read
//     inverse  64 x 64 doubles; zeros above the diagonal, and the identity where L has no rows; written
//     refine   one int: whether products with the inverse lose digits of T, so that they need a correction; those of a
//              modification or a factorization (REFINE_PRODUCTS) and of triangular solves (REFINE_SOLUTIONS); written
#pragma once
#include "common/panel.cuh"

constexpr int INVERSE_BASE = 8;  // order of the blocks that threads invert column by column

constexpr int REFINE_PRODUCTS = 1, REFINE_SOLUTIONS = 2;  // bits of `refine`

// The residual of a product with D^-1 is larger than that of a triangular solve by the largest row sum of
// |D| |D^-1|, and with D^-T by that of |D^T| |D^-T|. Above these factors the product is corrected: in a modification or a
// factorization, which multiply by D^-1 alone, and in solves, which multiply by both.
constexpr double MAX_INVERSE_LOSS = 16.0, MAX_SOLUTION_LOSS = 4.0;

// D and D^-1 in one array: D below the diagonal by columns, entry (i, j) at [j][i], and D^-1 on and below it by rows,
// entry (i, j) at [i][j]. The 65th column avoids bank conflicts.
typedef double TwoTriangles[PANEL_COLS][PANEL_COLS + 1];

// Computes one column of the inverse of its block of eight.
__device__ __forceinline__ void invert_small(TwoTriangles& d, int column) {
    const int first = column / INVERSE_BASE * INVERSE_BASE;
    double x[INVERSE_BASE];
#pragma unroll
    for (int i = 0; i < INVERSE_BASE; ++i) x[i] = first + i == column ? 1.0 : 0.0;
#pragma unroll
    for (int j = 0; j < INVERSE_BASE; ++j) {
        x[j] *= d[first + j][first + j];
#pragma unroll
        for (int i = j + 1; i < INVERSE_BASE; ++i) x[i] = fma(-d[first + j][first + i], x[j], x[i]);
    }
#pragma unroll
    for (int i = 0; i < INVERSE_BASE; ++i)
        if (first + i > column) d[first + i][column] = x[i];
}

// Merges pairs of inverted blocks of order SIZE; each thread computes some of the entries. `product` has room for B
// A^-1.
template <int SIZE>
__device__ __forceinline__ void merge(TwoTriangles& d, double* product) {
    constexpr int ENTRIES = PANEL_COLS * SIZE / 2 / THREADS;
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) {
        const int index = threadIdx.x + e * THREADS, i = index % SIZE, j = index / SIZE % SIZE;
        const int first = index / (SIZE * SIZE) * 2 * SIZE;
        double sum = 0;
#pragma unroll 8
        for (int k = 0; k < SIZE; ++k)
            if (k >= j) sum = fma(d[first + k][first + SIZE + i], d[first + k][first + j], sum);
        product[index] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) {
        const int index = threadIdx.x + e * THREADS, i = index % SIZE, j = index / SIZE % SIZE;
        const int first = index / (SIZE * SIZE) * 2 * SIZE + SIZE;
        double sum = 0;
#pragma unroll 8
        for (int k = 0; k < SIZE; ++k)
            if (k <= i) sum = fma(-d[first + i][first + k], product[index - i + k], sum);
        d[first + i][first - SIZE + j] = sum;
    }
    __syncthreads();
}

// Shared memory of `invert`.
struct InverseShared {
    TwoTriangles d;
    double product[PANEL_COLS * PANEL_COLS / 4], sums[2][PANEL_COLS];
};

// Inverts the block at l; L has `height` rows from there on; the first 64 are used.
template <class T>
__device__ __forceinline__ void invert(InverseShared& shared, const T* l, long long l_stride, double* inverse,
                                       int* refine, long long height) {
    TwoTriangles& d = shared.d;
    double* const product = shared.product;
#pragma unroll
    for (int e = threadIdx.x; e < PANEL_COLS * PANEL_COLS; e += THREADS) {
        const int i = e % PANEL_COLS, j = e / PANEL_COLS;
        const double unit = i == j ? 1.0 : 0.0;
        const double entry = j <= i && i < height ? (double)l[j * l_stride + i] : unit;
        if (j <= i) d[j][i] = i == j ? 1.0 / entry : entry;
    }
    __syncthreads();
    if (threadIdx.x < PANEL_COLS) invert_small(d, threadIdx.x);
    __syncthreads();
    merge<INVERSE_BASE>(d, product);
    merge<2 * INVERSE_BASE>(d, product);
    merge<4 * INVERSE_BASE>(d, product);
#pragma unroll 4
    for (int e = threadIdx.x; e < PANEL_COLS * PANEL_COLS; e += THREADS) {
        const int i = e % PANEL_COLS, j = e / PANEL_COLS;
        inverse[e] = j <= i ? d[i][j] : 0.0;
    }
    if (sizeof(T) < 8) {
        if (threadIdx.x == 0) *refine = 0;
        return;
    }
    // The first 64 threads find the row sums of |D| |D^-1|, the next 64 those of |D^T| |D^-T|.
    const int i = threadIdx.x % PANEL_COLS, which = threadIdx.x / PANEL_COLS;
    const auto transposed = [&](int row, int col) { return fabs(which == 0 ? d[row][col] : d[col][row]); };
    double sum = 0, loss = 0;
    if (which < 2) {
#pragma unroll 8
        for (int j = 0; j < PANEL_COLS; ++j)
            if (which == 0 ? j <= i : j >= i) sum += transposed(i, j);
        shared.sums[which][i] = sum;
    }
    __syncthreads();
    if (which < 2) {
        loss = sum / fabs(d[i][i]);
#pragma unroll 8
        for (int j = 0; j < PANEL_COLS; ++j)
            if (which == 0 ? j < i : j > i) loss = fma(transposed(j, i), shared.sums[which][j], loss);
    }
    const int products = __syncthreads_or(which == 0 && !(loss <= MAX_INVERSE_LOSS));
    const int solutions = __syncthreads_or(!(loss <= MAX_SOLUTION_LOSS));
    if (threadIdx.x == 0) *refine = (products ? REFINE_PRODUCTS : 0) | (solutions ? REFINE_SOLUTIONS : 0);
}
