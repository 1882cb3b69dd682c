// D^-1 of the diagonal blocks of panels with rows below, for chain.cu.
//
// Shapes, column-major: the blocks (64 x 64) lie along the diagonal, entry (i, j), i >= j, of the first at
// l + j * l_stride + i; read. inverse (panels x 64 x 64): zero above the diagonal; written, in double precision.
//
// Launch: a block for each panel, of 64 threads, which have a column each and take eight rows of it at a time.
#include "common.cuh"

constexpr int ROWS = 64;

template <class T>
__device__ __forceinline__ void invert(const T* l, long long l_stride, double* inverse) {
    constexpr int STEP = 8;
    // D by columns, its diagonal inverted; entry (j, c) of the inverse, j > c, in its upper triangle at [j][c].
    __shared__ double d[ROWS][ROWS + 1];
    l += (long long)blockIdx.x * ROWS * (l_stride + 1);
    inverse += (long long)blockIdx.x * ROWS * ROWS;
    const int c = threadIdx.x;
#pragma unroll 16
    for (int j = 0; j < ROWS; ++j)
        if (j <= c) d[j][c] = (double)l[j * l_stride + c];
    __syncthreads();
    d[c][c] = 1.0 / d[c][c];
    __syncthreads();
    for (int at = 0; at < ROWS; at += STEP) {
        double x[STEP];
#pragma unroll
        for (int i = 0; i < STEP; ++i) x[i] = at + i == c ? 1.0 : 0.0;
        for (int j = 0; j < at; ++j) {
            const double known = j >= c ? d[j][c] : 0.0;
#pragma unroll
            for (int i = 0; i < STEP; ++i) x[i] = fma(-d[j][at + i], known, x[i]);
        }
#pragma unroll
        for (int j = 0; j < STEP; ++j) {
            x[j] *= d[at + j][at + j];
#pragma unroll
            for (int i = j + 1; i < STEP; ++i) x[i] = fma(-d[at + j][at + i], x[j], x[i]);
        }
#pragma unroll
        for (int i = 0; i < STEP; ++i)
            if (at + i > c) d[at + i][c] = x[i];
    }
    __syncthreads();
    for (int j = 0; j < ROWS; ++j) inverse[j * ROWS + c] = c >= j ? d[c][j] : 0.0;
}

extern "C" __global__ void __launch_bounds__(64) invert_f32(const float* l, long long l_stride, double* inverse) {
    invert<float>(l, l_stride, inverse);
}
extern "C" __global__ void __launch_bounds__(64) invert_f64(const double* l, long long l_stride, double* inverse) {
    invert<double>(l, l_stride, inverse);
}
