// The two eliminations of Bennett's coefficients (bennett.cuh), for sixteen columns of a panel by a warp.
#pragma once
#include "common/arithmetic.cuh"
#include "resident/v_rows.cuh"

constexpr int BENNETT_COLS = 16;                               // columns that a warp computes
constexpr int COEFFICIENT_WARPS = PANEL_COLS / BENNETT_COLS;  // for a panel

// Shared memory of a warp: a matrix of RANK_BLOCK x RANK_BLOCK, and a row of it with sixteen entries of another, or a row
// of sixteen with RANK_BLOCK entries of another.
struct alignas(WORD_BYTES) BennettShared {
    double matrix[RANK_BLOCK * V_STRIDE], row[RANK_BLOCK + BENNETT_COLS];
};

// Sixteen steps of elimination of [1 + A B] (16 x 32) by a warp: of the two threads of a row one has A's half, the
// other B's half. JORDAN: 1 + A becomes diagonal; otherwise it becomes upper triangular. The entries move to the left
// with each step, so that the next entry of A's row is always a[0], and at the end B is in its original place. Returns
// the excess of the row's pivot over 1.
template <bool JORDAN>
__device__ __forceinline__ double gauss_eliminate(double (&a)[BENNETT_COLS], double* row) {
    const int r = threadIdx.x % 32 / 2, half = threadIdx.x % 2;
    double pivot = 0;
#pragma unroll 1
    for (int step = 0; step < BENNETT_COLS; ++step) {
        if (r == step) {
#pragma unroll
            for (int c = 0; c < BENNETT_COLS; c += 2)
                ((Word<double>*)row)[half * BENNETT_COLS / 2 + c / 2] = {{a[c], a[c + 1]}};
        }
        const double leading = __shfl_sync(ALL_LANES, a[0], 2 * r);
        __syncwarp();
        const double here = row[0];
        if (r == step) pivot = here;
        const double taken = (JORDAN ? r != step : r > step) ? leading * reciprocal(1.0 + here) : 0.0;
        const double first = a[0];
        Word<double> words[BENNETT_COLS / 2];
#pragma unroll
        for (int c = 0; c < BENNETT_COLS / 2; ++c)
            words[c] = ((const Word<double>*)row)[half * BENNETT_COLS / 2 + c];
#pragma unroll
        for (int c = 0; c < BENNETT_COLS; ++c) {
            const int old = (c + 1) % BENNETT_COLS;
            a[c] = fma(-taken, words[old / 2].scalar[old % 2], old ? a[old] : first);
        }
        __syncwarp();
    }
    return pivot;
}

// Sixteen steps of elimination of [1 + A B] by a warp, whose threads each hold a whole row of A and sixteen entries of
// B: the threads of row r are EACH neighbours. The first step is that of row `first`. ACTIVE entries of A's row
// remain, and move to the left with each step: the next is always a[0], and earlier ones are discarded. Rows after the
// pivot's row, and with JORDAN those before it, are eliminated. Sets `pivot` to the excess of the row's pivot over 1.
template <bool JORDAN, int ACTIVE, int EACH, int ORDER>
__device__ __forceinline__ void eliminate_sixteen(double (&a)[ORDER], double (&b)[BENNETT_COLS], double* row,
                                                  int first, double& pivot) {
    const int r = threadIdx.x % 32 / EACH;
    double* const own = row + ACTIVE + threadIdx.x % EACH * BENNETT_COLS;
#pragma unroll 1
    for (int step = first; step < first + 16; ++step) {
        if (r == step) {
#pragma unroll
            for (int c = 0; c < ACTIVE; c += 2) *(Word<double>*)(row + c) = {{a[c], a[c + 1]}};
#pragma unroll
            for (int c = 0; c < BENNETT_COLS; c += 2) *(Word<double>*)(own + c) = {{b[c], b[c + 1]}};
        }
        __syncwarp();
        const Word<double> leading = *(const Word<double>*)row;
        const double here = leading.scalar[0];
        if (r == step) pivot = here;
        const double taken = (JORDAN ? r != step : r > step) ? a[0] * reciprocal(1.0 + here) : 0.0;
        a[0] = fma(-taken, leading.scalar[1], a[1]);
#pragma unroll
        for (int c = 2; c < ACTIVE; c += 2) {
            const Word<double> two = *(const Word<double>*)(row + c);
            a[c - 1] = fma(-taken, two.scalar[0], a[c]);
            a[c] = fma(-taken, two.scalar[1], a[c + 1]);
        }
#pragma unroll
        for (int c = 0; c < BENNETT_COLS; c += 2) {
            const Word<double> two = *(const Word<double>*)(own + c);
            b[c] = fma(-taken, two.scalar[0], b[c]);
            b[c + 1] = fma(-taken, two.scalar[1], b[c + 1]);
        }
        __syncwarp();
    }
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
    if constexpr (RANK_BLOCK == 16) {
        const int r = threadIdx.x % 32 / 2, half = threadIdx.x % 2;
        double a[BENNETT_COLS];
#pragma unroll
        for (int c = 0; c < BENNETT_COLS; ++c)
            a[c] = half ? -own[c * V_STRIDE + r] : shared.matrix[r * V_STRIDE + c];
        const double scale = 1.0 / (1.0 + gauss_eliminate<true>(a, shared.row));
        if (half) {
#pragma unroll
            for (int c = 0; c < BENNETT_COLS; ++c) shared.matrix[r * V_STRIDE + c] = scale * a[c];
        }
    } else {
        const int r = threadIdx.x % 32;
        double a[RANK_BLOCK], b[BENNETT_COLS], pivot = 0;
#pragma unroll
        for (int c = 0; c < RANK_BLOCK; ++c) a[c] = shared.matrix[r * V_STRIDE + c];
#pragma unroll
        for (int c = 0; c < BENNETT_COLS; ++c) b[c] = -own[c * V_STRIDE + r];
        __syncwarp();
        eliminate_sixteen<true, 32, 1>(a, b, shared.row, 0, pivot);
        eliminate_sixteen<true, 16, 1>(a, b, shared.row, 16, pivot);
        const double scale = 1.0 / (1.0 + pivot);
#pragma unroll
        for (int c = 0; c < BENNETT_COLS; ++c) shared.matrix[r * V_STRIDE + c] = scale * b[c];
    }
    __syncwarp();
}

// Eliminates [S Q Y, Y^T] (16 x (16 + RANK_BLOCK)), with Y in the layout of solve_with_basis and K = -Q Y in that of
// products. Returns the excess of the square of C's diagonal over 1 in row `lane` / 2, and in `rest` sixteen
// eliminated entries of that row of Y^T: from 16 (`lane` % 2) on or, where there are only sixteen, in the odd lane
// alone.
__device__ __forceinline__ double eliminate_k(const MmaLane& at, BennettShared& shared, const double (&k)[2][4],
                                              double sign, double (&rest)[BENNETT_COLS]) {
    const int r = at.lane / 2, half = at.lane % 2;
    const double* const y = shared.matrix + (RANK_BLOCK > 16 ? half * 16 * V_STRIDE : 0) + r;
#pragma unroll
    for (int c = 0; c < BENNETT_COLS; ++c) rest[c] = y[c * V_STRIDE];
    __syncwarp();
    store_signed(at, shared.matrix, k, -sign);
    __syncwarp();
    if constexpr (RANK_BLOCK == 16) {
#pragma unroll
        for (int c = 0; c < BENNETT_COLS; ++c)
            rest[c] = half ? rest[c] : shared.matrix[r * V_STRIDE + c];
        return gauss_eliminate<false>(rest, shared.row);
    } else {
        double a[BENNETT_COLS], excess = 0;
#pragma unroll
        for (int c = 0; c < BENNETT_COLS; ++c) a[c] = shared.matrix[r * V_STRIDE + c];
        __syncwarp();
        eliminate_sixteen<false, 16, 2>(a, rest, shared.row, 0, excess);
        return excess;
    }
}
