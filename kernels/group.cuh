// Through the diagonal blocks of a group of panels, by one block of threads: a part of chain.cu.
#pragma once
#include "frame.cuh"
#include "weigh.cuh"

// Behind the rows of V in `state`, a sum of two: G, and whether it is not zero.
constexpr int GRAM_STATE = 2 * HEIGHT * COLUMNS;
constexpr int BEGUN_STATE = GRAM_STATE + COLUMNS * COLUMNS;

// Of a block of threads: V and -P (row-major, LD), a matrix of 16 x 16, and behind it `ring` tiles, 1 or 3.
struct Shared {
    double v[HEIGHT * LD], p[ROWS * LD], g[COLUMNS * LD];
};

// A warp's 16 rows of V through a panel's reflectors: of L, rows before `height`, counted from the warp's first.
template <class T>
__device__ __forceinline__ void through(const Lane& at, const T* l, long long l_stride, long long height,
                                        const double* b, const double* rho, double sign, Tile& v) {
    l += at.row;
#pragma unroll 8
    for (int j = 0; j < ROWS; ++j) {
        double entry[2], u[2];
#pragma unroll
        for (int which = 0; which < 2; ++which)
            entry[which] = at.row + 8 * which < height ? (double)l[8 * which] : 0.0;
        reflect(at, b + j * COLUMNS, rho[j], sign, entry, v, u);
        l += l_stride;
    }
}

// A panel column by column: its reflectors into the record, and the rows of V below through them. `d`: room for the
// block; what P and G took is used as well. `l`: the panel's diagonal entry; `height`: rows from there on.
template <class T>
__device__ __forceinline__ void column_by_column(Shared& shared, double (*d)[ROWS + 1], const Sweep<T>& sweep,
                                                 int panel, const T* l, double* v, int height) {
    const Lane at;
    const int i = threadIdx.x / LANES, cols = min(height, ROWS);
    double(*const staged)[COLUMNS] = (double(*)[COLUMNS])shared.g;
    double *const all_rho = shared.g + 2 * COLUMNS, *const b = shared.p;
    double* const record = sweep.records + (long long)panel * RECORD;
    double x[E], rho = 0;
#pragma unroll
    for (int r = 0; r < E; ++r) x[r] = v[i * LD + at.column(r / 2, r % 2)];
    __syncthreads();
    load_block(d, l, sweep.l_stride, cols);
    __syncthreads();
    const int done = eliminate<T>(d, staged, x, sweep.sign, cols, rho);
    __syncthreads();
    // What comes before a breakdown is good, and a later sweep may find an earlier one: from it on, identities.
    const long long first = sweep.number + (long long)panel * ROWS;
    if (done < cols && threadIdx.x == 0) atomicMin(sweep.status, (int)(first + done) + 1);
    if (i >= done) rho = 2;
#pragma unroll
    for (int r = 0; r < E; ++r) {
        const int place = i * COLUMNS + at.column(r / 2, r % 2);
        b[place] = record[P_AT + place] = i < done ? x[r] : 0.0;
    }
    all_rho[i] = record[N_AT + i] = rho; // the same from all four
    if (i < cols && at.q == 0) sweep.pivots[(long long)panel * ROWS + i] = (T)d[i][i];
    for (int j = at.q; j <= i; j += LANES) record[M_AT + i * (i + 1) / 2 + j] = d[j][i];
    __syncthreads();
    for (int row = ROWS + 16 * at.warp; row < height; row += 16 * (THREADS / 32)) {
        Tile rest = {};
        add(at, v + row * LD, rest);
        through(at, l + row, sweep.l_stride, height - row, b, all_rho, sweep.sign, rest);
        put(at, v + row * LD, rest);
    }
    __syncthreads();
}

// What an inverse loses more than a substitution does, when D is ill-conditioned: -P from V_D and itself, once more.
// `p`: the thread's entries of P.
template <class T>
__device__ __forceinline__ void refine(const Share& share, Shared& shared, const double* inverse, double* v,
                                       const T* l, long long l_stride, int height, double (&p)[4]) {
    const Lane& at = share.at;
    double residual[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) residual[e] = share.entry(v, e);
    l += share.row + at.row + at.q * l_stride;
#pragma unroll 1
    for (int step = 0; step <= share.row / 16; ++step) {
        double x[4][2], y[4];
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            const int column = 16 * step + 4 * s + at.q;
#pragma unroll
            for (int which = 0; which < 2; ++which) {
                const int row = share.row + at.row + 8 * which;
                x[s][which] = row < height && column <= row
                                  ? (double)l[(16 * step + 4 * s) * l_stride + 8 * which]
                                  : 0.0;
            }
            y[s] = shared.p[column * LD + share.column + at.row];
        }
        mma_m16n8k16_f64(residual, x, y);
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < 4; ++e) share.entry(shared.p, e) = residual[e];
    __syncthreads();
    share.multiply(inverse, shared.p, share.row / 16 + 1, p);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < 4; ++e) share.entry(shared.p, e) = -p[e];
    __syncthreads();
}

// What is known of a group before V is.
template <class T>
struct Group {
    const T* l;
    int rows, panels, refined; // `refined`: a lane for each panel
    double gram;               // the thread's entry of G
    bool begun;                // G is not zero
    Ring<T> ring;

    __device__ __forceinline__ Group(double* memory, const Sweep<T>& sweep, int first, int ring_size)
        : l(sweep.from + (long long)first * ROWS * (sweep.l_stride + 1)),
          rows((int)min(sweep.n - (long long)first * ROWS, (long long)HEIGHT)),
          panels((rows + ROWS - 1) / ROWS),
          ring{memory + sizeof(Shared) / sizeof(double),      ring_size, panels, rows, l, sweep.l_stride,
               sweep.inverse + (long long)first * ROWS * ROWS} {
        ring.start(0);
        const int lane = threadIdx.x % 32;
        refined = lane < panels ? sweep.refine[first + lane] : 0;
        gram = first > 0 ? sweep.state[GRAM_STATE + threadIdx.x] : 0.0;
        begun = first > 0 && sweep.state[BEGUN_STATE] != 0.0;
    }
};

// -P to or from its record.
template <bool FROM>
__device__ __forceinline__ void exchange(const Lane& at, double* record, double* p) {
#pragma unroll
    for (int e = 0; e < ROWS * COLUMNS; e += THREADS) {
        const int fragment = e / FRAGMENT + at.warp;
        double& in_record = record[P_AT + e + threadIdx.x];
        double& in_p = p[(fragment / 2 * 4 + at.q) * LD + fragment % 2 * 8 + at.row];
        if (FROM)
            in_p = in_record;
        else
            in_record = in_p;
    }
}

// The panels of a group from `first` on: their P or reflectors, and how they go, into the records.
template <class T>
__device__ __forceinline__ void solve(double* memory, const Sweep<T>& sweep, int first,
                                      const Group<T>& group) {
    Shared& shared = *(Shared*)memory;
    const auto& ring = group.ring;
    const Share share;
    const Lane& at = share.at;
    const int r = threadIdx.x / COLUMNS, c = threadIdx.x % COLUMNS;
    const int rows = group.rows, panels = group.panels;
    const double limit = sweep.sign > 0.0 ? MOST_PLUS : MOST_MINUS;
    const T* l = group.l;
    double total = group.gram;
    bool begun = group.begun;
#pragma unroll 8
    for (int e = threadIdx.x; e < HEIGHT * COLUMNS; e += THREADS) {
        const double* const of_v = sweep.state + e;
        shared.v[e / COLUMNS * LD + c] =
            e / COLUMNS < rows ? __ldcg(of_v) + __ldcg(of_v + HEIGHT * COLUMNS) : 0.0;
    }

    int how = 0, tile = 0;
    const double* inverse = ring.next(0);
#pragma unroll 1
    for (int j = 0; j < panels;) {
        double* const v = shared.v + j * ROWS * LD;
        double* const record = sweep.records + (long long)(first + j) * RECORD;
        double p[4] = {};
        share.multiply(inverse, v, share.row / 16 + 1, p); // as far as the triangle goes
#pragma unroll
        for (int e = 0; e < 4; ++e) share.entry(shared.p, e) = -p[e];
        __syncthreads();
        if (__shfl_sync(ALL, group.refined, j))
            refine(share, shared, inverse, v, l, sweep.l_stride, rows - j * ROWS, p);
        if (at.warp < 2) gram(at, shared.p, shared.g);
        // The next panel's rows meanwhile, to be kept if all is well.
        double next[4];
        if (j + 1 < panels) {
            const double* const below = ring.next(tile + 1);
#pragma unroll
            for (int e = 0; e < 4; ++e) next[e] = share.entry(v + ROWS * LD, e);
            share.multiply((const T*)below, shared.p, STEPS / 4, next);
        } else {
            __syncthreads();
        }
        const double entry = shared.g[r * LD + c];
        bool good = is_good(total + entry, limit);
        if (!good) copy_async_wait_all();
        if (!good && begun) {
            shared.g[r * LD + c] = total;
            __syncthreads();
            ring.start(tile);
            root(shared.g, (double(*)[2][COLUMNS])shared.p, sweep.sign);
            __syncthreads();
            renew_all(share, v, panels - j, shared.g, record + FRAME_AT);
            total = 0;
            begun = false;
            how = RENEWED;
            inverse = ring.next(tile);
            continue;
        }
        // -P goes into the record before anything else takes its place.
        record[GRAM_AT + threadIdx.x] = total;
        exchange<false>(at, record, shared.p);
        if (!good) {
            __syncthreads();
            good = root(shared.g, (double(*)[2][COLUMNS])shared.p, sweep.sign);
            __syncthreads();
            exchange<true>(at, record, shared.p);
            ring.start(tile + 2);
        }
        if (good) {
            total += entry;
            begun = true;
            if (j + 1 < panels) {
                ++tile;
#pragma unroll
                for (int e = 0; e < 4; ++e) share.entry(v + ROWS * LD, e) = next[e];
            }
#pragma unroll 1
            for (int i = j + 2; i < panels; ++i) {
                const double* const below = ring.next(++tile);
                double* const rest = shared.v + i * ROWS * LD;
#pragma unroll
                for (int e = 0; e < 4; ++e) next[e] = share.entry(rest, e);
                share.multiply((const T*)below, shared.p, STEPS / 4, next);
#pragma unroll
                for (int e = 0; e < 4; ++e) share.entry(rest, e) = next[e];
            }
        } else {
            how |= CAREFUL;
            copy_async_wait_all();
            column_by_column(shared, (double(*)[ROWS + 1]) ring.slots, sweep, first + j, l, v,
                             rows - j * ROWS);
            tile = ring.of_panel(j + 1) - 1;
            ring.start(tile + 1);
        }
        if (threadIdx.x == 0) record[HOW_AT] = how;
        how = 0;
        l += ROWS * (sweep.l_stride + 1);
        if (++j < panels) inverse = ring.next(++tile);
    }
    copy_async_wait_all();
    sweep.state[GRAM_STATE + threadIdx.x] = total;
    if (threadIdx.x == 0) sweep.state[BEGUN_STATE] = begun;
}
