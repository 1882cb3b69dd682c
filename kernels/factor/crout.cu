// Crout's factorization, column by column, one thread for each entry: Ruschel 2016, section 4.5.
//
// Shapes, column-major, columns n apart: a, the matrix to factor; l, its factor; they may be the same matrix except for
// crout_single. Only lower triangles are used. info: one number, 0 before the first launch.
//
// A launch computes column j of l from the columns before it and column j of a. If a pivot^2 is not positive, it
// stores the column's number, counted from 1, in info, and every later launch does nothing.
//
// Launch: blocks and a grid of x only. crout_single: a thread for each of the rows j .. n, each of which computes the
// pivot itself. crout_diagonal: one thread. crout_below, after it: a thread for each of the rows j + 1 .. n. A block
// may be of any size. Offsets are 64 bits wide.

// Independent chains of a sum of products: a single chain would wait for every load and addition.
constexpr int SUMS = 4;

// sum over p < j of l_ip l_jp
template <class T>
__device__ __forceinline__ T dot(const T* l, long long n, long long i, long long j) {
    T sum[SUMS] = {};
    long long p = 0;
    for (; p + SUMS <= j; p += SUMS)
#pragma unroll
        for (int c = 0; c < SUMS; ++c) sum[c] = fma(l[(p + c) * n + i], l[(p + c) * n + j], sum[c]);
    for (; p < j; ++p) sum[0] = fma(l[p * n + i], l[p * n + j], sum[0]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template <class T>
__device__ __forceinline__ void single(const T* a, T* l, long long n, long long j, int* info) {
    if (*info) return;
    const long long i = j + (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T square = a[j * n + j] - dot(l, n, j, j);
    if (i > j) {
        l[j * n + i] = (a[j * n + i] - dot(l, n, i, j)) / sqrt(square);
    } else if (square > T(0)) {
        l[j * n + j] = sqrt(square);
    } else {
        *info = (int)j + 1;
    }
}

template <class T>
__device__ __forceinline__ void diagonal(const T* a, T* l, long long n, long long j, int* info) {
    if (*info) return;
    const T square = a[j * n + j] - dot(l, n, j, j);
    if (square > T(0))
        l[j * n + j] = sqrt(square);
    else
        *info = (int)j + 1;
}

template <class T>
__device__ __forceinline__ void below(const T* a, T* l, long long n, long long j, const int* info) {
    if (*info) return;
    const long long i = j + 1 + (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) l[j * n + i] = (a[j * n + i] - dot(l, n, i, j)) / l[j * n + j];
}

#define CROUT(T, NAME)                                                                                       \
    extern "C" __global__ void crout_single_##NAME(const T* a, T* l, long long n, long long j, int* info) {  \
        single<T>(a, l, n, j, info);                                                                         \
    }                                                                                                        \
    extern "C" __global__ void crout_diagonal_##NAME(const T* a, T* l, long long n, long long j,             \
                                                     int* info) {                                            \
        diagonal<T>(a, l, n, j, info);                                                                       \
    }                                                                                                        \
    extern "C" __global__ void crout_below_##NAME(const T* a, T* l, long long n, long long j, int* info) {   \
        below<T>(a, l, n, j, info);                                                                          \
    }

CROUT(float, f32)
CROUT(double, f64)
