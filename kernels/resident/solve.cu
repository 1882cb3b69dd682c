// Triangular solves with a factor in device memory, in one launch: L Y = B, or L^T X = Y from the last row upwards.
//
// A thread block takes 64 rows of the solution, a panel, and some right-hand sides. It subtracts the products with the
// panels solved before it, each as soon as it is published, and solves with its diagonal block by a product with the
// inverse and one correction:
//
//     r = b - sum L_pj x_j        x = D^-1 r        x <- x + D^-1 (r - D x)
//
// Thread blocks take panels in the order of a counter, so that a block waits only for panels that running blocks have
// taken. A panel's solution is its own flag: before the launch all bits of its words are ones, which is no number, and
// no NaN that arithmetic gives.
//
// Shapes, column-major:
//     l         n x n, entry (i, j), i >= j, at l + j * stride + i; read
//     inverse   panels x 64 x 64, as invert.cu leaves it; read
//     from      n x count, column c at c * x_stride: B; read
//     to        n x count, column c at c * x_stride: X; written
//     solved    panels x groups x 64 x RHS, row-major by panel and group of right-hand sides: X in double precision; all
//               bits ones before the launch
//     taken     the counter, 0 before the launch
//     end       forward, the columns of L that are solved with, n or less: rows from there on become b - L x
//
// Several devices (solve_distributed.cu): each solves the panels of its own rows, in launches that run at the same time,
// and publishes them in the memory of all. `from` and `to` all devices share; the other memory each has for itself. A
// device reads only its own rows of L. Backward, where the rows of a panel's products are on all devices, the sums go
// from device to device: a task goes through one block of rows, and leaves its sums to the device that has the block
// before it. If a device fails, the host sets `stop`.
//
// Launch: blocks of 256 threads, one for each panel, or task of the device, and group of RHS right-hand sides.
#include "common/async_copy.cuh"
#include "common/flags.cuh"
#include "common/layout.cuh"
#include "common/mma.cuh"
#include "common/panel.cuh"
#include "resident/peers.cuh"
#include "resident/unpublished.cuh"

constexpr int ROW_WARPS = 4;                      // warps that share the rows of a panel, 16 each
constexpr int HALVES = WARPS / ROW_WARPS;         // of the columns, one for each of the warps with the same rows
constexpr int STEPS = PANEL_COLS / HALVES / 16;   // products of 16 columns for a warp
constexpr unsigned NAP = 40;                      // nanoseconds of a pause for each panel up to the block's own
constexpr int AHEAD = 4;                          // panels before its own, a block prefetches its diagonal block
constexpr int PAD = 4;                            // from row to row in shared memory: no bank conflicts

template <class T>
struct System {
    const T* l;
    long long stride;
    const double* inverse;
    const T* from;
    T* to;
    long long x_stride;
    double* solved;
    int* taken;
    long long n, end;
    int count;
    const SolvePeers* peers;
    const long long* row_blocks;  // of the device's rows, as in Peers

    // Where L lies for these rows of it, of one panel, which the device has.
    __device__ __forceinline__ const T* rows(long long first) const {
#ifdef DISTRIBUTED
        return l + __ldg(row_blocks + first / (2 * PANEL_COLS));
#else
        return l;
#endif
    }
};

// What a block does with a panel: it goes through the panels from `begin` on before `end`, and then solves the panel, or
// leaves the sums to the device with this number. Panels are numbered in the order of the solution.
struct SolveTask {
    int panel, begin, end, next;
    bool solves;

    template <bool FORWARD, class T>
    __device__ __forceinline__ static SolveTask take(const System<T>& system, int number, int panels) {
        SolveTask task{number, 0, number, 0, true};
#ifdef DISTRIBUTED
        if (FORWARD) {
            task.panel = task.end = system.peers->own[number];
        } else {
            const unsigned word = system.peers->backward[number];
            const int first = (int)(word >> 16) * (int)system.peers->together;
            const int last = min(first + (int)system.peers->together, panels);
            task.panel = panels - 1 - (int)(word & 0xffff);
            task.begin = panels - last;
            task.solves = task.panel < panels - first;
            task.end = task.solves ? task.panel : panels - first;
            task.next = (int)((word >> 16) + system.peers->devices - 1) % system.peers->devices;
        }
#endif
        return task;
    }
};

template <int RHS>
struct SolveShared {
    // Solutions of panels, in turn; later the right factor of the diagonal block, and the sums of the second half of
    // its columns.
    double x[2][PANEL_COLS][RHS + PAD];
    int ticket;
};

// A thread's position in fragments of 16 x 16 blocks of L: rows `row` and `row` + 8, columns `col` + 4 s.
struct Place {
    int lane, half, row, col;

    __device__ __forceinline__ Place()
        : lane(threadIdx.x % 32),
          half(threadIdx.x / 32 / ROW_WARPS),
          row(threadIdx.x / 32 % ROW_WARPS * 16 + lane / 4),
          col(half * (PANEL_COLS / HALVES) + lane % 4) {}
};

// Keeps the uses of x after the preceding barrier: entries of L converted earlier would take twice the registers.
__device__ __forceinline__ double behind_barrier(double x) { return x; }
__device__ __forceinline__ float behind_barrier(float x) {
#ifndef FAKE_CUDA
    asm volatile("" : "+f"(x));
#endif
    return x;
}

// A thread's part of a 64 x 64 block.
template <class S>
struct Fragments {
    S a[STEPS][4][2];

    // The block of L, or of L^T, in the rows from `first` and the columns from `column` on. Beyond row n - 1 of L that
    // row is loaded instead, and contributes nothing.
    template <bool FORWARD>
    __device__ __forceinline__ void load(const Place& at, const S* l, long long stride, long long first,
                                         long long column, long long n) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const long long i = first + at.row + 8 * h, j = column + at.col;
            const S* const from = FORWARD ? l + j * stride + min(i, n - 1) : l + i * stride;
#pragma unroll
            for (int t = 0; t < STEPS; ++t)
#pragma unroll
                for (int s = 0; s < 4; ++s) {
                    const int step = 16 * t + 4 * s;
                    a[t][s][h] = FORWARD ? from[step * stride] : from[min(j + step, n - 1)];
                }
        }
    }

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

    template <class S>
    __device__ __forceinline__ void add_product(const Place& at, const Fragments<S>& block,
                                                const double (*x)[RHS + PAD]) {
#pragma unroll
        for (int t = 0; t < STEPS; ++t) {
            double a[4][2];
#pragma unroll
            for (int s = 0; s < 4; ++s)
#pragma unroll
                for (int h = 0; h < 2; ++h) a[s][h] = (double)behind_barrier(block.a[t][s][h]);
#pragma unroll
            for (int r = 0; r < RHS / 8; ++r) {
                double b[4];
#pragma unroll
                for (int s = 0; s < 4; ++s) b[s] = x[at.col + 16 * t + 4 * s][8 * r + at.lane / 4];
                mma_m16n8k16_f64(c[r], a, b);
            }
        }
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

// Waits for a panel's solution and copies it to shared memory. A block whose own panel is far from it polls less
// often.
template <int RHS>
__device__ __forceinline__ void bring(const double* solved, int distance, double (*x)[RHS + PAD],
                                      const SolvePeers* peers) {
    constexpr int PAIRS = PANEL_COLS * RHS / 2 / THREADS;
    double found[PAIRS][2];
    Waiting waiting(peers);
    for (;;) {
        bool missing = false;
#pragma unroll
        for (int q = 0; q < PAIRS; ++q)
            load_relaxed(solved + 2 * (threadIdx.x + q * THREADS), found[q][0], found[q][1]);
#pragma unroll
        for (int q = 0; q < PAIRS; ++q)
            missing = missing || is_unpublished(found[q][0]) || is_unpublished(found[q][1]);
        if (!missing || waiting.ends()) break;
        distance > 1 ? __nanosleep(min(distance, 16) * NAP) : spin_pause();
    }
#pragma unroll
    for (int q = 0; q < PAIRS; ++q) {
        const int at = 2 * (threadIdx.x + q * THREADS);
        x[at / RHS][at % RHS] = found[q][0];
        x[at / RHS][at % RHS + 1] = found[q][1];
    }
}

template <bool FORWARD, int RHS, class T>
__device__ __forceinline__ void solve(const System<T>& system) {
    __shared__ SolveShared<RHS> shared;
    const Place at;
    const long long n = system.n, stride = system.stride;
    const int groups = (system.count + RHS - 1) / RHS;
    if (threadIdx.x == 0) shared.ticket = atomicAdd(system.taken, 1);
    __syncthreads();
    if (IS_DISTRIBUTED && shared.ticket >= STOPPED) return;
    const int panels = (int)((n + PANEL_COLS - 1) / PANEL_COLS);
    const SolveTask task = SolveTask::template take<FORWARD>(system, shared.ticket / groups, panels);
    // `first` is the first row of the panel.
    const int panel = task.panel, group = shared.ticket % groups;
    const auto first_row = [&](int p) { return (long long)(FORWARD ? p : panels - 1 - p) * PANEL_COLS; };
    const long long first = first_row(panel);
    // The panel's own rows, if it is solved.
    const T* const l = FORWARD || task.solves ? system.rows(first) : nullptr;
    const int rows = (int)min((long long)PANEL_COLS, n - first);
    const int cols = (int)max(0ll, min((long long)rows, system.end - first));  // of them to be solved
    const int before = min(task.end, (int)((system.end + PANEL_COLS - 1) / PANEL_COLS));
    const auto solution = [&](int p) {
        return system.solved + ((long long)p * groups + group) * (PANEL_COLS * RHS);
    };
    const int right = group * RHS;  // the first right-hand side

    Sums<RHS> sums, rest, x;
    sums.clear();
    rest.clear();
    x.clear();
    const auto inside = [&](int i, int c) { return i < rows && right + c < system.count; };
    Fragments<T> block, next;
    Fragments<double> inverse, diagonal;
    const auto load = [&](int p) {
        if (p < before) {
            next.template load<FORWARD>(at, FORWARD ? l : system.rows(first_row(p)), stride, first, first_row(p), n);
        } else if (task.solves) {
            // Both are loaded before the last solution is published, because other blocks wait from then on.
            inverse.template load_triangle<FORWARD>(at, system.inverse + first * PANEL_COLS, PANEL_COLS, cols, cols);
            diagonal.template load_triangle<FORWARD>(at, l + first * (stride + 1), stride, rows, cols);
            if (at.half == 0)
                rest.each(at, [&](double& b, int i, int c) {
                    if (inside(i, c)) b = (double)system.from[(right + c) * system.x_stride + first + i];
                });
        }
    };
    load(task.begin);
#ifdef DISTRIBUTED
    const long long of = (long long)panel * groups + group;
    if (task.begin > 0) sums.take(system.peers, of, task.begin);
#endif
    for (int p = task.begin; p < before; ++p) {
        block = next;
        if (task.solves && p + AHEAD == before) {
            const int column = threadIdx.x / 4, row = threadIdx.x % 4 * (PANEL_COLS / 4);
            if (column < cols && row < rows) {
                prefetch_l2(l + (first + column) * stride + first + row);
                prefetch_l2(system.inverse + (first + column) * PANEL_COLS + row);
            }
        }
        load(p + 1);
        bring<RHS>(solution(p), panel - p, shared.x[p % 2], system.peers);
        __syncthreads();
        sums.add_product(at, block, shared.x[p % 2]);
    }

#ifdef DISTRIBUTED
    if (!task.solves) return sums.send(system.peers, of, task.end, task.next);
#endif
    double(*const v)[RHS + PAD] = shared.x[(before + 1) % 2];
    double(*const parts)[RHS + PAD] = shared.x[before % 2];
    const auto share = [&](Sums<RHS>& of) {
        if (at.half == 0) of.each(at, [&](double& sum, int i, int c) { v[i][c] = sum; });
        __syncthreads();
    };
    // to <- to + sign A v, in the threads of the first half.
    const auto add = [&](Sums<RHS>& to, double sign, const Fragments<double>& a) {
        Sums<RHS> product;
        product.clear();
        product.add_product(at, a, v);
        product.gather(at, parts);
#pragma unroll
        for (int r = 0; r < RHS / 8; ++r)
#pragma unroll
            for (int e = 0; e < 4; ++e) to.c[r][e] = fma(sign, product.c[r][e], to.c[r][e]);
    };
    sums.gather(at, parts);
#pragma unroll
    for (int r = 0; r < RHS / 8; ++r)
#pragma unroll
        for (int e = 0; e < 4; ++e) rest.c[r][e] -= sums.c[r][e];
    if (cols > 0) {
        Sums<RHS> residual = rest;
        share(rest);
        add(x, 1.0, inverse);
        share(x);
        add(residual, -1.0, diagonal);
        share(residual);
        add(x, 1.0, inverse);
        x.each(at, [&](double& sum, int i, int) { sum = i < cols ? sum : 0.0; });
        if (at.half == 0) {
            double* const own = solution(panel);
            x.each(at, [&](double& sum, int i, int c) {
                store_relaxed(own + i * RHS + c, publishable(sum));
                publish_solution_there(system.peers, own + i * RHS + c, publishable(sum));
            });
        }
        if (cols < rows) {
            // Subtracts the solution's share from the rows after the last solved one.
            share(x);
            add(rest, -1.0, diagonal);
        }
    }
    if (at.half == 0) {
#pragma unroll
        for (int r = 0; r < RHS / 8; ++r)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int i = at.row + e / 2 * 8, c = 8 * r + at.lane % 4 * 2 + e % 2;
                const double value = i < cols ? x.c[r][e] : rest.c[r][e];
                if (inside(i, c)) system.to[(right + c) * system.x_stride + first + i] = (T)value;
            }
    }
}

#ifdef DISTRIBUTED
#define SOLVE(WAY, FORWARD, RHS, T, NAME)                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) solve_distributed_##WAY##_##RHS##_##NAME(       \
        const T* l, long long stride, const double* inverse, const T* from, T* to, long long x_stride,       \
        double* solved, int* taken, long long n, long long end, int count,                                   \
        const __grid_constant__ SolvePeers peers, const long long* row_blocks) {                             \
        solve<FORWARD, RHS>(System<T>{l, stride, inverse, from, to, x_stride, solved, taken, n, end, count,  \
                                      &peers, row_blocks});                                                  \
    }
#else
#define SOLVE(WAY, FORWARD, RHS, T, NAME)                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                 \
        solve_##WAY##_##RHS##_##NAME(const T* l, long long stride, const double* inverse, const T* from,     \
                                     T* to, long long x_stride, double* solved, int* taken, long long n,     \
                                     long long end, int count) {                                             \
        solve<FORWARD, RHS>(                                                                                 \
            System<T>{l, stride, inverse, from, to, x_stride, solved, taken, n, end, count, nullptr, nullptr});       \
    }
#endif

#define SOLVE_ALL(T, NAME)                                                                                   \
    SOLVE(forward, true, 8, T, NAME)                                                                         \
    SOLVE(forward, true, 16, T, NAME)                                                                        \
    SOLVE(forward, true, 32, T, NAME)                                                                        \
    SOLVE(backward, false, 8, T, NAME)                                                                       \
    SOLVE(backward, false, 16, T, NAME)                                                                      \
    SOLVE(backward, false, 32, T, NAME)

SOLVE_ALL(float, f32)
SOLVE_ALL(double, f64)

// The prefix of the module's names.
#ifndef SOLVE_MODULE
#define SOLVE_MODULE solve
#endif
constexpr int SOLVE_PEERS_BYTES = sizeof(SolvePeers);
EXPORT_LAYOUT(SOLVE_MODULE, PANEL_COLS, THREADS, SOLVE_PEERS_BYTES)
