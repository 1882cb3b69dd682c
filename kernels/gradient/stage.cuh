// A stage: V as it takes it, read from the caller's memory or kept between launches, and the columns that it takes.
#pragma once
#include "gradient/rows.cuh"

// Column r of V, or of what goes with it, of matrix b, between launches: n numbers at kept + (b * k + r) * n.
template <class T>
__device__ __forceinline__ T* kept_column(T* kept, const Modification<T>& of, long long b, int r) {
    return kept + (b * of.k + r) * of.n;
}

// Reads a row that has been kept.
template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void fetch(T (&to)[COLUMNS], T* kept, const Modification<T>& of, const Place<T, COLUMNS, LANES>& own,
                                      long long b, long long row, bool has_row) {
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
        to[c] = has_row && own.column(c) < of.k ? kept_column(kept, of, b, own.column(c))[row] : T(0);
}

// Keeps a row.
template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void keep(const T (&from)[COLUMNS], T* kept, const Modification<T>& of, const Place<T, COLUMNS, LANES>& own,
                                     long long b, long long row, bool has_row) {
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
        if (has_row && own.column(c) < of.k) kept_column(kept, of, b, own.column(c))[row] = from[c];
}

// Entry (row, r) of V as the stage takes it.
template <class T>
__device__ __forceinline__ T staged(const Modification<T>& of, const Column<T>& column, long long b, long long row, int r) {
    return column.is_taken ? column.scale * of.v.at(b, row, r) : T(0);
}

// The tangents of V and of the weights of one matrix.
template <class T>
struct AlongV {
    Matrices<T> v;     // n x k
    const T* weights;  // of matrix b: k at weights + b * of_weights; or null if they are zero
    long long of_weights;

    // The tangent of the sign of a column, which only a weight of 0 has.
    __device__ __forceinline__ T of_sign(const Column<T>& column, long long b, int r) const {
        return column.is_taken && column.weight == T(0) && weights ? weights[b * of_weights + r] : T(0);
    }
    // The tangent of entry (row, r) of V as the stage takes it.
    __device__ __forceinline__ T staged(const Modification<T>& of, const Column<T>& column, long long b, long long row, int r) const {
        if (!column.is_taken) return T(0);
        const T along = column.scale * v.at(b, row, r);
        if (column.weight == T(0) || !weights) return along;
        const T of_scale = T(0.5) * (weights[b * of_weights + r] / column.weight) * column.scale;
        return fma(of_scale, of.v.at(b, row, r), along);
    }
};

// The signs of the columns, to shared memory. To be followed by __syncthreads.
template <class T>
__device__ __forceinline__ void take_signs(T* signs, int rank, const Stage<T>& of, long long b) {
    for (int r = threadIdx.x; r < rank; r += blockDim.x) signs[r] = Column<T>(of, b, r).sign;
}

// Whether a matrix has weights of both signs. By all threads.
template <class T>
__device__ __forceinline__ bool is_mixed(const Modification<T>& of, long long b) {
    bool plus = false, minus = false;
    for (int r = threadIdx.x; r < of.k && of.weights; r += blockDim.x) {
        plus = plus || of.weight(b, r) > T(0);
        minus = minus || of.weight(b, r) < T(0);
    }
    const bool has_plus = __syncthreads_or(plus), has_minus = __syncthreads_or(minus);
    return has_plus && has_minus;
}

// What a launch does for a matrix whose weights may have both signs.
constexpr int ONLY = 0;    // everything: they have not
constexpr int FIRST = 1;   // everything if they have not, otherwise the columns with a plus sign
constexpr int SECOND = 2;  // nothing if they have not, otherwise the columns with a minus sign

// Whether the launch has work for matrix b, and for which columns. By all threads.
template <class T>
__device__ __forceinline__ bool takes_part(Stage<T>& of, long long b, int launch) {
    if (launch == ONLY) return true;
    if (is_mixed(of, b)) {
        of.takes = launch == FIRST ? PLUS : MINUS;
        return true;
    }
    return launch == FIRST;
}

// Zeros above the diagonal of matrix b, or everywhere. By `count` blocks of threads, of which this is number `block`.
template <class T>
__device__ __forceinline__ void clear(const Matrices<T>& to, long long b, int n, bool everywhere, long long block, long long count) {
    // Neighbouring threads have neighbouring entries, by columns or by rows.
    const bool by_columns = to.row <= to.column;
    for (long long x = block; x < n; x += count) {
        const long long first = everywhere || by_columns ? 0 : x + 1, end = everywhere || !by_columns ? n : x;
        for (long long y = first + threadIdx.x; y < end; y += blockDim.x)
            (by_columns ? to.at(b, y, x) : to.at(b, x, y)) = T(0);
    }
}

// The panel that begins with column `start`, and the row of this thread: of the diagonal block, or of a part of the rows below it.
template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ Panel panel_of(const Modification<T>& of, const Place<T, COLUMNS, LANES>& own, long long start, long long part) {
    const long long left = of.n - start, cols = left < PANEL_COLS ? left : PANEL_COLS;
    const long long row = start + part * PANEL_COLS + own.row;
    return Panel{blockIdx.x, start, cols, row, row < of.n};
}
