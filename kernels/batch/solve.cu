// Solutions with the factors of a batch, in place: L Y = B, or L^T X = Y, or both.
//
// Entry (i, c) of the right-hand sides of matrix b at x + b * x_matrix + i * x_row + c * x_column; rows from the order of the
// matrix on are not accessed. A matrix that has no factor or a pivot of zero, or with a right-hand side that is not finite,
// keeps its right-hand sides, and `status` and `place_of` (batch.cuh) say why.
//
// solve_thread: orders up to 8, side by side, a thread for each matrix. solve_lanes: orders up to 256, some lanes of a warp for each, as in
// modify_lanes.cu. solve_block: any order, a block for each, which reads L where it is.
//
// Launch: solve_thread blocks of THREADS threads; solve_lanes of any number of warps up to THREADS, with shared memory for a triangle of
// `shared_stride` scalars for each matrix; solve_block any number of blocks of a multiple of 32 threads up to MOST_THREADS, with
// shared memory for n scalars.
#include "batch/batch.cuh"
#include "batch/triangles.cuh"
#include "common/arithmetic.cuh"

constexpr int THREADS = 128;
constexpr int GROUP = 32;  // matrices side by side
constexpr int MOST_THREADS = 256;
constexpr int NOWHERE = 0x7fffffff;

template <class T>
struct Systems {
    T* x;
    long long x_matrix, x_row, x_column;
    int count;  // right-hand sides
    int lower;  // whether to solve with L
    int upper;  // whether to solve with its transpose
    int shared_stride;
    int* status;
    int* place_of;

    __device__ __forceinline__ T* at(long long b, int i, int c) const {
        return x + b * x_matrix + i * x_row + c * x_column;
    }
    __device__ __forceinline__ void result(long long b, int status_of, int place) const {
        status[b] = status_of;
        place_of[b] = place;
    }
    // By the places of the first right-hand side that is not finite and of the first pivot that is zero.
    __device__ __forceinline__ void decide(long long b, int bad, int singular) const {
        if (bad != NOWHERE) return result(b, NOT_FINITE, bad);
        if (singular != NOWHERE) return result(b, SINGULAR, singular);
        result(b, 0, 0);
    }
};

template <class T>
__device__ __forceinline__ bool is_finite(T x) {
    return fabs(x) <= Limits<T>::largest();
}

// x / pivot, from the reciprocal of the pivot, rounded as a division is or nearly so.
template <class T>
__device__ __forceinline__ T quotient(T x, T pivot, T inverse) {
    const T near = x * inverse;
    // The reciprocal of a tiny pivot overflows.
    return is_finite(near) ? fma(fma(-near, pivot, x), inverse, near) : x / pivot;
}

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
#pragma unroll
    for (int j = N - 1; j >= 0; --j) {
        const T pivot = l[j * (2 * N - j + 1) / 2];
        inverse[j] = T(1) / pivot;
        if (pivot == T(0)) singular = j;
    }
    for (int c = systems.count - 1; c >= 0; --c)
        for (int i = order - 1; i >= 0; --i)
            if (!is_finite(*systems.at(b, i, c))) bad = c * n + i;
    systems.decide(b, bad, singular);
    if (min(bad, singular) != NOWHERE) return;
    for (int c = 0; c < systems.count; ++c) {
        T x[N];
#pragma unroll
        for (int i = 0; i < N; ++i) x[i] = i < order ? *systems.at(b, i, c) : T(0);
        if (systems.lower) {
#pragma unroll
            for (int j = 0; j < N; ++j) {
                x[j] = quotient(x[j], l[j * (2 * N - j + 1) / 2], inverse[j]);
#pragma unroll
                for (int i = j + 1; i < N; ++i) x[i] = fma(-l[j * (2 * N - j + 1) / 2 + i - j], x[j], x[i]);
            }
        }
        if (systems.upper) {
#pragma unroll
            for (int j = N - 1; j >= 0; --j) {
                x[j] = quotient(x[j], l[j * (2 * N - j + 1) / 2], inverse[j]);
#pragma unroll
                for (int i = 0; i < j; ++i) x[i] = fma(-l[i * (2 * N - i + 1) / 2 + j - i], x[j], x[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < N; ++i)
            if (i < order) *systems.at(b, i, c) = x[i];
    }
}

// LANES lanes have a matrix, and lane g of them the rows g, g + LANES, ..
template <class T, int LANES, int ROWS>
__device__ __forceinline__ void solve_lanes(const Factors<T>& factors, const Systems<T>& systems) {
    DYNAMIC_SHARED(T, shared);
    const int n = factors.n, member = threadIdx.x % LANES, number = threadIdx.x / LANES;
    const long long b = (long long)blockIdx.x * (blockDim.x / LANES) + number;
    const bool is_there = b < factors.count;
    const int order = is_there ? factors.orders[b] : NO_FACTOR, stride = (int)factors.group_stride;
    if (is_there && order == NO_FACTOR && member == 0) systems.result(b, NONE, 0);
    T* const l = shared + number * systems.shared_stride;
    bool takes = order != NO_FACTOR;
    if (!__any_sync(ALL_LANES, takes)) return;
    if (takes) fetch<LANES>(l, factors.of(b), stride, member);
    int bad = NOWHERE, singular = NOWHERE;
    for (int c = systems.count - 1; c >= 0; --c)
#pragma unroll
        for (int part = ROWS - 1; part >= 0; --part) {
            const int i = part * LANES + member;
            if (i < order && !is_finite(*systems.at(b, i, c))) bad = c * n + i;
        }
    arrived();
    T pivot[ROWS], inverse[ROWS], x[ROWS];
#pragma unroll
    for (int part = ROWS - 1; part >= 0; --part) {
        const int i = part * LANES + member;
        pivot[part] = takes && i < n ? l[place(n, i, i)] : T(1);
        inverse[part] = T(1) / pivot[part];
        if (pivot[part] == T(0)) singular = i;
    }
#pragma unroll
    for (int lanes = LANES / 2; lanes > 0; lanes /= 2) {
        bad = min(bad, __shfl_xor_sync(ALL_LANES, bad, lanes, LANES));
        singular = min(singular, __shfl_xor_sync(ALL_LANES, singular, lanes, LANES));
    }
    if (takes && member == 0) systems.decide(b, bad, singular);
    takes = takes && min(bad, singular) == NOWHERE;
    if (!__any_sync(ALL_LANES, takes)) return;
    for (int c = 0; c < systems.count; ++c) {
#pragma unroll
        for (int part = 0; part < ROWS; ++part) {
            const int i = part * LANES + member;
            x[part] = takes && i < order ? *systems.at(b, i, c) : T(0);
        }
        if (systems.lower) {
            const T* column = l + member;
#pragma unroll
            for (int block = 0; block < ROWS; ++block) {
                const int end = min(n - LANES * block, LANES);
                for (int j = 0; j < end; ++j) {
                    T entry[ROWS];
#pragma unroll
                    for (int part = block; part < ROWS; ++part)
                        if (part == block ? member > j && member < end : part * LANES + member < n)
                            entry[part] = column[LANES * (part - block) - j];
                        else
                            entry[part] = T(0);
                    const T own = quotient(x[block], pivot[block], inverse[block]);
                    const T solved = __shfl_sync(ALL_LANES, own, j, LANES);
                    if (member == j) x[block] = solved;
#pragma unroll
                    for (int part = block; part < ROWS; ++part) x[part] = fma(-entry[part], solved, x[part]);
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
                        entry[part] = part < block || member < j
                                          ? l[place(n, LANES * block + j, part * LANES + member)]
                                          : T(0);
                    const T own = quotient(x[block], pivot[block], inverse[block]);
                    const T solved = __shfl_sync(ALL_LANES, own, j, LANES);
                    if (member == j) x[block] = solved;
#pragma unroll
                    for (int part = 0; part <= block; ++part) x[part] = fma(-entry[part], solved, x[part]);
                }
            }
        }
#pragma unroll
        for (int part = 0; part < ROWS; ++part) {
            const int i = part * LANES + member;
            if (takes && i < order) *systems.at(b, i, c) = x[part];
        }
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
    KERNEL(T, batch_solve_lanes_16_4_##NAME, (solve_lanes<T, 16, 4>), THREADS)  \
    KERNEL(T, batch_solve_lanes_32_4_##NAME, (solve_lanes<T, 32, 4>), THREADS)  \
    KERNEL(T, batch_solve_lanes_32_8_##NAME, (solve_lanes<T, 32, 8>), THREADS)  \
    KERNEL(T, batch_solve_block_##NAME, solve_block, MOST_THREADS)

SOLVE(float, f32)
SOLVE(double, f64)

constexpr int SYSTEMS = sizeof(Systems<double>);

EXPORT_LAYOUT(batch_solve, THREADS, GROUP, MOST_THREADS, SYSTEMS)
