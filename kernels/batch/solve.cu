// Solutions with the factors of a batch, in place (systems.cuh): L Y = B, or L^T X = Y, or both.
//
// solve_thread: orders up to 8, side by side, a thread for each matrix. solve_lanes: orders up to 128, some lanes of a warp for each, with
// L in shared memory. solve_block: any order, a block for each, which reads L where it is. (solve_stream.cu: 129 to 256.)
//
// Launch: solve_thread blocks of THREADS threads; solve_lanes of any number of warps up to THREADS, with shared memory for a triangle of
// `shared_stride` scalars for each matrix; solve_block any number of blocks of a multiple of 32 threads up to MOST_THREADS, with
// shared memory for n scalars.
#include "batch/systems.cuh"

constexpr int THREADS = 128;
constexpr int GROUP = 32;  // matrices side by side
constexpr int MOST_THREADS = 256;

template <class T, int N>
__device__ __forceinline__ void solve_thread(const Factors<T>& factors, const Systems<T>& systems) {
    const long long b = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (b >= factors.count) return;
    const int n = factors.n, order = factors.orders[b];
    if (order == NO_FACTOR) return systems.result(b, NONE, 0);
    const T* const at = factors.of(b);
    T l[N * (N + 1) / 2], inverse[N];
#pragma unroll
    for (int j = 0; j < N; ++j)
#pragma unroll
        for (int i = j; i < N; ++i)
            l[j * (2 * N - j + 1) / 2 + i - j] = i < n ? at[place(n, i, j) * GROUP] : T(i == j);
    int bad = NOWHERE, singular = NOWHERE;
    bool alone = false;
#pragma unroll
    for (int j = N - 1; j >= 0; --j) {
        const T pivot = l[j * (2 * N - j + 1) / 2];
        inverse[j] = T(1) / pivot;
        alone |= is_tiny(pivot);
        if (pivot == T(0)) singular = j;
    }
    for (int c = systems.count - 1; c >= 0; --c)
        for (int i = order - 1; i >= 0; --i)
            if (!is_finite(*systems.at(b, i, c))) bad = c * n + i;
    systems.decide(b, bad, singular);
    if (min(bad, singular) != NOWHERE) return;
    if (alone) return solve_alone(factors, systems, b);
    for (int c = 0; c < systems.count; ++c) {
        T x[N];
#pragma unroll
        for (int i = 0; i < N; ++i) x[i] = i < order ? *systems.at(b, i, c) : T(0);
        if (systems.lower) {
#pragma unroll
            for (int j = 0; j < N; ++j) {
                x[j] *= inverse[j];
#pragma unroll
                for (int i = j + 1; i < N; ++i) x[i] = fma(-l[j * (2 * N - j + 1) / 2 + i - j], x[j], x[i]);
            }
        }
        if (systems.upper) {
#pragma unroll
            for (int j = N - 1; j >= 0; --j) {
                x[j] *= inverse[j];
#pragma unroll
                for (int i = 0; i < j; ++i) x[i] = fma(-l[i * (2 * N - i + 1) / 2 + j - i], x[j], x[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < N; ++i)
            if (i < order) *systems.at(b, i, c) = x[i];
    }
}

template <class T, int LANES, int ROWS>
__device__ __forceinline__ void solve_lanes(const Factors<T>& factors, const Systems<T>& systems) {
    DYNAMIC_SHARED(T, shared);
    System<T, LANES, ROWS> own(factors, systems);
    if (!__any_sync(ALL_LANES, own.takes)) return;
    const int n = own.n, member = own.member;
    T* const l = shared + threadIdx.x / LANES * systems.shared_stride;
    if (own.takes) fetch<LANES>(l, factors.of(own.b), (int)factors.group_stride, member);
    own.begin();
    arrived();
    T pivot[ROWS];
#pragma unroll
    for (int part = 0; part < ROWS; ++part) pivot[part] = own.takes && own.row(part) < n ? l[place(n, own.row(part), own.row(part))] : T(1);
    if (!own.check(pivot)) return;
    T(&x)[ROWS] = own.x;
    for (int c = 0; c < systems.count; ++c) {
        if (c > 0) own.take(c);
        if (systems.lower) {
            const T* column = l + member;
#pragma unroll
            for (int block = 0; block < ROWS; ++block) {
                const int end = min(n - LANES * block, LANES);
                for (int j = 0; j < end; ++j) {
                    T entry[ROWS];
#pragma unroll
                    for (int part = block; part < ROWS; ++part)
                        if (own.has(block, part, j)) entry[part] = column[LANES * (part - block) - j];
                    const T solved = __shfl_sync(ALL_LANES, x[block] * own.inverse[block], j, LANES);
                    if (member == j) x[block] = solved;
#pragma unroll
                    for (int part = block; part < ROWS; ++part)
                        if (own.has(block, part, j)) x[part] = fma(-entry[part], solved, x[part]);
                    column += n - LANES * block - j;
                }
            }
        }
        if (systems.upper) {
#pragma unroll
            for (int block = ROWS - 1; block >= 0; --block) {
                const int end = min(n - LANES * block, LANES);
                for (int j = end - 1; j >= 0; --j) {
                    T entry[ROWS];
#pragma unroll
                    for (int part = 0; part <= block; ++part)
                        if (part < block || member < j) entry[part] = l[place(n, LANES * block + j, own.row(part))];
                    const T solved = __shfl_sync(ALL_LANES, x[block] * own.inverse[block], j, LANES);
                    if (member == j) x[block] = solved;
#pragma unroll
                    for (int part = 0; part <= block; ++part)
                        if (part < block || member < j) x[part] = fma(-entry[part], solved, x[part]);
                }
            }
        }
        own.give(c);
    }
}

template <class T>
__device__ __forceinline__ void solve_block(const Factors<T>& factors, const Systems<T>& systems) {
    DYNAMIC_SHARED(T, shared);
    __shared__ int bad, singular;
    const int n = factors.n, thread = threadIdx.x, threads = blockDim.x;
    T* const x = shared;
    for (long long b = blockIdx.x; b < factors.count; b += gridDim.x) {
        const int order = factors.orders[b];
        if (order == NO_FACTOR) {
            if (thread == 0) systems.result(b, NONE, 0);
            continue;
        }
        const T* const l = factors.of(b);
        if (thread == 0) bad = singular = NOWHERE;
        __syncthreads();
        for (int c = 0; c < systems.count; ++c)
            for (int i = thread; i < order; i += threads)
                if (!is_finite(*systems.at(b, i, c))) atomicMin(&bad, c * n + i);
        for (int i = thread; i < order; i += threads)
            if (l[place(n, i, i)] == T(0)) atomicMin(&singular, i);
        __syncthreads();
        const bool solves = min(bad, singular) == NOWHERE;
        if (thread == 0) systems.decide(b, bad, singular);
        for (int c = 0; solves && c < systems.count; ++c) {
            for (int i = thread; i < order; i += threads) x[i] = *systems.at(b, i, c);
            __syncthreads();
            for (int j = 0; systems.lower && j < order; ++j) {
                const T* const column = l + place(n, j, j) - j;
                const T solved = x[j] / column[j];
                for (int i = j + 1 + thread; i < order; i += threads) x[i] = fma(-column[i], solved, x[i]);
                // All have read x[j].
                __syncthreads();
                if (thread == 0) x[j] = solved;
            }
            __syncthreads();
            for (int j = order - 1; systems.upper && j >= 0; --j) {
                const T solved = x[j] / l[place(n, j, j)];
                for (int i = thread; i < j; i += threads) x[i] = fma(-l[place(n, j, i)], solved, x[i]);
                __syncthreads();
                if (thread == 0) x[j] = solved;
            }
            __syncthreads();
            for (int i = thread; i < order; i += threads) *systems.at(b, i, c) = x[i];
            __syncthreads();
        }
        __syncthreads();
    }
}

#define KERNEL(T, NAME, FUNCTION, THREADS)                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const Factors<T> factors, const Systems<T> systems) { \
        FUNCTION(factors, systems);                                                                          \
    }
#define SOLVE(T, NAME)                                                \
    KERNEL(T, batch_solve_thread_4_##NAME, (solve_thread<T, 4>), THREADS)     \
    KERNEL(T, batch_solve_thread_8_##NAME, (solve_thread<T, 8>), THREADS)     \
    KERNEL(T, batch_solve_lanes_4_4_##NAME, (solve_lanes<T, 4, 4>), THREADS)    \
    KERNEL(T, batch_solve_lanes_8_4_##NAME, (solve_lanes<T, 8, 4>), THREADS)    \
    KERNEL(T, batch_solve_lanes_32_2_##NAME, (solve_lanes<T, 32, 2>), THREADS)  \
    KERNEL(T, batch_solve_lanes_32_4_##NAME, (solve_lanes<T, 32, 4>), THREADS)  \
    KERNEL(T, batch_solve_block_##NAME, solve_block, MOST_THREADS)

SOLVE(float, f32)
SOLVE(double, f64)

constexpr int SYSTEMS = sizeof(Systems<double>);

EXPORT_LAYOUT(batch_solve, THREADS, GROUP, MOST_THREADS, SYSTEMS)
