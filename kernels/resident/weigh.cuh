// The new columns of L of a panel as a product, from P: a part of sweep.cu.
//
// With p_j the rows of P, S_j = 1 + S sum_{i < j} p_i^T p_i from the frame's beginning on, and v the row of V at the
// panel's beginning, the columns of Bennett's update, Numer. Math. 7 (1965), are
//
//     y_j = S_j^-1 p_j^T     gamma_j^2 = 1 + S p_j y_j     l'_j = (l_j + S (v - sum_{i < j} l_i p_i) y_j) / gamma_j
//
// so L' = L M + V N with N = [S y_j / gamma_j] and M = diag(1 / gamma) - striu(P N). A warp takes sixteen columns: with
// Q their rows of P and S_b the S before them, Y = S_b^-1 Q^T by Gauss and Jordan, K = 1 + S Q Y = C C^T, and their part
// of N is S Y C^-T, gamma the diagonal of C. S_b is well-conditioned, since the frame is renewed in time.
//
// L' is made as L + (L (M - 1) + V N), and the pivot l' = gamma l as l + l (gamma - 1): by what 1 / gamma or gamma are
// rounded they would move in every call. So gamma^2 - 1 is what the elimination of S Q Y keeps, to all its digits.
#pragma once
#include "resident/householder.cuh"

constexpr int PARTS = ROWS / COLUMNS;

// Of a warp: a matrix of 16 x 16, and a row of two.
struct alignas(WORD_BYTES) Weights {
    double matrix[COLUMNS * LD], row[2 * COLUMNS];
};

// Sixteen steps of elimination of [1 + A B], two threads for a row, one for each half of it. JORDAN: 1 + A becomes
// diagonal; otherwise what is below its diagonal 0. The first entry of A's row that is not done with is always at a[0],
// and B is in its place again at the end. Returns what the row's pivot exceeds 1 by.
template <bool JORDAN>
__device__ __forceinline__ double gauss(double (&a)[COLUMNS], double* row) {
    const int r = threadIdx.x % 32 / 2, half = threadIdx.x % 2;
    double pivot = 0;
#pragma unroll 1
    for (int step = 0; step < COLUMNS; ++step) {
        if (r == step) {
#pragma unroll
            for (int c = 0; c < COLUMNS; c += 2)
                ((Word<double>*)row)[half * COLUMNS / 2 + c / 2] = {{a[c], a[c + 1]}};
        }
        const double lead = __shfl_sync(ALL, a[0], 2 * r);
        __syncwarp();
        const double here = row[0];
        if (r == step) pivot = here;
        const double taken = (JORDAN ? r != step : r > step) ? lead * reciprocal(1.0 + here) : 0.0;
        const double first = a[0];
        Word<double> words[COLUMNS / 2];
#pragma unroll
        for (int c = 0; c < COLUMNS / 2; ++c) words[c] = ((const Word<double>*)row)[half * COLUMNS / 2 + c];
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            const int old = (c + 1) % COLUMNS;
            a[c] = fma(-taken, words[old / 2].lane[old % 2], old ? a[old] : first);
        }
        __syncwarp();
    }
    return pivot;
}

// A (16 x 16, as products leave it) to shared memory, with `sign` times its entries.
__device__ __forceinline__ void put_signed(const Lane& at, double* to, const Tile& a, double sign) {
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) to[(at.row + e / 2 * 8) * LD + at.column(t, e % 2)] = sign * a[t][e];
}

// Sixteen columns of a panel, by a warp. `p`: -P of the panel, `gram`: G before it. (row-major, LD)
template <class T>
__device__ __forceinline__ void weigh(Weights& shared, const Sweep<T>& sweep, int panel, int part,
                                      const double* p, const double* gram) {
    const Lane at;
    const int r = at.lane / 2, half = at.lane % 2;
    double* const record = sweep.records + (long long)panel * RECORD;
    const double* const own = p + part * COLUMNS * LD;
    const long long column = (long long)panel * ROWS + part * COLUMNS + r;
    const double l = column < sweep.n ? (double)sweep.from[column * (sweep.l_stride + 1)] : 1.0;
    Tile sum = {};
    add(at, gram, sum);
#pragma unroll 1
    for (int before = 0; before < part; ++before)
#pragma unroll
        for (int t = 0; t < 2; ++t) {
            double x[4][2], y[4];
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                const double* const row = p + (before * COLUMNS + 4 * s + at.q) * LD + at.row;
                x[s][0] = row[0];
                x[s][1] = row[8];
                y[s] = row[8 * t];
            }
            mma_m16n8k16_f64(sum[t], x, y);
        }
    put_signed(at, shared.matrix, sum, sweep.sign);
    __syncwarp();
    double a[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) a[c] = half ? -own[c * LD + r] : shared.matrix[r * LD + c];
    const double scale = 1.0 / (1.0 + gauss<true>(a, shared.row));
    if (half) {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) shared.matrix[r * LD + c] = scale * a[c];
    }
    __syncwarp();
    Tile k = {};
#pragma unroll
    for (int t = 0; t < 2; ++t) {
        double x[4][2], y[4];
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            x[s][0] = own[at.row * LD + 4 * s + at.q];
            x[s][1] = own[(at.row + 8) * LD + 4 * s + at.q];
            y[s] = shared.matrix[(4 * s + at.q) * LD + 8 * t + at.row];
        }
        mma_m16n8k16_f64(k[t], x, y);
    }
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) a[c] = shared.matrix[c * LD + r];
    __syncwarp();
    put_signed(at, shared.matrix, k, -sweep.sign);
    __syncwarp();
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) a[c] = half ? a[c] : shared.matrix[r * LD + c];
    const double excess = gauss<false>(a, shared.row), gamma = sqrt(1.0 + excess), inverse = 1.0 / gamma;
    if (half) {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) shared.matrix[c * LD + r] = sweep.sign * a[c] * inverse;
    } else {
        shared.row[r] = -excess * inverse / (1.0 + gamma);
        if (column < sweep.n) {
            const double pivot = gamma > 0.5 ? fma(l, excess / (1.0 + gamma), l) : l * gamma;
            sweep.pivots[column] = (T)pivot;
            if (!is_pivot<T>(pivot)) atomicMin(sweep.status, (int)(sweep.number + column) + 1);
        }
    }
    __syncwarp();

#pragma unroll
    for (int t = 0; t < 2; ++t) {
        const int eight = 2 * part + t;
#pragma unroll
        for (int s = 0; s < 4; ++s)
            record[N_AT + eight * FRAGMENT + in_fragment(s, at.lane)] =
                shared.matrix[(8 * (s / 2) + 2 * at.q + s % 2) * LD + 8 * t + at.row / 2 + at.row % 2 * 4];
        double* const m = record + M_AT + eight * (eight + 1) / 2 * (FRAGMENT / 2);
#pragma unroll 1
        for (int sixteen = 0; sixteen <= part; ++sixteen) {
            double x[4][2], y[4], c[4] = {};
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                const double* const row = p + (sixteen * COLUMNS + at.row) * LD + 4 * s + at.q;
                x[s][0] = row[0];
                x[s][1] = row[8 * LD];
                y[s] = shared.matrix[(4 * s + at.q) * LD + 8 * t + at.row];
            }
            mma_m16n8k16_f64(c, x, y);
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int i = at.row + e / 2 * 8, j = at.column(t, e % 2);
                if (sixteen == part && i >= j) c[e] = i == j ? shared.row[j] : 0.0;
                if (sixteen < part || i < 8 * (t + 1))
                    m[sixteen * FRAGMENT + in_fragment(i / 4, in_products(j % 8) * 4 + i % 4)] = c[e];
            }
        }
    }
}
