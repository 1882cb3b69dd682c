// A column of L that V outweighs is interchanged with the column p of V that has the largest entry in row v_j, before
// a reflector with a plus sign and after one with a minus sign (src/cpu/kernels/interchange.rs says why). With A =
// |v_jp|, sigma its sign, R the larger of the two pivots and l the smaller, v_jp <- l, and q = v_j v_j^T after that:
//
//     R^2 = A^2 + q      b = v_j / (A + R)      s = (A + R) / R      x = -q / (R (A + R))      o = sigma V_p
//     update:     l'_ij = o + (x o + s (V b^T))             with V_p <- l_ij before
//     downdate:   l'_ij = (l_ij - o - x o - s (V b^T, but for p)) / (s b_p)      V_p <- l'_ij
//     both:       V <- V - (o + the larger of both columns' entries) b
//
// Sums are compensated, and values are rounded to their stored precision before they are used, so that adding and
// removing V restores the column.
#pragma once
#include "common/compensated.cuh"
#include "resident/v_rows.cuh"

constexpr int ROW_THREADS = 4;                         // threads that share a row of the block
constexpr int ROW_ENTRIES = RANK_BLOCK / ROW_THREADS;  // entries of V that each keeps

// As on the CPU: the ratio of A to l above which columns are interchanged.
constexpr double OUTWEIGHS = 2.0;

// The sum over the threads of a row, with the same bits in all of them. By full warps.
__device__ __forceinline__ double row_sum(double x) {
    x += __shfl_xor_sync(ALL_LANES, x, 1);
    return x + __shfl_xor_sync(ALL_LANES, x, 2);
}

__device__ __forceinline__ Sum row_sum(Sum x) {
#pragma unroll
    for (int step = 1; step < ROW_THREADS; step *= 2) {
        Sum other;
        other.whole = __shfl_xor_sync(ALL_LANES, x.whole, step);
        other.rest = __shfl_xor_sync(ALL_LANES, x.rest, step);
        // The same bits in both threads: neither sum is first.
        const double rest = x.rest + other.rest;
        x.rest = 0;
        x.add(other.whole);
        x.rest += rest;
    }
    return x;
}

// A column's values that all threads have: its new pivot alpha, rho, and x = rho - 2 as `excess`; p + 1 if it is
// interchanged with column p of V, with the sign of sigma, else 0.
struct Pivot {
    double alpha, rho, excess, interchange;
};

// The column of V of a thread's entry r.
__device__ __forceinline__ int column_of_v(int lane, int r) { return r / 2 * 8 + 2 * lane + r % 2; }

// An entry of a column of L through an interchange, as T rounds it. `sum` is V b^T but for p.
template <class T>
__device__ __forceinline__ double through_interchange(double l, double other, Sum sum, double s, double x,
                                                      double b_p, bool minus) {
    Sum entry;
    if (minus) {
        entry.add(l);
        entry.add(-other);
        entry.add_product(-x, other);
        entry.add_times(-s, sum);
        return (double)(T)(entry.rounded() / (s * b_p));
    }
    sum.add_product(l, b_p);
    entry.add(other);
    entry.add_product(x, other);
    entry.add_times(s, sum);
    return (double)(T)entry.rounded();
}

// Interchanges column j of the diagonal block, if its pivot and row v_j in b require it; returns whether they do. Sets
// b to that of the reflector, l to the row's new entry of column j, u to the factor in V <- V - u b, and V_p in x;
// only rows `below` have V. By full warps.
template <class T>
__device__ __noinline__ bool change_places(int lane, bool below, bool minus, double pivot, double& l, double& u,
                                              double (&x)[ROW_ENTRIES], double (&b)[ROW_ENTRIES], Pivot& found) {
    double most = 0;
    int column = 0;
#pragma unroll
    for (int r = 0; r < ROW_ENTRIES; ++r) {
        const bool larger = fabs(b[r]) > fabs(most);
        most = larger ? b[r] : most;
        column = larger ? column_of_v(lane, r) : column;
    }
#pragma unroll
    for (int step = 1; step < ROW_THREADS; step *= 2) {
        const double other = __shfl_xor_sync(ALL_LANES, most, step);
        const int of_other = __shfl_xor_sync(ALL_LANES, column, step);
        const bool larger = fabs(other) > fabs(most) || (fabs(other) == fabs(most) && of_other < column);
        most = larger ? other : most;
        column = larger ? of_other : column;
    }
    const double largest = fabs(most), sigma = most < 0.0 ? -1.0 : 1.0;
    Sum rest;
#pragma unroll
    for (int r = 0; r < ROW_ENTRIES; ++r)
        if (column_of_v(lane, r) != column) rest.add_product(b[r], b[r]);
    rest = row_sum(rest);
    double small = pivot, large = pivot;
    if (minus) {
        Sum square;
        square.add_product(large, large);
        square.add_product(-largest, largest);
        square.add_times(-1.0, rest);
        small = (double)(T)square.root();
        if (!(small > 0.0)) return false;
    }
    if (!(largest > OUTWEIGHS * small)) return false;
    rest.add_product(small, small);
    if (!minus) {
        Sum square = rest;
        square.add_product(largest, largest);
        large = (double)(T)square.root();
    }
    const double beta = largest + large;
    found = {minus ? small : large, beta / large, -rest.rounded() / large / beta, sigma * (column + 1.0)};
    double taken = 0;
    Sum sum;
#pragma unroll
    for (int r = 0; r < ROW_ENTRIES; ++r) {
        const bool own = column_of_v(lane, r) == column;
        b[r] = (own ? small : b[r]) / beta;
        if (own)
            taken = x[r];
        else
            sum.add_product(x[r], b[r]);
    }
    const double other = sigma * row_sum(taken), old = l;
    l = through_interchange<T>(old, other, row_sum(sum), found.rho, found.excess, small / beta, minus);
    u = other + (minus ? old : l);
#pragma unroll
    for (int r = 0; r < ROW_ENTRIES; ++r)
        if (column_of_v(lane, r) == column && below) x[r] = minus ? l : old;
    return true;
}

// The same for one of two rows of V of the thread, below the block: V_p, l and u, for the reflector b (RANK_BLOCK).
template <class T>
__device__ __forceinline__ void row_changes_places(const MmaLane& at, const double* b, double scale, double excess,
                                                   double interchange, int row, double& l, double& u, VRows& v) {
    const int column = (int)fabs(interchange) - 1;
    const bool minus = scale < 0.0;
    double taken = 0;
    Sum sum;
#pragma unroll
    for (int t = 0; t < V_EIGHTS; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            if (at.column(t, e) == column)
                taken = v[t][2 * row + e];
            else
                sum.add_product(v[t][2 * row + e], b[at.column(t, e)]);
        }
    const double other = (interchange < 0.0 ? -1.0 : 1.0) * row_sum(taken), old = l;
    l = through_interchange<T>(old, other, row_sum(sum), fabs(scale), excess, b[column], minus);
    u = other + (minus ? old : l);
#pragma unroll
    for (int t = 0; t < V_EIGHTS; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e)
            if (at.column(t, e) == column) v[t][2 * row + e] = minus ? l : old;
}
