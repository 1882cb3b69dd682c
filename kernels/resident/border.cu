// Computes the rows and columns of L for new rows and columns of A, on the device.
//
// `border_take`: copies the new columns of A, and checks them
//     above, below, corner   B1 (at x r), B2 (m x r), and K (r x r), of which the lower triangle is read; their memory
//                            may be that of the host
//     skipped  rows of zeros between B1 and B2
//     b        (at + skipped + m) x r, entry (i, j) at b + j * b_stride + i; written
//     k        r x r, entry (i, j), i >= j, at k + j * k_stride + i; written
//     facts    zeros before the launch. For each part, the complement of the least column * rows + row of an entry
//              that is not finite; of K the bits of the largest diagonal entry as a double, if one is positive
//     pivots   the diagonal of K; written
// Launch: blocks of 256 threads; x of the grid for each 1024 rows of B and K together, y is any.
//
// `border_schur`: K <- K - S^T S, in the lower triangle
//     s       rows x r, entry (p, i) at s + i * s_stride + p; read
//     k       r x r, entry (i, j), i >= j, at k + j * k_stride + i; read and written
// Launch: blocks of 256 threads; x of the grid for each four rows of K, y for each four columns, or fewer.
//
// `border_below`: X <- X C^-T
//     c       r x r, lower triangular, entry (i, j), i >= j, at c + j * c_stride + i; read
//     x       rows x r, entry (i, j) at x + j * x_stride + i; read and written
//     most    bound on the squares of X
//     facts   as `border_take` leaves them; of X, the complement of the first row in which a square is not bounded so
//     pivots  the diagonal of C; written
// `border_finish`: the same for r <= FEW, with C C^T = K first
//     k       r x r, lower triangular, entry (i, j), i >= j, at k + j * k_stride + i; read
//     c       r x r, as above, in its lower triangle; written
//     facts   also the complement of the first column in which K breaks down; then C and X are not written
// Launch of both: blocks of 256 threads, a thread for a row of X, at least one block.
//
// `border_left`: rows of L from the columns of S
//     s       rows x r, as above; read
//     to      entry (i, p), i < r, p < rows, at to + p * to_stride + i; written
// Launch: blocks of 256 threads; x of the grid for each 32 rows of S, y for each 32 columns, or fewer.
//
// Column-major. Sums are in double precision.
#include "common/layout.cuh"
#include "common/panel.cuh"

typedef unsigned long long Fact;
enum { ABOVE, BELOW, CORNER, LARGEST, BREAKDOWN, LOST_ROW, FACTS };

constexpr int ROWS_OF_THREAD = 4;
constexpr int ROWS_OF_BLOCK = ROWS_OF_THREAD * THREADS;
constexpr int TILE = 4;       // rows and columns of K of a block
constexpr int TOGETHER = 8;   // columns of X that are computed together
constexpr int FEW = 32;       // columns of a corner that every block factors for itself
constexpr int LEFT_TILE = 32;
constexpr double FINITE = 1.7976931348623157e308;

// A part of the new columns: entry (i, j) at entries + j * stride + i.
struct Part {
    const void* entries;
    long long stride, rows;
};

// Row i of the columns of B1, the zeros, B2 and K, one above the other.
struct Place {
    int part;
    long long row;

    __device__ __forceinline__ Place(long long i, long long above, long long first_below, long long rows)
        : part(i < above ? ABOVE : i < rows ? BELOW : CORNER),
          row(i < above ? i : i < rows ? i - first_below : i - rows) {}
};

template <class T>
__device__ __forceinline__ void take(const Part& above, const Part& below, const Part& corner, long long skipped,
                                     T* b, long long b_stride, T* k, long long k_stride, Fact* facts,
                                     double* pivots) {
    const long long r = corner.rows, first_below = above.rows + skipped, rows = first_below + below.rows;
    const long long first = (long long)blockIdx.x * ROWS_OF_BLOCK + threadIdx.x;
    for (long long column = blockIdx.y; column < r; column += gridDim.y) {
        const T* above_column = (const T*)above.entries + column * above.stride;
        const T* below_column = (const T*)below.entries + column * below.stride;
        const T* corner_column = (const T*)corner.entries + column * corner.stride;
        T entries[ROWS_OF_THREAD];
#pragma unroll
        for (int e = 0; e < ROWS_OF_THREAD; ++e) {
            const Place at(first + e * THREADS, above.rows, first_below, rows);
            const bool read = at.part == CORNER ? at.row >= column && at.row < r : at.row >= 0;
            const T* from = at.part == ABOVE ? above_column : at.part == BELOW ? below_column : corner_column;
            entries[e] = read ? from[at.row] : T(0);
        }
#pragma unroll
        for (int e = 0; e < ROWS_OF_THREAD; ++e) {
            const Place at(first + e * THREADS, above.rows, first_below, rows);
            const T x = entries[e];
            if (at.part != CORNER)
                b[column * b_stride + first + e * THREADS] = x;
            else if (at.row >= column && at.row < r)
                k[column * k_stride + at.row] = x;
            if (!(fabs((double)x) <= FINITE)) {
                const long long rows_of_part = at.part == ABOVE ? above.rows : at.part == BELOW ? below.rows : r;
                atomicMax(&facts[at.part], ~(Fact)(column * rows_of_part + at.row));
            }
            if (at.part == CORNER && at.row == column) {
                const double pivot = (double)x;
                pivots[column] = pivot;
                Fact bits;
                memcpy(&bits, &pivot, sizeof bits);
                if (pivot > 0) atomicMax(&facts[LARGEST], bits);
            }
        }
    }
}

template <class T>
__device__ __forceinline__ void schur(const T* s, long long s_stride, T* k, long long k_stride, long long rows,
                                      long long r) {
    __shared__ double sums[WARPS][TILE * TILE];
    const long long i0 = (long long)blockIdx.x * TILE;
    for (long long j0 = (long long)blockIdx.y * TILE; j0 <= i0; j0 += (long long)gridDim.y * TILE) {
        double sum[TILE][TILE] = {};
        // Columns that there are not are others of K, which are not written.
        const T *left[TILE], *right[TILE];
#pragma unroll
        for (int e = 0; e < TILE; ++e) {
            left[e] = s + min(i0 + e, r - 1) * s_stride;
            right[e] = s + min(j0 + e, r - 1) * s_stride;
        }
#pragma unroll 2
        for (long long p = threadIdx.x; p < rows; p += THREADS) {
            double a[TILE], b[TILE];
#pragma unroll
            for (int e = 0; e < TILE; ++e) a[e] = (double)left[e][p], b[e] = (double)right[e][p];
#pragma unroll
            for (int e = 0; e < TILE; ++e)
#pragma unroll
                for (int f = 0; f < TILE; ++f) sum[e][f] = fma(a[e], b[f], sum[e][f]);
        }
#pragma unroll
        for (int e = 0; e < TILE; ++e)
#pragma unroll
            for (int f = 0; f < TILE; ++f) {
#pragma unroll
                for (int step = 16; step > 0; step /= 2)
                    sum[e][f] += __shfl_xor_sync(ALL_LANES, sum[e][f], step);
                if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32][e * TILE + f] = sum[e][f];
            }
        __syncthreads();
        if (threadIdx.x < TILE * TILE) {
            const long long i = i0 + threadIdx.x / TILE, j = j0 + threadIdx.x % TILE;
            double all = 0;
            for (int warp = 0; warp < WARPS; ++warp) all += sums[warp][threadIdx.x];
            if (i < r && j <= i) k[j * k_stride + i] = (T)((double)k[j * k_stride + i] - all);
        }
        __syncthreads();
    }
}

// C in the memory of the device, or of the block.
template <class T>
struct StoredCorner {
    const T* c;
    long long stride;
    __device__ __forceinline__ double operator()(long long i, long long j) const { return (double)c[j * stride + i]; }
};
struct SharedCorner {
    const double (*c)[FEW + 1];
    __device__ __forceinline__ double operator()(long long i, long long j) const { return c[i][j]; }
};

// A thread's row of X.
template <class T, class C>
__device__ __forceinline__ void below(const C& c, T* x, long long x_stride, long long rows, long long r, double most,
                                      Fact* facts) {
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= rows) return;
    bool lost = false;
    for (long long first = 0; first < r; first += TOGETHER) {
        // Columns that there are not are others of X, which are not written.
        double sum[TOGETHER];
        long long column[TOGETHER];
#pragma unroll
        for (int e = 0; e < TOGETHER; ++e) {
            column[e] = min(first + e, r - 1);
            sum[e] = (double)x[column[e] * x_stride + i];
        }
        for (long long p = 0; p < first; ++p) {
            const double earlier = -(double)x[p * x_stride + i];
#pragma unroll
            for (int e = 0; e < TOGETHER; ++e) sum[e] = fma(earlier, c(column[e], p), sum[e]);
        }
#pragma unroll
        for (int e = 0; e < TOGETHER; ++e) {
            if (first + e >= r) break;
            const T made = (T)(sum[e] / c(column[e], column[e]));
            x[column[e] * x_stride + i] = made;
            lost = lost || !((double)made * (double)made <= most);
#pragma unroll
            for (int f = e + 1; f < TOGETHER; ++f) sum[f] = fma(-(double)made, c(column[f], column[e]), sum[f]);
        }
    }
    if (lost) atomicMax(&facts[LOST_ROW], ~(Fact)i);
}

template <class T>
__device__ __forceinline__ void below_stored(const T* c, long long c_stride, T* x, long long x_stride,
                                             long long rows, long long r, double most, Fact* facts,
                                             double* pivots) {
    const StoredCorner<T> corner{c, c_stride};
    if (blockIdx.x == 0)
        for (long long j = threadIdx.x; j < r; j += THREADS) pivots[j] = corner(j, j);
    below(corner, x, x_stride, rows, r, most, facts);
}

template <class T>
__device__ __forceinline__ void finish(const T* k, long long k_stride, T* to, long long c_stride, T* x,
                                       long long x_stride, long long rows, long long r, double most, Fact* facts,
                                       double* pivots) {
    __shared__ double c[FEW][FEW + 1];
    const int row = threadIdx.x % FEW, first = threadIdx.x / FEW;
    const bool writes = blockIdx.x == 0;
    for (int j = first; j <= row; j += THREADS / FEW) c[row][j] = row < r ? (double)k[j * k_stride + row] : 0.0;
    __syncthreads();
    for (int j = 0; j < r; ++j) {
        const double square = c[j][j];
        if (!(square > 0 && square <= FINITE)) {
            if (writes && threadIdx.x == 0) atomicMax(&facts[BREAKDOWN], ~(Fact)j);
            return;
        }
        const double pivot = (double)(T)sqrt(square);
        __syncthreads();
        if (threadIdx.x < FEW && row >= j) c[row][j] = row == j ? pivot : (double)(T)(c[row][j] / pivot);
        __syncthreads();
        for (int m = j + 1 + first; m <= row; m += THREADS / FEW) c[row][m] = fma(-c[row][j], c[m][j], c[row][m]);
        __syncthreads();
    }
    if (writes && row < r)
        for (int j = first; j <= row; j += THREADS / FEW) {
            to[j * c_stride + row] = (T)c[row][j];
            if (j == row) pivots[j] = c[j][j];
        }
    below(SharedCorner{c}, x, x_stride, rows, r, most, facts);
}

template <class T>
__device__ __forceinline__ void left(const T* s, long long s_stride, T* to, long long to_stride, long long rows,
                                     long long r) {
    __shared__ T tile[LEFT_TILE][LEFT_TILE + 1];
    const int lane = threadIdx.x % LEFT_TILE, warp = threadIdx.x / LEFT_TILE;
    const long long p0 = (long long)blockIdx.x * LEFT_TILE;
    for (long long i0 = (long long)blockIdx.y * LEFT_TILE; i0 < r; i0 += (long long)gridDim.y * LEFT_TILE) {
        for (int e = warp; e < LEFT_TILE; e += WARPS)
            if (p0 + lane < rows && i0 + e < r) tile[e][lane] = s[(i0 + e) * s_stride + p0 + lane];
        __syncthreads();
        for (int e = warp; e < LEFT_TILE; e += WARPS)
            if (p0 + e < rows && i0 + lane < r) to[(p0 + e) * to_stride + i0 + lane] = tile[lane][e];
        __syncthreads();
    }
}

#define BORDER(T, NAME)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        border_take_##NAME(Part above, Part below, Part corner, long long skipped, T* b, long long b_stride, \
                           T* k, long long k_stride, Fact* facts, double* pivots) {                          \
        take(above, below, corner, skipped, b, b_stride, k, k_stride, facts, pivots);                        \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        border_schur_##NAME(const T* s, long long s_stride, T* k, long long k_stride, long long rows,        \
                            long long r) {                                                                   \
        schur(s, s_stride, k, k_stride, rows, r);                                                            \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        border_below_##NAME(const T* c, long long c_stride, T* x, long long x_stride, long long rows,        \
                            long long r, double most, Fact* facts, double* pivots) {                         \
        below_stored(c, c_stride, x, x_stride, rows, r, most, facts, pivots);                                \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        border_finish_##NAME(const T* k, long long k_stride, T* c, long long c_stride, T* x,                 \
                             long long x_stride, long long rows, long long r, double most, Fact* facts,      \
                             double* pivots) {                                                               \
        finish(k, k_stride, c, c_stride, x, x_stride, rows, r, most, facts, pivots);                         \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        border_left_##NAME(const T* s, long long s_stride, T* to, long long to_stride, long long rows,       \
                           long long r) {                                                                    \
        left(s, s_stride, to, to_stride, rows, r);                                                           \
    }

BORDER(float, f32)
BORDER(double, f64)

constexpr int PART_BYTES = sizeof(Part);

EXPORT_LAYOUT(border, THREADS, ROWS_OF_BLOCK, TILE, FEW, LEFT_TILE, FACTS, PART_BYTES)
