// Triangular solves with a factor in device memory, a panel of 64 columns a launch: L Y = B from the first panel on,
// then L^T X = Y from the last panel on.
//
// Every thread block solves with the diagonal block by itself, as a product with its inverse and one correction; then
// it subtracts the product with its rows, or columns, of L:
//
//     y = D^-1 b      y <- y + D^-1 (b - D y)      b <- b - L y  (rows below, or of L^T above)
//
// Shapes, column-major:
//     l         n x n, entry (i, j), i >= j, at l + j * stride + i; read
//     inverse   panels x 64 x 64, as invert.cu leaves it; read
//     from      n x count, column c at c * x_stride: b; read, and changed in the rows that are not solved yet
//     to        n x count, column c at c * x_stride: y of the panel's rows; written
//     first     the panel's first column, a multiple of 64
//     cols      columns of the panel, at most 64: what there is of it, or, forward, less
//
// Launch: blocks of 256 threads; y of the grid for each RHS right-hand sides; x for each 256 rows below these columns
// (forward) or 64 columns before the panel (backward), at least one.
#include "common/layout.cuh"
#include "common/panel.cuh"

constexpr int ROW_THREADS = THREADS / PANEL_COLS;      // threads that share a row of the diagonal block
constexpr int ROW_ENTRIES = PANEL_COLS / ROW_THREADS;  // columns of it for each
constexpr int MAX_RHS = 8;  // right-hand sides that a thread block takes; where there is one, it takes one

template <int RHS>
struct SolveShared {
    double x[PANEL_COLS][RHS], b[PANEL_COLS][RHS], parts[ROW_THREADS][RHS][PANEL_COLS];
};

// Loads a thread's part of a row of D or D^-1, or of its transpose: entries from column `part` ROW_ENTRIES on.
template <bool FORWARD, class S>
__device__ __forceinline__ void load_row(const S* block, long long stride, int cols,
                                         double (&a)[ROW_ENTRIES]) {
    const int i = threadIdx.x % PANEL_COLS, first = threadIdx.x / PANEL_COLS * ROW_ENTRIES;
#pragma unroll
    for (int s = 0; s < ROW_ENTRIES; ++s) {
        const int j = first + s, row = FORWARD ? i : j, column = FORWARD ? j : i;
        a[s] = column <= row && row < cols ? (double)block[column * stride + row] : 0.0;
    }
}

// to <- base + sign A v, by all threads; A is D or D^-1, in parts of rows.
template <int RHS>
__device__ __forceinline__ void gemm(SolveShared<RHS>& shared, const double (&a)[ROW_ENTRIES],
                                     double (*v)[RHS], double (*base)[RHS], double sign, double (*to)[RHS]) {
    const int i = threadIdx.x % PANEL_COLS, part = threadIdx.x / PANEL_COLS;
#pragma unroll
    for (int r = 0; r < RHS; ++r) {
        double sum = 0;
#pragma unroll
        for (int s = 0; s < ROW_ENTRIES; ++s) sum = fma(a[s], v[part * ROW_ENTRIES + s][r], sum);
        shared.parts[part][r][i] = sum;
    }
    __syncthreads();
    for (int r = part; r < RHS; r += ROW_THREADS) {
        double sum = 0;
#pragma unroll
        for (int other = 0; other < ROW_THREADS; ++other) sum += shared.parts[other][r][i];
        to[i][r] = fma(sign, sum, base ? base[i][r] : 0.0);
    }
    __syncthreads();
}

// Solves with the diagonal block: y to shared.x, and by the first of the thread blocks to `to`.
template <bool FORWARD, int RHS, class T>
__device__ __forceinline__ void diagonal(SolveShared<RHS>& shared, const T* l, long long stride,
                                         const double* inverse, const T* from, T* to, long long x_stride,
                                         long long first, int cols, int columns) {
    const int i = threadIdx.x % PANEL_COLS, part = threadIdx.x / PANEL_COLS;
    double known[ROW_ENTRIES], block[ROW_ENTRIES];
    load_row<FORWARD>(inverse + first * PANEL_COLS, PANEL_COLS, cols, known);
    load_row<FORWARD>(l + first * (stride + 1), stride, cols, block);
    for (int r = part; r < RHS; r += ROW_THREADS)
        shared.b[i][r] = r < columns && i < cols ? (double)from[r * x_stride + first + i] : 0.0;
    __syncthreads();
    gemm<RHS>(shared, known, shared.b, nullptr, 1.0, shared.x);
    gemm<RHS>(shared, block, shared.x, shared.b, -1.0, shared.b);
    gemm<RHS>(shared, known, shared.b, shared.x, 1.0, shared.x);
    for (int r = part; r < columns; r += ROW_THREADS)
        if (blockIdx.x == 0 && i < cols) to[r * x_stride + first + i] = (T)shared.x[i][r];
}

template <int RHS, class T>
__device__ __forceinline__ void forward(const T* l, long long stride, const double* inverse, T* from, T* to,
                                        long long x_stride, long long first, int cols, long long n, int count) {
    __shared__ SolveShared<RHS> shared;
    const int columns = min(RHS, count - (int)blockIdx.y * RHS);
    from += blockIdx.y * RHS * x_stride;
    to += blockIdx.y * RHS * x_stride;
    diagonal<true, RHS>(shared, l, stride, inverse, from, to, x_stride, first, cols, columns);
    const long long i = first + cols + (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    double rest[RHS];
#pragma unroll
    for (int r = 0; r < RHS; ++r) rest[r] = r < columns ? (double)from[r * x_stride + i] : 0.0;
    l += first * stride + i;
    const auto subtract = [&](int j) {
        const double entry = (double)l[j * stride];
#pragma unroll
        for (int r = 0; r < RHS; ++r) rest[r] = fma(-entry, shared.x[j][r], rest[r]);
    };
    if (cols == PANEL_COLS) {
#pragma unroll 16
        for (int j = 0; j < PANEL_COLS; ++j) subtract(j);
    } else {
        for (int j = 0; j < cols; ++j) subtract(j);
    }
#pragma unroll
    for (int r = 0; r < RHS; ++r)
        if (r < columns) from[r * x_stride + i] = (T)rest[r];
}

template <int RHS, class T>
__device__ __forceinline__ void backward(const T* l, long long stride, const double* inverse, T* from, T* to,
                                         long long x_stride, long long first, int cols, long long n, int count) {
    constexpr int WARP_COLS = PANEL_COLS / WARPS;  // of L
    __shared__ SolveShared<RHS> shared;
    const int columns = min(RHS, count - (int)blockIdx.y * RHS);
    from += blockIdx.y * RHS * x_stride;
    to += blockIdx.y * RHS * x_stride;
    const int lane = threadIdx.x % 32;
    const long long begin = (long long)blockIdx.x * PANEL_COLS + threadIdx.x / 32 * WARP_COLS;
    double entries[WARP_COLS][2];
#pragma unroll
    for (int c = 0; c < WARP_COLS; ++c)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int i = lane + 32 * half;
            entries[c][half] = begin < first && i < cols ? (double)l[(begin + c) * stride + first + i] : 0.0;
        }
    diagonal<false, RHS>(shared, l, stride, inverse, from, to, x_stride, first, cols, columns);
    if (begin >= first) return;
#pragma unroll
    for (int c = 0; c < WARP_COLS; ++c)
#pragma unroll
        for (int r = 0; r < RHS; ++r) {
            double sum = fma(entries[c][0], shared.x[lane][r], entries[c][1] * shared.x[lane + 32][r]);
#pragma unroll
            for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
            T* const own = from + r * x_stride + begin + c;
            if (lane == 0 && r < columns) *own = (T)((double)*own - sum);
        }
}

#define SOLVE(WAY, RHS, T, NAME)                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        solve_##WAY##_##RHS##_##NAME(const T* l, long long stride, const double* inverse, T* from, T* to,    \
                                     long long x_stride, long long first, int cols, long long n, int count) {          \
        WAY<RHS>(l, stride, inverse, from, to, x_stride, first, cols, n, count);                                   \
    }

SOLVE(forward, 1, float, f32)
SOLVE(forward, 1, double, f64)
SOLVE(forward, 8, float, f32)
SOLVE(forward, 8, double, f64)
SOLVE(backward, 1, float, f32)
SOLVE(backward, 1, double, f64)
SOLVE(backward, 8, float, f32)
SOLVE(backward, 8, double, f64)

EXPORT_LAYOUT(solve, PANEL_COLS, THREADS, MAX_RHS)
