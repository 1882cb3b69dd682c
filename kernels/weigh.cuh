// The new columns of L of a panel as a product, from P: a part of chain.cu.
//
// With p_j the rows of P, S_j = 1 + S sum_{i < j} p_i^T p_i from the frame's beginning on, and v the row of V at the
// panel's beginning, the columns of Bennett's update, Numer. Math. 7 (1965), are
//
//     y_j = S_j^-1 p_j^T     gamma_j^2 = 1 + S p_j y_j     l'_j = (l_j + S (v - sum_{i < j} l_i p_i) y_j) / gamma_j
//
// so L' = L M + V N with N = [S y_j / gamma_j] and M = diag(1 / gamma) - striu(P N): every column has its own S_j, and
// none waits for another. S_j is well-conditioned, since the chain renews its frame in time.
#pragma once
#include "householder.cuh"

constexpr int AT_ONCE = THREADS / COLUMNS; // columns of L for a block, a thread for each row of S_j
constexpr int BLOCKS_A_PANEL = ROWS / AT_ONCE;

struct Weights {
    double p[ROWS * LD], n[COLUMNS * LD], gram[COLUMNS * LD], inverse_gamma[AT_ONCE];
    double pivot_row[AT_ONCE][COLUMNS + 2];
};

// y: the thread's entry of S^-1 p, of `a` = its row of [S p], by Gauss and Jordan. The column that is done leaves on
// the left, so that each step is the same code.
__device__ __forceinline__ double solve_row(double (&a)[COLUMNS + 1], double* pivot_row) {
    const int r = threadIdx.x % COLUMNS;
#pragma unroll 1
    for (int step = 0; step < COLUMNS; ++step) {
        if (r == step) {
#pragma unroll
            for (int c = 0; c <= COLUMNS; ++c) pivot_row[c] = a[c];
        }
        __syncwarp();
        const double inverse = reciprocal(pivot_row[0]);
        const double factor = r == step ? -inverse : a[0] * inverse;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) a[c] = fma(-factor, pivot_row[c + 1], r == step ? 0.0 : a[c + 1]);
        a[COLUMNS] = 0;
        __syncwarp();
    }
    return a[0];
}

// Columns 16 part .. 16 part + 15 of a panel.
template <class T>
__device__ __forceinline__ void weigh(Weights& shared, const Sweep<T>& sweep, int panel, int part) {
    double* const record = sweep.records + (long long)panel * RECORD;
    const int r = threadIdx.x / COLUMNS, c = threadIdx.x % COLUMNS;
    const int begin = AT_ONCE * part;
    if ((int)record[HOW_AT] & CAREFUL || (long long)panel * ROWS + begin >= sweep.n) return;
#pragma unroll
    for (int e = threadIdx.x; e < ROWS * COLUMNS; e += THREADS) {
        const int fragment = e / FRAGMENT, lane = e % FRAGMENT;
        shared.p[(fragment / 2 * 4 + lane % 4) * LD + fragment % 2 * 8 + lane / 4] = -record[P_AT + e];
    }
    double sum = record[GRAM_AT + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int i = 0; i < begin; ++i) sum = fma(shared.p[i * LD + r], shared.p[i * LD + c], sum);
    shared.gram[r * LD + c] = sum;
    __syncthreads();

    // Now column begin + r of L, row c of its S.
    const double* const own = shared.p + (begin + r) * LD;
    double a[COLUMNS + 1];
#pragma unroll
    for (int other = 0; other < COLUMNS; ++other) a[other] = shared.gram[c * LD + other];
#pragma unroll 1
    for (int i = 0; i < r; ++i) {
        const double* const row = shared.p + (begin + i) * LD;
#pragma unroll
        for (int other = 0; other < COLUMNS; ++other) a[other] = fma(row[c], row[other], a[other]);
    }
    __syncwarp();
#pragma unroll
    for (int other = 0; other < COLUMNS; ++other)
        a[other] = fma(sweep.sign, a[other], c == other ? 1.0 : 0.0);
    a[COLUMNS] = own[c];
    const double y = solve_row(a, shared.pivot_row[r]);
    double square = own[c] * y;
#pragma unroll
    for (int step = 1; step < COLUMNS; step *= 2) square += __shfl_xor_sync(ALL, square, step);
    const double gamma = sqrt(fma(sweep.sign, square, 1.0)), inverse = 1.0 / gamma;
    shared.n[c * LD + r] = sweep.sign * y * inverse;
    const long long column = (long long)panel * ROWS + begin + r;
    if (c == 0) {
        shared.inverse_gamma[r] = inverse;
        if (column < sweep.n) {
            const double pivot = (double)sweep.from[column * (sweep.l_stride + 1)] * gamma;
            sweep.pivots[column] = (T)pivot;
            if (!is_pivot<T>(pivot)) atomicMin(sweep.status, (int)(sweep.number + column) + 1);
        }
    }
    __syncthreads();

    const Lane at;
    const int first = 2 * part; // of the eights of columns, two
    {
        const int s = at.warp % 4, t = at.warp / 4;
        record[N_AT + (4 * (first + t) + s) * FRAGMENT + at.lane] =
            shared.n[(8 * (s / 2) + 2 * at.q + s % 2) * LD + 8 * t + at.row];
    }
#pragma unroll
    for (int t = 0; t < 2; ++t)
        for (int s = at.warp; s < 2 * (first + t + 1); s += THREADS / 32) {
            const int i = 4 * s + at.q, j = 8 * t + at.row;
            double entry = 0;
#pragma unroll
            for (int other = 0; other < COLUMNS; ++other)
                entry = fma(-shared.p[i * LD + other], shared.n[other * LD + j], entry);
            if (i >= begin + j) entry = i == begin + j ? shared.inverse_gamma[j] : 0.0;
            record[M_AT + ((first + t) * (first + t + 1) + s) * FRAGMENT + at.lane] = entry;
        }
}
