// Copies the lower triangle of a caller's matrix in device memory to the engine's own memory, and L back.
//
// `take_lower` copies a triangle and collects facts about it:
//     from    n x n, entry (i, j), i >= j, at from + j * from_stride + i; read
//     to      the same entry at to + j * to_stride + i, or null: then nothing is copied; written. With `orient`, columns whose
//             diagonal entry is negative are negated
//     facts   three, zeros before the launch: the bits of the magnitude of the largest entry, as a double; ~(j * n + i) of the
//             first entry (i, j), column after column, that is not finite; the bits of the largest positive diagonal entry
//
// `give_lower` writes L as a matrix:
//     from    n x n, entry (i, j), i >= j, at from + j * from_stride + i; read
//     to      n x n, packed: that entry at to + j * n + i, zeros above the diagonal; written
//
// Column-major. Launch: blocks of 256 threads; x of the grid for each 1024 rows, y is any.
#include "common/layout.cuh"
#include "common/panel.cuh"

typedef unsigned long long Fact;
constexpr int FACTS = 3;
constexpr int ROWS_OF_THREAD = 4;
constexpr double LARGEST = 1.7976931348623157e308;

__device__ __forceinline__ Fact max_of_warp(Fact x) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const Fact other = __shfl_xor_sync(ALL_LANES, x, step);
        x = other > x ? other : x;
    }
    return x;
}

template <class T>
__device__ __forceinline__ void take_lower(const T* from, long long from_stride, T* to, long long to_stride,
                                           Fact* facts, int orient, long long n) {
    const long long top = (long long)blockIdx.x * ROWS_OF_THREAD * THREADS + threadIdx.x;
    Fact largest = 0, not_finite = 0, diagonal = 0;
    for (long long j = blockIdx.y; j < n; j += gridDim.y) {
        // Tests the last row of the block, so that the threads of a warp do not diverge.
        if (top - threadIdx.x + ROWS_OF_THREAD * THREADS <= j) continue;
        const bool negated = orient && from[j * from_stride + j] < T(0);
#pragma unroll
        for (int e = 0; e < ROWS_OF_THREAD; ++e) {
            const long long i = top + e * THREADS;
            if (i < j || i >= n) continue;
            const T x = from[j * from_stride + i];
            const double magnitude = fabs((double)x);
            Fact bits;
            memcpy(&bits, &magnitude, sizeof bits);
            // The first place is the one whose complement is the largest.
            const Fact place = ~(Fact)(j * n + i);
            if (bits > largest) largest = bits;
            if (!(magnitude <= LARGEST) && place > not_finite) not_finite = place;
            if (i == j && x > T(0) && bits > diagonal) diagonal = bits;
            if (to) to[j * to_stride + i] = negated ? -x : x;
        }
    }
    const Fact found[FACTS] = {max_of_warp(largest), max_of_warp(not_finite), max_of_warp(diagonal)};
    if (threadIdx.x % 32 == 0)
        for (int f = 0; f < FACTS; ++f)
            if (found[f]) atomicMax(&facts[f], found[f]);
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
        take_lower_##NAME(const T* from, long long from_stride, T* to, long long to_stride, Fact* facts,     \
                          int orient, long long n) {                                                         \
        take_lower(from, from_stride, to, to_stride, facts, orient, n);                                      \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        give_lower_##NAME(const T* from, long long from_stride, T* to, long long n) {                        \
        give_lower(from, from_stride, to, n);                                                                \
    }

TRIANGLE(float, f32)
TRIANGLE(double, f64)

EXPORT_LAYOUT(triangle, THREADS, FACTS, ROWS_OF_THREAD)
