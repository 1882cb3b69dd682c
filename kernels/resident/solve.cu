// Triangular systems with a factor in device memory, a panel of 64 columns at a time: L Y = B from the first on, then
// L^T X = Y from the last on.
//
// Every block solves with the diagonal block itself, by its inverse and a correction, and takes its rows, or columns,
// of L from there:
//
//     y = D^-1 b      y <- y + D^-1 (b - D y)      b <- b - L y  (rows below, or of L^T above)
//
// Shapes, column-major: l (n x n), entry (i, j), i >= j, at l + j * stride + i; inverse (panels x 64 x 64), as
// invert.cu leaves it; from and to (n x count), column c at c * x_stride. `from` is b, and changed; the panel's y goes
// to `to`. first: the panel's first column, a multiple of 64.
//
// Launch: blocks of 256 threads; y of the grid for each RHS right-hand sides; x for each 256 rows below the panel
// (forward) or 64 columns before it (backward), at least one.
#include "common/common.cuh"

constexpr int ROWS = 64;
constexpr int THREADS = 256;
constexpr int PARTS = THREADS / ROWS; // threads that share a row of the diagonal block
constexpr int EACH = ROWS / PARTS;    // columns of it for each
constexpr int WARPS = THREADS / 32;

template <int RHS>
struct Solved {
    double x[ROWS][RHS], b[ROWS][RHS], parts[PARTS][RHS][ROWS];
};

// A thread's share of a row of D or D^-1, or of its transpose: entries from column `part` EACH on.
template <bool FORWARD, class S>
__device__ __forceinline__ void load(const S* block, long long stride, int cols, double (&a)[EACH]) {
    const int i = threadIdx.x % ROWS, first = threadIdx.x / ROWS * EACH;
#pragma unroll
    for (int s = 0; s < EACH; ++s) {
        const int j = first + s, row = FORWARD ? i : j, column = FORWARD ? j : i;
        a[s] = column <= row && row < cols ? (double)block[column * stride + row] : 0.0;
    }
}

// to <- base + sign a v, by all threads.
template <int RHS>
__device__ __forceinline__ void multiply(Solved<RHS>& shared, const double (&a)[EACH], double (*v)[RHS],
                                         double (*base)[RHS], double sign, double (*to)[RHS]) {
    const int i = threadIdx.x % ROWS, part = threadIdx.x / ROWS;
#pragma unroll
    for (int r = 0; r < RHS; ++r) {
        double sum = 0;
#pragma unroll
        for (int s = 0; s < EACH; ++s) sum = fma(a[s], v[part * EACH + s][r], sum);
        shared.parts[part][r][i] = sum;
    }
    __syncthreads();
    for (int r = part; r < RHS; r += PARTS) {
        double sum = 0;
#pragma unroll
        for (int other = 0; other < PARTS; ++other) sum += shared.parts[other][r][i];
        to[i][r] = fma(sign, sum, base ? base[i][r] : 0.0);
    }
    __syncthreads();
}

// The diagonal block's system: y in shared.x, and by the first of the blocks to `to`.
template <bool FORWARD, int RHS, class T>
__device__ __forceinline__ void diagonal(Solved<RHS>& shared, const T* l, long long stride,
                                         const double* inverse, const T* from, T* to, long long x_stride,
                                         long long first, int cols, int columns) {
    const int i = threadIdx.x % ROWS, part = threadIdx.x / ROWS;
    double known[EACH], block[EACH];
    load<FORWARD>(inverse + first * ROWS, ROWS, ROWS, known);
    load<FORWARD>(l + first * (stride + 1), stride, cols, block);
    for (int r = part; r < RHS; r += PARTS)
        shared.b[i][r] = r < columns && i < cols ? (double)from[r * x_stride + first + i] : 0.0;
    __syncthreads();
    multiply<RHS>(shared, known, shared.b, nullptr, 1.0, shared.x);
    multiply<RHS>(shared, block, shared.x, shared.b, -1.0, shared.b);
    multiply<RHS>(shared, known, shared.b, shared.x, 1.0, shared.x);
    for (int r = part; r < columns; r += PARTS)
        if (blockIdx.x == 0 && i < cols) to[r * x_stride + first + i] = (T)shared.x[i][r];
}

template <int RHS, class T>
__device__ __forceinline__ void forward(const T* l, long long stride, const double* inverse, T* from, T* to,
                                        long long x_stride, long long first, long long n, int count) {
    __shared__ Solved<RHS> shared;
    const int columns = min(RHS, count - (int)blockIdx.y * RHS), cols = (int)min((long long)ROWS, n - first);
    from += blockIdx.y * RHS * x_stride;
    to += blockIdx.y * RHS * x_stride;
    diagonal<true, RHS>(shared, l, stride, inverse, from, to, x_stride, first, cols, columns);
    const long long i = first + ROWS + (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    double rest[RHS];
#pragma unroll
    for (int r = 0; r < RHS; ++r) rest[r] = r < columns ? (double)from[r * x_stride + i] : 0.0;
    l += first * stride + i;
#pragma unroll 16
    for (int j = 0; j < ROWS; ++j) {
        const double entry = (double)*l;
        l += stride;
#pragma unroll
        for (int r = 0; r < RHS; ++r) rest[r] = fma(-entry, shared.x[j][r], rest[r]);
    }
#pragma unroll
    for (int r = 0; r < RHS; ++r)
        if (r < columns) from[r * x_stride + i] = (T)rest[r];
}

template <int RHS, class T>
__device__ __forceinline__ void backward(const T* l, long long stride, const double* inverse, T* from, T* to,
                                         long long x_stride, long long first, long long n, int count) {
    constexpr int COLUMNS = ROWS / WARPS; // of L, for a warp
    __shared__ Solved<RHS> shared;
    const int columns = min(RHS, count - (int)blockIdx.y * RHS), cols = (int)min((long long)ROWS, n - first);
    from += blockIdx.y * RHS * x_stride;
    to += blockIdx.y * RHS * x_stride;
    const int lane = threadIdx.x % 32;
    const long long begin = (long long)blockIdx.x * ROWS + threadIdx.x / 32 * COLUMNS;
    double entries[COLUMNS][2];
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int i = lane + 32 * half;
            entries[c][half] = begin < first && i < cols ? (double)l[(begin + c) * stride + first + i] : 0.0;
        }
    diagonal<false, RHS>(shared, l, stride, inverse, from, to, x_stride, first, cols, columns);
    if (begin >= first) return;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
        for (int r = 0; r < RHS; ++r) {
            double sum = fma(entries[c][0], shared.x[lane][r], entries[c][1] * shared.x[lane + 32][r]);
#pragma unroll
            for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
            T* const own = from + r * x_stride + begin + c;
            if (lane == 0 && r < columns) *own = (T)((double)*own - sum);
        }
}

#define SOLVE(WAY, RHS, T, NAME)                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        solve_##WAY##_##RHS##_##NAME(const T* l, long long stride, const double* inverse, T* from, T* to,    \
                                     long long x_stride, long long first, long long n, int count) {          \
        WAY<RHS>(l, stride, inverse, from, to, x_stride, first, n, count);                                   \
    }

SOLVE(forward, 1, float, f32)
SOLVE(forward, 1, double, f64)
SOLVE(forward, 8, float, f32)
SOLVE(forward, 8, double, f64)
SOLVE(backward, 1, float, f32)
SOLVE(backward, 1, double, f64)
SOLVE(backward, 8, float, f32)
SOLVE(backward, 8, double, f64)
