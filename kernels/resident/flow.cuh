// A block's rows through panels as they become known: a part of sweep.cu.
#pragma once
#include "resident/group.cuh"
#include "resident/rows.cuh"
#include "resident/task.cuh"

// The rows through the panels from `begin` to `end`, L and V; the first panel's L has been asked for. Records are asked
// for as soon as there is a slot, if they are there by then.
template <class T>
__device__ __forceinline__ void through(const Lane& at, const Place<T>& place, double* staged, int slots,
                                        int begin, int end, Rows& rows) {
    const Sweep<T>& sweep = place.sweep;
    // Of the panels from `begin` on: known to the first warp to be weighed, asked for, there.
    int known = begin, asked = begin, there = begin;
    // Asks for the records before `last` that are known, as soon as all threads are here.
    const auto ask = [&](int last) {
        if (at.warp == 0 && known < last) {
            const int other = min(known + at.lane, end - 1);
            const unsigned missing = __ballot_sync(ALL, how_far(sweep, other) < WEIGHED);
            known += missing ? __ffs(missing) - 1 : 32;
        }
        const int more = barrier_count(at.warp == 0 && asked + at.lane < min(last, known));
        for (int i = 0; i < more; ++i, ++asked)
            stage(staged + asked % slots * STAGED, sweep.records + (long long)asked * RECORD);
    };
#pragma unroll 1
    for (int panel = begin; panel < end; ++panel) {
        const long long column = (long long)panel * ROWS;
        if (there == panel) {
            if (asked == panel) {
                if (threadIdx.x == 0) await(sweep, panel, WEIGHED);
                __syncthreads();
                ask(min(panel + slots, end));
            }
            copy_async_commit();
            copy_async_wait_all();
            __syncthreads();
            there = asked;
        }
        // Asked for in turn: this panel's L, records, the next panel's L, records.
        copy_async_wait_but_one();
        place.take(at, column, rows.l);
        if (panel + 1 < end)
            place.fetch(at, column + ROWS);
        else
            copy_async_commit();
        // All are done with the panel before, whose slot is free.
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
        const int how = (int)own[HOW_AT];
        if (how & RENEWED) renew(at, sweep.records + (long long)panel * RECORD + FRAME_AT, rows.v);
        if (how & CAREFUL) {
            column_by_column<true>(at, place, own, column, rows);
            halfway();
        } else {
            multiply(at, place, own, column, rows, halfway);
        }
    }
    copy_async_wait_all();
}

// Panels that a group listens to: those right before its own.
constexpr int NEAR = 8;

// What is known of a panel before its mark, which waits for all that its block has written, and comes with the last panel
// of a group: -P, in fragments, and the thread's entry of G behind it, word by word as they are written. That is all there
// is where V stays in its frame and the panel is not careful: such P and G are finite, and stored once in a sweep.
struct Told {
    double p[ROWS / 8][4], total;

    // Waits until it is known; whether that is all.
    template <class T>
    __device__ __forceinline__ bool listen(const Lane& at, const Sweep<T>& sweep, int panel) {
        const double* const record = sweep.records + (long long)panel * RECORD;
        for (;;) {
            const double how = load_relaxed(record + TOLD_AT);
            total = load_relaxed(record + G_AT + threadIdx.x);
            bool missing = untold(total);
#pragma unroll
            for (int f = 0; f < ROWS / 8; ++f)
#pragma unroll
                for (int s = 0; s < 4; s += 2) {
                    load_relaxed(record + P_AT + f * FRAGMENT + in_fragment(s, at.lane), p[f][s],
                                 p[f][s + 1]);
                    missing = missing || untold(p[f][s]) || untold(p[f][s + 1]);
                }
            if (how != 0.0) missing = untold(how);
            if (!__any_sync(ALL, missing)) return how == 0.0;
            if (at.lane == 0) pause();
        }
    }
};

// V of the task's rows up to their own panels, as soon as those on the way are placed, kept at the beginning of each
// stretch, of which the last is left to announce; and the state behind them.
template <class T>
__device__ __forceinline__ void ahead(const Lane& at, const Place<T>& place, const Task<T>& task, Rows& rows,
                                      State& state) {
    const Sweep<T>& sweep = place.sweep;
    const int end = task.end;
    const auto fetch = [&](int panel) {
        if (sweep.before && (panel == task.begin || panel % task.width == 0)) {
            if (at.lane == 0) task.await_l(panel / task.width);
            __syncwarp();
        }
        place.fetch(at, (long long)panel * ROWS);
    };
    if (task.begin < end) fetch(task.begin);
#pragma unroll 1
    for (int panel = task.begin; panel < end; ++panel) {
        const long long column = (long long)panel * ROWS;
        const double* const record = sweep.records + (long long)panel * RECORD;
        copy_async_wait_all();
        place.take(at, column, rows.l);
        if (panel + 1 < end) fetch(panel + 1);
        if (panel + 3 < end) place.prefetch(at, column + 3 * ROWS);
        const bool keeps = (panel + 1) % task.width == 0;
        Told told = {};
        if (panel + NEAR >= end && told.listen(at, sweep, panel)) {
            state = {told.total, 1.0};
            // As `to_v`, to the bit.
#pragma unroll
            for (int f = 0; f < ROWS / 8; ++f)
                mma_m16n8k16_f64(rows.v[f % 2], *(const double(*)[4][2])(rows.l + f / 2 * 4), told.p[f]);
        } else {
            const int how = await_by_warp(sweep, panel, PLACED);
            if (panel + 1 == end) state = {__ldcg(record + G_AT + threadIdx.x), __ldcg(record + BEGUN_AT)};
            if (how & RENEWED) renew(at, record + FRAME_AT, rows.v);
            if (how & CAREFUL)
                column_by_column<false>(at, place, record, column, rows);
            else
                to_v(at, record, rows);
        }
        if (keeps) {
            const int next = (panel + 1) / task.width;
            task.keep(at, next, rows.v);
            if (panel + 1 < end) task.announce(at, next);
        }
    }
    __syncthreads();
}
