// Transforms a warp's 16 rows of L and V below a panel, by that panel, in double precision on tensor cores:
//
//     L <- L + (L (M - 1) + V N)      V <- V - L P      for each sixteen columns of L, from the old L and V
//
// or, if the panel takes the Householder fallback, by its reflectors one after the other. bennett.cuh and sweep.cu
// derive the coefficients.
//
// Entries above the diagonal of L are neither used nor written. The new diagonal comes from the record: the products
// give it too, but possibly with the opposite sign where L is small compared with V.
#pragma once
#include "resident/householder.cuh"

// A warp's rows in registers: 64 columns of L as first operands of products, and V.
struct RowsInRegisters {
    double l[K_STEPS][2];
    VRows v;
};

// Begins to copy a panel's record to shared memory, by all threads.
__device__ __forceinline__ void stage_record(double* shared, const double* record) {
    constexpr int EACH = 2 * THREADS;
    shared += 2 * threadIdx.x;
    record += 2 * threadIdx.x;
#pragma unroll
    for (int e = 0; e + EACH <= STAGED; e += EACH) copy_async_16(shared + e, record + e);
    constexpr int REST = STAGED % EACH;
    if (2 * threadIdx.x < REST) copy_async_16(shared + STAGED - REST, record + STAGED - REST);
}

// A warp's rows of L in memory, and room in shared memory for 64 of their columns.
template <class T>
struct WarpRowsOfL {
    static constexpr int WORDS = WARP_ROWS * (int)sizeof(T) / WORD_BYTES;  // in a column
    const Sweep<T>& sweep;
    long long row;  // the thread's first of two neighbours
    T* room;

    __device__ __forceinline__ long long first(const MmaLane& at) const { return row - first_row(at); }
    // Whether L has all entries of the 64 columns from `column` on in all rows of the warp.
    __device__ __forceinline__ bool inside(const MmaLane& at, long long column) const {
        return first(at) >= column + PANEL_COLS && first(at) + WARP_ROWS <= sweep.n;
    }
    // Whether that is so for all warps of the block.
    __device__ __forceinline__ bool all_inside(const MmaLane& at, long long column) const {
        const long long begin = first(at) - WARP_ROWS * at.warp;
        return begin >= column + PANEL_COLS && begin + ROW_BLOCK <= sweep.n;
    }
    __device__ __forceinline__ bool exists(int which, long long column) const {
        const long long i = row + which;
        return i < sweep.n && column <= i;
    }
    // The position of an entry in the room: 32-byte parts are permuted so that those of four neighbouring columns are
    // in different banks.
    __device__ static __forceinline__ int in_room(int i, int column) {
        constexpr int PART = 32 / (int)sizeof(T);
        const int part = i / PART ^ (sizeof(T) == 8 ? column % 4 : column / 2 % 2);
        return column * WARP_ROWS + part * PART + i % PART;
    }

    // Begins to copy COUNT columns from column `own` of the panel at `column` on to the room, by the warp alone: it
    // waits for no other warp, and for sixteen rows the permutation of parts takes less memory than copy_tile's
    // strides. Entries above the diagonal are arbitrary.
    template <int COUNT>
    __device__ __forceinline__ void fetch_columns(const MmaLane& at, long long column, int own) const {
        constexpr int EACH = WORD_BYTES / (int)sizeof(T), COLS = 32 / WORDS;
        const int i = at.lane % WORDS * EACH, j = at.lane / WORDS;
        column += own;
        T* const to = room + in_room(i, j) + own * WARP_ROWS;
        const T* from = sweep.from + (column + j) * sweep.l_stride + first(at) + i;
        if (first(at) + WARP_ROWS <= sweep.n && column + COUNT <= sweep.n) {
#pragma unroll
            for (int e = 0; e < COUNT; e += COLS) {
                copy_async_16(to + e * WARP_ROWS, from);
                from += COLS * sweep.l_stride;
            }
        } else {
            const int rows = (int)max(0ll, min((long long)EACH, sweep.n - first(at) - i));
#pragma unroll 1
            for (int e = 0; e < COUNT; e += COLS) {
                const bool exists = rows > 0 && column + e + j < sweep.n;
                copy_async<WORD_BYTES>(to + e * WARP_ROWS, exists ? from : sweep.from,
                                       exists ? rows * (int)sizeof(T) : 0);
                from += COLS * sweep.l_stride;
            }
        }
    }
    __device__ __forceinline__ void fetch(const MmaLane& at, long long column) const {
        fetch_columns<PANEL_COLS>(at, column, 0);
        copy_async_commit();
    }
    // The same in four batches, each of sixteen columns.
    __device__ __forceinline__ void fetch_by_sixteens(const MmaLane& at, long long column) const {
#pragma unroll
        for (int part = 0; part < PANEL_COLS / 16; ++part) {
            fetch_columns<16>(at, column, 16 * part);
            copy_async_commit();
        }
    }
    // Prefetches 64 columns, all of which exist, to the second-level cache, so that a later fetch is short.
    __device__ __forceinline__ void prefetch(const MmaLane& at, long long column) const {
#pragma unroll
        for (int e = 0; e < PANEL_COLS; e += 32)
            prefetch_l2(sweep.from + (column + e + at.lane) * sweep.l_stride + first(at));
    }
    // Loads COUNT fetched columns from column `own` of the panel at `column` on to registers; the caller has waited for
    // them. `all`: L has all of their entries.
    template <int COUNT>
    __device__ __forceinline__ void load_columns(const MmaLane& at, long long column, int own, bool all,
                                                 double (&l)[COUNT / 4][2]) const {
        __syncwarp();
#pragma unroll
        for (int s = 0; s < COUNT / 4; ++s) {
            const Pair<T> two = *(const Pair<T>*)(room + in_room(first_row(at), own + 4 * s + at.q));
#pragma unroll
            for (int which = 0; which < 2; ++which) l[s][which] = (double)two.scalar[which];
        }
        if (!all) {
#pragma unroll
            for (int s = 0; s < COUNT / 4; ++s)
#pragma unroll
                for (int which = 0; which < 2; ++which)
                    l[s][which] = exists(which, column + own + 4 * s + at.q) ? l[s][which] : 0.0;
        }
        __syncwarp();
    }
    __device__ __forceinline__ void load(const MmaLane& at, long long column, double (&l)[K_STEPS][2]) const {
        load_columns<PANEL_COLS>(at, column, 0, inside(at, column), l);
    }
    __device__ __forceinline__ void store(int which, long long column, double x) const {
        if (exists(which, column)) sweep.to[column * sweep.l_stride + row + which] = (T)x;
    }
};

// The products - L P of a panel, by which V changes.
//
// In double precision they are summed by themselves: V is larger than each of them, and would be rounded with each. A
// loop that adds and removes the same V would repeat these errors, which are common to whole rows of L. In single
// precision L is rounded far more, and the products are added to V.
template <class T>
struct ChangeOfV {
    static constexpr bool APART = sizeof(T) == sizeof(double);
    VRows& v;
    VRows change = {};

    __device__ __forceinline__ ChangeOfV(VRows& v) : v(v) {}
    // Where products are added.
    __device__ __forceinline__ VRows& sum() {
        if constexpr (APART)
            return change;
        else
            return v;
    }
    // An entry of V with the products so far.
    __device__ __forceinline__ double at(int t, int e) const { return APART ? v[t][e] + change[t][e] : v[t][e]; }
    // The entries of step s of a sum over the columns of that V.
    __device__ __forceinline__ void operand(int s, double (&a)[2]) const {
        a[0] = at(s / 2, s % 2);
        a[1] = at(s / 2, 2 + s % 2);
    }
    // Adds them to V, after the last product.
    __device__ __forceinline__ void finish() {
#pragma unroll
        for (int e = 0; e < 4 * V_EIGHTS; ++e) v[e / 4][e % 4] = at(e / 4, e % 4);
    }
};

// The products L + (L (M - 1) + V N) and V - L P of a panel, sixteen columns of L at a time, each a batch of copies. As
// soon as sixteen columns are in registers, those of the next panel are fetched in their place, if there are `more`.
// INSIDE: L has all entries of the block's rows. `halfway` is called in the middle.
template <bool INSIDE, class S, class Halfway>
struct NewColumns {
    typedef double OldSixteen[4][2], Sixteen[2][4];  // columns of L as an operand, and of a product
    const MmaLane& at;
    const WarpRowsOfL<S>& rows_of_l;
    const double* record;
    long long column;
    ChangeOfV<S>& v;
    bool more;
    const Halfway& halfway;
    S* to;  // the thread's first row in its first column

    // Adds the correction to the sixteen columns PART of L and stores them.
    template <int PART>
    __device__ __forceinline__ void finish(const OldSixteen& old, const Sixteen& sum) const {
        const long long stride = rows_of_l.sweep.l_stride;
#pragma unroll
        for (int four = 0; four < 4; ++four) {
            const int j = 16 * PART + 4 * four;
            const double (&l)[2] = old[four];
            const double first = l[0] + sum[four / 2][four % 2], second = l[1] + sum[four / 2][2 + four % 2];
            if (INSIDE) {
                store_pair(to + j * stride, (S)first, (S)second);
            } else {
                const long long own = column + j + at.q;
                const double pivot = record[PIVOTS_AT + j + at.q];
                rows_of_l.store(0, own, own == rows_of_l.row ? pivot : first);
                rows_of_l.store(1, own, own == rows_of_l.row + 1 ? pivot : second);
            }
        }
    }

    // The sixteen columns PART and all after them. The products for V come last and are in flight while L is stored:
    // then old L and its correction need no registers during the next sixteen columns.
    template <int PART>
    __device__ __forceinline__ void gemm() const {
        copy_async_wait<PANEL_COLS / 16 - 1>();
        OldSixteen l;
        rows_of_l.template load_columns<16>(at, column, 16 * PART, INSIDE, l);
        if constexpr (PART == PANEL_COLS / 32) halfway();
        if (more) rows_of_l.template fetch_columns<16>(at, column + PANEL_COLS, 16 * PART);
        copy_async_commit();
        const double* const m = record + M_AT + PART * M_OF_SIXTEEN;
        Sixteen sum = {};
        gemm_half_fragment(at, sum[0], l, m);
        gemm_fragment(at, sum[1], l, m + FRAGMENT / 2);
#pragma unroll
        for (int step = 0; step < V_SIXTEENS; ++step) {
            double v_before[4][2];  // V before it is changed by these columns of L
#pragma unroll
            for (int s = 0; s < 4; ++s) v.operand(4 * step + s, v_before[s]);
#pragma unroll
            for (int t = 0; t < 2; ++t)
                gemm_fragment(at, sum[t], v_before, record + N_AT + (V_SIXTEENS * (2 * PART + t) + step) * FRAGMENT);
        }
#pragma unroll
        for (int t = 0; t < V_EIGHTS; ++t)
            gemm_fragment(at, v.sum()[t], l, record + P_AT + (V_EIGHTS * PART + t) * FRAGMENT);
        finish<PART>(l, sum);
        if constexpr (PART + 1 < PANEL_COLS / 16) gemm<PART + 1>();
    }
};

// V <- V - L P.
template <class T>
__device__ __forceinline__ void update_v(const MmaLane& at, const double* record, RowsInRegisters& rows) {
    ChangeOfV<T> v(rows.v);
#pragma unroll
    for (int step = 0; step < K_STEPS / 4; ++step)
#pragma unroll
        for (int t = 0; t < V_EIGHTS; ++t)
            gemm_fragment(at, v.sum()[t], rows.l + 4 * step, record + P_AT + (V_EIGHTS * step + t) * FRAGMENT);
    v.finish();
}

// Transforms L and V by products. L of the panel has been fetched by sixteens; if there are `more`, those of the next
// panel are when this returns. `halfway` is called in the middle.
template <class T, class Halfway>
__device__ __forceinline__ void update_l_and_v(const MmaLane& at, const WarpRowsOfL<T>& rows_of_l,
                                               const double* record, long long column, VRows& v, bool more,
                                               const Halfway& halfway) {
    ChangeOfV<T> change(v);
    T* const to = rows_of_l.sweep.to + (column + at.q) * rows_of_l.sweep.l_stride + rows_of_l.row;
    // All warps take the same branch: they meet in `halfway`.
    if (rows_of_l.all_inside(at, column))
        NewColumns<true, T, Halfway>{at, rows_of_l, record, column, change, more, halfway, to}.template gemm<0>();
    else
        NewColumns<false, T, Halfway>{at, rows_of_l, record, column, change, more, halfway, to}.template gemm<0>();
    change.finish();
}

// Applies the reflectors of a panel in the Householder fallback. STORES: the new L is stored; otherwise only V
// changes.
//
// Columns of L are shifted out of their registers to the left, four at a time, so that one loop body serves all. The
// rows of the panel's own diagonal block come from the record at `diagonal`: where little is left of a pivot, they must
// have the same roundings.
template <bool STORES, bool INTERCHANGED, class T>
__device__ __forceinline__ void apply_columns(const MmaLane& at, const WarpRowsOfL<T>& rows_of_l,
                                              const double* record, const double* diagonal, long long column,
                                              RowsInRegisters& rows) {
#pragma unroll 1
    for (int s = 0; s < K_STEPS; ++s) {
        double x[2];
#pragma unroll(INTERCHANGED ? 1 : 4)
        for (int c = 0; c < 4; ++c) {
            double l[2], d[2];
#pragma unroll
            for (int which = 0; which < 2; ++which) l[which] = __shfl_sync(ALL_LANES, rows.l[0][which], c, 4);
            const int j = 4 * s + c;
            reflect<INTERCHANGED, T>(at, record + P_AT + j * RANK_BLOCK, record[N_AT + j], record[N_AT + PANEL_COLS + j],
                       record[N_AT + 2 * PANEL_COLS + j], l, rows.v, d);
#pragma unroll
            for (int which = 0; which < 2; ++which)
                if (at.q == c) x[which] = l[which] + d[which];
        }
#pragma unroll
        for (int which = 0; which < 2; ++which) {
            if (STORES) {
                const long long i = rows_of_l.row + which - column;
                const int j = 4 * s + at.q;
                if (j <= i && i < PANEL_COLS) x[which] = diagonal[(int)(i * (i + 1) / 2) + j];
                rows_of_l.store(which, column + j, x[which]);
            }
#pragma unroll
            for (int next = 1; next < K_STEPS; ++next) rows.l[next - 1][which] = rows.l[next][which];
        }
    }
}

// Stores the new L of a warp's rows, by value.
template <class T>
struct NewRows {
    T* to;
    long long l_stride, n, row;
};

// The same, not inlined in the kernel, and on a copy of the rows, so that this rare case takes no registers from the
// rest.
template <bool STORES, class T>
__device__ __noinline__ void apply_apart(NewRows<T> new_rows, const double* record, const double* diagonal,
                                         long long column,
                                         RowsInRegisters& rows) {
    const MmaLane at;
    Sweep<T> sweep = {};
    sweep.to = new_rows.to;
    sweep.l_stride = new_rows.l_stride;
    sweep.n = new_rows.n;
    const WarpRowsOfL<T> rows_of_l{sweep, new_rows.row, nullptr};
    if (any_interchange(at, record + N_AT + 2 * PANEL_COLS))
        apply_columns<STORES, true>(at, rows_of_l, record, diagonal, column, rows);
    else
        apply_columns<STORES, false>(at, rows_of_l, record, diagonal, column, rows);
}

template <bool STORES, class T>
__device__ __forceinline__ void apply_reflectors(const MmaLane& at, const WarpRowsOfL<T>& rows_of_l,
                                                 const double* record, long long column,
                                                 RowsInRegisters& rows) {
    const double* const diagonal = rows_of_l.sweep.records + column / PANEL_COLS * RECORD + DIAGONAL_AT;
    // The kernel of wide rank blocks has no free registers.
    if constexpr (RANK_BLOCK > 16) {
        const Sweep<T>& sweep = rows_of_l.sweep;
        RowsInRegisters copy = rows;
        apply_apart<STORES>(NewRows<T>{sweep.to, sweep.l_stride, sweep.n, rows_of_l.row}, record,
                            diagonal, column, copy);
        rows = copy;
    } else if (any_interchange(at, record + N_AT + 2 * PANEL_COLS)) {
        apply_columns<STORES, true>(at, rows_of_l, record, diagonal, column, rows);
    } else {
        apply_columns<STORES, false>(at, rows_of_l, record, diagonal, column, rows);
    }
}
