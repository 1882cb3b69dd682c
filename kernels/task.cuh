// What a block of threads does of the sweeps of a launch: a part of sweep.cu.
#pragma once
#include "panel.cuh"
#include "tiles.cuh"

// A launch's sweeps over the same L, one after the other, of which the first `plus` have a plus sign; what there is of
// each of them stands behind that of the one before.
template <class T>
struct Sweeps {
    Sweep<T> first;
    int plus;
    int width;             // panels of a stretch, even
    const unsigned* tasks; // in the order in which they begin
};

// A group of rows through panels: through a stretch of them, L and V; or with V alone up to its own panels, and through
// those. Groups of rows and stretches are counted from 0.
template <class T>
struct Task {
    Sweep<T> sweep;
    int group, stretch;
    bool leads;
    int begin, end; // the panels on the way

    // A word: the group in 16 bits, then the stretch in 12, or the one where a leader begins; the sweep in 3; whether
    // it leads.
    __device__ __forceinline__ Task(const Sweeps<T>& sweeps, unsigned word)
        : sweep(sweeps.first), group(word & 0xffff), stretch(word >> 16 & 0xfff), leads(word >> 31) {
        const int index = word >> 28 & 7;
        sweep.v += (long long)index * COLUMNS * sweep.v_stride;
        sweep.kept += index * 2 * groups() * (long long)(HEIGHT * COLUMNS);
        sweep.records += (long long)index * panels() * RECORD;
        sweep.state += index * STATE;
        sweep.marks += 1 + index * (panels() + groups());
        sweep.sign = index < sweeps.plus ? 1.0 : -1.0;
        sweep.before = nullptr;
        if (index > 0) {
            sweep.from = sweep.to;
            sweep.before = sweep.marks - (panels() + groups());
        }
        begin = stretch * sweeps.width;
        end = leads ? group * GROUP : min(begin + sweeps.width, own_end());
        // Only then is L still to be read by who leads these rows.
        behind_leader = !leads && sweep.from == sweep.to && stretch + 1 >= group * GROUP / sweeps.width;
    }

    __device__ __forceinline__ int panels() const { return (int)((sweep.n + ROWS - 1) / ROWS); }
    __device__ __forceinline__ int groups() const { return (panels() + GROUP - 1) / GROUP; }
    // The panel behind the group's own.
    __device__ __forceinline__ int own_end() const { return min((group + 1) * GROUP, panels()); }

    // Waits until L is as the sweep before leaves it, and nobody else reads what is about to be written.
    __device__ __forceinline__ void await_l() const {
        if (threadIdx.x == 0) {
            if (sweep.before) await(sweep.before + panels() + group, leads ? own_end() : end);
            if (behind_leader) await(sweep, own_end() - 1, WEIGHED);
        }
        __syncthreads();
    }

    // V of the thread when it is known.
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
        if (threadIdx.x == 0) await(sweep.marks + panels() + group, begin);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 8; e += 2) {
            const Word<double> two = kept(stretch)[e / 2 * THREADS + threadIdx.x];
            v[e / 4][e % 4] = two.lane[0];
            v[e / 4][e % 4 + 1] = two.lane[1];
        }
    }

    // V of the thread for the next stretch, and the rows' mark.
    __device__ __forceinline__ void finish(const Tile& v) const {
        if (end < own_end()) {
#pragma unroll
            for (int e = 0; e < 8; e += 2)
                kept(stretch + 1)[e / 2 * THREADS + threadIdx.x] = {{v[e / 4][e % 4], v[e / 4][e % 4 + 1]}};
        }
        __syncthreads();
        if (threadIdx.x == 0) store_release(sweep.marks + panels() + group, end);
    }

private:
    bool behind_leader;

    // In one place for even stretches and one for odd: who leads may read the one while the other is written.
    __device__ __forceinline__ Word<double>* kept(int stretch) const {
        return (Word<double>*)(sweep.kept + (stretch % 2 * groups() + group) * (long long)(HEIGHT * COLUMNS));
    }
};
