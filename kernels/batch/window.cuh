// A packed triangle that passes through shared memory column by column, by the LANES lanes of a matrix of up to LANES * ROWS rows.
#pragma once
#include "batch/triangles.cuh"

// COLUMNS neighbouring columns are there at a time, while others arrive.
template <class T, int LANES, int ROWS, int COLUMNS, int STAGES>
struct Window {
    // So many columns are no longer than a stage, so that they are in two of them.
    static constexpr int MOST = LANES * ROWS, STAGE = COLUMNS * MOST, RING = STAGES * STAGE;
    static_assert((RING & (RING - 1)) == 0, "places in the ring");
    // Of a matrix: the first places of the ring are there again behind the last ones, so that a column is in one piece. The stride is
    // such that the lanes of all matrices of a warp access different banks.
    static constexpr int SCALARS = RING + MOST + (LANES < 32 ? LANES : 0);

    T* memory;
    int member;
    const T* from;
    int scalars;  // of the triangle, as far as they are to be read
    int step;     // from one stage to the next: 1, or -1 from the last column to the first
    int next, stage;

    // The column that begins at this place of the triangle.
    __device__ __forceinline__ const T* column(int place) const { return memory + (place & (RING - 1)); }

    __device__ __forceinline__ void fetch() {
        const int begin = next * STAGE;
        T* const to = memory + (begin & (RING - 1));
#pragma unroll
        for (int word = 0; word < STAGE; word += LANES * Word<T>::SCALARS) {
            const int own = word + member * Word<T>::SCALARS, place = begin + own;
            if (own < STAGE && place >= 0 && place < scalars) copy_async_16(to + own, from + place);
        }
        copy_async_commit();
        next += step;
    }

    // Begins at the first column of a triangle. Of one that is not `wanted` nothing is read.
    __device__ __forceinline__ void open(const T* triangle, int entries, bool wanted) {
        from = triangle, scalars = wanted ? entries : 0;
        step = 1, next = 0, stage = -1;
        begin();
    }
    // Begins at the last column. If the same triangle has passed before, its last stages are still there.
    __device__ __forceinline__ void open_backwards(const T* triangle, int entries, bool has_passed) {
        const int stages = (entries + STAGE - 1) / STAGE;
        from = triangle, scalars = has_passed ? (stages - STAGES) * STAGE : entries;
        step = -1, next = stages - 1, stage = stages;
        begin();
    }
    __device__ __forceinline__ void begin() {
        __syncwarp();
#pragma unroll
        for (int ahead = 1; ahead < STAGES; ++ahead) fetch();
    }

    // Waits for the columns that begin at this place, or that end before it if the triangle passes backwards. Those before them
    // have been read.
    __device__ __forceinline__ void move_to(int place) {
        const int wanted = (int)((unsigned)(step > 0 ? place : place - 1) / STAGE);
        if (wanted == stage) return;
        stage = wanted;
        __syncwarp();
        fetch();
        copy_async_wait<STAGES - 2>();
        __syncwarp();
        // The columns may go on from the last stage of the ring to the first one.
        if ((unsigned)(stage + (step > 0)) % STAGES) return;
#pragma unroll
        for (int row = 0; row < MOST; row += LANES) memory[RING + row + member] = memory[row + member];
        __syncwarp();
    }

    // Before the memory is used otherwise.
    __device__ __forceinline__ void close() const {
        copy_async_wait_all();
        __syncwarp();
    }
};
