// A block's rows through panels as they become known: a part of sweep.cu.
#pragma once
#include "group.cuh"
#include "rows.cuh"
#include "task.cuh"

// The rows through the panels from `begin` to `end`, L and V, by the warps that are `active`. Records are asked for as soon
// as there is a slot, if they are there by then, and so are panels of L that the sweep before has yet to write.
template <class T>
__device__ __forceinline__ void through(const Lane& at, const Place<T>& place, const Task<T>& task,
                                        double* staged, int slots, bool active, int begin, int end,
                                        Rows& rows) {
    const Sweep<T>& sweep = task.sweep;
    int ready = sweep.before ? 0 : end; // panels that the sweep before has written
    const auto fetch = [&](int panel) {
        if (ready <= panel) ready = task.await_before(panel + 1);
        place.fetch(at, (long long)panel * ROWS);
    };
    const auto ask = [&](int panel) {
        stage(staged + panel % slots * STAGED, sweep.records + (long long)panel * RECORD);
    };
    // Of the panels from `begin` on: known to the first warp to be weighed, asked for, there.
    int known = begin, asked = begin, there = begin;
    if (begin < end) fetch(begin);
#pragma unroll 1
    for (int panel = begin; panel < end; ++panel) {
        const long long column = (long long)panel * ROWS;
        if (there == panel) {
            if (asked == panel) {
                if (threadIdx.x == 0) await(sweep, panel, WEIGHED);
                __syncthreads();
                ask(asked++);
            }
            copy_async_commit();
            copy_async_wait_all();
            __syncthreads();
            there = asked;
        }
        // Asked for in turn: this panel's L, a record, the next panel's L, a record.
        copy_async_wait_but_one();
        place.take(at, column, rows.l);
        if (panel + 1 < end)
            fetch(panel + 1);
        else
            copy_async_commit();
        // All are done with the panel before, whose slot is free.
        const auto halfway = [&] {
            if (slots > 1) {
                const int last = min(panel + slots, end);
                if (at.warp == 0 && known < last) {
                    known = max(known, asked);
                    const int other = min(known + at.lane, end - 1);
                    const unsigned missing = __ballot_sync(ALL, how_far(sweep, other) < WEIGHED);
                    known += missing ? __ffs(missing) - 1 : 32;
                }
                copy_async_wait_but_one();
                const int more =
                    __syncthreads_count(asked + (int)threadIdx.x < min(last, known) && at.warp == 0);
                there = asked;
                for (int i = 0; i < more; ++i) ask(asked++);
                if (!task.is_last && threadIdx.x == THREADS - 1 && panel % 4 == 0)
                    store_release(task.written(), panel);
            }
            copy_async_commit();
        };
        const double* const own = staged + panel % slots * STAGED;
        const int how = (int)own[HOW_AT];
        if (how & RENEWED) renew(at, sweep.records + (long long)panel * RECORD + FRAME_AT, rows.v);
        if (!active) {
            halfway();
        } else if (how & CAREFUL) {
            column_by_column(at, place, own, column, rows);
            halfway();
        } else {
            multiply(at, place, own, column, rows, halfway);
        }
    }
    copy_async_wait_all();
    __syncthreads();
    if (!task.is_last && threadIdx.x == THREADS - 1) store_release(task.written(), end);
}

// V of the rows through the panels from `begin` to `end`, as soon as they are placed; and the state behind them.
template <class T>
__device__ __forceinline__ void ahead(const Lane& at, const Place<T>& place, int begin, int end, Rows& rows,
                                      State& state) {
    const Sweep<T>& sweep = place.sweep;
    if (begin < end) place.fetch(at, (long long)begin * ROWS);
#pragma unroll 1
    for (int panel = begin; panel < end; ++panel) {
        const long long column = (long long)panel * ROWS;
        const double* const record = sweep.records + (long long)panel * RECORD;
        copy_async_wait_all();
        place.take(at, column, rows.l);
        if (panel + 1 < end) place.fetch(at, column + ROWS);
        if (panel + 3 < end) place.prefetch(at, column + 3 * ROWS);
        const int how = await(sweep, panel, PLACED);
        if (panel + 1 == end) state.load(sweep);
        if (how & RENEWED) renew(at, record + FRAME_AT, rows.v);
        if (how & CAREFUL)
            only_v(at, place, record, rows);
        else
            to_v(at, record, rows);
    }
    __syncthreads();
}
