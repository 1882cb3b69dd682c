// A further row and column of many matrices, at the end: with the column (c; d) of A, the new row of L is (s^T sqrt(delta)), where
// L s = c and delta = d - s^T s. No other row of L changes.
//
// A matrix without a factor, or of order n, keeps its L, and the outcome says why. One whose delta rounding errors could decide,
// or whose numbers are not finite, is not written, and is listed for append_again.cu.
//
// Shapes: batch.cuh, append.cuh. append_thread: orders up to 8, side by side, a thread for each matrix. append_lanes: orders up to 256,
// some lanes of a warp for each, as in modify_lanes.cu. append_block: any order, a block for each, which reads L where it is.
//
// Launch: append_thread blocks of THREADS threads; append_lanes of any number of warps up to THREADS, with shared memory for a
// triangle of `shared_stride` scalars for each matrix; append_block any number of blocks of a multiple of 32 threads up to MOST_THREADS,
// with shared memory for n scalars.
#include "batch/append.cuh"
#include "batch/quotient.cuh"
#include "batch/triangles.cuh"

constexpr int THREADS = 128;
constexpr int GROUP = 32;  // matrices side by side
constexpr int MOST_THREADS = 256;

template <class T, int N>
__device__ __forceinline__ void append_thread(const Appending<T>& all) {
    const long long b = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (b >= all.factors.count) return;
    const int n = all.factors.n, order = all.factors.orders[b];
    int result;
    if (!all.takes(b, order, result)) return all.outcome.unchanged(b, result);
    T* const at = all.factors.of(b);
    T l[N * (N + 1) / 2], s[N], d = T(0);
    // All loads before the first use.
#pragma unroll
    for (int i = 0; i < N; ++i) s[i] = all.columns.at(b, i < n ? i : 0);
#pragma unroll
    for (int j = 0; j < N; ++j)
#pragma unroll
        for (int i = j; i < N; ++i)
            l[j * (2 * N - j + 1) / 2 + i - j] = i < n ? at[place(n, i, j) * GROUP] : T(i == j);
#pragma unroll
    for (int i = 0; i < N; ++i) {
        if (i == order) d = s[i];
        // Beyond its order L is that of the identity, so that these stay zero.
        if (i >= order) s[i] = T(0);
    }
    T squares = T(0);
#pragma unroll
    for (int j = 0; j < N; ++j) {
        const T pivot = l[j * (2 * N - j + 1) / 2];
        s[j] = quotient(s[j], pivot, T(1) / pivot);
        squares = fma(s[j], s[j], squares);
#pragma unroll
        for (int i = j + 1; i < N; ++i) s[i] = fma(-l[j * (2 * N - j + 1) / 2 + i - j], s[j], s[i]);
    }
    const T square = d - squares;
    if (!is_certain(square, d)) return all.outcome.defer(b);
    const T pivot = sqrt(square);
    // Without negative zeros.
#pragma unroll
    for (int j = 0; j < N; ++j)
        if (j < order) at[place(n, order, j) * GROUP] = s[j] + T(0);
    at[place(n, order, order) * GROUP] = pivot;
    all.appended(b, order, pivot, d);
}

// LANES lanes have a matrix, and lane g of them the rows g, g + LANES, ..
template <class T, int LANES, int ROWS>
__device__ __forceinline__ void append_lanes(const Appending<T>& all, int shared_stride) {
    DYNAMIC_SHARED(T, shared);
    const int n = all.factors.n, member = threadIdx.x % LANES, number = threadIdx.x / LANES;
    const long long b = (long long)blockIdx.x * (blockDim.x / LANES) + number;
    const bool is_there = b < all.factors.count;
    const int order = is_there ? all.factors.orders[b] : NO_FACTOR;
    int result = 0;
    const bool takes = is_there && all.takes(b, order, result);
    if (is_there && !takes && member == 0) all.outcome.unchanged(b, result);
    if (!__any_sync(ALL_LANES, takes)) return;
    T* const l = shared + number * shared_stride;
    T* const at = all.factors.of(is_there ? b : 0);
    // The columns before the new one, up to a word.
    const int words = (entries(n) - entries(n - order) + Word<T>::SCALARS - 1) / Word<T>::SCALARS;
    if (takes) fetch<LANES>(l, at, words * Word<T>::SCALARS, member);
    T s[ROWS];
    // All loads before the first use; where there is no entry, of another one.
#pragma unroll
    for (int part = 0; part < ROWS; ++part) {
        const int i = part * LANES + member;
        s[part] = all.columns.at(is_there ? b : 0, i < n ? i : 0);
    }
    const T d = all.columns.at(takes ? b : 0, takes ? order : 0);
#pragma unroll
    for (int part = 0; part < ROWS; ++part)
        if (!takes || part * LANES + member >= order) s[part] = T(0);
    arrived();
    T pivot[ROWS], inverse[ROWS];
#pragma unroll
    for (int part = 0; part < ROWS; ++part) {
        const int i = part * LANES + member;
        pivot[part] = takes && i < order ? l[place(n, i, i)] : T(1);
        inverse[part] = T(1) / pivot[part];
    }
    const T* column = l + member;
#pragma unroll
    for (int block = 0; block < ROWS; ++block) {
        const int end = min(n - LANES * block, LANES);
#pragma unroll 1
        for (int j = 0; j < end; ++j) {
            T entry[ROWS];
#pragma unroll
            for (int part = block; part < ROWS; ++part) {
                // What is not there is not read: it could be NaN.
                const int i = part * LANES + member;
                const bool has = takes && i < order && (part > block || member > j);
                entry[part] = has ? column[LANES * (part - block) - j] : T(0);
            }
            const T own = quotient(s[block], pivot[block], inverse[block]);
            const T solved = __shfl_sync(ALL_LANES, own, j, LANES);
            if (member == j) s[block] = solved;
#pragma unroll
            for (int part = block; part < ROWS; ++part) s[part] = fma(-entry[part], solved, s[part]);
            column += n - LANES * block - j;
        }
    }
    T squares = T(0);
#pragma unroll
    for (int part = 0; part < ROWS; ++part) squares = fma(s[part], s[part], squares);
#pragma unroll
    for (int lanes = LANES / 2; lanes > 0; lanes /= 2) squares += __shfl_xor_sync(ALL_LANES, squares, lanes, LANES);
    if (!takes) return;
    const T square = d - squares;
    if (!is_certain(square, d)) {
        if (member == 0) all.outcome.defer(b);
        return;
    }
#pragma unroll
    for (int part = 0; part < ROWS; ++part) {
        const int i = part * LANES + member;
        if (i < order) at[place(n, order, i)] = s[part] + T(0);
    }
    if (member > 0) return;
    const T fresh = sqrt(square);
    at[place(n, order, order)] = fresh;
    all.appended(b, order, fresh, d);
}

// The sum of a number of each thread, in all threads.
template <class T>
__device__ __forceinline__ T sum_of_block(T own) {
    __shared__ T sums[MOST_THREADS / 32];
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) own += __shfl_xor_sync(ALL_LANES, own, lanes, 32);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = own;
    __syncthreads();
    T sum = sums[0];
    for (int warp = 1; warp < (int)blockDim.x / 32; ++warp) sum += sums[warp];
    // All have read the sums.
    __syncthreads();
    return sum;
}

template <class T>
__device__ __forceinline__ void append_block(const Appending<T>& all) {
    DYNAMIC_SHARED(T, shared);
    const int n = all.factors.n, thread = threadIdx.x, threads = blockDim.x;
    T* const s = shared;
    for (long long b = blockIdx.x; b < all.factors.count; b += gridDim.x) {
        const int order = all.factors.orders[b];
        int result;
        if (!all.takes(b, order, result)) {
            if (thread == 0) all.outcome.unchanged(b, result);
            continue;
        }
        T* const l = all.factors.of(b);
        const T d = all.columns.at(b, order);
        for (int i = thread; i < order; i += threads) s[i] = all.columns.at(b, i);
        __syncthreads();
        for (int j = 0; j < order; ++j) {
            const T* const column = l + place(n, j, j) - j;
            const T solved = s[j] / column[j];
            for (int i = j + 1 + thread; i < order; i += threads) s[i] = fma(-column[i], solved, s[i]);
            // All have read s[j].
            __syncthreads();
            if (thread == 0) s[j] = solved;
        }
        __syncthreads();
        T squares = T(0);
        for (int i = thread; i < order; i += threads) squares = fma(s[i], s[i], squares);
        const T square = d - sum_of_block(squares);
        if (is_certain(square, d)) {
            const T pivot = sqrt(square);
            for (int i = thread; i < order; i += threads) l[place(n, order, i)] = s[i] + T(0);
            if (thread == 0) l[place(n, order, order)] = pivot;
            if (thread == 0) all.appended(b, order, pivot, d);
        } else if (thread == 0) {
            all.outcome.defer(b);
        }
        __syncthreads();
    }
}

#define THREAD(T, NAME, N)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        batch_append_thread_##N##_##NAME(const Appending<T> all) {                                           \
        append_thread<T, N>(all);                                                                            \
    }
#define LANES_OF(T, NAME, LANES, ROWS)                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        batch_append_lanes_##LANES##_##ROWS##_##NAME(const Appending<T> all, int shared_stride) {            \
        append_lanes<T, LANES, ROWS>(all, shared_stride);                                                    \
    }
#define APPEND(T, NAME)                                                                                      \
    THREAD(T, NAME, 4)                                                                                       \
    THREAD(T, NAME, 8)                                                                                       \
    LANES_OF(T, NAME, 4, 4)                                                                                  \
    LANES_OF(T, NAME, 8, 4)                                                                                  \
    LANES_OF(T, NAME, 16, 4)                                                                                 \
    LANES_OF(T, NAME, 32, 4)                                                                                 \
    LANES_OF(T, NAME, 32, 8)                                                                                 \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                               \
        batch_append_block_##NAME(const Appending<T> all) {                                                  \
        append_block(all);                                                                                   \
    }

APPEND(float, f32)
APPEND(double, f64)

constexpr int APPENDING = sizeof(Appending<double>);

EXPORT_LAYOUT(batch_append, THREADS, GROUP, MOST_THREADS, APPENDING)
