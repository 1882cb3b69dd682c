// The rows of L and V through panels whose products are known: the bulk of a sweep of the resident engine.
//
//     L <- L M + V N      V <- V - L P      for each panel, L its columns, both from the old L and V
//
// or column by column through its reflectors where the panel is careful: chain.cu and weigh.cuh say how they come
// about. All of it in double precision on tensor cores.
//
// Sweep, panel.cuh: from, records and pivots are read; to and v[1 - buffer] written, v[buffer] read. What is above the
// diagonal of L is neither read nor written. The new diagonal is `pivots`: the products give it too, but where L is
// small beside V perhaps with another sign.
//
// Launch: panels first .. first + count - 1 over all rows from the first one's diagonal on; blocks of 128 threads,
// each for 64 rows, and for those a grid of such further on. Dynamic shared memory of 2 STAGED doubles.
#include "panel.cuh"

constexpr int WARP_ROWS = 16;
constexpr int BULK_THREADS = 128;
constexpr int BLOCK_ROWS = BULK_THREADS / 32 * WARP_ROWS;

// A warp's rows: of L, 64 columns as products take them, and of V.
struct Rows {
    double l[STEPS][2];
    Tile v;
};

// Begins to copy a panel's record.
__device__ __forceinline__ void stage(double* shared, const double* record) {
    for (int e = 2 * threadIdx.x; e < STAGED; e += 2 * BULK_THREADS) copy_async_16(shared + e, record + e);
    copy_async_commit();
}

// Where a thread's entries of L are: its first row of two, from the sweep's first row on.
template <class T>
struct Place {
    const Sweep<T>& sweep;
    long long row;

    __device__ __forceinline__ bool there(int which, long long column) const {
        const long long i = row + 8 * which;
        return i < sweep.n && column <= i;
    }
    __device__ __forceinline__ void load(long long column, double (&l)[2]) const {
#pragma unroll
        for (int which = 0; which < 2; ++which)
            l[which] =
                there(which, column) ? (double)sweep.from[column * sweep.l_stride + row + 8 * which] : 0.0;
    }
    __device__ __forceinline__ void store(int which, long long column, double x) const {
        if (!there(which, column)) return;
        const bool diagonal = column == row + 8 * which;
        sweep.to[column * sweep.l_stride + row + 8 * which] = diagonal ? sweep.pivots[column] : (T)x;
    }
};

// c <- c + a b, b of fragments 0 .. COUNT - 1 at `b`, `step` apart; four steps of the sum.
template <int COUNT>
__device__ __forceinline__ void product(const Lane& at, double (&c)[4], const double (*a)[2], const double* b,
                                        int step) {
    double x[4][2], y[4];
#pragma unroll
    for (int s = 0; s < 4; ++s) {
        x[s][0] = s < COUNT ? a[s][0] : 0.0;
        x[s][1] = s < COUNT ? a[s][1] : 0.0;
        y[s] = s < COUNT ? b[s * step * FRAGMENT + at.lane] : 0.0;
    }
    mma_m16n8k16_f64(c, x, y);
}

// The eight columns T of the new L, and those before it. As soon as columns of the old one are done with, those of
// the next panel are loaded in their place, if there is one (`more`). INSIDE: all entries are there; `to` and `from`
// are then the places of the first column that is stored and of the last of the thread's that is loaded.
template <int T, bool INSIDE, class S>
__device__ __forceinline__ void columns(const Lane& at, const Place<S>& place, const double* record,
                                        long long column, bool more, const double (&v)[4][2],
                                        double (&l)[STEPS][2], S* to, const S* from) {
    const long long stride = place.sweep.l_stride;
    double sum[2][4] = {}; // two chains
    product<4>(at, sum[0], v, record + N_AT + 4 * T * FRAGMENT, 1);
    const double* const m = record + M_AT + T * (T + 1) * FRAGMENT;
#pragma unroll
    for (int step = 0; step < (T + 1) / 2; ++step)
        product<4>(at, sum[1 - step % 2], l + 4 * step, m + 4 * step * FRAGMENT, 1);
    if (T % 2 == 0) product<2>(at, sum[1 - T / 2 % 2], l + 2 * T, m + 2 * T * FRAGMENT, 1);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const double x = sum[0][e] + sum[1][e];
        if (INSIDE)
            to[e % 2 * stride + e / 2 * 8] = (S)x;
        else
            place.store(e / 2, column + at.column(T, e % 2), x);
    }
#pragma unroll
    for (int s = 2 * T + 1; s >= 2 * T; --s) {
        if (!more) break;
        if (INSIDE) {
            l[s][0] = (double)from[0];
            l[s][1] = (double)from[8];
            from -= 4 * stride;
        } else {
            place.load(column + ROWS + 4 * s + at.q, l[s]);
        }
    }
    if constexpr (T > 0) columns<T - 1, INSIDE>(at, place, record, column, more, v, l, to - 8 * stride, from);
}

// Both products.
template <class T>
__device__ __forceinline__ void multiply(const Lane& at, const Place<T>& place, const double* record,
                                         long long column, bool more, Rows& rows) {
    constexpr int LAST = ROWS / 8 - 1;
    double old[4][2];
#pragma unroll
    for (int s = 0; s < 4; ++s) take(rows.v, s, old[s]);
#pragma unroll
    for (int step = 0; step < STEPS / 4; ++step)
#pragma unroll
        for (int t = 0; t < 2; ++t)
            product<4>(at, rows.v[t], rows.l + 4 * step, record + P_AT + (8 * step + t) * FRAGMENT, 2);
    const long long first = place.row - at.row, stride = place.sweep.l_stride;
    if (first >= column + 2 * ROWS && first + WARP_ROWS <= place.sweep.n)
        columns<LAST, true>(at, place, record, column, more, old, rows.l,
                            place.sweep.to + (column + at.column(LAST, 0)) * stride + place.row,
                            place.sweep.from + (column + 2 * ROWS - 4 + at.q) * stride + place.row);
    else
        columns<LAST, false>(at, place, record, column, more, old, rows.l, (T*)0, (const T*)0);
}

// A careful panel. Columns leave on the left, four at a time, so that each four are the same code. The rows of its
// own block are known: where little is left of a pivot, they must be of the same roundings.
template <class T>
__device__ __forceinline__ void column_by_column(const Lane& at, const Place<T>& place, const double* record,
                                                 long long column, bool more, Rows& rows) {
#pragma unroll 1
    for (int s = 0; s < STEPS; ++s) {
        double x[2];
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            double l[2], u[2];
#pragma unroll
            for (int which = 0; which < 2; ++which) l[which] = __shfl_sync(ALL, rows.l[0][which], c, 4);
            reflect(at, record + P_AT + (4 * s + c) * COLUMNS, record[N_AT + 4 * s + c], place.sweep.sign, l,
                    rows.v, u);
#pragma unroll
            for (int which = 0; which < 2; ++which)
                if (at.q == c) x[which] = u[which] - l[which];
        }
#pragma unroll
        for (int which = 0; which < 2; ++which) {
            const long long i = place.row + 8 * which - column;
            const int j = 4 * s + at.q;
            if (j <= i && i < ROWS) x[which] = record[M_AT + (int)(i * (i + 1) / 2) + j];
            place.store(which, column + j, x[which]);
#pragma unroll
            for (int next = 1; next < STEPS; ++next) rows.l[next - 1][which] = rows.l[next][which];
        }
        if (more) place.load(column + ROWS + 4 * s + at.q, rows.l[STEPS - 1]);
    }
}

template <class T>
__device__ __forceinline__ void bulk(const Sweep<T>& sweep, int first, int count, int buffer) {
    DYNAMIC_SHARED(double, shared); // (STAGED, 2)
    const Lane at;
    const T* const v_from = buffer ? sweep.v[1] : sweep.v[0];
    T* const v_to = buffer ? sweep.v[0] : sweep.v[1];
    const long long begin = (long long)first * ROWS;
    for (long long block = begin + blockIdx.x * BLOCK_ROWS; block < sweep.n;
         block += gridDim.x * BLOCK_ROWS) {
        const Place<T> place{sweep, block + WARP_ROWS * at.warp + at.row};
        Rows rows;
#pragma unroll
        for (int s = 0; s < STEPS; ++s) place.load(begin + 4 * s + at.q, rows.l[s]);
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            const long long i = place.row + e % 4 / 2 * 8;
            rows.v[e / 4][e % 4] =
                i < sweep.n ? (double)v_from[at.column(e / 4, e % 2) * sweep.v_stride + i] : 0.0;
        }
        const double* record = sweep.records + (long long)first * RECORD;
        __syncthreads(); // what was staged for other rows has been read
        stage(shared, record);
        for (int panel = 0; panel < count; ++panel) {
            copy_async_wait_all();
            __syncthreads(); // this panel's record is there for all, and the last one's has been read
            const double* const staged = shared + panel % 2 * STAGED;
            const bool more = panel + 1 < count;
            if (more) stage(shared + (panel + 1) % 2 * STAGED, record + RECORD);
            const int how = (int)staged[HOW_AT];
            if (how & RENEWED) renew(at, record + FRAME_AT, rows.v);
            const long long column = begin + (long long)panel * ROWS;
            if (how & CAREFUL)
                column_by_column(at, place, staged, column, more, rows);
            else
                multiply(at, place, staged, column, more, rows);
            record += RECORD;
        }
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            const long long i = place.row + e % 4 / 2 * 8;
            if (i < sweep.n) v_to[at.column(e / 4, e % 2) * sweep.v_stride + i] = (T)rows.v[e / 4][e % 4];
        }
    }
}

#define BULK(T, NAME)                                                                                        \
    extern "C" __global__ void __launch_bounds__(BULK_THREADS, 3)                                            \
        bulk_##NAME(const Sweep<T> sweep, int first, int count, int buffer) {                                \
        bulk<T>(sweep, first, count, buffer);                                                                \
    }

BULK(float, f32)
BULK(double, f64)
