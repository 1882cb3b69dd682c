// Through the diagonal blocks of a group of panels: a part of sweep.cu.
#pragma once
#include "resident/frame.cuh"
#include "resident/weigh.cuh"

// V, and behind panels that are not careful -P in its place; -P of the panel at hand; its P^T P; a matrix of 16 x 16; G
// before each panel. (row-major, LD)
struct Shared {
    double v[HEIGHT * LD], p[ROWS * LD];
    Gram own;
    double g[COLUMNS * LD], gram[GROUP][COLUMNS * LD];
};

// A warp's 16 rows of V through a panel's reflectors: of L, rows before `height`, counted from the warp's first.
template <class T>
__device__ __forceinline__ void past_reflectors(const Lane& at, const T* l, long long l_stride,
                                                long long height, const double* b, const double* scale,
                                                Tile& v) {
    l += at.row;
#pragma unroll 8
    for (int j = 0; j < ROWS; ++j) {
        double entry[2], d[2];
#pragma unroll
        for (int which = 0; which < 2; ++which)
            entry[which] = at.row + 8 * which < height ? (double)l[8 * which] : 0.0;
        reflect(at, b + j * COLUMNS, scale[j], scale[ROWS + j], entry, v, d);
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
    double *const scales = shared.g + 2 * COLUMNS, *const b = shared.p; // S rho, and behind it x
    double* const record = sweep.records + (long long)panel * RECORD;
    double x[E];
    Pivot own = {};
#pragma unroll
    for (int r = 0; r < E; ++r) x[r] = v[i * LD + at.column(r / 2, r % 2)];
    __syncthreads();
    load_block(d, l, sweep.l_stride, cols);
    __syncthreads();
    const int done = eliminate<T>(d, staged, x, sweep.sign, cols, own);
    __syncthreads();
    // What comes before a breakdown is good, and a later sweep may find an earlier one: from it on, identities.
    const long long first = sweep.number + (long long)panel * ROWS;
    if (done < cols && threadIdx.x == 0) atomicMin(sweep.status, (int)(first + done) + 1);
    if (i >= done) own = {1.0, 2.0, 0.0};
#pragma unroll
    for (int r = 0; r < E; ++r) {
        const int place = i * COLUMNS + at.column(r / 2, r % 2);
        b[place] = record[P_AT + place] = i < done ? x[r] : 0.0;
    }
    scales[i] = record[N_AT + i] = sweep.sign * own.rho; // the same from all four
    scales[ROWS + i] = record[N_AT + ROWS + i] = own.excess;
    if (i < cols && at.q == 0) sweep.pivots[(long long)panel * ROWS + i] = (T)d[i][i];
    for (int j = at.q; j <= i; j += LANES) record[M_AT + i * (i + 1) / 2 + j] = d[j][i];
    __syncthreads();
    for (int row = ROWS + 16 * at.warp; row < height; row += 16 * (THREADS / 32)) {
        Tile rest = {};
        add(at, v + row * LD, rest);
        past_reflectors(at, l + row, sweep.l_stride, height - row, b, scales, rest);
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

// -P to or from its record.
template <bool FROM>
__device__ __forceinline__ void exchange(const Lane& at, double* record, double* p) {
#pragma unroll
    for (int s = 0; s < 4; ++s) {
        double& in_record = record[P_AT + at.warp * FRAGMENT + in_fragment(s, at.lane)];
        double& in_p = p[(at.warp / 2 * 16 + 4 * s + at.q) * LD + at.warp % 2 * 8 + at.row];
        if (FROM)
            in_p = in_record;
        else
            store_relaxed(&in_record, in_p);
    }
}

// What goes from group to group.
struct State {
    double total = 0; // the thread's entry of G
    double begun = 0; // whether G is not zero
};

// The panels of a group from `first` on, with its rows of V in shared memory: their P or reflectors, and how they go,
// into the records. `refined`: for either panel, whether P needs it.
template <class T>
__device__ __forceinline__ void solve(Shared& shared, const Tiles<T>& tiles, const Sweep<T>& sweep, int first,
                                      const State& before, const int (&refined)[GROUP]) {
    const Share share;
    const Lane& at = share.at;
    const int r = threadIdx.x / COLUMNS, c = threadIdx.x % COLUMNS;
    const bool alone = sweep.n <= ROWS;
    const double small = alone ? MOST_PLUS_ALONE : SMALL_P;
    const double limit = sweep.sign > 0.0 ? (alone ? MOST_PLUS_ALONE : MOST_PLUS)
                                          : (alone ? MOST_MINUS_ALONE : MOST_MINUS);
    double total = before.total;
    bool begun = before.begun != 0.0;
    copy_async_wait_all();
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < tiles.panels; ++j) {
        double* const v = shared.v + j * ROWS * LD;
        double* const record = sweep.records + (long long)(first + j) * RECORD;
        const T* const l = tiles.l + j * ROWS * (tiles.l_stride + 1);
        const int height = tiles.rows - j * ROWS;
        const bool below = j + 1 < tiles.panels;
        int how = 0;
        bool good;
        double entry, next[4];
#pragma unroll 1
        for (;;) {
            const double* const inverse = tiles.get(2 * j);
            double p[4] = {};
            share.multiply(inverse, v, share.row / 16 + 1, p); // as far as the triangle goes
#pragma unroll
            for (int e = 0; e < 4; ++e) share.entry(shared.p, e) = -p[e];
            __syncthreads();
            if (j == 0 ? refined[0] : refined[1])
                refine(share, shared, inverse, v, l, tiles.l_stride, height, p);
            // What is stored before it is known to be good is stored again if it is not; nobody takes it before.
            exchange<false>(at, record, shared.p);
            shared.own.put(at, shared.p);
            if (below) {
                const double* const tile = tiles.get(1);
#pragma unroll
                for (int e = 0; e < 4; ++e) next[e] = share.entry(v + ROWS * LD, e);
                share.multiply((const T*)tile, shared.p, STEPS / 4, next);
            }
            __syncthreads();
            entry = shared.own.sum(r * LD + c);
            shared.gram[j][r * LD + c] = total;
            store_relaxed(record + G_AT + threadIdx.x, total + entry);
            good = is_good(total + entry, limit);
            if (good || !begun) break;
            shared.g[r * LD + c] = total;
            __syncthreads();
            root(shared.g, (double(*)[2][COLUMNS])shared.p, sweep.sign, small);
            __syncthreads();
            renew_all(share, v, tiles.panels - j, shared.g, record + FRAME_AT);
            __syncthreads();
            total = 0;
            begun = false;
            how = RENEWED;
        }
        if (!good) {
            shared.g[r * LD + c] = entry;
            __syncthreads();
            good = root(shared.g, (double(*)[2][COLUMNS])shared.p, sweep.sign, small);
            __syncthreads();
            exchange<true>(at, record, shared.p);
            __syncthreads();
        }
        if (good) {
            total += entry;
            begun = true;
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                share.entry(v, e) = share.entry(shared.p, e);
                if (below) share.entry(v + ROWS * LD, e) = next[e];
            }
        } else {
            how |= CAREFUL;
            column_by_column(shared, (double(*)[ROWS + 1]) tiles.slot(0), sweep, first + j, l, v, height);
            store_relaxed(record + G_AT + threadIdx.x, total);
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            record[HOW_AT] = how;
            record[BEGUN_AT] = begun;
            store_relaxed(record + TOLD_AT, how);
        }
        __syncthreads();
    }
    // A mark waits for all that the block has written: the next group, which must not wait as long, listens to the words
    // themselves (flow.cuh).
    if (threadIdx.x < tiles.panels) {
        const int panel = first + threadIdx.x;
        mark(sweep, panel, PLACED | (int)sweep.records[(long long)panel * RECORD + HOW_AT]);
    }
    __syncthreads();
}

// N and M of a group's panels, a warp for each sixteen columns; and how they go, which `solve` has left with -P.
template <class T>
__device__ __forceinline__ void weigh_all(const Shared& shared, Weights* weights, const Sweep<T>& sweep,
                                          int first, int panels) {
    const int warp = threadIdx.x / 32, own = warp / PARTS, part = warp % PARTS, panel = first + own;
    const int how = own < panels ? how_far(sweep, panel) & (RENEWED | CAREFUL) : CAREFUL;
    if (!(how & CAREFUL) && (long long)panel * ROWS + part * COLUMNS < sweep.n)
        weigh(weights[warp], sweep, panel, part, shared.v + own * ROWS * LD, shared.gram[own]);
    __syncthreads();
    if (threadIdx.x % (PARTS * 32) == 0 && own < panels) mark(sweep, panel, WEIGHED | how);
    __syncthreads();
}
