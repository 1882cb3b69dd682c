// Products with L, whose strict upper triangle is not read, and L times a number.
//
// Shapes, column-major:
//     l       n x n, entry (i, j), i >= j, at l + j * stride + i; read, or written by scale
//     from    n x count, column c at c * n; read
//     to      n x count, column c at c * n; written
//
// Launch: blocks of 256 threads; y of the grid for each column of `from`. x for each 256 rows (lower), for each eight
// columns of L (transposed), for each 256 rows, and y for each column of L (scale).
#include "common/layout.cuh"
#include "common/panel.cuh"

constexpr int LOADS_AHEAD = 8;  // entries of a row that are loaded together

// L x: a thread has a row.
template <class T>
__device__ __forceinline__ void lower(const T* l, long long stride, const T* from, T* to, long long n) {
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    from += blockIdx.y * n;
    double sum = 0;
    for (long long j = 0; j <= i; j += LOADS_AHEAD) {
        double entries[LOADS_AHEAD];
#pragma unroll
        for (int e = 0; e < LOADS_AHEAD; ++e) entries[e] = j + e <= i ? (double)l[(j + e) * stride + i] : 0.0;
#pragma unroll
        for (int e = 0; e < LOADS_AHEAD; ++e)
            if (j + e <= i) sum = fma(entries[e], (double)from[j + e], sum);
    }
    to[blockIdx.y * n + i] = (T)sum;
}

// L^T x: a warp has a column of L.
template <class T>
__device__ __forceinline__ void transposed(const T* l, long long stride, const T* from, T* to, long long n) {
    const long long j = (long long)blockIdx.x * WARPS + threadIdx.x / 32;
    if (j >= n) return;
    from += blockIdx.y * n;
    double sum = 0;
    for (long long i = j + threadIdx.x % 32; i < n; i += 32)
        sum = fma((double)l[j * stride + i], (double)from[i], sum);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
    if (threadIdx.x % 32 == 0) to[blockIdx.y * n + j] = (T)sum;
}

template <class T>
__device__ __forceinline__ void scale(T* l, long long stride, T factor, long long n, long long cols) {
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    for (long long j = blockIdx.y; j < cols; j += gridDim.y)
        if (i >= j && i < n) l[j * stride + i] *= factor;
}

#define MULTIPLY(T, NAME)                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        multiply_lower_##NAME(const T* l, long long stride, const T* from, T* to, long long n) {             \
        lower(l, stride, from, to, n);                                                                       \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        multiply_transposed_##NAME(const T* l, long long stride, const T* from, T* to, long long n) {        \
        transposed(l, stride, from, to, n);                                                                  \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        scale_##NAME(T* l, long long stride, T factor, long long n, long long cols) {                        \
        scale(l, stride, factor, n, cols);                                                                   \
    }

MULTIPLY(float, f32)
MULTIPLY(double, f64)

EXPORT_LAYOUT(multiply, THREADS, WARPS)
