// The rows of L and V below a panel through it: a part of sweep.cu.
//
//     L <- L + (L (M - 1) + V N)      V <- V - L P      L the columns of the panel, both from the old L and V
//
// or column by column through its reflectors where the panel is careful: sweep.cu and weigh.cuh say how they come
// about. All of it in double precision on tensor cores.
//
// What is above the diagonal of L is neither read nor written. The new diagonal is `pivots`: the products give it too,
// but where L is small beside V perhaps with another sign.
#pragma once
#include "common/panel.cuh"

constexpr int WARP_ROWS = 16;

// A warp's rows: of L, 64 columns as products take them, and of V.
struct Rows {
    double l[STEPS][2];
    Tile v;
};

// Has a panel's record copied, by all threads.
__device__ __forceinline__ void stage(double* shared, const double* record) {
    for (int e = 2 * threadIdx.x; e < STAGED; e += 2 * THREADS) copy_async_16(shared + e, record + e);
}

// Where a warp's rows of L are: the thread's first of two, from the sweep's first row on; and room in shared memory for
// 64 of their columns.
template <class T>
struct Place {
    static constexpr int WORDS = WARP_ROWS * (int)sizeof(T) / WORD_BYTES; // in a column
    const Sweep<T>& sweep;
    long long row;
    T* room;

    __device__ __forceinline__ long long first(const Lane& at) const { return row - at.row; }
    // Whether all entries of these columns are there, for all rows of the warp.
    __device__ __forceinline__ bool inside(const Lane& at, long long column) const {
        return first(at) >= column + ROWS && first(at) + WARP_ROWS <= sweep.n;
    }
    __device__ __forceinline__ bool there(int which, long long column) const {
        const long long i = row + 8 * which;
        return i < sweep.n && column <= i;
    }
    // Parts of 32 bytes change places, so that those of four neighbouring columns are in different banks.
    __device__ static __forceinline__ int in_room(int i, int column) {
        constexpr int PART = 32 / (int)sizeof(T);
        const int part = i / PART ^ (sizeof(T) == 8 ? column % 4 : column / 2 % 2);
        return column * WARP_ROWS + part * PART + i % PART;
    }

    // Begins to copy the 64 columns from `column` on; what is above the diagonal may be anything.
    __device__ __forceinline__ void fetch(const Lane& at, long long column) const {
        constexpr int EACH = WORD_BYTES / (int)sizeof(T), COLS = 32 / WORDS;
        const int i = at.lane % WORDS * EACH, j = at.lane / WORDS;
        const int rows = (int)max(0ll, min((long long)EACH, sweep.n - first(at) - i));
        const T* from = sweep.from + (column + j) * sweep.l_stride + (rows > 0 ? first(at) + i : 0);
#pragma unroll
        for (int e = 0; e < ROWS; e += COLS) {
            const bool is_column = column + e + j < sweep.n;
            copy_async<WORD_BYTES>(room + in_room(i, e + j), is_column ? from : sweep.from,
                                   is_column ? rows * (int)sizeof(T) : 0);
            from += COLS * sweep.l_stride;
        }
        copy_async_commit();
    }
    // Has them brought nearer, so that they can be fetched soon; all 64 are there.
    __device__ __forceinline__ void prefetch(const Lane& at, long long column) const {
#pragma unroll
        for (int e = 0; e < ROWS; e += 32)
            prefetch_l2(sweep.from + (column + e + at.lane) * sweep.l_stride + first(at));
    }
    // What has arrived.
    __device__ __forceinline__ void take(const Lane& at, long long column, double (&l)[STEPS][2]) const {
        __syncwarp();
        const bool all = inside(at, column);
#pragma unroll
        for (int s = 0; s < STEPS; ++s)
#pragma unroll
            for (int which = 0; which < 2; ++which)
                l[s][which] = (double)room[in_room(at.row + 8 * which, 4 * s + at.q)];
        if (!all) {
#pragma unroll
            for (int s = 0; s < STEPS; ++s)
#pragma unroll
                for (int which = 0; which < 2; ++which)
                    l[s][which] = there(which, column + 4 * s + at.q) ? l[s][which] : 0.0;
        }
        __syncwarp();
    }
    __device__ __forceinline__ void store(int which, long long column, double x) const {
        if (!there(which, column)) return;
        const bool diagonal = column == row + 8 * which;
        sweep.to[column * sweep.l_stride + row + 8 * which] = diagonal ? sweep.pivots[column] : (T)x;
    }
};

// c <- c + a b, b a fragment.
__device__ __forceinline__ void product(const Lane& at, double (&c)[4], const double (*a)[2],
                                        const double* b) {
    double y[4];
    load(at, b, y);
    mma_m16n8k16_f64(c, *(const double(*)[4][2])a, y);
}

// The same with the first eight rows of b alone.
__device__ __forceinline__ void half_product(const Lane& at, double (&c)[4], const double (*a)[2],
                                             const double* b) {
    double y[2];
    load(at, b, y);
    mma_m16n8k8_f64(c, *(const double(*)[2][2])a, y);
}

// A panel's columns on their way through products. INSIDE: all entries of the warp's rows are there.
template <bool INSIDE, class S, class Halfway>
struct Columns {
    const Lane& at;
    const Place<S>& place;
    const double* record;
    long long column;
    const double (&v)[4][2]; // before the panel
    const double (&l)[STEPS][2];
    const Halfway& halfway;
    S* to; // the thread's first row in its first column of eight

    // The eight columns T are done.
    template <int T>
    __device__ __forceinline__ void finish(const double (&sum)[4]) const {
        const long long stride = place.sweep.l_stride;
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int j = 8 * T + 4 * (e % 2);
            const double fresh = l[j / 4][e / 2] + sum[e];
            if (INSIDE)
                to[j * stride + e / 2 * 8] = (S)fresh;
            else
                place.store(e / 2, column + j + at.q, fresh);
        }
    }

    // The eight columns T of the new L, and those before them; those behind are finished while these are on their way.
    template <int T>
    __device__ __forceinline__ void from(const double (&behind)[4]) const {
        if constexpr (T == ROWS / 16 - 1) halfway();
        double sum[4] = {};
        product(at, sum, v, record + N_AT + T * FRAGMENT);
        const double* const m = record + M_AT + T * (T + 1) / 2 * (FRAGMENT / 2);
#pragma unroll
        for (int step = 0; step < (T + 1) / 2; ++step) product(at, sum, l + 4 * step, m + step * FRAGMENT);
        if constexpr (T % 2 == 0) half_product(at, sum, l + 2 * T, m + T / 2 * FRAGMENT);
        if constexpr (T + 1 < ROWS / 8) finish<T + 1>(behind);
        if constexpr (T > 0)
            from<T - 1>(sum);
        else
            finish<0>(sum);
    }
};

// V <- V - L P.
__device__ __forceinline__ void to_v(const Lane& at, const double* record, Rows& rows) {
#pragma unroll
    for (int step = 0; step < STEPS / 4; ++step)
#pragma unroll
        for (int t = 0; t < 2; ++t)
            product(at, rows.v[t], rows.l + 4 * step, record + P_AT + (2 * step + t) * FRAGMENT);
}

// Both products; `halfway` in the middle of the second.
template <class T, class Halfway>
__device__ __forceinline__ void multiply(const Lane& at, const Place<T>& place, const double* record,
                                         long long column, Rows& rows, const Halfway& halfway) {
    constexpr int LAST = ROWS / 8 - 1;
    double v[4][2];
#pragma unroll
    for (int s = 0; s < 4; ++s) take(rows.v, s, v[s]);
    to_v(at, record, rows);
    const double none[4] = {};
    T* const to = place.sweep.to + (column + at.q) * place.sweep.l_stride + place.row;
    if (place.inside(at, column))
        Columns<true, T, Halfway>{at, place, record, column, v, rows.l, halfway, to}.template from<LAST>(
            none);
    else
        Columns<false, T, Halfway>{at, place, record, column, v, rows.l, halfway, to}.template from<LAST>(
            none);
}

// A careful panel. Columns leave on the left, four at a time, so that each four are the same code. The rows of its
// own block are known: where little is left of a pivot, they must be of the same roundings. STORES: the new L, not V
// alone.
template <bool STORES, class T>
__device__ __forceinline__ void column_by_column(const Lane& at, const Place<T>& place, const double* record,
                                                 long long column, Rows& rows) {
#pragma unroll 1
    for (int s = 0; s < STEPS; ++s) {
        double x[2];
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            double l[2], d[2];
#pragma unroll
            for (int which = 0; which < 2; ++which) l[which] = __shfl_sync(ALL, rows.l[0][which], c, 4);
            const int j = 4 * s + c;
            reflect(at, record + P_AT + j * COLUMNS, record[N_AT + j], record[N_AT + ROWS + j], l, rows.v, d);
#pragma unroll
            for (int which = 0; which < 2; ++which)
                if (at.q == c) x[which] = l[which] + d[which];
        }
#pragma unroll
        for (int which = 0; which < 2; ++which) {
            if (STORES) {
                const long long i = place.row + 8 * which - column;
                const int j = 4 * s + at.q;
                if (j <= i && i < ROWS) x[which] = record[M_AT + (int)(i * (i + 1) / 2) + j];
                place.store(which, column + j, x[which]);
            }
#pragma unroll
            for (int next = 1; next < STEPS; ++next) rows.l[next - 1][which] = rows.l[next][which];
        }
    }
}
