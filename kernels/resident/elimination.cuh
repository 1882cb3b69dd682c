// The two eliminations of Bennett's coefficients (bennett.cuh), for sixteen columns of a panel by a warp.
#pragma once
#include "common/arithmetic.cuh"
#include "resident/v_rows.cuh"

constexpr int BENNETT_COLS = 16;                               // columns that a warp computes
constexpr int COEFFICIENT_WARPS = PANEL_COLS / BENNETT_COLS;  // for a panel

// Shared memory of a warp: a matrix of RANK_BLOCK x RANK_BLOCK, two rows that are exchanged, and what the pivots of K
// exceed 1 by.
struct alignas(WORD_BYTES) BennettShared {
    double matrix[RANK_BLOCK * V_STRIDE], rows[2][RANK_BLOCK + BENNETT_COLS], excess[BENNETT_COLS];
};

// Elimination of [1 + A B] with 8 ROWS rows by a warp. Four neighbouring threads share ROWS rows; thread q of them has
// columns q, q + 4, .. of both matrices, A_COLS and B_COLS of them. JORDAN: 1 + A becomes diagonal; otherwise it
// becomes upper triangular. Columns of A move to the left every four steps, so that those of the next pivots come
// first; their results are not kept. Sets `pivots` to what the pivots of the thread's rows exceed 1 by. `rows`: room for two rows,
// which steps use in turn.
template <bool JORDAN, int ROWS, int A_COLS, int B_COLS>
__device__ __forceinline__ void eliminate_rows(double (&a)[ROWS][A_COLS], double (&b)[ROWS][B_COLS],
                                               double (*rows)[RANK_BLOCK + BENNETT_COLS],
                                               double (&pivots)[ROWS]) {
    constexpr int COLS = A_COLS + B_COLS;
    static_assert(4 * COLS <= RANK_BLOCK + BENNETT_COLS && COLS % 2 == 0, "a row has room, in words");
    const int holder = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll 1
    for (int four = 0; four < 2 * ROWS; ++four) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int step = 4 * four + i, own = i % ROWS;
            double* const row = rows[i % 2];
            Word<double>* const words = (Word<double>*)(row + COLS * q);
            if (holder == step / ROWS) {
#pragma unroll
                for (int c = 0; c < A_COLS; c += 2) words[c / 2] = {{a[own][c], a[own][c + 1]}};
#pragma unroll
                for (int c = 0; c < B_COLS; c += 2) words[(A_COLS + c) / 2] = {{b[own][c], b[own][c + 1]}};
            }
            double leading[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) leading[r] = __shfl_sync(ALL_LANES, a[r][0], i, 4);
            __syncwarp();
            const double here = row[COLS * i], inverse = reciprocal(1.0 + here);
            Word<double> pivot[COLS / 2];
#pragma unroll
            for (int c = 0; c < COLS / 2; ++c) pivot[c] = words[c];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int number = ROWS * holder + r;
                if (number == step) pivots[r] = here;
                const double taken = (JORDAN ? number != step : number > step) ? leading[r] * inverse : 0.0;
#pragma unroll
                for (int c = 0; c < A_COLS; ++c) a[r][c] = fma(-taken, pivot[c / 2].scalar[c % 2], a[r][c]);
#pragma unroll
                for (int c = 0; c < B_COLS; ++c)
                    b[r][c] = fma(-taken, pivot[(A_COLS + c) / 2].scalar[c % 2], b[r][c]);
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
            for (int c = 1; c < A_COLS; ++c) a[r][c - 1] = a[r][c];
    }
    __syncwarp();
}

// Stores sign * A (sixteen rows, in the layout of products) to shared memory.
template <int EIGHTS>
__device__ __forceinline__ void store_signed(const MmaLane& at, double* to, const double (&a)[EIGHTS][4],
                                             double sign) {
#pragma unroll
    for (int t = 0; t < EIGHTS; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e)
            to[(at.row + e / 2 * 8) * V_STRIDE + at.column(t, e % 2)] = sign * a[t][e];
}

// Replaces S_b - 1 by Y = S_b^-1 Q^T (RANK_BLOCK x 16), from -Q at `own`. (row-major)
__device__ __forceinline__ void solve_with_basis(BennettShared& shared, const double* own) {
    constexpr int ROWS = RANK_BLOCK / 8, A_COLS = RANK_BLOCK / 4, B_COLS = BENNETT_COLS / 4;
    const int first = ROWS * (threadIdx.x % 32 / 4), q = threadIdx.x % 4;
    double a[ROWS][A_COLS], b[ROWS][B_COLS], pivots[ROWS] = {};
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
        for (int c = 0; c < A_COLS; ++c) a[r][c] = shared.matrix[(first + r) * V_STRIDE + 4 * c + q];
#pragma unroll
        for (int c = 0; c < B_COLS; ++c) b[r][c] = -own[(4 * c + q) * V_STRIDE + first + r];
    }
    __syncwarp();
    eliminate_rows<true>(a, b, shared.rows, pivots);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const double scale = 1.0 / (1.0 + pivots[r]);
#pragma unroll
        for (int c = 0; c < B_COLS; ++c) shared.matrix[(first + r) * V_STRIDE + 4 * c + q] = scale * b[r][c];
    }
    __syncwarp();
}

// Replaces Y by N = S Y C^-T, with K = C C^T = 1 + S Q Y. `k`: -Q Y in the layout of products. What the squares of C's
// diagonal exceed 1 by is left in shared.excess.
__device__ __forceinline__ void eliminate_k(const MmaLane& at, BennettShared& shared, const double (&k)[2][4],
                                            double sign) {
    constexpr int ROWS = BENNETT_COLS / 8, A_COLS = BENNETT_COLS / 4, B_COLS = RANK_BLOCK / 4;
    const int first = ROWS * (at.lane / 4);
    double a[ROWS][A_COLS], b[ROWS][B_COLS], excess[ROWS] = {};
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < B_COLS; ++c) b[r][c] = shared.matrix[(4 * c + at.q) * V_STRIDE + first + r];
    __syncwarp();
    store_signed(at, shared.matrix, k, -sign);
    __syncwarp();
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < A_COLS; ++c) a[r][c] = shared.matrix[(first + r) * V_STRIDE + 4 * c + at.q];
    __syncwarp();
    eliminate_rows<false>(a, b, shared.rows, excess);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const double inverse = 1.0 / sqrt(1.0 + excess[r]);
#pragma unroll
        for (int c = 0; c < B_COLS; ++c)
            shared.matrix[(4 * c + at.q) * V_STRIDE + first + r] = sign * b[r][c] * inverse;
        if (at.q == 0) shared.excess[first + r] = excess[r];
    }
    __syncwarp();
}
