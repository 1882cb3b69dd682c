// The basis in which V is expressed: when it is well-conditioned, and how V is expressed in a new one.
//
// With G the sum of P^T P over the panels since the basis was new, what reflectors would leave of V is V R^-1 up to an
// orthogonal matrix, with 1 + S G = R^T R. A sweep keeps V itself and rebases, V <- V R^-1 and G <- 0, before 1 + S G
// would be badly conditioned.
#pragma once
#include "common/arithmetic.cuh"
#include "resident/diagonal_tiles.cuh"
#include "resident/v_rows.cuh"

// A basis serves while no row sum of |G| exceeds this: then 1 + S G has a condition number of at most 8. What Bennett's
// coefficients lose grows with it, and is lost again in every call of a loop that adds and removes the same V.
constexpr double MAX_GRAM_PLUS = 7.0, MAX_GRAM_MINUS = 0.75;
// The same where L is a single panel, whose errors must stay within 12 u and not 64 u; reflectors drift less as well.
constexpr double MAX_GRAM_PLUS_ONE_PANEL = 1.0, MAX_GRAM_MINUS_ONE_PANEL = 0.5;

// One panel's own G = P^T P decides whether the panel is solved as a product or takes the Householder fallback.
// |P|^2 (its trace) must not exceed this: with p_1 and p_2 the first two rows of P, the second column of L is scaled by
// 1 + p_2 p_2^T - (p_1 p_2^T)^2 / (1 + p_1 p_1^T), which is off by |P|^2 u.
constexpr double MAX_P_SQUARE = 16.0;
// No row sum of |(1 - P^T P)^-1| may exceed this for a downdate: it bounds the norm, by which rounding errors are
// multiplied. (Pivots do not tell: sixteen nearly parallel columns leave 3/4 each and next to nothing together.)
constexpr double MAX_INVERSE = 8.0, MAX_INVERSE_ONE_PANEL = 2.0;

// P^T P of a panel as four sums, one for each sixteen rows of P; two warps make each, eight columns a warp.
struct Gram {
    double part[PANEL_COLS / 16][RANK_BLOCK * V_STRIDE];

    // `p`: P or -P. (64 x 16, row-major)
    __device__ __forceinline__ void syrk(const MmaLane& at, const double* p) {
        const int own = at.warp / 2, t = at.warp % 2;
        p += 16 * own * V_STRIDE;
        double sum[4] = {};
        gemm_16x8x16<1, V_STRIDE, V_STRIDE>(at, sum, p, p + 8 * t);
#pragma unroll
        for (int e = 0; e < 4; ++e) part[own][(at.row + e / 2 * 8) * V_STRIDE + at.column(t, e % 2)] = sum[e];
    }
    __device__ __forceinline__ double sum(int entry) const {
        return (part[0][entry] + part[1][entry]) + (part[2][entry] + part[3][entry]);
    }
};

// Whether no row sum of a matrix (16 x 16) exceeds the limit; each thread has the magnitude of an entry, sixteen
// neighbouring lanes have a row.
__device__ __forceinline__ bool row_sums_within(double magnitude, double limit) {
    float sum = (float)magnitude;
#pragma unroll
    for (int step = 1; step < RANK_BLOCK; step *= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
    return __syncthreads_and(sum <= (float)limit);
}

// Replaces G (16 x 16) by R^-1 with 1 + S G = R^T R, by all threads, one for each entry. Returns whether a panel with
// this G may be solved as a product: one within these limits. With 1 + S G = U^T D U and a unit diagonal of U, step j
// publishes row j of U and the square d_j in `rows`, and U^-T and (1 + S G)^-1 = U^-1 D^-1 U^-T are built alongside.
__device__ __noinline__ bool invert_root(double* g, double (*rows)[2][RANK_BLOCK], double sign,
                                         double max_trace, double max_inverse) {
    const int r = threadIdx.x / RANK_BLOCK, c = threadIdx.x % RANK_BLOCK;
    double trace = 0;
#pragma unroll
    for (int i = 0; i < RANK_BLOCK; ++i) trace += g[i * V_STRIDE + i];
    double a = fma(sign, g[r * V_STRIDE + c], r == c ? 1.0 : 0.0), e = r == c ? 1.0 : 0.0;
    double in_inverse = 0.0;
    bool positive_definite = true;
    const auto positive = [](double square) { return square > 0.0 ? square : 1.0; };
#pragma unroll 1
    for (int j = 0; j < RANK_BLOCK; ++j) {
        if (r == j) {
            rows[j][0][c] = a;
            rows[j][1][c] = e;
        }
        __syncthreads();
        const double square = rows[j][0][j];
        positive_definite = positive_definite && square > 0.0;
        const double inverse = reciprocal(positive(square));
        const double taken = r > j ? rows[j][0][r] * inverse : 0.0;
        a = fma(-taken, rows[j][0][c], a);
        e = fma(-taken, rows[j][1][c], e);
        in_inverse = fma(rows[j][1][r] * inverse, rows[j][1][c], in_inverse);
    }
    const double z = reciprocal_root(positive(rows[c][0][c]));
    g[r * V_STRIDE + c] = c >= r ? rows[c][1][r] * z : 0.0;
    // An update's eigenvalues are at least 1.
    return row_sums_within(sign > 0.0 ? 0.0 : fabs(in_inverse), max_inverse) && positive_definite && trace <= max_trace;
}

// V <- V R^-1 for the rows of `count` panels in shared memory, by all threads; R^-1 (row-major) goes to the record as
// well.
__device__ __forceinline__ void rebase_panels(const DiagonalPart& part, double* v, int count,
                                              const double* inverse_root, double* basis) {
    const MmaLane& at = part.at;
    const int s = at.warp / 2, t = at.warp % 2;
    basis[t * FRAGMENT + in_fragment(s, at.lane)] =
        inverse_root[at.column(s / 2, s % 2) * V_STRIDE + 8 * t + at.row];
    double y[4];
    load_b<V_STRIDE>(at, inverse_root + part.column, y);
#pragma unroll 1
    for (int panel = 0; panel < count; ++panel) {
        double x[4][2], c[4] = {};
        load_a<V_STRIDE, 1>(at, v + part.row * V_STRIDE, x);
        mma_m16n8k16_f64(c, x, y);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 4; ++e) part.entry(v, e) = c[e];
        v += PANEL_COLS * V_STRIDE;
    }
}
