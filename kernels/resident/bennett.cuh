// Bennett coefficients: the new columns of L of a panel as products with the old columns and V.
//
// With p_j the rows of P, S_j = 1 + S sum_{i < j} p_i^T p_i from the beginning of the basis on, and v the row of V at
// the beginning of the panel, the columns of Bennett's update (Numer. Math. 7, 1965) are
//
//     y_j = S_j^-1 p_j^T     gamma_j^2 = 1 + S p_j y_j     l'_j = (l_j + S (v - sum_{i < j} l_i p_i) y_j) / gamma_j
//
// so L' = L M + V N with N = [S y_j / gamma_j] and M = diag(1 / gamma) - striu(P N). A warp makes sixteen columns. With
// Q their rows of P and S_b the S before them, Y = S_b^-1 Q^T comes from a Gauss-Jordan elimination, K = 1 + S Q Y = C
// C^T from Gauss, and their part of N is S Y C^-T; gamma is the diagonal of C. S_b is well-conditioned, since a sweep
// rebases in time.
//
// L' is computed as L + (L (M - 1) + V N), and the pivot l' = gamma l as l + l (gamma - 1): otherwise the rounding of 1
// / gamma or gamma would move them in every call. Therefore the elimination of S Q Y keeps gamma^2 - 1 to all its
// digits.
#pragma once
#include "resident/householder.cuh"

constexpr int COEFFICIENT_WARPS = PANEL_COLS / RANK_BLOCK;  // for a panel

// Shared memory of a warp: a matrix of 16 x 16, and a row of two of them.
struct alignas(WORD_BYTES) BennettShared {
    double matrix[RANK_BLOCK * V_STRIDE], row[2 * RANK_BLOCK];
};

// Sixteen steps of elimination of [1 + A B] (16 x 32) by a warp: of the two threads of a row one has A's half, the
// other B's. JORDAN: 1 + A becomes diagonal; otherwise it becomes upper triangular. The entries move to the left with
// each step, so that the next entry of A's row is always a[0], and B is in its place again at the end. Returns what the
// row's pivot exceeds 1 by.
template <bool JORDAN>
__device__ __forceinline__ double gauss_eliminate(double (&a)[RANK_BLOCK], double* row) {
    const int r = threadIdx.x % 32 / 2, half = threadIdx.x % 2;
    double pivot = 0;
#pragma unroll 1
    for (int step = 0; step < RANK_BLOCK; ++step) {
        if (r == step) {
#pragma unroll
            for (int c = 0; c < RANK_BLOCK; c += 2)
                ((Word<double>*)row)[half * RANK_BLOCK / 2 + c / 2] = {{a[c], a[c + 1]}};
        }
        const double leading = __shfl_sync(ALL_LANES, a[0], 2 * r);
        __syncwarp();
        const double here = row[0];
        if (r == step) pivot = here;
        const double taken = (JORDAN ? r != step : r > step) ? leading * reciprocal(1.0 + here) : 0.0;
        const double first = a[0];
        Word<double> words[RANK_BLOCK / 2];
#pragma unroll
        for (int c = 0; c < RANK_BLOCK / 2; ++c)
            words[c] = ((const Word<double>*)row)[half * RANK_BLOCK / 2 + c];
#pragma unroll
        for (int c = 0; c < RANK_BLOCK; ++c) {
            const int old = (c + 1) % RANK_BLOCK;
            a[c] = fma(-taken, words[old / 2].scalar[old % 2], old ? a[old] : first);
        }
        __syncwarp();
    }
    return pivot;
}

// Stores sign * A (16 x 16, as products leave it) to shared memory.
__device__ __forceinline__ void store_signed(const MmaLane& at, double* to, const VRows& a, double sign) {
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e)
            to[(at.row + e / 2 * 8) * V_STRIDE + at.column(t, e % 2)] = sign * a[t][e];
}

// The coefficients of columns 16 `part` .. of a panel, by a warp: N and M - 1 to the panel's record, the new pivots and
// a breakdown to where the sweep has them. `p` is -P of the panel, `gram` G before it. (row-major)
template <class T>
__device__ __forceinline__ void bennett_coefficients(BennettShared& shared, const Sweep<T>& sweep, int panel,
                                                     int part, const double* p, const double* gram) {
    const MmaLane at;
    const int r = at.lane / 2, half = at.lane % 2;
    double* const record = sweep.records + (long long)panel * RECORD;
    const double* const own = p + part * RANK_BLOCK * V_STRIDE;
    const long long column = (long long)panel * PANEL_COLS + part * RANK_BLOCK + r;
    const double l = column < sweep.n ? (double)sweep.from[column * (sweep.l_stride + 1)] : 1.0;
    VRows sum;
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[t][e] = gram[(at.row + e / 2 * 8) * V_STRIDE + at.column(t, e % 2)];
#pragma unroll 1
    for (int before = 0; before < part; ++before)
#pragma unroll
        for (int t = 0; t < 2; ++t) {
            const double* const rows = p + before * RANK_BLOCK * V_STRIDE;
            gemm_16x8x16<1, V_STRIDE, V_STRIDE>(at, sum[t], rows, rows + 8 * t);
        }
    store_signed(at, shared.matrix, sum, sweep.sign);
    __syncwarp();
    double a[RANK_BLOCK];
#pragma unroll
    for (int c = 0; c < RANK_BLOCK; ++c)
        a[c] = half ? -own[c * V_STRIDE + r] : shared.matrix[r * V_STRIDE + c];
    const double scale = 1.0 / (1.0 + gauss_eliminate<true>(a, shared.row));
    if (half) {
#pragma unroll
        for (int c = 0; c < RANK_BLOCK; ++c) shared.matrix[r * V_STRIDE + c] = scale * a[c];
    }
    __syncwarp();
    // Here and below as gemm_16x8x16, which would take 20 more registers in sweep.cu.
    VRows k = {};
#pragma unroll
    for (int t = 0; t < 2; ++t) {
        double x[4][2], y[4];
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            x[s][0] = own[at.row * V_STRIDE + 4 * s + at.q];
            x[s][1] = own[(at.row + 8) * V_STRIDE + 4 * s + at.q];
            y[s] = shared.matrix[(4 * s + at.q) * V_STRIDE + 8 * t + at.row];
        }
        mma_m16n8k16_f64(k[t], x, y);
    }
#pragma unroll
    for (int c = 0; c < RANK_BLOCK; ++c) a[c] = shared.matrix[c * V_STRIDE + r];
    __syncwarp();
    store_signed(at, shared.matrix, k, -sweep.sign);
    __syncwarp();
#pragma unroll
    for (int c = 0; c < RANK_BLOCK; ++c) a[c] = half ? a[c] : shared.matrix[r * V_STRIDE + c];
    const double excess = gauss_eliminate<false>(a, shared.row), gamma = sqrt(1.0 + excess),
                 inverse = 1.0 / gamma;
    if (half) {
#pragma unroll
        for (int c = 0; c < RANK_BLOCK; ++c) shared.matrix[c * V_STRIDE + r] = sweep.sign * a[c] * inverse;
    } else {
        shared.row[r] = -excess * inverse / (1.0 + gamma);
        if (column < sweep.n) {
            const double pivot = gamma > 0.5 ? fma(l, excess / (1.0 + gamma), l) : l * gamma;
            sweep.pivots[column] = (T)pivot;
            if (!is_pivot<T>(pivot)) atomicMin(sweep.status, (int)(sweep.first_column + column) + 1);
        }
    }
    __syncwarp();

#pragma unroll
    for (int t = 0; t < 2; ++t) {
        const int eight = 2 * part + t;
#pragma unroll
        for (int s = 0; s < 4; ++s)
            record[N_AT + eight * FRAGMENT + in_fragment(s, at.lane)] =
                shared.matrix[(8 * (s / 2) + 2 * at.q + s % 2) * V_STRIDE + 8 * t + at.row / 2 +
                              at.row % 2 * 4];
        double* const m = record + M_AT + eight * (eight + 1) / 2 * (FRAGMENT / 2);
#pragma unroll 1
        for (int sixteen = 0; sixteen <= part; ++sixteen) {
            double x[4][2], y[4], c[4] = {};
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                const double* const row = p + (sixteen * RANK_BLOCK + at.row) * V_STRIDE + 4 * s + at.q;
                x[s][0] = row[0];
                x[s][1] = row[8 * V_STRIDE];
                y[s] = shared.matrix[(4 * s + at.q) * V_STRIDE + 8 * t + at.row];
            }
            mma_m16n8k16_f64(c, x, y);
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int i = at.row + e / 2 * 8, j = at.column(t, e % 2);
                if (sixteen == part && i >= j) c[e] = i == j ? shared.row[j] : 0.0;
                if (sixteen < part || i < 8 * (t + 1))
                    m[sixteen * FRAGMENT + in_fragment(i / 4, column_in_product(j % 8) * 4 + i % 4)] = c[e];
            }
        }
    }
}
