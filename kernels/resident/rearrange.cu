// Inserts, removes and moves rows and columns of L.
//
// gather: copies entries of another matrix, by rows and columns. Shapes, column-major:
//     from       entry (r, c) at from + c * from_stride + r; read
//     to         n x cols, entry (i, j) at to + j * to_stride + i; written, if `triangle` is not zero for i >= j only:
//                entry (rows[i], columns[j]) of `from`, or zero where rows[i] < columns[j]
//     rows       n; -1 for a row of zeros
//     columns    cols; INT_MAX for a column of zeros
// Launch: blocks of 256 threads; x of the grid for each 1024 rows, y for each four columns, or fewer.
//
// move_rows: moves rows of leading columns of L in place, all of them up or all of them down:
//     l          entry (i, j) at l + j * stride + i; rows `first` .. n of the first `cols` columns are written, from rows that
//                lie in the same columns and are not before `first`
//     rows       n: the old row of each; -1 for a row of zeros
//     down       whether rows move down: otherwise rows[i] >= i, with it rows[i] <= i
// Launch: blocks of 256 threads; a block for each column, or fewer.
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

// Rows and columns that a block of a gather copies.
constexpr int ROWS_OF_THREAD = 4;
constexpr int ROWS_OF_BLOCK = ROWS_OF_THREAD * THREADS;
constexpr int COLUMNS_OF_BLOCK = 4;

template <class T>
__device__ __forceinline__ void gather(const T* from, long long from_stride, T* to, long long to_stride,
                                       const int* rows, const int* columns, long long n, int cols,
                                       int triangle) {
    const long long first = (long long)blockIdx.x * ROWS_OF_BLOCK + threadIdx.x;
    int row[ROWS_OF_THREAD];
#pragma unroll
    for (int e = 0; e < ROWS_OF_THREAD; ++e) row[e] = first + e * THREADS < n ? rows[first + e * THREADS] : -1;
    const long long step = (long long)gridDim.y * COLUMNS_OF_BLOCK;
    for (long long j0 = (long long)blockIdx.y * COLUMNS_OF_BLOCK; j0 < cols; j0 += step) {
        // No row of the block is on or below the diagonal.
        if (triangle && (blockIdx.x + 1LL) * ROWS_OF_BLOCK <= j0) return;
        T entries[COLUMNS_OF_BLOCK][ROWS_OF_THREAD];
#pragma unroll
        for (int c = 0; c < COLUMNS_OF_BLOCK; ++c) {
            const int column = columns[min(j0 + c, cols - 1LL)];
#pragma unroll
            for (int e = 0; e < ROWS_OF_THREAD; ++e)
                entries[c][e] = row[e] < column ? T(0) : from[column * from_stride + row[e]];
        }
#pragma unroll
        for (int c = 0; c < COLUMNS_OF_BLOCK; ++c)
#pragma unroll
            for (int e = 0; e < ROWS_OF_THREAD; ++e) {
                const long long i = first + e * THREADS, j = j0 + c;
                if (i < n && j < cols && (!triangle || i >= j)) to[j * to_stride + i] = entries[c][e];
            }
    }
}

template <class T>
__device__ __forceinline__ void move_rows(T* l, long long stride, const int* rows, long long first, long long n,
                                          int cols, int down) {
    const long long blocks = (n - first + ROWS_OF_BLOCK - 1) / ROWS_OF_BLOCK;
    for (long long j = blockIdx.x; j < cols; j += gridDim.x)
        for (long long b = 0; b < blocks; ++b) {
            const long long i0 = first + (down ? blocks - 1 - b : b) * ROWS_OF_BLOCK + threadIdx.x;
            T entries[ROWS_OF_THREAD];
#pragma unroll
            for (int e = 0; e < ROWS_OF_THREAD; ++e) {
                const int row = i0 + e * THREADS < n ? rows[i0 + e * THREADS] : -1;
                entries[e] = row < 0 ? T(0) : l[j * stride + row];
            }
            // Rows that later ones need are not among those that are written now.
            __syncthreads();
#pragma unroll
            for (int e = 0; e < ROWS_OF_THREAD; ++e)
                if (i0 + e * THREADS < n) l[j * stride + i0 + e * THREADS] = entries[e];
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
        move_rows_##NAME(T* l, long long stride, const int* rows, long long first, long long n, int cols,    \
                         int down) {                                                                         \
        move_rows(l, stride, rows, first, n, cols, down);                                                    \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        move_back_##NAME(T* l, long long stride, const T* old, const double* x, const double* s,               \
                         const double* pivots, long long f, long long t, long long n) {                     \
        rotate(l, stride, old, x, s, pivots, f, t, n);                                                        \
    }

REARRANGE(float, f32)
REARRANGE(double, f64)

EXPORT_LAYOUT(rearrange, THREADS, ROWS_OF_BLOCK, COLUMNS_OF_BLOCK)
