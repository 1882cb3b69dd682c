// What a block of threads does of the sweeps of a launch: a part of sweep.cu.
#pragma once
#include "common/panel.cuh"
#include "resident/tiles.cuh"

// A launch's sweeps over the same L, one after the other, of which the first `plus` have a plus sign; what there is of
// each of them stands behind that of the one before. But V of a minus sign is taken from the end: sweep i has sixteen
// columns i, or last - i where its sign is minus.
template <class T>
struct Sweeps {
    Sweep<T> first;
    int plus;
    int width;             // panels of a stretch, even
    int places;            // for V of a group of rows between stretches
    int last;
    const unsigned* tasks; // in the order in which they begin
};

// What is done with a group of rows: through a stretch of panels, L and V, which is given on to the next; the inverse of a
// diagonal block as the sweep before leaves it; from a stretch on with V alone to the group's own panels, and through
// those; through a stretch of panels behind who has led.
constexpr unsigned CARRIES = 0, INVERTS = 1, LEADS = 2, FOLLOWS = 3;

// Groups of rows and stretches are counted from 0.
template <class T>
struct Task {
    Sweep<T> sweep;
    int group, stretch;
    unsigned kind;
    int begin, end; // the panels on the way
    int width, places;

    // A word: the group in 14 bits, the stretch in 12 (or which of the group's diagonal blocks), the sweep in 4, the kind
    // in 2.
    __device__ __forceinline__ Task(const Sweeps<T>& sweeps, unsigned word)
        : sweep(sweeps.first),
          group(word & 0x3fff),
          stretch(word >> 14 & 0xfff),
          kind(word >> 30),
          width(sweeps.width),
          places(sweeps.places) {
        const int index = word >> 26 & 15, marks = panels() + 2 * groups() * stretches();
        sweep.v += (index < sweeps.plus ? index : sweeps.last - index) * COLUMNS * sweep.v_stride;
        sweep.kept += index * places * groups() * (long long)(HEIGHT * COLUMNS);
        sweep.records += (long long)index * panels() * RECORD;
        sweep.marks += 1 + index * marks;
        sweep.sign = index < sweeps.plus ? 1.0 : -1.0;
        sweep.before = nullptr;
        if (index > 0) {
            sweep.from = sweep.to;
            sweep.before = sweep.marks - marks;
        }
        begin = stretch * width;
        end = kind == LEADS ? group * GROUP : min(begin + width, own_end());
    }

    __device__ __forceinline__ int panels() const { return (int)((sweep.n + ROWS - 1) / ROWS); }
    __device__ __forceinline__ int groups() const { return (panels() + GROUP - 1) / GROUP; }
    __device__ __forceinline__ int stretches() const { return (panels() + width - 1) / width; }
    // The stretch of the group's own panels.
    __device__ __forceinline__ int own() const { return group * GROUP / width; }
    // The panel behind the group's own.
    __device__ __forceinline__ int own_end() const { return min((group + 1) * GROUP, panels()); }

    // By one thread. Waits until the sweep before has written this stretch of L, and nobody reads what will be written.
    __device__ __forceinline__ void await_l(int part) const {
        if (sweep.before) await(done(sweep.before, part), 1);
        if (kind == FOLLOWS && sweep.from == sweep.to) await(sweep, own_end() - 1, WEIGHED);
    }

    // Of a sweep behind another. Waits for the inverses of the group's diagonal blocks.
    __device__ __forceinline__ void await_inverses() const {
        if (threadIdx.x == 0) await(done(sweep.before, own()), 1 + own_end() - group * GROUP);
        __syncthreads();
    }

    // V of the thread at the beginning when it is known.
    __device__ __forceinline__ void load(const Lane& at, long long row, Tile& v) const {
        if (begin == 0) {
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                const long long i = row + e % 4 / 2 * 8;
                const T* const entry = sweep.v + at.column(e / 4, e % 2) * sweep.v_stride + i;
                v[e / 4][e % 4] = i < sweep.n ? (double)*entry : 0.0;
            }
            return;
        }
        if (threadIdx.x == 0) await(known(stretch), WARPS);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 8; e += 2) {
            const Word<double> two = kept(stretch)[e / 2 * THREADS + threadIdx.x];
            v[e / 4][e % 4] = two.lane[0];
            v[e / 4][e % 4 + 1] = two.lane[1];
        }
    }

    // V of the warp at the beginning of a stretch, which is to be announced.
    __device__ __forceinline__ void keep(const Lane& at, int stretch, const Tile& v) const {
#pragma unroll
        for (int e = 0; e < 8; e += 2)
            kept(stretch)[e / 2 * THREADS + threadIdx.x] = {{v[e / 4][e % 4], v[e / 4][e % 4 + 1]}};
    }

    // Waits for all that the warp has written.
    __device__ __forceinline__ void announce(const Lane& at, int stretch) const {
        __syncwarp();
        if (at.lane == 0) add_release(known(stretch), 1);
    }

    // L of the stretch is written, or a diagonal block inverted.
    __device__ __forceinline__ void finish() const {
        int* const mark = kind == INVERTS ? done(sweep.before, own()) : done(sweep.marks, stretch);
        __syncthreads();
        if (threadIdx.x == 0) add_release(mark, 1);
    }

private:
    // For each group and stretch, the warps whose V is known at its beginning.
    __device__ __forceinline__ int* known(int stretch) const {
        return sweep.marks + panels() + group * stretches() + stretch;
    }
    // And whether its new L is there; and how many of the group's diagonal blocks are inverted.
    __device__ __forceinline__ int* done(int* marks, int stretch) const {
        return marks + panels() + (groups() + group) * stretches() + stretch;
    }
    __device__ __forceinline__ Word<double>* kept(int stretch) const {
        return (Word<double>*)(sweep.kept +
                               (stretch % places * groups() + group) * (long long)(HEIGHT * COLUMNS));
    }
};
