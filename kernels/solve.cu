// Triangular systems with a factor in device memory, a panel at a time: L X = B from the first panel on, then
// L^T X = B from the last on.
//
// Shapes, column-major: l, the panel's diagonal block, entry (i, j) at l + j * stride + i, of `cols` columns, with
// `below` more rows under it; x, the rows of the right-hand sides from the panel's first on, column c at
// x + c * x_stride; in place.
//
// Launch: solve_forward, solve_backward: blocks of 64 threads, one for each right-hand side; cols <= 64.
// solve_below: blocks of x threads for the rows below, y for the right-hand sides. solve_above: blocks of 256
// threads, x for the columns of the panel, y for the right-hand sides.
#include "common.cuh"

constexpr int ROWS = 64;
constexpr int REDUCERS = 256;

// The diagonal block: rows downwards, or with its transpose upwards.
template <class T, bool FORWARD>
__device__ __forceinline__ void block(const T* l, long long stride, T* x, long long x_stride, int cols) {
    __shared__ T solved[ROWS];
    const int i = threadIdx.x;
    T* const own = x + blockIdx.x * x_stride;
    T rest = i < cols ? own[i] : T(0);
    for (int step = 0; step < cols; ++step) {
        const int j = FORWARD ? step : cols - 1 - step;
        if (i == j) solved[j] = rest /= l[j * stride + j];
        __syncthreads();
        const bool waits = FORWARD ? i > j && i < cols : i < j;
        if (waits) rest = fma(-(FORWARD ? l[j * stride + i] : l[i * stride + j]), solved[j], rest);
    }
    if (i < cols) own[i] = rest;
}

// x below <- x below - L below x
template <class T>
__device__ __forceinline__ void take_below(const T* l, long long stride, T* x, long long x_stride, int cols,
                                           long long below) {
    const long long i = cols + (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cols + below) return;
    T* const own = x + blockIdx.y * x_stride;
    T rest = own[i];
    for (int j = 0; j < cols; ++j) rest = fma(-l[j * stride + i], own[j], rest);
    own[i] = rest;
}

// x <- x - (L below)^T x below
template <class T>
__device__ __forceinline__ void take_above(const T* l, long long stride, T* x, long long x_stride, int cols,
                                           long long below) {
    __shared__ T sums[REDUCERS];
    const int j = blockIdx.x;
    T* const own = x + blockIdx.y * x_stride;
    T sum = 0;
    for (long long i = cols + threadIdx.x; i < cols + below; i += REDUCERS)
        sum = fma(l[j * stride + i], own[i], sum);
    sums[threadIdx.x] = sum;
    for (int half = REDUCERS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) own[j] -= sums[0];
}

#define SOLVE(T, NAME)                                                                                       \
    extern "C" __global__ void solve_forward_##NAME(const T* l, long long stride, T* x, long long x_stride,  \
                                                    int cols) {                                              \
        block<T, true>(l, stride, x, x_stride, cols);                                                        \
    }                                                                                                        \
    extern "C" __global__ void solve_backward_##NAME(const T* l, long long stride, T* x, long long x_stride, \
                                                     int cols) {                                             \
        block<T, false>(l, stride, x, x_stride, cols);                                                       \
    }                                                                                                        \
    extern "C" __global__ void solve_below_##NAME(const T* l, long long stride, T* x, long long x_stride,    \
                                                  int cols, long long below) {                               \
        take_below<T>(l, stride, x, x_stride, cols, below);                                                  \
    }                                                                                                        \
    extern "C" __global__ void solve_above_##NAME(const T* l, long long stride, T* x, long long x_stride,    \
                                                  int cols, long long below) {                               \
        take_above<T>(l, stride, x, x_stride, cols, below);                                                  \
    }

SOLVE(float, f32)
SOLVE(double, f64)
