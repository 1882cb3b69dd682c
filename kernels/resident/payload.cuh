// A panel's payload: what the next row block needs of the panel, read before the panel's flag is set.
//
// The release of a panel's flag waits for all writes of its block, and comes with the last panel of a row block. The
// next row blocks cannot wait that long. They poll the record itself, whose words show whether they have been written:
// before a launch all bits of records are ones, which is no number, and no NaN that arithmetic gives.
//
// -P of a row block's panels is published before it is known whether it is valid. Readers use it at once, and keep the
// V from before. When they have the modes of both panels, and G after them, they know: if V stays in its basis, neither
// panel takes the Householder fallback, and -P has been published once, it is valid. Otherwise readers go back to the
// V from before, and wait for the panels' flags.
#pragma once
#include "resident/basis.cuh"
#include "resident/row_update.cuh"
#include "resident/unpublished.cuh"

// The number of panels before a row block's own that its critical-path task polls for payloads.
constexpr int PAYLOAD_PANELS = 8;

// What a thread polls of a panel: entries of -P.
//
// With rank blocks of 16 columns each warp has room for all of -P in registers. With 32 columns each warp polls a
// part, and the warps exchange the parts in shared memory.
struct Payload {
    static constexpr bool IN_PARTS = RANK_BLOCK > 16;
    static constexpr int OF_P = PANEL_COLS / 16 * V_EIGHTS, OWN = IN_PARTS ? OF_P / WARPS : OF_P;  // fragments
    double p[OWN][4];

    // The number of the warp's fragment f.
    __device__ static __forceinline__ int fragment(const MmaLane& at, int f) {
        return IN_PARTS ? WARPS * f + at.warp : f;
    }

    // Waits until all words are published, or the launch is to end.
    template <class T>
    __device__ __forceinline__ void poll(const MmaLane& at, const Sweep<T>& sweep, int panel) {
        const double* const record = sweep.records + (long long)panel * RECORD;
        Waiting waiting(sweep.peers);
        for (;;) {
            bool missing = false;
#pragma unroll
            for (int f = 0; f < OWN; ++f)
#pragma unroll
                for (int s = 0; s < 4; s += 2) {
                    load_relaxed(record + P_AT + fragment(at, f) * FRAGMENT + in_fragment(s, at.lane),
                                 p[f][s], p[f][s + 1]);
                    missing = missing || is_unpublished(p[f][s]) || is_unpublished(p[f][s + 1]);
                }
            if (!__any_sync(ALL_LANES, missing)) return;
            if (IS_DISTRIBUTED && __any_sync(ALL_LANES, waiting.ends())) return;
            if (at.lane == 0) spin_pause();
        }
    }

    // V <- V - L P, with the same bits as update_v; by all warps if they have parts. Payloads alternate between two
    // places in `shared`: `turn` counts them.
    template <class T>
    __device__ __forceinline__ void update_v(const MmaLane& at, double* shared, int& turn,
                                             RowsInRegisters& rows) const {
        if constexpr (IN_PARTS) {
            double* const all = shared + turn++ % 2 * (PANEL_COLS * RANK_BLOCK);
#pragma unroll
            for (int f = 0; f < OWN; ++f)
#pragma unroll
                for (int s = 0; s < 4; s += 2)
                    *(Word<double>*)(all + fragment(at, f) * FRAGMENT + in_fragment(s, at.lane)) = {
                        {p[f][s], p[f][s + 1]}};
            __syncthreads();
            ::update_v<T>(at, all - P_AT, rows);
        } else {
            ChangeOfV<T> v(rows.v);
#pragma unroll
            for (int step = 0; step < K_STEPS / 4; ++step)
#pragma unroll
                for (int t = 0; t < V_EIGHTS; ++t)
                    mma_m16n8k16_f64(v.sum()[t], *(const double (*)[4][2])(rows.l + 4 * step), p[V_EIGHTS * step + t]);
            v.finish();
        }
    }
};

// Waits until the modes of a row block's two panels are published and, if both are zero, G after them, or until the
// launch is to end. Returns whether the panels' payloads are valid; G is set if they are, and arbitrary at an end.
template <class T>
__device__ __forceinline__ bool payloads_are_valid(const MmaLane& at, const Sweep<T>& sweep, int first,
                                                   GramValues& gram) {
    const double* const record = sweep.records + (long long)first * RECORD;
    Waiting waiting(sweep.peers);
    for (;;) {
        const double modes[2] = {load_relaxed(record + PUBLISHED_MODE_AT),
                                 load_relaxed(record + RECORD + PUBLISHED_MODE_AT)};
        bool missing = is_unpublished(modes[0]) || is_unpublished(modes[1]);
        const bool valid = missing || (modes[0] == 0.0 && modes[1] == 0.0);
#pragma unroll
        for (int e = 0; e < GramEntries::COUNT; ++e) {
            gram[e] = load_relaxed(record + RECORD + GramEntries::in_record(e));
            missing = missing || (valid && is_unpublished(gram[e]));
        }
        if (!__any_sync(ALL_LANES, missing)) return valid;
        if (IS_DISTRIBUTED && __any_sync(ALL_LANES, waiting.ends())) return true;
        if (at.lane == 0) spin_pause();
    }
}
