// Critical-path tasks: transform V of a row block through the panels up to its own, and solve its diagonal blocks.
#pragma once
#include "resident/diagonal_blocks.cuh"
#include "resident/payload.cuh"
#include "resident/row_update.cuh"
#include "resident/task.cuh"

// Transforms V of the task's rows through the panels before their own, each as soon as its P is published, and saves V
// at the beginning of each panel range; the caller publishes the last of these. `state` is the basis after these
// panels, `payloads` room for payloads.
template <class T>
__device__ __forceinline__ void v_to_diagonal(const MmaLane& at, const WarpRowsOfL<T>& rows_of_l,
                                              const Task<T>& task, double* payloads, RowsInRegisters& rows,
                                              BasisState& state) {
    const Sweep<T>& sweep = rows_of_l.sweep;
    const int end = task.end;
    int turn = 0;
    const auto fetch = [&](int panel) {
        if (sweep.flags_before && (panel == task.begin || panel % task.range_panels == 0)) {
            if (at.lane == 0) task.wait_for_l(panel / task.range_panels);
            __syncwarp();
        }
        rows_of_l.fetch(at, (long long)panel * PANEL_COLS);
    };
    if (task.begin < end) fetch(task.begin);
#pragma unroll 1
    for (int panel = task.begin; panel < end; ++panel) {
        const long long column = (long long)panel * PANEL_COLS;
        const double* const record = sweep.records + (long long)panel * RECORD;
        copy_async_wait_all();
        rows_of_l.load(at, column, rows.l);
        if (panel + 1 < end) fetch(panel + 1);
        if (panel + 3 < end) rows_of_l.prefetch(at, column + 3 * PANEL_COLS);
        const bool range_ends = (panel + 1) % task.range_panels == 0;
        Payload payload = {};
        if (panel + PAYLOAD_PANELS >= end && payload.poll(at, sweep, panel)) {
#pragma unroll
            for (int e = 0; e < GramEntries::COUNT; ++e) state.gram[e] = payload.gram[e];
            state.used = 1.0;
            payload.update_v(at, payloads, turn, rows);
        } else {
            const int mode = poll_panel_by_warp(sweep, panel, P_PUBLISHED);
            if (panel + 1 == end) {
#pragma unroll
                for (int e = 0; e < GramEntries::COUNT; ++e)
                    state.gram[e] = __ldcg(record + GramEntries::in_record(e));
                state.used = __ldcg(record + BASIS_USED_AT);
            }
            if (mode & REBASED) rebase(at, record + BASIS_AT, rows.v);
            if (mode & FALLBACK)
                apply_reflectors<false>(at, rows_of_l, record, column, rows);
            else
                update_v(at, record, rows);
        }
        if (range_ends) {
            const int next = (panel + 1) / task.range_panels;
            task.save_v(at, next, rows.v);
            if (panel + 1 < end) task.publish_v(at, next);
        }
    }
    __syncthreads();
}

// A critical-path task. `memory` has room for the warps' rows of L, with `payloads` after it, or for DiagonalShared;
// `staged` has room for `slots` tiles.
template <class T>
__device__ __forceinline__ void critical_path(const MmaLane& at, const Task<T>& task,
                                              const WarpRowsOfL<T>& rows_of_l, int slots, double* memory,
                                              double* payloads, double* staged) {
    const Sweep<T>& sweep = task.sweep;
    const int first = task.end, panels = task.own_end() - first;
    const long long begin = (long long)first * PANEL_COLS;
    const int height = (int)min(sweep.n - begin, (long long)ROW_BLOCK);
    const T* const l = sweep.from + begin * (sweep.l_stride + 1);
    double* const inverse = sweep.inverse + begin * PANEL_COLS;
    RowsInRegisters rows;
    if (threadIdx.x == 0) task.wait_for_v();
    __syncthreads();
    task.load_v(at, rows_of_l.row, rows.v);
    const DiagonalTiles<T> tiles{staged, slots == 3, panels, height, l, sweep.l_stride, inverse};
    int refined[ROW_BLOCK_PANELS] = {};
    const auto start = [&] {
        tiles.start();
        for (int j = 0; j < panels; ++j) refined[j] = sweep.refine[first + j];
    };
    if (!sweep.flags_before) start();
    BasisState state;
    v_to_diagonal(at, rows_of_l, task, payloads, rows, state);
    if (sweep.flags_before) {
        task.wait_for_inverses();
        start();
    }
    DiagonalShared& shared = *(DiagonalShared*)memory;
    store_v(at, shared.v + WARP_ROWS * at.warp * V_STRIDE, rows.v);
    solve_panels(shared, tiles, sweep, first, state, refined);
    // Published late: an update task may wait for V at the beginning of the row block's own panels, but no task on the
    // critical path does.
    if (first > task.begin && first % task.range_panels == 0) task.publish_v(at, task.own_range());
    publish_coefficients(shared, (BennettShared*)staged, sweep, first, panels);
}
