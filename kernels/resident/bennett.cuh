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
// the diagonal of C (elimination.cuh). Neither needs interchanges: S_b is well-conditioned, because a sweep rebases
// early enough.
//
// L' is computed as L + (L (M - 1) + V_b N), and the pivot l' = gamma l as l + l (gamma - 1): otherwise the rounding of
// 1 / gamma or gamma would change them in every call. Therefore the elimination of S Q Y keeps gamma^2 - 1 to all its
// digits.
#pragma once
#include "resident/elimination.cuh"
#include "resident/householder.cuh"

// What the coefficients of a panel take from the sweep, by value: a reference would keep the whole sweep in memory.
template <class T>
struct BennettPanel {
    double* record;
    const T* diagonal;  // the first diagonal entry
    T* pivots;
    int* status;
    const Peers* peers;
    long long l_stride, rows, first_column;
    double sign;

    __device__ __forceinline__ BennettPanel(const Sweep<T>& sweep, int panel)
        : record(sweep.records + (long long)panel * RECORD),
          diagonal(sweep.from + (long long)panel * PANEL_COLS * (sweep.l_stride + 1)),
          pivots(sweep.pivots + (long long)panel * PANEL_COLS),
          status(sweep.status),
          peers(sweep.peers),
          l_stride(sweep.l_stride),
          rows(sweep.n - (long long)panel * PANEL_COLS),
          first_column(sweep.first_column + (long long)panel * PANEL_COLS),
          sign(sweep.sign) {}
};

// Computes the coefficients of columns 16 `part` .. of a panel, by a warp: N and M - 1 to the panel's record, the new
// pivots and a breakdown to the sweep's arrays. `p` is -P of the panel, `gram` G before it (row-major), `own_gram` its
// P^T P. Not inlined, so that its registers do not count for the rest of the kernel.
template <class T>
__device__ __noinline__ void bennett_coefficients(BennettShared& shared, const BennettPanel<T> panel, int part,
                                                  const double* p, const double* gram, const Gram& own_gram) {
    const MmaLane at;
    const int r = at.lane / 2;
    double* const record = panel.record;
    const double* const own = p + part * BENNETT_COLS * V_STRIDE;
    const int column = part * BENNETT_COLS + r;
    const double l = column < panel.rows ? (double)panel.diagonal[column * (panel.l_stride + 1)] : 1.0;
#pragma unroll 1
    for (int rows = 0; rows < RANK_BLOCK; rows += 16) {
        VRows sum;
#pragma unroll
        for (int t = 0; t < V_EIGHTS; ++t)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int entry = (rows + at.row + e / 2 * 8) * V_STRIDE + at.column(t, e % 2);
                sum[t][e] = gram[entry];
                if (part >= Gram::SIXTEENS) sum[t][e] += own_gram.part[0][entry];
            }
#pragma unroll 1
        for (int before = part / Gram::SIXTEENS * Gram::SIXTEENS; before < part; ++before)
#pragma unroll
            for (int t = 0; t < V_EIGHTS; ++t) {
                const double* const sixteen = p + before * BENNETT_COLS * V_STRIDE;
                gemm_16x8x16<1, V_STRIDE, V_STRIDE>(at, sum[t], sixteen + rows, sixteen + 8 * t);
            }
#pragma unroll
        for (int t = 0; t < V_EIGHTS; ++t)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                shared.matrix[(rows + at.row + e / 2 * 8) * V_STRIDE + at.column(t, e % 2)] = panel.sign * sum[t][e];
    }
    __syncwarp();
    solve_with_basis(at, shared, own);
    double k[2][4] = {};
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int of = 0; of < RANK_BLOCK; of += 16)
            gemm_16x8x16<V_STRIDE, 1, V_STRIDE>(at, k[t], own + of, shared.matrix + of * V_STRIDE + 8 * t);
    eliminate_k(at, shared, k, panel.sign);
    if (at.lane % 2 == 0) {
        const double excess = shared.excess[r];
        const double inverse = reciprocal_root(1.0 + excess), root = (1.0 + excess) * inverse;
        const double gamma = fma(fma(-root, root, 1.0 + excess), 0.5 * inverse, root);
        const double gamma_excess = excess * reciprocal(1.0 + gamma);
        shared.scale[r] = panel.sign * inverse;
        shared.diagonal[r] = -gamma_excess * inverse;
        if (column < panel.rows) {
            const double pivot = gamma > 0.5 ? fma(l, gamma_excess, l) : l * gamma;
            panel.pivots[column] = is_pivot<T>(pivot) ? (T)pivot : no_pivot<T>();
            double* const to = record + PIVOTS_AT + part * BENNETT_COLS + r;
            *to = pivot;
            store_there(panel.peers, to, pivot);
            if (!is_pivot<T>(pivot)) atomicMin(panel.status, (int)(panel.first_column + column) + 1);
        }
    }
    __syncwarp();

#pragma unroll
    for (int t = 0; t < 2; ++t) {
        const int eight = 2 * part + t, j = 8 * t + at.row / 2 + at.row % 2 * 4;
        const double scale = shared.scale[j];
        const double* const n = shared.matrix + j * V_STRIDE;
#pragma unroll
        for (int s = 0; s < 4 * V_SIXTEENS; s += 2) {
            double* const to = record + N_AT + (V_SIXTEENS * eight + s / 4) * FRAGMENT + in_fragment(s % 4, at.lane);
            const Word<double> two = *(const Word<double>*)(n + 8 * (s / 2) + 2 * at.q);
            const double first = two.scalar[0] * scale, second = two.scalar[1] * scale;
            store_pair(to, first, second);
            store_there(panel.peers, to, first);
            store_there(panel.peers, to + 1, second);
        }
        double* const m = record + M_AT + part * M_OF_SIXTEEN + t * (FRAGMENT / 2);
        double c[4] = {};
#pragma unroll
        for (int of = 0; of < RANK_BLOCK; of += 16) {
            double x[4][2], y[4];
            load_a<V_STRIDE, 1>(at, own + of, x);
#pragma unroll
            for (int s = 0; s < 4; ++s) y[s] = shared.matrix[(8 * t + at.row) * V_STRIDE + of + 4 * s + at.q];
            mma_m16n8k16_f64(c, x, y);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int i = at.row + e / 2 * 8, j = at.column(t, e % 2);
            c[e] = i < j ? c[e] * shared.scale[j] : i == j ? shared.diagonal[j] : 0.0;
            if (i < 8 * (t + 1)) {
                double* const to = m + in_fragment(i / 4, column_in_product(j % 8) * 4 + i % 4);
                *to = c[e];
                store_there(panel.peers, to, c[e]);
            }
        }
    }
}
