// The diagonal step: a panel's diagonal block and its reflectors, by one block of threads.
//
// Four neighbouring threads share a row of the block, and of the 4 E columns of V in a pass each keeps E in
// registers. Column j, with l the old pivot, a = v_j the row of V there and S the signs of the columns of V:
//
//     alpha^2 = l^2 + a S a^T      beta = l + alpha      rho = beta / alpha      b_j = a / beta
//     rows i > j:     u = rho (l_ij + <v_i, S b_j>)      l_ij <- u - l_ij      v_i <- v_i - u b_j
//     rows i < j:     tau_ij = rho <b_i, S b_j>
//
// Pass follows pass on the whole block. A pivot^2 that is not positive ends a pass there, and the later ones,
// which may find an earlier one, go no further: the first of all is reported.
//
// Shapes, column-major: entry (i, j), i >= j, of the block at l + j * l_stride + i, in place; row i < cols of V at
// v + column * v_stride + i, read; reflectors, of `panel_cols` columns a pass, as trailing_tensor.cu takes them
// (f64) or as trailing.cu with 4 lanes does (f32); written; pivots (cols), the new ones; written.
// status: 0, or else the launch does nothing; becomes
// the number, counted from 1 and `first` on, of the column whose pivot^2 is not positive, and the block is not
// written then.
//
// Launch: one block of 4 cols threads, rounded up to whole warps. cols <= 64, panel_cols a multiple of 8; `plus` columns of V have a plus sign
// and come first.
#include "common.cuh"

constexpr int ROWS = 64;
constexpr int LANES = 4; // threads of a row
constexpr int GROUP = 8; // columns of L whose reflectors lie together
constexpr unsigned ALL = 0xffffffffu;

// As in the CPU's diagonal step: below SMALL a sum of squares may have lost digits to underflow; the reciprocal
// of less than TINY may overflow, but not that of its product with MAGNIFIER, a power of two.
template <class T> struct Range;
template <> struct Range<double> {
    static constexpr double SMALL = 1e-276, TINY = 8.9e-308, MAGNIFIER = 1.2676506002282294e30, MAX = 1.7976931348623157e308;
};
template <> struct Range<float> {
    static constexpr float SMALL = 1e-24f, TINY = 4.8e-38f, MAGNIFIER = 1073741824.0f, MAX = 3.4028235e38f;
};

// Where the trailing kernel wants what.
template <class T, int E> struct Order;
template <int E> struct Order<double, E> {
    static constexpr int SCALARS = (LANES * E + GROUP + 1) * GROUP; // of a group
    static constexpr bool TAU = true;
    __device__ static int column(int lane, int r) { return 8 * (r / 2) + lane + 4 * (r % 2); }
    __device__ static int b(int j, int lane, int r) {
        const int c = column(lane, r);
        return GROUP * c + (j ^ (c & 6));
    }
    __device__ static int tau(int i, int j) { return LANES * E * GROUP + GROUP * i + j; }
    __device__ static void rho(double* group, int j, int, double rho) { group[LANES * E * GROUP + GROUP * GROUP + j] = rho; }
};
template <int E> struct Order<float, E> {
    static constexpr int ROW = E + Word<float>::LANES;
    static constexpr int SCALARS = GROUP * LANES * ROW;
    static constexpr bool TAU = false;
    __device__ static int column(int lane, int r) { return lane * E + r; }
    __device__ static int b(int j, int lane, int r) { return (j * LANES + lane) * ROW + r; }
    __device__ static int tau(int, int) { return 0; }
    __device__ static void rho(float* group, int j, int lane, float rho) {
        for (int r = E; r < ROW; ++r) group[(j * LANES + lane) * ROW + r] = rho;
    }
};

// The sum over the threads of a row, all of `mask`.
template <class T>
__device__ __forceinline__ T row_sum(unsigned mask, T x) {
    x += __shfl_xor_sync(mask, x, 1);
    return x + __shfl_xor_sync(mask, x, 2);
}

template <class T>
__device__ __forceinline__ T row_max(unsigned mask, T x) {
    x = fmax(x, __shfl_xor_sync(mask, x, 1));
    return fmax(x, __shfl_xor_sync(mask, x, 2));
}

// The new pivot, or 0 where its square is not positive. `signs`: of the thread's columns; `minus`: all of the
// pass are minus signs.
template <class T, int E>
__device__ __forceinline__ T pivot(unsigned mask, T l, const T (&v)[E], unsigned signs, bool minus) {
    T plus_sum = 0, minus_sum = 0;
#pragma unroll
    for (int r = 0; r < E; ++r) {
        if (signs >> r & 1)
            plus_sum = fma(v[r], v[r], plus_sum);
        else
            minus_sum = fma(v[r], v[r], minus_sum);
    }
    plus_sum = row_sum(mask, plus_sum);
    minus_sum = row_sum(mask, minus_sum);
    T norm = sqrt(minus_sum);
    T square = minus ? (l - norm) * (l + norm) : l * l + (plus_sum - minus_sum);
    if (square > Range<T>::SMALL && square <= Range<T>::MAX) return sqrt(square);
    // From scaled terms, where the squares themselves may have vanished.
    T scale = l;
#pragma unroll
    for (int r = 0; r < E; ++r) scale = fmax(scale, fabs(v[r]));
    scale = row_max(mask, scale);
    plus_sum = minus_sum = 0;
#pragma unroll
    for (int r = 0; r < E; ++r) {
        const T x = v[r] / scale;
        if (signs >> r & 1)
            plus_sum = fma(x, x, plus_sum);
        else
            minus_sum = fma(x, x, minus_sum);
    }
    plus_sum = row_sum(mask, plus_sum);
    minus_sum = row_sum(mask, minus_sum);
    norm = sqrt(minus_sum);
    l /= scale;
    square = minus ? (l - norm) * (l + norm) : l * l + (plus_sum - minus_sum);
    return square > T(0) && square <= Range<T>::MAX ? scale * sqrt(square) : T(0);
}

// A pass over the first `cols` columns; how many of them did not break down.
template <class T, int E>
__device__ __forceinline__ int pass(T (*d)[ROWS + 1], T (*staged)[LANES * E + 1], const T* v,
                                    long long v_stride, T* reflectors, int cols, int rows, int plus) {
    typedef Order<T, E> Place;
    const int i = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const unsigned quad = 0xfu << (threadIdx.x % 32 / LANES * LANES);
    T x[E]; // the row of V, and from its own column on the row of B
    unsigned signs = 0;
#pragma unroll
    for (int r = 0; r < E; ++r) {
        const int column = Place::column(lane, r);
        x[r] = i < rows ? v[column * v_stride + i] : T(0);
        if (column < plus) signs |= 1u << r;
    }
    for (int j = 0; j < cols; ++j) {
        T* const row = staged[j % 2];
        T* const group = reflectors + (long long)(j / GROUP) * Place::SCALARS;
        if (i == j) {
            const T l = d[j][j];
            const T alpha = pivot<T, E>(quad, l, x, signs, plus <= 0);
            const T beta = l + alpha;
            const T magnified = beta < Range<T>::TINY ? Range<T>::MAGNIFIER : T(1);
            const T inverse = T(1) / (beta * magnified);
            const T rho = beta / alpha;
#pragma unroll
            for (int r = 0; r < E; ++r) {
                x[r] = x[r] * magnified * inverse;
                row[lane * E + r] = x[r];
                group[Place::b(j % GROUP, lane, r)] = x[r];
            }
            if (!Place::TAU || lane == 0) Place::rho(group, j % GROUP, lane, rho);
            __syncwarp(quad);
            if (lane == 0) {
                row[LANES * E] = alpha > T(0) ? rho : T(0);
                d[j][j] = alpha;
            }
        }
        __syncthreads(); // b_j is there, and the one before the last has been read
        const T rho = row[LANES * E];
        if (!(rho > T(0))) return j;
        T dot = 0;
        T b[E];
#pragma unroll
        for (int r = 0; r < E; ++r) {
            b[r] = row[lane * E + r];
            dot = fma(x[r], signs >> r & 1 ? b[r] : -b[r], dot);
        }
        dot = row_sum(ALL, dot);
        const T l = d[j][i];
        const T u = rho * (l + dot);
        __syncwarp();
        if (i > j) {
            if (lane == 0) d[j][i] = u - l;
#pragma unroll
            for (int r = 0; r < E; ++r) x[r] = fma(-u, b[r], x[r]);
        }
        if (Place::TAU && lane == 0 && i / GROUP == j / GROUP)
            group[Place::tau(i % GROUP, j % GROUP)] = i < j ? rho * dot : T(0);
    }
    return cols;
}

template <class T, int E>
__device__ __forceinline__ void diagonal(T* l, long long l_stride, const T* v, long long v_stride, T* reflectors,
                                         T* pivots, int cols, int panel_cols, int passes, int plus,
                                         long long first, int* status) {
    if (*status) return;
    __shared__ T d[ROWS][ROWS + 1]; // by columns
    __shared__ T staged[2][LANES * E + 1];
    const int i = threadIdx.x / LANES;
    for (int j = threadIdx.x % LANES; j < ROWS; j += LANES)
        d[j][i] = i < cols && j <= i ? l[j * l_stride + i] : T(0);
    __syncthreads();
    int rest = cols;
    for (int p = 0; p < passes; ++p) {
        const int column = p * LANES * E;
        T* const own = reflectors + (long long)p * (panel_cols / GROUP) * Order<T, E>::SCALARS;
        rest = pass<T, E>(d, staged, v + column * v_stride, v_stride, own, rest, cols, plus - column);
        __syncthreads(); // what was staged has been read, also the last
    }
    if (rest < cols) {
        if (threadIdx.x == 0) *status = (int)(first + rest) + 1;
        return;
    }
    for (int j = threadIdx.x % LANES; j < cols; j += LANES)
        if (i < cols && j <= i) l[j * l_stride + i] = d[j][i];
    if ((int)threadIdx.x < cols) pivots[threadIdx.x] = d[threadIdx.x][threadIdx.x];
}

#define DIAGONAL(NAME, T, E)                                                                                 \
    extern "C" __global__ void __launch_bounds__(256)                                                        \
        NAME(T* l, long long l_stride, const T* v, long long v_stride, T* reflectors, T* pivots, int cols,   \
             int panel_cols, int passes, int plus, long long first, int* status) {                           \
        diagonal<T, E>(l, l_stride, v, v_stride, reflectors, pivots, cols, panel_cols, passes, plus, first,  \
                       status);                                                                              \
    }

DIAGONAL(diagonal_f64_e4, double, 4)
DIAGONAL(diagonal_f64_e8, double, 8)
DIAGONAL(diagonal_f64_e16, double, 16)
DIAGONAL(diagonal_f32_e4, float, 4)
DIAGONAL(diagonal_f32_e8, float, 8)
DIAGONAL(diagonal_f32_e16, float, 16)
