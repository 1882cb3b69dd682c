// The eliminations of Bennett's coefficients (bennett.cuh), for sixteen columns of a panel by a warp.
#pragma once
#include "common/arithmetic.cuh"
#include "resident/v_rows.cuh"

constexpr int BENNETT_COLS = 16;                               // columns that a warp computes
constexpr int COEFFICIENT_WARPS = PANEL_COLS / BENNETT_COLS;  // for a panel

// Shared memory of a warp: a matrix of RANK_BLOCK x RANK_BLOCK (row-major, V_STRIDE), and for each of the sixteen
// columns what the pivot of K exceeds 1 by, S / gamma, and the diagonal entry of M - 1.
struct alignas(WORD_BYTES) BennettShared {
    double matrix[RANK_BLOCK * V_STRIDE], excess[BENNETT_COLS], scale[BENNETT_COLS], diagonal[BENNETT_COLS];
};

// A warp's sixteen rows of 8 COLS columns in registers: entry [i][c] is in row 4 i + q and column 8 c + p, where the
// lane is 4 p + q. With this shape each lane needs few entries of a pivot's row and column: all warps of a block
// eliminate at the same time, and what limits them is the number of words that the multiprocessor passes between lanes.
template <int COLS>
using SixteenRows = double[4][COLS];

// Calls change(entry, row, column) for the lane's entries in COUNT eights of columns, which count from the first of
// them, 8 FIRST.
template <int FIRST, int COUNT, int COLS, class Change>
__device__ __forceinline__ void each(SixteenRows<COLS>& a, const Change& change) {
    const int p = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int c = 0; c < COUNT; ++c) change(a[i][FIRST + c], 4 * i + q, 8 * c + p);
}

// Eliminates eight columns of [1 + A B], from 8 FIRST on, by a warp. The pivots are in the lanes' row 0; after four
// steps row 1 becomes row 0, and so on. Rows from ROWS on are zeros and stay so. What is left in the eliminated columns
// is arbitrary. No pivot is zero: both matrices are well-conditioned, because of the limits of basis.cuh.
//     JORDAN      all rows are eliminated, and B becomes (1 + A)^-1 B; otherwise those after the pivot's
//     fours       after this many fours of steps the pivots are ones, in rows of the identity
//     pivot_rows  is called as (four, excess) when row 0 is final: that of a triangle, whose pivot is 1 + excess
template <bool JORDAN, int FIRST, int ROWS, int COLS, class PivotRows>
__device__ __forceinline__ void eliminate_eight(SixteenRows<COLS>& a, int fours, const PivotRows& pivot_rows) {
    const int q = threadIdx.x % 4;
#pragma unroll 1
    for (int four = 0; four < 2; ++four) {
        double excess = 0;
        if (four < fours) {
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                const int holder = 4 * (4 * four + s);
                const double here = __shfl_sync(ALL_LANES, a[0][FIRST], holder + s);
                double row[COLS], factor[ROWS];
#pragma unroll
                for (int i = 0; i < ROWS; ++i) factor[i] = __shfl_sync(ALL_LANES, a[i][FIRST], holder + q);
#pragma unroll
                for (int c = FIRST; c < COLS; ++c) row[c] = __shfl_sync(ALL_LANES, a[0][c], s, 4);
                const double inverse = reciprocal(1.0 + here);
                if (q == s) excess = here;
                if (!JORDAN && q <= s) factor[0] = 0.0;
#pragma unroll
                for (int c = FIRST; c < COLS; ++c) {
                    row[c] *= inverse;
#pragma unroll
                    for (int i = 0; i < ROWS; ++i) {
                        const double changed = fma(-factor[i], row[c], a[i][c]);
                        a[i][c] = JORDAN && i == 0 && q == s ? row[c] : changed;
                    }
                }
            }
        }
        pivot_rows(four, excess);
#pragma unroll
        for (int c = FIRST; c < COLS; ++c) {
            const double first = a[0][c];
#pragma unroll
            for (int i = 1; i < ROWS; ++i) a[i - 1][c] = a[i][c];
            a[ROWS - 1][c] = JORDAN ? first : 0.0;
        }
    }
}

// Replaces B by (1 + A)^-1 B, in sixteen rows that have A in the first sixteen columns.
template <int COLS>
__device__ __forceinline__ void eliminate_jordan(SixteenRows<COLS>& a) {
    const auto nothing = [](int, double) {};
    // Columns of V that are zeros leave rows of zeros in A and B.
    int fours = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        bool zero = true;
#pragma unroll
        for (int c = 0; c < COLS; ++c) zero = zero && a[i][c] == 0.0;
        if (!__all_sync(ALL_LANES, zero)) fours = i + 1;
    }
    eliminate_eight<true, 0, 4>(a, fours, nothing);
    eliminate_eight<true, 1, 4>(a, fours - 2, nothing);
}

// C (16 x 16) <- C + A B (16 x 16 each), with C and B in shared memory (row-major, V_STRIDE).
__device__ __forceinline__ void add_product(const MmaLane& at, double* c, const double (&a)[4][2], const double* b) {
#pragma unroll
    for (int t = 0; t < 2; ++t) {
        double y[4], sum[4];
        load_b<V_STRIDE>(at, b + 8 * t, y);
        double* const entry = c + at.row * V_STRIDE + at.column(t, 0);
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[e] = entry[e / 2 * 8 * V_STRIDE + e % 2];
        mma_m16n8k16_f64(sum, a, y);
#pragma unroll
        for (int e = 0; e < 4; ++e) entry[e / 2 * 8 * V_STRIDE + e % 2] = sum[e];
    }
}

// Loads -A as load_a does.
__device__ __forceinline__ void load_negative(const MmaLane& at, const double* a, double (&x)[4][2]) {
    load_a<V_STRIDE, 1>(at, a, x);
#pragma unroll
    for (int s = 0; s < 4; ++s)
#pragma unroll
        for (int half = 0; half < 2; ++half) x[s][half] = -x[s][half];
}

// Replaces the first sixteen columns of S_b - 1 by Y = S_b^-1 Q^T (RANK_BLOCK x 16), from -Q at `own`. (row-major)
//
// With 32 columns of V, S_b is eliminated in blocks: S_11 first, with S_12 and Q_1^T beside it; then its Schur
// complement S_22 - S_21 S_11^-1 S_12, with Q_2^T - S_21 S_11^-1 Q_1^T beside it, which gives Y_2; and Y_1 =
// S_11^-1 Q_1^T - S_11^-1 S_12 Y_2.
__device__ __forceinline__ void solve_with_basis(const MmaLane& at, BennettShared& shared, const double* own) {
    constexpr int S_EIGHTS = RANK_BLOCK / 8;
    double *const matrix = shared.matrix, *const second = matrix + 16 * V_STRIDE;
    const auto store_to = [](double* to) {
        return [to](double x, int row, int column) { to[row * V_STRIDE + column] = x; };
    };
    SixteenRows<S_EIGHTS + 2> a;
    each<0, S_EIGHTS>(a, [&](double& x, int row, int column) { x = matrix[row * V_STRIDE + column]; });
    each<S_EIGHTS, 2>(a, [&](double& x, int row, int column) { x = -own[column * V_STRIDE + row]; });
    __syncwarp();
    eliminate_jordan(a);
    each<S_EIGHTS, 2>(a, store_to(matrix));
    if constexpr (RANK_BLOCK > 16) {
        each<2, 2>(a, store_to(matrix + 16));
        double negative[4][2];
        load_negative(at, second, negative);
        SixteenRows<4> b;
        each<2, 2>(b, [&](double& x, int row, int column) { x = -own[column * V_STRIDE + 16 + row]; });
        __syncwarp();
        each<2, 2>(b, store_to(second));
        __syncwarp();
        add_product(at, second, negative, matrix);
        add_product(at, second + 16, negative, matrix + 16);
        __syncwarp();
        each<0, 2>(b, [&](double& x, int row, int column) { x = second[row * V_STRIDE + 16 + column]; });
        each<2, 2>(b, [&](double& x, int row, int column) { x = second[row * V_STRIDE + column]; });
        __syncwarp();
        eliminate_jordan(b);
        each<2, 2>(b, store_to(second));
        load_negative(at, matrix + 16, negative);
        __syncwarp();
        add_product(at, matrix, negative, second);
    }
    __syncwarp();
}

// Replaces Y by C^-1 Y^T (16 x RANK_BLOCK, row-major), with K = C C^T = 1 + S Q Y, but without the factor 1 / gamma of
// each row. `k`: -Q Y in the layout of products. What the squares of C's diagonal exceed 1 by is left in shared.excess.
__device__ __forceinline__ void eliminate_k(const MmaLane& at, BennettShared& shared, const double (&k)[2][4],
                                            double sign) {
    constexpr int Y_EIGHTS = RANK_BLOCK / 8;
    double* const matrix = shared.matrix;
    SixteenRows<2 + Y_EIGHTS> a;
    each<2, Y_EIGHTS>(a, [&](double& x, int row, int column) { x = matrix[column * V_STRIDE + row]; });
    __syncwarp();
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e)
            matrix[(at.row + e / 2 * 8) * V_STRIDE + at.column(t, e % 2)] = -sign * k[t][e];
    __syncwarp();
    each<0, 2>(a, [&](double& x, int row, int column) { x = matrix[row * V_STRIDE + column]; });
    __syncwarp();
    const auto store_from = [&](int first) {
        return [&, first](int four, double excess) {
            const int row = first + 4 * four + at.q;
#pragma unroll
            for (int c = 0; c < Y_EIGHTS; ++c) matrix[row * V_STRIDE + 8 * c + at.row] = a[0][2 + c];
            if (at.row == 0) shared.excess[row] = excess;
        };
    };
    eliminate_eight<false, 0, 4>(a, 2, store_from(0));
    eliminate_eight<false, 1, 2>(a, 2, store_from(8));
    __syncwarp();
}
