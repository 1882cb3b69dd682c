// Hyperbolic Householder reflectors of a 64 x 64 block by 256 threads, or more: see eliminate.
//
// Four neighbouring threads share a row of the block, and of the 4 E columns of V each keeps E in registers.
// Column j, with l the old pivot, a = v_j the row of V there and S the sign of all columns of V:
//
//     alpha^2 = l^2 + a S a^T      beta = l + alpha      rho = beta / alpha      b_j = a / beta
//     rows i > j:     u = rho (l_ij + <v_i, S b_j>)      l_ij <- u - l_ij      v_i <- v_i - u b_j
//     rows i < j:     tau_ij = rho <b_i, S b_j>
#pragma once
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
    static constexpr double SMALL = 1e-276, TINY = 8.9e-308;
    static constexpr double MAGNIFIER = 1.2676506002282294e30, MAX = 1.7976931348623157e308;
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
    __device__ static void rho(double* group, int j, int, double rho) {
        group[LANES * E * GROUP + GROUP * GROUP + j] = rho;
    }
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

// From terms that are scaled where the squares themselves vanish or overflow, and for a minus sign as
// (l - |v|) (l + |v|). alpha is 0 where its square is not positive. Returns b = v / beta in v.
template <class T, int E>
__device__ __forceinline__ Pivot<T> careful(T l, T (&v)[E], T sign) {
    T scale = l;
#pragma unroll
    for (int r = 0; r < E; ++r) scale = fmax(scale, fabs(v[r]));
    scale = row_max(scale);
    T sum = 0;
#pragma unroll
    for (int r = 0; r < E; ++r) {
        const T x = v[r] / scale;
        sum = fma(x, x, sum);
    }
    sum = row_sum(sum);
    const T norm = sqrt(sum), scaled = l / scale;
    const T square = sign < T(0) ? (scaled - norm) * (scaled + norm) : fma(scaled, scaled, sum);
    if (!(square > T(0)) || !(square <= Range<T>::MAX)) return {T(0), T(0)};
    const T alpha = scale * sqrt(square), beta = l + alpha;
    const T magnified = beta < Range<T>::TINY ? Range<T>::MAGNIFIER : T(1);
    const T inverse = T(1) / (beta * magnified);
#pragma unroll
    for (int r = 0; r < E; ++r) v[r] = v[r] * magnified * inverse;
    return {alpha, beta / alpha};
}

// The first `cols` columns of [D V], D by columns in `d`, one after the other; how many of them did not break down.
// `x`: the thread's entries of its row of V, and from the row's own column on of the row of B, with `own_rho`.
// Threads beyond the block's have rows of V whose row of L is zero.
// `tau_at`, if not null: where tau_ij of the row's i and the columns j of its group go, i < j.
//
// What is between two columns of L is one chain: the row v_j goes round, two sums, a root, a reciprocal, the new
// v_j+1. What is not on it has been read a column before, or is written when all columns are done.
template <class T, int E>
__device__ __forceinline__ int eliminate(T (*d)[ROWS + 1], T (*staged)[LANES * E], T (&x)[E], T sign, int cols,
                                         T& own_rho, T* tau_at) {
    const int i = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    if (i == 0) {
#pragma unroll
        for (int r = 0; r < E; ++r) staged[0][lane * E + r] = x[r];
    }
    const bool of_block = i < ROWS;
    T next_l = of_block ? d[0][i] : T(0), next_pivot = d[0][0];
    int j = 0;
    for (; j < cols; ++j) {
        const T l = next_l, pivot = next_pivot;
        __syncthreads(); // v_j is there, and v_j-1 has been read
        T b[E], norm = 0, dot = 0;
#pragma unroll
        for (int r = 0; r < E; ++r) {
            b[r] = staged[j % 2][lane * E + r];
            norm = fma(b[r], b[r], norm);
            dot = fma(x[r], b[r], dot);
        }
        if (j + 1 < cols) {
            next_l = of_block ? d[j + 1][i] : T(0);
            next_pivot = d[j + 1][j + 1];
        }
        norm = row_sum(norm);
        dot = sign * row_sum(dot);
        const T old_square = pivot * pivot, square = fma(sign, norm, old_square);
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
            const Pivot<T> found = careful<T, E>(pivot, b, sign);
            alpha = found.alpha;
            rho = found.rho;
            if (!(rho > T(0))) break;
            dot = 0;
#pragma unroll
            for (int r = 0; r < E; ++r) dot = fma(b[r], x[r], dot);
            tau = sign * rho * row_sum(dot);
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
        if (i >= j && of_block && lane == 0) d[j][i] = i == j ? alpha : u - l;
        if (tau_at && lane == 0 && i / GROUP == j / GROUP) tau_at[j % GROUP] = i < j ? tau : T(0);
    }
    return j;
}

// The thread's entries of its row of V, zeros if it has none.
template <class T, int E>
__device__ __forceinline__ void load_row(T (&x)[E], const T* v, long long v_stride, bool mine) {
#pragma unroll
    for (int r = 0; r < E; ++r) {
        const int column = Order<T, E>::column(threadIdx.x % LANES, r);
        x[r] = mine ? v[column * v_stride + threadIdx.x / LANES] : T(0);
    }
}

// The lower triangle of the block at l, of `cols` columns, into shared memory by columns; all of it on its way at
// once.
template <class T>
__device__ __forceinline__ void load_block(T (*d)[ROWS + 1], const T* l, long long l_stride, int cols) {
    const int i = threadIdx.x / LANES, first = threadIdx.x % LANES;
    T entries[ROWS / LANES];
#pragma unroll
    for (int q = 0; q < ROWS / LANES; ++q) {
        const int j = q * LANES + first;
        entries[q] = i < cols && j <= i ? l[j * l_stride + i] : T(0);
    }
#pragma unroll
    for (int q = 0; q < ROWS / LANES; ++q) d[q * LANES + first][i] = entries[q];
}
