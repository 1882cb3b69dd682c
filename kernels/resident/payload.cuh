// A panel's payload: what the next row block needs of the panel, read before the panel's flag is set.
//
// The flag of a panel waits for all that its block has written and comes with the last panel of a row block. The row
// blocks right behind cannot wait as long: they poll the record itself, -P in fragments and G behind the panel, whose
// words show whether they have been written. Records are all bits ones before a launch, which no number is and no NaN
// that arithmetic makes. The words suffice where V stays in its basis and the panel takes no Householder fallback: then
// they are finite and stored once in a sweep.
#pragma once
#include "resident/unpublished.cuh"
#include "resident/v_rows.cuh"

// How many panels before a row block's own its critical-path task polls for payloads.
constexpr int PAYLOAD_PANELS = 8;

// -P of a panel as the lanes of a warp take it, and the thread's entry of G behind the panel.
struct Payload {
    double p[PANEL_COLS / 8][4], gram;

    // Waits until the panel's mode is known and, where nothing else is needed, for all words; returns whether that is
    // so.
    template <class T>
    __device__ __forceinline__ bool poll(const MmaLane& at, const Sweep<T>& sweep, int panel) {
        const double* const record = sweep.records + (long long)panel * RECORD;
        for (;;) {
            const double mode = load_relaxed(record + PUBLISHED_MODE_AT);
            gram = load_relaxed(record + GRAM_AT + threadIdx.x);
            bool missing = is_unpublished(gram);
#pragma unroll
            for (int f = 0; f < PANEL_COLS / 8; ++f)
#pragma unroll
                for (int s = 0; s < 4; s += 2) {
                    load_relaxed(record + P_AT + f * FRAGMENT + in_fragment(s, at.lane), p[f][s],
                                 p[f][s + 1]);
                    missing = missing || is_unpublished(p[f][s]) || is_unpublished(p[f][s + 1]);
                }
            if (mode != 0.0) missing = is_unpublished(mode);
            if (!__any_sync(ALL_LANES, missing)) return mode == 0.0;
            if (at.lane == 0) spin_pause();
        }
    }
};
