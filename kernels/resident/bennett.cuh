// Bennett coefficients: the new columns of L of a panel as products with the old columns and V.
//
// With p_j the rows of P, S_j = 1 + S sum_{i < j} p_i^T p_i from the beginning of the basis on, and v the row of V at
// the beginning of the panel, the columns of Bennett's update (Numer. Math. 7, 1965) are
//
//     y_j = S_j^-1 p_j^T     gamma_j^2 = 1 + S p_j y_j     l'_j = (l_j + S (v - sum_{i < j} l_i p_i) y_j) / gamma_j
//
// so for sixteen columns, with Q their rows of P, S_b the S and V_b = V - sum_i l_i p_i the V before them, L' = L M +
// V_b N with N = [S y_j / gamma_j] and M = diag(1 / gamma) - striu(Q N). A warp computes these columns. Y = S_b^-1 Q^T
// comes from a Gauss-Jordan elimination, K = 1 + S Q Y = C C^T from a Gauss elimination, and N is S Y C^-T; gamma is
// the diagonal of C (elimination.cuh).
// S_b is well-conditioned, because a sweep rebases early enough.
//
// L' is computed as L + (L (M - 1) + V_b N), and the pivot l' = gamma l as l + l (gamma - 1): otherwise the rounding of
// 1 / gamma or gamma would change them in every call. Therefore the elimination of S Q Y keeps gamma^2 - 1 to all its
// digits.
#pragma once
#include "resident/elimination.cuh"
#include "resident/householder.cuh"

// Computes the coefficients of columns 16 `part` .. of a panel, by a warp: N and M - 1 to the panel's record, the new
// pivots and a breakdown to the sweep's arrays. `p` is -P of the panel, `gram` G before it. (row-major)
template <class T>
__device__ __forceinline__ void bennett_coefficients(BennettShared& shared, const Sweep<T>& sweep, int panel,
                                                     int part, const double* p, const double* gram) {
    const MmaLane at;
    const int r = at.lane / 2;
    double* const record = sweep.records + (long long)panel * RECORD;
    const double* const own = p + part * BENNETT_COLS * V_STRIDE;
    const long long column = (long long)panel * PANEL_COLS + part * BENNETT_COLS + r;
    const double l = column < sweep.n ? (double)sweep.from[column * (sweep.l_stride + 1)] : 1.0;
#pragma unroll 1
    for (int rows = 0; rows < RANK_BLOCK; rows += 16) {
        VRows sum;
#pragma unroll
        for (int t = 0; t < V_EIGHTS; ++t)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                sum[t][e] = gram[(rows + at.row + e / 2 * 8) * V_STRIDE + at.column(t, e % 2)];
#pragma unroll 1
        for (int before = 0; before < part; ++before)
#pragma unroll
            for (int t = 0; t < V_EIGHTS; ++t) {
                const double* const sixteen = p + before * BENNETT_COLS * V_STRIDE;
                gemm_16x8x16<1, V_STRIDE, V_STRIDE>(at, sum[t], sixteen + rows, sixteen + 8 * t);
            }
        store_signed(at, shared.matrix + rows * V_STRIDE, sum, sweep.sign);
    }
    __syncwarp();
    solve_with_basis(shared, own);
    // As gemm_16x8x16, here and below, which would take 20 more registers in sweep.cu.
    double k[2][4] = {};
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int of = 0; of < RANK_BLOCK; of += 16) {
            double x[4][2], y[4];
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                x[s][0] = own[at.row * V_STRIDE + of + 4 * s + at.q];
                x[s][1] = own[(at.row + 8) * V_STRIDE + of + 4 * s + at.q];
                y[s] = shared.matrix[(of + 4 * s + at.q) * V_STRIDE + 8 * t + at.row];
            }
            mma_m16n8k16_f64(k[t], x, y);
        }
    eliminate_k(at, shared, k, sweep.sign);
    double* const diagonal = shared.rows[0];
    if (at.lane % 2 == 0) {
        const double excess = shared.excess[r], gamma = sqrt(1.0 + excess);
        diagonal[r] = -excess * (1.0 / gamma) / (1.0 + gamma);
        if (column < sweep.n) {
            const double pivot = gamma > 0.5 ? fma(l, excess / (1.0 + gamma), l) : l * gamma;
            sweep.pivots[column] = (T)pivot;
            double* const to = record + PIVOTS_AT + part * BENNETT_COLS + r;
            *to = pivot;
            store_there(sweep.peers, to, pivot);
            if (!is_pivot<T>(pivot)) atomicMin(sweep.status, (int)(sweep.first_column + column) + 1);
        }
    }
    __syncwarp();

#pragma unroll
    for (int t = 0; t < 2; ++t) {
        const int eight = 2 * part + t;
#pragma unroll
        for (int s = 0; s < 4 * V_SIXTEENS; ++s) {
            double* const to = record + N_AT + (V_SIXTEENS * eight + s / 4) * FRAGMENT + in_fragment(s % 4, at.lane);
            *to = shared.matrix[(8 * (s / 2) + 2 * at.q + s % 2) * V_STRIDE + 8 * t + at.row / 2 + at.row % 2 * 4];
            store_there(sweep.peers, to, *to);
        }
        double* const m = record + M_AT + part * M_OF_SIXTEEN + t * (FRAGMENT / 2);
        double c[4] = {};
#pragma unroll
        for (int of = 0; of < RANK_BLOCK; of += 16) {
            double x[4][2], y[4];
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                const double* const row = own + at.row * V_STRIDE + of + 4 * s + at.q;
                x[s][0] = row[0];
                x[s][1] = row[8 * V_STRIDE];
                y[s] = shared.matrix[(of + 4 * s + at.q) * V_STRIDE + 8 * t + at.row];
            }
            mma_m16n8k16_f64(c, x, y);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int i = at.row + e / 2 * 8, j = at.column(t, e % 2);
            if (i >= j) c[e] = i == j ? diagonal[j] : 0.0;
            if (i < 8 * (t + 1)) {
                double* const to = m + in_fragment(i / 4, column_in_product(j % 8) * 4 + i % 4);
                *to = c[e];
                store_there(sweep.peers, to, c[e]);
            }
        }
    }
}
