// The blocked Cholesky factorization of a matrix in device memory, a panel of 64 columns at a time. With
// A = [D .; B C]:
//
//     diagonal     D <- L with L L^T = D, and L^-1 to separate memory
//     panel        B <- X = B L^-T; where that loses digits, X <- X + (B - X L^T) L^-T  (trsm)
//     next_panel   C <- C - X X^T for the 64 columns of the next panel only             (gemm)
//     trailing     C <- C - X X^T for all columns; X is several panels                  (syrk)
//
// Four panels are subtracted from C together, so that C is read and written once for four panels. Until then
// next_panel subtracts from each of the four the panels before it.
//
// Shapes, column-major: see Factoring. Entries above the diagonal of A are not used, and are undefined after the
// kernels.
//     first   the panel's first column, a multiple of 64
//     from    the first column of the X to subtract, which ends before column `first`; diagonal and panel ignore it
//
// All arithmetic is in double precision.
//
// Launch, in this order on one stream, blocks of 256 threads: diagonal with one block; panel with one for each 64 rows
// below the diagonal block; next_panel with one for each 64 rows from `first` on; trailing with i (i + 1) for 128 i
// rows from there on.
#include "common/arithmetic.cuh"
#include "common/gemm.cuh"
#include "common/inverse.cuh"
#include "common/layout.cuh"

template <class T>
struct Factoring {
    T* l;  // A (n x n), then L: entry (i, j), i >= j, at l + j * stride + i, columns at multiples of 16 bytes
    long long stride;
    double* inverse;  // of the diagonal block (64 x 64), and whether it loses digits: common/inverse.cuh
    int* refine;
    // 1 + the first column whose pivot^2 is not positive, or 0. Once it is set the kernels do nothing.
    int* status;
    long long n;
};

constexpr int ROW_THREADS = THREADS / PANEL_COLS;      // threads that share a row of the diagonal block
constexpr int ROW_ENTRIES = PANEL_COLS / ROW_THREADS;  // columns of it that each keeps, ROW_THREADS apart
constexpr int BUFFERS = 3;  // pairs of tiles in shared memory: one in use, two being copied

// reciprocal_root is accurate for squares between these.
constexpr double MIN_USUAL_SQUARE = 1e-280, MAX_USUAL_SQUARE = 1e280;

// Factors the diagonal block column by column in registers, with one barrier a column. Returns 1 + the first column
// whose pivot^2 is not positive, or 0.
template <class T>
__device__ __forceinline__ int factor(double (*columns)[PANEL_COLS], T* l, long long stride, int height) {
    const int i = threadIdx.x % PANEL_COLS, part = threadIdx.x / PANEL_COLS;
    double a[ROW_ENTRIES];
#pragma unroll
    for (int t = 0; t < ROW_ENTRIES; ++t) {
        const int j = t * ROW_THREADS + part;
        a[t] = j <= i && i < height ? (double)l[j * stride + i] : i == j ? 1.0 : 0.0;
    }
    int broken = 0;
#pragma unroll
    for (int t = 0; t < ROW_ENTRIES; ++t)
#pragma unroll 1
        for (int p = 0; p < ROW_THREADS; ++p) {
            const int j = t * ROW_THREADS + p;
            // Two buffers: some threads may still read the column before.
            double* const column = columns[j % 2];
            if (part == p) column[i] = a[t];
            __syncthreads();
            double pivot_sq = column[j];
            if (!(pivot_sq > 0)) {
                if (broken == 0) broken = 1 + j;
                pivot_sq = 1.0;
            }
            const bool usual = pivot_sq > MIN_USUAL_SQUARE && pivot_sq < MAX_USUAL_SQUARE;
            const double scale = usual ? reciprocal_root(pivot_sq) : 1.0 / sqrt(pivot_sq);
            const double x = i > j ? column[i] * scale : 0.0;
            if (part == p) a[t] = i == j ? pivot_sq : x;
#pragma unroll
            for (int later = t; later < ROW_ENTRIES; ++later)
                if (later > t || part > p)
                    a[later] = fma(-x * scale, column[later * ROW_THREADS + part], a[later]);
        }
#pragma unroll
    for (int t = 0; t < ROW_ENTRIES; ++t) {
        const int j = t * ROW_THREADS + part;
        // Zeros above the diagonal: products read the whole block.
        if (i < height && j < height) l[j * stride + i] = (T)(i == j ? sqrt(a[t]) : i > j ? a[t] : 0.0);
    }
    __syncthreads();
    return broken;
}

template <class T>
__device__ __forceinline__ void diagonal(const Factoring<T>& a, long long, long long first) {
    __shared__ InverseShared shared;
    if (*a.status != 0) return;
    T* const l = a.l + first * (a.stride + 1);
    const int height = (int)min((long long)PANEL_COLS, a.n - first);
    const int broken = factor((double (*)[PANEL_COLS])shared.product, l, a.stride, height);
    if (broken != 0) {
        if (threadIdx.x == 0) *a.status = (int)first + broken;
    } else if (first + PANEL_COLS < a.n) {
        invert(shared, (const T*)l, a.stride, a.inverse, a.refine, height);
    }
}

template <class T>
__device__ __forceinline__ void panel(const Factoring<T>& a, long long, long long first) {
    DYNAMIC_SHARED(double, memory);
    T* const left = (T*)memory;                                            // (64 x 64)
    double* const right = memory + PANEL_COLS * tile_stride<1, double>();  // (64 x 64)
    if (*a.status != 0) return;
    const T* const block = a.l + first * (a.stride + 1);
    const long long begin = first + PANEL_COLS * (1 + (long long)blockIdx.x), rows = a.n - begin;
    T* const l = a.l + first * a.stride + begin;
    copy_tile<1, PANEL_COLS>(left, (const T*)l, a.stride, rows);
    copy_tile<1, PANEL_COLS>(right, (const double*)a.inverse, PANEL_COLS, PANEL_COLS);
    copy_async_commit();
    copy_async_wait_all();
    __syncthreads();
    WarpTile<1> x = {};
    x.gemm_lower(left, right);
    if constexpr (sizeof(T) == sizeof(double)) {
        if (*a.refine & REFINE_PRODUCTS) {
            WarpTile<1> rest;
            rest.each([&](double& entry, int i, int j) { entry = -left[j * tile_stride<1, T>() + i]; });
            __syncthreads();
            copy_tile<1, PANEL_COLS>(right, block, a.stride, PANEL_COLS);
            copy_async_commit();
            x.each([&](double& entry, int i, int j) { left[j * tile_stride<1, T>() + i] = entry; });
            copy_async_wait_all();
            __syncthreads();
            rest.gemm_lower(left, right);
            __syncthreads();
            copy_tile<1, PANEL_COLS>(right, (const double*)a.inverse, PANEL_COLS, PANEL_COLS);
            copy_async_commit();
            rest.each([&](double& entry, int i, int j) { left[j * tile_stride<1, T>() + i] = -entry; });
            copy_async_wait_all();
            __syncthreads();
            x.gemm_lower(left, right);
        }
    }
    x.each([&](double& entry, int i, int j) {
        if (i < rows) l[j * a.stride + i] = (T)entry;
    });
}

// Shared memory of `subtract`: BUFFERS times GEMM_DEPTH columns of either tile.
template <int R, class T>
__device__ constexpr int subtract_bytes() {
    return BUFFERS * GEMM_DEPTH * (tile_stride<R, T>() + tile_stride<1, T>()) * (int)sizeof(T);
}

// C <- C - X_i X_j^T for the tile (64 R x 64) of C from row i0 and column j0 on. X_i and X_j are rows i0 .. and j0 ..
// of columns `from` to `first` of L.
template <int R, class T>
__device__ __forceinline__ void subtract(const Factoring<T>& a, long long from, long long first, long long i0,
                                         long long j0) {
    DYNAMIC_SHARED(double, memory);
    constexpr int RIGHT = GEMM_DEPTH * tile_stride<R, T>(), BUFFER = RIGHT + GEMM_DEPTH * tile_stride<1, T>();
    T* const shared = (T*)memory;
    const int steps = (int)((first - from) / GEMM_DEPTH);
    const auto fetch = [&](int step) {
        T* const to = shared + step % BUFFERS * BUFFER;
        const T* const column = a.l + (from + step * GEMM_DEPTH) * a.stride;
        if (step < steps) {
            copy_tile<R, GEMM_DEPTH>(to, column + i0, a.stride, a.n - i0);
            copy_tile<1, GEMM_DEPTH>(to + RIGHT, column + j0, a.stride, a.n - j0);
        }
        // Commits an empty batch as well: waits count batches.
        copy_async_commit();
    };
#pragma unroll
    for (int step = 0; step < BUFFERS - 1; ++step) fetch(step);
    WarpTile<R> tile;
    T* const c = a.l + j0 * a.stride + i0;
    const long long rows = a.n - i0, cols = a.n - j0;
    long long stride = a.stride;
    // The warp's part is not needed if all of it is above the diagonal.
    const bool counts = i0 + tile.end() > j0;
    tile.each([&](double& entry, int i, int j) {
        entry = counts && i < rows && j < cols ? -(double)c[j * stride + i] : 0.0;
    });
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        copy_async_wait_but_one();
        __syncthreads();
        fetch(step + BUFFERS - 1);
        const T* const now = shared + step % BUFFERS * BUFFER;
        if (counts) tile.gemm(now, now + RIGHT);
    }
    // Addresses are recomputed instead of kept in registers through the loop.
    make_opaque(stride);
    tile.each([&](double& entry, int i, int j) {
        if (counts && i < rows && j < cols) c[j * stride + i] = (T)-entry;
    });
}

template <class T>
__device__ __forceinline__ void next_panel(const Factoring<T>& a, long long from, long long first) {
    if (*a.status == 0) subtract<1>(a, from, first, first + PANEL_COLS * (long long)blockIdx.x, first);
}

template <class T>
__device__ __forceinline__ void trailing(const Factoring<T>& a, long long from, long long first) {
    if (*a.status != 0) return;
    // The tile is in row i of tiles. i (i + 1) tiles precede that row, which has two for each 128 columns.
    const int number = blockIdx.x;
    int i = (int)((sqrtf(4.0f * number + 1.0f) - 1.0f) / 2.0f);
    while (i * (i + 1) > number) --i;
    while ((i + 1) * (i + 2) <= number) ++i;
    const long long j0 = first + PANEL_COLS * (long long)(number - i * (i + 1));
    if (j0 < a.n) subtract<2>(a, from, first, first + 2 * PANEL_COLS * (long long)i, j0);
}

#define FACTOR(STEP, BLOCKS, T, NAME)                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                                            \
        factor_##STEP##_##NAME(Factoring<T> a, long long from, long long first) {                            \
        STEP(a, from, first);                                                                                \
    }

FACTOR(diagonal, 1, float, f32)
FACTOR(diagonal, 1, double, f64)
FACTOR(panel, 2, float, f32)
FACTOR(panel, 2, double, f64)
FACTOR(next_panel, 2, float, f32)
FACTOR(next_panel, 2, double, f64)
FACTOR(trailing, 2, float, f32)
FACTOR(trailing, 2, double, f64)

// Host and kernels agree on these.
constexpr int PANELS_TOGETHER = 4;  // whose products are subtracted from the trailing matrix together
constexpr int TILE_ROWS = 2 * PANEL_COLS;
constexpr int PANEL_BYTES = 2 * PANEL_COLS * tile_stride<1, double>() * (int)sizeof(double);
constexpr int NEXT_PANEL_BYTES_F32 = subtract_bytes<1, float>(),
              NEXT_PANEL_BYTES_F64 = subtract_bytes<1, double>();
constexpr int TRAILING_BYTES_F32 = subtract_bytes<2, float>(),
              TRAILING_BYTES_F64 = subtract_bytes<2, double>();

// Byte offsets of the kernels' argument, the same for either type.
typedef Factoring<double> Argument;
static_assert(sizeof(Factoring<float>) == sizeof(Argument), "a pointer is all that depends on the type");
constexpr int FACTORING_BYTES = sizeof(Argument), AT_L = OFFSET(Argument, l),
              AT_STRIDE = OFFSET(Argument, stride), AT_INVERSE = OFFSET(Argument, inverse),
              AT_REFINE = OFFSET(Argument, refine), AT_STATUS = OFFSET(Argument, status),
              AT_N = OFFSET(Argument, n);

EXPORT_LAYOUT(factor, PANEL_COLS, PANELS_TOGETHER, TILE_ROWS, THREADS, PANEL_BYTES, NEXT_PANEL_BYTES_F32,
              NEXT_PANEL_BYTES_F64, TRAILING_BYTES_F32, TRAILING_BYTES_F64, FACTORING_BYTES, AT_L, AT_STRIDE,
              AT_INVERSE, AT_REFINE, AT_STATUS, AT_N)
