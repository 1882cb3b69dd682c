// The upper factor U with A = U^T U, a pivot and its row at a time: after "Improving Parallel Cholesky
// Factorization" (in SYCL, November 2021).
//
// Shapes: u (n x n), row-major, rows n apart, factored in place: the upper triangle, which is the lower one in
// column-major order. info as in crout.cu.
//
// Launch: blocks and a grid of x only. For pivot k: pivot_sum, a thread for each of the rows above the pivot, which
// subtract their squares from it in any order; pivot_root, one thread; pivot_row, a thread for each of the
// columns k + 1 .. n.

template <class T>
__device__ __forceinline__ void sum(T* u, long long n, long long k, const int* info) {
    if (*info) return;
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < k) atomicAdd(&u[k * n + k], -(u[i * n + k] * u[i * n + k]));
}

template <class T>
__device__ __forceinline__ void root(T* u, long long n, long long k, int* info) {
    if (*info) return;
    const T square = u[k * n + k];
    if (square > T(0))
        u[k * n + k] = sqrt(square);
    else
        *info = (int)k + 1;
}

template <class T>
__device__ __forceinline__ void row(T* u, long long n, long long k, const int* info) {
    if (*info) return;
    const long long j = k + 1 + (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    T x = u[k * n + j];
    for (long long i = 0; i < k; ++i) x = fma(-u[i * n + k], u[i * n + j], x);
    u[k * n + j] = x / u[k * n + k];
}

#define PIVOT_ROWS(T, NAME)                                                                                  \
    extern "C" __global__ void pivot_sum_##NAME(T* u, long long n, long long k, int* info) {                 \
        sum<T>(u, n, k, info);                                                                               \
    }                                                                                                        \
    extern "C" __global__ void pivot_root_##NAME(T* u, long long n, long long k, int* info) {                \
        root<T>(u, n, k, info);                                                                              \
    }                                                                                                        \
    extern "C" __global__ void pivot_row_##NAME(T* u, long long n, long long k, int* info) {                 \
        row<T>(u, n, k, info);                                                                               \
    }

PIVOT_ROWS(float, f32)
PIVOT_ROWS(double, f64)
