// Derivatives of a modification by columns of V of one sign: matrices of a batch, how threads share rows, and the sums over rows.
//
// A row of V, and what goes with it, is in the registers of LANES neighbouring threads of a warp, COLUMNS entries each: lane g of a row
// has columns g * COLUMNS + c. What is behind column k - 1 is zero. Row r of a block of threads is that of threads r * LANES ...
#pragma once
#include "common/layout.cuh"

constexpr unsigned ALL_LANES = 0xffffffffu;  // of a warp
constexpr int PANEL_COLS = 64;               // columns of a panel, and the most rows of a block of threads
constexpr int MOST_COLUMNS = 64;             // of V
constexpr int MORE_SUMS = 2;                 // over rows, besides one for each column of V

// Entry (i, j) of matrix b at first + b * of_matrix + i * row + j * column.
template <class T>
struct Matrices {
    T* first;
    long long of_matrix, row, column;

    __device__ __forceinline__ T& at(long long b, long long i, long long j) const {
        return first[b * of_matrix + i * row + j * column];
    }
};

// What is differentiated: L' L'^T = L L^T + V diag(w) V^T, of each matrix of a batch. Of L and L' the lower triangles are read.
template <class T>
struct Modification {
    Matrices<T> l, l_new;      // n x n
    Matrices<T> v;             // n x k
    const T* weights;          // of matrix b: k at weights + b * of_weights; or null if all are `sign`
    long long of_weights;
    const unsigned char* ok;   // whether matrix b has an L', at ok + b * of_ok; or null if all have
    long long of_ok;
    T sign;
    int n, k;

    __device__ __forceinline__ bool is_there(long long b) const { return !ok || ok[b * of_ok]; }
    __device__ __forceinline__ T weight(long long b, int r) const { return weights ? weights[b * of_weights + r] : sign; }
};

// A stage of it: L and L' of some columns of V. The others are zero.
constexpr int PLUS = 1, MINUS = 2, BOTH = 3;
template <class T>
struct Stage : Modification<T> {
    int takes;  // PLUS: the columns of weights that are not negative, MINUS: of negative ones

    __device__ __forceinline__ explicit Stage(const Modification<T>& all) : Modification<T>(all), takes(BOTH) {}
};

// A column of V as a stage takes it: scaled by the root of its weight, and its sign. A weight of 0 is a sign of 0, and scales by 1.
template <class T>
struct Column {
    T weight, scale, sign;
    bool is_taken;

    __device__ __forceinline__ Column(const Stage<T>& all, long long b, int r) {
        weight = r < all.k ? all.weight(b, r) : T(0);
        is_taken = r < all.k && (all.takes & (weight < T(0) ? MINUS : PLUS));
        scale = !is_taken ? T(0) : weight == T(0) ? T(1) : sqrt(fabs(weight));
        sign = !is_taken ? T(0) : weight > T(0) ? T(1) : weight < T(0) ? T(-1) : weight;
    }
};

// The place of a thread among those of its row, and of its row in the block.
template <class T, int COLUMNS, int LANES>
struct Place {
    static constexpr int RANK = COLUMNS * LANES;
    int row, lane, warp;
    unsigned mates;  // the lanes of the row, as a mask

    __device__ __forceinline__ Place() {
        row = (int)threadIdx.x / LANES;
        lane = (int)threadIdx.x % LANES;
        warp = (int)threadIdx.x / 32;
        mates = LANES == 1 ? 1u << threadIdx.x % 32 : ((1u << LANES) - 1) << (threadIdx.x % 32 - lane);
    }
    __device__ __forceinline__ int column(int c) const { return lane * COLUMNS + c; }

    // The sum over the lanes of a row. By all threads.
    __device__ __forceinline__ T sum(T x) const { return sum_of(ALL_LANES, x); }
    // The same by the lanes of one row alone.
    __device__ __forceinline__ T own_sum(T x) const { return sum_of(mates, x); }
    __device__ __forceinline__ T sum_of(unsigned mask, T x) const {
#pragma unroll
        for (int step = 1; step < LANES; step *= 2) x += __shfl_xor_sync(mask, x, step);
        return x;
    }
    // x of the lane that has column p.
    __device__ __forceinline__ T of_column(unsigned mask, T x, int p) const {
        return LANES == 1 ? x : __shfl_sync(mask, x, p / COLUMNS, LANES);
    }
    // Puts `other` in place of column p of a row, and returns what was there on the lane that has it.
    __device__ __forceinline__ T replace(T (&x)[COLUMNS], int p, T other) const {
        T was = T(0);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
            if (column(c) == p) {
                was = x[c];
                x[c] = other;
            }
        return was;
    }
};

// Sums of x over the rows of a warp, to `to`[0 .. COUNT): the warp halves what each lane adds up, so that COUNT sums take COUNT exchanges
// and not five times as many. COUNT is a power of two. By all threads; `writes` says which lanes of a row write.
template <int COUNT, int LANES, class T>
__device__ __forceinline__ void sum_rows(T (&x)[COUNT], T* to, bool writes) {
    const int lane = threadIdx.x % 32;
    int first = 0, held = COUNT;
#pragma unroll
    for (int step = 16; step >= LANES; step /= 2) {
        const bool upper = lane & step;
        if (held > 1) {
            held /= 2;
#pragma unroll
            for (int i = 0; i < COUNT / 2; ++i)
                if (i < held) {
                    const T sent = upper ? x[i] : x[i + held], kept = upper ? x[i + held] : x[i];
                    x[i] = kept + __shfl_xor_sync(ALL_LANES, sent, step);
                }
            if (upper) first += held;
        } else {
            x[0] += __shfl_xor_sync(ALL_LANES, x[0], step);
            writes = writes && !upper;
        }
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        if (i < held && writes) to[first + i] = x[i];
}

// The memory that a block of threads shares.
template <class T>
struct Step;
template <class T, int COLUMNS, int LANES>
struct Shared {
    static constexpr int RANK = COLUMNS * LANES, WARPS = PANEL_COLS * LANES / 32, SUMS = RANK + MORE_SUMS;
    T a[PANEL_COLS * RANK];  // rows of V at the steps of a panel, after an interchange
    Step<T> steps[PANEL_COLS];
    T slots[2][WARPS][SUMS];  // sums of each warp, those of two columns by turns; zero for warps that the block lacks
    T signs[RANK];

    // Adds sum `at` of all warps.
    __device__ __forceinline__ static T total(T sum, const T (&of_warps)[WARPS][SUMS], int at) {
#pragma unroll
        for (int warp = 0; warp < WARPS; ++warp) sum += of_warps[warp][at];
        return sum;
    }
};
