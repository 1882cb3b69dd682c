// What the parts of the resident engine's sweep know of a panel: see sweep.cu for the equations.
#pragma once
#include "common/common.cuh"
#include "common/instructions.cuh"

constexpr int ROWS = 64;        // columns of a panel, rows of its diagonal block
constexpr int COLUMNS = 16;     // of V in a sweep
constexpr int STEPS = ROWS / 4; // products in a sum over a panel's columns
constexpr int LD = COLUMNS + 4; // of a matrix of COLUMNS in shared memory, row-major: no bank conflicts
constexpr int THREADS = 256;    // of a block
constexpr int WARPS = THREADS / 32;
constexpr unsigned ALL = 0xffffffffu;

// A panel's record, in doubles. An operand of matrix products lies there in fragments of 16 x 8, each as the lanes of a
// warp take it, two entries at a time: -P at 2 s + t and N at t, its rows in V's order, for sixteen rows s and eight
// columns t; M - 1, upper triangular, at t (t + 1) / 2 and so on, sixteen rows after sixteen, the last perhaps only
// eight; and the frame at t. Columns of N and M are placed so that products with them leave a thread of a warp with the
// columns of L that it has: in_products. A careful panel has rows b_j (64 x 16), S rho_j and behind them x_j, and the lower
// triangle of its new diagonal block, row by row, in the places of P, N and M.
constexpr int FRAGMENT = 128;
__device__ constexpr int in_fragment(int s, int lane) { return s / 2 * 64 + 2 * lane + s % 2; }
// Of eight columns of a product's second operand, the one that is column n of the result: thread q of a row has columns
// 2 q and 2 q + 1 of the result, and of L q and q + 4.
__device__ constexpr int in_products(int column) { return 2 * (column % 4) + column / 4; }
constexpr int P_AT = 0;
constexpr int N_AT = P_AT + ROWS * COLUMNS;
constexpr int M_AT = N_AT + ROWS * COLUMNS;
constexpr int HOW_AT = M_AT + 18 * FRAGMENT;
constexpr int STAGED = HOW_AT + 2;    // what rows need at hand
constexpr int FRAME_AT = STAGED + 14; // records and their parts begin at multiples of 128 bytes
// Behind the panel: G, and whether it is not zero; and how it goes, once that is certain.
constexpr int G_AT = FRAME_AT + COLUMNS * COLUMNS;
constexpr int BEGUN_AT = G_AT + COLUMNS * COLUMNS;
constexpr int TOLD_AT = BEGUN_AT + 1;
constexpr int RECORD = BEGUN_AT + 16;

// How a panel goes: V has been brought into a new frame before it; column by column.
constexpr int RENEWED = 1, CAREFUL = 2;

// A sweep over L (n x n) with sixteen columns of V, all of one sign. Column-major, strides in scalars: entry (i, j),
// i >= j, of L at from + j * l_stride + i, and of the new L at the same place of `to`, which may be `from`; columns of
// L begin at multiples of 16 bytes. Panels are counted from 0.
template <class T>
struct Sweep {
    const T* from;
    T* to;
    long long l_stride;
    const T* v;
    long long v_stride;
    double* inverse; // of each diagonal block, 64 x 64
    int* refine;     // whether P needs it
    double* records; // all bits ones at first
    T* pivots;       // the new diagonal of L
    int* status;     // 1 + the first column that has broken down
    double* kept;    // V between stretches of panels, for each 128 rows 128 x 16, several times: task.cuh
    // Zeros at first: how many blocks have begun (task.cuh steps over it), for each panel how far it is, and what
    // task.cuh has of each 128 rows.
    int* marks;
    int* before; // those of the sweep before over the same L, if there is one
    long long n;
    long long number; // of the first column
    double sign;
};

// Whether nobody has written there yet: no number, and no NaN that arithmetic makes, has all bits ones.
__device__ __forceinline__ bool untold(double x) {
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == -1;
}

// How far a panel is, in its mark: its P is there, and how it goes beside; N and M are there as well.
constexpr int PLACED = 4, WEIGHED = 8;

// By one thread, behind a barrier of its block: what the block has written so far is there for whoever finds the mark.
template <class T>
__device__ __forceinline__ void mark(const Sweep<T>& sweep, int panel, int how_far) {
    store_release(sweep.marks + panel, how_far);
}

template <class T>
__device__ __forceinline__ int how_far(const Sweep<T>& sweep, int panel) {
    return load_acquire(sweep.marks + panel);
}

// Waits until there is at least so much.
__device__ __forceinline__ int await(const int* mark, int least) {
    for (;;) {
        const int found = load_acquire(mark);
        if (found >= least) return found;
        pause();
    }
}

// Waits until the panel is as far.
template <class T>
__device__ __forceinline__ void await(const Sweep<T>& sweep, int panel, int least) {
    await(sweep.marks + panel, least);
}

// The same by a warp, of which one lane looks; how the panel goes.
template <class T>
__device__ __forceinline__ int await_by_warp(const Sweep<T>& sweep, int panel, int least) {
    int found = 0;
    if (threadIdx.x % 32 == 0) found = await(sweep.marks + panel, least);
    __syncwarp();
    return __shfl_sync(ALL, found, 0) & (RENEWED | CAREFUL);
}

// Where a thread stands in its warp's products: rows `row` and `row` + 8 of a tile of 16, columns q of an operand's
// four.
struct Lane {
    int warp, row, q, lane;
    __device__ Lane()
        : warp(threadIdx.x / 32), row(threadIdx.x % 32 / 4), q(threadIdx.x % 4), lane(threadIdx.x % 32) {}
    // The thread's columns of V, e < 2 of the eight t.
    __device__ int column(int t, int e) const { return 8 * t + 2 * q + e; }
};

// A warp's 16 rows of V: of the eight columns t, those two of row `row` and those two of the other. What leaves a
// product so is an operand of the next, whose step s takes columns s % 2 of the eight s / 2.
typedef double Tile[2][4];

__device__ __forceinline__ void take(const Tile& v, int s, double (&a)[2]) {
    a[0] = v[s / 2][s % 2];
    a[1] = v[s / 2][2 + s % 2];
}

// To and from shared memory, rows from `to` or `from` on.
__device__ __forceinline__ void put(const Lane& at, double* to, const Tile& v) {
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) to[(at.row + e / 2 * 8) * LD + at.column(t, e % 2)] = v[t][e];
}

__device__ __forceinline__ void add(const Lane& at, const double* from, Tile& v) {
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) v[t][e] += from[(at.row + e / 2 * 8) * LD + at.column(t, e % 2)];
}

// The lane's entries of a fragment, or of its first eight rows.
template <int COUNT>
__device__ __forceinline__ void load(const Lane& at, const double* fragment, double (&y)[COUNT]) {
#pragma unroll
    for (int s = 0; s < COUNT; s += 2) {
        const Word<double> two = ((const Word<double>*)fragment)[16 * s + at.lane];
        y[s] = two.lane[0];
        y[s + 1] = two.lane[1];
    }
}

// V into another frame. (fragments of 16 x 16)
__device__ __forceinline__ void renew(const Lane& at, const double* frame, Tile& v) {
    double x[4][2];
#pragma unroll
    for (int s = 0; s < 4; ++s) take(v, s, x[s]);
#pragma unroll
    for (int t = 0; t < 2; ++t) {
        double y[4], product[4] = {};
        load(at, frame + t * FRAGMENT, y);
        mma_m16n8k16_f64(product, x, y);
#pragma unroll
        for (int e = 0; e < 4; ++e) v[t][e] = product[e];
    }
}

// The sum over the threads of a row, all threads of a warp at once; the same bits for each.
__device__ __forceinline__ double row_sum(double x) {
    x += __shfl_xor_sync(ALL, x, 1);
    return x + __shfl_xor_sync(ALL, x, 2);
}

// Two rows of V through one reflector, 16 of the warp's together: d, which is to be added to the old entries `l` of its
// column. `scale` is S rho; see householder.cuh.
__device__ __forceinline__ void reflect(const Lane& at, const double* b, double scale, double excess,
                                        const double (&l)[2], Tile& v, double (&d)[2]) {
    double entry[2][2];
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e) entry[t][e] = b[at.column(t, e)];
#pragma unroll
    for (int row = 0; row < 2; ++row) {
        double dot = 0;
#pragma unroll
        for (int t = 0; t < 2; ++t)
#pragma unroll
            for (int e = 0; e < 2; ++e) dot = fma(entry[t][e], v[t][2 * row + e], dot);
        d[row] = fma(scale, row_sum(dot), excess * l[row]);
        const double u = fma(2.0, l[row], d[row]);
#pragma unroll
        for (int t = 0; t < 2; ++t)
#pragma unroll
            for (int e = 0; e < 2; ++e) v[t][2 * row + e] = fma(-u, entry[t][e], v[t][2 * row + e]);
    }
}
