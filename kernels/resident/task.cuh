// The tasks of a launch of sweep.cu: what a thread block does, what it waits for, and what it publishes.
#pragma once
#include "resident/v_rows.cuh"

// What a task does with a row block:
//     FORWARDING     transforms L and V through a panel range and passes V to the next range
//     INVERTING      inverts a diagonal block that the previous sweep has left
//     CRITICAL_PATH  transforms V alone from the beginning of a panel range to the row block's diagonal blocks, and
//                    through those
//     UPDATE         transforms L and V through a panel range after the critical-path task, which has saved V for it
constexpr unsigned FORWARDING = 0, INVERTING = 1, CRITICAL_PATH = 2, UPDATE = 3;

// A task's word, from the lowest bits on: the row block; the panel range (its first for a critical-path task, or which
// of the row block's diagonal blocks to invert); the rank block; the kind. All count from 0.
constexpr int ROW_BLOCK_BITS = 14, RANGE_BITS = 12, RANK_BLOCK_BITS = 4;
constexpr int RANGE_SHIFT = ROW_BLOCK_BITS, RANK_BLOCK_SHIFT = RANGE_SHIFT + RANGE_BITS,
              KIND_SHIFT = RANK_BLOCK_SHIFT + RANK_BLOCK_BITS;

// No task's word: that of the last row block, panel range and rank block that a word can name.
constexpr unsigned NO_TASK = ~0u;

constexpr int COMMON_FLAGS = 1;  // before those of the sweeps: the counter of the tasks that have been taken

// The flags of a sweep: one for each panel, and two for each row block and panel range.
__device__ constexpr int flags_of_sweep(int panels, int row_blocks, int ranges) {
    return panels + 2 * row_blocks * ranges;
}

template <class T>
struct Task {
    Sweep<T> sweep;
    int row_block, range;
    unsigned kind;
    int begin, end;  // the panels that the task goes through, without those of its diagonal blocks
    int range_panels, v_slots;
    int v_columns;  // of the rank block; further columns are zeros

    __device__ __forceinline__ Task(const Launch<T>& launch, unsigned word, const Peers* peers)
        : sweep(launch.sweep),
          row_block(word & ((1 << ROW_BLOCK_BITS) - 1)),
          range(word >> RANGE_SHIFT & ((1 << RANGE_BITS) - 1)),
          kind(word >> KIND_SHIFT),
          range_panels(launch.range_panels),
          v_slots(launch.v_slots) {
        sweep.peers = peers;
        const int rank_block = word >> RANK_BLOCK_SHIFT & ((1 << RANK_BLOCK_BITS) - 1);
        const int flags = flags_of_sweep(panels(), row_blocks(), ranges());
        const bool plus = rank_block < launch.plus;
        v_columns = rank_block + 1 == launch.plus ? launch.last_plus
                    : rank_block == launch.plus   ? launch.first_minus
                                                  : RANK_BLOCK;
        sweep.v += rank_block * RANK_BLOCK * sweep.v_stride;
        sweep.saved_v += rank_block * v_slots * row_blocks() * (long long)(ROW_BLOCK * RANK_BLOCK);
        sweep.records += (long long)rank_block * panels() * RECORD;
        sweep.flags += COMMON_FLAGS + rank_block * flags;
        sweep.sign = plus ? 1.0 : -1.0;
        sweep.flags_before = nullptr;
        if (rank_block > 0) {
            sweep.from = sweep.to;
            sweep.flags_before = sweep.flags - flags;
        }
#ifdef DISTRIBUTED
        const long long at = sweep.peers->row_blocks[row_block];
        sweep.from += at;
        sweep.to += at;
#endif
        begin = range * range_panels;
        end = kind == CRITICAL_PATH ? row_block * ROW_BLOCK_PANELS : min(begin + range_panels, own_end());
    }

    __device__ __forceinline__ int panels() const { return (int)((sweep.n + PANEL_COLS - 1) / PANEL_COLS); }
    __device__ __forceinline__ int row_blocks() const {
        return (panels() + ROW_BLOCK_PANELS - 1) / ROW_BLOCK_PANELS;
    }
    __device__ __forceinline__ int ranges() const { return (panels() + range_panels - 1) / range_panels; }
    // The panel range of the row block's own panels.
    __device__ __forceinline__ int own_range() const { return row_block * ROW_BLOCK_PANELS / range_panels; }
    // The panel after the row block's own.
    __device__ __forceinline__ int own_end() const {
        return min((row_block + 1) * ROW_BLOCK_PANELS, panels());
    }

    // By one thread. Waits until the previous sweep has written L of this panel range; an update task that writes in
    // place also waits until the critical-path task has read it.
    __device__ __forceinline__ void wait_for_l(int range) const {
        if (sweep.flags_before) poll_flag(sweep.peers, l_flag(sweep.flags_before, range), 1);
        if (kind == UPDATE && sweep.from == sweep.to)
            poll_panel(sweep, own_end() - 1, COEFFICIENTS_PUBLISHED);
    }

    // By all threads, in a sweep after another. Waits for the inverses of the row block's diagonal blocks.
    __device__ __forceinline__ void wait_for_inverses() const {
        if (threadIdx.x == 0)
            poll_flag(sweep.peers, l_flag(sweep.flags_before, own_range()), 1 + own_end() - row_block * ROW_BLOCK_PANELS);
        __syncthreads();
    }

    // Whether the task begins with V itself. Update tasks do not: V is not read any more when all pivots are there.
    __device__ __forceinline__ bool takes_v() const { return begin == 0 && kind != UPDATE; }

    // By one thread: waits for V at the beginning of the task.
    __device__ __forceinline__ void wait_for_v() const {
        if (!takes_v()) poll_flag(sweep.peers, v_flag(range), WARPS);
    }

    // Loads V of the thread's rows, the first of which is `row`, at the beginning of the task: V itself, or the copy that
    // another task has saved, for which one thread has waited. What is not finite is loaded as zero: the host may refuse
    // a V while its sweep runs.
    __device__ __forceinline__ void load_v(const MmaLane& at, long long row, VRows& v) const {
        if (takes_v()) {
#pragma unroll
            for (int e = 0; e < 4 * V_EIGHTS; ++e) {
                const long long i = row + e % 4 / 2;
                const int column = at.column(e / 4, e % 2);
                const double entry =
                    column < v_columns && i < sweep.n ? (double)sweep.v[column * sweep.v_stride + i] : 0.0;
                v[e / 4][e % 4] = entry - entry == 0.0 ? entry : 0.0;
            }
            return;
        }
#pragma unroll
        for (int e = 0; e < 4 * V_EIGHTS; e += 2) {
            const Word<double> two = saved_v(range)[e / 2 * THREADS + threadIdx.x];
            v[e / 4][e % 4] = two.scalar[0];
            v[e / 4][e % 4 + 1] = two.scalar[1];
        }
    }

    // Saves V of the warp's rows as it is at the beginning of a panel range; publish_v follows.
    __device__ __forceinline__ void save_v(const MmaLane& at, int range, const VRows& v) const {
#pragma unroll
        for (int e = 0; e < 4 * V_EIGHTS; e += 2)
            saved_v(range)[e / 2 * THREADS + threadIdx.x] = {{v[e / 4][e % 4], v[e / 4][e % 4 + 1]}};
    }

    // Publishes the saved V of the warp. The release waits for all writes of the warp.
    __device__ __forceinline__ void publish_v(const MmaLane& at, int range) const {
        __syncwarp();
        if (at.lane == 0) add_release(v_flag(range), 1);
    }

    // By all threads: publishes the new L of the panel range, or the inverse of a diagonal block.
    __device__ __forceinline__ void publish_l() const {
        int* const flag =
            kind == INVERTING ? l_flag(sweep.flags_before, own_range()) : l_flag(sweep.flags, range);
        __syncthreads();
        if (threadIdx.x == 0) add_release(flag, 1);
    }

private:
    // Counts the warps that have saved V at the beginning of the panel range.
    __device__ __forceinline__ int* v_flag(int range) const {
        return sweep.flags + panels() + row_block * ranges() + range;
    }
    // 1 once the new L of the panel range is written, and 1 more for each inverse of the row block's diagonal blocks.
    __device__ __forceinline__ int* l_flag(int* flags, int range) const {
        return flags + panels() + (row_blocks() + row_block) * ranges() + range;
    }
    __device__ __forceinline__ Word<double>* saved_v(int range) const {
        return (Word<double>*)(sweep.saved_v + (range % v_slots * row_blocks() + row_block) *
                                                   (long long)(ROW_BLOCK * RANK_BLOCK));
    }
};
