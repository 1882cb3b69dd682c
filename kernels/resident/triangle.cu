// Copies the lower triangle of a caller's matrix in device memory to the engine's own memory, and L back; the diagonal of
// L L^T.
//
// `take_lower` copies a triangle and checks it:
//     from    n x n, entry (i, j), i >= j, at from + j * from_stride + i; read
//     to      the same entry at to + j * to_stride + i, or null: then nothing is copied; written. With `orient`, columns whose
//             diagonal entry is negative are negated
//     not_finite  zero before the launch: ~(j * n + i) of the first entry (i, j), column after column, that is not
//             finite, if there is one
//
// `give_lower` writes L as a matrix:
//     from    n x n, entry (i, j), i >= j, at from + j * from_stride + i; read
//     to      n x n, packed: that entry at to + j * n + i, zeros above the diagonal; written
//
// `diagonal` sums the squares of each row of L, which is the diagonal of L L^T:
//     from    as for `give_lower`; read
//     to      n; written
//
// Column-major. Launch: blocks of 256 threads; x of the grid for each 1024 rows, y is any; for `diagonal`, x for each 32
// rows.
#include "common/layout.cuh"
#include "common/panel.cuh"
#include "common/row_squares.cuh"

typedef unsigned long long Place;
constexpr int ROWS_OF_THREAD = 4;
constexpr double LARGEST = 1.7976931348623157e308;

__device__ __forceinline__ Place max_of_warp(Place x) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const Place other = __shfl_xor_sync(ALL_LANES, x, step);
        x = other > x ? other : x;
    }
    return x;
}

template <class T>
__device__ __forceinline__ void take_lower(const T* from, long long from_stride, T* to, long long to_stride,
                                           Place* not_finite, int orient, long long n) {
    const long long top = (long long)blockIdx.x * ROWS_OF_THREAD * THREADS + threadIdx.x;
    Place found = 0;
    for (long long j = blockIdx.y; j < n; j += gridDim.y) {
        // Tests the last row of the block, so that the threads of a warp do not diverge.
        if (top - threadIdx.x + ROWS_OF_THREAD * THREADS <= j) continue;
        const bool negated = orient && from[j * from_stride + j] < T(0);
#pragma unroll
        for (int e = 0; e < ROWS_OF_THREAD; ++e) {
            const long long i = top + e * THREADS;
            if (i < j || i >= n) continue;
            const T x = from[j * from_stride + i];
            // The first place is the one whose complement is the largest.
            const Place place = ~(Place)(j * n + i);
            if (!(fabs((double)x) <= LARGEST) && place > found) found = place;
            if (to) to[j * to_stride + i] = negated ? -x : x;
        }
    }
    found = max_of_warp(found);
    if (threadIdx.x % 32 == 0 && found) atomicMax(not_finite, found);
}

template <class T>
__device__ __forceinline__ void give_lower(const T* from, long long from_stride, T* to, long long n) {
    const long long top = (long long)blockIdx.x * ROWS_OF_THREAD * THREADS + threadIdx.x;
    for (long long j = blockIdx.y; j < n; j += gridDim.y)
#pragma unroll
        for (int e = 0; e < ROWS_OF_THREAD; ++e) {
            const long long i = top + e * THREADS;
            if (i < n) to[j * n + i] = i < j ? T(0) : from[j * from_stride + i];
        }
}

#define TRIANGLE(T, NAME)                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        take_lower_##NAME(const T* from, long long from_stride, T* to, long long to_stride, Place* not_finite, \
                          int orient, long long n) {                                                         \
        take_lower(from, from_stride, to, to_stride, not_finite, orient, n);                                 \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        give_lower_##NAME(const T* from, long long from_stride, T* to, long long n) {                        \
        give_lower(from, from_stride, to, n);                                                                \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        diagonal_##NAME(const T* from, long long from_stride, double* to, long long n) {                     \
        __shared__ RowSquares shared;                                                                        \
        const long long top = (long long)blockIdx.x * ROWS_OF_SQUARES;                                       \
        row_squares(from, from_stride, (const T*)nullptr, true, top, n, n, to, nullptr, false, shared);      \
    }

TRIANGLE(float, f32)
TRIANGLE(double, f64)

EXPORT_LAYOUT(triangle, THREADS, ROWS_OF_THREAD, ROWS_OF_SQUARES)
