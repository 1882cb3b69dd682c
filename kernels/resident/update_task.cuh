// Update and forwarding tasks: a row block's L and V through a panel range, as the panels become known.
#pragma once
#include "resident/row_update.cuh"
#include "resident/task.cuh"

// Takes the rows through the panels from `begin` to `end`, L and V. The caller has begun to fetch the first panel's L.
// Records are copied to `slots` slots of shared memory as soon as there is room, if they are published by then.
template <class T>
__device__ __forceinline__ void update_through(const MmaLane& at, const WarpRowsOfL<T>& rows_of_l,
                                               double* staged, int slots, int begin, int end,
                                               RowsInRegisters& rows) {
    const Sweep<T>& sweep = rows_of_l.sweep;
    // The first panel whose record is not yet: known to the first warp to be published; on its way; in shared memory.
    int known = begin, asked = begin, there = begin;
    // Begins to copy the records before `last` that are published, once all threads are here.
    const auto ask = [&](int last) {
        if (at.warp == 0 && known < last) {
            const int other = min(known + at.lane, end - 1);
            const unsigned missing =
                __ballot_sync(ALL_LANES, panel_flag(sweep, other) < COEFFICIENTS_PUBLISHED);
            known += missing ? __ffs(missing) - 1 : 32;
        }
        const int more = barrier_count(at.warp == 0 && asked + at.lane < min(last, known));
        for (int i = 0; i < more; ++i, ++asked)
            stage_record(staged + asked % slots * STAGED, sweep.records + (long long)asked * RECORD);
    };
#pragma unroll 1
    for (int panel = begin; panel < end; ++panel) {
        const long long column = (long long)panel * PANEL_COLS;
        if (there == panel) {
            if (asked == panel) {
                if (threadIdx.x == 0) poll_panel(sweep, panel, COEFFICIENTS_PUBLISHED);
                __syncthreads();
                ask(min(panel + slots, end));
            }
            copy_async_commit();
            copy_async_wait_all();
            __syncthreads();
            there = asked;
        }
        // Batches of copies in the order in which they were committed: this panel's L, records, the next panel's L,
        // records.
        copy_async_wait_but_one();
        rows_of_l.load(at, column, rows.l);
        if (panel + 1 < end)
            rows_of_l.fetch(at, column + PANEL_COLS);
        else
            copy_async_commit();
        // All threads are done with the panel before, whose slot is free.
        const auto halfway = [&] {
            if (slots > 1) {
                copy_async_wait_but_one();
                const int here = asked;
                ask(min(panel + slots, end));
                there = here;
            }
            copy_async_commit();
        };
        const double* const own = staged + panel % slots * STAGED;
        const int mode = (int)own[MODE_AT];
        if (mode & REBASED) rebase(at, sweep.records + (long long)panel * RECORD + BASIS_AT, rows.v);
        if (mode & FALLBACK) {
            apply_reflectors<true>(at, rows_of_l, own, column, rows);
            halfway();
        } else {
            update_l_and_v(at, rows_of_l, own, column, rows, halfway);
        }
    }
    copy_async_wait_all();
}

// An update task or, where it hands V on, a forwarding task.
template <class T>
__device__ __forceinline__ void update(const MmaLane& at, const Task<T>& task,
                                       const WarpRowsOfL<T>& rows_of_l, int slots, double* staged) {
    RowsInRegisters rows;
    if (threadIdx.x == 0) task.wait_for_l(task.range);
    __syncthreads();
    rows_of_l.fetch(at, (long long)task.begin * PANEL_COLS);
    task.load_v(at, rows_of_l.row, rows.v);
    update_through(at, rows_of_l, staged, slots, task.begin, task.end, rows);
    if (task.kind == FORWARDING) {
        task.save_v(at, task.range + 1, rows.v);
        task.publish_v(at, task.range + 1);
    }
    task.publish_l();
}
