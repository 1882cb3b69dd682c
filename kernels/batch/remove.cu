// A row and column less of many matrices. Without row f the rows after it move up, and column f of L below the diagonal is
// the V of an update of the columns after it, with the reflections of interchanged.cuh.
//
// A matrix without a factor or without such a row, and a singular one, keeps its L, and the outcome says why. No other one
// breaks down, so that L is changed in its place. Each is treated as having n rows, since from its order on they are
// those of the identity, which move up as well; behind them comes another such row. Columns before f have a V of zero.
//
// Shapes: batch.cuh. remove_thread: orders up to 8, side by side, a thread for each matrix. remove_lanes: orders up to 256, some lanes of
// a warp for each, as in modify_lanes.cu. remove_block: any order, a block for each, which changes L where it is.
//
// Launch: remove_thread blocks of THREADS threads; remove_lanes of any number of warps up to THREADS, with shared memory for a
// triangle of `shared_stride` scalars for each matrix; remove_block any number of blocks of a multiple of 32 threads up to MOST_THREADS,
// with shared memory for n scalars.
#include "batch/batch.cuh"
#include "batch/interchanged.cuh"
#include "batch/triangles.cuh"

constexpr int THREADS = 128;
constexpr int GROUP = 32;  // matrices side by side
constexpr int MOST_THREADS = 256;
constexpr int NOWHERE = 0x7fffffff;
constexpr int NO_SUCH_ROW = -8;  // a status: the order is at the place beside it

template <class T>
struct Removal {
    Factors<T> factors;
    const int* indices;         // the row that goes, of each matrix
    const unsigned char* mask;  // whether a matrix loses a row; null if all do
    Outcome<T> outcome;

    // Whether a matrix loses row f; `result` is the outcome if it does not.
    __device__ __forceinline__ bool takes(long long b, int order, int f, int& result) const {
        const bool is_wanted = !mask || mask[b];
        result = !is_wanted ? 0 : order == NO_FACTOR ? NONE : f >= order ? NO_SUCH_ROW : 0;
        return is_wanted && result == 0;
    }
    __device__ __forceinline__ void unchanged(long long b, int result, int place) const {
        outcome.place[b] = place;
        outcome.unchanged(b, result);
    }
    // The ratios are those of the pivots after row f, whose own pivot is `gone`.
    __device__ __forceinline__ void removed(long long b, int order, T gone, Ratios<T> ratios) const {
        factors.orders[b] = order - 1;
        ratios.add(gone, T(1));
        // The new A is a part of the old one.
        ratios.least = T(1);
        outcome.changed(b, ratios);
    }
};

template <class T, int N>
__device__ __forceinline__ void remove_thread(const Removal<T>& all) {
    const long long b = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (b >= all.factors.count) return;
    const int n = all.factors.n, order = all.factors.orders[b], f = all.indices[b];
    int result;
    if (!all.takes(b, order, f, result)) return all.unchanged(b, result, order);
    T* const at = all.factors.of(b);
    // With a row and column of the identity.
    T l[(N + 1) * (N + 2) / 2], v[N], gone = T(1);
#pragma unroll
    for (int j = 0; j <= N; ++j)
#pragma unroll
        for (int i = j; i <= N; ++i)
            l[j * (2 * N - j + 3) / 2 + i - j] = i < n ? at[place(n, i, j) * GROUP] : T(i == j);
    int singular = NOWHERE;
#pragma unroll
    for (int j = N - 1; j >= 0; --j) {
        const T pivot = l[j * (2 * N - j + 3) / 2];
        if (pivot == T(0)) singular = j;
        if (j == f) gone = pivot;
    }
    if (singular != NOWHERE) return all.unchanged(b, SINGULAR, singular);
#pragma unroll
    for (int i = 0; i < N; ++i) {
        v[i] = T(0);
#pragma unroll
        for (int j = 0; j <= i; ++j)
            if (j == f) v[i] = l[j * (2 * N - j + 3) / 2 + i + 1 - j];
    }
    Ratios<T> ratios;
#pragma unroll
    for (int j = 0; j < N; ++j) {
        const int here = j * (2 * N - j + 3) / 2 - j, next = (j + 1) * (2 * N - j + 2) / 2 - j;
        const T was = f <= j ? l[next + j] : l[here + j];
        const Interchanged<T> reflect = interchanged(was, v[j]);
        l[here + j] = reflect.pivot;
        if (f <= j) ratios.add(was, reflect.pivot);
#pragma unroll
        for (int i = j + 1; i < N; ++i) {
            const T old = f <= j ? l[next + i] : f <= i ? l[here + i + 1] : l[here + i];
            // Without negative zeros.
            l[here + i] = reflect.apply(old, v[i]) + T(0);
        }
    }
#pragma unroll
    for (int j = 0; j < N; ++j)
#pragma unroll
        for (int i = j; i < N; ++i)
            if (i < n) at[place(n, i, j) * GROUP] = l[j * (2 * N - j + 3) / 2 + i - j];
    all.removed(b, order, gone, ratios);
}

// LANES lanes have a matrix, and lane g of them the rows g, g + LANES, .. of the new L.
template <class T, int LANES, int ROWS>
__device__ __forceinline__ void remove_lanes(const Removal<T>& all, int shared_stride) {
    DYNAMIC_SHARED(T, shared);
    const int n = all.factors.n, member = threadIdx.x % LANES, number = threadIdx.x / LANES;
    const int stride = (int)all.factors.group_stride;
    const long long b = (long long)blockIdx.x * (blockDim.x / LANES) + number;
    const bool is_there = b < all.factors.count;
    const int order = is_there ? all.factors.orders[b] : NO_FACTOR, f = is_there ? all.indices[b] : 0;
    int result = 0;
    bool takes = is_there && all.takes(b, order, f, result);
    if (is_there && !takes && member == 0) all.unchanged(b, result, order);
    if (!__any_sync(ALL_LANES, takes)) return;
    T* const l = shared + number * shared_stride;
    T* const at = all.factors.of(is_there ? b : 0);
    if (takes) fetch<LANES>(l, at, stride, member);
    arrived();
    int singular = NOWHERE;
    T v[ROWS], was[ROWS], pivot[ROWS];
#pragma unroll
    for (int part = ROWS - 1; part >= 0; --part) {
        const int i = part * LANES + member;
        if (takes && i < n && l[place(n, i, i)] == T(0)) singular = i;
        v[part] = takes && f <= i && i + 1 < n ? l[place(n, i + 1, f)] : T(0);
        was[part] = pivot[part] = T(1);
    }
#pragma unroll
    for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
        singular = min(singular, __shfl_xor_sync(ALL_LANES, singular, lanes, LANES));
    if (takes && singular != NOWHERE) {
        if (member == 0) all.unchanged(b, SINGULAR, singular);
        takes = false;
    }
    if (!__any_sync(ALL_LANES, takes)) return;
    const T gone = takes ? l[place(n, f, f)] : T(1);
    // All have read the pivot and the column that go.
    __syncwarp();
#pragma unroll
    for (int block = 0; block < ROWS; ++block) {
        const int end = min(n - LANES * block, LANES);
#pragma unroll 1
        for (int at_lane = 0; at_lane < end; ++at_lane) {
            const int j = LANES * block + at_lane;
            const bool moves = f <= j;
            // The columns from which the rows that move and those that do not come; entry i at column + i.
            const T* const here = l + place(n, j, j) - j;
            const T* const next = here + (n - j - 1);
            const T* const from = moves ? next : here;
            T old[ROWS];
#pragma unroll
            for (int part = block; part < ROWS; ++part) {
                const int i = part * LANES + member, source = f <= i ? i + 1 : i;
                old[part] = takes && i > j && source < n ? from[source] : T(0);
            }
            const T before = takes && j + moves < n ? from[j + moves] : T(1);
            const T own = __shfl_sync(ALL_LANES, v[block], at_lane, LANES);
            const Interchanged<T> reflect = interchanged(before, own);
            // The column that is written has been read by all.
            __syncwarp();
            if (member == at_lane) {
                was[block] = before, pivot[block] = reflect.pivot;
                if (takes) l[place(n, j, j)] = reflect.pivot;
            }
#pragma unroll
            for (int part = block; part < ROWS; ++part) {
                const int i = part * LANES + member;
                if (takes && i > j && i < n) l[place(n, j, j) + i - j] = reflect.apply(old[part], v[part]) + T(0);
            }
        }
    }
    Ratios<T> ratios;
#pragma unroll
    for (int part = 0; part < ROWS; ++part)
        if (takes && f <= part * LANES + member) ratios.add(was[part], pivot[part]);
    ratios.template gather<LANES>();
    // The triangle is complete.
    __syncwarp();
    if (!takes) return;
    give<LANES>(at, l, stride, member);
    if (member == 0) all.removed(b, order, gone, ratios);
}

// The ratios of all threads, in every thread.
template <class T>
__device__ __forceinline__ Ratios<T> ratios_of_block(Ratios<T> ratios) {
    __shared__ double sums[MOST_THREADS / 32];
    ratios.template gather<32>();
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = ratios.sum;
    __syncthreads();
    ratios.sum = sums[0];
    for (int warp = 1; warp < (int)blockDim.x / 32; ++warp) ratios.sum += sums[warp];
    // All have read the sums.
    __syncthreads();
    return ratios;
}

// Columns before f: rows after f move up, a warp a column.
template <class T>
__device__ __forceinline__ void move_up(T* l, int n, int order, int f) {
    const int lane = threadIdx.x % 32;
    for (int j = threadIdx.x / 32; j < f; j += blockDim.x / 32) {
        T* const column = l + place(n, j, j) - j;
        for (int begin = f; begin < order; begin += 32) {
            const int i = begin + lane;
            const T entry = i + 1 < n && i < order ? column[i + 1] : T(0);
            // A row is written that another lane has read.
            __syncwarp();
            if (i < order) column[i] = entry;
        }
    }
}

// Columns from f on. The thread that has row j + 1 computes the reflection of column j + 1 as soon as its row has been changed
// by that of column j, and writes the pivot, whose old value the reflection of column j has been made of.
template <class T>
__device__ __forceinline__ Ratios<T> update(T* l, int n, int order, int f, T* v, Interchanged<T> (&published)[2]) {
    Ratios<T> ratios;
    const auto publish = [&](int j) {
        T* const pivot = l + place(n, j, j);
        const T was = j + 1 < n ? l[place(n, j + 1, j + 1)] : T(1);
        published[j % 2] = interchanged(was, v[j]);
        *pivot = published[j % 2].pivot;
        ratios.add(was, *pivot);
    };
    if (f % (int)blockDim.x == (int)threadIdx.x) publish(f);
    __syncthreads();
    int first = threadIdx.x;  // the thread's first row below the diagonal
    for (int j = f; j < order; ++j) {
        while (first <= j) first += blockDim.x;
        T* const column = l + place(n, j, j) - j;
        const T* const next = column + (n - j - 1);
        const Interchanged<T> reflect = published[j % 2];
        for (int i = first; i < order; i += blockDim.x) {
            column[i] = reflect.apply(i + 1 < n ? next[i + 1] : T(0), v[i]) + T(0);
            if (i == j + 1) publish(i);
        }
        __syncthreads();
    }
    return ratios_of_block(ratios);
}

template <class T>
__device__ __forceinline__ void remove_block(const Removal<T>& all) {
    DYNAMIC_SHARED(T, v);
    __shared__ Interchanged<T> published[2];
    __shared__ int singular;
    const int n = all.factors.n, thread = threadIdx.x, threads = blockDim.x;
    for (long long b = blockIdx.x; b < all.factors.count; b += gridDim.x) {
        const int order = all.factors.orders[b], f = all.indices[b];
        int result;
        if (!all.takes(b, order, f, result)) {
            if (thread == 0) all.unchanged(b, result, order);
            continue;
        }
        T* const l = all.factors.of(b);
        if (thread == 0) singular = NOWHERE;
        __syncthreads();
        for (int i = thread; i < order; i += threads) {
            if (l[place(n, i, i)] == T(0)) atomicMin(&singular, i);
            v[i] = f <= i && i + 1 < n ? l[place(n, i + 1, f)] : T(0);
        }
        const T gone = l[place(n, f, f)];
        __syncthreads();
        if (singular != NOWHERE) {
            if (thread == 0) all.unchanged(b, SINGULAR, singular);
        } else {
            move_up(l, n, order, f);
            const Ratios<T> ratios = update(l, n, order, f, v, published);
            if (thread == 0) all.removed(b, order, gone, ratios);
        }
        __syncthreads();
    }
}

#define THREAD(T, NAME, N)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        batch_remove_thread_##N##_##NAME(const Removal<T> all) {                                             \
        remove_thread<T, N>(all);                                                                            \
    }
#define LANES_OF(T, NAME, LANES, ROWS)                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        batch_remove_lanes_##LANES##_##ROWS##_##NAME(const Removal<T> all, int shared_stride) {              \
        remove_lanes<T, LANES, ROWS>(all, shared_stride);                                                    \
    }
#define REMOVE(T, NAME)                                                                                      \
    THREAD(T, NAME, 4)                                                                                       \
    THREAD(T, NAME, 8)                                                                                       \
    LANES_OF(T, NAME, 4, 4)                                                                                  \
    LANES_OF(T, NAME, 8, 4)                                                                                  \
    LANES_OF(T, NAME, 16, 4)                                                                                 \
    LANES_OF(T, NAME, 32, 4)                                                                                 \
    LANES_OF(T, NAME, 32, 8)                                                                                 \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                               \
        batch_remove_block_##NAME(const Removal<T> all) {                                                    \
        remove_block(all);                                                                                   \
    }

REMOVE(float, f32)
REMOVE(double, f64)

constexpr int REMOVAL = sizeof(Removal<double>);

EXPORT_LAYOUT(batch_remove, THREADS, GROUP, MOST_THREADS, REMOVAL)
