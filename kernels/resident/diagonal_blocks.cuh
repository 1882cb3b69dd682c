// Solves the diagonal blocks of a row block: computes P of each panel, decides whether the panel rebases or takes the
// Householder fallback, and stores what the rows below need to the panel's record.
#pragma once
#include "resident/basis.cuh"
#include "resident/bennett.cuh"

// Shared memory of a critical-path task at its diagonal blocks. (row-major, V_STRIDE)
struct DiagonalShared {
    double v[ROW_BLOCK * V_STRIDE];  // V; after panels that were solved one by one without fallback, -P in its place
    double p[ROW_BLOCK_PANELS][PANEL_COLS * V_STRIDE];  // -P of both panels, or in p[0] that of the current one
    Gram own[ROW_BLOCK_PANELS];                         // P^T P of each panel
    double g[RANK_BLOCK * V_STRIDE];  // a matrix (RANK_BLOCK x RANK_BLOCK)
    double gram[ROW_BLOCK_PANELS][RANK_BLOCK * V_STRIDE];  // G before each panel
};

// The basis after the panels so far.
struct BasisState {
    GramValues gram = {};  // the thread's entries of G
    double used = 0;       // whether G is not zero
};

// Transforms a warp's 16 rows of V by a panel's reflectors. `l`: the panel's column 0 in the warp's first row; rows
// from `height` on, counted from there, do not exist.
template <bool INTERCHANGED, class T>
__device__ __forceinline__ void v_through_reflectors(const MmaLane& at, const T* l, long long l_stride,
                                                     long long height, const double* b, const double* scale,
                                                     VRows& v) {
    l += first_row(at);
#pragma unroll(INTERCHANGED ? 1 : 8)
    for (int j = 0; j < PANEL_COLS; ++j) {
        double entry[2], d[2];
#pragma unroll
        for (int which = 0; which < 2; ++which)
            entry[which] = first_row(at) + which < height ? (double)l[which] : 0.0;
        reflect<INTERCHANGED, T>(at, b + j * RANK_BLOCK, scale[j], scale[PANEL_COLS + j], scale[2 * PANEL_COLS + j], entry, v, d);
        l += l_stride;
    }
}

// The same where columns are interchanged, not inlined in the kernel.
template <class T>
__device__ __noinline__ void v_through_interchanges(const T* l, long long l_stride, long long height, const double* b,
                                                    const double* scale, double* v) {
    const MmaLane at;
    VRows rows;
    load_v(at, v, rows);
    v_through_reflectors<true>(at, l, l_stride, height, b, scale, rows);
    store_v(at, v, rows);
}

// Where a panel's fallback stores its results, and its arguments from the sweep.
template <class T>
struct Fallback {
    double* record;
    T* pivots;  // of the panel
    int* status;
    long long first_column;  // the panel's, in the whole factor
    long long l_stride;
    double sign;
    const Peers* peers;
};

// The Householder fallback of a panel: stores its reflectors to the record, and transforms V of the row block's rows
// below by them.
//     d       room for the diagonal block; p[0] and g of `shared` are overwritten as well
//     l       the panel's diagonal entry, with `height` rows from there on
//     v       V from the panel's first row on
template <class T>
__device__ __forceinline__ void householder_fallback(DiagonalShared& shared, double (*d)[PANEL_COLS + 1],
                                                     const Fallback<T>& panel, const T* l, double* v,
                                                     int height) {
    const MmaLane at;
    const int i = threadIdx.x / ROW_THREADS, cols = min(height, PANEL_COLS);
    double (*const staged)[RANK_BLOCK] = (double (*)[RANK_BLOCK])shared.g;
    double *const scales = shared.g + 2 * RANK_BLOCK, *const b = shared.p[0];  // S rho, x, and interchanges
    static_assert(2 * RANK_BLOCK + 3 * PANEL_COLS <= RANK_BLOCK * V_STRIDE, "all of these fit in g");
    double* const record = panel.record;
    const auto store = [&](int at, double x) {
        record[at] = x;
        store_there(panel.peers, record + at, x);
    };
    double x[ROW_ENTRIES];
    Pivot own = {};
#pragma unroll
    for (int r = 0; r < ROW_ENTRIES; ++r) x[r] = v[i * V_STRIDE + at.column(r / 2, r % 2)];
    __syncthreads();
    load_block(d, l, panel.l_stride, cols);
    __syncthreads();
    const int done = eliminate<T>(d, staged, x, panel.sign, cols, own);
    __syncthreads();
    // Columns before a breakdown are valid, and a later sweep may break down at an earlier column. From the breakdown
    // on the reflectors are identities.
    if (done < cols && threadIdx.x == 0) atomicMin(panel.status, (int)(panel.first_column + done) + 1);
    if (i >= done) own = {1.0, 2.0, 0.0};
#pragma unroll
    for (int r = 0; r < ROW_ENTRIES; ++r) {
        const int entry = i * RANK_BLOCK + at.column(r / 2, r % 2);
        b[entry] = i < done ? x[r] : 0.0;
        store(P_AT + entry, b[entry]);
    }
    scales[i] = panel.sign * own.rho;  // all four threads of the row store the same
    scales[PANEL_COLS + i] = own.excess;
    scales[2 * PANEL_COLS + i] = own.interchange;
#pragma unroll
    for (int e = 0; e < 3; ++e) store(N_AT + e * PANEL_COLS + i, scales[e * PANEL_COLS + i]);
    if (i < cols && at.q == 0) panel.pivots[i] = i < done ? (T)d[i][i] : no_pivot<T>();
    for (int j = at.q; j <= i; j += ROW_THREADS) store(DIAGONAL_AT + i * (i + 1) / 2 + j, d[j][i]);
    __syncthreads();
    const bool interchanged = any_interchange(at, scales + 2 * PANEL_COLS);
    for (int row = PANEL_COLS + WARP_ROWS * at.warp; row < height; row += WARP_ROWS * WARPS) {
        if (interchanged) {
            v_through_interchanges(l + row, panel.l_stride, height - row, b, scales, v + row * V_STRIDE);
            continue;
        }
        VRows rest;
        load_v(at, v + row * V_STRIDE, rest);
        v_through_reflectors<false>(at, l + row, panel.l_stride, height - row, b, scales, rest);
        store_v(at, v + row * V_STRIDE, rest);
    }
    __syncthreads();
}

// One step of iterative refinement of P, where the inverse of an ill-conditioned D is less accurate than a triangular
// solve: P <- P + D^-1 (V_D - D P). `p` is the thread's part of P; -P lies in shared.p before and after.
template <class T>
__device__ __forceinline__ void refine_p(const DiagonalPart& part, DiagonalShared& shared,
                                         const double* inverse, double* v, const T* l, long long l_stride,
                                         int height, DiagonalPart::Entries& p) {
    const MmaLane& at = part.at;
    DiagonalPart::Entries rest;
#pragma unroll
    for (int e = 0; e < DiagonalPart::ENTRIES; ++e) rest[e] = part.entry(v, e);
    l += part.row + at.row + at.q * l_stride;
#pragma unroll 1
    for (int step = 0; step <= part.row / 16; ++step) {
        double x[4][2], y[V_SIXTEENS][4];
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            const int column = 16 * step + 4 * s + at.q;
#pragma unroll
            for (int which = 0; which < 2; ++which) {
                const int row = part.row + at.row + 8 * which;
                x[s][which] = row < height && column <= row
                                  ? (double)l[(16 * step + 4 * s) * l_stride + 8 * which]
                                  : 0.0;
            }
#pragma unroll
            for (int t = 0; t < V_SIXTEENS; ++t)
                y[t][s] = shared.p[0][column * V_STRIDE + part.column + 8 * t + at.row];
        }
#pragma unroll
        for (int t = 0; t < V_SIXTEENS; ++t) mma_m16n8k16_f64(DiagonalPart::of_product(rest, t), x, y[t]);
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < DiagonalPart::ENTRIES; ++e) part.entry(shared.p[0], e) = rest[e];
    __syncthreads();
    part.gemm(inverse, shared.p[0], part.row / 16 + 1, p);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < DiagonalPart::ENTRIES; ++e) part.entry(shared.p[0], e) = -p[e];
    __syncthreads();
}

// Copies -P between shared memory and its record. The stores are relaxed: they are the payload. The lanes of a warp
// store 512 bytes in a row; scattered words would take longer than reading -P from shared memory.
template <bool FROM_RECORD>
__device__ __forceinline__ void exchange_p(const MmaLane& at, double* record, double* p, const Peers* peers) {
#pragma unroll
    for (int i = 0; i < PANEL_COLS / 16 * V_EIGHTS / WARPS; ++i) {
        const int f = WARPS * i + at.warp;
#pragma unroll
        for (int s = 0; s < 4; s += 2) {
            double* const in_record = record + P_AT + f * FRAGMENT + in_fragment(s, at.lane);
            double* const in_p = p + (f / V_EIGHTS * 16 + 4 * s + at.q) * V_STRIDE + f % V_EIGHTS * 8 + at.row;
            if (FROM_RECORD) {
                in_p[0] = in_record[0];
                in_p[4 * V_STRIDE] = in_record[1];
            } else {
                store_relaxed(in_record, in_p[0], in_p[4 * V_STRIDE]);
                if (IS_DISTRIBUTED) publish_there(peers, in_record, in_p[0], in_p[4 * V_STRIDE]);
            }
        }
    }
}

// By one thread: stores a panel's mode to its record, and whether G is not zero, and publishes `published` for readers
// of the payload.
__device__ __forceinline__ void publish_mode(const Peers* peers, double* record, int mode, bool used,
                                             int published) {
    record[MODE_AT] = mode;
    store_there(peers, record + MODE_AT, mode);
    record[BASIS_USED_AT] = used;
    store_there(peers, record + BASIS_USED_AT, used);
    publish_word(peers, record + PUBLISHED_MODE_AT, published);
}

// A warp's rows of a tile (64 x 64) as first operands of a product, and that product. They are loaded before the other
// operand is there.
template <class S>
struct TileOperand {
    double x[PANEL_COLS / 16][4][2];

    __device__ __forceinline__ TileOperand(const DiagonalPart& part, const double* tile) {
        const S* const a = (const S*)tile + part.at.q * tile_stride<1, S>() + part.row + part.at.row;
#pragma unroll
        for (int s = 0; s < K_STEPS; ++s)
#pragma unroll
            for (int half = 0; half < 2; ++half)
                x[s / 4][s % 4][half] = (double)a[4 * s * tile_stride<1, S>() + 8 * half];
    }

    // C <- C + A B for `steps` sixteens of the sum (B row-major).
    __device__ __forceinline__ void gemm(const DiagonalPart& part, const double* b, int steps,
                                         DiagonalPart::Entries& c) const {
        b += part.at.q * V_STRIDE + part.column + part.at.row;
#pragma unroll
        for (int step = 0; step < PANEL_COLS / 16; ++step) {
            if (step >= steps) break;
#pragma unroll
            for (int t = 0; t < V_SIXTEENS; ++t) {
                double y[4];
#pragma unroll
                for (int s = 0; s < 4; ++s) y[s] = b[(16 * step + 4 * s) * V_STRIDE + 8 * t];
                mma_m16n8k16_f64(DiagonalPart::of_product(c, t), x[step], y);
            }
        }
    }
};

// Solves all panels of a row block, as solve_panels, in one basis, and publishes P before it is known whether it is
// valid: the next row block waits for it. All tiles are in shared memory, and V is after the next barrier. Returns
// whether P is valid; if not, V is as it was.
template <class T>
__device__ __forceinline__ bool solve_together(DiagonalShared& shared, const DiagonalTiles<T>& tiles,
                                               const Sweep<T>& sweep, int first, const BasisState& before) {
    const DiagonalPart part;
    const MmaLane& at = part.at;
    const GramEntries own;
    constexpr int ENTRIES = DiagonalPart::ENTRIES;
    const bool two = tiles.panels == ROW_BLOCK_PANELS;
    const int steps = part.row / 16 + 1;  // as far as a triangle goes
    double* const below = shared.v + PANEL_COLS * V_STRIDE;
    double* const record = sweep.records + (long long)first * RECORD;
    DiagonalPart::Entries p = {}, old;
    const TileOperand<double> first_inverse(part, tiles.slot(0));
    __syncthreads();
    first_inverse.gemm(part, shared.v, steps, p);
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) part.entry(shared.p[0], e) = -p[e];
    if (two) {
        const TileOperand<T> l(part, tiles.slot(1));
        __syncthreads();
        exchange_p<false>(at, record, shared.p[0], sweep.peers);
#pragma unroll
        for (int e = 0; e < ENTRIES; ++e) {
            old[e] = part.entry(below, e);
            p[e] = 0;
        }
        l.gemm(part, shared.p[0], K_STEPS / 4, p);
#pragma unroll
        for (int e = 0; e < ENTRIES; ++e) part.entry(below, e) = old[e] + p[e];
        const TileOperand<double> inverse(part, tiles.slot(2));
        __syncthreads();
#pragma unroll
        for (int e = 0; e < ENTRIES; ++e) p[e] = 0;
        inverse.gemm(part, below, steps, p);
#pragma unroll
        for (int e = 0; e < ENTRIES; ++e) part.entry(shared.p[1], e) = -p[e];
    }
    __syncthreads();
    exchange_p<false>(at, two ? record + RECORD : record, two ? shared.p[1] : shared.p[0], sweep.peers);
#pragma unroll
    for (int j = 0; j < ROW_BLOCK_PANELS; ++j) {
        const int warp = (at.warp + WARPS - j * Gram::USED_WARPS) % WARPS;
        if (j < tiles.panels && warp < Gram::USED_WARPS) shared.own[j].syrk(at, warp, shared.p[j]);
    }
    __syncthreads();
    GramValues total;
#pragma unroll
    for (int e = 0; e < GramEntries::COUNT; ++e) total[e] = before.gram[e];
    bool valid = true;
#pragma unroll
    for (int j = 0; j < ROW_BLOCK_PANELS; ++j) {
        if (j >= tiles.panels) break;
        GramValues magnitudes;
#pragma unroll
        for (int e = 0; e < GramEntries::COUNT; ++e) {
            shared.gram[j][own.shared(e)] = total[e];
            total[e] += shared.own[j].sum(own.shared(e));
            magnitudes[e] = fabs(total[e]);
            publish_word(sweep.peers, record + j * RECORD + own.in_record(e), total[e]);
        }
        valid = gram_row_sum(magnitudes) <= (float)max_gram(sweep) && valid;
    }
    valid = __syncthreads_and(valid);
    if (valid) {
        if (threadIdx.x < tiles.panels) publish_mode(sweep.peers, record + threadIdx.x * RECORD, 0, true, 0);
    } else if (two) {
#pragma unroll
        for (int e = 0; e < ENTRIES; ++e) part.entry(below, e) = old[e];
    }
    __syncthreads();
    return valid;
}

// Publishes the flags of a row block's panels, after a barrier of the block, and without one at its end. The release of
// a flag waits for all writes of the block. The next row block cannot wait that long and polls the payload
// (payload.cuh).
template <class T>
__device__ __forceinline__ void publish_panels(const Sweep<T>& sweep, int first, int panels, int modes) {
    if (threadIdx.x < panels) {
        const int panel = first + threadIdx.x;
        publish_panel(sweep, panel, P_PUBLISHED | mode_of(modes, threadIdx.x));
    }
}

// What solve_panels returns.
struct SolvedPanels {
    const double* p;  // -P of the panels (row-major)
    int modes;        // as mode_of takes them
};

// Solves the panels of a row block from panel `first` on, with V of its rows in shared memory: together, if they can
// be, and one after the other if not. Publishes P or reflectors, the modes, and the panels' flags. `refined`: for each
// panel, whether P needs refinement. Does not end with a barrier: what has been written to shared memory is visible,
// and the first threads may still be publishing.
template <class T>
__device__ __forceinline__ SolvedPanels solve_panels(DiagonalShared& shared, const DiagonalTiles<T>& tiles,
                                             const Sweep<T>& sweep, int first, const BasisState& before,
                                             const bool (&refined)[ROW_BLOCK_PANELS]) {
    static_assert(2 * RANK_BLOCK * RANK_BLOCK <= PANEL_COLS * V_STRIDE, "invert_root's rows lie where P does");
    const DiagonalPart part;
    const MmaLane& at = part.at;
    const GramEntries own;
    constexpr int ENTRIES = GramEntries::COUNT;
    const bool together = tiles.all && !(refined[0] || refined[1]);
    if (together && solve_together(shared, tiles, sweep, first, before)) {
        publish_panels(sweep, first, tiles.panels, 0);
        return {shared.p[0], 0};
    }
    __syncthreads();  // V is in shared memory
    const bool one_panel = sweep.n <= PANEL_COLS;
    const double max_trace = one_panel ? MAX_GRAM_PLUS_ONE_PANEL : MAX_P_SQUARE;
    const double max_inverse = one_panel ? MAX_INVERSE_ONE_PANEL : MAX_INVERSE;
    const double limit = max_gram(sweep);
    GramValues total;
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) total[e] = before.gram[e];
    bool used = before.used != 0.0;
    int modes = 0;
#pragma unroll 1
    for (int j = 0; j < tiles.panels; ++j) {
        double* const v = shared.v + j * PANEL_COLS * V_STRIDE;
        double* const record = sweep.records + (long long)(first + j) * RECORD;
        const T* const l = tiles.l + j * PANEL_COLS * (tiles.l_stride + 1);
        const int height = tiles.rows - j * PANEL_COLS;
        const bool below = j + 1 < tiles.panels;
        int mode = 0;
        bool good;
        GramValues entry;
        DiagonalPart::Entries next;
        // Once, and once more in a new basis if the old one would be badly conditioned with this panel.
#pragma unroll 1
        for (;;) {
            const double* const inverse = tiles.get(2 * j);
            DiagonalPart::Entries p = {};
            part.gemm(inverse, v, part.row / 16 + 1, p);  // as far as the triangle goes
#pragma unroll
            for (int e = 0; e < DiagonalPart::ENTRIES; ++e) part.entry(shared.p[0], e) = -p[e];
            __syncthreads();
            if (j == 0 ? refined[0] : refined[1])
                refine_p(part, shared, inverse, v, l, tiles.l_stride, height, p);
            // Stored before it is known to be valid, and stored again if it is not. Readers of the payload use it at
            // once, and go back to the V from before if the mode says so.
            exchange_p<false>(at, record, shared.p[0], sweep.peers);
            if (at.warp < Gram::USED_WARPS) shared.own[j].syrk(at, at.warp, shared.p[0]);
            if (below) {
                const double* const tile = tiles.get(1);
#pragma unroll
                for (int e = 0; e < DiagonalPart::ENTRIES; ++e) next[e] = 0;
                part.gemm((const T*)tile, shared.p[0], K_STEPS / 4, next);
#pragma unroll
                for (int e = 0; e < DiagonalPart::ENTRIES; ++e) next[e] += part.entry(v + PANEL_COLS * V_STRIDE, e);
            }
            __syncthreads();
            GramValues magnitudes;
#pragma unroll
            for (int e = 0; e < ENTRIES; ++e) {
                entry[e] = shared.own[j].sum(own.shared(e));
                shared.gram[j][own.shared(e)] = total[e];
                publish_word(sweep.peers, record + own.in_record(e), total[e] + entry[e]);
                magnitudes[e] = fabs(total[e] + entry[e]);
            }
            good = row_sums_within(magnitudes, limit);
            if (good || !used) break;
#pragma unroll
            for (int e = 0; e < ENTRIES; ++e) shared.g[own.shared(e)] = total[e];
            __syncthreads();
            invert_root(shared.g, (double (*)[2][RANK_BLOCK])shared.p[0], sweep.sign, max_trace, max_inverse);
            __syncthreads();
            rebase_panels(part, v, tiles.panels - j, shared.g, record + BASIS_AT, sweep.peers);
            __syncthreads();
#pragma unroll
            for (int e = 0; e < ENTRIES; ++e) total[e] = 0;
            used = false;
            mode = REBASED;
        }
        if (!good) {
#pragma unroll
            for (int e = 0; e < ENTRIES; ++e) shared.g[own.shared(e)] = entry[e];
            __syncthreads();
            good = invert_root(shared.g, (double (*)[2][RANK_BLOCK])shared.p[0], sweep.sign, max_trace, max_inverse);
            __syncthreads();
            exchange_p<true>(at, record, shared.p[0], sweep.peers);
            __syncthreads();
        }
        if (good) {
#pragma unroll
            for (int e = 0; e < ENTRIES; ++e) total[e] += entry[e];
            used = true;
#pragma unroll
            for (int e = 0; e < DiagonalPart::ENTRIES; ++e) {
                part.entry(v, e) = part.entry(shared.p[0], e);
                if (below) part.entry(v + PANEL_COLS * V_STRIDE, e) = next[e];
            }
        } else {
            mode |= FALLBACK;
            const long long before = (long long)(first + j) * PANEL_COLS;
            const Fallback<T> panel = {record,       sweep.pivots + before, sweep.status, sweep.first_column + before,
                                       sweep.l_stride, sweep.sign,    sweep.peers};
            double (*const d)[PANEL_COLS + 1] = (double (*)[PANEL_COLS + 1]) tiles.slot(0);
            householder_fallback(shared, d, panel, l, v, height);
#pragma unroll
            for (int e = 0; e < ENTRIES; ++e) publish_word(sweep.peers, record + own.in_record(e), total[e]);
            __syncthreads();
        }
        modes |= mode << MODE_BITS * j;
        if (threadIdx.x == 0) publish_mode(sweep.peers, record, mode, used, mode | (together ? PUBLISHED_AGAIN : 0));
        __syncthreads();
    }
    publish_panels(sweep, first, tiles.panels, modes);
    return {shared.v, modes};
}

// Computes N and M - 1 of a row block's panels, a warp for each sixteen columns, and publishes them.
template <class T>
__device__ __forceinline__ void publish_coefficients(const DiagonalShared& shared, const SolvedPanels& solved,
                                                     BennettShared* bennett, const Sweep<T>& sweep, int first,
                                                     int panels) {
    const int warp = threadIdx.x / 32, own = warp / COEFFICIENT_WARPS, part = warp % COEFFICIENT_WARPS,
              panel = first + own;
    const int mode = own < panels ? mode_of(solved.modes, own) : FALLBACK;
    if (!(mode & FALLBACK) && (long long)panel * PANEL_COLS + part * BENNETT_COLS < sweep.n)
        bennett_coefficients(bennett[warp], BennettPanel<T>(sweep, panel), part, solved.p + own * PANEL_COLS * V_STRIDE,
                             shared.gram[own], shared.own[own]);
    __syncthreads();
    if (threadIdx.x % (COEFFICIENT_WARPS * 32) == 0 && own < panels)
        publish_panel(sweep, panel, COEFFICIENTS_PUBLISHED | mode);
}
