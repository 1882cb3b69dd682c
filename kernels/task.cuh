// What a block of threads does of the sweeps of a launch: a part of sweep.cu.
#pragma once
#include "panel.cuh"

// So many groups of rows is a sweep behind the one before.
constexpr int BEHIND = 8;

// The launch's sweeps over the same L, one after the other, of which the first `plus` have a plus sign; what there is of
// each of them stands behind that of the one before.
template <class T>
struct Sweeps {
    Sweep<T> first;
    int count, plus;
};

// What a block of threads does.
template <class T>
struct Task {
    Sweep<T> sweep;
    int group; // of rows
    bool leads, follows;
    bool is_last; // no sweep comes behind
    __device__ __forceinline__ int panels() const { return (int)((sweep.n + ROWS - 1) / ROWS); }
    __device__ __forceinline__ int* written() const { return sweep.marks + panels() + group; }
    // Waits until the sweep before has written so many panels; how many it has.
    __device__ __forceinline__ int await_before(int least) const {
        return await(sweep.before + panels() + group, least);
    }
};

// The task of this number: one of `shares` for the same rows, or with MANY sweeps by the group of rows and how far the
// sweep is behind.
template <bool MANY, class T>
__device__ __forceinline__ Task<T> task(const Sweeps<T>& sweeps, int ticket, int shares) {
    Task<T> own{sweeps.first, ticket / shares, ticket % shares == 0, shares == 1 || ticket % shares > 0,
                true};
    own.sweep.marks += 1;
    own.sweep.before = nullptr;
    own.sweep.sign = sweeps.plus > 0 ? 1.0 : -1.0;
    if (!MANY) return own;
    const int panels = own.panels(), groups = (panels + GROUP - 1) / GROUP;
    int index = 0;
    // Sweep by sweep, what begins at the same time.
    for (int time = 0, rest = ticket;; ++time) {
        const int first = max(0, (time - groups + BEHIND) / BEHIND),
                  last = min(sweeps.count - 1, time / BEHIND);
        if (rest <= last - first) {
            index = first + rest;
            own.group = time - index * BEHIND;
            break;
        }
        rest -= max(0, last - first + 1);
    }
    Sweep<T>& sweep = own.sweep;
    const int marks = panels + groups;
    own.is_last = index + 1 == sweeps.count;
    sweep.v += (long long)index * COLUMNS * sweep.v_stride;
    sweep.records += (long long)index * panels * RECORD;
    sweep.state += index * STATE;
    sweep.marks += index * marks;
    sweep.sign = index < sweeps.plus ? 1.0 : -1.0;
    if (index > 0) {
        sweep.from = sweep.to;
        sweep.before = sweep.marks - marks;
    }
    return own;
}
