// Critical-path tasks: transform V of a row block through the panels up to its own, and solve its diagonal blocks.
#pragma once
#include "resident/diagonal_blocks.cuh"
#include "resident/payload.cuh"
#include "resident/row_update.cuh"
#include "resident/task.cuh"

// Transforms V of the task's rows through the panels before their own, each as soon as its P is published, and saves V
// at the beginning of each panel range; the caller publishes the last of these. `state` is the basis after these
// panels, `payloads` room for payloads. `start_diagonal` is called before the last row block's panels. When this
// returns after at least one panel, the copies that it has begun are complete, and no warp uses its room for L.
template <class T, class Start>
__device__ __forceinline__ void v_to_diagonal(const MmaLane& at, const WarpRowsOfL<T>& rows_of_l,
                                              const Task<T>& task, double* payloads, const Start& start_diagonal,
                                              RowsInRegisters& rows, BasisState& state) {
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
    // L of a panel that has been fetched.
    const auto load = [&](int panel) {
        const long long column = (long long)panel * PANEL_COLS;
        copy_async_wait_all();
        rows_of_l.load(at, column, rows.l);
        if (panel + 1 < end)
            fetch(panel + 1);
        else
            __syncthreads();  // the room is free for DiagonalShared, unless the panels come once more
        if (panel + 3 < end) rows_of_l.prefetch(at, column + 3 * PANEL_COLS);
    };
    if (task.begin < end) fetch(task.begin);
#pragma unroll 1
    for (int first = task.begin; first < end; first += ROW_BLOCK_PANELS) {
        const int next = first + ROW_BLOCK_PANELS;
        if (next == end) start_diagonal();
        bool valid = false;
        if (first + PAYLOAD_PANELS >= end) {
            VRows before;
#pragma unroll
            for (int e = 0; e < 4 * V_EIGHTS; ++e) before[e / 4][e % 4] = rows.v[e / 4][e % 4];
#pragma unroll 1
            for (int panel = first; panel < next; ++panel) {
                Payload payload;
                load(panel);
                payload.poll(at, sweep, panel);
                payload.template update_v<T>(at, payloads, turn, rows);
            }
            valid = payloads_are_valid(at, sweep, first, state.gram);
            // The warps agree, unless the launch is to end. The barrier before the diagonal needs all of them.
            if (IS_DISTRIBUTED && next == end) valid = __syncthreads_and(valid);
            state.used = 1.0;
            if (!valid) {
#pragma unroll
                for (int e = 0; e < 4 * V_EIGHTS; ++e) rows.v[e / 4][e % 4] = before[e / 4][e % 4];
                copy_async_wait_all();
                fetch(first);
            }
        }
#pragma unroll 1
        for (int panel = first; !valid && panel < next; ++panel) {
            const double* const record = sweep.records + (long long)panel * RECORD;
            load(panel);
            const int mode = poll_panel_by_warp(sweep, panel, P_PUBLISHED);
            if (panel + 1 == end) {
#pragma unroll
                for (int e = 0; e < GramEntries::COUNT; ++e)
                    state.gram[e] = __ldcg(record + GramEntries::in_record(e));
                state.used = __ldcg(record + BASIS_USED_AT);
            }
            if (mode & REBASED) rebase(at, record + BASIS_AT, rows.v);
            if (mode & FALLBACK)
                apply_reflectors<false>(at, rows_of_l, record, (long long)panel * PANEL_COLS, rows);
            else
                update_v<T>(at, record, rows);
        }
        if (next % task.range_panels == 0) {
            task.save_v(at, next / task.range_panels, rows.v);
            if (next < end) task.publish_v(at, next / task.range_panels);
        }
    }
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
    const DiagonalTiles<T> tiles{staged, slots == 3, panels, height, l, sweep.l_stride, inverse};
    bool refined[ROW_BLOCK_PANELS] = {};
    const auto start = [&] {
        tiles.start();
        for (int j = 0; j < panels; ++j) refined[j] = sweep.refine[first + j] & REFINE_PRODUCTS;
    };
    // In a sweep after another, when the previous one has left these blocks.
    const auto start_diagonal = [&] {
        if (!sweep.flags_before) return;
        task.wait_for_inverses();
        start();
    };
    if (!sweep.flags_before) start();
    RowsInRegisters rows;
    if (threadIdx.x == 0) task.wait_for_v();
    __syncthreads();
    task.load_v(at, rows_of_l.row, rows.v);
    if (task.takes_v()) {
        task.save_v(at, 0, rows.v);
        if (first > 0) task.publish_v(at, 0);
    }
    if (first == task.begin) {
        start_diagonal();
        copy_async_wait_all();
        __syncthreads();
    }
    BasisState state;
    v_to_diagonal(at, rows_of_l, task, payloads, start_diagonal, rows, state);
    DiagonalShared& shared = *(DiagonalShared*)memory;
    store_v(at, shared.v + WARP_ROWS * at.warp * V_STRIDE, rows.v);
    const SolvedPanels solved = solve_panels(shared, tiles, sweep, first, state, refined);
    // Published late: an update task may wait for V at the beginning of the row block's own panels, but no task on the
    // critical path does.
    if (first % task.range_panels == 0 && (first > task.begin || first == 0)) task.publish_v(at, task.own_range());
    publish_coefficients(shared, solved, (BennettShared*)staged, sweep, first, panels);
}
