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
// Shapes, column-major: entry (i, j), i >= j, of the block at l + j * l_stride + i, in place, with `below` more
// rows under it; row i < cols of V at v + column * v_stride + i, read; reflectors, of `panel_cols` columns a
// pass, as trailing_tensor.cu takes them (f64) or as trailing.cu with 4 lanes does (f32), written; pivots (cols),
// the new ones, written. status: 0, or else the launch does nothing; becomes the number, counted from 1 and
// `first` on, of the column whose pivot^2 is not positive, and the block is not written then.
//
// Launch: one block of 256 threads. cols <= 64, panel_cols a multiple of 8; `plus` columns of V have a plus sign
// and come first.
#include "common.cuh"
#include "instructions.cuh"

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

// The sum over the threads of a row, all threads of a warp at once; the same bits for each.
template <class T>
__device__ __forceinline__ T row_sum(T x) {
    x += __shfl_xor_sync(ALL, x, 1);
    return x + __shfl_xor_sync(ALL, x, 2);
}

template <class T>
__device__ __forceinline__ T row_max(T x) {
    x = fmax(x, __shfl_xor_sync(ALL, x, 1));
    return fmax(x, __shfl_xor_sync(ALL, x, 2));
}

// What all threads know of a column: its new pivot alpha and rho = 1 + l / alpha.
template <class T>
struct Pivot {
    T alpha, rho;
};

// From terms that are scaled where the squares themselves vanish or overflow, and for minus signs alone as
// (l - |v|) (l + |v|). alpha is 0 where its square is not positive. Returns b = v / beta in v.
template <class T, int E>
__device__ __forceinline__ Pivot<T> careful(T l, T (&v)[E], unsigned signs, bool minus) {
    T scale = l;
#pragma unroll
    for (int r = 0; r < E; ++r) scale = fmax(scale, fabs(v[r]));
    scale = row_max(scale);
    T plus_sum = 0, minus_sum = 0;
#pragma unroll
    for (int r = 0; r < E; ++r) {
        const T x = v[r] / scale;
        if (signs >> r & 1)
            plus_sum = fma(x, x, plus_sum);
        else
            minus_sum = fma(x, x, minus_sum);
    }
    plus_sum = row_sum(plus_sum);
    minus_sum = row_sum(minus_sum);
    const T norm = sqrt(minus_sum), scaled = l / scale;
    const T square =
        minus ? (scaled - norm) * (scaled + norm) : scaled * scaled + (plus_sum - minus_sum);
    if (!(square > T(0)) || !(square <= Range<T>::MAX)) return {T(0), T(0)};
    const T alpha = scale * sqrt(square), beta = l + alpha;
    const T magnified = beta < Range<T>::TINY ? Range<T>::MAGNIFIER : T(1);
    const T inverse = T(1) / (beta * magnified);
#pragma unroll
    for (int r = 0; r < E; ++r) v[r] = v[r] * magnified * inverse;
    return {alpha, beta / alpha};
}

// A pass over the first `cols` columns; how many of them did not break down. `x`: the thread's entries of its row
// of V, and from the row's own column on of the row of B.
//
// What is between two columns of L is one chain: the row v_j goes round, two sums, a root, a reciprocal, the new
// v_j+1. What is not on it has been read a column before, or is written when all columns are done.
template <class T, int E>
__device__ __forceinline__ int pass(T (*d)[ROWS + 1], T (*staged)[LANES * E], T (&x)[E], unsigned signs, bool minus,
                                    T* reflectors, int cols) {
    typedef Order<T, E> Place;
    const int i = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    if (i == 0) {
#pragma unroll
        for (int r = 0; r < E; ++r) staged[0][lane * E + r] = x[r];
    }
    T* const group = reflectors + (long long)(i / GROUP) * Place::SCALARS;
    T sign[E];
#pragma unroll
    for (int r = 0; r < E; ++r) sign[r] = signs >> r & 1 ? T(1) : T(-1);
    T next_l = d[0][i], next_pivot = d[0][0], own_rho = 0;
    int j = 0;
    for (; j < cols; ++j) {
        const T l = next_l, pivot = next_pivot;
        const int next = min(j + 1, ROWS - 1);
        __syncthreads(); // v_j is there, and v_j-1 has been read
        T b[E], norm = 0, dot = 0;
#pragma unroll
        for (int r = 0; r < E; ++r) {
            b[r] = staged[j % 2][lane * E + r];
            norm = fma(sign[r] * b[r], b[r], norm);
            dot = fma(sign[r] * x[r], b[r], dot);
        }
        next_l = d[next][i];
        next_pivot = d[next][next];
        norm = row_sum(norm);
        dot = row_sum(dot);
        const T old_square = pivot * pivot, square = old_square + norm;
        T alpha, rho, tau;
        // A norm of 0 is for the other branch, which then leaves the pivot to the bit.
        if (norm != T(0) && square > Range<T>::SMALL && square <= Range<T>::MAX && square > T(0.25) * old_square) {
            // A root and its reciprocal to the last bit: what is left of either error has the same sign in
            // every call, and adds up.
            const T estimate = reciprocal_root(square);
            alpha = square * estimate;
            alpha = fma(fma(-alpha, alpha, square), T(0.5) * estimate, alpha);
            const T inverse_alpha = fma(fma(-alpha, estimate, T(1)), estimate, estimate);
            const T beta = pivot + alpha;
            const T inverse = reciprocal(beta);
            rho = beta * inverse_alpha;
            tau = inverse_alpha * dot;
#pragma unroll
            for (int r = 0; r < E; ++r) b[r] *= inverse;
        } else {
            const Pivot<T> found = careful<T, E>(pivot, b, signs, minus);
            alpha = found.alpha;
            rho = found.rho;
            if (!(rho > T(0))) break;
            dot = 0;
#pragma unroll
            for (int r = 0; r < E; ++r) dot = fma(sign[r] * b[r], x[r], dot);
            tau = rho * row_sum(dot);
        }
        const T u = fma(rho, l, tau);
        const T taken = i > j ? u : T(0);
#pragma unroll
        for (int r = 0; r < E; ++r) {
            x[r] = fma(-taken, b[r], x[r]);
            if (i == j + 1) staged[(j + 1) % 2][lane * E + r] = x[r];
        }
#pragma unroll
        for (int r = 0; r < E; ++r) x[r] = i == j ? b[r] : x[r];
        own_rho = i == j ? rho : own_rho;
        if (i >= j && lane == 0) d[j][i] = i == j ? alpha : u - l;
        if (Place::TAU && lane == 0 && i / GROUP == j / GROUP)
            group[Place::tau(i % GROUP, j % GROUP)] = i < j ? tau : T(0);
    }
    if (i < j) {
#pragma unroll
        for (int r = 0; r < E; ++r) group[Place::b(i % GROUP, lane, r)] = x[r];
        if (!Place::TAU || lane == 0) Place::rho(group, i % GROUP, lane, own_rho);
    }
    return j;
}

// Has these entries brought into the second-level cache.
template <class T>
__device__ __forceinline__ void fetch_ahead(const T* from, long long stride, int rows, int cols) {
    constexpr int LINE = 128 / (int)sizeof(T);
    const int lines = (rows + LINE - 1) / LINE;
    for (int at = threadIdx.x; at < lines * cols; at += blockDim.x)
        prefetch(from + at / lines * stride + at % lines * LINE);
}

// The thread's entries of its row of V in a pass, zeros if it has none; the bits of those with a plus sign.
template <class T, int E>
__device__ __forceinline__ unsigned load(T (&x)[E], const T* v, long long v_stride, bool mine, int plus) {
    unsigned signs = 0;
#pragma unroll
    for (int r = 0; r < E; ++r) {
        const int column = Order<T, E>::column(threadIdx.x % LANES, r);
        x[r] = mine ? v[column * v_stride + threadIdx.x / LANES] : T(0);
        if (column < plus) signs |= 1u << r;
    }
    return signs;
}

template <class T, int E>
__device__ __forceinline__ void diagonal(T* l, long long l_stride, const T* v, long long v_stride, T* reflectors,
                                         T* pivots, int cols, int below, int panel_cols, int passes,
                                         int plus, long long first, int* status) {
    __shared__ T d[ROWS][ROWS + 1]; // by columns
    __shared__ T staged[2][LANES * E];
    const int i = threadIdx.x / LANES;
    T x[E];
    unsigned signs = load<T, E>(x, v, v_stride, i < cols, plus);
    {
        T entries[ROWS / LANES]; // all on their way at once
#pragma unroll
        for (int q = 0; q < ROWS / LANES; ++q) {
            const int j = q * LANES + threadIdx.x % LANES;
            entries[q] = i < cols && j <= i ? l[j * l_stride + i] : T(0);
        }
#pragma unroll
        for (int q = 0; q < ROWS / LANES; ++q)
            d[q * LANES + threadIdx.x % LANES][i] = entries[q];
    }
    if (*status) return;
    // What the stream's next launches begin with.
    fetch_ahead(l + cols, l_stride, min(below, 2 * ROWS), cols);
    fetch_ahead(l + cols * (l_stride + 1), l_stride, min(below, ROWS), min(below, ROWS));
    __syncthreads();
    int rest = cols;
    for (int p = 0; p < passes; ++p) {
        const int column = p * LANES * E;
        T* const own = reflectors + (long long)p * (panel_cols / GROUP) * Order<T, E>::SCALARS;
        if (p > 0) signs = load<T, E>(x, v + column * v_stride, v_stride, i < cols, plus - column);
        rest = pass<T, E>(d, staged, x, signs, plus <= column, own, rest);
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
             int below, int panel_cols, int passes, int plus, long long first, int* status) {                \
        diagonal<T, E>(l, l_stride, v, v_stride, reflectors, pivots, cols, below, panel_cols, passes, plus,  \
                       first, status);                                                                       \
    }

DIAGONAL(diagonal_f64_e4, double, 4)
DIAGONAL(diagonal_f64_e8, double, 8)
DIAGONAL(diagonal_f64_e16, double, 16)
DIAGONAL(diagonal_f32_e4, float, 4)
DIAGONAL(diagonal_f32_e8, float, 8)
DIAGONAL(diagonal_f32_e16, float, 16)
