// Reverse mode of a modification: the cotangents of L, V and w from that of L'. (docs/gradient.md)
//
// A matrix of order PANEL_COLS or less has one launch, of `small_pull`. Others have, for each stage, that is the columns of V of one sign:
//
//     begin                              V to the kept columns, Q = 0
//     for each panel                     `eliminate_diagonal`, `eliminate_below`
//     for each panel, the last one first `pull_below`, `add_up` if these are several blocks, `pull_diagonal`
//     end                                the cotangents of V and w
//
// and one launch of `clear_above`. If columns may have both signs, the first stage goes forward, which computes the factor in between; then
// the second stage goes forward and back, and the first stage back. Of a matrix whose columns have one sign all is done by the first stage.
//
// Launch: x of the grid counts matrices; y of begin and clear_above is any number, of the kernels on the rows below counts their blocks of
// PANEL_COLS rows, of end counts columns of V, of add_up blocks of ADDED numbers. LANES * PANEL_COLS threads, those of `small_pull` LANES
// times a multiple of 32 that is at least n; the others THREADS. The kernels are named for COLUMNS and LANES (rows.cuh): their product is
// at least k.
#include "gradient/pull.cuh"
#include "gradient/stage.cuh"

constexpr int THREADS = 256;
constexpr int ADDED = 32;  // numbers that a block adds up

template <class T>
struct Reverse {
    Modification<T> of;
    Matrices<T> cotangent;   // n x n, of L'; read in the lower triangle
    Matrices<T> to;          // n x n, of L; written, with zeros above the diagonal
    Matrices<T> to_v;        // n x k; written
    T* to_weights;           // of matrix b: k at to_weights + b * k; written
    Matrices<T> between, of_between;  // n x n; the factor between the stages, and its cotangent
    // Of all but `small_pull`. V and Q, between launches (stage.cuh); the steps, n for each matrix; RANK numbers of each.
    T* v;
    T* q;
    Step<T>* steps;
    T* a;
    // Sums over the rows of each block, (matrices, blocks, PANEL_COLS, RANK + MORE_SUMS), and over all.
    T* partial;
    T* totals;               // or null if no rows are below the panel
    long long start;         // the first column of the panel
    int parts;               // blocks of rows below it
    int launch;              // ONLY, FIRST or SECOND
};

// What a launch does for matrix b: L, L' and the columns of V, and the cotangents of L' and L. By all threads.
template <class T>
struct Part {
    Stage<T> of;
    Matrices<T> cotangent, to;
    bool has_work, computes;

    __device__ __forceinline__ Part(const Reverse<T>& all, long long b)
        : of(all.of), cotangent(all.cotangent), to(all.to), has_work(takes_part(of, b, all.launch)), computes(of.takes == PLUS) {
        if (of.takes == PLUS) {
            of.l_new = all.between;
            cotangent = all.of_between;
        } else if (of.takes == MINUS) {
            of.l = all.between;
            to = all.of_between;
        }
    }
};

template <class T>
__device__ __forceinline__ void begin(const Reverse<T>& all) {
    const long long b = blockIdx.x;
    if (!all.of.is_there(b)) return;
    const Part<T> part(all, b);
    if (!part.has_work) return;
    for (int r = 0; r < all.of.k; ++r) {
        const Column<T> column(part.of, b, r);
        for (long long i = (long long)blockIdx.y * THREADS + threadIdx.x; i < all.of.n; i += (long long)gridDim.y * THREADS) {
            kept_column(all.v, all.of, b, r)[i] = staged(all.of, column, b, i, r);
            kept_column(all.q, all.of, b, r)[i] = T(0);
        }
    }
}

template <class T>
__device__ __forceinline__ void clear_above(const Reverse<T>& all) {
    clear(all.to, blockIdx.x, all.of.n, !all.of.is_there(blockIdx.x), blockIdx.y, gridDim.y);
}

// The steps of a panel, from the kernel that has made them.
template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void fetch_steps(Shared<T, COLUMNS, LANES>& shared, const Reverse<T>& all, const Stage<T>& of,
                                            const Panel& panel) {
    constexpr int RANK = COLUMNS * LANES;
    const long long first = panel.b * all.of.n + panel.start;
    for (int at = threadIdx.x; at < panel.cols * RANK; at += blockDim.x) shared.a[at] = all.a[first * RANK + at];
    for (int at = threadIdx.x; at < panel.cols; at += blockDim.x) shared.steps[at] = all.steps[first + at];
    take_signs(shared.signs, RANK, of, panel.b);
    __syncthreads();
}

template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void eliminate_diagonal(const Reverse<T>& all) {
    constexpr int RANK = COLUMNS * LANES;
    __shared__ Shared<T, COLUMNS, LANES> shared;
    const Place<T, COLUMNS, LANES> own;
    const Panel panel = panel_of(all.of, own, all.start, 0);
    if (!all.of.is_there(panel.b)) return;
    const Part<T> part(all, panel.b);
    if (!part.has_work) return;
    take_signs(shared.signs, RANK, part.of, panel.b);
    __syncthreads();
    T v[COLUMNS];
    fetch(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
    Eliminate<T>{part.of.l, part.of.l_new, part.computes}.diagonal(shared, own, panel, v);
    keep(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
    const long long first = panel.b * all.of.n + panel.start;
    for (int at = threadIdx.x; at < panel.cols * RANK; at += blockDim.x) all.a[first * RANK + at] = shared.a[at];
    for (int at = threadIdx.x; at < panel.cols; at += blockDim.x) all.steps[first + at] = shared.steps[at];
}

template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void eliminate_below(const Reverse<T>& all) {
    __shared__ Shared<T, COLUMNS, LANES> shared;
    const Place<T, COLUMNS, LANES> own;
    const Panel panel = panel_of(all.of, own, all.start, 1 + blockIdx.y);
    if (!all.of.is_there(panel.b)) return;
    const Part<T> part(all, panel.b);
    if (!part.has_work) return;
    fetch_steps<T, COLUMNS, LANES>(shared, all, part.of, panel);
    T v[COLUMNS];
    fetch(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
    Eliminate<T>{part.of.l, part.of.l_new, part.computes}.below(shared, own, panel, v);
    keep(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
}

template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void pull_below(const Reverse<T>& all) {
    constexpr int SUMS = COLUMNS * LANES + MORE_SUMS;
    __shared__ Shared<T, COLUMNS, LANES> shared;
    const Place<T, COLUMNS, LANES> own;
    const Panel panel = panel_of(all.of, own, all.start, 1 + blockIdx.y);
    if (!all.of.is_there(panel.b)) return;
    const Part<T> part(all, panel.b);
    if (!part.has_work) return;
    fetch_steps<T, COLUMNS, LANES>(shared, all, part.of, panel);
    T v[COLUMNS], q[COLUMNS];
    fetch(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
    fetch(q, all.q, all.of, own, panel.b, panel.row, panel.has_row);
    T* const partial = all.partial + (panel.b * all.parts + blockIdx.y) * PANEL_COLS * SUMS;
    Pull<T>{part.of.l, part.of.l_new, part.cotangent, part.to}.below(shared, own, panel, v, q, partial);
    keep(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
    keep(q, all.q, all.of, own, panel.b, panel.row, panel.has_row);
}

// The order of the additions does not depend on the device.
template <class T, int SUMS>
__device__ __forceinline__ void add_up(const Reverse<T>& all) {
    __shared__ T sums[THREADS];
    const long long b = blockIdx.x;
    if (!all.of.is_there(b) || !Part<T>(all, b).has_work) return;
    const int at = (int)blockIdx.y * ADDED + threadIdx.x % ADDED;
    T sum = T(0);
    if (at < PANEL_COLS * SUMS) {
        const T* const from = all.partial + b * all.parts * PANEL_COLS * SUMS + at;
#pragma unroll 4
        for (int part = threadIdx.x / ADDED; part < all.parts; part += THREADS / ADDED) sum += from[(long long)part * PANEL_COLS * SUMS];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= ADDED || at >= PANEL_COLS * SUMS) return;
    for (int other = ADDED; other < THREADS; other += ADDED) sum += sums[threadIdx.x + other];
    all.totals[b * PANEL_COLS * SUMS + at] = sum;
}

template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void pull_diagonal(const Reverse<T>& all) {
    constexpr int SUMS = COLUMNS * LANES + MORE_SUMS;
    __shared__ Shared<T, COLUMNS, LANES> shared;
    const Place<T, COLUMNS, LANES> own;
    const Panel panel = panel_of(all.of, own, all.start, 0);
    if (!all.of.is_there(panel.b)) return;
    const Part<T> part(all, panel.b);
    if (!part.has_work) return;
    fetch_steps<T, COLUMNS, LANES>(shared, all, part.of, panel);
    T v[COLUMNS], q[COLUMNS];
    fetch(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
    fetch(q, all.q, all.of, own, panel.b, panel.row, panel.has_row);
    const T* const totals = all.totals ? all.totals + panel.b * PANEL_COLS * SUMS : nullptr;
    Pull<T>{part.of.l, part.of.l_new, part.cotangent, part.to}.diagonal(shared, own, panel, v, q, totals);
    keep(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
    keep(q, all.q, all.of, own, panel.b, panel.row, panel.has_row);
}

// The cotangent of V, Q diag(w), and that of w, half of the sum of V Q for each column, where V and Q are scaled.
template <class T>
__device__ __forceinline__ void end(const Reverse<T>& all) {
    __shared__ T sums[THREADS / 32];
    const long long b = blockIdx.x;
    const int r = blockIdx.y;
    const Part<T> part(all, b);
    const Column<T> column(part.of, b, r);
    if (!part.has_work || !column.is_taken) return;
    const bool is_there = all.of.is_there(b);
    const T* const q = kept_column(all.q, all.of, b, r);
    const T factor = column.sign * column.scale;
    T sum = T(0);
    for (long long i = threadIdx.x; i < all.of.n; i += THREADS) {
        all.to_v.at(b, i, r) = is_there ? factor * q[i] : T(0);
        if (is_there) sum = fma(all.of.v.at(b, i, r), q[i], sum);
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int warp = 1; warp < THREADS / 32; ++warp) sum += sums[warp];
    all.to_weights[b * all.of.k + r] = is_there ? T(0.5) * (sum / column.scale) : T(0);
}

// Everything, for the rows of one block of threads.
template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void small_pull(const Reverse<T>& all) {
    constexpr int RANK = COLUMNS * LANES;
    __shared__ Shared<T, COLUMNS, LANES> shared;
    const Place<T, COLUMNS, LANES> own;
    Stage<T> of(all.of);
    const Panel panel = panel_of(of, own, 0, 0);
    const long long b = panel.b;
    const bool is_there = of.is_there(b);
    clear(all.to, b, of.n, !is_there, 0, 1);
    if (!is_there) {
        for (int at = threadIdx.x; at < of.n * of.k; at += blockDim.x) all.to_v.at(b, at % of.n, at / of.n) = T(0);
        for (int r = threadIdx.x; r < of.k; r += blockDim.x) all.to_weights[b * of.k + r] = T(0);
        return;
    }
    T* const slots = &shared.slots[0][0][0];
    for (int at = threadIdx.x; at < sizeof(shared.slots) / sizeof(T); at += blockDim.x) slots[at] = T(0);
    const bool mixed = is_mixed(of, b);
    // Forward through the first stage, both ways through the second, and both ways through the first one or the only one.
    for (int pass = mixed ? 0 : 2; pass < 3; ++pass) {
        of.takes = !mixed ? BOTH : pass == 1 ? MINUS : PLUS;
        of.l = pass == 1 ? all.between : all.of.l;
        of.l_new = mixed && pass != 1 ? all.between : all.of.l_new;
        __syncthreads();
        take_signs(shared.signs, RANK, of, b);
        __syncthreads();
        T v[COLUMNS], q[COLUMNS], sums[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            const int r = own.column(c);
            v[c] = panel.has_row ? staged(of, Column<T>(of, b, r), b, panel.row, r) : T(0);
            q[c] = T(0);
        }
        Eliminate<T>{of.l, of.l_new, pass == 0}.diagonal(shared, own, panel, v);
        if (pass == 0) continue;
        const Matrices<T> cotangent = mixed && pass == 2 ? all.of_between : all.cotangent;
        Pull<T>{of.l, of.l_new, cotangent, pass == 1 ? all.of_between : all.to}.diagonal(shared, own, panel, v, q, (const T*)nullptr);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            const Column<T> column(of, b, own.column(c));
            sums[c] = T(0);
            if (column.is_taken && panel.has_row) {
                all.to_v.at(b, panel.row, own.column(c)) = column.sign * column.scale * q[c];
                sums[c] = of.v.at(b, panel.row, own.column(c)) * q[c];
            }
        }
        // The last sums have been read.
        __syncthreads();
        sum_rows<COLUMNS, LANES>(sums, shared.slots[0][own.warp] + own.lane * COLUMNS, true);
        __syncthreads();
        for (int r = threadIdx.x; r < of.k; r += blockDim.x) {
            const Column<T> column(of, b, r);
            const T sum = shared.total(T(0), shared.slots[0], r);
            if (column.is_taken) all.to_weights[b * of.k + r] = T(0.5) * (sum / column.scale);
        }
    }
}

#define ROWS_KERNEL(T, NAME, FUNCTION, COLUMNS, LANES)                                                        \
    extern "C" __global__ void __launch_bounds__(PANEL_COLS * LANES)                                         \
        gradient_##FUNCTION##_##COLUMNS##_##LANES##_##NAME(const Reverse<T> all) {                           \
        FUNCTION<T, COLUMNS, LANES>(all);                                                                    \
    }
#define PLAIN_KERNEL(T, NAME, FUNCTION, CALL)                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS) gradient_##FUNCTION##_##NAME(const Reverse<T> all) { CALL(all); }
#define SHAPE(T, NAME, COLUMNS, LANES)                                                                       \
    ROWS_KERNEL(T, NAME, eliminate_diagonal, COLUMNS, LANES)                                                 \
    ROWS_KERNEL(T, NAME, eliminate_below, COLUMNS, LANES)                                                    \
    ROWS_KERNEL(T, NAME, pull_diagonal, COLUMNS, LANES)                                                      \
    ROWS_KERNEL(T, NAME, pull_below, COLUMNS, LANES)                                                         \
    ROWS_KERNEL(T, NAME, small_pull, COLUMNS, LANES)                                                         \
    PLAIN_KERNEL(T, COLUMNS##_##LANES##_##NAME, add_up, (add_up<T, COLUMNS * LANES + MORE_SUMS>))
#define REVERSE(T, NAME)                   \
    PLAIN_KERNEL(T, NAME, begin, begin)    \
    PLAIN_KERNEL(T, NAME, clear_above, clear_above) \
    PLAIN_KERNEL(T, NAME, end, end)        \
    SHAPE(T, NAME, 1, 1)                   \
    SHAPE(T, NAME, 4, 1)                   \
    SHAPE(T, NAME, 8, 2)                   \
    SHAPE(T, NAME, 16, 4)

#ifndef ONLY_F64
REVERSE(float, f32)
#endif
#ifndef ONLY_F32
REVERSE(double, f64)
#endif

constexpr int REVERSE_BYTES = sizeof(Reverse<double>), REVERSE_BYTES_F32 = sizeof(Reverse<float>);
constexpr int STEP_BYTES = sizeof(Step<double>), STEP_BYTES_F32 = sizeof(Step<float>);

EXPORT_LAYOUT(gradient_reverse, PANEL_COLS, MOST_COLUMNS, MORE_SUMS, THREADS, ADDED, REVERSE_BYTES, REVERSE_BYTES_F32, STEP_BYTES,
              STEP_BYTES_F32)
