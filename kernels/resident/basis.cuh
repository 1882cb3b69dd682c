// The basis in which V is expressed: when it is well-conditioned, and how V is expressed in a new one.
//
// Let G be the sum of P^T P over the panels since the last change of basis, and 1 + S G = R^T R. Reflectors would have
// left V R^-1, up to an orthogonal matrix. A sweep keeps V itself and rebases, V <- V R^-1 and G <- 0, before 1 + S G
// is badly conditioned.
#pragma once
#include "common/arithmetic.cuh"
#include "resident/diagonal_tiles.cuh"
#include "resident/v_rows.cuh"

// A basis is kept while no row sum of |G| exceeds this: then the condition number of 1 + S G is at most 8. The errors
// of Bennett's coefficients grow with it, and recur in every call of a loop that adds and removes the same V.
constexpr double MAX_GRAM_PLUS = 7.0, MAX_GRAM_MINUS = 0.75;
// The same where L is a single panel, whose errors must stay within 12 u instead of 64 u; reflectors also drift less.
constexpr double MAX_GRAM_PLUS_ONE_PANEL = 1.0, MAX_GRAM_MINUS_ONE_PANEL = 0.5;

// The largest row sum of |G| in a sweep.
template <class T>
__device__ __forceinline__ double max_gram(const Sweep<T>& sweep) {
    const bool one_panel = sweep.n <= PANEL_COLS;
    return sweep.sign > 0.0 ? (one_panel ? MAX_GRAM_PLUS_ONE_PANEL : MAX_GRAM_PLUS)
                            : (one_panel ? MAX_GRAM_MINUS_ONE_PANEL : MAX_GRAM_MINUS);
}

// One panel's own G = P^T P decides whether the panel is solved as a product or takes the Householder fallback.
// |P|^2 (its trace) must not exceed this: with p_1 and p_2 the first two rows of P, the second column of L is scaled
// by 1 + p_2 p_2^T - (p_1 p_2^T)^2 / (1 + p_1 p_1^T), which has an error of |P|^2 u.
constexpr double MAX_P_SQUARE = 16.0;
// No row sum of |(1 - P^T P)^-1| may exceed this for a downdate: it bounds the norm, by which rounding errors are
// multiplied. (Pivots do not show this: sixteen nearly parallel columns leave 3/4 each and almost nothing together.)
constexpr double MAX_INVERSE = 8.0, MAX_INVERSE_ONE_PANEL = 2.0;

// P^T P of a panel as sums over parts of its rows; each of USED_WARPS warps computes 16 x 8 entries of a part. With rank
// blocks of 16 columns these are half of the warps, so that two panels are computed at once.
struct Gram {
    static constexpr int TILES = V_SIXTEENS * V_EIGHTS, PARTS = V_SIXTEENS == 1 ? 2 : 1,
                         USED_WARPS = TILES * PARTS;
    static constexpr int SIXTEENS = PANEL_COLS / 16 / PARTS;  // of rows of P in a part
    double part[PARTS][RANK_BLOCK * V_STRIDE];

    // `p`: P or -P (64 x RANK_BLOCK, row-major). `warp`: of USED_WARPS.
    __device__ __forceinline__ void syrk(const MmaLane& at, int warp, const double* p) {
        const int own = warp / TILES, first = warp % TILES / V_EIGHTS * 16, t = warp % V_EIGHTS;
        p += 16 * SIXTEENS * own * V_STRIDE;
        double sum[4] = {};
#pragma unroll
        for (int step = 0; step < SIXTEENS; ++step) {
            gemm_16x8x16<1, V_STRIDE, V_STRIDE>(at, sum, p + first, p + 8 * t);
            p += 16 * V_STRIDE;
        }
#pragma unroll
        for (int e = 0; e < 4; ++e)
            part[own][(first + at.row + e / 2 * 8) * V_STRIDE + at.column(t, e % 2)] = sum[e];
    }
    __device__ __forceinline__ double sum(int entry) const {
        return PARTS == 1 ? part[0][entry] : part[0][entry] + part[PARTS - 1][entry];
    }
};

// A thread's entries of a matrix (RANK_BLOCK x RANK_BLOCK): of a row that neighbouring lanes share, every LANES-th.
struct GramEntries {
    static constexpr int COUNT = RANK_BLOCK * RANK_BLOCK / THREADS, LANES = RANK_BLOCK / COUNT;
    int r, first;
    __device__ GramEntries() : r(threadIdx.x / LANES), first(threadIdx.x % LANES) {}
    __device__ __forceinline__ int column(int e) const { return first + LANES * e; }
    // Where the entries lie in shared memory (row-major, V_STRIDE), and in a record.
    __device__ __forceinline__ int shared(int e) const { return r * V_STRIDE + column(e); }
    __device__ static __forceinline__ int in_record(int e) { return GRAM_AT + e * THREADS + threadIdx.x; }
};
typedef double GramValues[GramEntries::COUNT];

// The sum of a row of a matrix (RANK_BLOCK x RANK_BLOCK); each thread has the magnitudes of its entries.
__device__ __forceinline__ float gram_row_sum(const GramValues& magnitudes) {
    float sum = (float)magnitudes[0];
#pragma unroll
    for (int e = 1; e < GramEntries::COUNT; ++e) sum += (float)magnitudes[e];
#pragma unroll
    for (int step = 1; step < GramEntries::LANES; step *= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
    return sum;
}

// Whether no row sum of such a matrix exceeds the limit.
__device__ __forceinline__ bool row_sums_within(const GramValues& magnitudes, double limit) {
    return __syncthreads_and(gram_row_sum(magnitudes) <= (float)limit);
}

// Replaces G (RANK_BLOCK x RANK_BLOCK) by R^-1 with 1 + S G = R^T R, by all threads, each its entries. Returns whether
// a panel with this G may be solved as a product: whether G is within these limits. With 1 + S G = U^T D U and a unit
// diagonal of U, step j publishes row j of U and the square d_j in `rows`, and U^-T and (1 + S G)^-1 = U^-1 D^-1 U^-T
// are computed in the same steps.
__device__ __noinline__ bool invert_root(double* g, double (*rows)[2][RANK_BLOCK], double sign,
                                         double max_trace, double max_inverse) {
    const GramEntries own;
    const int r = own.r;
    double trace = 0;
#pragma unroll
    for (int i = 0; i < RANK_BLOCK; ++i) trace += g[i * V_STRIDE + i];
    GramValues a, u, in_inverse = {};  // of the matrix, of U^-T, and of the inverse
#pragma unroll
    for (int e = 0; e < GramEntries::COUNT; ++e) {
        u[e] = r == own.column(e) ? 1.0 : 0.0;
        a[e] = fma(sign, g[own.shared(e)], u[e]);
    }
    bool positive_definite = true;
    const auto positive = [](double square) { return square > 0.0 ? square : 1.0; };
#pragma unroll 1
    for (int j = 0; j < RANK_BLOCK; ++j) {
        if (r == j) {
#pragma unroll
            for (int e = 0; e < GramEntries::COUNT; ++e) {
                rows[j][0][own.column(e)] = a[e];
                rows[j][1][own.column(e)] = u[e];
            }
        }
        __syncthreads();
        const double square = rows[j][0][j];
        positive_definite = positive_definite && square > 0.0;
        const double inverse = reciprocal(positive(square));
        const double taken = r > j ? rows[j][0][r] * inverse : 0.0;
        const double of_inverse = rows[j][1][r] * inverse;
#pragma unroll
        for (int e = 0; e < GramEntries::COUNT; ++e) {
            a[e] = fma(-taken, rows[j][0][own.column(e)], a[e]);
            u[e] = fma(-taken, rows[j][1][own.column(e)], u[e]);
            in_inverse[e] = fma(of_inverse, rows[j][1][own.column(e)], in_inverse[e]);
        }
    }
    GramValues magnitudes;
#pragma unroll
    for (int e = 0; e < GramEntries::COUNT; ++e) {
        const int c = own.column(e);
        const double z = reciprocal_root(positive(rows[c][0][c]));
        g[own.shared(e)] = c >= r ? rows[c][1][r] * z : 0.0;
        // An update's eigenvalues are at least 1.
        magnitudes[e] = sign > 0.0 ? 0.0 : fabs(in_inverse[e]);
    }
    return row_sums_within(magnitudes, max_inverse) && positive_definite && trace <= max_trace;
}

// V <- V R^-1 for the rows of `count` panels in shared memory, by all threads. R^-1 (row-major) is also stored to the
// record.
__device__ __forceinline__ void rebase_panels(const DiagonalPart& part, double* v, int count,
                                              const double* inverse_root, double* basis, const Peers* peers) {
    const MmaLane& at = part.at;
    constexpr int AT_ONCE = WARPS / V_EIGHTS;  // steps of the sum over R^-1's rows
    const int t = at.warp % V_EIGHTS;
#pragma unroll
    for (int i = 0; i < 4 * V_SIXTEENS / AT_ONCE; ++i) {
        const int s = AT_ONCE * i + at.warp / V_EIGHTS;
        const double entry = inverse_root[at.column(s / 2, s % 2) * V_STRIDE + 8 * t + at.row];
        double* const to = basis + (V_SIXTEENS * t + s / 4) * FRAGMENT + in_fragment(s % 4, at.lane);
        *to = entry;
        store_there(peers, to, entry);
    }
    double y[V_SIXTEENS][V_SIXTEENS][4];
#pragma unroll
    for (int step = 0; step < V_SIXTEENS; ++step)
#pragma unroll
        for (int eight = 0; eight < V_SIXTEENS; ++eight)
            load_b<V_STRIDE>(at, inverse_root + 16 * step * V_STRIDE + part.column + 8 * eight,
                             y[step][eight]);
#pragma unroll 1
    for (int panel = 0; panel < count; ++panel) {
        DiagonalPart::Entries c = {};
#pragma unroll
        for (int step = 0; step < V_SIXTEENS; ++step) {
            double x[4][2];
            load_a<V_STRIDE, 1>(at, v + part.row * V_STRIDE + 16 * step, x);
#pragma unroll
            for (int eight = 0; eight < V_SIXTEENS; ++eight)
                mma_m16n8k16_f64(DiagonalPart::of_product(c, eight), x, y[step][eight]);
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < DiagonalPart::ENTRIES; ++e) part.entry(v, e) = c[e];
        v += PANEL_COLS * V_STRIDE;
    }
}
