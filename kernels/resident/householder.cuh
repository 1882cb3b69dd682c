// The Householder fallback: hyperbolic reflectors of a diagonal block (64 x 64), column by column, by 256 threads.
//
// Four neighbouring threads share a row of the block, and each keeps some of the row's entries of V in registers. For
// column j, with l the old pivot, a = v_j its row of V and S the sign of the rank block:
//
//     alpha^2 = l^2 + a S a^T      beta = l + alpha      rho = beta / alpha      b_j = a / beta
//     rows i > j:     d = x l_ij + S rho <v_i, b_j>      u = 2 l_ij + d      l_ij <- l_ij + d      v_i <- v_i - u b_j
//
// with x = rho - 2 = -S a a^T / (alpha beta). Entries of L are corrected by d and not recomputed, which would change
// them by the same rounding error in every call. A column that V outweighs is interchanged with one of V
// (interchange.cuh).
#pragma once
#include "common/arithmetic.cuh"
#include "resident/interchange.cuh"

// As in the CPU's diagonal step. Below MIN_SQUARE a sum of squares may have lost digits to underflow. The reciprocal
// of a number below TINY may overflow; the reciprocal of its product with MAGNIFIER, a power of two, does not.
constexpr double MIN_SQUARE = 1e-276, TINY = 8.9e-308, MAGNIFIER = 1.2676506002282294e30,
                 MAX_F64 = 1.7976931348623157e308;

__device__ __forceinline__ double row_max(double x) {
    x = fmax(x, __shfl_xor_sync(ALL_LANES, x, 1));
    return fmax(x, __shfl_xor_sync(ALL_LANES, x, 2));
}

// Whether a pivot is a positive finite number of the factor's type.
template <class T>
__device__ __forceinline__ bool is_pivot(double x) {
    const T pivot = (T)x;
    return pivot > T(0) && pivot <= (sizeof(T) == 8 ? (T)MAX_F64 : (T)3.4028235e38f);
}

// What the host reads for a pivot that breaks down, while the sweep runs: NaN, as before the launch, so that it waits for
// the status (src/cuda/resident/pivots.rs).
template <class T>
__device__ __forceinline__ T no_pivot() {
    const double zero = 0.0;
    return (T)(zero / zero);
}

// The pivot from scaled terms, for squares that underflow or overflow; for a minus sign alpha^2 is (l - |v|) (l +
// |v|). Returns b = v / beta in v, and alpha = 0 where alpha^2 is not positive.
__device__ __forceinline__ Pivot scaled_pivot(double l, double (&v)[ROW_ENTRIES], double sign) {
    double scale = l;
#pragma unroll
    for (int r = 0; r < ROW_ENTRIES; ++r) scale = fmax(scale, fabs(v[r]));
    scale = row_max(scale);
    // A column of a singular factor in which V is zero: the identity.
    if (scale == 0.0 && sign > 0.0) return {0.0, 2.0, 0.0, 0.0};
    double sum = 0;
#pragma unroll
    for (int r = 0; r < ROW_ENTRIES; ++r) {
        const double x = v[r] / scale;
        sum = fma(x, x, sum);
    }
    sum = row_sum(sum);
    const double norm = sqrt(sum), scaled = l / scale;
    const double square = sign < 0.0 ? (scaled - norm) * (scaled + norm) : fma(scaled, scaled, sum);
    if (!(square > 0.0) || !(square <= MAX_F64)) return {0.0, 0.0, 0.0, 0.0};
    const double alpha = scale * sqrt(square), beta = l + alpha;
    const double magnified = beta < TINY ? MAGNIFIER : 1.0;
    const double inverse = 1.0 / (beta * magnified);
#pragma unroll
    for (int r = 0; r < ROW_ENTRIES; ++r) v[r] = v[r] * magnified * inverse;
    return {alpha, beta / alpha, (l - alpha) / alpha, 0.0};
}

// Eliminates the first `cols` columns of [D V], one after the other. Returns the number of columns before the first
// breakdown.
//     d     D by columns; becomes the new diagonal block
//     x     the thread's entries of its row of V; they become those of row b_i of B
//     own   the pivot of the thread's row, once its column is done
//
// One chain of dependent operations leads from column to column: the exchange of row v_j, two sums, a root, a
// reciprocal, the new v_j+1. All else is read a column earlier, or written after the last column.
template <class T>
__device__ __forceinline__ int eliminate(double (*d)[PANEL_COLS + 1], double (*staged)[RANK_BLOCK],
                                         double (&x)[ROW_ENTRIES], double sign, int cols, Pivot& own) {
    const int i = threadIdx.x / ROW_THREADS, lane = threadIdx.x % ROW_THREADS;
    if (i == 0) {
#pragma unroll
        for (int r = 0; r < ROW_ENTRIES; ++r) staged[0][lane * ROW_ENTRIES + r] = x[r];
    }
    double next_l = d[0][i], next_pivot = d[0][0];
    int j = 0;
    for (; j < cols; ++j) {
        const double pivot = next_pivot;
        double l = next_l, u = 0;
        __syncthreads();  // v_j is stored, and all threads have read v_j-1
        double b[ROW_ENTRIES], norm = 0, dot = 0;
#pragma unroll
        for (int r = 0; r < ROW_ENTRIES; ++r) {
            b[r] = staged[j % 2][lane * ROW_ENTRIES + r];
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
        double tau = 0;
        // With a margin for roundings.
        const double most = sign > 0.0 ? old_square : old_square - norm;
        bool outweighed = 1.01 * norm > OUTWEIGHS * OUTWEIGHS * most && norm > MIN_SQUARE && norm <= MAX_F64;
        if (outweighed) {
            // On copies: the arguments of a function that is not inlined are in memory.
            double own_l = l, own_u = 0, own_x[ROW_ENTRIES], own_b[ROW_ENTRIES];
            Pivot place = {};
#pragma unroll
            for (int r = 0; r < ROW_ENTRIES; ++r) own_x[r] = x[r];
#pragma unroll
            for (int r = 0; r < ROW_ENTRIES; ++r) own_b[r] = b[r];
            outweighed = change_places<T>(lane, i > j, sign < 0.0, pivot, own_l, own_u, own_x, own_b, place);
            if (outweighed) {
                l = own_l;
                u = own_u;
                found = place;
#pragma unroll
                for (int r = 0; r < ROW_ENTRIES; ++r) x[r] = own_x[r];
#pragma unroll
                for (int r = 0; r < ROW_ENTRIES; ++r) b[r] = own_b[r];
            }
        }
        // The other branch leaves the pivot unchanged, bit for bit, where the norm is 0.
        if (outweighed) {
        } else if (norm != 0.0 && square > MIN_SQUARE && square <= MAX_F64 && square > 0.25 * old_square) {
            // The root and the reciprocals are correct to the last bit: larger errors would have the same sign in
            // every call, and would add up.
            const double estimate = reciprocal_root(square);
            const double rough = square * estimate;
            const double alpha = fma(fma(-rough, rough, square), 0.5 * estimate, rough);
            const double inverse_alpha = fma(fma(-alpha, estimate, 1.0), estimate, estimate);
            const double beta = pivot + alpha;
            const double near = reciprocal(beta);
            const double inverse = fma(fma(-beta, near, 1.0), near, near);
            const double added = sign * norm * inverse;  // alpha - pivot
            // As on the CPU: where the change is large, the corrected pivot is less accurate than the root.
            const double corrected = fabs(added) < 0.25 * pivot ? pivot + added : alpha;
            found = {corrected, beta * inverse_alpha, -added * inverse_alpha, 0.0};
            tau = inverse_alpha * dot;
#pragma unroll
            for (int r = 0; r < ROW_ENTRIES; ++r) b[r] *= inverse;
        } else {
            found = scaled_pivot(pivot, b, sign);
            if (!(found.rho > 0.0)) break;
            dot = 0;
#pragma unroll
            for (int r = 0; r < ROW_ENTRIES; ++r) dot = fma(b[r], x[r], dot);
            tau = sign * found.rho * row_sum(dot);
        }
        if (sizeof(T) < 8 && !is_pivot<T>(found.alpha) && found.alpha != 0.0) break;
        const double change = outweighed ? 0.0 : fma(found.excess, l, tau);
        const double taken = i > j ? (outweighed ? u : fma(2.0, l, change)) : 0.0;
#pragma unroll
        for (int r = 0; r < ROW_ENTRIES; ++r) {
            x[r] = fma(-taken, b[r], x[r]);
            if (i == j + 1) staged[(j + 1) % 2][lane * ROW_ENTRIES + r] = x[r];
        }
#pragma unroll
        for (int r = 0; r < ROW_ENTRIES; ++r) x[r] = i == j ? b[r] : x[r];
        if (i == j) own = found;
        if (i >= j && lane == 0) d[j][i] = i == j ? found.alpha : l + change;
    }
    return j;
}

// Loads the lower triangle of the block at l, of `cols` columns, to shared memory by columns; all loads are in flight
// at once.
template <class T>
__device__ __forceinline__ void load_block(double (*d)[PANEL_COLS + 1], const T* l, long long l_stride,
                                           int cols) {
    const int i = threadIdx.x / ROW_THREADS, first = threadIdx.x % ROW_THREADS;
    T entries[PANEL_COLS / ROW_THREADS];
#pragma unroll
    for (int q = 0; q < PANEL_COLS / ROW_THREADS; ++q) {
        const int j = q * ROW_THREADS + first;
        entries[q] = i < cols && j <= i ? l[j * l_stride + i] : T(0);
    }
#pragma unroll
    for (int q = 0; q < PANEL_COLS / ROW_THREADS; ++q) d[q * ROW_THREADS + first][i] = (double)entries[q];
}

// Applies one reflector b (RANK_BLOCK) of a factor of T to two rows of V of the thread, 16 of its warp. Returns d, which the caller
// adds to the rows' old entries `l` of the reflector's column. `scale` is S rho. With an interchange, which INTERCHANGED allows, l is
// new, and d is 0.
template <bool INTERCHANGED, class T>
__device__ __forceinline__ void reflect(const MmaLane& at, const double* b, double scale, double excess,
                                        double interchange, double (&l)[2], VRows& v, double (&d)[2]) {
    double entry[V_EIGHTS][2];
#pragma unroll
    for (int t = 0; t < V_EIGHTS; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e) entry[t][e] = b[at.column(t, e)];
#pragma unroll
    for (int row = 0; row < 2; ++row) {
        double dot = 0, u;
#pragma unroll
        for (int t = 0; t < V_EIGHTS; ++t)
#pragma unroll
            for (int e = 0; e < 2; ++e) dot = fma(entry[t][e], v[t][2 * row + e], dot);
        if (INTERCHANGED && interchange != 0.0) {
            row_changes_places<T>(at, b, scale, excess, interchange, row, l[row], u, v);
            d[row] = 0;
        } else {
            d[row] = fma(scale, row_sum(dot), excess * l[row]);
            u = fma(2.0, l[row], d[row]);
        }
#pragma unroll
        for (int t = 0; t < V_EIGHTS; ++t)
#pragma unroll
            for (int e = 0; e < 2; ++e) v[t][2 * row + e] = fma(-u, entry[t][e], v[t][2 * row + e]);
    }
}

// Whether any of a panel's columns is interchanged with one of V, by their interchanges. By full warps.
__device__ __forceinline__ bool any_interchange(const MmaLane& at, const double* interchanges) {
    return __any_sync(ALL_LANES, interchanges[at.lane] != 0.0 || interchanges[at.lane + 32] != 0.0);
}
