// Tiles of 64 x 64 on their way through shared memory, and products with them: for group.cuh.
#pragma once
#include "panel.cuh"

constexpr int GROUP = 4; // panels that are solved by a launch of the chain
constexpr int HEIGHT = GROUP * ROWS;

// A tile of 64 x 64 in shared memory, column-major: no bank conflicts.
template <class S>
__device__ constexpr int tile_stride() {
    return sizeof(S) == 8 ? ROWS + 4 : ROWS + 8;
}
constexpr int TILE = ROWS * (ROWS + 4); // doubles

// The tiles of a group on their way to shared memory, in the order in which they are wanted: of each panel, D^-1 and
// then the blocks of L below.
template <class T>
struct Ring {
    double* slots;
    int size, panels, rows; // of the group
    const T* l;
    long long l_stride;
    const double* inverse;

    __device__ __forceinline__ int of_panel(int j) const { return j * panels - j * (j - 1) / 2; }
    __device__ __forceinline__ double* slot(int index) const { return slots + index % size * TILE; }

    // Rows before `rows` of 64 columns, as many at once as BYTES hold. `triangle`: sixteens above the diagonal
    // are not wanted.
    template <int BYTES, class S>
    __device__ __forceinline__ static void copy(double* slot, const S* from, long long stride, int rows,
                                                bool triangle = false) {
        constexpr int EACH = BYTES / (int)sizeof(S), AT_ONCE = ROWS / EACH, COLS = THREADS / AT_ONCE;
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

    __device__ __forceinline__ void fetch(int index) const {
        int j = 0, i = index;
        while (j < panels && i >= panels - j) i -= panels - j++;
        i += j;
        if (j >= panels) {
        } else if (i == j) {
            copy<16>(slot(index), inverse + j * ROWS * ROWS, ROWS, ROWS, true);
        } else {
            const T* const from = l + j * ROWS * l_stride + i * ROWS;
            if (((size_t)l | l_stride * sizeof(T)) % 16 == 0)
                copy<16>(slot(index), from, l_stride, rows - i * ROWS);
            else
                copy<(int)sizeof(T)>(slot(index), from, l_stride, rows - i * ROWS);
        }
        copy_async_commit();
    }

    // Before the first, and again behind anything that has used the slots.
    __device__ __forceinline__ void start(int index) const {
        if (size > 1) {
            fetch(index);
            fetch(index + 1);
        }
    }

    // The next tile; what was done with the one before is done by all threads.
    __device__ __forceinline__ const double* next(int index) const {
        if (size > 1) {
            copy_async_wait_but_one();
            __syncthreads();
            fetch(index + 2);
        } else {
            __syncthreads();
            fetch(index);
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
