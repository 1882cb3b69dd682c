// Update and forwarding tasks: transform a row block's L and V through a panel range, as the panels are published.
#pragma once
#include "resident/row_update.cuh"
#include "resident/task.cuh"

// The records of a range's panels in `slots` slots of shared memory. Published records are copied as soon as there is
// room.
template <class T>
struct StagedRecords {
    const Sweep<T>& sweep;
    double* memory;
    int slots, end;
    // The first panel whose record is not yet: known to the first warp as published; being copied; in shared memory.
    int known, asked, there;
    int slot = 0, free = 0;  // of the current panel, and of the next record to copy

    __device__ __forceinline__ StagedRecords(const Sweep<T>& sweep, double* memory, int slots, int begin, int end)
        : sweep(sweep), memory(memory), slots(slots), end(end), known(begin), asked(begin), there(begin) {}

    __device__ __forceinline__ int behind(int s) const { return s + 1 == slots ? 0 : s + 1; }

    // The record of the current panel.
    __device__ __forceinline__ const double* at_work() const { return memory + slot * STAGED; }

    // Begins to copy the records from `panel` on that have room, once all threads have arrived. With `wait`, waits for
    // one if none is published.
    __device__ __forceinline__ void ask(const MmaLane& at, int panel, bool wait) {
        const int last = min(panel + slots, end);
        Waiting waiting(sweep.peers);
        while (at.warp == 0 && known < last) {
            const int other = min(known + at.lane, end - 1);
            const unsigned missing =
                __ballot_sync(ALL_LANES, panel_flag(sweep, other) < COEFFICIENTS_PUBLISHED);
            known += missing ? __ffs(missing) - 1 : 32;
            if (!wait || known > asked) break;
            if (IS_DISTRIBUTED && __any_sync(ALL_LANES, waiting.ends())) break;
            if (at.lane == 0) spin_pause();
        }
        const int more = barrier_count(at.warp == 0 && asked + at.lane < min(last, known));
        for (int i = 0; i < more; ++i, ++asked, free = behind(free))
            stage_record(memory + free * STAGED, sweep.records + (long long)asked * RECORD);
    }

    // Completes the copy of the record of `panel`, the current panel.
    __device__ __forceinline__ void complete(const MmaLane& at, int panel) {
        if (there > panel) return;
        if (asked == panel) ask(at, panel, true);
        copy_async_commit();
        copy_async_wait_all();
        __syncthreads();
        there = asked;
    }
};

// An update task or, if it passes V on, a forwarding task.
template <class T>
__device__ __forceinline__ void update(const MmaLane& at, const Task<T>& task,
                                       const WarpRowsOfL<T>& rows_of_l, int slots, double* staged) {
    const int end = task.end;
    VRows v;
    StagedRecords<T> records(task.sweep, staged, slots, task.begin, end);
    if (threadIdx.x == 32) task.wait_for_l(task.range);
    if (threadIdx.x == 64) task.wait_for_v();
    records.ask(at, task.begin, false);
    copy_async_commit();
    // Copies that `halfway` begins are in the batch of the third sixteen columns of the next panel, and complete when
    // those are; after a fallback they are a batch before all of these.
    rows_of_l.fetch_by_sixteens(at, (long long)task.begin * PANEL_COLS);
    task.load_v(at, rows_of_l.row, v);
#pragma unroll 1
    for (int panel = task.begin; panel < end; ++panel) {
        const long long column = (long long)panel * PANEL_COLS;
        records.complete(at, panel);
        const double* const own = records.at_work();
        // A launch that is to end leaves nothing there.
        const double mode = IS_DISTRIBUTED && records.there <= panel ? 0.0 : own[MODE_AT];
        // All threads have finished the previous panel, whose slot is free.
        const auto halfway = [&] {
            if (slots > 1 && panel + 1 < end) {
                const int here = records.asked;
                records.ask(at, panel, false);
                records.there = here;
            }
        };
        // The warp's rows are above the row block's last diagonal block: they have no L there, and V is not used again.
        if (rows_of_l.first(at) + WARP_ROWS <= column) break;
        bool fallback = false;
        if (mode != 0.0) {
            if ((int)mode & REBASED)
                rebase(at, task.sweep.records + (long long)panel * RECORD + BASIS_AT, v);
            fallback = (int)mode & FALLBACK;
        }
        if (fallback) {
            RowsInRegisters rows;
            copy_async_wait_all();
            rows_of_l.load(at, column, rows.l);
#pragma unroll
            for (int e = 0; e < 4 * V_EIGHTS; ++e) rows.v[e / 4][e % 4] = v[e / 4][e % 4];
            apply_reflectors<true>(at, rows_of_l, own, column, rows);
#pragma unroll
            for (int e = 0; e < 4 * V_EIGHTS; ++e) v[e / 4][e % 4] = rows.v[e / 4][e % 4];
            halfway();
            copy_async_commit();
            if (panel + 1 < end) rows_of_l.fetch_by_sixteens(at, column + PANEL_COLS);
        } else {
            update_l_and_v(at, rows_of_l, own, column, v, panel + 1 < end, halfway);
        }
        records.slot = records.behind(records.slot);
    }
    copy_async_wait_all();
    if (task.kind == FORWARDING) {
        task.save_v(at, task.range + 1, v);
        task.publish_v(at, task.range + 1);
    }
    task.publish_l();
}
