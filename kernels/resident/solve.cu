// Triangular solves with a factor in device memory, in one launch: L Y = B, or L^T X = Y from the last row upwards.
//
// A thread block takes 64 rows of the solution, a panel, and some right-hand sides. It subtracts the products with the
// panels solved before it, each as soon as it is published, and solves with its diagonal block by a product with the
// inverse, with one correction where the inverse loses digits:
//
//     r = b - sum L_pj x_j        x = D^-1 r        x <- x + D^-1 (r - D x)
//
// Where no correction is needed and no other device may have the block of L (`fused`), one product leads from the solution
// before it to its own, with M = D^-1 L_p,p-1 computed first:
//
//     s = b - sum L_pj x_j, j < p - 1        x = D^-1 s - M x_p-1
//
// Thread blocks take panels in the order of a counter, so that a block waits only for panels that running blocks have
// taken. A panel's solution is its own flag: before the launch all bits of its words are ones, which is no number, and
// no NaN that arithmetic gives.
//
// Shapes, column-major:
//     l         n x n, entry (i, j), i >= j, at l + j * stride + i; read
//     inverse   panels x 64 x 64, and
//     refine    panels, as invert.cu leaves them; read
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
// Launch: blocks of 256 threads, one for each panel, or task of the device, and group of RHS right-hand sides. Dynamic shared
// memory: FRONT_BYTES for RHS, and after it 1 to 4 `slots` of TILE_BYTES.
#include "common/inverse.cuh"
#include "common/layout.cuh"
#include "common/memory.cuh"
#include "resident/solve_parts.cuh"

constexpr int AHEAD = 4;       // panels before its own, a block loads the inverse of its diagonal block
constexpr int FUSED_FROM = 4;  // the first panel that is multiplied by M: earlier ones would wait for M

template <class T>
struct System {
    const T* l;
    long long stride;
    const double* inverse;
    const int* refine;
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
    alignas(16) int ticket;
};

template <bool FORWARD, int RHS, class T>
__device__ __forceinline__ void solve(const System<T>& system, int slots) {
    DYNAMIC_SHARED(SolveShared<RHS>, memory);
    SolveShared<RHS>& shared = *memory;
    const Tiles<FORWARD, T> tiles{(T*)(memory + 1), slots};
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
    Fragments<double> inverse, diagonal, m;
    const double* const own_inverse = system.inverse + first * PANEL_COLS;
    const bool refined = task.solves && (system.refine[first / PANEL_COLS] & REFINE_SOLUTIONS);
    const bool single = RHS == 8 && system.count == 1;
    // Only with a panel whose product a device always has, so that bits do not depend on the number of devices.
    const bool has_product = FORWARD || (panels - 1 - panel) % 2 == 0;
    const bool fused = task.solves && !refined && cols == rows && panel >= FUSED_FROM && has_product;
    const int last = before - fused;  // from this panel on, none is multiplied by L
    if (fused)
        m.template load_product<FORWARD>(at, own_inverse, rows, FORWARD ? l : system.rows(first_row(last)), stride, first,
                                         first_row(last), n);
    const auto fetch = [&](int p) {
        if (p < last) {
            const long long other = first_row(p);
            tiles.fetch(at, p, FORWARD ? l : system.rows(other), stride, FORWARD ? first : other, FORWARD ? other : first, n);
        }
        copy_async_commit();
    };
    const auto load_inverse = [&] {
        if (task.solves) inverse.template load_triangle<FORWARD>(at, own_inverse, PANEL_COLS, cols, cols);
    };
    // Loaded before the last solution is published, because other blocks wait from then on.
    const auto load_rest = [&] {
        if (!task.solves) return;
        if (refined || cols < rows)
            diagonal.template load_triangle<FORWARD>(at, l + first * (stride + 1), stride, rows, cols);
        if (at.half == 0)
            rest.each(at, [&](double& b, int i, int c) {
                if (inside(i, c)) b = (double)system.from[(right + c) * system.x_stride + first + i];
            });
    };
    Incoming<RHS> incoming(single);
    for (int p = task.begin; p < task.begin + slots - 1; ++p) fetch(p);
    if (last - task.begin < AHEAD) load_inverse();
    if (last == task.begin) load_rest();
#ifdef DISTRIBUTED
    const long long of = (long long)panel * groups + group;
    if (task.begin > 0) sums.take(system.peers, of, task.begin);
#endif
    for (int p = task.begin; p < last; ++p) {
        // First the solution, which would wait behind the block of L.
        if (!incoming.loaded) incoming.load(solution(p));
        fetch(p + slots - 1);
        if (p + AHEAD == last) load_inverse();
        if (p + 1 == last) load_rest();
        const bool waited = incoming.wait(solution(p), panel - p, system.peers);
        incoming.store(shared.x[p % 2]);
        // A block that has had to wait would not find the next one either.
        if (!single && !waited && p + 1 < before) incoming.load(solution(p + 1));
        __syncthreads();
        tiles.wait();
        Fragments<T> block;
        tiles.load(at, p, block);
        sums.add_product(at, block, shared.x[p % 2]);
        __syncwarp();  // the warp has read the block before it copies another to its place
    }

#ifdef DISTRIBUTED
    if (!task.solves) return sums.send(system.peers, of, task.end, task.next);
#endif
    double(*const v)[RHS + PAD] = shared.x[(last + 1) % 2];
    double(*const parts)[RHS + PAD] = shared.x[last % 2];
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
        share(rest);
        x.add_product(at, inverse, v);
        if (fused) {
            if (!incoming.loaded) incoming.load(solution(last));
            incoming.wait(solution(last), 1, system.peers);
            incoming.store(parts);
            __syncthreads();
            x.add_product(at, m, parts);
        }
        x.gather(at, fused ? v : parts);
        if (refined) {
            Sums<RHS> residual = rest;
            share(x);
            add(residual, -1.0, diagonal);
            share(residual);
            add(x, 1.0, inverse);
        }
        x.each(at, [&](double& sum, int i, int) { sum = i < cols ? sum : 0.0; });
        if (at.half == 0) {
            double* const own = solution(panel);
            x.each(at, [&](double& sum, int i, int c) {
                if (single && c > 0) return;
                double* const to = own + (single ? i : i * RHS + c);
                store_relaxed(to, publishable(sum));
                publish_solution_there(system.peers, to, publishable(sum));
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
        const T* l, long long stride, const double* inverse, const int* refine, const T* from, T* to,        \
        long long x_stride, double* solved, int* taken, long long n, long long end, int count, int slots,    \
        const __grid_constant__ SolvePeers peers, const long long* row_blocks) {                             \
        solve<FORWARD, RHS>(System<T>{l, stride, inverse, refine, from, to, x_stride, solved, taken, n, end, \
                                      count, &peers, row_blocks}, slots);                                    \
    }
#else
#define SOLVE(WAY, FORWARD, RHS, T, NAME)                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                 \
        solve_##WAY##_##RHS##_##NAME(const T* l, long long stride, const double* inverse, const int* refine, \
                                     const T* from, T* to, long long x_stride, double* solved, int* taken,   \
                                     long long n, long long end, int count, int slots) {                     \
        solve<FORWARD, RHS>(System<T>{l, stride, inverse, refine, from, to, x_stride, solved, taken, n, end, \
                                      count, nullptr, nullptr}, slots);                                      \
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
constexpr int FRONT_BYTES_8 = sizeof(SolveShared<8>), FRONT_BYTES_16 = sizeof(SolveShared<16>),
              FRONT_BYTES_32 = sizeof(SolveShared<32>), TILE_BYTES_F32 = Tiles<true, float>::SIZE * 4,
              TILE_BYTES_F64 = Tiles<true, double>::SIZE * 8;
EXPORT_LAYOUT(SOLVE_MODULE, PANEL_COLS, THREADS, SOLVE_PEERS_BYTES, MAX_TILES, FRONT_BYTES_8, FRONT_BYTES_16, FRONT_BYTES_32,
              TILE_BYTES_F32, TILE_BYTES_F64)
