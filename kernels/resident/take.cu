// Copies columns of another library's matrix in device memory to an engine's own memory, and back.
//
// `take` copies columns, scaled, and collects facts about them:
//     from    entry (i, j), i < rows, j < cols, at from + j * from_stride + i; read
//     to      |scale[j]| times that entry at to + target[j] * to_stride + i, or zero where it is not finite, unless
//             target[j] is negative; written
//     facts   4 x cols, zeros before the launch; of column j: the bits of the magnitude of its largest entry, as a
//             double; ~i of the first row i that is not finite; ~i of the first row i that is not zero; and the number
//             of blocks that have added to these
//     found   4 x cols, the facts of a column when all blocks have added to them; may be in host memory; written
//     zeros   4 x cols, the facts of the next launch; zeros are written
//     squares null, or 2 x rows: for each row the sum of squares of its entries times scale[j], over the columns whose
//             scale is not negative, and over the others; may be in host memory; written, or added to with `add`
//
// `give_back` copies columns, unless one of those taken was not finite or a sweep has broken down:
//     from    entry (i, j), i < rows, j < cols, at from + j * from_stride + i; read
//     to      the same at to + j * to_stride + i; written
//     facts   4 x cols, as `take` has left them; read
//     status  null, or the status of a sweep (sweep_args.cuh): nothing is copied unless it is WHOLE; read
//
// Column-major. Launch: blocks of 256 threads; y of the grid counts columns, and OF_SQUARES more if squares are wanted;
// x is any.
#include "common/layout.cuh"
#include "common/panel.cuh"
#include "common/row_squares.cuh"

typedef unsigned long long Fact;
constexpr int FACTS = 4;                        // of a column
constexpr int NOT_FINITE = 1, BLOCKS = 3;       // which of them
constexpr int ROWS_OF_BLOCK = 4 * THREADS;      // as the host divides them
constexpr int OF_SQUARES = ROWS_OF_BLOCK / ROWS_OF_SQUARES;  // blocks that sum squares for each that copies a column
constexpr double LARGEST = 1.7976931348623157e308;
constexpr int WHOLE = 2147483647;               // the status of a sweep in which no column has broken down

__device__ __forceinline__ Fact max_of_warp(Fact x) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const Fact other = __shfl_xor_sync(ALL_LANES, x, step);
        x = other > x ? other : x;
    }
    return x;
}

template <class T>
__device__ __forceinline__ void take(const T* from, long long from_stride, T* to, long long to_stride,
                                     const T* scale, const int* target, Fact* facts, Fact* found, Fact* zeros,
                                     long long rows) {
    const int column = blockIdx.y, to_column = target[column];
    const T factor = scale[column] < T(0) ? -scale[column] : scale[column];
    from += column * from_stride;
    facts += FACTS * column;
    if (blockIdx.x == 0 && threadIdx.x < FACTS) zeros[FACTS * column + threadIdx.x] = 0;
    // The first of each kind of row is the one whose complement is the largest.
    Fact largest = 0, not_finite = 0, not_zero = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < rows;
         i += (long long)gridDim.x * blockDim.x) {
        const T x = from[i];
        const double magnitude = fabs((double)x);
        Fact bits;
        memcpy(&bits, &magnitude, sizeof bits);
        if (bits > largest) largest = bits;
        const bool finite = magnitude <= LARGEST;
        if (!finite && ~(Fact)i > not_finite) not_finite = ~(Fact)i;
        if (magnitude != 0.0 && ~(Fact)i > not_zero) not_zero = ~(Fact)i;
        if (to_column >= 0) to[to_column * to_stride + i] = finite ? factor * x : T(0);
    }
    static_assert(NOT_FINITE == 1, "the second of these");
    const Fact own[BLOCKS] = {max_of_warp(largest), max_of_warp(not_finite), max_of_warp(not_zero)};
    if (threadIdx.x % 32 == 0)
        for (int f = 0; f < BLOCKS; ++f) atomicMax(&facts[f], own[f]);
    // The last block of the column reports what all have added. Each has added before it counts itself.
    __threadfence();
    __syncthreads();
    if (threadIdx.x != 0 || atomicAdd(&facts[BLOCKS], 1) + 1 != gridDim.x) return;
    __threadfence();
    for (int f = 0; f < BLOCKS; ++f) found[FACTS * column + f] = __ldcg(&facts[f]);
}

#define TAKE(T, NAME)                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        take_##NAME(const T* from, long long from_stride, T* to, long long to_stride, const T* scale,        \
                    const int* target, Fact* facts, Fact* found, Fact* zeros, double* squares, int add,      \
                    long long rows) {                                                                        \
        __shared__ RowSquares shared;                                                                        \
        const unsigned cols = squares ? gridDim.y - OF_SQUARES : gridDim.y;                                  \
        if (blockIdx.y < cols)                                                                               \
            take(from, from_stride, to, to_stride, scale, target, facts, found, zeros, rows);                \
        else                                                                                                 \
            for (long long first = blockIdx.x; first * ROWS_OF_BLOCK < rows; first += gridDim.x)             \
                row_squares(from, from_stride, scale, false,                                                 \
                            first * ROWS_OF_BLOCK + (blockIdx.y - cols) * ROWS_OF_SQUARES, rows, cols,       \
                            squares, squares + rows, add, shared);                                           \
    }

template <class T>
__device__ __forceinline__ void give_back(const T* from, long long from_stride, T* to, long long to_stride,
                                          const Fact* facts, const int* status, long long rows) {
    bool refused = status && *status != WHOLE;
    for (int column = threadIdx.x; column < gridDim.y; column += THREADS)
        refused = refused || facts[FACTS * column + NOT_FINITE] != 0;
    if (__syncthreads_or(refused)) return;
    from += blockIdx.y * from_stride;
    to += blockIdx.y * to_stride;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < rows;
         i += (long long)gridDim.x * blockDim.x)
        to[i] = from[i];
}

#define GIVE_BACK(T, NAME)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        give_back_##NAME(const T* from, long long from_stride, T* to, long long to_stride, const Fact* facts, \
                         const int* status, long long rows) {                                                \
        give_back(from, from_stride, to, to_stride, facts, status, rows);                                    \
    }

TAKE(float, f32)
TAKE(double, f64)
GIVE_BACK(float, f32)
GIVE_BACK(double, f64)

EXPORT_LAYOUT(take, THREADS, FACTS, WHOLE, OF_SQUARES)
