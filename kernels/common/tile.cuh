// Tiles of L and of inverses in shared memory, copied by a block of 256 threads.
#pragma once
#include "common/async_copy.cuh"
#include "common/memory.cuh"
#include "common/panel.cuh"

// Scalars from one column to the next of a tile of 64 R rows in shared memory; there are no bank conflicts.
template <int R, class S>
__device__ constexpr int tile_stride() {
    return R * PANEL_COLS + (sizeof(S) == 8 ? 4 : 8);
}

// Begins to copy a tile (64 R x COLS) to shared memory, by all threads; its columns begin at multiples of 16 bytes.
// Rows from `rows` on become zeros.
template <int R, int COLS, class S>
__device__ __forceinline__ void copy_tile(S* to, const S* from, long long stride, long long rows) {
    constexpr int EACH = WORD_BYTES / (int)sizeof(S), AT_ONCE = R * PANEL_COLS / EACH,
                  STEP = THREADS / AT_ONCE;
    static_assert(COLS % STEP == 0, "every thread copies as much");
    const int i = threadIdx.x % AT_ONCE * EACH, first = threadIdx.x / AT_ONCE;
    const int bytes = (int)max(0ll, min((long long)EACH, rows - i)) * (int)sizeof(S);
    to += first * tile_stride<R, S>() + i;
    from += first * stride + (bytes > 0 ? i : 0);
#pragma unroll
    for (int j = 0; j < COLS; j += STEP) {
        copy_async<WORD_BYTES>(to, from, bytes);
        to += STEP * tile_stride<R, S>();
        from += STEP * stride;
    }
}
