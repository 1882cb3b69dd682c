// Hyperbolic Householder reflectors of a 64 x 64 block by 256 threads: see eliminate.
//
// Four neighbouring threads share a row of the block, and each keeps four of its columns of V in registers. Column
// j, with l the old pivot, a = v_j the row of V there and S the sign of all columns of V:
//
//     alpha^2 = l^2 + a S a^T      beta = l + alpha      rho = beta / alpha      b_j = a / beta
//     rows i > j:     d = x l_ij + S rho <v_i, b_j>      u = 2 l_ij + d      l_ij <- l_ij + d      v_i <- v_i - u b_j
//
// with x = rho - 2 = -S a a^T / (alpha beta), so that entries are corrected and not made anew, which would move them by
// the same rounding in every call.
#pragma once
#include "common/panel.cuh"

constexpr int LANES = 4; // threads of a row
constexpr int E = COLUMNS / LANES;

// As in the CPU's diagonal step: below SMALL a sum of squares may have lost digits to underflow; the reciprocal
// of less than TINY may overflow, but not that of its product with MAGNIFIER, a power of two.
constexpr double SMALL = 1e-276, TINY = 8.9e-308, MAGNIFIER = 1.2676506002282294e30,
                 MAX = 1.7976931348623157e308;

__device__ __forceinline__ double row_max(double x) {
    x = fmax(x, __shfl_xor_sync(ALL, x, 1));
    return fmax(x, __shfl_xor_sync(ALL, x, 2));
}

// Whether a pivot is a positive number of the factor's type.
template <class T>
__device__ __forceinline__ bool is_pivot(double x) {
    const T pivot = (T)x;
    return pivot > T(0) && pivot <= (sizeof(T) == 8 ? (T)MAX : (T)3.4028235e38f);
}

// What all threads know of a column: its new pivot alpha, rho = 1 + l / alpha, and what it exceeds 2 by.
struct Pivot {
    double alpha, rho, excess;
};

// From terms that are scaled where the squares themselves vanish or overflow, and for a minus sign as
// (l - |v|) (l + |v|). alpha is 0 where its square is not positive. Returns b = v / beta in v.
__device__ __forceinline__ Pivot careful(double l, double (&v)[E], double sign) {
    double scale = l;
#pragma unroll
    for (int r = 0; r < E; ++r) scale = fmax(scale, fabs(v[r]));
    scale = row_max(scale);
    double sum = 0;
#pragma unroll
    for (int r = 0; r < E; ++r) {
        const double x = v[r] / scale;
        sum = fma(x, x, sum);
    }
    sum = row_sum(sum);
    const double norm = sqrt(sum), scaled = l / scale;
    const double square = sign < 0.0 ? (scaled - norm) * (scaled + norm) : fma(scaled, scaled, sum);
    if (!(square > 0.0) || !(square <= MAX)) return {0.0, 0.0, 0.0};
    const double alpha = scale * sqrt(square), beta = l + alpha;
    const double magnified = beta < TINY ? MAGNIFIER : 1.0;
    const double inverse = 1.0 / (beta * magnified);
#pragma unroll
    for (int r = 0; r < E; ++r) v[r] = v[r] * magnified * inverse;
    return {alpha, beta / alpha, (l - alpha) / alpha};
}

// The first `cols` columns of [D V], D by columns in `d`, one after the other; how many of them did not break down.
// `x`: the thread's entries of its row of V, and from the row's own column on of the row of B, with what `own` is then.
//
// What is between two columns of L is one chain: the row v_j goes round, two sums, a root, a reciprocal, the new
// v_j+1. What is not on it has been read a column before, or is written when all columns are done.
template <class T>
__device__ __forceinline__ int eliminate(double (*d)[ROWS + 1], double (*staged)[COLUMNS], double (&x)[E],
                                         double sign, int cols, Pivot& own) {
    const int i = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    if (i == 0) {
#pragma unroll
        for (int r = 0; r < E; ++r) staged[0][lane * E + r] = x[r];
    }
    double next_l = d[0][i], next_pivot = d[0][0];
    int j = 0;
    for (; j < cols; ++j) {
        const double l = next_l, pivot = next_pivot;
        __syncthreads(); // v_j is there, and v_j-1 has been read
        double b[E], norm = 0, dot = 0;
#pragma unroll
        for (int r = 0; r < E; ++r) {
            b[r] = staged[j % 2][lane * E + r];
            norm = fma(b[r], b[r], norm);
            dot = fma(x[r], b[r], dot);
        }
        if (j + 1 < cols) {
            next_l = d[j + 1][i];
            next_pivot = d[j + 1][j + 1];
        }
        norm = row_sum(norm);
        dot = sign * row_sum(dot);
        const double old_square = pivot * pivot, square = fma(sign, norm, old_square);
        Pivot found;
        double tau;
        // A norm of 0 is for the other branch, which then leaves the pivot to the bit.
        if (norm != 0.0 && square > SMALL && square <= MAX && square > 0.25 * old_square) {
            // A root and reciprocals to the last bit: what is left of either error has the same sign in
            // every call, and adds up.
            const double estimate = reciprocal_root(square);
            const double rough = square * estimate;
            const double alpha = fma(fma(-rough, rough, square), 0.5 * estimate, rough);
            const double inverse_alpha = fma(fma(-alpha, estimate, 1.0), estimate, estimate);
            const double beta = pivot + alpha;
            const double near = reciprocal(beta);
            const double inverse = fma(fma(-beta, near, 1.0), near, near);
            const double added = sign * norm * inverse; // alpha - pivot
            // As on the CPU: a large change is not known as well as the root.
            const double corrected = fabs(added) < 0.25 * pivot ? pivot + added : alpha;
            found = {corrected, beta * inverse_alpha, -added * inverse_alpha};
            tau = inverse_alpha * dot;
#pragma unroll
            for (int r = 0; r < E; ++r) b[r] *= inverse;
        } else {
            found = careful(pivot, b, sign);
            if (!(found.rho > 0.0)) break;
            dot = 0;
#pragma unroll
            for (int r = 0; r < E; ++r) dot = fma(b[r], x[r], dot);
            tau = sign * found.rho * row_sum(dot);
        }
        if (sizeof(T) < 8 && !is_pivot<T>(found.alpha)) break;
        const double change = fma(found.excess, l, tau);
        const double taken = i > j ? fma(2.0, l, change) : 0.0;
#pragma unroll
        for (int r = 0; r < E; ++r) {
            x[r] = fma(-taken, b[r], x[r]);
            if (i == j + 1) staged[(j + 1) % 2][lane * E + r] = x[r];
        }
#pragma unroll
        for (int r = 0; r < E; ++r) x[r] = i == j ? b[r] : x[r];
        if (i == j) own = found;
        if (i >= j && lane == 0) d[j][i] = i == j ? found.alpha : l + change;
    }
    return j;
}

// The lower triangle of the block at l, of `cols` columns, into shared memory by columns; all of it on its way at
// once.
template <class T>
__device__ __forceinline__ void load_block(double (*d)[ROWS + 1], const T* l, long long l_stride, int cols) {
    const int i = threadIdx.x / LANES, first = threadIdx.x % LANES;
    T entries[ROWS / LANES];
#pragma unroll
    for (int q = 0; q < ROWS / LANES; ++q) {
        const int j = q * LANES + first;
        entries[q] = i < cols && j <= i ? l[j * l_stride + i] : T(0);
    }
#pragma unroll
    for (int q = 0; q < ROWS / LANES; ++q) d[q * LANES + first][i] = (double)entries[q];
}
