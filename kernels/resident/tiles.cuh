// Tiles of 64 x 64 in shared memory, and products with them: for group.cuh.
#pragma once
#include "common/panel.cuh"

constexpr int GROUP = 2; // panels of a block of threads
constexpr int HEIGHT = GROUP * ROWS;

// A tile of 64 x 64 in shared memory, column-major: no bank conflicts.
template <class S>
__device__ constexpr int tile_stride() {
    return sizeof(S) == 8 ? ROWS + 4 : ROWS + 8;
}
constexpr int TILE = ROWS * (ROWS + 4); // doubles

// The tiles of a group in shared memory: D^-1 of its first panel, the block of L below, D^-1 of the second. All of them
// at once, or where there is room for one alone, when they are wanted.
template <class T>
struct Tiles {
    double* memory;
    bool all;
    int panels, rows; // of the group
    const T* l;
    long long l_stride;
    const double* inverse;

    // Rows before `rows` of 64 columns, which begin at multiples of 16 bytes. `triangle`: sixteens above the diagonal are
    // not wanted.
    template <class S>
    __device__ __forceinline__ static void copy(double* slot, const S* from, long long stride, int rows,
                                                bool triangle = false) {
        constexpr int BYTES = WORD_BYTES, EACH = BYTES / (int)sizeof(S), AT_ONCE = ROWS / EACH,
                      COLS = THREADS / AT_ONCE;
        const int i = threadIdx.x % AT_ONCE * EACH, first = threadIdx.x / AT_ONCE;
        const int bytes = max(0, min(BYTES, (rows - i) * (int)sizeof(S)));
        S* to = (S*)slot + first * tile_stride<S>() + i;
        from += first * stride + (bytes > 0 ? i : 0);
#pragma unroll 4
        for (int j = first; j < ROWS; j += COLS) {
            if (!triangle || j / 16 <= i / 16) copy_async<BYTES>(to, from, bytes);
            to += COLS * tile_stride<S>();
            from += COLS * stride;
        }
    }

    __device__ __forceinline__ double* slot(int index) const { return memory + (all ? index * TILE : 0); }

    __device__ __forceinline__ void fetch(int index) const {
        if (index > 0 && panels == 1) {
        } else if (index != 1) {
            copy(slot(index), inverse + index / 2 * ROWS * ROWS, ROWS, ROWS, true);
        } else {
            copy(slot(1), l + ROWS, l_stride, rows - ROWS);
        }
    }

    __device__ __forceinline__ void start() const {
        for (int index = 0; all && index < 3; ++index) fetch(index);
        copy_async_commit();
    }

    // Behind a barrier. What was done with the one before is done by all threads.
    __device__ __forceinline__ const double* get(int index) const {
        if (!all) {
            __syncthreads();
            fetch(index);
            copy_async_commit();
            copy_async_wait_all();
            __syncthreads();
        }
        return slot(index);
    }
};

// What a warp has of a product of a tile and 64 x 16: 16 rows and eight columns. Warps that share a part of a
// multiprocessor have as much to do together where the tile is a triangle.
struct Share {
    Lane at;
    int row, column; // its first
    __device__ Share() : column(at.warp / 4 * 8) { row = 16 * (column ? 3 - at.warp % 4 : at.warp % 4); }

    __device__ __forceinline__ double& entry(double* m, int e) const {
        return m[(row + at.row + e / 2 * 8) * LD + column + 2 * at.q + e % 2];
    }

    // c <- c + a b. `steps`: sixteens of the sum.
    template <class S>
    __device__ __forceinline__ void multiply(const S* a, const double* b, int steps, double (&c)[4]) const {
        a += at.q * tile_stride<S>() + row + at.row;
        b += at.q * LD + column + at.row;
#pragma unroll
        for (int step = 0; step < STEPS / 4; ++step) {
            if (step >= steps) break;
            double x[4][2], y[4];
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                x[s][0] = (double)a[4 * s * tile_stride<S>()];
                x[s][1] = (double)a[4 * s * tile_stride<S>() + 8];
                y[s] = b[4 * s * LD];
            }
            mma_m16n8k16_f64(c, x, y);
            a += 16 * tile_stride<S>();
            b += 16 * LD;
        }
    }
};
