// PolyBench's Cholesky in CUDA with shared memory: the diagonal by a strided reduction of one block, the column
// below it by tiles of the pivot row. After Benatti, Carpi and Pasquali, "Cholesky factorization".
//
// Shapes: l (n x n), column-major, columns n apart, factored in place, its lower triangle; reciprocals (n), of
// the pivots; info as in crout.cu.
//
// Launch: blocks and a grid of x only. tiled_diagonal: one block. tiled_below, after it: a thread for each of
// the rows j + 1 .. n. Dynamic shared memory: blockDim.x scalars, rounded up to 16 bytes, for a block's
// partial sums, or its tile of the pivot row.
#include "common/memory.cuh"

// The number of threads with a partial sum before the last step of the reduction, which one thread does.
constexpr unsigned LAST_THREADS = 32;

template <class T>
__device__ __forceinline__ void diagonal(T* l, T* reciprocals, long long n, long long j, int* info) {
    DYNAMIC_SHARED(T, sums);
    if (*info) return;
    T sum = 0;
    for (long long p = threadIdx.x; p < j; p += blockDim.x) sum = fma(l[p * n + j], l[p * n + j], sum);
    sums[threadIdx.x] = sum;
    __syncthreads();
    const unsigned last = blockDim.x < LAST_THREADS ? blockDim.x : LAST_THREADS;
    if (threadIdx.x < last) {
        for (unsigned t = threadIdx.x + last; t < blockDim.x; t += last) sum += sums[t];
        sums[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (unsigned t = 1; t < last; ++t) sum += sums[t];
    const T square = l[j * n + j] - sum;
    if (square > T(0)) {
        l[j * n + j] = sqrt(square);
        reciprocals[j] = T(1) / sqrt(square);
    } else {
        *info = (int)j + 1;
    }
}

template <class T>
__device__ __forceinline__ void below(T* l, const T* reciprocals, long long n, long long j, const int* info) {
    DYNAMIC_SHARED(T, tile);
    if (*info) return;
    const long long i = j + 1 + (long long)blockIdx.x * blockDim.x + threadIdx.x;
    T x = i < n ? l[j * n + i] : T(0);
    for (long long first = 0; first < j; first += blockDim.x) {
        const long long own = first + threadIdx.x;
        tile[threadIdx.x] = own < j ? l[own * n + j] : T(0);
        __syncthreads();
        const long long rest = j - first;
        const int cols = rest < blockDim.x ? (int)rest : (int)blockDim.x;
        if (i < n)
            for (int p = 0; p < cols; ++p) x = fma(-l[(first + p) * n + i], tile[p], x);
        __syncthreads();
    }
    if (i < n) l[j * n + i] = x * reciprocals[j];
}

#define TILED(T, NAME)                                                                                       \
    extern "C" __global__ void tiled_diagonal_##NAME(T* l, T* reciprocals, long long n, long long j,         \
                                                     int* info) {                                            \
        diagonal<T>(l, reciprocals, n, j, info);                                                             \
    }                                                                                                        \
    extern "C" __global__ void tiled_below_##NAME(T* l, T* reciprocals, long long n, long long j,            \
                                                  int* info) {                                               \
        below<T>(l, reciprocals, n, j, info);                                                                \
    }

TILED(float, f32)
TILED(double, f64)
