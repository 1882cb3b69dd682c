// Computes the rows and columns of L for new rows and columns of A, on the device.
//
// `border_schur`: K <- K - S^T S, in the lower triangle
//     s       rows x r, entry (p, i) at s + i * s_stride + p; read
//     k       r x r, entry (i, j), i >= j, at k + j * k_stride + i; read and written
// Launch: blocks of 256 threads, a warp for an entry: x of the grid for each eight rows of K, y is any.
//
// `border_below`: X <- X C^-T
//     c       r x r, lower triangular, entry (i, j), i >= j, at c + j * c_stride + i; read
//     x       rows x r, entry (i, j) at x + j * x_stride + i; read and written
// Launch: blocks of 256 threads, a thread for a row of X.
//
// `border_left`: rows of L from the columns of S
//     s       rows x r, as above; read
//     to      entry (i, p), i < r, p < rows, at to + p * to_stride + i; written
// Launch: blocks of 256 threads, a thread for a row of S.
//
// Sums are in double precision.
#include "common/layout.cuh"
#include "common/panel.cuh"

template <class T>
__device__ __forceinline__ void schur(const T* s, long long s_stride, T* k, long long k_stride, long long rows,
                                      long long r) {
    const long long i = (long long)blockIdx.x * WARPS + threadIdx.x / 32;
    if (i >= r) return;
    for (long long j = blockIdx.y; j <= i; j += gridDim.y) {
        double sum = 0;
        for (long long p = threadIdx.x % 32; p < rows; p += 32)
            sum = fma((double)s[i * s_stride + p], (double)s[j * s_stride + p], sum);
#pragma unroll
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
        if (threadIdx.x % 32 == 0) k[j * k_stride + i] = (T)((double)k[j * k_stride + i] - sum);
    }
}

template <class T>
__device__ __forceinline__ void below(const T* c, long long c_stride, T* x, long long x_stride, long long rows,
                                      long long r) {
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= rows) return;
    for (long long j = 0; j < r; ++j) {
        double sum = (double)x[j * x_stride + i];
        for (long long p = 0; p < j; ++p)
            sum = fma(-(double)x[p * x_stride + i], (double)c[p * c_stride + j], sum);
        x[j * x_stride + i] = (T)(sum / (double)c[j * c_stride + j]);
    }
}

template <class T>
__device__ __forceinline__ void left(const T* s, long long s_stride, T* to, long long to_stride, long long rows,
                                     long long r) {
    const long long p = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (p >= rows) return;
    for (long long i = 0; i < r; ++i) to[p * to_stride + i] = s[i * s_stride + p];
}

#define BORDER(T, NAME)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        border_schur_##NAME(const T* s, long long s_stride, T* k, long long k_stride, long long rows,        \
                            long long r) {                                                                   \
        schur(s, s_stride, k, k_stride, rows, r);                                                            \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        border_below_##NAME(const T* c, long long c_stride, T* x, long long x_stride, long long rows,        \
                            long long r) {                                                                   \
        below(c, c_stride, x, x_stride, rows, r);                                                            \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        border_left_##NAME(const T* s, long long s_stride, T* to, long long to_stride, long long rows,       \
                           long long r) {                                                                    \
        left(s, s_stride, to, to_stride, rows, r);                                                           \
    }

BORDER(float, f32)
BORDER(double, f64)

EXPORT_LAYOUT(border, THREADS, WARPS)
