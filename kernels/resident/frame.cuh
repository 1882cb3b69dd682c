// The frame in which V is: when it is good, and how V comes into another. For group.cuh.
#pragma once
#include "resident/tiles.cuh"

// The frame is good while no row sum of |G| is more than this: then 1 + S G has a condition number of at most 8. What the
// coefficients of a panel lose grows with it, and comes again in every call of a loop that adds and takes away the same V.
constexpr double MOST_PLUS = 7.0, MOST_MINUS = 0.75;
// For the P of one panel: |P|^2 at most, since with p_1 and p_2 its first two rows, 1 + p_2 p_2^T - (p_1 p_2^T)^2 / (1 + p_1
// p_1^T) is what the second column is scaled by, and off by |P|^2 u; the pivots^2 of R at least; and at least this share of
// the entry that each was left of, so that the columns of P point into different directions, however unlike their lengths.
constexpr double SMALL_P = 16.0;
// The same where L is one panel, whose errors are to be within 12 u and not within 64 u: reflectors drift less as well.
constexpr double MOST_PLUS_ALONE = 1.0, MOST_MINUS_ALONE = 0.5;
constexpr double LARGE_PIVOT = 0.25;
constexpr double LARGE_SHARE = 1.0 / 64.0;

// P^T P in parts, one for each sixteen rows: eight columns of one by a warp each.
struct Gram {
    double part[ROWS / 16][COLUMNS * LD];

    __device__ __forceinline__ void put(const Lane& at, const double* p) {
        const int own = at.warp / 2, t = at.warp % 2;
        p += (16 * own + at.q) * LD + at.row;
        double x[4][2], y[4], sum[4] = {};
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            x[s][0] = p[4 * s * LD];
            x[s][1] = p[4 * s * LD + 8];
            y[s] = p[4 * s * LD + 8 * t];
        }
        mma_m16n8k16_f64(sum, x, y);
#pragma unroll
        for (int e = 0; e < 4; ++e) part[own][(at.row + e / 2 * 8) * LD + at.column(t, e % 2)] = sum[e];
    }
    __device__ __forceinline__ double sum(int at) const {
        return (part[0][at] + part[1][at]) + (part[2][at] + part[3][at]);
    }
};

// R^-1 in place of G (16 x 16), by all threads, one for each entry; whether a panel with this G may be solved so, its trace
// being `small` at most.
// With 1 + S G = U^T D U, U with a unit diagonal, row j of U and the square d_j are what goes round at step j; U^-T
// grows beside.
__device__ __noinline__ bool root(double* g, double (*rows)[2][COLUMNS], double sign, double small) {
    const int r = threadIdx.x / COLUMNS, c = threadIdx.x % COLUMNS;
    double trace = 0;
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) trace += g[i * LD + i];
    double a = fma(sign, g[r * LD + c], r == c ? 1.0 : 0.0), e = r == c ? 1.0 : 0.0;
    bool allowed = trace <= small;
    const auto positive = [](double square) { return square > 0.0 ? square : 1.0; };
#pragma unroll 1
    for (int j = 0; j < COLUMNS; ++j) {
        if (r == j) {
            rows[j][0][c] = a;
            rows[j][1][c] = e;
        }
        const double entry = fma(sign, g[j * LD + j], 1.0);
        __syncthreads();
        const double square = rows[j][0][j];
        allowed = allowed && square >= LARGE_PIVOT && square >= LARGE_SHARE * entry;
        const double inverse = reciprocal(positive(square));
        const double taken = r > j ? rows[j][0][r] * inverse : 0.0;
        a = fma(-taken, rows[j][0][c], a);
        e = fma(-taken, rows[j][1][c], e);
    }
    const double z = reciprocal_root(positive(rows[c][0][c]));
    g[r * LD + c] = c >= r ? rows[c][1][r] * z : 0.0;
    return allowed;
}

// Whether the frame is good with this G, of which the thread has an entry; its row is one of 16 lanes'.
__device__ __forceinline__ bool is_good(double gram, double limit) {
    float sum = fabsf((float)gram);
#pragma unroll
    for (int step = 1; step < COLUMNS; step *= 2) sum += __shfl_xor_sync(ALL, sum, step);
    return __syncthreads_and(sum <= (float)limit);
}

// V in a new frame: the rows of `count` panels at v times R^-1, which is at g, row-major, and goes into the record.
__device__ __forceinline__ void renew_all(const Share& share, double* v, int count, const double* g,
                                          double* frame) {
    const Lane& at = share.at;
    const int s = at.warp / 2, t = at.warp % 2;
    frame[t * FRAGMENT + in_fragment(s, at.lane)] = g[at.column(s / 2, s % 2) * LD + 8 * t + at.row];
    double y[4];
#pragma unroll
    for (int s = 0; s < 4; ++s) y[s] = g[(4 * s + at.q) * LD + share.column + at.row];
#pragma unroll 1
    for (int panel = 0; panel < count; ++panel) {
        double x[4][2], c[4] = {};
        const double* const own = v + (share.row + at.row) * LD + at.q;
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            x[s][0] = own[4 * s];
            x[s][1] = own[8 * LD + 4 * s];
        }
        mma_m16n8k16_f64(c, x, y);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 4; ++e) share.entry(v, e) = c[e];
        v += ROWS * LD;
    }
}
