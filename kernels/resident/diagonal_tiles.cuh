// The tiles by which the critical path of a row block multiplies, in shared memory, and a warp's part of those
// products.
#pragma once
#include "resident/sweep_args.cuh"
#include "common/gemm.cuh"

constexpr int TILE = PANEL_COLS * (PANEL_COLS + 4);  // doubles of a tile (64 x 64)

// Three tiles of a row block: D^-1 of its first panel, the block of L below that panel's diagonal block, D^-1 of its
// second panel. If there is room, all of them are in shared memory at once; if there is room for one, each is copied
// when it is needed.
template <class T>
struct DiagonalTiles {
    double* memory;
    bool all;
    int panels, rows;  // of the row block
    const T* l;        // its first diagonal entry
    long long l_stride;
    const double* inverse;  // of its first diagonal block

    // Begins to copy a tile whose columns begin at multiples of 16 bytes; rows from `rows` on become zeros. `triangle`:
    // 16 x 16 blocks above the diagonal are not needed, and not copied.
    template <class S>
    __device__ __forceinline__ static void copy(double* slot, const S* from, long long stride, int rows,
                                                bool triangle = false) {
        constexpr int BYTES = WORD_BYTES, EACH = BYTES / (int)sizeof(S), AT_ONCE = PANEL_COLS / EACH,
                      COLS = THREADS / AT_ONCE;
        const int i = threadIdx.x % AT_ONCE * EACH, first = threadIdx.x / AT_ONCE;
        const int bytes = max(0, min(BYTES, (rows - i) * (int)sizeof(S)));
        S* to = (S*)slot + first * tile_stride<1, S>() + i;
        from += first * stride + (bytes > 0 ? i : 0);
#pragma unroll 4
        for (int j = first; j < PANEL_COLS; j += COLS) {
            if (!triangle || j / 16 <= i / 16) copy_async<BYTES>(to, from, bytes);
            to += COLS * tile_stride<1, S>();
            from += COLS * stride;
        }
    }

    __device__ __forceinline__ double* slot(int index) const { return memory + (all ? index * TILE : 0); }

    __device__ __forceinline__ void fetch(int index) const {
        if (index > 0 && panels == 1) {
        } else if (index != 1) {
            copy(slot(index), inverse + index / 2 * PANEL_COLS * PANEL_COLS, PANEL_COLS, PANEL_COLS, true);
        } else {
            copy(slot(1), l + PANEL_COLS, l_stride, rows - PANEL_COLS);
        }
    }

    // Begins to copy all tiles, if there is room for them.
    __device__ __forceinline__ void start() const {
        for (int index = 0; all && index < 3; ++index) fetch(index);
        copy_async_commit();
    }

    // Tile `index`, by all threads. The caller has waited for the copies of `start`, and no longer uses the previous
    // tile.
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

// A warp's part of a product of a tile (64 x 64) and a matrix (64 x RANK_BLOCK): 16 rows and half of the columns.
// Warps w and w + 4 share a part of the multiprocessor. With rows 16 w and 16 (3 - w) all pairs have equal work when
// the tile is a triangle.
struct DiagonalPart {
    // A thread's entries of the part, in groups of eight columns, each in the layout of a product.
    static constexpr int ENTRIES = 4 * V_SIXTEENS;
    typedef double Entries[ENTRIES];

    MmaLane at;
    int row, column;  // its first
    __device__ DiagonalPart() : column(at.warp / 4 * (RANK_BLOCK / 2)) {
        row = 16 * (column ? 3 - at.warp % 4 : at.warp % 4);
    }

    // The thread's entry e of the product in a matrix in shared memory (row-major).
    __device__ __forceinline__ double& entry(double* m, int e) const {
        return m[(row + at.row + e % 4 / 2 * 8) * V_STRIDE + column + at.column(e / 4, e % 2)];
    }

    // The entries of the eight columns t.
    __device__ static __forceinline__ double (&of_product(Entries& c, int t))[4] {
        return *(double (*)[4])(c + 4 * t);
    }

    // C <- C + A B for `steps` sixteens of the sum. (A a tile, B row-major) A is loaded once for all columns.
    template <class S>
    __device__ __forceinline__ void gemm(const S* a, const double* b, int steps, Entries& c) const {
        a += at.q * tile_stride<1, S>() + row + at.row;
        b += at.q * V_STRIDE + column + at.row;
#pragma unroll
        for (int step = 0; step < K_STEPS / 4; ++step) {
            if (step >= steps) break;
            double x[4][2];
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                x[s][0] = (double)a[4 * s * tile_stride<1, S>()];
                x[s][1] = (double)a[4 * s * tile_stride<1, S>() + 8];
            }
#pragma unroll
            for (int t = 0; t < V_SIXTEENS; ++t) {
                double y[4];
#pragma unroll
                for (int s = 0; s < 4; ++s) y[s] = b[4 * s * V_STRIDE + 8 * t];
                mma_m16n8k16_f64(of_product(c, t), x, y);
            }
            a += 16 * tile_stride<1, S>();
            b += 16 * V_STRIDE;
        }
    }
};
