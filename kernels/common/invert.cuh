// D^-1 of a diagonal block, by 256 threads. Blocks of eight are inverted by a thread for each column, and then pairs
// merged: with D = [A; B C], D^-1 = [A^-1; -C^-1 B A^-1 C^-1].
//
// D (64 x 64, the last perhaps less): entry (i, j), i >= j, at l + j * l_stride + i; read. inverse (64 x 64): zero above
// the diagonal, and of the identity where there is no L; written, in double precision. refine: whether a product with
// the inverse loses digits of T; written.
#pragma once
#include "common/panel.cuh"

constexpr int SMALLEST = 8;

// A product with D^-1 instead of a substitution leaves a residual that is this much larger: the largest row sum of
// |D| |D^-1|.
constexpr double LOSS = 16.0;

// In one array of 64 x 65, D below the diagonal by columns, entry (i, j) at [j][i], and D^-1 on and below it by rows,
// entry (i, j) at [i][j].
typedef double Blocks[ROWS][ROWS + 1];

// A column of the inverse of a block of eight.
__device__ __forceinline__ void invert_small(Blocks& d, int column) {
    const int first = column / SMALLEST * SMALLEST;
    double x[SMALLEST];
#pragma unroll
    for (int i = 0; i < SMALLEST; ++i) x[i] = first + i == column ? 1.0 : 0.0;
#pragma unroll
    for (int j = 0; j < SMALLEST; ++j) {
        x[j] *= d[first + j][first + j];
#pragma unroll
        for (int i = j + 1; i < SMALLEST; ++i) x[i] = fma(-d[first + j][first + i], x[j], x[i]);
    }
#pragma unroll
    for (int i = 0; i < SMALLEST; ++i)
        if (first + i > column) d[first + i][column] = x[i];
}

// Pairs of inverted blocks of SIZE merged, each thread for some entries. `product`: room for B A^-1.
template <int SIZE>
__device__ __forceinline__ void merge(Blocks& d, double* product) {
    constexpr int ENTRIES = ROWS * SIZE / 2 / THREADS;
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

// What it takes in shared memory.
struct Inverting {
    Blocks d;
    double product[ROWS * ROWS / 4], sums[ROWS];
};

// The block at l, of as many columns as there are rows (`height`), 64 at most.
template <class T>
__device__ __forceinline__ void invert(Inverting& shared, const T* l, long long l_stride, double* inverse,
                                       int* refine, long long height) {
    Blocks& d = shared.d;
    double *const product = shared.product, *const sums = shared.sums;
#pragma unroll
    for (int e = threadIdx.x; e < ROWS * ROWS; e += THREADS) {
        const int i = e % ROWS, j = e / ROWS;
        const double unit = i == j ? 1.0 : 0.0;
        const double entry = j <= i && i < height ? (double)l[j * l_stride + i] : unit;
        if (j <= i) d[j][i] = i == j ? 1.0 / entry : entry;
    }
    __syncthreads();
    if (threadIdx.x < ROWS) invert_small(d, threadIdx.x);
    __syncthreads();
    merge<8>(d, product);
    merge<16>(d, product);
    merge<32>(d, product);
#pragma unroll 4
    for (int e = threadIdx.x; e < ROWS * ROWS; e += THREADS) {
        const int i = e % ROWS, j = e / ROWS;
        inverse[e] = j <= i ? d[i][j] : 0.0;
    }
    if (sizeof(T) < 8) {
        if (threadIdx.x == 0) *refine = 0;
        return;
    }
    double sum = 0, loss = 0;
    const int i = threadIdx.x % ROWS;
    if (threadIdx.x < ROWS) {
#pragma unroll 8
        for (int j = 0; j < ROWS; ++j)
            if (j <= i) sum += fabs(d[i][j]);
        sums[i] = sum;
    }
    __syncthreads();
    if (threadIdx.x < ROWS) {
        loss = sum / fabs(d[i][i]);
#pragma unroll 8
        for (int j = 0; j < ROWS; ++j)
            if (j < i) loss = fma(fabs(d[j][i]), sums[j], loss);
    }
    const int loses = __syncthreads_or(!(loss <= LOSS));
    if (threadIdx.x == 0) *refine = loses;
}
