// Inserts, removes and moves rows and columns of L.
//
// gather: copies entries of another matrix, by rows and columns. Shapes, column-major:
//     from       entry (r, c) at from + c * from_stride + r; read
//     to         n x cols, entry (i, j) at to + j * to_stride + i; written, if `triangle` is not zero for i >= j only:
//                entry (rows[i], columns[j]) of `from`, or zero where rows[i] < columns[j]
//     rows       n; -1 for a row of zeros
//     columns    cols; INT_MAX for a column of zeros
// Launch: blocks of 256 threads; any grid.
//
// move_back: row f of A moves up to row t: columns t + 1 .. f of L, which a gather has moved there from t .. f - 1, are
// rotated into old column f, the last one first; that becomes column t. With z row f of the old L, in columns t .. f,
// and tau_j = |z_j..|,
//
//     l'_ij = c l_ij - s p_i        p_i <- s l_ij + c p_i        c = tau_j+1 / tau_j, s = z_j / tau_j
//
//     l          n x n, entry (i, j) at l + j * stride + i; columns t .. f are written
//     old        column f of the old L, which begins row f + 1 of it: n - f - 1 entries; read
//     x, s       c - 1 and s for j = t .. f - 1; read
//     pivots     the new diagonal for j = t .. f; read
// Launch: blocks of 256 threads, one for each row from t on.
#include "common/layout.cuh"
#include "common/panel.cuh"

constexpr int COLUMNS_AHEAD = 8;  // columns of a row that are loaded together

template <class T>
__device__ __forceinline__ void gather(const T* from, long long from_stride, T* to, long long to_stride,
                                       const int* rows, const int* columns, long long n, int cols,
                                       int triangle) {
    for (int j = blockIdx.y; j < cols; j += gridDim.y) {
        const int column = columns[j];
        for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += (long long)gridDim.x * THREADS) {
            if (triangle && i < j) continue;
            const int row = rows[i];
            to[j * to_stride + i] = row < column ? T(0) : from[column * from_stride + row];
        }
    }
}

template <class T>
__device__ __forceinline__ void rotate(T* l, long long stride, const T* old, const double* x, const double* s,
                                       const double* pivots, long long f, long long t, long long n) {
    const long long i = t + (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    double p = i > f ? (double)old[i - f - 1] : 0.0;
    // Columns after the row's own are not part of it.
    for (long long j = i < f ? i : f; j > t;) {
        const int some = (int)min((long long)COLUMNS_AHEAD, j - t);
        double entries[COLUMNS_AHEAD];
#pragma unroll
        for (int e = 0; e < COLUMNS_AHEAD; ++e) entries[e] = e < some ? (double)l[(j - e) * stride + i] : 0.0;
#pragma unroll
        for (int e = 0; e < COLUMNS_AHEAD; ++e)
            if (e < some) {
                const long long rotation = j - e - 1 - t;
                const double excess = x[rotation], sine = s[rotation], entry = entries[e];
                const double made = entry + fma(excess, entry, -(sine * p));
                l[(j - e) * stride + i] = (T)(i == j - e ? pivots[i - t] : made);
                p += fma(sine, entry, excess * p);
            }
        j -= some;
    }
    l[t * stride + i] = (T)(i == t ? pivots[0] : p);
}

#define REARRANGE(T, NAME)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        gather_##NAME(const T* from, long long from_stride, T* to, long long to_stride, const int* rows,     \
                      const int* columns, long long n, int cols, int triangle) {                             \
        gather(from, from_stride, to, to_stride, rows, columns, n, cols, triangle);                          \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        move_back_##NAME(T* l, long long stride, const T* old, const double* x, const double* s,               \
                         const double* pivots, long long f, long long t, long long n) {                     \
        rotate(l, stride, old, x, s, pivots, f, t, n);                                                        \
    }

REARRANGE(float, f32)
REARRANGE(double, f64)

EXPORT_LAYOUT(rearrange, THREADS)
