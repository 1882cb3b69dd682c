// A panel's part in a triangular solve (solve.cu): fragments of blocks of L, sums of products with them, and the
// solutions of other panels.
#pragma once
#include "common/async_copy.cuh"
#include "common/flags.cuh"
#include "common/mma.cuh"
#include "common/panel.cuh"
#include "resident/peers.cuh"
#include "resident/unpublished.cuh"

constexpr int ROW_WARPS = 4;                      // warps that share the rows of a panel, 16 each
constexpr int HALVES = WARPS / ROW_WARPS;         // of the columns, one for each of the warps with the same rows
constexpr int STEPS = PANEL_COLS / HALVES / 16;   // products of 16 columns for a warp
constexpr unsigned NAP = 40;                      // nanoseconds of a pause for each panel up to the block's own
constexpr int PAD = 4;                            // from row to row in shared memory: no bank conflicts

// A thread's position in fragments of 16 x 16 blocks of L: rows `row` and `row` + 8, columns `col` + 4 s.
struct Place {
    int lane, half, row, col;

    __device__ __forceinline__ Place()
        : lane(threadIdx.x % 32),
          half(threadIdx.x / 32 / ROW_WARPS),
          row(threadIdx.x / 32 % ROW_WARPS * 16 + lane / 4),
          col(half * (PANEL_COLS / HALVES) + lane % 4) {}
};

// A thread's part of a 64 x 64 block.
template <class S>
struct Fragments {
    S a[STEPS][4][2];

    // The leading `cols` columns of a lower triangle, or of its transpose.
    template <bool FORWARD, class From>
    __device__ __forceinline__ void load_triangle(const Place& at, const From* block, long long stride, int rows,
                                                  int cols) {
#pragma unroll
        for (int t = 0; t < STEPS; ++t)
#pragma unroll
            for (int s = 0; s < 4; ++s)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const int i = at.row + 8 * h, j = at.col + 16 * t + 4 * s;
                    const int row = FORWARD ? i : j, col = FORWARD ? j : i;
                    a[t][s][h] = col <= row && row < rows && col < cols ? (S)block[col * stride + row] : S(0);
                }
    }

    // -D^-1 L, or -D^-T L^T, of the panel at `first` (order `rows`), with the block of L or L^T whose columns are those of the
    // panel at `column`.
    template <bool FORWARD, class T>
    __device__ __forceinline__ void load_product(const Place& at, const double* inverse, int rows, const T* l,
                                                 long long stride, long long first, long long column, long long n) {
        constexpr int TILES = 2 * STEPS;  // of eight columns
        double c[TILES][4] = {};
        const int group = at.row / 16;
#pragma unroll
        for (int k = 0; k < PANEL_COLS / 16; ++k) {
            if (FORWARD ? k > group : k < group) continue;  // beyond the triangle
            double x[4][2];
#pragma unroll
            for (int s = 0; s < 4; ++s)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const int i = at.row + 8 * h, j = 16 * k + at.lane % 4 + 4 * s;
                    const int row = FORWARD ? i : j, col = FORWARD ? j : i;
                    x[s][h] = col <= row && row < rows ? inverse[col * PANEL_COLS + row] : 0.0;
                }
#pragma unroll
            for (int tile = 0; tile < TILES; ++tile) {
                // In the order in which the thread's columns of the product are those of a fragment.
                const long long j = column + at.half * (PANEL_COLS / HALVES) + 8 * tile + at.lane / 4 % 2 * 4 + at.lane / 8;
                double y[4];
#pragma unroll
                for (int s = 0; s < 4; ++s) {
                    const long long i = first + 16 * k + at.lane % 4 + 4 * s;
                    y[s] = -(double)(FORWARD ? l[j * stride + min(i, n - 1)] : l[min(i, n - 1) * stride + min(j, n - 1)]);
                }
                mma_m16n8k16_f64(c[tile], x, y);
            }
        }
#pragma unroll
        for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
            for (int e = 0; e < 4; ++e) a[tile / 2][tile % 2 * 2 + e % 2][e / 2] = c[tile][e];
    }
};

constexpr int MAX_TILES = 4;

// Blocks of L (64 x 64) on their way to shared memory, a few at a time. A warp copies what it multiplies by, so that no other
// warp waits for it: 16 rows and 32 columns of the block, or the other way round of a block of L^T.
template <bool FORWARD, class T>
struct Tiles {
    static constexpr int STRIDE = PANEL_COLS + 4;  // from column to column: no bank conflicts
    static constexpr int SIZE = PANEL_COLS * STRIDE;

    T* memory;
    int slots;  // 1 to MAX_TILES

    __device__ __forceinline__ T* slot(int p) const { return memory + p % slots * SIZE; }

    // Begins to copy block p, in the rows from `row` and the columns from `column` on; beyond row n - 1 come zeros.
    __device__ __forceinline__ void fetch(const Place& at, int p, const T* l, long long stride, long long row,
                                          long long column, long long n) const {
        constexpr int EACH = 16 / sizeof(T), OF_GROUP = PANEL_COLS / ROW_WARPS, OF_HALF = PANEL_COLS / HALVES;
        constexpr int ROWS = FORWARD ? OF_GROUP : OF_HALF, COLS = FORWARD ? OF_HALF : OF_GROUP, PARTS = ROWS / EACH;
        const int group = at.row / 16 * OF_GROUP, half = at.half * OF_HALF;
        const int i = (FORWARD ? group : half) + at.lane % PARTS * EACH;
        const long long left = (n - row - i) * (long long)sizeof(T);
        const int bytes = (int)max(0ll, min(16ll, left));
        T* const to = slot(p);
#pragma unroll
        for (int q = 0; q < COLS * PARTS / 32; ++q) {
            const int j = (FORWARD ? half : group) + q * (32 / PARTS) + at.lane / PARTS;
            copy_async<16>(to + j * STRIDE + i, l + (column + j) * stride + (bytes > 0 ? row + i : 0), bytes);
        }
    }

    // Waits for block p, of which `slots` - 1 batches have been committed behind it.
    __device__ __forceinline__ void wait() const {
        if (slots == 4)
            copy_async_wait<3>();
        else if (slots == 3)
            copy_async_wait<2>();
        else if (slots == 2)
            copy_async_wait<1>();
        else
            copy_async_wait<0>();
        __syncwarp();
    }

    // The thread's part of block p.
    __device__ __forceinline__ void load(const Place& at, int p, Fragments<T>& block) const {
        const T* const from = slot(p);
#pragma unroll
        for (int t = 0; t < STEPS; ++t)
#pragma unroll
            for (int s = 0; s < 4; ++s)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const int i = at.row + 8 * h, j = at.col + 16 * t + 4 * s;
                    block.a[t][s][h] = from[FORWARD ? j * STRIDE + i : i * STRIDE + j];
                }
    }
};

// Sums of a thread: rows `row` and `row` + 8, columns 2 (lane % 4) and the next one of each eight right-hand sides.
template <int RHS>
struct Sums {
    double c[RHS / 8][4];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int r = 0; r < RHS / 8; ++r)
#pragma unroll
            for (int e = 0; e < 4; ++e) c[r][e] = 0.0;
    }

    // The products of both sixteens do not wait for each other.
    template <class S>
    __device__ __forceinline__ void add_product(const Place& at, const Fragments<S>& block,
                                                const double (*x)[RHS + PAD]) {
        double other[RHS / 8][4] = {};
#pragma unroll
        for (int t = 0; t < STEPS; ++t) {
            double a[4][2];
#pragma unroll
            for (int s = 0; s < 4; ++s)
#pragma unroll
                for (int h = 0; h < 2; ++h) a[s][h] = (double)block.a[t][s][h];
#pragma unroll
            for (int r = 0; r < RHS / 8; ++r) {
                double b[4];
#pragma unroll
                for (int s = 0; s < 4; ++s) b[s] = x[at.col + 16 * t + 4 * s][8 * r + at.lane / 4];
                mma_m16n8k16_f64(t % 2 ? other[r] : c[r], a, b);
            }
        }
#pragma unroll
        for (int r = 0; r < RHS / 8; ++r)
#pragma unroll
            for (int e = 0; e < 4; ++e) c[r][e] += other[r][e];
    }

    // Calls f(sum, row, column) for each of them.
    template <class F>
    __device__ __forceinline__ void each(const Place& at, F f) {
#pragma unroll
        for (int r = 0; r < RHS / 8; ++r)
#pragma unroll
            for (int e = 0; e < 4; ++e) f(c[r][e], at.row + e / 2 * 8, 8 * r + at.lane % 4 * 2 + e % 2);
    }

#ifdef DISTRIBUTED
    // The sums of this thread among those of a panel and group.
    __device__ __forceinline__ static double* in_memory(double* sums, long long of) {
        return sums + of * (2 * PANEL_COLS * RHS) + threadIdx.x;
    }
    // Waits until the sums have gone through this number of panels, and loads them.
    __device__ __forceinline__ void take(const SolvePeers* peers, long long of, int panels) {
        if (threadIdx.x == 0) {
            Waiting waiting(peers);
            while (load_acquire(peers->summed + of) < panels && !waiting.ends()) spin_pause();
        }
        __syncthreads();
        const double* const from = in_memory(peers->sums, of);
#pragma unroll
        for (int r = 0; r < RHS / 8; ++r)
#pragma unroll
            for (int e = 0; e < 4; ++e) c[r][e] = load_relaxed(from + (4 * r + e) * THREADS);
    }
    // Sends them to a device, having gone through this number of panels.
    __device__ __forceinline__ void send(const SolvePeers* peers, long long of, int panels, int device) const {
        double* const to = there(in_memory(peers->sums, of), peers->sums_there[device]);
#pragma unroll
        for (int r = 0; r < RHS / 8; ++r)
#pragma unroll
            for (int e = 0; e < 4; ++e) store_relaxed(to + (4 * r + e) * THREADS, c[r][e]);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence_system();
            store_relaxed(there(peers->summed + of, peers->summed_there[device]), panels);
        }
    }
#endif

    // Adds the halves of the columns, in the threads of the first half.
    __device__ __forceinline__ void gather(const Place& at, double (*parts)[RHS + PAD]) {
        if (at.half > 0) each(at, [&](double& sum, int i, int c) { parts[i][c] = sum; });
        __syncthreads();
        if (at.half == 0) each(at, [&](double& sum, int i, int c) { sum += parts[i][c]; });
    }
};

// A panel's solution on its way to shared memory. It is loaded again until it has been published. It may be loaded a panel ahead,
// which takes longer if it is not there yet. Of a `single` right-hand side, only its own column is there.
template <int RHS>
struct Incoming {
    static constexpr int PAIRS = PANEL_COLS * RHS / 2 / THREADS;  // of words, of a thread
    bool takes, single, loaded = false;
    double found[PAIRS][2];

    __device__ __forceinline__ explicit Incoming(bool single)
        : takes(!single || threadIdx.x < PANEL_COLS / 2), single(single), found() {}

    __device__ __forceinline__ void load(const double* solved) {
#pragma unroll
        for (int q = 0; q < PAIRS; ++q)
            if (takes) load_relaxed(solved + 2 * (threadIdx.x + q * THREADS), found[q][0], found[q][1]);
        loaded = true;
    }

    // Waits until all of it is there; returns whether the thread has had to. A block whose own panel is far from it polls less
    // often.
    __device__ __forceinline__ bool wait(const double* solved, int distance, const SolvePeers* peers) {
        const auto missing = [&] {
            bool any = false;
#pragma unroll
            for (int q = 0; q < PAIRS; ++q) any = any || is_unpublished(found[q][0]) || is_unpublished(found[q][1]);
            return any;
        };
        Waiting waiting(peers);
        bool waited = false;
        while (missing() && !waiting.ends()) {
            waited = true;
            distance > 1 ? __nanosleep(min(distance, 16) * NAP) : spin_pause();
            load(solved);
        }
        loaded = false;
        return waited;
    }

    __device__ __forceinline__ void store(double (*x)[RHS + PAD]) const {
#pragma unroll
        for (int q = 0; q < PAIRS; ++q) {
            const int at = 2 * (threadIdx.x + q * THREADS);
            if (single && takes) {
                x[at][0] = found[q][0];
                x[at + 1][0] = found[q][1];
            } else if (takes) {
                x[at / RHS][at % RHS] = found[q][0];
                x[at / RHS][at % RHS + 1] = found[q][1];
            }
        }
    }
};
