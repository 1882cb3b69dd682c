// The Cholesky factorization of a matrix in device memory, a panel of 64 columns at a time. Of
// A = [D .; B C]:
//
//     diagonal    D <- L, L L^T = D, and L^-1 apart
//     panel       B <- X = B L^-T, and where that loses digits X <- X + (B - X L^T) L^-T
//     strip       the 64 columns of the next panel, or
//     trailing    all columns from there on: C <- C - X X^T, X being some panels together
//
// All arithmetic is in double precision. Four panels go together: a strip is brought up to date for those of
// them that are done, so that C goes through memory once for four panels.
//
// Shapes, column-major: as Factoring says. What is above the diagonal of A counts for nothing, and what is
// left there may be anything. first: the panel's first column, a multiple of 64; from: that of the X to
// subtract, which end at `first` (of no meaning to the first two).
//
// Launch, in order on one stream, blocks of 256 threads: diagonal: one; panel: one for each 64 rows below the
// diagonal block; strip: one for each 64 rows from `first` on; trailing: i (i + 1) for i times 128 rows from
// there on.
#include "common/invert.cuh"
#include "common/product.cuh"

template <class T>
struct Factoring {
    T* l; // A (n x n), then L: entry (i, j), i >= j, at l + j * stride + i, columns at multiples of 16 bytes
    long long stride;
    double* inverse; // of the diagonal block (64 x 64), and whether it loses digits: invert.cuh
    int* refine;
    // 1 + the first column whose pivot^2 is not positive, 0 at first: what comes behind that does nothing.
    int* status;
    long long n;
};

constexpr int PARTS = THREADS / ROWS; // threads that share a row of the diagonal block
constexpr int EACH = ROWS / PARTS;    // its columns for each of them, PARTS apart
constexpr int STAGES = 3;             // of copies on their way

// Where reciprocal_root is right.
constexpr double SMALL = 1e-280, LARGE = 1e280;

// Column by column in registers, with one barrier for each: 1 + the first column that is not positive, or 0.
template <class T>
__device__ __forceinline__ int factor(double (*columns)[ROWS], T* l, long long stride, int height) {
    const int i = threadIdx.x % ROWS, part = threadIdx.x / ROWS;
    double a[EACH];
#pragma unroll
    for (int t = 0; t < EACH; ++t) {
        const int j = t * PARTS + part;
        a[t] = j <= i && i < height ? (double)l[j * stride + i] : i == j ? 1.0 : 0.0;
    }
    int broken = 0;
#pragma unroll
    for (int t = 0; t < EACH; ++t)
#pragma unroll 1
        for (int p = 0; p < PARTS; ++p) {
            const int j = t * PARTS + p;
            // Whoever still reads the column before has the other one.
            double* const column = columns[j % 2];
            if (part == p) column[i] = a[t];
            __syncthreads();
            double pivot_sq = column[j];
            if (!(pivot_sq > 0)) {
                if (broken == 0) broken = 1 + j;
                pivot_sq = 1.0;
            }
            const bool usual = pivot_sq > SMALL && pivot_sq < LARGE;
            const double scale = usual ? reciprocal_root(pivot_sq) : 1.0 / sqrt(pivot_sq);
            const double x = i > j ? column[i] * scale : 0.0;
            if (part == p) a[t] = i == j ? pivot_sq : x;
#pragma unroll
            for (int later = t; later < EACH; ++later)
                if (later > t || part > p) a[later] = fma(-x * scale, column[later * PARTS + part], a[later]);
        }
#pragma unroll
    for (int t = 0; t < EACH; ++t) {
        const int j = t * PARTS + part;
        // Zeros above: a product with the block takes them.
        if (i < height && j < height) l[j * stride + i] = (T)(i == j ? sqrt(a[t]) : i > j ? a[t] : 0.0);
    }
    __syncthreads();
    return broken;
}

template <class T>
__device__ __forceinline__ void diagonal(const Factoring<T>& a, long long, long long first) {
    __shared__ Inverting shared;
    if (*a.status != 0) return;
    T* const l = a.l + first * (a.stride + 1);
    const int height = (int)min((long long)ROWS, a.n - first);
    const int broken = factor((double(*)[ROWS])shared.product, l, a.stride, height);
    if (broken != 0) {
        if (threadIdx.x == 0) *a.status = (int)first + broken;
    } else if (first + ROWS < a.n) {
        invert(shared, (const T*)l, a.stride, a.inverse, a.refine, height);
    }
}

template <class T>
__device__ __forceinline__ void panel(const Factoring<T>& a, long long, long long first) {
    DYNAMIC_SHARED(double, memory);
    T* const left = (T*)memory;                            // (64 x 64)
    double* const right = memory + ROWS * ld<1, double>(); // (64 x 64)
    if (*a.status != 0) return;
    const T* const block = a.l + first * (a.stride + 1);
    const long long begin = first + ROWS * (1 + (long long)blockIdx.x), rows = a.n - begin;
    T* const l = a.l + first * a.stride + begin;
    copy<1, ROWS>(left, (const T*)l, a.stride, rows);
    copy<1, ROWS>(right, (const double*)a.inverse, ROWS, ROWS);
    copy_async_commit();
    copy_async_wait_all();
    __syncthreads();
    Part<1> x = {};
    x.multiply_triangle(left, right);
    if constexpr (sizeof(T) == sizeof(double)) {
        if (*a.refine != 0) {
            Part<1> rest;
            rest.each([&](double& entry, int i, int j) { entry = -left[j * ld<1, T>() + i]; });
            __syncthreads();
            copy<1, ROWS>(right, block, a.stride, ROWS);
            copy_async_commit();
            x.each([&](double& entry, int i, int j) { left[j * ld<1, T>() + i] = entry; });
            copy_async_wait_all();
            __syncthreads();
            rest.multiply_triangle(left, right);
            __syncthreads();
            copy<1, ROWS>(right, (const double*)a.inverse, ROWS, ROWS);
            copy_async_commit();
            rest.each([&](double& entry, int i, int j) { left[j * ld<1, T>() + i] = -entry; });
            copy_async_wait_all();
            __syncthreads();
            x.multiply_triangle(left, right);
        }
    }
    x.each([&](double& entry, int i, int j) {
        if (i < rows) l[j * a.stride + i] = (T)entry;
    });
}

// A tile (64 R x 64) of C, from row i0 and column j0 on, less the product of these rows of the columns from
// `from` to `first`.
template <int R, class T>
__device__ __forceinline__ void subtract(const Factoring<T>& a, long long from, long long first, long long i0,
                                         long long j0) {
    DYNAMIC_SHARED(double, memory);
    constexpr int RIGHT = DEPTH * ld<R, T>(), STAGE = RIGHT + DEPTH * ld<1, T>();
    T* const shared = (T*)memory;
    const int steps = (int)((first - from) / DEPTH);
    const auto fetch = [&](int step) {
        T* const to = shared + step % STAGES * STAGE;
        const T* const column = a.l + (from + step * DEPTH) * a.stride;
        if (step < steps) {
            copy<R, DEPTH>(to, column + i0, a.stride, a.n - i0);
            copy<1, DEPTH>(to + RIGHT, column + j0, a.stride, a.n - j0);
        }
        // Also of nothing: they are counted.
        copy_async_commit();
    };
#pragma unroll
    for (int step = 0; step < STAGES - 1; ++step) fetch(step);
    Part<R> part;
    T* const tile = a.l + j0 * a.stride + i0;
    const long long rows = a.n - i0, cols = a.n - j0;
    long long stride = a.stride;
    // Not if all of it is above the diagonal.
    const bool counts = i0 + part.end() > j0;
    part.each([&](double& entry, int i, int j) {
        entry = counts && i < rows && j < cols ? -(double)tile[j * stride + i] : 0.0;
    });
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        copy_async_wait_but_one();
        __syncthreads();
        fetch(step + STAGES - 1);
        const T* const now = shared + step % STAGES * STAGE;
        if (counts) part.multiply(now, now + RIGHT);
    }
    // Places are worked out again, instead of kept in registers all the while.
    forget(stride);
    part.each([&](double& entry, int i, int j) {
        if (counts && i < rows && j < cols) tile[j * stride + i] = (T)-entry;
    });
}

template <class T>
__device__ __forceinline__ void strip(const Factoring<T>& a, long long from, long long first) {
    if (*a.status == 0) subtract<1>(a, from, first, first + ROWS * (long long)blockIdx.x, first);
}

template <class T>
__device__ __forceinline__ void trailing(const Factoring<T>& a, long long from, long long first) {
    if (*a.status != 0) return;
    // The tile's row of tiles i, which has i (i + 1) before it and two for each 128 columns.
    const int number = blockIdx.x;
    int i = (int)((sqrtf(4.0f * number + 1.0f) - 1.0f) / 2.0f);
    while (i * (i + 1) > number) --i;
    while ((i + 1) * (i + 2) <= number) ++i;
    const long long j0 = first + ROWS * (long long)(number - i * (i + 1));
    if (j0 < a.n) subtract<2>(a, from, first, first + 2 * ROWS * (long long)i, j0);
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
FACTOR(strip, 2, float, f32)
FACTOR(strip, 2, double, f64)
FACTOR(trailing, 2, float, f32)
FACTOR(trailing, 2, double, f64)
